// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

// Package proofs proves that the assembly computes what the standards say, for all keys and messages
// of some sizes, and loops of some kernels for all numbers of rounds.
package proofs

import (
	"fmt"
	"io"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"text/tabwriter"

	"example.com/fastmac/internal/assurance/algebra"
	"example.com/fastmac/internal/assurance/arm64"
	"example.com/fastmac/internal/assurance/formula"
	"example.com/fastmac/internal/assurance/machine"
	"example.com/fastmac/internal/assurance/program"
	"example.com/fastmac/internal/assurance/x86"
)

// A proof is for the kernels with a name, see kernelName. It returns for how many sizes it is, which has no meaning
// if it is inductive.
type proof struct {
	kernels, what string
	prove         func(v *prover) (cases int, err error)
	only          *machine.Architecture // nil if it is for all
}

var proofs = []proof{
	{"cpuid", "nothing but its result is written", proveCPUID, x86.Architecture},
	{"rdseed", "the word of the generator and a result that is not zero are written, or zeros, and nothing else", proveSeed, x86.Architecture},
	{"rndrrs", "the word of the generator and a result that is not zero are written, or zeros, and nothing else", proveSeed, arm64.Architecture},
	{"lines", "the lines of four objects at 1 to 3 offsets are prefetched, and of the objects nothing is read", provePrefetch, nil},
	{"loads", "the order of loads, by one barrier, and nothing else", proveBarrier, arm64.Architecture},
	{"stores", "the order of stores, by one barrier, and nothing else", proveBarrier, arm64.Architecture},
	{"nhAdd", "NH of each run of groups in a block (AVX-512: from four on)", proveAdd, nil},
	{"nhBlocks", "NH of any number of blocks", proveBlocks, nil},
	{"nhPoly", "NH and POLY-64 of any number of blocks", provePoly, nil},
	{"nhPoly128", "NH and POLY-128 of 2, 4, 6 and 36 blocks, three or four iterations", provePoly128, x86.Architecture},
	{"nhNext", "NH and POLY-64 of what is left of a block, and NH of 0 to 1023 bytes of the next one, or of some of these", proveNextBlock, x86.Architecture},
	{"fill", "zero padding of 0 to 31 bytes", proveFill, nil},
	{"tagWords", "L3 and the xor with the pad", proveWords, nil},
	{"tagOnly", "NH, L3 and the xor with the pad, 0 to 1024 bytes (AVX-512: from 128 on)", proveOnly, nil},
	{"tagNext", "NH, POLY-64, L3 and the xor with the pad, 0 to 1024 bytes after other blocks (AVX-512: from 128 on)", proveNext, nil},
	{"tagTwo", "NH, POLY-64, L3 and the xor with the pad, 1025 to 2048 bytes", proveTwo, x86.Architecture},
	{"tagEach", "NH, L3 and the xor with the pad, one message of 0 to 1024 bytes, and up to nine", proveEach, x86.Architecture},
	{"tagNonce", "PDF and UHASH, 0 to 2048 bytes, each with one size of the key and the nonce", proveNonce, arm64.Architecture},
	{"tagNonces", "PDF and UHASH, one message of 0 to 2048 bytes, and up to nine", proveNonces, arm64.Architecture},
	{"expandKey", "AES key schedule", proveExpand, nil},
	{"encryptBlocks", "AES of 1 to 17 blocks, for each key size", proveEncrypt, nil},
	{"encryptWords", "AES of a block and the choice of its bytes, for each key size", proveEncryptWords, nil},
	{"deriveL1", "KDF of the L1 key, for each key size", proveDerive, x86.Architecture},
	{"padEach", "PDF of up to eight nonces of 1 to 16 bytes, for each size of the key and the tag", provePads, x86.Architecture},
	{"initKey", "powers of the hash subkey, for each key size", proveInitKey, nil},
	{"hash", "GHASH of 0 to 19 groups of 128 bytes", proveHash, nil},
	{"gmac", "GMAC of 0 to 400 bytes, and sizes up to 2431, each with one size of the key", proveCrypt, nil},
	{"seal", "GCM of 1 to 400 bytes, and sizes up to 2431, of text, and of 0 to 127 bytes of additional data, each with one size of the key", proveCrypt, nil},
	{"open", "GCM of 1 to 400 bytes, and sizes up to 2431, of text, and of 0 to 127 bytes of additional data, each with one size of the key", proveCrypt, nil},
	{"block", "compression of any number of blocks", proveBlock, nil},
	{"block", "last block of 0 to 15 words, with an outer hash or without", proveEnd, nil},
	{"pair", "compression of any number of blocks of two messages", provePair, nil},
	{"pair", "last blocks of 0 to 15 words of two messages, with outer hashes or without", provePairEnd, nil},
	{"lanes", "compression of 1 to 3 blocks in each lane, of which some begin, and of outer hashes", proveLanes, x86.Architecture},
	{"iterate", "any number of steps of PBKDF2", proveIterate, nil},
	{"iteratePair", "any number of steps of PBKDF2, of two keys", proveIteratePair, nil},
	{"iterateLanes", "any number of steps of PBKDF2, of a key in each lane", proveIterateLanes, x86.Architecture},
	{"iterate1", "any number of steps of PBKDF2 with SHA-1", proveIterate1, x86.Architecture},
	{"iteratePair1", "any number of steps of PBKDF2 with SHA-1, of two keys", proveIteratePair1, x86.Architecture},
}

