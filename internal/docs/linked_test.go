// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package docs

import (
	"debug/elf"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"testing"

	_ "example.com/fastmac/aesgcm" // so that go test runs this again after a change of what is linked
	"example.com/fastmac/internal/golden"
	"example.com/fastmac/internal/mactest"
	_ "example.com/fastmac/pbkdf2"
)

// A linkedProgram is one that verifies a message, or does what is closest to that.
type linkedProgram struct {
	imports []string
	body    string // what main does with a message of unknown contents
	long    bool   // in the long run only
}

// linkedPrograms are those whose size the table in docs/building.md has, and what they are compared with.
var linkedPrograms = func() map[string]linkedProgram {
	all := map[string]linkedProgram{
		"nothing": {body: `os.Stdout.Write(message)`},
		"HMACKey": {imports: []string{"crypto", "crypto/sha256", "example.com/fastmac"}, body: `
	_ = sha256.New
	k, err := fastmac.NewHMACKey(crypto.SHA256, key)
	if err != nil || !k.Verify(tag, message) {
		os.Exit(1)
	}`},
		"UMAC": {imports: []string{"example.com/fastmac"}, body: `
	k, err := fastmac.NewUMACKey(key, fastmac.UMAC64Size)
	if err != nil || !k.Verify(tag, key, message) {
		os.Exit(1)
	}`},
		"GMAC": {imports: []string{"example.com/fastmac"}, body: `
	k, err := fastmac.NewGMACKey(key)
	if err != nil || !k.Verify(tag, key, message) {
		os.Exit(1)
	}`},
		"aesgcm": {imports: []string{"example.com/fastmac/aesgcm"}, body: `
	k, err := aesgcm.NewKey(key)
	if err != nil {
		os.Exit(1)
	}
	message, err = k.Open(nil, tag, message, nil)
	os.Stdout.Write(message)`},
		"crypto/cipher": {imports: []string{"crypto/aes", "crypto/cipher"}, body: `
	block, err := aes.NewCipher(key)
	if err != nil {
		os.Exit(1)
	}
	k, err := cipher.NewGCM(block)
	if err != nil {
		os.Exit(1)
	}
	message, err = k.Open(nil, tag, message, nil)
	os.Stdout.Write(message)`},
		"packet": {long: true, imports: []string{"example.com/fastmac", "example.com/fastmac/packet"}, body: `
	c := packet.Config{Secret: key, TagSize: fastmac.UMAC64Size}
	send, receive, err := packet.NewUMACPair(c, "client", "server", packet.NewSession(tag))
	if err != nil {
		os.Exit(1)
	}
	reply, _ := send.Seal(nil, nil)
	message, _, err = receive.Open(message, nil)
	os.Stdout.Write(append(message, reply...))`},
	}
	for _, name := range []string{"hmac", "crypto/hmac"} {
		path := name
		if name == "hmac" {
			path = "example.com/fastmac/hmac"
		}
		all[name] = linkedProgram{imports: []string{"crypto/sha256", path}, body: `
	m := hmac.New(sha256.New, key)
	m.Write(message)
	if !hmac.Equal(m.Sum(nil), tag) {
		os.Exit(1)
	}`}
	}
	for _, name := range []string{"pbkdf2", "crypto/pbkdf2"} {
		path := name
		if name == "pbkdf2" {
			path = "example.com/fastmac/pbkdf2"
		}
		all[name] = linkedProgram{imports: []string{"crypto/sha256", path}, body: `
	derived, err := pbkdf2.Key(sha256.New, string(message), tag, 600_000, 32)
	if err != nil {
		os.Exit(1)
	}
	os.Stdout.Write(derived)`}
	}
	for _, name := range []string{"sshmac", "x/crypto/ssh"} {
		p := linkedProgram{long: true, imports: []string{"golang.org/x/crypto/ssh"}, body: `
	c, err := ssh.Dial("tcp", string(message), &ssh.ClientConfig{HostKeyCallback: ssh.InsecureIgnoreHostKey()})
	if err != nil || c.Close() != nil {
		os.Exit(1)
	}`}
		if name == "sshmac" {
			p.imports = append(p.imports, "example.com/fastmac/sshmac")
			p.body = "sshmac.Register()" + p.body
		}
		all[name] = p
	}
	return all
}()

const linkedMain = `package main

import (
	"io"
	"os"

%s)

func main() {
	key, tag := []byte(os.Args[1]), []byte(os.Args[2])
	message, err := io.ReadAll(os.Stdin)
	_, _, _ = key, tag, err
	%s
}
`

func folderOf(name string) string { return strings.ReplaceAll(name, "/", "_") }

