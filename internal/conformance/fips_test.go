// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package conformance

import (
	"bytes"
	"crypto"
	"crypto/fips140"
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"reflect"
	"strings"
	"testing"

	"example.com/fastmac"
	"example.com/fastmac/aesgcm"
	"example.com/fastmac/hwrand"
	"example.com/fastmac/internal/kernel"
	"example.com/fastmac/internal/mactest"
	"example.com/fastmac/internal/umacref"
)

// TestFIPS140 checks what the package documentation says under "FIPS 140", in a process for
// each mode. The process where nothing is enforced also runs all tests of HMAC, which have
// short keys.
func TestFIPS140(t *testing.T) {
	if mode := os.Getenv("FASTMAC_TEST_FIPS"); mode != "" {
		if !fips140.Enabled() || kernel.FIPSEnforced() != strings.HasPrefix(mode, "only") {
			t.Fatalf("%s: enabled %v, enforced %v", mode, fips140.Enabled(), kernel.FIPSEnforced())
		}
		testFIPSHMAC(t)
		testFIPSUMAC(t)
		testFIPSGCM(t)
		return
	}
	for _, mode := range []string{"on", "only", "only,cpu.aes=off"} {
		run := "^TestFIPS140$"
		if mode == "on" {
			run += "|HMAC"
		}
		cmd := exec.Command(os.Args[0], "-test.short", "-test.v", "-test.run="+run)
		// The standard library computes there, so the longest messages would tell nothing of the module.
		cmd.Env = append(os.Environ(), "FASTMAC_TEST_LONG=", "FASTMAC_TEST_FIPS="+mode, "GODEBUG="+strings.Trim(os.Getenv("GODEBUG")+",fips140="+mode, ","))
		out, err := cmd.CombinedOutput()
		if e := (*fs.PathError)(nil); errors.As(err, &e) {
			t.Skipf("cannot start itself, as in an emulator: %v", err)
		}
		if bytes.Contains(out, []byte("incompatible with the purego build tag")) {
			t.Skip("a purego build has no FIPS 140 mode")
		}
		if err != nil || !bytes.Contains(out, []byte("--- PASS")) {
			t.Errorf("GODEBUG=fips140=%s: %v\n%s", mode, err, out)
		}
	}
}

// testFIPSHMAC checks that HMAC is the one of the Go Cryptographic Module, and that short keys are
// refused only where approved algorithms are enforced.
func testFIPSHMAC(t *testing.T) {
	key, msg := bytes.Repeat([]byte("k"), 200), []byte("message")
	const lacks = "validation (FIPS 140 mode)"
	if hw := kernel.NewReport(); hw.SHA256 != "stdlib" || hw.SHA256Lacks != lacks || hw.SHA512 != "stdlib" || hw.SHA512Lacks != lacks {
		t.Errorf("Hardware() = %+v", hw)
	}
	for _, h := range mactest.SHA2 {
		inner := reflect.ValueOf(mactest.Must(fastmac.NewHMAC(h, key))).Elem().FieldByName("std").Elem()
		if !inner.IsValid() || inner.Type().String() != "*hmac.HMAC" || !strings.HasPrefix(inner.Type().Elem().PkgPath(), "crypto/internal/fips140/") {
			t.Fatalf("HMAC with %v is %v, want that of the Go Cryptographic Module", h, inner)
		}
		for _, size := range []int{14, 64, 128, 200} {
			for name, flavour := range hmacFlavours {
				if got, want := flavour(t, h, key[:size], msg), stdHMAC(h, key[:size], msg); !bytes.Equal(got, want) {
					t.Errorf("%v: %s, key of %d bytes: %x, want %x", h, name, size, got, want)
				}
			}
		}
		testFIPSShortKeys(t, h)
	}
}

// withoutEnforcement is fips140.WithoutEnforcement, which Go 1.25 lacks.
var withoutEnforcement = func(func()) {}

