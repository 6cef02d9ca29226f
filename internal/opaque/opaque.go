// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

// Package opaque has the fields of structs with secrets: they print as a name, and cannot
// be compared or, as go vet reports, copied.
package opaque

import (
	"fmt"
	"io"
)

// A Name is embedded in a struct, which then prints as what String of the T returns: with
// every verb of fmt, and in the text of log/slog. encoding/json writes {}, for there is no
// exported field.
//
// Its methods have value receivers: fmt finds the methods of a value only if they do, and a
// key that is printed by value must not print its bytes. The receiver is a Name, which has
// no secrets, and not the struct, so no call copies a secret.
//
// A package embeds it by an unexported alias, or the struct would have an exported field.
type Name[T fmt.Stringer] struct{ text T }

// Of returns the Name that prints as text.
func Of[T fmt.Stringer](text T) Name[T] { return Name[T]{text} }

// String returns the name.
func (n Name[T]) String() string { return n.text.String() }

// Format writes what String returns, whatever the verb and the flags.
func (n Name[T]) Format(s fmt.State, verb rune) { io.WriteString(s, n.String()) }

// NoCopy makes go vet report copies of a struct that has a field of this type. Like
// Incomparable it has no size, and must not be the last field: that would add padding.
type NoCopy struct{}

// Lock and Unlock are what go vet looks for.
func (*NoCopy) Lock()   {}
func (*NoCopy) Unlock() {}

// Incomparable makes a struct that has a field of this type incomparable with ==, whose
// time depends on the secrets compared.
type Incomparable [0]func()
