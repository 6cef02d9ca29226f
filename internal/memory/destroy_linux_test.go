// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

// Package memory has only tests: what the module leaves in memory after Destroy, which memory
// it touches, and how much memory keys and streams take.
package memory

import (
	"crypto"
	"crypto/fips140"
	stdpbkdf2 "crypto/pbkdf2"
	"encoding/binary"
	"flag"
	"fmt"
	"maps"
	"math/rand/v2"
	"runtime"
	"slices"
	"strings"
	"testing"

	"example.com/fastmac"
	"example.com/fastmac/internal/kernel"
	"example.com/fastmac/internal/mactest"
)

// These tests check that no secret is left in the memory of a process after Destroy. They
// start processes that make keys, streams and tags, destroy all of them, and then wait
// while their memory is scanned. Control processes destroy nothing, and secrets of all
// kinds must be found in them.

// scanEnv is the environment variable that is set in the scanned processes, to scanDestroy
// or scanControl.
const (
	scanEnv     = "FASTMAC_TEST_SCANNED"
	scanDestroy = "destroy"
	scanControl = "control"
)

// scanSecrets is the input of a process. Each byte is sent xor scanMask.
type scanSecrets struct {
	umacKeys [4][32]byte // one for each tag size, because pads do not depend on the size
	hmacKey  [200]byte
	gmacKey  [32]byte
	gcmKey   [32]byte // of package aesgcm
	msg      [5000]byte
	seed     [32]byte // not secret
}

const scanMask = 0xa5

var (
	scanUMACKeySizes = []int{16, 24, 32}
	scanHMACKeySizes = []int{20, 64, 128, 200}
	scanHashes       = []crypto.Hash{crypto.SHA256, crypto.SHA384, crypto.SHA512} // SHA-384: an inner hash that is cut
	scanGCMKeySizes  = []int{16, 24, 32}
	scanSizes        = []int{0, 1, 20, 64, 200, 1000, 1024, 1500, 5000} // of messages
)

var scansFlag = flag.Int("scans", 0, "let TestDestroyScan and TestDestroyScanRuntime scan so many processes of each kind")

// scans is how many processes of each kind are scanned.
func scans() int {
	switch {
	case *scansFlag > 0:
		return *scansFlag
	case mactest.Long():
		return 20
	}
	return 1
}

// TestDestroyScan checks for several sets of kernels that no secret is found after Destroy.
func TestDestroyScan(t *testing.T) {
	const portable = "NH=generic,AES=stdlib,SHA-256=stdlib,SHA-512=stdlib"
	for godebug, kernels := range map[string]string{
		"":                             "", // the best that the machine has
		"cpu.avx512f=off":              "NH=avx2,AES=*aes*,SHA-512=avx2",
		"cpu.avx512f=off,cpu.avx2=off": "NH=generic,AES=aesni,SHA-256=stdlib,SHA-512=stdlib",
		"cpu.avx512f=off,cpu.avx2=off,cpu.aes=off": portable,
	} {
		if kernels != "" && (runtime.GOARCH != "amd64" || kernel.NewReport().NH == "generic" || kernel.NewReport().AES == "stdlib") {
			continue
		}
		t.Run("kernels="+kernels, func(t *testing.T) {
			env := []string{mactest.ScanDebug + godebug, "FASTMAC_TEST_KERNELS=" + kernels}
			for seed := range scans() {
				found, _ := scan(t, seed, append(env, scanEnv+"="+scanDestroy))
				for _, kind := range slices.Sorted(maps.Keys(found)) {
					t.Errorf("seed %d: %s, after Destroy: %v", seed, kind, found[kind])
				}
			}
			found, kinds := scan(t, 0, append(env, scanEnv+"="+scanControl))
			for _, kind := range kinds {
				if kernels == portable && (kind == "pads ahead" || strings.HasPrefix(kind, "GMAC") || strings.HasPrefix(kind, "AES-GCM")) {
					continue // crypto/aes computes no pads ahead, and without AES instructions there is no GCM
				}
				if len(found[kind]) == 0 {
					t.Errorf("%s not found without Destroy", kind)
				}
			}
			want := 26
			switch kernel.Active(kernel.AES) {
			case "armv8":
				want-- // kernels take the nonces: there are no pads ahead
			case "stdlib":
				want = 23 // the schedules of crypto/aes are unknown, and there are no pads ahead
			}
			if scanGCM() {
				want += 8 + 7
			}
			if len(kinds) != want {
				t.Errorf("%d kinds of secrets, want %d; kinds %q", len(kinds), want, kinds)
			}
		})
	}
}

// TestDestroyScanRuntime logs which secrets are found after Destroy in processes whose
// runtime copies registers and stacks, see mactest.ScanDebug. Destroy does not reach these.
func TestDestroyScanRuntime(t *testing.T) {
	if !mactest.Long() && *scansFlag == 0 {
		t.Skip("only reports a figure, and only with -scans or FASTMAC_TEST_LONG")
	}
	all, processes := make(map[string]int), 0
	for seed := range scans() {
		found, _ := scan(t, seed, []string{scanEnv + "=" + scanDestroy, "FASTMAC_TEST_KERNELS="})
		for kind := range found {
			all[kind]++
		}
		if len(found) > 0 {
			processes++
		}
	}
	t.Logf("secrets found in %d of %d processes; processes by kind %v", processes, scans(), all)
}