// buildLinked builds the programs for Linux, and returns the files.
func buildLinked(t *testing.T, goarch string) map[string]*elf.File {
	t.Helper()
	module, bin := userModule(t), t.TempDir()
	files := make(map[string]*elf.File)
	for name, p := range linkedPrograms {
		if p.long && !mactest.Long() {
			continue
		}
		files[name] = nil
		dir := filepath.Join(module, folderOf(name))
		var imports strings.Builder
		for _, path := range p.imports {
			fmt.Fprintf(&imports, "\t%q\n", path)
		}
		if err := os.Mkdir(dir, 0o777); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, "main.go"), fmt.Appendf(nil, linkedMain, &imports, p.body), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	cmd := exec.Command("go", "build", "-o", bin)
	for name := range files {
		cmd.Args = append(cmd.Args, "./"+folderOf(name))
	}
	cmd.Dir = module
	// As by default, and without cgo as in TestGo, which has compiled most of it.
	cmd.Env = append(mactest.HostEnv(), "GOOS=linux", "GOARCH="+goarch, "CGO_ENABLED=0", "GOFLAGS=", "GOEXPERIMENT=", "GOFIPS140=off", "GOAMD64=", "GOARM64=")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("go build: %v\n%s", err, out)
	}
	for name := range files {
		f, err := elf.Open(filepath.Join(bin, folderOf(name)))
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { f.Close() })
		files[name] = f
	}
	return files
}

// TestLinked checks that programs have nothing of this module that they do not use, and no init function of it:
// those with HMAC nothing of UMAC, AES and GCM, those with UMAC nothing of GCM, and so on. It compares their
// sizes with the table in docs/building.md; with -update it writes it. It builds them for amd64 and arm64: in the
// short run for this machine only, because for the other one it compiles the standard library.
func TestLinked(t *testing.T) {
	mactest.NeedGo(t)
	rows := make(map[string]map[string]float64)
	for _, goarch := range []string{"amd64", "arm64"} {
		if mactest.Long() || runtime.GOOS == "linux" && runtime.GOARCH == goarch {
			t.Run(goarch, func(t *testing.T) {
				files := buildLinked(t, goarch)
				testSymbols(t, files)
				rows[goarch] = make(map[string]float64)
				for name, f := range files {
					rows[goarch][name] = linkedSize(f)
				}
			})
		}
	}
	testLinkedSizes(t, rows)
}

// linkedSize returns the megabytes of what a file has without its symbols: all that is loaded.
func linkedSize(f *elf.File) (mb float64) {
	for _, s := range f.Sections {
		if s.Flags&elf.SHF_ALLOC != 0 && s.Type != elf.SHT_NOBITS {
			mb += float64(s.Size) / 1e6
		}
	}
	return mb
}

var (
	modulePath = regexp.QuoteMeta("example.com/fastmac")
	moduleInit = regexp.MustCompile(`^` + modulePath + `[^.]*\.init(\.\d+)?$`)
	ofRoot     = regexp.MustCompile(`^` + modulePath + `\.(?:\(?\*?)(\w+)`)
	ofPackage  = regexp.MustCompile(`^` + modulePath + `/([\w/]+)\.`)
)

// testSymbols compares what programs have with what they may have.
func testSymbols(t *testing.T, files map[string]*elf.File) {
	umac := declaredIn(t, "umac.go", "uhash*.go", "nh*.go", "poly.go", "l3.go", "kdf.go", "pad.go", "answer.go", "kernels_*.go", "nonces.go")
	delete(umac, "KeySizeError") // GMAC has it, too
	gmac := declaredIn(t, "gmac.go")
	for _, p := range []struct {
		name     string
		not      map[string]bool // names of the root package
		packages string          // those of which it may have something
		control  []string        // what it must have, so that the test knows what it is called
	}{
		{"hmac", union(umac, gmac), "hmac internal/kernel internal/lifetime internal/made internal/opaque internal/sha1 internal/sha2 internal/wipe", []string{"NewHMAC"}},
		{"pbkdf2", union(umac, gmac), "pbkdf2 internal/kernel internal/made internal/sha1 internal/sha2 internal/wipe", nil},
		{"HMACKey", union(umac, gmac), "internal/kernel internal/lifetime internal/opaque internal/sha2 internal/wipe", []string{"HMACKey"}},
		{"UMAC", gmac, "internal/aes internal/kernel internal/lifetime internal/opaque internal/wipe", []string{"UMACKey", "subkeyInputs", "partBytes", "answerNH", "nhPoly"}},
		{"GMAC", umac, "internal/aes internal/gcm internal/kernel internal/lifetime internal/opaque internal/wipe", []string{"GMACKey"}},
		{"aesgcm", union(umac, gmac), "aesgcm internal/aes internal/gcm internal/kernel internal/lifetime internal/opaque internal/wipe", nil},
		{"packet", gmac, "packet internal/aes internal/fork internal/kernel internal/lifetime internal/opaque internal/prefetch internal/replay internal/sha2 internal/wipe", []string{"UMACKey"}},
		{"sshmac", gmac, "sshmac internal/aes internal/kernel internal/lifetime internal/opaque internal/sha2 internal/wipe", []string{"UMACKey", "NewHMAC"}},
	} {
		if linkedPrograms[p.name].long && !mactest.Long() {
			continue
		}
		symbols, err := files[p.name].Symbols()
		if err != nil {
			t.Fatal(err)
		}
		found := make(map[string]bool)
		for _, s := range symbols {
			// That of sshmac reads x/crypto's table before Register can change it.
			if moduleInit.MatchString(s.Name) && s.Name != "example.com/fastmac/sshmac.init" {
				t.Errorf("%s: there is an init function: %s", p.name, s.Name)
			}
			if m := ofRoot.FindStringSubmatch(s.Name); m != nil {
				found[m[1]] = true
				if p.not[m[1]] {
					t.Errorf("%s: %s is linked", p.name, s.Name)
				}
			}
			if m := ofPackage.FindStringSubmatch(s.Name); m != nil && !slices.Contains(strings.Fields(p.packages), m[1]) {
				t.Errorf("%s: %s is linked", p.name, s.Name)
			}
		}
		for _, name := range p.control {
			if !found[name] {
				t.Errorf("%s: there is no symbol fastmac.%s", p.name, name)
			}
		}
	}
}