// least is the least that some kernels take, in bytes.
var least = map[string]int{"nhAddAVX512": 128, "tagOnlyAVX512": 128, "tagNextAVX512": 128}

// takes returns an error if a function jumps to a kernel with fewer bytes than this takes.
func takes(c *program.Choice) error {
	if least := int64(least[c.Best]); c.Above+1 < least {
		return fmt.Errorf("%s: jumps to %s from %d bytes on, which takes %d or more", c.Name, c.Best, c.Above+1, least)
	}
	return nil
}

// run runs a proof.
func (x proof) run(v *prover) (cases int, err error) {
	defer func() {
		switch r := recover().(type) {
		case nil:
		case algebra.Unprovable:
			err = fmt.Errorf("%s: %s", v.function.Name, string(r))
		default:
			panic(r)
		}
	}()
	return x.prove(v)
}

// kernelName returns the contract of a function, by the table of kernels.
func kernelName(f *machine.Function) string {
	row, _ := program.Row(f) // without an error: see Row
	return row.Contract
}

// proofsOf returns the proofs of a function.
func proofsOf(f *machine.Function) []proof {
	return slices.DeleteFunc(slices.Clone(proofs), func(x proof) bool { return x.kernels != kernelName(f) })
}

// proveCPUID proves that cpuid writes nothing but its result, of which nothing is known.
func proveCPUID(v *prover) (cases int, err error) {
	for _, leaf := range []int{0, 7} {
		v.reset()
		if err := v.call(leaf); err != nil {
			return cases, err
		}
		cases++
	}
	return cases, nil
}

// proveSeed proves that rdseed and rndrrs write the word of the generator and a result that is not zero,
// or zeros if the generator has none, and nothing else.
func proveSeed(v *prover) (cases int, err error) {
	for has := range uint64(2) {
		v.reset()
		random := v.variable(64, 1<<64-1)
		v.says = []formula.Word{v.Constant(1, has), random}
		word := v.place(8, false, v.variables(8, 8, 0xff)...)
		if err := v.call(word); err != nil {
			return cases, err
		}
		want := []formula.Word{v.Constant(64, 0), random}[has]
		if err := v.equalWords(v.result(word, 64, 1), []formula.Word{want}, "%d words", has); err != nil {
			return cases, err
		}
		if result := v.MustValue(v.results[0], "the result"); (result != 0) != (has != 0) {
			return cases, fmt.Errorf("%s: returns %#x for %d words", v.function.Name, result, has)
		}
		cases++
	}
	return cases, nil
}

// proveBarrier proves that loads and stores begin with the instruction that orders what they say, DMB ISHLD
// or DMB ISHST, and write nothing. What a barrier does a model of one thread cannot tell.
func proveBarrier(v *prover) (cases int, err error) {
	want := map[string]string{"loads": "dmb ishld", "stores": "dmb ishst"}[kernelName(v.function)]
	if code := v.function.Code; code[0].Text != want {
		return 0, fmt.Errorf("%s: begins with %s, want %s", v.function.Name, code[0].Text, want)
	}
	v.reset()
	return 1, v.call()
}

