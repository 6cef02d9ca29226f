// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package sshmac

import (
	"bytes"
	"crypto/fips140"
	"errors"
	"go/ast"
	"go/parser"
	"go/printer"
	"go/token"
	"hash"
	"io/fs"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"runtime"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"unsafe"

	"example.com/fastmac"
	"example.com/fastmac/sshmac/sshtest"
	"golang.org/x/crypto/ssh"
)

// table returns a table like x/crypto's.
func table() map[string]*macMode {
	hmac := func(key []byte) hash.Hash { return nil }
	return map[string]*macMode{
		"hmac-sha2-256":                 {32, false, hmac},
		"hmac-sha2-256-etm@openssh.com": {32, true, hmac},
		"hmac-sha2-512":                 {64, false, hmac},
	}
}

func TestRegisterTable(t *testing.T) {
	if got := table(); register(got, false) != nil || len(got) != len(allModes()) {
		t.Fatalf("after registration: %v", got)
	}
	for what, change := range map[string]func(m map[string]*macMode){
		"empty":           func(m map[string]*macMode) { clear(m) },
		"no sha2-256":     func(m map[string]*macMode) { delete(m, "hmac-sha2-256") },
		"no sha2-256-etm": func(m map[string]*macMode) { delete(m, "hmac-sha2-256-etm@openssh.com") },
		"nil entry":       func(m map[string]*macMode) { m["hmac-sha2-256"] = nil },
		"key size":        func(m map[string]*macMode) { m["hmac-sha2-256"].keySize = 64 },
		"etm key size":    func(m map[string]*macMode) { m["hmac-sha2-256-etm@openssh.com"].keySize = 0 },
		"etm":             func(m map[string]*macMode) { m["hmac-sha2-256"].etm = true },
		"not etm":         func(m map[string]*macMode) { m["hmac-sha2-256-etm@openssh.com"].etm = false },
		"nil function":    func(m map[string]*macMode) { m["hmac-sha2-256"].new = nil },
	} {
		got := table()
		change(got)
		before := maps.Clone(got)
		if err := register(got, false); err == nil || !strings.HasPrefix(err.Error(), "sshmac: the MAC table ") || errors.Is(err, errors.ErrUnsupported) {
			t.Errorf("%s: error %v", what, err)
		}
		if !maps.Equal(got, before) {
			t.Errorf("%s: the table was changed", what)
		}
	}
	if err := Register(); err == nil { // again, with another table, it is the result of the first call
		known := macModes[hmacSHA256]
		delete(macModes, hmacSHA256)
		err = Register()
		if macModes[hmacSHA256] = known; err != nil {
			t.Errorf("Register again: %v", err)
		}
	}
	if err := register(nil, false); err == nil {
		t.Error("a nil table is accepted")
	}
	fips := table()
	if err := register(fips, true); !isFIPSError(err) || len(fips) != len(table()) {
		t.Errorf("in FIPS 140 mode: %v, %v", err, fips)
	}
}

// TestRegisterPadding checks that entries have room for fields that a later x/crypto might append: each is an
// allocation with 128 bytes more.
func TestRegisterPadding(t *testing.T) {
	allocated := func(f func()) (bytes uint64) {
		for range 10 { // something else may allocate meanwhile
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			f()
			runtime.ReadMemStats(&after)
			if n := after.TotalAlloc - before.TotalAlloc; bytes == 0 || n < bytes {
				bytes = n
			}
		}
		return bytes
	}
	full := table()
	register(full, false) // the map does not grow any more
	got := allocated(func() { register(full, false) }) - allocated(func() { allModes() })
	if want := uint64(len(allModes())) * (uint64(unsafe.Sizeof(macMode{})) + 128); got < want {
		t.Errorf("Register allocates %d bytes for the entries, want %d at least", got, want)
	}
}

func isFIPSError(err error) bool {
	return errors.Is(err, errors.ErrUnsupported) && strings.HasPrefix(err.Error(), "sshmac: UMAC is not approved in FIPS 140 mode")
}

