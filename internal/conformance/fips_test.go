// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package conformance

import (
	"bytes"
	"crypto/fips140"
	"crypto/hmac"
	"crypto/sha512"
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
// each mode. The process where nothing is enforced also runs all tests of HMAC-SHA-512, which
// have short keys.
func TestFIPS140(t *testing.T) {
	if mode := os.Getenv("FASTMAC_TEST_FIPS"); mode != "" {
		if !fips140.Enabled() || fips140.Enforced() != strings.HasPrefix(mode, "only") {
			t.Fatalf("%s: enabled %v, enforced %v", mode, fips140.Enabled(), fips140.Enforced())
		}
		testFIPSHMAC(t)
		testFIPSUMAC(t)
		testFIPSGCM(t)
		return
	}
	for _, mode := range []string{"on", "only", "only,cpu.aes=off"} {
		run := "^TestFIPS140$"
		if mode == "on" {
			run += "|HMACSHA512"
		}
		cmd := exec.Command(os.Args[0], "-test.short", "-test.v", "-test.run="+run)
		cmd.Env = append(os.Environ(), "FASTMAC_TEST_FIPS="+mode, "GODEBUG="+strings.Trim(os.Getenv("GODEBUG")+",fips140="+mode, ","))
		out, err := cmd.CombinedOutput()
		if _, ok := errors.AsType[*fs.PathError](err); ok {
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

// testFIPSHMAC checks that HMAC-SHA-512 is the one of the Go Cryptographic Module, and that
// short keys are refused only where approved algorithms are enforced.
func testFIPSHMAC(t *testing.T) {
	key, msg := bytes.Repeat([]byte("k"), 200), []byte("message")
	if hw := kernel.NewReport(); hw.SHA512 != "stdlib" || hw.SHA512Lacks != "validation (FIPS 140 mode)" {
		t.Errorf("Hardware() = %+v", hw)
	}
	inner := reflect.ValueOf(fastmac.NewHMACSHA512(key)).Elem().FieldByName("fips").Elem()
	if !inner.IsValid() || inner.Type().String() != "*hmac.HMAC" || !strings.HasPrefix(inner.Type().Elem().PkgPath(), "crypto/internal/fips140/") {
		t.Fatalf("HMAC-SHA-512 is %v, want that of the Go Cryptographic Module", inner)
	}
	for _, size := range []int{14, 64, 128, 200} {
		std := hmac.New(sha512.New, key[:size])
		std.Write(msg)
		for name, flavour := range hmacFlavours {
			if got, want := flavour(t, key[:size], msg), std.Sum(nil); !bytes.Equal(got, want) {
				t.Errorf("%s, key of %d bytes: %x, want %x", name, size, got, want)
			}
		}
	}

	tags, keys := make([][64]byte, 9), make([][]byte, 9)
	for i := range keys {
		keys[i] = key[:14-i/8]
	}
	for name, call := range map[string]func(){
		"NewHMACSHA512Key":   func() { fastmac.NewHMACSHA512Key(key[:13]) },
		"Init":               func() { new(fastmac.HMACSHA512Key).Init(nil) },
		"NewHMACSHA512":      func() { fastmac.NewHMACSHA512(key[:1]) },
		"SumHMACSHA512":      func() { fastmac.SumHMACSHA512(key[:13], msg) },
		"SumHMACSHA512Batch": func() { mactest.SumBatch(fastmac.SumHMACSHA512Batch, mactest.Slices(tags), keys, keys) },
	} {
		clear(tags)
		if fips140.Enforced() {
			mactest.MustPanic(t, name, "want 14 or more with GODEBUG=fips140=only", call)
			if tags[0] != [64]byte{} {
				t.Error("a batch that panics has written tags")
			}
		}
		fips140.WithoutEnforcement(call)
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
	if std && fips140.Enforced() {
		if missing == nil || !strings.HasPrefix(missing.Error(), "fastmac: GMAC and AES-GCM cannot be used with GODEBUG=fips140=only: ") {
			t.Fatalf("RequireGCM() = %v", missing)
		}
		fips140.WithoutEnforcement(func() {
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
