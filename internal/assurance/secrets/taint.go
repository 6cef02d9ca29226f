// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package secrets

import (
	"math/bits"

	"example.com/fastmac/internal/assurance/algebra"
)

// taint is the algebra of what is known of a word in all executions: whether it depends on a
// secret, and, as far as addresses need it, its value.
type taint struct {
	objects []object // that the function can reach
	stack   []value  // words of the frame and the arguments, see stackWord
	find    func(what string)
}

// A value is a word.
type value struct {
	secret bool

	// The value is the address of one of the objects in the set plus, less that of minus,
	// plus a number. With empty sets it is the number. The number is modulo a modulus; with
	// modulus 0 it is the number itself, with modulus 1 it can be any.
	plus, minus     uint64
	modulus, number int64
}

// A bytesValue is a vector: which of its bytes depend on a secret. If isWord is true, the
// first 8 bytes are the word.
type bytesValue struct {
	secret uint64
	isWord bool
	word   value
}

func exactly(x uint64) value { return value{number: int64(x)} }

// some is any number that depends on the arguments.
func some(from ...value) (v value) {
	v.modulus = 1
	for _, a := range from {
		v.secret = v.secret || a.secret
	}
	return v
}

func (v value) isNumber() bool { return v.plus == 0 && v.minus == 0 }
func (v value) isExact() bool  { return v.isNumber() && v.modulus == 0 }

// with returns v with another number.
func (v value) with(modulus, number int64) value {
	const limit = 1 << 40 // sums of smaller numbers do not wrap around
	switch {
	case modulus == 0:
	case modulus < 0 || modulus > limit || number < -limit || number > limit:
		modulus, number = 1, 0
	default:
		number = (number%modulus + modulus) % modulus
	}
	v.modulus, v.number = modulus, number
	return v
}

// join is a value that is a or b. An address that may also be 0, nil, is still that address.
func join(a, b value) value {
	if a.isExact() && a.number == 0 && b.plus != 0 {
		a, b = b, a
	}
	if b.isExact() && b.number == 0 && a.plus != 0 {
		a.secret = a.secret || b.secret
		return a
	}
	if (a.plus == 0) != (b.plus == 0) || a.minus != b.minus {
		return some(a, b)
	}
	j := value{secret: a.secret || b.secret, plus: a.plus | b.plus, minus: a.minus}
	return j.with(algebra.GCD(algebra.GCD(a.modulus, b.modulus), a.number-b.number), a.number)
}

func (d *taint) Constant(n int, x uint64) value { return exactly(algebra.Trim(n, x)) }

func (d *taint) Global(uint64) value { return value{plus: 1 << globals} }

func (d *taint) Add(n int, a, b value) value {
	r := some(a, b)
	if n != 64 {
		return r
	}
	// What is subtracted in one may be added in the other.
	if a.minus != 0 && a.minus == b.plus {
		a.minus, b.plus = 0, 0
	}
	if b.minus != 0 && b.minus == a.plus {
		b.minus, a.plus = 0, 0
	}
	if a.plus != 0 && b.plus != 0 || a.minus != 0 && b.minus != 0 {
		return r
	}
	r.plus, r.minus = a.plus|b.plus, a.minus|b.minus
	return r.with(algebra.GCD(a.modulus, b.modulus), a.number+b.number)
}

func (d *taint) Sub(n int, a, b value) value {
	if b.isNumber() {
		return d.Add(n, a, value{secret: b.secret}.with(b.modulus, -b.number))
	}
	r := some(a, b)
	if n != 64 || b.minus != 0 || a.minus != 0 || bits.OnesCount64(b.plus) != 1 {
		return r
	}
	if a.plus == b.plus {
		a.plus = 0
	} else {
		r.minus = b.plus
	}
	r.plus = a.plus
	if b.modulus == 0 {
		return r.with(a.modulus, a.number-b.number)
	}
	return r.with(1, 0)
}

func (d *taint) And(n int, a, b value) value {
	if b.isExact() && a.plus != 0 && a.minus == 0 {
		r := some(a) // the address, rounded down
		r.plus = a.plus
		return r
	}
	return some(a, b)
}

func (d *taint) Left(n int, a value, by uint) value {
	switch {
	case by == 0:
		return a
	case n != 64 || !a.isNumber():
		return some(a)
	}
	return a.with(a.modulus<<by, a.number<<by)
}

func (d *taint) Extract(a value, from, n int) value {
	switch {
	case from == 0 && n == 64:
		return a
	case a.isExact():
		r := exactly(algebra.Trim(n, uint64(a.number)>>from))
		r.secret = a.secret
		return r
	}
	return some(a)
}

