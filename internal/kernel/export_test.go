// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package kernel

// Kernels returns the kernels of a layer that are declared in this program, best first.
func Kernels(l Layer) []Kernel { return registered[l].kernels }

// With calls f on a machine that has all features, except for those in without. Then all layers
// are as before. f must not use a kernel.
func With(without Set, f func()) {
	machine, before := features, registered
	defer func() {
		features = machine
		for l, r := range before {
			Register(Layer(l), r.fallback, r.kernels...)
			Select(Layer(l), r.active)
		}
	}()
	for i := range features {
		features[i].has = true
	}
	for _, f := range without {
		features[f].has = false
	}
	for l, r := range registered {
		Register(Layer(l), r.fallback, r.kernels...)
	}
	f()
}

// Features returns the names of the features of amd64, and whether this machine has them.
func Features() map[string]bool {
	all := make(map[string]bool)
	for _, f := range features[:ARM64AES] {
		all[f.name] = f.has
	}
	return all
}

var StdDetectsARM64 = stdDetectsARM64
