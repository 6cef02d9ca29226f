// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package program

import (
	"debug/elf"
	"os/exec"
	"path/filepath"
	"reflect"
	"runtime"
	"strings"
	"testing"

	"example.com/fastmac/internal/assurance/x86"
)

// module is assembled. It has functions of assembly of the module, and other symbols.
const module = `
	.macro symbol name type size
	.type "\name", @\type
	.size "\name", \size
"\name":
	.endm

	.intel_syntax noprefix
	.org 0x1000
	symbol example.com/fastmac/internal/x.good.abi0 function 4
	symbol example.com/fastmac/internal/x.good function 4
	symbol example.com/fastmac.table.abi0 object 4
	symbol runtime.gogo.abi0 function 4
	add rax, rbx
	ret
	symbol example.com/fastmac.bad.abi0 function 3
	nop
	.byte 6
	nop
	symbol example.com/fastmac.short.abi0 function 2
	add rax, rbx
	symbol example.com/fastmac.branches.abi0 function 2
	.byte 0x74, 0x40 # a branch
	symbol example.com/fastmac.portableGeneric.abi0 function 2
	.byte 0x6, 0x40
	symbol example.com/fastmac2.other.abi0 function 1
	symbol none.abi0 function 1
	ret
`

// TestAssembly finds the functions of assembly, and decodes them.
func TestAssembly(t *testing.T) {
	if _, err := exec.LookPath("as"); err != nil || runtime.GOOS != "linux" || runtime.GOARCH != "amd64" {
		t.Skip("needs the assembler of GNU binutils for linux/amd64")
	}
	name := filepath.Join(t.TempDir(), "module.o")
	cmd := exec.Command("as", "--64", "-o", name)
	cmd.Stdin = strings.NewReader(module)
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("as: %v: %s", err, out)
	}
	file, err := elf.Open(name)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	functions, err := Assembly(file)
	at := int64(file.Section(".text").Offset) + 0x1000
	want := []Compiled{
		{"example.com/fastmac/internal/x", "good", 0x1000, at, []byte("\x48\x01\xd8\xc3")},
		{"example.com/fastmac", "bad", 0x1004, at + 4, []byte("\x90\x06\x90")},
		{"example.com/fastmac", "short", 0x1007, at + 7, []byte("\x48\x01")}, // the end is missing
		{"example.com/fastmac", "branches", 0x100a, at + 10, []byte("\x74\x40")},
	}
	if err != nil || !reflect.DeepEqual(functions, want) {
		t.Fatalf("functions %v, error %v, want %v", functions, err, want)
	}
	for n, want := range []string{"", "bad: 0x1005: 06 90: ", "short: 0x1007: 48 01: ", "branches: 0x100a: jz"} {
		f, err := functions[n].Decode(x86.Architecture)
		if want == "" && (err != nil || len(f.Code) != 2) || want != "" && (err == nil || !strings.HasPrefix(err.Error(), want)) {
			t.Errorf("%s: %v, error %v, want %q", functions[n].Name, f, err, want)
		}
	}
}