// TestTableShape reads the source of the x/crypto that is linked in: the type and
// the variable that Register relies on must not have changed.
func TestTableShape(t *testing.T) {
	source, _ := runtime.FuncForPC(reflect.ValueOf(ssh.Marshal).Pointer()).FileLine(0)
	if !filepath.IsAbs(source) { // built with -trimpath
		cache, err := exec.Command("go", "env", "GOMODCACHE").Output()
		if err != nil {
			t.Skipf("needs the go command: %v", err)
		}
		source = filepath.Join(strings.TrimSpace(string(cache)), source)
	}
	t.Logf("reading %s", filepath.Dir(source))
	files, err := filepath.Glob(filepath.Join(filepath.Dir(source), "*.go"))
	if err != nil || len(files) == 0 {
		t.Fatalf("no source of x/crypto/ssh: %v", err)
	}
	found := make(map[string]string)
	for _, name := range files {
		fset := token.NewFileSet()
		f, err := parser.ParseFile(fset, name, nil, parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		text := func(node any) string {
			var b bytes.Buffer
			printer.Fprint(&b, fset, node)
			return strings.Join(strings.Fields(b.String()), " ")
		}
		for _, decl := range f.Decls {
			gen, ok := decl.(*ast.GenDecl)
			if !ok {
				continue
			}
			for _, spec := range gen.Specs {
				switch spec := spec.(type) {
				case *ast.TypeSpec:
					if spec.Name.Name == "macMode" {
						found["type"] = text(spec.Type)
					}
				case *ast.ValueSpec:
					if spec.Names[0].Name == "macModes" {
						typ := text(spec.Values[0])
						found["variable"] = typ[:strings.IndexByte(typ, '{')]
					}
				}
			}
		}
	}
	if got, want := found["type"], "struct { keySize int etm bool new func(key []byte) hash.Hash }"; got != want {
		t.Errorf("x/crypto/ssh has macMode %s, Register relies on %s", got, want)
	}
	if got, want := found["variable"], "map[string]*macMode"; got != want {
		t.Errorf("x/crypto/ssh has macModes %s, Register relies on %s", got, want)
	}
}

// TestRegister negotiates every MAC between x/crypto's client and server.
func TestRegister(t *testing.T) {
	if fips140.Enabled() {
		t.Skip("FIPS 140 mode has no UMAC")
	}
	var wg sync.WaitGroup
	for range 16 {
		wg.Go(func() {
			if err := Register(); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	for _, name := range []string{hmacSHA256, hmacSHA256ETM, hmacSHA512, hmacSHA512ETM} {
		if h := macModes[name].new(make([]byte, macModes[name].keySize)); reflect.TypeOf(h) != reflect.TypeFor[*fastmac.HMAC]() {
			t.Errorf("%s is still x/crypto's, a %T", name, h)
		}
	}
	for _, mode := range allModes() {
		if m := macModes[mode.Name]; m == nil || m.keySize != mode.KeySize || m.etm != mode.ETM {
			t.Errorf("%s is not in x/crypto's table", mode.Name)
		}
	}
	for _, name := range MACs() {
		t.Run(name, func(t *testing.T) {
			for _, cipher := range []string{"aes128-ctr", "aes256-ctr", "aes128-cbc"} {
				synctest.Test(t, func(t *testing.T) {
					config := only(name)
					config.Ciphers = []string{cipher}
					config.RekeyThreshold = 64 << 10
					client, server := connectMem(t, clientConfig(config))
					for _, e := range []end{client, server} {
						sshtest.Algorithms{Cipher: cipher, MAC: name}.CheckConn(t, e.conn)
					}
					if err := both(client, server, 0, 300_000); err != nil {
						t.Error(err)
					}
				})
			}
		})
	}
}

// TestRegisterFIPS registers in a process in FIPS 140 mode, which must fail.
func TestRegisterFIPS(t *testing.T) {
	if fips140.Enabled() {
		if err := Register(); !isFIPSError(err) {
			t.Errorf("Register() = %v", err)
		}
		if macModes[UMAC64] != nil {
			t.Error("UMAC is in the table")
		}
		return
	}
	cmd := exec.Command(os.Args[0], "-test.run=^TestRegisterFIPS$")
	cmd.Env = append(os.Environ(), "GODEBUG=fips140=on")
	out, err := cmd.CombinedOutput()
	if _, ok := errors.AsType[*fs.PathError](err); ok {
		t.Skipf("cannot start itself, as in an emulator: %v", err)
	}
	if bytes.Contains(out, []byte("incompatible with the purego build tag")) {
		t.Skip("a purego build has no FIPS 140 mode")
	}
	if err != nil {
		t.Errorf("%v\n%s", err, out)
	}
}
