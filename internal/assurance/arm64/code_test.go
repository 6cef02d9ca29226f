// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package arm64_test

import (
	"debug/elf"
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	"example.com/fastmac/internal/assurance/llvm"
	"example.com/fastmac/internal/assurance/program"
	"example.com/fastmac/internal/golden"
)

// Tests of the machine code: what the assembler and the linker have made of what is generated here.

const root = "../../.."

// files are the assembly for arm64, by package.
var files = map[string]string{
	"example.com/fastmac":                   "nh_arm64.s",
	"example.com/fastmac/internal/aes":      "internal/aes/aes_arm64.s",
	"example.com/fastmac/internal/gcm":      "internal/gcm/gcm_arm64.s",
	"example.com/fastmac/internal/lifetime": "internal/lifetime/barrier_arm64.s",
	"example.com/fastmac/internal/prefetch": "internal/prefetch/prefetch_arm64.s",
	"example.com/fastmac/internal/sha2":     "internal/sha2/sha2_arm64.s",
}

// A compiled is a function of a file, and its machine code without what fills it up at the end.
type compiled struct {
	name      string // with its package
	text      string // what follows TEXT in the file
	arguments uint64 // their size
	words     []word
	code      []instruction
}

// A word is a line WORD: an opcode, and in a comment the instruction.
type word struct {
	opcode uint32
	text   string
}

// An instruction is one of a program.
type instruction struct {
	llvm.Instruction
	opcode uint32
}

func (i instruction) String() string { return strings.TrimSpace(i.Mnemonic + " " + i.Operands) }

// load links a program once, and returns its functions.
var load = sync.OnceValues(func() ([]compiled, error) {
	tools, err := llvm.Find("llvm-objdump")
	if err != nil {
		return nil, errMissing{err}
	}
	dir, err := os.MkdirTemp("", "fastmac-neon-")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	name := filepath.Join(dir, "linked")
	if err := llvm.Link(name, "arm64"); err != nil {
		return nil, err
	}
	disassembly, err := tools.Disassemble(name, regexp.MustCompile(`^example\.com/fastmac[./]`))
	if err != nil {
		return nil, err
	}
	binary, err := elf.Open(name)
	if err != nil {
		return nil, err
	}
	defer binary.Close()
	functions, err := program.Assembly(binary)
	if err != nil {
		return nil, err
	}
	sources, err := read()
	if err != nil {
		return nil, err
	}
	for _, f := range functions {
		name := f.Pkg + "." + f.Name
		i := slices.IndexFunc(sources, func(c compiled) bool { return c.name == name })
		j := slices.IndexFunc(disassembly, func(d llvm.Function) bool { return d.Name == name })
		if i < 0 || j < 0 {
			return nil, fmt.Errorf("%s is in no file, or not disassembled", name)
		}
		if sources[i].code, err = decode(f, disassembly[j].Code); err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
	}
	for _, c := range sources {
		if c.code == nil {
			return nil, fmt.Errorf("%s is not in the binary: call it in package linked", c.name)
		}
	}
	return sources, nil
})

// errMissing is the error where there is no LLVM.
type errMissing struct{ error }

// machineCode returns the functions, or skips the test.
func machineCode(t *testing.T) []compiled {
	t.Helper()
	functions, err := load()
	if errors.As(err, new(errMissing)) {
		t.Skip(err)
	}
	if err != nil {
		t.Fatal(err)
	}
	return functions
}

var (
	textLine = regexp.MustCompile(`^·(\w+)\(SB\), NOSPLIT, \$0-(\d+)$`)
	wordLine = regexp.MustCompile(`(?m)^\tWORD\t\$(\S+)(?: // (.+))?$`)
)

// read returns the functions of the files.
func read() (all []compiled, err error) {
	for pkg, file := range files {
		source, err := os.ReadFile(filepath.Join(root, filepath.FromSlash(file)))
		if err != nil {
			return nil, err
		}
		for _, f := range strings.Split(string(source), "\nTEXT ")[1:] {
			var c compiled
			c.text, _, _ = strings.Cut(f, "\n")
			name, _, _ := strings.Cut(strings.TrimPrefix(c.text, "·"), "(")
			c.name = pkg + "." + name
			if m := textLine.FindStringSubmatch(c.text); m != nil {
				c.arguments, _ = strconv.ParseUint(m[2], 10, 64)
			}
			for _, m := range wordLine.FindAllStringSubmatch(f, -1) {
				opcode, err := strconv.ParseUint(m[1], 0, 32)
				if err != nil {
					return nil, err
				}
				c.words = append(c.words, word{uint32(opcode), m[2]})
			}
			if n := strings.Count(f, "\tWORD"); n != len(c.words) {
				return nil, fmt.Errorf("%s: %d lines with WORD, %d of their form", c.name, n, len(c.words))
			}
			all = append(all, c)
		}
	}
	return all, nil
}

