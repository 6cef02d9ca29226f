// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package proofs

import (
	"debug/elf"
	"errors"
	"fmt"
	"go/types"
	"slices"
	"time"

	"example.com/fastmac/internal/assurance/algebra"
	"example.com/fastmac/internal/assurance/arm64"
	"example.com/fastmac/internal/assurance/formula"
	"example.com/fastmac/internal/assurance/machine"
	"example.com/fastmac/internal/assurance/program"
)

// A prover executes kernels with formulas for all that is secret. Sizes are numbers, and the
// addresses of objects are variables.
type prover struct {
	*formula.Formulas
	program  *program.Program
	function *machine.Function
	models   machine.Models[formula.Word, formula.Symbols]
	count    int            // of variables
	results  []formula.Word // of the last call

	step, seen int   // of so many sizes, one is proved; the number of sizes
	only       []int // if not nil, the numbers of the sizes that are proved, in order

	coverage
	end    time.Time                      // if not zero, when to give up
	calls  int                            // of call
	steps  int                            // instructions executed
	sizes  map[*machine.Instruction][]int // if not nil, for which an instruction is executed, in order
	before func(m *state)                 // what call calls before the kernel, or nil

	inductive bool // the proof is for all numbers of rounds

	says []formula.Word      // the next that Unknown returns
	g    *formula.Algebraist // for proofs of GCM
}

type state = machine.State[formula.Word, formula.Symbols]

// rounds are functions that round the address of their frame down. For these it is, in turn, each
// of the multiples of 8 modulo 64.
var rounds = []string{"tagEachAVX512"}

// limitNodes is where a prover forgets all formulas.
const limitNodes = 1 << 16

// limitSteps is how many instructions an execution can have. The longest that is proved has 24,642.
const limitSteps = 1 << 18

func newProver(p *program.Program, f *machine.Function, step int) *prover {
	return &prover{Formulas: formula.NewFormulas(p.At), program: p, function: f, step: step, coverage: newCoverage(), models: program.Models[formula.Word, formula.Symbols](p.Architecture)}
}

// isARM64 reports whether the function is for arm64.
func (v *prover) isARM64() bool { return v.program.Architecture == arm64.Architecture }

// skips reports whether the next size is not proved. Those that are have no pattern.
func (v *prover) skips() bool {
	v.seen++
	if v.only != nil {
		_, found := slices.BinarySearch(v.only, v.seen)
		return !found
	}
	return uint64(v.seen)*0x9e3779b97f4a7c15>>32%uint64(v.step) != 0
}

// reset removes the memory. Formulas stay, as long as they are not too many.
func (v *prover) reset() {
	v.count = 0
	v.Forget()
	if len(v.Nodes) > limitNodes || v.Length > formula.LimitLength/2 {
		rounds, pairs := v.WholeRounds, v.Pairs
		v.Formulas = formula.NewFormulas(v.program.At)
		v.WholeRounds, v.Pairs = rounds, pairs
	}
}

// variable is a new variable of n bits, which is at most max.
func (v *prover) variable(n int, max uint64) formula.Word {
	v.count++
	return v.Variable(n, v.count, max)
}

// Unknown is a variable, or what the proof has chosen.
func (v *prover) Unknown(n int) formula.Word {
	if len(v.says) > 0 {
		w := v.says[0]
		v.says = v.says[1:]
		return w
	}
	return v.variable(n, algebra.Trim(n, 1<<64-1))
}

// place makes an object of words of n bits, at any multiple of their size, and returns its address.
func (v *prover) place(n int, readOnly bool, words ...formula.Word) formula.Word {
	var bytes []formula.ByteOf
	for _, w := range words {
		bytes = append(bytes, v.Bytes(w, n)...)
	}
	return v.Place(n/8, readOnly, bytes).Address
}

// symbol returns the address of a variable of the program.
func (v *prover) symbol(name string) uint64 {
	k := slices.IndexFunc(v.program.Symbols, func(s elf.Symbol) bool { return s.Name == program.ModulePath+name })
	if k < 0 {
		panic(algebra.Unprovable("no variable " + name))
	}
	return v.program.Symbols[k].Value
}

// set sets the bytes of a variable of the program, which the program does not change after it has
// been initialized, and returns its address.
func (v *prover) set(name string, n int, words ...formula.Word) formula.Word {
	o, _ := v.Datum(v.symbol(name))
	o.Bytes = nil
	for _, w := range words {
		o.Bytes = append(o.Bytes, v.Bytes(w, n)...)
	}
	return o.Address
}

