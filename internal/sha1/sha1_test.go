// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package sha1

import (
	"bytes"
	"crypto/sha1"
	"fmt"
	"reflect"
	"regexp"
	"testing"

	"example.com/fastmac/internal/kernel"
	"example.com/fastmac/internal/mactest"
	"example.com/fastmac/internal/sha2"
	"example.com/fastmac/internal/wipe"
)

// The tests of packages hmac and pbkdf2 compare with the standard library.

func init() { sha2.ChooseAll() } // for package mactest

// TestWiped checks what is overwritten: all of a stream, and of a clone all but the key. After that the methods
// do not panic, because a stream may be destroyed while it is in use.
func TestWiped(t *testing.T) {
	msg := bytes.Repeat([]byte("m"), 100)
	m := New(bytes.Repeat([]byte("k"), 100))
	if m.block != [BlockSize]byte{} {
		t.Errorf("New leaves a padded key: %x", m.block)
	}
	m.Write(msg)
	clone, err := m.Clone()
	if err != nil {
		t.Fatal(err)
	}
	c := clone.(*HMAC)
	m.Write(msg)
	c.Write(msg)
	c.Write(msg)
	want := m.Sum(nil)
	m.Write(nil)

	wipe.Clone(c)
	if got := m.Sum(nil); !bytes.Equal(got, want) {
		t.Errorf("after a clone is wiped: %x, want %x", got, want)
	}
	c.key = nil
	isWiped(t, "a clone", c)
	m.Write(msg)
	wipe.Value(m)
	isWiped(t, "a stream", m)
	m.Write(msg)
	m.Sum(nil)
	if _, err := m.Clone(); err != nil {
		t.Error(err)
	}
	m.Reset()

	b := NewBlocks(msg)
	b.Start(0, msg, 1)
	b.Iterate(1, 2)
	h := b.hmac.hash
	b.Clear()
	if got, want := fmt.Sprint(h), fmt.Sprint(sha1.New()); got != want {
		t.Errorf("PBKDF2 leaves the hash %s, want %s", got, want)
	}
	if !reflect.ValueOf(*b).IsZero() {
		t.Errorf("PBKDF2 leaves %v", *b)
	}
}

// TestIterate compares each number of steps that a kernel makes in a call with steps of crypto/sha1, one by one, for
// one block and for two.
func TestIterate(t *testing.T) {
	Choose()
	b := NewBlocks([]byte("password"))
	for i := range b.its {
		b.Start(i, []byte("salt"), uint32(1+i))
	}
	var want [maxSteps + 2][MaxBlocks]iteration
	want[0] = b.its
	for n := range want[1:] {
		want[n+1] = want[n]
		for i := range b.its {
			b.hmac.iterate(&want[n+1][i], 1)
		}
	}
	seen := make(map[bool]bool)
	mactest.ForAllKernels(t, []kernel.Layer{kernel.SHA256}, func(t *testing.T) {
		if seen[hasAssembly()] {
			return
		}
		seen[hasAssembly()] = true
		most := len(want) - 1
		if !hasAssembly() {
			most = 40 // there it is a loop in Go
		}
		for count := 1; count <= MaxBlocks; count++ {
			mactest.Sizes(t, most, nil, func(n int, f *mactest.Fault) (got, wants []byte) {
				b.its = want[0]
				mactest.In(f, n, b.its[:count])
				b.Iterate(count, n)
				return mactest.Bytes(b.its[:count]), mactest.Bytes(want[n][:count])
			})
		}
	})
}

// TestAnswer checks that each implementation computes the known answer.
func TestAnswer(t *testing.T) {
	Choose()
	mactest.ForAllKernels(t, mactest.HMAC, func(t *testing.T) {
		if a := answer(); a != wantAnswer {
			t.Errorf("%#x, want %#x", a, uint64(wantAnswer))
		}
	})
}

func isWiped(t *testing.T, what string, m *HMAC) {
	t.Helper()
	fields := *m
	fields.hash = nil
	for _, n := range regexp.MustCompile(`[0-9]+`).FindAllString(fmt.Sprint(fields, m.hash), -1) {
		if n != "0" {
			t.Errorf("%s has %s", what, n)
		}
	}
}