// decode returns the instructions of f, without the zeros behind it. There must be no gap.
func decode(f program.Compiled, disassembly []llvm.Instruction) (all []instruction, err error) {
	code := f.Code
	for ; len(code) >= 4 && binary.LittleEndian.Uint32(code[len(code)-4:]) == 0; code = code[:len(code)-4] {
	}
	for i := 0; i < len(code); i += 4 {
		address := f.Address + uint64(i)
		if i/4 >= len(disassembly) || disassembly[i/4].Address != address || disassembly[i/4].Mnemonic == "<unknown>" {
			return nil, fmt.Errorf("the disassembly has no instruction at %#x", address)
		}
		all = append(all, instruction{disassembly[i/4], binary.LittleEndian.Uint32(code[i:])})
	}
	return all, nil
}

// TestWords compares the comments of WORD with a disassembly.
func TestWords(t *testing.T) {
	total := 0
	for _, f := range machineCode(t) {
		total += len(f.words)
		if err := compareWords(f.words, f.code); err != nil {
			t.Errorf("%s: %v", f.name, err)
		}
	}
	if total == 0 {
		t.Error("no WORD")
	}
}

// missing matches the instructions that Go 1.26's assembler lacks.
var missing = regexp.MustCompile(`^((umull2?|umlal2?|shll2?) |(mul|mla) v)`)

// compareWords finds the words of a function in its code: they are there in their order, as the
// instructions of their comments, and no other instruction needs a WORD.
func compareWords(words []word, code []instruction) error {
	for _, i := range code {
		switch {
		case len(words) > 0 && i.opcode == words[0].opcode:
			if got, want := normal(i.String()), normal(words[0].text); got != want {
				return fmt.Errorf("WORD $%#08x is %q, and its comment says %q", i.opcode, got, want)
			}
			words = words[1:]
		case missing.MatchString(i.String()):
			return fmt.Errorf("%#x: %v is not from the next WORD", i.Address, i)
		}
	}
	if len(words) > 0 {
		return fmt.Errorf("WORD $%#08x // %s is not in the code", words[0].opcode, words[0].text)
	}
	return nil
}

var immediate = regexp.MustCompile(`#\w+`)

// normal returns an instruction in lower case, with one space between operands and with decimal
// numbers: versions of LLVM differ.
func normal(text string) string {
	text = strings.Join(strings.FieldsFunc(strings.ToLower(text), func(r rune) bool { return strings.ContainsRune(" \t,", r) }), " ")
	return immediate.ReplaceAllStringFunc(text, func(number string) string {
		n, err := strconv.ParseInt(number[1:], 0, 64)
		if err != nil {
			return number
		}
		return fmt.Sprintf("#%d", n)
	})
}

// line returns an instruction of its text.
func line(opcode uint32, text string) instruction {
	mnemonic, operands, _ := strings.Cut(text, " ")
	return instruction{llvm.Instruction{Address: 0x1000, Mnemonic: mnemonic, Operands: operands}, opcode}
}