// plus returns an address some bytes after another one.
func (v *prover) plus(address formula.Word, bytes int) formula.Word {
	return v.Add(64, address, v.Constant(64, uint64(bytes)))
}

// variables returns new variables of n bits.
func (v *prover) variables(n, count int, max uint64) []formula.Word {
	words := make([]formula.Word, count)
	for k := range words {
		words[k] = v.variable(n, max)
	}
	return words
}

// numbers returns constants of 64 bits.
func (v *prover) numbers(x ...uint64) (words []formula.Word) {
	for _, x := range x {
		words = append(words, v.Constant(64, x))
	}
	return words
}

// words returns numbers, words and slices of words as one slice of words.
func (v *prover) words(list ...any) (words []formula.Word) {
	for _, x := range list {
		switch x := x.(type) {
		case int:
			words = append(words, v.Constant(64, uint64(x)))
		case formula.Word:
			words = append(words, x)
		case []formula.Word:
			words = append(words, x...)
		default:
			panic(fmt.Sprintf("no words: %T", x))
		}
	}
	return words
}

// parameter returns the type of a parameter of the function.
func (v *prover) parameter(name string) types.Type {
	for p := range v.program.Declared[v.function.Pkg+"."+v.function.Name].Params().Variables() {
		if p.Name() == name {
			return p.Type()
		}
	}
	panic(algebra.Unprovable("no parameter " + name))
}

// offsetOf returns the offset of a field in the struct to which a parameter of the function points.
func (v *prover) offsetOf(parameter, field string) int {
	fields := slices.Collect(v.parameter(parameter).(*types.Pointer).Elem().Underlying().(*types.Struct).Fields())
	for k, offset := range program.Layout.Offsetsof(fields) {
		if fields[k].Name() == field {
			return int(offset)
		}
	}
	panic(algebra.Unprovable("no field " + field))
}

// result returns memory as words of n bits.
func (v *prover) result(address formula.Word, n, count int) (words []formula.Word) {
	for k := range count {
		words = append(words, v.FromBytes(v.Find(v.plus(address, k*n/8), n/8, false)))
	}
	return words
}

// asBytes returns the bytes of words.
func (v *prover) asBytes(words []formula.Word) (bytes []formula.Word) {
	for _, w := range words {
		for _, b := range v.Bytes(w, 64) {
			bytes = append(bytes, v.FromBytes([]formula.ByteOf{b}))
		}
	}
	return bytes
}

// call executes the kernel with arguments, see words, from its beginning to its end.
func (v *prover) call(list ...any) error {
	e, err := v.enter(list...)
	if err != nil {
		return err
	}
	if v.before != nil {
		v.before(e.m)
	}
	if err := e.run(0, nil); err != nil {
		return err
	}
	return e.leave()
}

// An execution is of the kernel, with memory for its stack.
type execution struct {
	*prover
	m                *state
	start            state                // at the beginning
	stack, goroutine *formula.Object      // memory
	before           []formula.ByteOf     // bytes of the stack at the beginning
	entry            formula.Word         // the stack pointer there
	upper            *machine.Instruction // after which the upper halves may be in use
}

// enter is the state in which the kernel is called with arguments, see words. After these there is room
// for its results, and for nothing else.
func (v *prover) enter(list ...any) (*execution, error) {
	f := v.function
	anything := func(words int64) []formula.Word { return v.variables(64, int(words), 1<<64-1) }
	at := v.place(64, false, anything((machine.FrameLimit+machine.ArgumentBase+f.Arguments+f.Results)/8)...) // with the address to return to
	e := &execution{prover: v, stack: v.Objects[len(v.Objects)-1]}
	e.stack.Residue = v.calls % 8 * 8
	v.calls++
	// The limit of the stack is below the frame: it need not grow.
	e.start = state{Algebra: v, Thread: v.place(64, true, slices.Concat(anything(2), []formula.Word{at}, anything(1))...)}
	e.goroutine = v.Objects[len(v.Objects)-1]
	for k := range e.start.General {
		e.start.General[k] = v.variable(64, 1<<64-1)
	}
	for k := range e.start.Vectors {
		for lane := range 8 {
			v.SetLane(&e.start.Vectors[k], 64, lane, v.variable(64, 1<<64-1))
		}
	}
	for k := range e.start.Masks {
		e.start.Masks[k] = v.variable(64, 1<<64-1)
	}
	e.entry = v.plus(at, machine.FrameLimit)
	e.start.General[f.StackPointer] = e.entry
	if f.Goroutine != machine.None {
		e.start.General[f.Goroutine] = e.start.Thread
	}
	e.before = e.stack.Bytes
	return e, e.begin(list...)
}

