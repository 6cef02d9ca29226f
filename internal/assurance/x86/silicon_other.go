// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

//go:build !linux || !amd64

package x86

import "example.com/fastmac/internal/assurance/machine"

// A Silicon is a CPU that executes one instruction. Here there is none.
type Silicon struct{}

// NewSilicon returns a CPU that has nothing.
func NewSilicon() (*Silicon, error) { return new(Silicon), nil }

// Has returns false.
func (*Silicon) Has(machine.Class) bool { return false }

// Without returns s.
func (s *Silicon) Without(machine.Class) *Silicon { return s }

// Compare is never called.
func (*Silicon) Compare(*machine.Instruction, machine.Arithmetic, int) error { panic("no CPU") }
