// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package kernel

import "slices"

// Kernels returns the kernels of a layer that are declared in this program, best first.
func Kernels(l Layer) []Kernel { return registered[l].kernels }

// With calls f on a machine that has all features, except for those in without, and computes all
// answers rightly. Then all layers are as before. f must not use a kernel.
func With(without Set, f func()) {
	machine := features
	defer func() { features = machine }()
	for i := range features {
		has := !slices.Contains(without, Feature(i))
		features[i].has = &has
	}
	again(func(Layer) []func() bool { return nil }, f)
}

// WithAnswer calls f before the implementation of the layer has been chosen, with another answer than
// the layer has. Then all layers are as before.
func WithAnswer(l Layer, answer func() bool, f func()) {
	again(func(of Layer) []func() bool {
		if of == l {
			return []func() bool{answer}
		}
		return registered[of].answers
	}, f)
}

// again calls f before any implementation has been chosen, with those answers, and restores all layers.
func again(answers func(l Layer) []func() bool, f func()) {
	for l := range Layer(Layers) {
		chosenBefore(l)
	}
	before := registered
	defer func() {
		for l, r := range before {
			Register(Layer(l), r.fallback, nil, r.kernels...)
			registered[l] = r
			registered[l].use(r.active)
			chosen[l].Store(true)
		}
	}()
	for l := range Layer(Layers) {
		Register(l, registered[l].fallback, nil, registered[l].kernels...)
		registered[l].answers = answers(l)
	}
	f()
}

// Unused calls f before the layer has been used. Then it is as before.
func Unused(l Layer, f func()) {
	before := registered[l]
	registered[l] = implementations{}
	chosen[l].Store(false)
	defer func() {
		registered[l] = before
		chosen[l].Store(true)
	}()
	f()
}

// ActiveNow is Active for an answer, which is asked for while the implementation is chosen.
func ActiveNow(l Layer) string { return registered[l].names[registered[l].active] }

// Chosen reports whether the implementation of the layer has been chosen.
func Chosen(l Layer) bool { return chosen[l].Load() }

// Right reports whether the implementation in use computes all answers of the layer, and how many they
// are.
func Right(l Layer) (ok bool, answers int) {
	return right(registered[l].answers), len(registered[l].answers)
}

// EachRight reports of each answer of a layer whether the implementation in use computes it.
func EachRight(l Layer) (ok []bool) {
	for _, answer := range registered[l].answers {
		ok = append(ok, right([]func() bool{answer}))
	}
	return ok
}

// Features returns the names of the features of amd64, and whether this machine has them.
func Features() map[string]bool {
	all := make(map[string]bool)
	for f := range ARM64AES {
		all[f.String()] = f.has()
	}
	return all
}

var StdDetectsARM64 = stdDetectsARM64