// begin is the state in which the kernel is called with other arguments.
func (e *execution) begin(list ...any) error {
	arguments := e.words(list...)
	if f := e.function; int64(8*len(arguments)) != f.Arguments {
		return fmt.Errorf("%s: %d words of arguments for %d bytes", f.Name, len(arguments), f.Arguments)
	}
	e.before = slices.Clone(e.before)
	for k, w := range arguments {
		copy(e.before[firstArgument+8*k:], e.Bytes(w, 64))
	}
	m := e.start
	e.m, e.upper, e.stack.Bytes, e.stack.Rounds = &m, nil, slices.Clone(e.before), false
	e.goroutine.From = 0
	if !slices.ContainsFunc(e.function.Code, func(i *machine.Instruction) bool { return i.Flow == machine.Call }) {
		e.goroutine.From = len(e.goroutine.Bytes) // only the check of the stack may read it, and here is none
	}
	return nil
}

// firstArgument is the offset of the arguments in the object of the stack.
const firstArgument = machine.FrameLimit + machine.ArgumentBase

// errStopped is the error of an execution that stops before its end.
var errStopped = errors.New("stopped")

// run executes the kernel from an instruction on to its end, or stops before the first instruction for which stop,
// if it is not nil, returns true. The arguments of stop are the instruction and the branch that has just been
// taken, or nil. The kernel must use no memory below its stack pointer, nor more of it than its frame.
func (e *execution) run(from int, stop func(at, taken *machine.Instruction) bool) error {
	f, m := e.function, e.m
	var taken *machine.Instruction
	steps := 0
	visit := func(i *machine.Instruction) error {
		if stop != nil && stop(i, taken) {
			return errStopped
		}
		if steps++; steps > limitSteps {
			return fmt.Errorf("%s: %v: %d instructions, and no end", f.Name, i, limitSteps)
		}
		taken = nil
		from, ok := e.Offset(m.General[f.StackPointer], e.stack)
		if !ok {
			return fmt.Errorf("%s: %v: the stack pointer depends on a variable", f.Name, i)
		}
		if k := f.At[i.Address]; k > 0 && f.Code[k-1].Branches() && f.GrowsStack(f.At[f.Code[k-1].Target]) {
			e.stack.Rounds = slices.Contains(rounds, f.Name)
			e.goroutine.From = len(e.goroutine.Bytes) // the check is over
		}
		if i.Mnemonic == "push" {
			from -= 8
		}
		if from > machine.FrameLimit || from < machine.FrameLimit-int(f.Frame) {
			return fmt.Errorf("%s: %v: the stack pointer is not in its frame", f.Name, i)
		}
		e.stack.From = from
		switch {
		case i.Mnemonic == "vzeroupper":
			e.upper = nil
		case i.Mnemonic[0] == 'v': // of AVX; arm64 has no such mnemonics
			e.upper = i
		}
		return e.visit(m, i)
	}
	isTrue := func(i *machine.Instruction, w formula.Word) bool {
		is := e.MustValue(w, i.String()+": a branch") == 1
		e.outcomes[i] |= 1 << algebra.Truth(is)
		if is {
			taken = i
		}
		return is
	}
	if err := m.Run(e.models, f, from, isTrue, visit); err == errStopped {
		return err
	} else if err != nil {
		return fmt.Errorf("%s: %w", f.Name, err)
	}
	return nil
}