func testFIPSShortKeys(t *testing.T, h crypto.Hash) {
	key := make([]byte, 14)
	keys, batch := make([][]byte, 17), make([]fastmac.Message, 17)
	for i := range batch {
		keys[i], batch[i].Tag = key, make([]byte, h.Size())
	}
	keys[16] = key[:13]
	refuses := func(what string, call func() error) {
		err := call()
		if kernel.FIPSEnforced() && (err == nil || !strings.Contains(err.Error(), "want 14 or more with GODEBUG=fips140=only")) {
			t.Errorf("%v: %s of a short key: %v", h, what, err)
		}
		withoutEnforcement(func() {
			if err := call(); err != nil {
				t.Errorf("%v: %s of a short key without enforcement: %v", h, what, err)
			}
		})
	}
	refuses("NewHMACKey", func() error { _, err := fastmac.NewHMACKey(h, key[:13]); return err })
	refuses("Init", func() error { return new(fastmac.HMACKey).Init(h, nil) })
	refuses("NewHMAC", func() error { _, err := fastmac.NewHMAC(h, key[:1]); return err })
	for name, call := range map[string]func(){
		"SumHMAC":      func() { fastmac.SumHMAC(h, nil, key[:13], nil) },
		"SumHMACBatch": func() { fastmac.SumHMACBatch(h, keys, batch) },
	} {
		if kernel.FIPSEnforced() {
			mactest.MustPanic(t, name, "want 14 or more with GODEBUG=fips140=only", call)
			if !bytes.Equal(batch[0].Tag, make([]byte, h.Size())) {
				t.Errorf("%v: a batch that panics has written tags", h)
			}
		}
		withoutEnforcement(call)
		for i := range batch {
			clear(batch[i].Tag)
		}
	}
}

// testFIPSUMAC checks that UMAC works in every mode, on AES of this package and of crypto/aes.
func testFIPSUMAC(t *testing.T) {
	key, nonce, msg := []byte("0123456789abcdef"), []byte("nonce"), bytes.Repeat([]byte("message"), 500)
	for _, size := range mactest.UMACTagSizes {
		k := mactest.Must(fastmac.NewUMACKey(key, size))
		want := umacref.UMAC(key, msg, nonce, size)
		u := k.New()
		u.WriteParallel(msg, 0)
		batch := [][]byte{make([]byte, size)}
		mactest.TagBatch(k.TagBatch, batch, [][]byte{nonce}, [][]byte{msg})
		for _, got := range [][]byte{k.Tag(nil, nonce, msg), u.Tag(nil, nonce), batch[0]} {
			if !bytes.Equal(got, want) {
				t.Errorf("%d bytes: tag %x, want %x", size, got, want)
			}
		}
		if !k.VerifySigned(u.Sign(nil), msg) || !u.VerifySigned(k.Sign(nil, msg)) {
			t.Errorf("%d bytes: the right signature is refused", size)
		}
	}
	fastmac.NewNonceSequence(16).Next(nil)
}

// testFIPSGCM checks that GMAC, AES-GCM and hwrand work on amd64 and arm64. Elsewhere AES-GCM is
// crypto/cipher's, and refused where approved algorithms are enforced.
func testFIPSGCM(t *testing.T) {
	_, err := hwrand.New()
	if want := fastmac.RequireAES(); (err == nil) != (want == nil) {
		t.Errorf("hwrand.New: %v, RequireAES() = %v", err, want)
	}

	key, nonce, msg := make([]byte, 32), []byte("twelve bytes"), []byte("message")
	missing := fastmac.RequireGCM()
	std := kernel.Active(kernel.GCM) == "stdlib"
	if std && kernel.FIPSEnforced() {
		if missing == nil || !strings.HasPrefix(missing.Error(), "fastmac: GMAC and AES-GCM cannot be used with GODEBUG=fips140=only: ") {
			t.Fatalf("RequireGCM() = %v", missing)
		}
		withoutEnforcement(func() {
			if err := fastmac.RequireGCM(); err != nil {
				t.Errorf("without enforcement: RequireGCM() = %v", err)
			}
			mactest.Must(fastmac.NewGMACKey(key)).Tag(nil, nonce, msg)
		})
	} else if std && missing != nil {
		t.Fatalf("RequireGCM() = %v", missing)
	}
	g, gErr := fastmac.NewGMACKey(key)
	a, aErr := aesgcm.NewKey(key)
	_, sErr := fastmac.NewGMAC(key)
	if missing != nil {
		for _, err := range []error{gErr, aErr, sErr} {
			if err == nil || err.Error() != missing.Error() {
				t.Errorf("error %v, want %v", err, missing)
			}
		}
		return
	}
	if gErr != nil || aErr != nil || sErr != nil {
		t.Fatal(gErr, aErr, sErr)
	}
	// AES-GCM of nothing is GMAC.
	if got := a.Seal(nil, nonce, nil, msg); !g.Verify(got, nonce, msg) {
		t.Errorf("GMAC %x, AES-GCM %x", g.Tag(nil, nonce, msg), got)
	}
	if got, err := a.NewSealer().Open(nil, nil, a.NewSealer().Seal(nil, nil, msg, nil), nil); err != nil || !bytes.Equal(got, msg) {
		t.Errorf("Open of a Sealer: %q, %v", got, err)
	}
}