// TestCompareWords checks that TestWords fails if a word or its comment is wrong.
func TestCompareWords(t *testing.T) {
	const umull, shll = 0x2eadc180, 0x2ea13886
	code := []instruction{
		line(0x4eb0850c, "add v12.4s, v8.4s, v16.4s"),
		line(umull, "umull v0.2d, v12.2s, v13.2s"),
		line(0x9b0c7d90, "mul x16, x12, x12"),
		line(shll, "shll v6.2d, v4.2s, #0x20"),
	}
	first, second := word{umull, "UMULL V0.2D, V12.2S, V13.2S"}, word{shll, "SHLL V6.2D, V4.2S, #32"}
	for _, test := range []struct {
		words []word
		want  string
	}{
		{[]word{first, second}, ""},
		{[]word{{umull, "UMULL V0.2D, V13.2S, V12.2S"}, second}, `WORD $0x2eadc180 is "umull v0.2d v12.2s v13.2s", and its comment says "umull v0.2d v13.2s v12.2s"`},
		{[]word{{umull, "UMLAL V0.2D, V12.2S, V13.2S"}, second}, `WORD $0x2eadc180 is "umull v0.2d v12.2s v13.2s", and its comment says "umlal v0.2d v12.2s v13.2s"`},
		{[]word{{umull, "UMULL V0.2D, V12.2S, V13.4S"}, second}, `WORD $0x2eadc180 is "umull v0.2d v12.2s v13.2s", and its comment says "umull v0.2d v12.2s v13.4s"`},
		{[]word{{umull, ""}, second}, `WORD $0x2eadc180 is "umull v0.2d v12.2s v13.2s", and its comment says ""`},
		{[]word{first, {shll, "SHLL V6.2D, V4.2S, #16"}}, `WORD $0x2ea13886 is "shll v6.2d v4.2s #32", and its comment says "shll v6.2d v4.2s #16"`},
		{[]word{first}, "0x1000: shll v6.2d, v4.2s, #0x20 is not from the next WORD"},
		{[]word{second}, "0x1000: umull v0.2d, v12.2s, v13.2s is not from the next WORD"},
		{[]word{first, second, second}, "WORD $0x2ea13886 // SHLL V6.2D, V4.2S, #32 is not in the code"},
	} {
		if err := compareWords(test.words, code); (err != nil || test.want != "") && (err == nil || err.Error() != test.want) {
			t.Errorf("%v: error %v, want %q", test.words, err, test.want)
		}
	}
	for text, want := range map[string]bool{
		"mul v0.4s, v1.4s, v2.4s": true, "mla v0.4s, v1.4s, v2.4s": true, "umull2 v0.2d, v1.4s, v2.4s": true,
		"mul x1, x2, x3": false, "umulh x1, x2, x3": false, "shl v1.2d, v1.2d, #2": false,
	} {
		if missing.MatchString(text) != want {
			t.Errorf("%s needs WORD: %v, want %v", text, !want, want)
		}
	}
}

// TestRegisters checks that no function uses a general register that belongs to Go or to the
// operating system. Vector registers belong to nobody between calls.
func TestRegisters(t *testing.T) {
	for _, f := range machineCode(t) {
		for _, i := range f.code {
			if err := checkRegisters(i, f.arguments); err != nil {
				t.Errorf("%s: %#x: %v: %v", f.name, i.Address, i, err)
			}
		}
	}
}

var (
	general  = regexp.MustCompile(`\b(?:[wx](\d+)|(w?sp|fp|lr))\b`)
	argument = regexp.MustCompile(`^[^\[]+, \[sp, #(\w+)\]$`)
)

// checkRegisters reports a register that an instruction must not use. The arguments are in the
// frame of the caller, from 8(SP) on.
func checkRegisters(i instruction, arguments uint64) error {
	for _, m := range general.FindAllStringSubmatch(i.Operands, -1) {
		switch m[0] {
		case "w18", "x18":
			return errors.New("x18 belongs to the operating system")
		case "w27", "x27":
			return errors.New("x27 belongs to the assembler, which uses it for an offset or a constant that does not fit: choose another one")
		case "w28", "x28":
			return errors.New("x28 is Go's g")
		case "w29", "x29", "fp", "w30", "x30", "lr":
			return errors.New("x29 and x30 are the frame pointer and the return address")
		case "sp", "wsp":
			m := argument.FindStringSubmatch(i.Operands)
			if m == nil || !slices.Contains(memory, i.Mnemonic) {
				return errors.New("sp is for loads and stores of arguments")
			}
			if offset, err := strconv.ParseUint(m[1], 0, 64); err != nil || offset < 8 || offset >= 8+arguments {
				return fmt.Errorf("the arguments are at 8 to %d", 8+arguments-1)
			}
		}
	}
	return nil
}

// TestCheckRegisters checks what TestRegisters refuses.
func TestCheckRegisters(t *testing.T) {
	for text, ok := range map[string]bool{
		"ldr x0, [sp, #8]": true, "ldr d28, [sp, #0x18]": true, "str x3, [sp, #24]": true, "ret": true,
		"add x17, x26, x19": true, "mov v18.d[1], x2": true, "ldp q28, q29, [x3], #32": true,
		"ldr x0, [sp]": false, "ldr x0, [sp, #0x20]": false, "ldr x0, [sp, #-8]": false, "str x0, [sp, #-16]!": false,
		"ldr x0, [sp], #16": false, "sub sp, sp, #16": false, "mov x2, sp": false,
		"add x18, x1, x2": false, "ldr w18, [x1]": false, "mov x27, #0x1234": false, "ldr q0, [x27]": false,
		"ldr x0, [x28]": false, "mov x29, x1": false, "br x30": false,
	} {
		if err := checkRegisters(line(0, text), 24); (err == nil) != ok {
			t.Errorf("%s: error %v", text, err)
		}
	}
}

