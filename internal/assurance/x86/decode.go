// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package x86

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"strings"

	"example.com/fastmac/internal/assurance/machine"
	"golang.org/x/arch/x86/x86asm"
)

const (
	longestInstruction = 15                 // bytes of an instruction
	evexPrefix         = 0x62               // the first byte of an EVEX encoding
	vzeroupper         = "\xc5\xf8\x77"     // x86asm takes the byte after it for a part of it
	rdseed             = "\x48\x0f\xc7\xf8" // of RAX; x86asm does not know it
	threadAddress      = -8                 // where Go keeps the goroutine in the segment of the thread
)

// Decode returns the instruction at the beginning of code, which is at an address. What x86asm
// and a CPU may see differently is an error: prefixes, and bits of them, that mean nothing. So
// are forms that no kernel needs and a model could take for others.
func Decode(at uint64, code []byte) (*machine.Instruction, error) {
	i, err := decode(at, code)
	if err != nil {
		return nil, err
	}
	i.Classes = classes(i)
	SetFlow(i)
	return i, nil
}

// SetFlow sets what follows from the mnemonic of i: its flow and its condition.
func SetFlow(i *machine.Instruction) {
	i.Flow = flows[i.Mnemonic]
	if suffix, ok := strings.CutPrefix(i.Mnemonic, "j"); ok && i.Flow == machine.Next {
		i.Flow, i.Condition = machine.Branch, suffix
	}
	if suffix, ok := strings.CutPrefix(i.Mnemonic, "cmov"); ok {
		i.Condition = suffix
	}
	if i.Mnemonic == "adc" || i.Mnemonic == "sbb" {
		i.Condition = "b"
	}
}

// flows are those of instructions, except for conditional jumps.
var flows = map[string]machine.Flow{
	"jmp": machine.Jump, "call": machine.Call, "ret": machine.Return, "nop": machine.Fill, "int3": machine.Stop,
}

func decode(at uint64, code []byte) (*machine.Instruction, error) {
	if bytes.HasPrefix(code, []byte(vzeroupper)) {
		return &machine.Instruction{Address: at, Bytes: code[:3], Mnemonic: "vzeroupper", Text: "vzeroupper"}, nil
	}
	if bytes.HasPrefix(code, []byte(rdseed)) {
		return &machine.Instruction{Address: at, Bytes: code[:4], Mnemonic: "rdseed", Text: "rdseed rax", Operands: []machine.Operand{{Kind: machine.General, Number: RAX, Size: 64}}}, nil
	}
	// x86asm accepts some instructions that lack their last bytes. With zeros in their place
	// the length shows it.
	padded := append(slices.Clone(code[:min(len(code), longestInstruction)]), make([]byte, longestInstruction)...)
	x, err := x86asm.Decode(padded, 64)
	if err != nil {
		return nil, err
	}
	if x.Op == 0 || x.Op == x86asm.VZEROUPPER || x.Op == x86asm.VZEROALL || x.Len > len(code) {
		return nil, errors.New("no instruction")
	}
	i := &machine.Instruction{Address: at, Bytes: code[:x.Len], Mnemonic: strings.ToLower(strings.TrimSuffix(x.Op.String(), "_XMM"))}
	if x.Op == x86asm.NOP {
		i.Text = "nop"
		if plain := bytes.TrimPrefix(i.Bytes, []byte{0x66}); plain[0] != 0x90 && !bytes.HasPrefix(plain, []byte{0x0f, 0x1f}) {
			return nil, errors.New("unusual prefix of a NOP")
		}
		return i, nil
	}
	if hasIdleBits(i.Bytes, x) {
		return nil, errors.New("a prefix, or a bit of one, means nothing")
	}
	if i.Bytes[0] == 0xcc {
		i.Mnemonic, x.Args[0] = "int3", nil
	}
	if i.Bytes[0] == evexPrefix {
		i.Mask, i.Zeroing = int(i.Bytes[3]&7), x.Zeroing
	}
	if i.Mask != 0 {
		if x.Args[1] != x86asm.K0+x86asm.Reg(i.Mask) {
			return nil, errors.New("the second operand is not the mask")
		}
		copy(x.Args[1:], x.Args[2:])
	}
	for n, arg := range x.Args {
		var o machine.Operand
		switch a := arg.(type) {
		case nil:
			continue
		case x86asm.Rel:
			i.Target = at + uint64(x.Len) + uint64(a)
			continue
		case x86asm.Reg:
			o, err = register(a)
		case x86asm.Imm:
			o = machine.Operand{Kind: machine.Immediate, Number: uint64(a) & immediateMask(i)}
		case x86asm.Mem:
			a.Disp = int64(int32(a.Disp)) // x86asm does not extend the sign of all
			if _, vex := usualPrefix[code[0]]; vex && a.Base == 0 && a.Scale == 0 {
				a.Base = x86asm.RIP // x86asm leaves this out
			}
			x.Args[n] = a
			o, err = memory(i, a, x)
		}
		if err != nil {
			return nil, err
		}
		i.Operands = append(i.Operands, o)
	}
	i.Text = x86asm.IntelSyntax(x, at, nil)
	return i, check(i, x)
}

