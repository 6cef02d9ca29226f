// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package secrets

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"go/types"
	"reflect"
	"slices"
	"strings"
	"testing"

	"example.com/fastmac/internal/assurance/machine"
	"example.com/fastmac/internal/assurance/objdump"
	"example.com/fastmac/internal/assurance/program"
	"example.com/fastmac/internal/assurance/x86"
)

// assemble returns a function from lines in Intel's syntax. A jump has the number of a line.
func assemble(t *testing.T, lines string) *machine.Function {
	t.Helper()
	f := &machine.Function{Architecture: x86.Architecture, Name: "control", At: make(map[uint64]int)}
	for n, line := range strings.Split(strings.TrimSpace(lines), "\n") {
		i, err := objdump.Parse(uint64(n), []byte{0}, strings.TrimSpace(line))
		if err != nil {
			t.Fatalf("%q: %v", line, err)
		}
		f.At[i.Address] = n
		f.Code = append(f.Code, i)
	}
	return f
}

// declare returns the signature of a declaration in Go.
func declare(t *testing.T, source string) *Signature {
	t.Helper()
	files := token.NewFileSet()
	file, err := parser.ParseFile(files, "control.go", "package control\n"+source, 0)
	if err != nil {
		t.Fatal(err)
	}
	p, err := new(types.Config).Check("control", files, []*ast.File{file}, nil)
	if err != nil {
		t.Fatal(err)
	}
	return NewSignature(p.Scope().Lookup("f").Type().(*types.Signature))
}

// TestLeaks has kernels that leak, and for each one that differs in a line and does not.
func TestLeaks(t *testing.T) {
	const (
		declaration = "type l1State struct { sums [4]uint64; bytes int; next *int }\nfunc f(key *[32]byte, p []byte, s *l1State) uint64"
		branch      = "the branch depends on a secret"
		address     = "the address depends on a secret"
		unknown     = "the address is of no known object"
	)
	for _, c := range []struct{ name, leak, line, fixed, want string }{
		{"a branch on a secret", `mov rax,QWORD PTR [rsp+0x8]
			mov rax,QWORD PTR [rax]
			test rax,rax
			je 4
			ret`, "mov rax,QWORD PTR [rax]", "mov rax,QWORD PTR [rsp+0x18]", branch},
		{"a table lookup by a secret", `mov rax,QWORD PTR [rsp+0x8]
			movzx rcx,BYTE PTR [rax]
			mov rdx,QWORD PTR [rax+rcx*1]
			ret`, "movzx rcx,BYTE PTR [rax]", "mov ecx,0x3", address},
		{"a store to an address that is secret", `mov rax,QWORD PTR [rsp+0x8]
			movzx rcx,BYTE PTR [rax]
			mov QWORD PTR [rax+rcx*8],rax
			ret`, "movzx rcx,BYTE PTR [rax]", "mov ecx,0x3", address},
		{"a secret through the frame", `sub rsp,0x40
			mov rax,QWORD PTR [rsp+0x48]
			vmovdqu ymm0,YMMWORD PTR [rax]
			vmovdqu YMMWORD PTR [rsp+0x10],ymm0
			mov rcx,QWORD PTR [rsp+0x18]
			cmp rcx,QWORD PTR [rsp+0x58]
			jb 7
			ret`, "mov rcx,QWORD PTR [rsp+0x18]", "mov rcx,QWORD PTR [rsp+0x60]", branch},
		{"a secret in the frame at any offset", `sub rsp,0x80
			lea rdx,[rsp+0x3f]
			and rdx,0xffffffffffffffc0
			mov rax,QWORD PTR [rsp+0x88]
			vmovdqu ymm0,YMMWORD PTR [rax]
			vmovdqu YMMWORD PTR [rdx],ymm0
			mov rcx,QWORD PTR [rsp+0x18]
			test rcx,rcx
			jne 9
			ret`, "mov rcx,QWORD PTR [rsp+0x18]", "mov ecx,0x3", branch},
		{"a secret in a flag, two instructions before", `mov rax,QWORD PTR [rsp+0x8]
			mov rcx,QWORD PTR [rsp+0x18]
			cmp rcx,QWORD PTR [rax]
			mov rdx,rcx
			lea rdx,[rdx+0x1]
			ja 6
			ret`, "cmp rcx,QWORD PTR [rax]", "cmp rcx,QWORD PTR [rsp+0x18]", branch},
		{"a secret that is xored with itself", `mov rax,QWORD PTR [rsp+0x8]
			mov rax,QWORD PTR [rax]
			mov rcx,rax
			xor rax,rcx
			je 5
			ret`, "xor rax,rcx", "xor rax,rax", branch},
		{"a secret mask of a load", `mov rax,QWORD PTR [rsp+0x8]
			mov rcx,QWORD PTR [rax]
			kmovq k1,rcx
			vmovdqu8 zmm0{k1}{z},ZMMWORD PTR [rax]
			ret`, "mov rcx,QWORD PTR [rax]", "mov rcx,QWORD PTR [rsp+0x18]", "which bytes are read depends on a secret"},
		{"a secret in the fifth iteration of a loop", `mov rax,QWORD PTR [rsp+0x8]
			xor edx,edx
			mov rcx,QWORD PTR [rsp+0x18]
			mov rbx,rsi
			mov rsi,rdi
			mov rdi,r8
			mov r8,r9
			mov r9,QWORD PTR [rax+0x8]
			test rdx,rdx
			mov rdx,rbx
			je 3
			ret`, "mov rdx,rbx", "mov rdx,rcx", branch},
		{"a count that a secret has chosen", `mov rax,QWORD PTR [rsp+0x8]
			mov rcx,QWORD PTR [rsp+0x18]
			xor edx,edx
			cmp QWORD PTR [rax],0x0
			cmove rcx,rdx
			dec rcx
			jne 5
			ret`, "cmp QWORD PTR [rax],0x0", "cmp QWORD PTR [rsp+0x18],0x0", branch},
		{"what the caller left in a register", `test r11,r11
			je 2
			ret`, "test r11,r11", "test rsp,rsp", branch},
		{"a secret that becomes public", `mov rax,QWORD PTR [rsp+0x8]
			mov rcx,QWORD PTR [rax]
			mov rdx,QWORD PTR [rsp+0x28]
			mov QWORD PTR [rdx+0x20],rcx
			ret`, "mov rcx,QWORD PTR [rax]", "mov rcx,QWORD PTR [rsp+0x18]", "a secret is written to what is public in s*"},
		{"a secret that may become public", `mov rax,QWORD PTR [rsp+0x8]
			mov rcx,QWORD PTR [rax]
			mov rdx,QWORD PTR [rsp+0x28]
			mov rax,QWORD PTR [rsp+0x18]
			mov QWORD PTR [rdx+rax*1],rcx
			ret`, "mov QWORD PTR [rdx+rax*1],rcx", "mov QWORD PTR [rdx+0x8],rcx", "a secret is written to what is public in s*"},
		{"an address that becomes a number", `mov rcx,QWORD PTR [rsp+0x18]
			mov rdx,QWORD PTR [rsp+0x28]
			mov QWORD PTR [rdx+0x28],rcx
			ret`, "mov QWORD PTR [rdx+0x28],rcx", "mov QWORD PTR [rdx+0x20],rcx", "an address is overwritten in s*"},
		{"an instruction that has no model", `std
			ret`, "std", "vzeroupper", "no model: std"},
		{"a prefetch at a secret", `mov rax,QWORD PTR [rsp+0x8]
			mov rcx,QWORD PTR [rax]
			prefetcht0 BYTE PTR [rax+rcx*1]
			ret`, "mov rcx,QWORD PTR [rax]", "mov rcx,QWORD PTR [rsp+0x18]", address},
		{"an address that a secret has", `mov rax,QWORD PTR [rsp+0x18]
			mov rax,QWORD PTR [rax]
			ret`, "mov rax,QWORD PTR [rsp+0x18]", "mov rax,QWORD PTR [rsp+0x10]", unknown},
	} {
		sig := declare(t, declaration)
		found := Leaks(assemble(t, c.leak), sig)
		if !slices.ContainsFunc(found, func(f Finding) bool { return f.what == c.want }) {
			t.Errorf("%s: findings %v, want %q", c.name, found, c.want)
		}
		if strings.Count(c.leak, c.line) != 1 {
			t.Fatalf("%s: no line %q", c.name, c.line)
		}
		if found := Leaks(assemble(t, strings.Replace(c.leak, c.line, c.fixed, 1)), sig); len(found) > 0 {
			t.Errorf("not %s: findings %v, want none", c.name, found)
		}
	}
}

