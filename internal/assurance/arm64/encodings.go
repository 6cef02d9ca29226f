// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package arm64

import "example.com/fastmac/internal/assurance/machine"

// encodings are those of the instructions that kernels have, with the names that disassemblers
// prefer. The first one that matches is the right one. All bits count: those that are no field of an
// operand are as they must be. Letters are d, n, m and o for registers, i for numbers, c for a
// condition and t for a target, in words.
var encodings = []encoding{
	// Flow.
	{"00000000000000000000000000000000", "udf", []operand{immediate(0)}},
	{"11010110010111110000001111000000", "ret", nil},
	{"000101tttttttttttttttttttttttttt", "b", nil},
	{"01010100ttttttttttttttttttt0cccc", "b.", nil},
	{"10110100tttttttttttttttttttnnnnn", "cbz", []operand{x('n')}},
	{"10110101tttttttttttttttttttnnnnn", "cbnz", []operand{x('n')}},
	{"00110110iiiiittttttttttttttnnnnn", "tbz", []operand{w('n'), immediate(0)}},
	{"10110110iiiiittttttttttttttnnnnn", "tbz", []operand{x('n'), from(32)}},

	// Moves.
	{"10101010000mmmmm00000011111ddddd", "mov", []operand{x('d'), x('m')}},
	{"110100101hhiiiiiiiiiiiiiiiiddddd", "mov", []operand{x('d'), halfword(false)}},
	{"100100101hhiiiiiiiiiiiiiiiiddddd", "mov", []operand{x('d'), halfword(true)}},
	{"1jj10000iiiiiiiiiiiiiiiiiiiddddd", "adrp", []operand{x('d'), page}},
	{"10011010100mmmmmcccc00nnnnnddddd", "csel", []operand{x('d'), x('n'), x('m')}},

	{"110101010011101100100100001ddddd", "rndrrs", []operand{x('d')}}, // MRS of RNDRRS
	{"11010101000000110011100110111111", "dmb ishld", nil},
	{"11010101000000110011101010111111", "dmb ishst", nil},
	{"11010101000000110010000000011111", "nop", nil}, // which no kernel has, and mutants do

	// Sums and differences.
	{"1001000100iiiiiiiiiiiinnnnnddddd", "add", []operand{notSP('d', 64), notSP('n', 64), immediate(0)}},
	{"1001000101iiiiiiiiiiiinnnnnddddd", "add", []operand{notSP('d', 64), notSP('n', 64), immediate(12)}},
	{"0001000100iiiiiiiiiiiinnnnnddddd", "add", []operand{notSP('d', 32), notSP('n', 32), immediate(0)}},
	{"100010110k0mmmmmiiiiiinnnnnddddd", "add", []operand{x('d'), x('n'), shifted('m')}},
	{"10101011000mmmmm000000nnnnn11111", "cmn", []operand{x('n'), x('m')}},
	{"1011000100iiiiiiiiiiiinnnnnddddd", "adds", []operand{x('d'), notSP('n', 64), immediate(0)}},
	{"10101011000mmmmm000000nnnnnddddd", "adds", []operand{x('d'), x('n'), x('m')}},
	{"10011010000mmmmm000000nnnnnddddd", "adc", []operand{x('d'), x('n'), x('m')}},
	{"1101000100iiiiiiiiiiiinnnnnddddd", "sub", []operand{notSP('d', 64), notSP('n', 64), immediate(0)}},
	{"0101000100iiiiiiiiiiiinnnnnddddd", "sub", []operand{notSP('d', 32), notSP('n', 32), immediate(0)}},
	{"11001011000mmmmm00000011111ddddd", "neg", []operand{x('d'), x('m')}},
	{"11001011000mmmmm000000nnnnnddddd", "sub", []operand{x('d'), x('n'), x('m')}},
	{"1111000100iiiiiiiiiiiinnnnn11111", "cmp", []operand{notSP('n', 64), immediate(0)}},
	{"11101011000mmmmm000000nnnnn11111", "cmp", []operand{x('n'), x('m')}},
	{"1111000100iiiiiiiiiiiinnnnnddddd", "subs", []operand{x('d'), notSP('n', 64), immediate(0)}},

	// Products.
	{"00011011000mmmmm011111nnnnnddddd", "mul", []operand{w('d'), w('n'), w('m')}},
	{"10011011000mmmmm011111nnnnnddddd", "mul", []operand{x('d'), x('n'), x('m')}},
	{"10011011110mmmmm011111nnnnnddddd", "umulh", []operand{x('d'), x('n'), x('m')}},

	// Bits.
	{"100100100lrrrrrrssssssnnnnnddddd", "and", []operand{notSP('d', 64), x('n'), number(bitmask)}},
	{"10001010000mmmmm000000nnnnnddddd", "and", []operand{x('d'), x('n'), x('m')}},
	{"10001010001mmmmm000000nnnnnddddd", "bic", []operand{x('d'), x('n'), x('m')}},
	{"101100100lrrrrrrssssssnnnnnddddd", "orr", []operand{notSP('d', 64), x('n'), number(bitmask)}},
	{"10101010000mmmmmiiiiiinnnnnddddd", "orr", []operand{x('d'), x('n'), shifted('m')}},
	{"01001010000mmmmm000000nnnnnddddd", "eor", []operand{w('d'), w('n'), w('m')}},
	{"11001010000mmmmmiiiiiinnnnnddddd", "eor", []operand{x('d'), x('n'), shifted('m')}},
	{"1101001101iiiiii111111nnnnnddddd", "lsr", []operand{x('d'), x('n'), immediate(0)}},
	{"1101001101rrrrrrssssssnnnnnddddd", "lsl", []operand{x('d'), x('n'), leftShift(64)}},
	{"01010011000rrrrr0sssssnnnnnddddd", "lsl", []operand{w('d'), w('n'), leftShift(32)}},
	{"10011010110mmmmm001000nnnnnddddd", "lsl", []operand{x('d'), x('n'), x('m')}},
	{"10011010110mmmmm001001nnnnnddddd", "lsr", []operand{x('d'), x('n'), x('m')}},
	{"00010011100nnnnn0iiiiinnnnnddddd", "ror", []operand{w('d'), w('n'), immediate(0)}},
	{"0101101011000000000010nnnnnddddd", "rev", []operand{w('d'), w('n')}},
	{"1101101011000000000011nnnnnddddd", "rev", []operand{x('d'), x('n')}},

	// Loads and stores.
	{"1111100101iiiiiiiiiiiinnnnnddddd", "ldr", []operand{x('d'), at(64)}},
	{"1011100101iiiiiiiiiiiinnnnnddddd", "ldr", []operand{w('d'), at(32)}},
	{"10111000010iiiiiiiii01nnnnnddddd", "ldr", []operand{w('d'), near(32, machine.After)}},
	{"0111100101iiiiiiiiiiiinnnnnddddd", "ldrh", []operand{w('d'), at(16)}},
	{"0011100101iiiiiiiiiiiinnnnnddddd", "ldrb", []operand{w('d'), at(8)}},
	{"00111000010iiiiiiiii11nnnnnddddd", "ldrb", []operand{w('d'), near(8, machine.Before)}},
	{"11111000010iiiiiiiii00nnnnnddddd", "ldur", []operand{x('d'), near(64, machine.Unchanged)}},
	{"10111000010iiiiiiiii00nnnnnddddd", "ldur", []operand{w('d'), near(32, machine.Unchanged)}},
	{"00111000010iiiiiiiii00nnnnnddddd", "ldurb", []operand{w('d'), near(8, machine.Unchanged)}},
	{"1111100110iiiiiiiiiiiinnnnn00000", "prfm", []operand{at(64)}}, // pldl1keep
	{"1111100100iiiiiiiiiiiinnnnnddddd", "str", []operand{x('d'), at(64)}},
	{"11111000000iiiiiiiii01nnnnnddddd", "str", []operand{x('d'), near(64, machine.After)}},
	{"10111000000iiiiiiiii01nnnnnddddd", "str", []operand{w('d'), near(32, machine.After)}},
	{"01111000000iiiiiiiii01nnnnnddddd", "strh", []operand{w('d'), near(16, machine.After)}},
	{"0011100100iiiiiiiiiiiinnnnnddddd", "strb", []operand{w('d'), at(8)}},
	{"0011110111iiiiiiiiiiiinnnnnddddd", "ldr", []operand{q('d'), at(128)}},
	{"00111100110iiiiiiiii01nnnnnddddd", "ldr", []operand{q('d'), near(128, machine.After)}},
	{"00111100110iiiiiiiii00nnnnnddddd", "ldur", []operand{q('d'), near(128, machine.Unchanged)}},
	{"0011110110iiiiiiiiiiiinnnnnddddd", "str", []operand{q('d'), at(128)}},
	{"00111100100iiiiiiiii01nnnnnddddd", "str", []operand{q('d'), near(128, machine.After)}},
	{"1111110101iiiiiiiiiiiinnnnnddddd", "ldr", []operand{d('d'), at(64)}},
	{"1111110100iiiiiiiiiiiinnnnnddddd", "str", []operand{d('d'), at(64)}},
	{"1010110101iiiiiiimmmmmnnnnnddddd", "ldp", []operand{q('d'), q('m'), pair(128, machine.Unchanged)}},
	{"1010110011iiiiiiimmmmmnnnnnddddd", "ldp", []operand{q('d'), q('m'), pair(128, machine.After)}},
	{"1010110100iiiiiiimmmmmnnnnnddddd", "stp", []operand{q('d'), q('m'), pair(128, machine.Unchanged)}},
	{"1010110010iiiiiiimmmmmnnnnnddddd", "stp", []operand{q('d'), q('m'), pair(128, machine.After)}},

	// Between general registers and vectors.
	{"0100111000001000000011nnnnnddddd", "dup", []operand{vector('d', "2d"), x('n')}},
	{"0100111000000100000011nnnnnddddd", "dup", []operand{vector('d', "4s"), w('n')}},
	{"01001110000i1000000111nnnnnddddd", "mov", []operand{lane('d', "d", 64), x('n')}},
	{"01001110000i1000001111nnnnnddddd", "mov", []operand{x('d'), lane('n', "d", 64)}},
	{"00001110000ii100001111nnnnnddddd", "mov", []operand{w('d'), lane('n', "s", 32)}},

	// Vectors.
	{"01001110101nnnnn000111nnnnnddddd", "mov", []operand{vector('d', "16b"), vector('n', "16b")}},
	{"01001110111mmmmm100001nnnnnddddd", "add", three("2d")},
	{"01001110101mmmmm100001nnnnnddddd", "add", three("4s")},
	{"01001110111mmmmm101111nnnnnddddd", "addp", three("2d")},
	{"01001110101mmmmm100111nnnnnddddd", "mul", three("4s")},
	{"01001110101mmmmm100101nnnnnddddd", "mla", three("4s")},
	{"00101110101mmmmm110000nnnnnddddd", "umull", []operand{vector('d', "2d"), vector('n', "2s"), vector('m', "2s")}},
	{"01101110101mmmmm110000nnnnnddddd", "umull2", []operand{vector('d', "2d"), vector('n', "4s"), vector('m', "4s")}},
	{"00101110101mmmmm100000nnnnnddddd", "umlal", []operand{vector('d', "2d"), vector('n', "2s"), vector('m', "2s")}},
	{"01101110101mmmmm100000nnnnnddddd", "umlal2", []operand{vector('d', "2d"), vector('n', "4s"), vector('m', "4s")}},
	{"01001110001mmmmm000111nnnnnddddd", "and", three("16b")},
	{"01101110001mmmmm000111nnnnnddddd", "eor", three("16b")},
	{"0100111101iiiiii010101nnnnnddddd", "shl", []operand{vector('d', "2d"), vector('n', "2d"), immediate(0)}},
	{"0110111101iiiiii000001nnnnnddddd", "ushr", []operand{vector('d', "2d"), vector('n', "2d"), minus(64)}},
	{"01101111001iiiii000001nnnnnddddd", "ushr", []operand{vector('d', "4s"), vector('n', "4s"), minus(32)}},
	{"0010111010100001001110nnnnnddddd", "shll", []operand{vector('d', "2d"), vector('n', "2s"), minus(32)}},
	{"0110111010100001001110nnnnnddddd", "shll2", []operand{vector('d', "2d"), vector('n', "4s"), minus(32)}},
	{"0110111000100000000010nnnnnddddd", "rev32", []operand{vector('d', "16b"), vector('n', "16b")}},
	{"0100111000100000000010nnnnnddddd", "rev64", []operand{vector('d', "16b"), vector('n', "16b")}},
	{"01101110000mmmmm0iiii0nnnnnddddd", "ext", append(three("16b"), immediate(0))},
	{"01001110000mmmmm000000nnnnnddddd", "tbl", three("16b")},
	{"01001110000mmmmm001000nnnnnddddd", "tbl", []operand{vector('d', "16b"), vector('n', "16b"), vector('n', "16b", 1), vector('m', "16b")}},
	{"01001110100mmmmm000110nnnnnddddd", "uzp1", three("4s")},
	{"01001110110mmmmm000110nnnnnddddd", "uzp1", three("2d")},
	{"01001110100mmmmm010110nnnnnddddd", "uzp2", three("4s")},
	{"01001110110mmmmm010110nnnnnddddd", "uzp2", three("2d")},

	// Cryptography.
	{"0100111000101000010010nnnnnddddd", "aese", []operand{vector('d', "16b"), vector('n', "16b")}},
	{"0100111000101000011010nnnnnddddd", "aesmc", []operand{vector('d', "16b"), vector('n', "16b")}},
	{"00001110111mmmmm111000nnnnnddddd", "pmull", []operand{vector('d', "1q"), vector('n', "1d"), vector('m', "1d")}},
	{"01001110111mmmmm111000nnnnnddddd", "pmull2", []operand{vector('d', "1q"), vector('n', "2d"), vector('m', "2d")}},
	{"01011110000mmmmm010000nnnnnddddd", "sha256h", []operand{q('d'), q('n'), vector('m', "4s")}},
	{"01011110000mmmmm010100nnnnnddddd", "sha256h2", []operand{q('d'), q('n'), vector('m', "4s")}},
	{"0101111000101000001010nnnnnddddd", "sha256su0", []operand{vector('d', "4s"), vector('n', "4s")}},
	{"01011110000mmmmm011000nnnnnddddd", "sha256su1", three("4s")},
	{"11001110011mmmmm100000nnnnnddddd", "sha512h", []operand{q('d'), q('n'), vector('m', "2d")}},
	{"11001110011mmmmm100001nnnnnddddd", "sha512h2", []operand{q('d'), q('n'), vector('m', "2d")}},
	{"1100111011000000100000nnnnnddddd", "sha512su0", []operand{vector('d', "2d"), vector('n', "2d")}},
	{"11001110011mmmmm100010nnnnnddddd", "sha512su1", three("2d")},
}

// three returns three vectors of one arrangement.
func three(arrangement string) []operand {
	return []operand{vector('d', arrangement), vector('n', arrangement), vector('m', arrangement)}
}