// usualPrefix has, by the first byte of VEX and EVEX encodings, the rest of a prefix whose bits all
// mean nothing. Registers are inverted in it.
var usualPrefix = map[byte]string{0xc5: "\xf8", 0xc4: "\xe0\x78", evexPrefix: "\xf0\x7c\x08"}

// hasIdleBits reports whether the instruction x, of which code has all bytes, is the same without one
// of its prefixes, or without a bit of one.
func hasIdleBits(code []byte, x x86asm.Inst) bool {
	same := func(changed []byte) bool {
		y, err := x86asm.Decode(append(changed, make([]byte, longestInstruction)...), 64)
		return err == nil && y.Op == x.Op && y.Args == x.Args && y.MemBytes == x.MemBytes && y.Zeroing == x.Zeroing && y.Broadcast == x.Broadcast
	}
	sameWithBits := func(n int, of byte) bool {
		for bit := byte(1); bit != 0; bit <<= 1 {
			changed := slices.Clone(code)
			changed[n] ^= bit
			if (code[n]^of)&bit != 0 && same(changed) {
				return true
			}
		}
		return false
	}
	if rest, ok := usualPrefix[code[0]]; ok {
		for n := range len(rest) {
			if sameWithBits(1+n, rest[n]) {
				return true
			}
		}
		return false
	}
	for n := 0; x.Prefix[n] != 0; n++ {
		if same(slices.Delete(slices.Clone(code), n, n+1)) || x.Prefix[n].IsREX() && sameWithBits(n, 0x40) {
			return true
		}
	}
	return false
}

// registers are the ranges of registers that operands may have. AH to BH are in none.
var registers = []struct {
	first, last     x86asm.Reg
	machine.Operand // of the first
}{
	{x86asm.AL, x86asm.BL, machine.Operand{Kind: machine.General, Size: 8}},
	{x86asm.SPB, x86asm.R15B, machine.Operand{Kind: machine.General, Size: 8, Number: RSP}},
	{x86asm.AX, x86asm.R15W, machine.Operand{Kind: machine.General, Size: 16}},
	{x86asm.EAX, x86asm.R15L, machine.Operand{Kind: machine.General, Size: 32}},
	{x86asm.RAX, x86asm.R15, machine.Operand{Kind: machine.General, Size: 64}},
	{x86asm.X0, x86asm.X31, machine.Operand{Kind: machine.Vector, Size: 128}},
	{x86asm.Y0, x86asm.Y31, machine.Operand{Kind: machine.Vector, Size: 256}},
	{x86asm.Z0, x86asm.Z31, machine.Operand{Kind: machine.Vector, Size: 512}},
	{x86asm.K0, x86asm.K7, machine.Operand{Kind: machine.Opmask, Size: 64}},
}

