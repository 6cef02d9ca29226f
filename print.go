// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package fastmac

import (
	"fmt"
	"io"
	"strconv"
)

// The types below are embedded in keys and streams, which print as a name.
//
// Their methods have value receivers: fmt finds the methods of a value only if they
// do, and a key that is printed by value must not print its bytes. The receivers are
// these small types and not the keys and streams, so no call copies a secret.
type (
	umacKeyName       struct{ tagSize uint8 } // in bytes; 0 if there is no key
	umacName          struct{ tagSize uint8 }
	hmacSHA512KeyName struct{}
	hmacSHA512Name    struct{}
	gmacKeyName       struct{}
	gmacName          struct{}
)

// String returns the name of the type and the tag size, as in
// "fastmac.UMACKey(64-bit tag)", or "fastmac.UMACKey(no key)". It does not reveal
// the key.
func (n umacKeyName) String() string { return umacString("UMACKey", n.tagSize) }

// Format writes what String returns, whatever the verb and the flags. It does not
// reveal the key.
func (n umacKeyName) Format(s fmt.State, verb rune) { io.WriteString(s, n.String()) }

// MarshalText returns what String returns, so encoding/json and log/slog write the
// name. It does not reveal the key. A key cannot be restored from its name. The
// error is always nil.
func (n umacKeyName) MarshalText() ([]byte, error) { return []byte(n.String()), nil }

// String returns the name of the type and the tag size, as in
// "fastmac.UMAC(64-bit tag)", or "fastmac.UMAC(no key)". It does not reveal the key or the
// message.
func (n umacName) String() string { return umacString("UMAC", n.tagSize) }

// Format writes what String returns, whatever the verb and the flags. It does not
// reveal the key or the message.
func (n umacName) Format(s fmt.State, verb rune) { io.WriteString(s, n.String()) }

// MarshalText returns what String returns, so encoding/json and log/slog write the
// name. It does not reveal the key or the message. A stream cannot be restored
// from its name. The error is always nil.
func (n umacName) MarshalText() ([]byte, error) { return []byte(n.String()), nil }

// String returns "fastmac.HMACSHA512Key(512-bit tag)". It does not reveal the key.
func (n hmacSHA512KeyName) String() string { return "fastmac.HMACSHA512Key(512-bit tag)" }

// Format writes what String returns, whatever the verb and the flags. It does not
// reveal the key.
func (n hmacSHA512KeyName) Format(s fmt.State, verb rune) { io.WriteString(s, n.String()) }

// MarshalText returns what String returns, so encoding/json and log/slog write the
// name. It does not reveal the key. A key cannot be restored from its name. The
// error is always nil.
func (n hmacSHA512KeyName) MarshalText() ([]byte, error) { return []byte(n.String()), nil }

// String returns "fastmac.HMACSHA512(512-bit tag)". It does not reveal the key or the
// message.
func (n hmacSHA512Name) String() string { return "fastmac.HMACSHA512(512-bit tag)" }

// Format writes what String returns, whatever the verb and the flags. It does not
// reveal the key or the message.
func (n hmacSHA512Name) Format(s fmt.State, verb rune) { io.WriteString(s, n.String()) }

// MarshalText returns what String returns, so encoding/json and log/slog write the
// name. It does not reveal the key or the message. A stream cannot be restored
// from its name. The error is always nil.
func (n hmacSHA512Name) MarshalText() ([]byte, error) { return []byte(n.String()), nil }

// String returns "fastmac.GMACKey(128-bit tag)". It does not reveal the key.
func (n gmacKeyName) String() string { return "fastmac.GMACKey(128-bit tag)" }

// Format writes what String returns, whatever the verb and the flags. It does not
// reveal the key.
func (n gmacKeyName) Format(s fmt.State, verb rune) { io.WriteString(s, n.String()) }

// MarshalText returns what String returns, so encoding/json and log/slog write the
// name. It does not reveal the key. A key cannot be restored
// from its name. The error is always nil.
func (n gmacKeyName) MarshalText() ([]byte, error) { return []byte(n.String()), nil }

// String returns "fastmac.GMAC(128-bit tag)". It does not reveal the key or the
// message.
func (n gmacName) String() string { return "fastmac.GMAC(128-bit tag)" }

// Format writes what String returns, whatever the verb and the flags. It does not
// reveal the key or the message.
func (n gmacName) Format(s fmt.State, verb rune) { io.WriteString(s, n.String()) }

// MarshalText returns what String returns, so encoding/json and log/slog write the
// name. It does not reveal the key or the message. A stream cannot be restored
// from its name. The error is always nil.
func (n gmacName) MarshalText() ([]byte, error) { return []byte(n.String()), nil }

func umacString(name string, tagSize uint8) string {
	if tagSize == 0 {
		return "fastmac." + name + "(no key)"
	}
	return "fastmac." + name + "(" + strconv.Itoa(8*int(tagSize)) + "-bit tag)"
}

// noCopy makes go vet report copies of a struct that has a field of this type.
// Like incomparable it has no size, and must not be the last field: that would add
// padding.
type noCopy struct{}

func (*noCopy) Lock()   {}
func (*noCopy) Unlock() {}

// incomparable makes a struct that has a field of this type incomparable with ==,
// whose time depends on the secrets compared.
type incomparable [0]func()
