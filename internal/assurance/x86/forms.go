// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package x86

import (
	"fmt"
	"slices"
	"strings"

	"example.com/fastmac/internal/assurance/machine"
)

// Classes of instructions.
const (
	SSE    machine.Class = "SSE to SSE4.1, AES, PCLMULQDQ"
	AVX2   machine.Class = "AVX2, BMI1, BMI2"
	SHA    machine.Class = "SHA"
	VAES   machine.Class = "VAES, VPCLMULQDQ"
	AVX512 machine.Class = "AVX-512"
)

// features are those of classes, as Linux names them.
var features = map[machine.Class][]string{
	SSE:    {"ssse3", "sse4_1", "aes", "pclmulqdq"},
	AVX2:   {"avx2", "bmi1", "bmi2"},
	SHA:    {"sha_ni"},
	VAES:   {"avx2", "vaes", "vpclmulqdq"},
	AVX512: {"avx512f", "avx512bw", "avx512dq", "avx512vl"},
}

// classes returns those of which i is an instruction. One of VAES with an EVEX encoding is of two.
func classes(i *machine.Instruction) (all []machine.Class) {
	name, _ := strings.CutPrefix(i.Mnemonic, "v")
	if vex(i) && (strings.HasPrefix(name, "aes") || name == "pclmulqdq") {
		all = append(all, VAES)
	}
	switch {
	case strings.HasPrefix(name, "sha1") || strings.HasPrefix(name, "sha256"):
		all = append(all, SHA)
	case i.Bytes[0] == evexPrefix || strings.HasPrefix(i.Mnemonic, "k"):
		all = append(all, AVX512)
	case i.Bytes[0] == 0xc4 || i.Bytes[0] == 0xc5 || i.Mnemonic == "pcmpgtq": // of SSE4.2, which no kernel needs
		all = append(all, AVX2)
	default:
		all = append(all, SSE)
	}
	return all
}

// Forms returns the forms of all instructions that can be executed one by one.
func Forms(functions []*machine.Function) []machine.Form {
	return machine.Forms(functions, func(i *machine.Instruction) string {
		thread := slices.ContainsFunc(i.Operands, func(o machine.Operand) bool { return o.Thread })
		if thread || slices.Contains([]string{"prefetcht0", "cpuid", "rdseed"}, i.Mnemonic) {
			return ""
		}
		return form(i)
	})
}

// form returns the name of the form of an instruction.
func form(i *machine.Instruction) string {
	name := i.Mnemonic
	if i.Mask != 0 {
		name += map[bool]string{false: "{k}", true: "{k}{z}"}[i.Zeroing]
	}
	for _, o := range i.Operands {
		name += fmt.Sprint(" ", []string{"r", "v", "k", "imm", "m"}[o.Kind], o.Size)
		if o.Broadcast {
			name += "bcst"
		}
	}
	return name
}