// TestKept gives a function of SHA-2 as many words as may stay in general registers, and one more.
func TestKept(t *testing.T) {
	sig := declare(t, "type key struct { Secret [8]uint64 }\nfunc f(k *key)")
	const loads = `mov rax,QWORD PTR [rsp+0x8]
		mov rcx,QWORD PTR [rax]
		mov rdx,QWORD PTR [rax+0x8]
		mov rsi,QWORD PTR [rax+0x10]
		mov rdi,QWORD PTR [rax+0x18]
		mov r8,r9
		`
	for _, c := range []struct {
		last, want string
	}{
		{"ret", "[control: 0x6: ret: the general registers [1 2 6 7] keep secrets]"},
		{"xor esi,esi\nret", "[]"},
	} {
		f := assemble(t, loads+c.last)
		f.Pkg = "internal/sha2"
		if got := fmt.Sprint(Leaks(f, sig)); got != c.want {
			t.Errorf("%q: %s, want %s", c.last, got, c.want)
		}
	}
}

// TestPublic checks that no kernel leaks, and that each name in public is needed for that: without it one
// leaks, of those whose signature then is another.
func TestPublic(t *testing.T) {
	before := make(map[*machine.Function]*Signature)
	first := func() (found []Finding) {
		for _, a := range program.Architectures {
			p := linkedFor(t, a)
			for _, f := range p.Functions {
				sig := NewSignature(p.Declared[f.Pkg+"."+f.Name])
				switch {
				case before[f] == nil:
					before[f] = sig
				case reflect.DeepEqual(sig, before[f]):
					continue
				}
				if found = Leaks(f, sig); len(found) > 0 {
					return found
				}
			}
		}
		return nil
	}
	if found := first(); len(found) > 0 {
		t.Fatalf("findings: %v", found)
	}
	complete := public
	defer func() { public = complete }()
	for k, name := range complete {
		public = slices.Delete(slices.Clone(complete), k, k+1)
		if found := first(); len(found) == 0 {
			t.Errorf("%s need not be public", name)
		}
	}
}

// linkedFor returns the program with all kernels for an architecture.
func linkedFor(t *testing.T, a *machine.Architecture) *program.Program {
	t.Helper()
	p, err := program.Linked(a)
	if err != nil {
		t.Fatal(err)
	}
	return p
}