// scan starts a process. It returns the pieces of each kind of secret that are in the memory of that
// process, and the names of all kinds.
func scan(t *testing.T, seed int, env []string) (found map[string]mactest.Finds, kinds []string) {
	t.Helper()
	if fips140.Enabled() {
		t.Skip("FIPS 140 mode: crypto/hmac keeps copies of the key")
	}
	in := new(scanSecrets)
	rand.NewChaCha8([32]byte{byte(seed), byte(seed >> 8), 1}).Read(mactest.Storage(in))
	secrets, kinds := scanFor(t, in)

	for i := range mactest.Storage(in) {
		mactest.Storage(in)[i] ^= scanMask
	}
	return secrets.ScanTest(t, mactest.Storage(in), 1, env...)[0], kinds
}

// scanGCM reports whether GMAC and AES-GCM can be used here and hold their keys themselves.
func scanGCM() bool { return fastmac.RequireGCM() == nil && kernel.Active(kernel.GCM) != "stdlib" }

// scanFor returns the secrets that a process with this input has, and their kinds.
func scanFor(t *testing.T, in *scanSecrets) (*mactest.Secrets, []string) {
	secrets := new(mactest.Secrets)
	kinds := make(map[string]bool)
	add := func(kind, of string, secret []byte) {
		if secrets.Add(kind, of, secret) > 0 {
			kinds[kind] = true
		}
	}
	addAll := func(of string, secrets []piece) {
		for _, s := range secrets {
			add(s.kind, of, s.bytes)
		}
	}
	add("message", "", in.msg[:])
	add("HMAC key", "", in.hmacKey[:])
	for i, tagSize := range mactest.UMACTagSizes {
		add("UMAC key", "", in.umacKeys[i][:])
		for _, size := range scanUMACKeySizes {
			key, of := in.umacKeys[i][:size], fmt.Sprintf("UMAC-%d, key of %d bytes", 8*tagSize, size)
			u := mactest.Must(fastmac.NewUMACKey(key, tagSize)).New()
			scanUMAC(u, in)
			addAll(of, umacSecrets(u))
			addAll(of, kdfSecrets(key))
			if tagSize == 16 { // shorter tags have shorter pads
				addAll(of, padSecrets(key, scanBatchNonces()))
			}
		}
	}
	for _, h := range scanHashes {
		for _, size := range scanHMACKeySizes {
			key, of := in.hmacKey[:size], fmt.Sprintf("%v, key of %d bytes", h, size)
			addAll(of, hmacSecrets(h, key, in.msg[:2500]))
			addAll(of, hmacPads(h, key))
			for block := range byte(3) {
				addAll(of, pbkdf2Secrets(h, key, block+1))
			}
			addAll(of, hkdfSecrets(h, key))
			add("PBKDF2", "", mactest.Must(stdpbkdf2.Key(otherHash, otherPassword(key), []byte(scanSalt), scanIterations, 32)))
		}
	}
	for _, size := range scanHMACKeySizes {
		key, of := in.hmacKey[:size], fmt.Sprintf("SHA-1, key of %d bytes", size)
		addAll(of, sha1Secrets(key, in.msg[:2500]))
		addAll(of, hmacPads(crypto.SHA1, key))
		for block := range byte(3) {
			addAll(of, pbkdf2Secrets(crypto.SHA1, key, block+1))
		}
	}
	if scanGCM() {
		add("GMAC key", "", in.gmacKey[:])
		add("AES-GCM key", "", in.gcmKey[:])
		for _, size := range scanGCMKeySizes {
			of := fmt.Sprintf("key of %d bytes", size)
			m := mactest.Must(fastmac.NewGMAC(in.gmacKey[:size]))
			m.Write(in.msg[:2500])
			addAll(of, gmacSecrets("GMAC ", m))
			addAll(of, gcmSecrets("GMAC ", in.gmacKey[:size], scanGCMNonce, nil, in.msg[:1000]))

			// A Key of package aesgcm holds what a GMACKey with the same key holds.
			addAll(of, gmacSecrets("AES-GCM ", mactest.Must(fastmac.NewGMAC(in.gcmKey[:size]))))
			addAll(of, gcmSecrets("AES-GCM ", in.gcmKey[:size], scanGCMNonce, in.msg[:1000], in.msg[:1000]))
		}
	}
	return secrets, slices.Sorted(maps.Keys(kinds))
}

// scanBatchNonces returns the nonces of batches. The last message of a batch has another one,
// because its pad may remain.
func scanBatchNonces() (nonces [][]byte) {
	for i := range 8 {
		nonces = append(nonces, fmt.Appendf(nil, "batch nonce %d...", i))
	}
	return nonces
}

// scanUMAC leaves a stream with blocks, groups, part of a group, and pads ahead.
func scanUMAC(u *fastmac.UMAC, in *scanSecrets) {
	var buf [16]byte
	for i := range uint64(20) {
		u.Sum(binary.BigEndian.AppendUint64(buf[:0], i))
	}
	u.Write(in.msg[:2500])
	for i := range uint64(5) {
		u.Sum(binary.BigEndian.AppendUint64(buf[:0], 20+i))
	}
}