func register(r x86asm.Reg) (machine.Operand, error) {
	for _, all := range registers {
		if all.first <= r && r <= all.last {
			all.Number += uint64(r - all.first)
			return all.Operand, nil
		}
	}
	return machine.Operand{}, fmt.Errorf("register %v", r)
}

// memory returns a memory operand of i, or the address that LEA computes.
func memory(i *machine.Instruction, a x86asm.Mem, x x86asm.Inst) (machine.Operand, error) {
	o := machine.Operand{Kind: machine.Memory, Number: uint64(a.Disp), Size: 8 * x.MemBytes}
	number := func(r x86asm.Reg) int {
		if x86asm.RAX <= r && r <= x86asm.R15 {
			return int(r - x86asm.RAX)
		}
		return machine.None
	}
	o.Address = machine.Address{Base: number(a.Base), Index: number(a.Index), Scale: max(1, uint64(a.Scale)), Broadcast: x.Broadcast, Thread: a.Segment == x86asm.FS}
	if strings.HasPrefix(i.Mnemonic, "prefetch") {
		o.Size = 8 // as one byte
	}
	relative := a.Base == x86asm.RIP
	if relative {
		o.Number += i.Address + uint64(x.Len)
	}
	switch {
	case o.Base == machine.None && a.Base != 0 && !relative || o.Index == machine.None && a.Index != 0:
		return o, errors.New("address of other registers")
	case o.Size == 0 && x.Op != x86asm.LEA:
		return o, errors.New("operand without a size")
	case a.Segment != 0 && !o.Thread || o.Thread && (a.Disp != threadAddress || o.Size != 64):
		return o, errors.New("unusual segment")
	case o.Thread != (o.Base == machine.None && o.Index == machine.None && !relative) || a.Base == 0 && a.Scale == 0:
		return o, errors.New("absolute address, or registers in the segment of the thread")
	case o.Index == machine.None && o.Scale > 1:
		return o, errors.New("scale without an index")
	}
	return o, nil
}

// immediateMask has the bits of an immediate operand: with other operands as many as the first
// has, or 8 if that is no number.
func immediateMask(i *machine.Instruction) uint64 {
	switch {
	case len(i.Operands) == 0:
		return 1<<64 - 1
	case i.Operands[0].Kind == machine.General || i.Operands[0].Kind == machine.Memory:
		return 1<<i.Operands[0].Size - 1
	}
	return 0xff
}

// check returns an error for forms that the operands do not show, or that have no model.
func check(i *machine.Instruction, x x86asm.Inst) error {
	vectors := slices.ContainsFunc(i.Operands, func(o machine.Operand) bool { return o.Kind == machine.Vector })
	near := strings.HasPrefix(i.Mnemonic, "j") || i.Mnemonic == "call"
	switch {
	case near != (i.Target != 0) || near && (x.Prefix[0] != 0 || len(i.Operands) > 0):
		return errors.New("unusual jump")
	case i.Mnemonic == "ret" && len(i.Bytes) > 1 || slices.Contains([]x86asm.Op{x86asm.LRET, x86asm.LJMP, x86asm.LCALL}, x.Op):
		return errors.New("unusual return, or far jump")
	case (i.Bytes[0] == 0x66 || i.Bytes[0] == evexPrefix) && !vectors:
		return errors.New("no vector, but 16 bits or EVEX")
	case i.Zeroing && i.Mask == 0 || i.Mask != 0 && i.Operands[0].Kind != machine.Vector && (i.Zeroing || i.Mnemonic != "vmovdqu8"):
		return errors.New("zeroing without a mask, or a mask of no vector")
	case x.SAE:
		return errors.New("rounding in an instruction")
	case strings.HasSuffix(i.Mnemonic, "pclmulqdq") && i.Operands[len(i.Operands)-1].Number&^0x11 != 0:
		return errors.New("bits of the immediate that mean nothing")
	case i.Mnemonic == "sha1rnds4" && i.Operands[2].Number > 3:
		return errors.New("bits of the immediate that mean nothing")
	}
	return nil
}