// declaredIn returns the names that files of the root package declare, without those of methods.
func declaredIn(t *testing.T, patterns ...string) map[string]bool {
	t.Helper()
	names := make(map[string]bool)
	for _, pattern := range patterns {
		files, err := filepath.Glob(pattern)
		if err != nil || len(files) == 0 {
			t.Fatalf("no files %s (%v)", pattern, err)
		}
		for _, name := range files {
			if strings.HasSuffix(name, "_test.go") {
				continue
			}
			file, err := parser.ParseFile(token.NewFileSet(), name, nil, parser.SkipObjectResolution)
			if err != nil {
				t.Fatal(err)
			}
			for _, decl := range file.Decls {
				switch d := decl.(type) {
				case *ast.FuncDecl:
					if d.Recv == nil {
						names[d.Name.Name] = true
					}
				case *ast.GenDecl:
					for _, spec := range d.Specs {
						switch s := spec.(type) {
						case *ast.TypeSpec:
							names[s.Name.Name] = true
						case *ast.ValueSpec:
							for _, name := range s.Names {
								names[name.Name] = true
							}
						}
					}
				}
			}
		}
	}
	return names
}

func union(a, b map[string]bool) map[string]bool {
	all := make(map[string]bool)
	for _, names := range []map[string]bool{a, b} {
		for name := range names {
			all[name] = true
		}
	}
	return all
}

// linkedRow matches a row of the table: the programs, and their sizes in megabytes.
var (
	linkedRow     = regexp.MustCompile("(?m)^\\| `([\\w/]+)`[^|]*\\| `?([\\w/]+)`?[^|]*\\| (\\d\\.\\d\\d) \\| (\\d\\.\\d\\d) \\|$")
	linkedVersion = regexp.MustCompile(`Sizes are in megabytes, with (Go [\d.]+)`)
)

// testLinkedSizes compares the sizes for the architectures with the table, if this is the Go that it names. 10 kB
// more or less are no matter: the folder of the module has a name of another length, for example.
func testLinkedSizes(t *testing.T, sizes map[string]map[string]float64) {
	const document = "docs/building.md"
	text := readText(t, document)
	version := linkedVersion.FindStringSubmatch(text)
	matches := linkedRow.FindAllStringSubmatch(text, -1)
	if version == nil || len(matches) < 8 {
		t.Fatalf("%s names no version, or has a table of %d rows", document, len(matches))
	}
	out, err := exec.Command("go", "env", "GOVERSION").Output()
	if err != nil {
		t.Fatal(err)
	}
	if now := strings.Replace(strings.TrimSpace(string(out)), "go", "Go ", 1); now != version[1] {
		t.Logf("this is %s, and the sizes are those of %s", now, version[1])
		return
	}
	updated := linkedRow.ReplaceAllStringFunc(text, func(row string) string {
		m := linkedRow.FindStringSubmatch(row)
		cells := strings.Split(row, "|")
		for i, goarch := range []string{"amd64", "arm64"} {
			of := sizes[goarch]
			if of == nil || linkedPrograms[m[1]].long && !mactest.Long() {
				continue
			}
			had, err := strconv.ParseFloat(m[3+i], 64)
			if err != nil {
				t.Fatal(err)
			}
			has := of[m[1]] - of[m[2]]
			if of[m[1]] == 0 || of[m[2]] == 0 {
				t.Errorf("%s: no program %s or %s", document, m[1], m[2])
			}
			t.Logf("%s: %s has %.3f MB more than %s", goarch, m[1], has, m[2])
			if math.Abs(has-had) > 0.015 {
				cells[3+i] = fmt.Sprintf(" %.2f ", has)
			}
		}
		return strings.Join(cells, "|")
	})
	if err := golden.Check(document, updated); updated != text && err != nil {
		t.Error(err)
	}
}