// Instructions whose operands may be secret. Arm's Architecture Reference Manual, DDI 0487, has in
// section C5.2.4, "DIT, Data Independent Timing", what a CPU promises while PSTATE.DIT is 1: the
// time of loads and stores does not depend on the data, and that of some other instructions neither
// on registers nor on flags. These are the ones whose "Operational information" says so, in
// section C6.2 and, of vectors, C7.2. Older issues of the manual list them in C5.2.4.
//
// Names are a disassembler's: cmp, cmn, lsl, lsr, mov, neg and ror stand for other instructions.
// TestConstantTime asks for one more entry if a function begins to use one more instruction: look
// it up first.
var independent = strings.Fields(`
	adc add adds and bic cmn cmp csel eor lsl lsr mov mul neg orr rev ror sub subs umulh
	addp aese aesmc dup ext mla pmull pmull2 rev32 rev64 sha256h sha256h2 sha256su0 sha256su1 sha512h sha512h2 sha512su0 sha512su1 shl shll shll2 tbl umlal umlal2 umull umull2 ushr uzp1 uzp2`)

// unlisted are instructions of which the manual says nothing, and why they may be used.
var unlisted = map[string]string{
	"adrp": "has no operand that is data",
	"dmb":  "has no operand that is data",
	"mrs":  "reads RNDRRS only",
}

// The time of a branch depends on its condition, which must be public. That of a load or a store
// depends on the address, which must be too. No test that looks at mnemonics alone can see whether
// they are: one compares what is executed, in qemu, with two keys and messages.
var (
	branches = []string{"b", "b.eq", "b.ge", "b.gt", "b.le", "b.lt", "b.ne", "cbnz", "cbz", "ret", "tbz"}
	memory   = []string{"ldp", "ldr", "ldrb", "ldrh", "ldur", "ldurb", "prfm", "stp", "str", "strb", "strh"}
)

// TestConstantTime checks that no instruction takes longer with some data than with other.
func TestConstantTime(t *testing.T) {
	used := make(map[string]bool)
	for _, f := range machineCode(t) {
		for _, i := range f.code {
			known := slices.Contains(slices.Concat(independent, branches, memory), i.Mnemonic) || unlisted[i.Mnemonic] != ""
			if !known && !used[i.Mnemonic] {
				t.Errorf("%s: %#x: %v: look up in Arm's manual whether its time depends on data", f.name, i.Address, i)
			}
			used[i.Mnemonic] = true
		}
	}
	for _, m := range slices.Concat(independent, branches, memory) {
		if !used[m] {
			t.Errorf("%s is in the list, and in no function", m)
		}
	}
}

// TestBranches compares with branches.txt how many branches with a condition a function has. They are
// on lengths, on the number of iterations and of rounds, and on how many blocks, words or messages are
// left. A branch more must be looked at, because tests with random secrets do not see one that is
// rarely taken.
func TestBranches(t *testing.T) {
	var counts []string
	for _, f := range machineCode(t) {
		n := 0
		for _, i := range f.code {
			if i.Mnemonic != "b" && i.Mnemonic != "ret" && slices.Contains(branches, i.Mnemonic) {
				n++
			}
		}
		counts = append(counts, fmt.Sprintln(f.name[strings.LastIndexByte(f.name, '.')+1:], n))
	}
	slices.Sort(counts)
	if err := golden.Check("branches.txt", strings.Join(counts, "")); err != nil {
		t.Error(err)
	}
}

// TestFrames checks that no function has a frame or calls or jumps to another: they are leaves, so
// that the return address stays in its register, and leave nothing on the stack.
func TestFrames(t *testing.T) {
	for _, f := range machineCode(t) {
		if !textLine.MatchString(f.text) {
			t.Errorf("%s: %q, want NOSPLIT and a frame of $0", f.name, f.text)
		}
		first, last := f.code[0].Address, f.code[len(f.code)-1].Address
		for _, i := range f.code {
			to, _, isJump := i.Target()
			if strings.HasPrefix(i.Mnemonic, "bl") || strings.HasPrefix(i.Mnemonic, "br") || isJump && (to < first || to > last) {
				t.Errorf("%s: %#x: %v leaves the function", f.name, i.Address, i)
			}
		}
		if end := f.code[len(f.code)-1].Mnemonic; end != "ret" && end != "b" {
			t.Errorf("%s ends with %s", f.name, end)
		}
	}
}
