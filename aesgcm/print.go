// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package aesgcm

import (
	"fmt"
	"io"
)

// The types below are embedded in a Key and a Sealer, which print as a name. print.go of
// package fastmac says why they have methods with value receivers.
type (
	keyName    struct{}
	sealerName struct{}
)

// String returns "aesgcm.Key". It does not reveal the key.
func (n keyName) String() string { return "aesgcm.Key" }

// Format writes what String returns, whatever the verb and the flags. It does not reveal
// the key.
func (n keyName) Format(s fmt.State, verb rune) { io.WriteString(s, n.String()) }

// MarshalText returns what String returns, so encoding/json and log/slog write the name.
// It does not reveal the key. A key cannot be restored from its name. The error is always
// nil.
func (n keyName) MarshalText() ([]byte, error) { return []byte(n.String()), nil }

// String returns "aesgcm.Sealer". It does not reveal the key.
func (n sealerName) String() string { return "aesgcm.Sealer" }

// Format writes what String returns, whatever the verb and the flags. It does not reveal
// the key.
func (n sealerName) Format(s fmt.State, verb rune) { io.WriteString(s, n.String()) }

// MarshalText returns what String returns, so encoding/json and log/slog write the name.
// It does not reveal the key. A Sealer cannot be restored from its name. The error is
// always nil.
func (n sealerName) MarshalText() ([]byte, error) { return []byte(n.String()), nil }

// noCopy makes go vet report copies of a struct that has a field of this type.
type noCopy struct{}

func (*noCopy) Lock()   {}
func (*noCopy) Unlock() {}

// incomparable makes a struct that has a field of this type incomparable with ==, whose
// time depends on the secrets compared.
type incomparable [0]func()
