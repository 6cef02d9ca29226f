// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package secrets

import (
	"go/types"
	"slices"
	"strings"

	"example.com/fastmac/internal/assurance/machine"
	"example.com/fastmac/internal/assurance/program"
)

// public lists the numbers in arguments and in memory on which branches and addresses may
// depend. Addresses and the lengths of slices are public too. All else is secret: keys, key
// schedules, messages, plaintexts, tags, pads, chaining values and all other state.
//
// A name is that of a parameter, or of a type and a field. "*" follows it for what is at an
// address, and "[]" for the elements of a slice.
var public = []string{
	"rounds", // of AES: they depend on the size of the key
	"Key.rounds", "aesKey.rounds",
	"blocks", "n", "length", // of messages
	"nk", // words of an AES key
	"nonce[]",
	"end256.words", "end512.words",
	"initial", "outer", // sets of lanes
	"l1State.bytes",
	"uhashKey.n",                              // iterations, which the size of the tags determines
	"padParts.partBits", "padParts.firstPart", // so do these
	"Message.Nonce[]",
	"offsets[]", // of cache lines in a key
}

// An object is memory that has one address.
type object struct {
	name   string
	size   int64 // of the object, or of an element
	many   bool  // there can be any number of elements
	leaves []leaf
}

// A leaf is a datum in an object.
type leaf struct {
	Offset, size int64
	secret       bool
	to           int // index of the object to which it points, or none
}

// Objects that every function has.
const (
	stack     = iota // its frame and its arguments, of which taint knows the words
	goroutine        // the size of the stack
	globals          // data in the program: they are public
	firstObject
)

// A Signature is the Go declaration of a function of assembly.
type Signature struct {
	objects   []object
	Arguments []leaf // and results, from the first one on
	names     []string
	Results   int // index of the first result in arguments
}

func NewSignature(s *types.Signature) *Signature {
	sig := &Signature{objects: []object{
		{name: "the stack"}, {name: "the goroutine", size: 1, many: true, leaves: []leaf{{0, 1, false, machine.None}}},
		{name: "the program's data", size: 1, many: true, leaves: []leaf{{0, 1, false, machine.None}}},
	}}
	var offset int64
	for _, tuple := range []*types.Tuple{s.Params(), s.Results()} {
		sig.Results = len(sig.Arguments)
		for v := range tuple.Variables() {
			align := program.Layout.Alignof(v.Type())
			offset = (offset + align - 1) / align * align
			before := len(sig.Arguments)
			sig.Arguments = append(sig.Arguments, sig.leaves(v.Type(), v.Name(), offset)...)
			for range sig.Arguments[before:] {
				sig.names = append(sig.names, v.Name())
			}
			offset += program.Layout.Sizeof(v.Type())
		}
		offset = (offset + 7) / 8 * 8
	}
	return sig
}

// leaves returns the data of a type, for the datum of this name at an offset.
func (sig *Signature) leaves(t types.Type, name string, offset int64) (all []leaf) {
	word := func(offset int64, to int) { all = append(all, leaf{offset, 8, false, to}) }
	switch u := t.Underlying().(type) {
	case *types.Basic:
		all = append(all, leaf{offset, program.Layout.Sizeof(t), !slices.Contains(public, name), machine.None})
	case *types.Pointer:
		_, isBasic := u.Elem().Underlying().(*types.Basic)
		word(offset, sig.object(u.Elem(), name+"*", isBasic))
	case *types.Slice:
		word(offset, sig.object(u.Elem(), name+"[]", true))
		word(offset+8, machine.None)
		word(offset+16, machine.None)
	case *types.Array:
		for i := range u.Len() {
			all = append(all, sig.leaves(u.Elem(), name, offset+i*program.Layout.Sizeof(u.Elem()))...)
		}
	case *types.Struct:
		if named, ok := t.(*types.Named); ok {
			name = named.Obj().Name()
		}
		var fields []*types.Var
		for f := range u.Fields() {
			fields = append(fields, f)
		}
		for i, at := range program.Layout.Offsetsof(fields) {
			all = append(all, sig.leaves(fields[i].Type(), name+"."+fields[i].Name(), offset+at)...)
		}
	default: // an interface
		all = append(all, leaf{offset, program.Layout.Sizeof(t), true, machine.None})
	}
	return all
}

// object returns the index of a new object.
func (sig *Signature) object(t types.Type, name string, many bool) int {
	n := len(sig.objects)
	sig.objects = append(sig.objects, object{name: name, size: program.Layout.Sizeof(t), many: many})
	leaves := sig.leaves(t, name, 0)
	sig.objects[n].leaves = leaves
	return n
}

// overlap returns the leaves of which some of n bytes from an address on may be part, and
// whether these bytes are exactly the first of them. The address is that of the object plus a
// number modulo a modulus.
func (o *object) overlap(modulus, number int64, n int) (leaves []leaf, exact bool) {
	if o.many && (modulus == 0 || modulus%o.size == 0) {
		modulus, number = 0, (number%o.size+o.size)%o.size
	}
	if modulus != 0 {
		return o.leaves, false
	}
	for _, l := range o.leaves {
		// What follows the last byte of an element is another element.
		if number < l.Offset+l.size && l.Offset < number+int64(n) || o.many && number+int64(n) > o.size {
			leaves = append(leaves, l)
		}
	}
	return leaves, len(leaves) == 1 && leaves[0].Offset == number && leaves[0].size == int64(n)
}

// ends reports whether some of n bytes at a known offset are outside of o.
func (o *object) ends(address value, n int) bool {
	return !o.many && address.modulus == 0 && (address.number < 0 || address.number+int64(n) > o.size)
}

func (o *object) String() string { return strings.TrimRight(o.name, "*") }