// provePrefetch proves that lines prefetches at all offsets of all objects, in this order, writes
// nothing, and reads only pointers and offsets: what is prefetched is of no object.
func provePrefetch(v *prover) (cases int, err error) {
	const keys = 4
	for lines := 1; lines <= 3; lines++ {
		v.reset()
		pointers, offsets := v.variables(64, keys, 1<<64-1), v.variables(64, lines, 1<<64-1)
		if err := v.call(v.place(64, true, pointers...), v.place(64, true, offsets...), lines, v.capacity()); err != nil {
			return cases, err
		}
		var want []formula.Word
		for _, offset := range offsets {
			for _, key := range pointers {
				want = append(want, v.Add(64, key, offset))
			}
		}
		if len(v.Touched) != len(want) {
			return cases, fmt.Errorf("%s: %d prefetches, want %d", v.function.Name, len(v.Touched), len(want))
		}
		if err := v.equalWords(v.Touched, want, "%d offsets", lines); err != nil {
			return cases, err
		}
		cases++
	}
	return cases, nil
}

// All proves the functions whose names match, prints their proofs, and fails if a proof does, if a
// function has none, or if the proofs leave something out that it does. As many run at a time as
// there are CPUs. With a step greater than 1 they are for one of so many sizes. It returns the lines of
// decisions.txt.
func All(w io.Writer, p *program.Program, step int, match *regexp.Regexp) (decisions string, err error) {
	type result struct {
		proof
		*prover
		cases int
		err   error
		done  chan struct{}
	}
	var results []*result
	for _, x := range proofs {
		if x.only != nil && x.only != p.Architecture {
			continue
		}
		found := false
		for _, f := range p.Functions {
			if kernelName(f) != x.kernels {
				continue
			}
			found = true
			if match.MatchString(f.Name) {
				results = append(results, &result{proof: x, prover: newProver(p, f, step), done: make(chan struct{})})
			}
		}
		if !found {
			return "", fmt.Errorf("no function has a name for the proof of %s", x.kernels)
		}
	}
	running := make(chan struct{}, runtime.GOMAXPROCS(0))
	go func() {
		for _, r := range results {
			running <- struct{}{}
			go func() {
				r.cases, r.err = r.run(r.prover)
				r.Formulas, r.g = nil, nil // they need much memory
				close(r.done)
				<-running
			}()
		}
	}()

	table := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	defer table.Flush()
	fmt.Fprintln(table, "proved\tcases\twhat")
	covered := make(map[*machine.Function]coverage)
	for _, r := range results {
		<-r.done
		if r.err != nil {
			return "", r.err
		}
		sizes := fmt.Sprint(r.cases)
		if r.inductive {
			sizes = "all"
		}
		fmt.Fprintf(table, "%s\t%s\t%s\n", r.function.Name, sizes, r.what)
		if _, ok := covered[r.function]; !ok {
			covered[r.function] = newCoverage()
		}
		covered[r.function].add(r.coverage)
	}
	instructions, comparisons := 0, 0
	var missing []string
	for _, f := range p.Functions {
		switch c, ok := covered[f]; {
		case !match.MatchString(f.Name):
		case !ok:
			missing = append(missing, f.Name+" has no proof")
		case step == 1:
			left, named := c.missing(f)
			missing, decisions = append(missing, left...), decisions+strings.Join(named, "")
			instructions, comparisons = instructions+len(c.executed), comparisons+len(c.compared)
		}
	}
	for _, c := range p.Choices {
		if err := takes(c); err != nil {
			missing = append(missing, err.Error())
		}
	}
	if missing != nil {
		return "", fmt.Errorf("not covered by proofs:\n%s", strings.Join(missing, "\n"))
	}
	if step == 1 {
		fmt.Fprintf(table, "\n%d functions are proved. Their proofs execute all of their %d instructions, take each branch both ways, and make %d decisions on numbers for the numbers on both sides of them, except for those in decisions.txt, which cannot be otherwise\n", len(covered), instructions, comparisons)
	}
	return decisions, nil
}
