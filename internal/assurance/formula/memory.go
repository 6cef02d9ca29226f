// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package formula

import (
	"fmt"

	"example.com/fastmac/internal/assurance/algebra"
)

// Memory is objects. The address of each is a variable, so that what is computed of it, other
// than another address in the object, stays unknown: a kernel that branches on it, or whose
// result depends on it, has no proof. Known are only
//
//   - the difference of two addresses in one object, or at most margin bytes before or after it
//   - their order, as no object is so near to the ends of the address space
//   - that they are not 0
type Memory struct {
	data    algebra.Data
	Objects []*Object
	Touched []Word             // addresses that have been prefetched, in order
	at      map[Word]*Object   // by address
	globals map[uint64]*Object // by address in the program
}

// An Object is memory that a kernel can reach.
type Object struct {
	Address  Word
	Bytes    []ByteOf
	ReadOnly bool
	Align    int    // the address is a multiple of it
	From     int    // offset of the first byte that may be accessed
	Linked   uint64 // where the linker has put it, or 0

	// Rounds says that addresses in it may be rounded down to multiples of up to 64 bytes, and
	// Residue is its address modulo 64.
	Rounds  bool
	Residue int
}

// addressNumber is the number of the variable that is the address of the first object.
const addressNumber = 1 << 32

// Forget removes all objects, and what has been touched.
func (d *Formulas) Forget() {
	d.Touched = nil
	d.Objects, d.at, d.globals = nil, make(map[Word]*Object), make(map[uint64]*Object)
}

// Place makes an object of bytes.
func (d *Formulas) Place(align int, readOnly bool, bytes []ByteOf) *Object {
	o := &Object{Address: d.Variable(64, addressNumber+len(d.Objects), 1<<64-1), Bytes: bytes, ReadOnly: readOnly, Align: align}
	d.Objects = append(d.Objects, o)
	d.at[o.Address] = o
	return o
}

// Datum returns the object that a datum of the program is. What the program can change has no
// bytes, unless the caller sets them.
func (d *Formulas) Datum(address uint64) (o *Object, offset uint64) {
	s := algebra.Datum{Address: address}
	if d.data != nil {
		s = d.data(address)
	}
	o = d.globals[s.Address]
	if o == nil {
		var bytes []ByteOf
		if s.Constant {
			for _, b := range s.Bytes {
				bytes = append(bytes, ByteOf{d.Constant(8, uint64(b)), 0})
			}
		}
		// Go's linker aligns data to their size, rounded down to a power of two of at most 32
		// (cmd/link/internal/ld, symalign).
		align := 1
		for 2*align <= min(len(bytes), 32) && s.Address%uint64(2*align) == 0 {
			align *= 2
		}
		o = d.Place(align, true, bytes)
		o.Linked = s.Address
		d.globals[s.Address] = o
	}
	return o, address - s.Address
}

// Global returns the address of a datum of the program.
func (d *Formulas) Global(address uint64) Word {
	o, offset := d.Datum(address)
	return d.Add(64, o.Address, d.Constant(64, offset))
}

// Offset returns the offset of an address in an object.
func (d *Formulas) Offset(address Word, in *Object) (offset int, ok bool) {
	o, offset := d.object(address)
	return offset, o == in
}

// margin is in bytes, see [Memory].
const margin = 1 << 12

// object returns the object in which an address is, or that is near, and the offset.
func (d *Formulas) object(address Word) (o *Object, offset int) {
	if x := &d.Nodes[address]; x.Op == isSum && len(x.Terms) == 1 && x.Terms[0].Coefficient == 1 {
		o, offset = d.at[x.Terms[0].Word], int(x.Number)
	} else {
		o = d.at[address]
	}
	if o == nil || offset < -margin || offset > len(o.Bytes)+margin {
		return nil, 0
	}
	return o, offset
}

// same returns the object in which two addresses are, and their offsets.
func (d *Formulas) same(a, b Word) (o *Object, x, y int) {
	o, x = d.object(a)
	if other, y := d.object(b); o == other {
		return o, x, y
	}
	return nil, 0, 0
}

// rounded returns an address in an object that Rounds, after AND with a mask.
func (d *Formulas) rounded(address Word, mask uint64) (Word, bool) {
	o, offset := d.object(address)
	if o == nil || !o.Rounds || mask < 1<<64-64 || -mask&(-mask-1) != 0 {
		return 0, false
	}
	down := (o.Residue + offset) % int(-mask)
	return d.Add(64, address, d.Constant(64, -uint64(down))), true
}

// Find returns the memory of n bytes at an address.
func (d *Formulas) Find(address Word, n int, write bool) []ByteOf {
	o, offset := d.object(address)
	switch {
	case o == nil:
		panic(algebra.Unprovable("an address is of no object, or depends on a variable: " + d.String(address, 3)))
	case offset < o.From || offset+n > len(o.Bytes):
		panic(algebra.Fault(fmt.Sprintf("access to %d bytes at %d of %d", n, offset, len(o.Bytes))))
	case write && o.ReadOnly:
		panic(algebra.Fault(fmt.Sprintf("write to %d bytes at %d of what is only read", n, offset)))
	}
	return o.Bytes[offset:][:n]
}

// Align panics unless an address is a multiple of bytes wherever the object is.
func (d *Formulas) Align(address Word, bytes int) {
	if o, offset := d.object(address); o == nil || o.Align%bytes != 0 || offset%bytes != 0 {
		panic(algebra.Fault(fmt.Sprintf("the address need not be a multiple of %d", bytes)))
	}
}

// Touch notes a prefetch: of any address it is allowed.
func (d *Formulas) Touch(address Word) { d.Touched = append(d.Touched, address) }

// Load returns n bytes at an address.
func (d *Formulas) Load(address Word, n int) (v Symbols) {
	copy(v[:], d.Find(address, n, false))
	return v
}

// LoadMasked returns the elements that are in a mask, with zeros for the others.
func (d *Formulas) LoadMasked(address Word, n, element int, mask Word) (v Symbols) {
	bits := d.MustValue(mask, "a mask")
	for k := range n {
		v[k] = ByteOf{d.Constant(8, 0), 0}
	}
	for k := range n / element {
		if bits>>k&1 == 1 {
			copy(v[element*k:], d.Find(d.Add(64, address, d.Constant(64, uint64(element*k))), element, false))
		}
	}
	return v
}

// Store writes n bytes to an address.
func (d *Formulas) Store(address Word, v *Symbols, n int) { copy(d.Find(address, n, true), v[:n]) }

// StoreMasked writes the bytes that are in a mask.
func (d *Formulas) StoreMasked(address Word, v *Symbols, n int, mask Word) {
	bits := d.MustValue(mask, "a mask")
	for k := range n {
		if bits>>k&1 == 1 {
			copy(d.Find(d.Add(64, address, d.Constant(64, uint64(k))), 1, true), v[k:])
		}
	}
}