func (d *taint) Extend(n int, a value) value {
	if n == 64 || a.isExact() {
		return a
	}
	return some(a)
}

func (d *taint) Choose(n int, condition, a, b value) value {
	r := join(a, b)
	r.secret = r.secret || condition.secret
	return r
}

// The others lose what is known of the number.

func (d *taint) MulLow(_ int, a, b value) value               { return some(a, b) }
func (d *taint) Product(a, b value) value                     { return some(a, b) }
func (d *taint) Wide(a, b value) (low, high value)            { return some(a, b), some(a, b) }
func (d *taint) Carry(_ int, a, b, c value) value             { return some(a, b, c) }
func (d *taint) Borrow(_ int, a, b, c value) value            { return some(a, b, c) }
func (d *taint) Or(_ int, a, b value) value                   { return some(a, b) }
func (d *taint) Xor(_ int, a, b value) value                  { return some(a, b) }
func (d *taint) Ternary(_ int, _ uint64, a, b, c value) value { return some(a, b, c) }
func (d *taint) Right(_ int, a value, _ uint) value           { return some(a) }
func (d *taint) RightSigned(_ int, a value, _ uint) value     { return some(a) }
func (d *taint) Rotate(_ int, a value, _ uint) value          { return some(a) }
func (d *taint) LeftBy(_ int, a, by value) value              { return some(a, by) }
func (d *taint) RightBy(_ int, a, by value) value             { return some(a, by) }
func (d *taint) LowBits(_ int, a, count value) value          { return some(a, count) }
func (d *taint) Equal(_ int, a, b value) value                { return some(a, b) }
func (d *taint) Less(_ int, a, b value) value                 { return some(a, b) }
func (d *taint) LessSigned(_ int, a, b value) value           { return some(a, b) }
func (d *taint) Carryless(a, b value) (low, high value)       { return some(a, b), some(a, b) }
func (d *taint) AES(l, h, kl, kh value, _ bool) (low, high value) {
	return some(l, h, kl, kh), some(l, h, kl, kh)
}
func (d *taint) MixColumns(l, h value) (low, high value) { return some(l, h), some(l, h) }

// laneBits is the bits in bytesValue.secret of a lane of n bits.
func laneBits(n, i int) uint64 { return (1<<(n/8) - 1) << (i * n / 8) }

func (d *taint) Lane(v *bytesValue, n, i int) value {
	if v.isWord && n == 64 && i == 0 {
		return v.word
	}
	r := some()
	r.secret = v.secret&laneBits(n, i) != 0
	return r
}

func (d *taint) SetLane(v *bytesValue, n, i int, w value) {
	if i*n < 64 {
		v.isWord, v.word = n == 64, w
	}
	v.secret &^= laneBits(n, i)
	if w.secret {
		v.secret |= laneBits(n, i)
	}
}

func (d *taint) Pick(v *bytesValue, n, first, count int, index value) value {
	r := some(index)
	for k := range count {
		r.secret = r.secret || v.secret&laneBits(n, first+k) != 0
	}
	return r
}

func (d *taint) Unknown(int) value { return some() }

func (d *taint) Align(value, int) {}

// Touch reports a prefetch from an address that depends on a secret. Of which object it is does
// not matter.
func (d *taint) Touch(address value) {
	if address.secret {
		d.find("the address depends on a secret")
	}
}

func (d *taint) Load(address value, n int) bytesValue {
	d.check(address)
	return d.read(address, n, false)
}

func (d *taint) LoadMasked(address value, n, _ int, mask value) bytesValue {
	d.check(address)
	if mask.secret {
		d.find("which bytes are read depends on a secret")
	}
	v := d.read(address, n, true)
	v.isWord = false
	return v
}

func (d *taint) Store(address value, v *bytesValue, n int) {
	d.check(address)
	d.write(address, v, n)
}

func (d *taint) StoreMasked(address value, v *bytesValue, n int, mask value) {
	d.check(address)
	if mask.secret {
		d.find("which bytes are written depends on a secret")
	}
	w, old := *v, d.read(address, n, true)
	w.isWord, w.secret = false, w.secret|old.secret
	d.write(address, &w, n)
}

// check reports an address that depends on a secret.
func (d *taint) check(address value) {
	if address.secret {
		d.find("the address depends on a secret")
	}
	if address.plus == 0 || address.minus != 0 {
		d.find("the address is of no known object")
	}
}
