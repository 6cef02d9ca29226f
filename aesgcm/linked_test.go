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
	"example.com/fastmac/internal/mactest"
)

// TestLinked checks that a program with this package, package hwrand and GMAC has no AES and no
// GHASH of the standard library, except for what any program with crypto/rand has: the generator of
// the FIPS 140 module. It builds them for amd64 and for arm64: in the short run for this machine only,
// because for the other one it compiles the standard library. There it looks at imports.
func TestLinked(t *testing.T) {
	if runtime.GOARCH != "amd64" && runtime.GOARCH != "arm64" || kernel.Purego {
		t.Skip("on other architectures AES-GCM is the standard library's")
	}
	if _, err := exec.LookPath("go"); err != nil {
		t.Skipf("needs the go command: %v", err)
	}
	for _, goarch := range []string{"amd64", "arm64"} {
		t.Run(goarch, func(t *testing.T) {
			testImports(t, goarch)
			if goarch == runtime.GOARCH || mactest.Long() {
				testLinked(t, goarch)
			}
		})
	}
}

// testImports checks that the packages below this one and hwrand do not import AES or GCM.
func testImports(t *testing.T, goarch string) {
	packages := []string{"aesgcm", "hwrand", "internal/aes", "internal/gcm"}
	args := []string{"list", "-f", "{{.ImportPath}}{{range .Imports}} {{.}}{{end}}"}
	for _, name := range packages {
		args = append(args, "example.com/fastmac/"+name)
	}
	for _, line := range strings.Split(strings.TrimSpace(string(goCommand(t, goarch, args...))), "\n") {
		fields := strings.Fields(line)
		for _, bad := range []string{"crypto/aes", "crypto/cipher"} {
			if slices.Contains(fields, bad) {
				t.Errorf("%s imports %s", fields[0], bad)
			}
		}
	}
}

func testLinked(t *testing.T, goarch string) {
	base := symbols(t, goarch, `
import "crypto/rand"

func main() { println(rand.Text()) }
`)
	// standard returns the symbols of AES and GCM of the standard library that a program has
	// and one with only crypto/rand has not.
	standard := func(source string) (found []string) {
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
	if found := standard(`
import (
	"example.com/fastmac"
	"example.com/fastmac/aesgcm"
	"example.com/fastmac/hwrand"
)

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

	r, err := hwrand.New()
	if err != nil {
		panic(err)
	}
	r.Read(make([]byte, 100))
	println(r.String())
	r.Destroy()

	m, err := fastmac.NewGMAC(make([]byte, 32))
	if err != nil {
		panic(err)
	}
	m.Write(nil)
	m.Bind(make([]byte, 12))
	m.Verify(m.Sum(make([]byte, 12)), make([]byte, 12))
	m.Destroy()
	g, err := fastmac.NewGMACKey(make([]byte, 32))
	if err != nil {
		panic(err)
	}
	g.Verify(g.Tag(nil, make([]byte, 12), nil), make([]byte, 12), nil)
}
`); len(found) > 0 {
		t.Errorf("a program with aesgcm, hwrand and GMAC has symbols of the standard library's AES or GCM: %q", found)
	}
	// The control must have what the test looks for.
	found := standard(`
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
	goCommand(t, goarch, "build", "-o", program, file)
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

// goCommand returns the output of the go command for Linux.
func goCommand(t *testing.T, goarch string, args ...string) []byte {
	t.Helper()
	cmd := exec.Command("go", args...)
	cmd.Env = append(os.Environ(), "GOOS=linux", "GOARCH="+goarch, "CGO_ENABLED=0")
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("go %s: %v\n%s", args[0], err, out)
	}
	return out
}