// leave checks the state at the end. The kernel must leave only zeros in its frame, besides the saved
// frame pointer. In vector and mask registers that it changes, and in those with which Go code copies, it
// must leave zeros too, and no upper halves in use.
func (e *execution) leave() error {
	v, f, m, stack, before := e.prover, e.function, e.m, e.stack, e.before
	for _, r := range append([]int{f.StackPointer, f.FramePointer}, f.Kept...) {
		if m.General[r] != e.start.General[r] {
			return fmt.Errorf("%s: general register %d is not what it was", f.Name, r)
		}
	}
	if !slices.Equal(stack.Bytes[machine.FrameLimit:firstArgument], before[machine.FrameLimit:firstArgument]) {
		return fmt.Errorf("%s: the address to return to is not what it was", f.Name)
	}
	first, leaves := unwiped[f.Name]
	for k := range m.Vectors {
		if k >= first && !v.isWiped(&m.Vectors[k], &e.start.Vectors[k], !leaves && slices.Contains(f.Copies, k)) {
			return fmt.Errorf("%s: vector register %d is neither what it was nor zero", f.Name, k)
		}
	}
	for k, w := range m.Masks {
		if w != e.start.Masks[k] && w != v.Constant(64, 0) {
			return fmt.Errorf("%s: mask register %d is neither what it was nor zero", f.Name, k)
		}
	}
	if e.upper != nil {
		return fmt.Errorf("%s: %v: no VZEROUPPER after it", f.Name, e.upper)
	}
	if err := e.keepsArguments(stack.Bytes, before, func(int) bool { return true }); err != nil {
		return err
	}
	for k := 0; k < machine.FrameLimit; k += 8 {
		if slices.Equal(stack.Bytes[k:k+8], before[k:k+8]) {
			continue
		}
		if w := v.FromBytes(stack.Bytes[k : k+8]); w != v.Constant(64, 0) && w != e.start.General[f.FramePointer] {
			return fmt.Errorf("%s: in the frame, at SP-%#x, is %s", f.Name, machine.FrameLimit-k, v.String(w, 4))
		}
	}
	stack.From = 0
	v.results = v.result(v.plus(e.entry, machine.ArgumentBase+int(f.Arguments)), 64, int(f.Results/8))
	return nil
}

// keepsArguments returns an error if, of some words of the stack, one that is an argument is neither what it was
// nor zero.
func (e *execution) keepsArguments(now, before []formula.ByteOf, of func(offset int) bool) error {
	for k := firstArgument; k < firstArgument+int(e.function.Arguments); k += 8 {
		if w := e.FromBytes(now[k : k+8]); of(k) && !slices.Equal(now[k:k+8], before[k:k+8]) && w != e.Constant(64, 0) {
			return fmt.Errorf("%s: in the arguments, at %d, is %s", e.function.Name, k-firstArgument, e.String(w, 4))
		}
	}
	return nil
}

// unwiped are the kernels that leave what they used in vector registers, as TestVectorsWiped of package
// kernel says, and in how many: the first ones. cpuid has no secrets.
var unwiped = map[string]int{"cpuid": 0, "nhAddAVX512": 13, "nhAddAVX2": 10, "fillAVX512": 1, "fillAVX2": 2, "tagOnlyAVX512": 13, "tagOnlyAVX2": 10, "tagWordsAVX512": 5, "tagWordsAVX2": 10}

// isWiped reports whether all words of a vector register are zero, or what they were, which the first
// two may not be if Go code has copied with them.
func (v *prover) isWiped(x, before *formula.Symbols, copies bool) bool {
	for lane := 0; lane < 8 && (copies || *x != *before); lane++ {
		if w := v.Lane(x, 64, lane); w != v.Constant(64, 0) && (w != v.Lane(before, 64, lane) || copies && lane < 2) {
			return false
		}
	}
	return true
}

// visit records that an instruction is executed.
func (v *prover) visit(m *state, i *machine.Instruction) error {
	if v.steps++; v.steps%4096 == 0 && !v.end.IsZero() && time.Now().After(v.end) {
		return errLate
	}
	v.coverage.visit(v, m, i)
	if at := v.sizes[i]; v.sizes != nil && (len(at) == 0 || at[len(at)-1] != v.seen) {
		v.sizes[i] = append(at, v.seen)
	}
	return nil
}

// errLate is the error of a proof that takes too long.
var errLate = errors.New("no verdict in time")

// equalWords returns an error at the first word that differs from what it must be.
func (v *prover) equalWords(got, want []formula.Word, format string, a ...any) error {
	for k := range want {
		if got[k] != want[k] {
			return fmt.Errorf("%s, %s: word %d is %s, want %s", v.function.Name, fmt.Sprintf(format, a...), k,
				v.String(got[k], 4), v.String(want[k], 4))
		}
	}
	return nil
}
