// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package objdump

import (
	"bytes"
	"errors"
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

// TestMissing checks the error where there is no objdump.
func TestMissing(t *testing.T) {
	t.Setenv("PATH", t.TempDir())
	if _, err := Bytes([]byte{0x90}, 0); !errors.Is(err, ErrMissing) {
		t.Errorf("error %v, want %v", err, ErrMissing)
	}
}
