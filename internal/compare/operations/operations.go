// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

// Package operations has what the command compare measures. That command also builds it, as it is
// here, in another checkout of the module: so it uses only what is old and stays.
package operations

import (
	"bytes"
	"crypto"
	"encoding/binary"
	"fmt"
	"slices"

	"example.com/fastmac"
	"example.com/fastmac/internal/kernel"
)

// An Operation is something that several candidates compute, with equal results unless it is random.
type Operation struct {
	Name  string
	Unit  string // of the sizes: bytes, or what has only one size
	Size  int    // the only one, or 0
	Batch int    // messages in a call

	// Std is what the standard library has for this, or nil; its name is StdName. Own uses the kernel
	// that is selected while it is called, and later.
	StdName  string
	Std, Own Setup
}

// A Setup returns a function that computes n results for a size, and returns the last.
type Setup = func(size int) func(n int) []byte

// Layers are the names of the layers. Of each the kernels are measured, while the others use their best.
var Layers = []string{"umac", "aes", "sha256", "sha512", "gcm"}

var layers = []kernel.Layer{kernel.NH, kernel.AES, kernel.SHA256, kernel.SHA512, kernel.GCM}

func init() { fastmac.Hardware() } // chooses all kernels

// Kernels returns the names of the implementations of a layer that run here, best first, and the
// index of the one in use. The layer is an index of Layers.
func Kernels(layer int) (names []string, active int) {
	names = kernel.List(layers[layer])
	return names, slices.Index(names, kernel.Active(layers[layer]))
}

// Select puts one of them into use.
func Select(layer, index int) { kernel.Select(layers[layer], index) }

// All returns all operations of a layer, an index of Layers.
func All(layer int) (all []Operation) {
	switch layers[layer] {
	case kernel.NH:
		all = umac()
	case kernel.AES:
		all = keys()
	case kernel.SHA256:
		all = append(hmacs(crypto.SHA256), dropIns(crypto.SHA1)...) // which has no kernels
	case kernel.SHA512:
		all = hmacs(crypto.SHA512)
	case kernel.GCM:
		all = gcms()
	}
	for i := range all {
		o := &all[i]
		o.Batch = max(1, o.Batch)
		if o.Unit == "" {
			o.Unit = "bytes"
		}
	}
	return all
}

var (
	key = bytes.Repeat([]byte{0x42}, 64)
	tag = make([]byte, 0, 64)
)

// message returns one of that size.
func message(size int) []byte { return bytes.Repeat([]byte{0x17}, size) }

// A counter begins with a nonce of 12 bytes, of which UMAC uses the last 8. With its 16 bytes the allocator aligns it: a
// nonce in two lines of the cache takes longer.
type counter [16]byte

func (c *counter) next() []byte {
	binary.BigEndian.PutUint64(c[4:12], binary.BigEndian.Uint64(c[4:12])+1)
	return c[:12]
}

// repeat returns a function that calls once n times.
func repeat(once func() []byte) func(n int) []byte {
	return func(n int) (last []byte) {
		for range n {
			last = once()
		}
		return last
	}
}

// fresh returns a function that calls once n times, each in a goroutine of its own, whose stack is small. Another
// goroutine starts them, because one that is locked to its thread waits longer for others.
func fresh(once func() []byte) func(n int) []byte {
	return func(n int) (last []byte) {
		done := make(chan []byte)
		go func() {
			one := make(chan []byte)
			for range n {
				go func() { one <- once() }()
				last = <-one
			}
			done <- last
		}()
		return <-done
	}
}

func must[T any](value T, err error) T {
	check(err)
	return value
}

func check(err error) {
	if err != nil {
		panic(fmt.Sprint("compare: ", err))
	}
}
