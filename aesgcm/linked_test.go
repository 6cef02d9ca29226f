// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package aesgcm_test

import (
	"debug/elf"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"testing"

	"example.com/fastmac/internal/kernel"
)

// TestLinked checks that programs with this package, with package hwrand and with GMAC have
// no AES and no GHASH of the standard library, except for what any program with crypto/rand
// has: the generator of the FIPS 140 module. It builds them for amd64 and for arm64.
func TestLinked(t *testing.T) {
	if runtime.GOARCH != "amd64" && runtime.GOARCH != "arm64" || kernel.Purego {
		t.Skip("on other architectures AES-GCM is the standard library's")
	}
	if _, err := exec.LookPath("go"); err != nil {
		t.Skipf("needs the go command: %v", err)
	}
	for _, goarch := range []string{"amd64", "arm64"} {
		t.Run(goarch, func(t *testing.T) { testLinked(t, goarch) })
	}
}

func testLinked(t *testing.T, goarch string) {
	for what, source := range map[string]string{
		"aesgcm": `
import "example.com/fastmac/aesgcm"

func main() {
	var k aesgcm.Key
	if err := k.Init(make([]byte, 32)); err != nil {
		panic(err)
	}
	sealed := k.Seal(nil, make([]byte, 12), nil, nil)
	k.Open(nil, make([]byte, 12), sealed, nil)
	sealed = k.NewSealer().Seal(nil, nil, nil, nil)
	k.NewSealer().Open(nil, nil, sealed, nil)
	println(k.String(), k.NonceSize(), k.Overhead())
	k.Destroy()
}
`,
		"hwrand": `
import "example.com/fastmac/hwrand"

func main() {
	r, err := hwrand.New()
	if err != nil {
		panic(err)
	}
	r.Read(make([]byte, 100))
	println(r.String())
	r.Destroy()
}
`,
		"GMAC": `
import "example.com/fastmac"

func main() {
	m, err := fastmac.NewGMAC(make([]byte, 32))
	if err != nil {
		panic(err)
	}
	m.Write(nil)
	m.Bind(make([]byte, 12))
	m.Verify(m.Sum(make([]byte, 12)), make([]byte, 12))
	m.Destroy()
	k, err := fastmac.NewGMACKey(make([]byte, 32))
	if err != nil {
		panic(err)
	}
	k.Verify(k.Tag(nil, make([]byte, 12), nil), make([]byte, 12), nil)
}
`,
	} {
		if found := standardAES(t, goarch, source); len(found) > 0 {
			t.Errorf("a program with %s has symbols of the standard library's AES or GCM: %q", what, found)
		}
	}
	// The control must have what the test looks for.
	found := standardAES(t, goarch, `
import (
	"crypto/aes"
	"crypto/cipher"
)

func main() {
	block, _ := aes.NewCipher(make([]byte, 16))
	aead, _ := cipher.NewGCM(block)
	println(len(aead.Seal(nil, make([]byte, 12), nil, nil)))
}
`)
	for _, want := range []string{"crypto/aes.NewCipher", "crypto/cipher.NewGCM", "crypto/internal/fips140/aes/gcm.ghash", "crypto/internal/fips140/aes/gcm.sealGeneric"} {
		if !slices.Contains(found, want) {
			t.Errorf("a program with crypto/cipher has no symbol %s: found %q", want, found)
		}
	}
}

// standardAES returns the symbols of AES and GCM of the standard library that a program has
// and one with only crypto/rand has not.
func standardAES(t *testing.T, goarch, source string) (found []string) {
	t.Helper()
	base := symbols(t, goarch, `
import "crypto/rand"

func main() { println(rand.Text()) }
`)
	for name := range symbols(t, goarch, source) {
		for _, path := range []string{"crypto/aes.", "crypto/cipher.", "crypto/internal/fips140/aes"} {
			if strings.Contains(name, path) && !base[name] {
				found = append(found, name)
				break
			}
		}
	}
	slices.Sort(found)
	return found
}

// frozen is in the symbols of a build with GOFIPS140, as in fips140/v1.0.0-c2097c7c/.
var frozen = regexp.MustCompile(`fips140/v[^/]+/`)

// symbols builds a program and returns the names of its symbols. The program is for Linux,
// whose format debug/elf reads, and is not run.
func symbols(t *testing.T, goarch, source string) map[string]bool {
	t.Helper()
	dir := t.TempDir()
	file, program := filepath.Join(dir, "main.go"), filepath.Join(dir, "program")
	if err := os.WriteFile(file, []byte("package main\n"+source), 0o600); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command("go", "build", "-o", program, file)
	cmd.Env = append(os.Environ(), "GOOS=linux", "GOARCH="+goarch, "CGO_ENABLED=0")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("go build: %v\n%s", err, out)
	}
	f, err := elf.Open(program)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	all, err := f.Symbols()
	if err != nil {
		t.Fatal(err)
	}
	names := make(map[string]bool, len(all))
	for _, s := range all {
		names[frozen.ReplaceAllString(s.Name, "fips140/")] = true
	}
	return names
}
