// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

// Package kernel decides which implementation of each layer runs. A package with assembly
// declares once, by name, what each of its kernels needs of the CPU, and known answers, which
// a kernel must compute before it is used. From that come the flags that the package tests, what
// [fastmac.Hardware] reports, and the choice of tests.
//
// It does so when it is used for the first time, and not in an init function: what an init function
// refers to, all kernels and what computes their answers, would be linked into each program that imports
// the package, also by way of others, and run.
package kernel

import (
	"runtime"
	"runtime/debug"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
)

// A Layer is a part of the module that has several implementations.
type Layer uint8

const (
	NH     Layer = iota // L1 and L2 of UMAC
	AES                 // keys and pads of UMAC, and package hwrand
	SHA256              // HMAC with SHA-224 and SHA-256
	SHA512              // HMAC with SHA-384, SHA-512 and its truncated forms
	GCM                 // GMAC and AES-GCM
)

// Layers is the number of layers.
const Layers = 5

var layerNames = [Layers]string{NH: "NH", AES: "AES", SHA256: "SHA-256", SHA512: "SHA-512", GCM: "GCM"}

func (l Layer) String() string { return layerNames[l] }

// A Kernel is an implementation of a layer in assembly.
type Kernel struct {
	Name  string
	Needs Set // of the CPU

	// Use is the flag that the package tests before it calls the kernel, a plain variable, so
	// that the compiler sees the call and the arguments stay on the stack. It is false until
	// [Choose] returns. Then it is true if the kernel or a better one of the layer is in use: the
	// package tests the best one first. Without a flag the kernel runs where no other does.
	Use *bool

	// OnlyTests is true on a CPU that has what the kernel needs, and on which the next one is
	// faster.
	OnlyTests bool
}

// implementations are those of a layer in this program.
type implementations struct {
	kernels  []Kernel // best first
	fallback string
	answers  []func() bool
	names    []string // of those that can run here: kernels, then the fallback
	flags    []*bool  // of these
	usable   int      // how many of names are kernels
	best     int      // index in names of the one that users get
	active   int      // of the one in use
	wrong    []string // kernels that are not in names, because an answer was wrong
}

// registered has the layers that have been used. Only Choose, AddAnswer, and Select, which is for tests,
// change it.
var (
	registered [Layers]implementations
	choosing   [Layers]sync.Mutex
	chosen     [Layers]atomic.Bool
)

// Register declares the kernels of a layer, best first. What a kernel needs includes what the ones
// after it need, except that those of SHA-256 after the ones with SHA instructions run without these, and sha
// without AVX2. fallback is the name of what runs where no kernel does, "" if nothing
// can. answer is as for [AddAnswer], or nil. The package of the layer calls Register in a function that it
// gives to [Choose].
func Register(l Layer, fallback string, answer func() bool, kernels ...Kernel) {
	r := implementations{kernels: kernels, fallback: fallback, answers: registered[l].answers}
	if answer != nil {
		r.answers = append(r.answers, answer)
	}
	for _, k := range kernels {
		if k.Use != nil {
			*k.Use = false
		}
		if !k.Needs.Has() {
			continue
		}
		if k.OnlyTests {
			r.best = len(r.names) + 1
		}
		r.names, r.flags = append(r.names, k.Name), append(r.flags, k.Use)
	}
	r.end()
	registered[l] = r
	chosen[l].Store(false)
}

// end adds the fallback to the kernels, or "" if there is nothing.
func (r *implementations) end() {
	r.usable = len(r.names)
	if r.fallback != "" || len(r.names) == 0 {
		r.names, r.flags = append(r.names, r.fallback), append(r.flags, nil)
	}
}

// AddAnswer adds a known answer to a layer: a function that computes something small with the
// implementation in use, and reports whether it is what it must be. It may not call [Choose] for that
// layer. Packages call AddAnswer before they use kernels that no other answer needs. If an implementation
// has been chosen already, it must compute this answer too, or else the next one is used from now on.
func AddAnswer(l Layer, answer func() bool) {
	choosing[l].Lock()
	defer choosing[l].Unlock()
	r := &registered[l]
	r.answers = append(r.answers, answer)
	if chosen[l].Load() {
		active, wrong := r.active, len(r.wrong)
		if r.choose(r.answers[len(r.answers)-1:]); len(r.wrong) == wrong {
			r.use(active) // which a test has selected
		}
	}
}

