// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package objdump

import (
	"bytes"
	"debug/elf"
	"errors"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
)

const base = 0x1000

// disassemble returns the texts of instructions, and checks that they have all of the code.
func disassemble(t *testing.T, code []byte, all []Instruction) (texts []string) {
	t.Helper()
	var joined []byte
	for _, i := range all {
		if i.Address != base+uint64(len(joined)) {
			t.Errorf("%q is at %#x, want %#x", i.Text, i.Address, base+len(joined))
		}
		joined = append(joined, i.Bytes...)
		texts = append(texts, strings.Join(strings.Fields(i.Text), " "))
	}
	if !bytes.Equal(joined, code) {
		t.Errorf("bytes % x, want % x", joined, code)
	}
	return texts
}

func TestBytes(t *testing.T) {
	for _, test := range []struct {
		code string
		want []string
	}{
		{"\x48\x01\xd8\xc3", []string{"add rax,rbx", "ret"}},
		{"\xeb\xfe", []string{"jmp 0x1000"}},
		{"\x48\xb8\x01\x00\x00\x00\x00\x00\x00\x00", []string{"movabs rax,0x1"}}, // on one line
		{strings.Repeat("\x00", 32), slices.Repeat([]string{"add BYTE PTR [rax],al"}, 16)},
		{"\x90\x06\x90", []string{"nop", "(bad)", "nop"}},
		{"\x48\x01", []string{"rex.W", ".byte 0x1"}}, // less than an instruction
	} {
		all, err := Bytes([]byte(test.code), base)
		if errors.Is(err, ErrMissing) {
			t.Skip(err)
		}
		if err != nil {
			t.Errorf("% x: %v", test.code, err)
			continue
		}
		if texts := disassemble(t, []byte(test.code), all); !slices.Equal(texts, test.want) {
			t.Errorf("% x: %q, want %q", test.code, texts, test.want)
		}
	}
}

// module is assembled. It has functions of assembly of the module, and other symbols.
const module = `
	.macro symbol name type size
	.type "\name", @\type
	.size "\name", \size
"\name":
	.endm

	.intel_syntax noprefix
	.org 0x1000
	symbol example.com/module/internal/x.sum.abi0 function 4
	symbol example.com/module/internal/x.sum function 4
	symbol example.com/module.table.abi0 object 4
	symbol runtime.gogo.abi0 function 4
	add rax, rbx
	ret
	symbol example.com/module.bad.abi0 function 3
	nop
	.byte 6
	nop
	symbol example.com/module.short.abi0 function 2
	add rax, rbx
	symbol example.com/module.prefix.abi0 function 2
	nop
	.byte 0x48
	symbol example.com/module2.other.abi0 function 1
	symbol none.abi0 function 1
	ret
`

// assemble writes the module to a file, and returns its name.
func assemble(t *testing.T) string {
	t.Helper()
	if _, err := exec.LookPath("as"); err != nil {
		t.Skip("no as: install the package binutils")
	}
	if runtime.GOOS != "linux" || runtime.GOARCH != "amd64" {
		t.Skip("as is for another system")
	}
	name := filepath.Join(t.TempDir(), "module.o")
	cmd := exec.Command("as", "--64", "-o", name)
	cmd.Stdin = strings.NewReader(module)
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("as: %v: %s", err, out)
	}
	return name
}

// TestFunctions finds the functions of assembly, and disassembles them.
func TestFunctions(t *testing.T) {
	name := assemble(t)
	file, err := elf.Open(name)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	sum := Function{"example.com/module/internal/x", "sum", base, 4}
	bad := Function{"example.com/module", "bad", base + 4, 3}
	short := Function{"example.com/module", "short", base + 7, 2}
	prefix := Function{"example.com/module", "prefix", base + 10, 2}
	all, err := Functions(file, "example.com/module")
	if want := []Function{sum, bad, short, prefix}; err != nil || !slices.Equal(all, want) {
		t.Fatalf("functions %v, %v, want %v", all, err, want)
	}

	code, err := sum.Disassemble(name)
	if err != nil {
		t.Fatal(err)
	}
	if texts, want := disassemble(t, []byte("\x48\x01\xd8\xc3"), code), []string{"add rax,rbx", "ret"}; !slices.Equal(texts, want) {
		t.Errorf("%q, want %q", texts, want)
	}
	for _, test := range []struct {
		f    Function
		want string
	}{
		{bad, "no instruction at 0x1005"},
		{short, "no instruction at 0x1007"}, // the first of two
		{prefix, "no instruction at 0x100b"},
		{Function{Address: base + 2, Size: 1}, "no instruction at 0x1002"},        // half of one
		{Function{Address: base + 0x100, Size: 1}, "ends at 0x1100, want 0x1101"}, // not in the file
	} {
		if _, err := test.f.Disassemble(name); err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%v: error %v, want %q", test.f, err, test.want)
		}
	}
	if _, err := sum.Disassemble(name + ".none"); err == nil {
		t.Error("no error for a file that does not exist")
	}
}

// TestMissing checks the error where there is no objdump.
func TestMissing(t *testing.T) {
	t.Setenv("PATH", t.TempDir())
	if _, err := Bytes([]byte{0x90}, 0); !errors.Is(err, ErrMissing) {
		t.Errorf("error %v, want %v", err, ErrMissing)
	}
}
