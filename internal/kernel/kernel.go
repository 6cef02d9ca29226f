// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

// Package kernel decides which implementation of each layer runs. A package with assembly
// declares once, by name, what each of its kernels needs of the CPU. From that come the flags
// that the package tests, what [fastmac.Hardware] reports, and the choice of tests.
package kernel

import (
	"runtime"
	"slices"
	"strings"
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
	// that the compiler sees the call and the arguments stay on the stack. It is true if the
	// kernel or a better one of the layer is in use: the package tests the best one first.
	// Without a flag the kernel runs where no other does.
	Use *bool

	// OnlyTests is true on a CPU that has what the kernel needs, and on which the next one is
	// faster.
	OnlyTests bool
}

// implementations are those of a layer in this program.
type implementations struct {
	kernels  []Kernel // best first
	fallback string
	names    []string // of those that can run here: kernels, then the fallback
	flags    []*bool  // of these
	active   int      // index in names
}

// registered has the layers whose packages are in this program. Nothing changes it after their
// init functions, except Select, which is for tests.
var registered [Layers]implementations

// Register declares the kernels of a layer, best first, and sets their flags. What a kernel
// needs includes what the ones after it need, except that lanes of SHA-256 with AVX-512 also run where
// the SHA instructions of better kernels are missing. fallback is the name of what runs where no kernel
// does, "" if nothing can. The package of the layer calls Register in its init function.
func Register(l Layer, fallback string, kernels ...Kernel) {
	r := implementations{kernels: kernels, fallback: fallback}
	for _, k := range kernels {
		if !k.Needs.Has() {
			if k.Use != nil {
				*k.Use = false
			}
			continue
		}
		if k.OnlyTests {
			r.active = len(r.names) + 1
		}
		r.names, r.flags = append(r.names, k.Name), append(r.flags, k.Use)
	}
	if fallback != "" || len(r.names) == 0 {
		r.names, r.flags = append(r.names, fallback), append(r.flags, nil)
	}
	registered[l] = r
	Select(l, r.active)
}

// List returns the names of the implementations that can run on this machine, best first. It is
// empty if there are none, or the package of the layer is not in this program.
func List(l Layer) []string {
	if names := registered[l].names; len(names) > 0 && names[0] != "" {
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

// Select puts an implementation into use, by its index in List, and returns the index of the one
// before. It is for tests, which must not use the layer meanwhile.
func Select(l Layer, index int) (before int) {
	r := &registered[l]
	_ = r.names[index]
	before, r.active = r.active, index
	for i, flag := range r.flags {
		if flag != nil {
			*flag = i >= index
		}
	}
	return before
}

// Missing returns the names of the features that every kernel of the layer needs and this
// machine lacks.
func Missing(l Layer) []string {
	if kernels := registered[l].kernels; len(kernels) > 0 {
		return kernels[len(kernels)-1].Needs.Missing()
	}
	return nil
}

// Lacks returns what is missing for the best kernel of the layer: names of features with commas
// between them, or that this build has no kernel.
func Lacks(l Layer) string {
	switch kernels := registered[l].kernels; {
	case len(kernels) > 0:
		return strings.Join(kernels[0].Needs.Missing(), ", ")
	case Purego && slices.Contains(withAssembly, runtime.GOARCH):
		return "assembly (tag purego)"
	default:
		return "assembly for " + runtime.GOARCH
	}
}