// Choose puts the best implementation of a layer into use, unless that has been done. A kernel that
// computes an answer wrongly, or faults, is not used: some emulators, and CPUs, get instructions wrong
// that they claim to have. An instruction that is not there at all ends the program: Go cannot
// catch that. Whoever sets up a key calls Choose before the flags of the layer are tested. It may
// be called by several goroutines at the same time. register calls [Register], if nothing has.
func Choose(l Layer, register func()) {
	if !chosen[l].Load() {
		choose(l, register)
	}
}

//go:noinline
func choose(l Layer, register func()) {
	choosing[l].Lock()
	defer choosing[l].Unlock()
	if chosen[l].Load() {
		return
	}
	if len(registered[l].names) == 0 {
		register()
	}
	registered[l].choose(registered[l].answers)
	chosen[l].Store(true)
}

// choose uses the best implementation that computes these answers, or if the first does not, all.
func (r *implementations) choose(answers []func() bool) {
	for r.use(r.best); r.isKernel() && !right(answers); r.use(r.best) {
		r.drop()
		answers = r.answers
	}
}

// chosenBefore is Choose for a layer that its package has registered.
func chosenBefore(l Layer) *implementations {
	Choose(l, func() {
		panic("kernel: nothing has used " + l.String() + " yet: call fastmac.Hardware before, which uses all layers")
	})
	return &registered[l]
}

// use puts the implementation with that index in names into use.
func (r *implementations) use(index int) {
	r.active = index
	for i, flag := range r.flags {
		if flag != nil && *flag != (i >= index) { // others may read it: see AddAnswer
			*flag = i >= index
		}
	}
}

// isKernel reports whether a kernel is in use, and not the fallback.
func (r *implementations) isKernel() bool { return r.active < r.usable }

// right reports whether the answers are right with what is in use.
func right(answers []func() bool) (ok bool) {
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
	defer func() {
		if recover() != nil {
			ok = false
		}
	}()
	for _, answer := range answers {
		if !answer() {
			return false
		}
	}
	return true
}

// drop removes the kernel in use, which is wrong.
func (r *implementations) drop() {
	i := r.active
	r.wrong = append(r.wrong, r.names[i])
	if flag := r.flags[i]; flag != nil {
		*flag = false
	}
	r.names, r.flags = slices.Delete(r.names, i, i+1), slices.Delete(r.flags, i, i+1)
	if r.usable--; len(r.names) == 0 {
		r.end()
	}
}

// List returns the names of the implementations that can run on this machine, best first, without
// those that are known to be wrong. It is empty if there are none. Like the functions below, it panics if
// nothing has used the layer in this process.
func List(l Layer) []string {
	if names := chosenBefore(l).names; names[0] != "" {
		return names
	}
	return nil
}

// Active returns the name of the implementation in use, or "none".
func Active(l Layer) string {
	if names := List(l); names != nil {
		return names[registered[l].active]
	}
	return "none"
}

// InUse reports whether a kernel is in use, and not the fallback.
func InUse(l Layer) bool { return chosenBefore(l).isKernel() }

// Wrong returns the names of the kernels of the layer that are not used because they compute wrongly.
func Wrong(l Layer) []string { return chosenBefore(l).wrong }

// Select puts an implementation into use, by its index in List, and returns the index of the one
// before. It is for tests, which must not use the layer meanwhile.
func Select(l Layer, index int) (before int) {
	r := chosenBefore(l)
	_ = List(l)[index]
	before = r.active
	r.use(index)
	return before
}

// Missing returns the names of the features that every kernel of the layer needs and this
// machine lacks.
func Missing(l Layer) []string {
	if kernels := chosenBefore(l).kernels; len(kernels) > 0 {
		return kernels[len(kernels)-1].Needs.Missing()
	}
	return nil
}

// Lacks returns what is missing for the best kernel of the layer: names of features with commas
// between them, or that this build has no kernel.
func Lacks(l Layer) string {
	switch kernels := chosenBefore(l).kernels; {
	case len(kernels) > 0:
		return strings.Join(kernels[0].Needs.Missing(), ", ")
	case Purego && slices.Contains(withAssembly, runtime.GOARCH):
		return "assembly (tag purego)"
	default:
		return "assembly for " + runtime.GOARCH
	}
}
