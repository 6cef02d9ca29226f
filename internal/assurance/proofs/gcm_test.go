// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package proofs

import (
	"slices"
	"strings"
	"testing"

	"example.com/fastmac/internal/assurance/machine"
	"example.com/fastmac/internal/assurance/program"
)

// TestBrokenGCM alters an instruction of each kernel of GCM. Its proof must fail.
func TestBrokenGCM(t *testing.T) {
	p := linkedProgram(t)
	for _, what := range []string{"a lane that is dropped", "the key of another round, or another power", "another constant", "an end that is off by one", "another round", "another register"} {
		tried := 0
		for _, x := range proofs {
			if !slices.Contains([]string{"initKey", "hash", "gmac", "seal", "open"}, x.kernels) {
				continue
			}
			for _, f := range p.Functions {
				if kernelName(f) != x.kernels {
					continue
				}
				broken, n := alteredBy(f, alterations[what], len(f.Code)/2, executedFor(p, f))
				if broken == nil {
					continue
				}
				tried++
				if !refuses(p, []proof{x}, broken) {
					t.Errorf("%s: %s: %v: not refused", f.Name, what, f.Code[n])
				}
			}
		}
		t.Logf("%d kernels have %s", tried, what)
		if tried == 0 {
			t.Errorf("no kernel has %s", what)
		}
	}
}

// TestWrongConstants alters a bit of each word in the first 16 bytes of each constant of package
// gcm. The proof of a kernel that reads it must fail. Kernels use one half of the polynomial.
func TestWrongConstants(t *testing.T) {
	p := linkedProgram(t)
	var names []string
	for _, s := range p.Symbols {
		read := slices.DeleteFunc(slices.Clone(p.Functions), func(f *machine.Function) bool {
			return f.Pkg != program.ModulePath+"/internal/gcm" || strings.HasPrefix(f.Name, "open") || !slices.ContainsFunc(f.Code, func(i *machine.Instruction) bool {
				o := i.MemoryOperand()
				return o != nil && o.Base == machine.None && s.Value <= o.Number && o.Number < s.Value+s.Size
			})
		})
		if len(read) == 0 {
			continue
		}
		names = append(names, s.Name)
		for at := uint64(0); at < 16; at += 8 {
			if s.Name == "polynomial" && at == 8 {
				continue
			}
			if !slices.ContainsFunc(read, func(f *machine.Function) bool { return needs(p, f, s.Value+at) }) {
				t.Errorf("%s, word %d: not refused", s.Name, at/8)
			}
		}
	}
	t.Log(names)
	if len(names) < 12 {
		t.Error("constants are missing")
	}
}

// needs reports whether the proofs of f fail if a byte of the program is another one.
func needs(p *program.Program, f *machine.Function, address uint64) bool {
	address += 6 // the first byte of onesZeros, and the last, are for no size
	q := *p
	q.Data = slices.Clone(p.Data)
	for k, s := range q.Data {
		if s.Address <= address && address < s.Address+uint64(len(s.Bytes)) {
			q.Data[k].Bytes = slices.Clone(s.Bytes)
			q.Data[k].Bytes[address-s.Address] ^= 0x80 // of a byte of shifts that gives zero, no other bit counts
		}
	}
	return refuses(&q, proofsOf(f), f)
}
