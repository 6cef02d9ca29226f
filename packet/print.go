// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package packet

import (
	"errors"
	"fmt"
	"io"
	"log/slog"
	"strconv"

	"example.com/fastmac/internal/opaque"
)

// Senders, receivers, clients and servers embed one of these, and print as what String of its type returns.
type (
	umacSenderName   = opaque.Name[umacSenderText]
	umacReceiverName = opaque.Name[umacReceiverText]
	gmacSenderName   = opaque.Name[gmacSenderText]
	gmacReceiverName = opaque.Name[gmacReceiverText]
	umacClientName   = opaque.Name[umacClientText]
	umacServerName   = opaque.Name[umacServerText]
	gmacClientName   = opaque.Name[gmacClientText]
	gmacServerName   = opaque.Name[gmacServerText]
)

type (
	umacSenderText   uint8 // the size of a tag in bytes
	umacReceiverText uint8
	gmacSenderText   struct{}
	gmacReceiverText struct{}
	umacClientText   struct{}
	umacServerText   struct{}
	gmacClientText   struct{}
	gmacServerText   struct{}
)

func (t umacSenderText) String() string   { return "packet.UMACSender(" + tagText(uint8(t)) + ")" }
func (t umacReceiverText) String() string { return "packet.UMACReceiver(" + tagText(uint8(t)) + ")" }
func (gmacSenderText) String() string     { return "packet.GMACSender(128-bit tag)" }
func (gmacReceiverText) String() string   { return "packet.GMACReceiver(128-bit tag)" }

func (umacClientText) String() string { return "packet.UMACClient" }
func (umacServerText) String() string { return "packet.UMACServer" }
func (gmacClientText) String() string { return "packet.GMACClient" }
func (gmacServerText) String() string { return "packet.GMACServer" }

func tagText(size uint8) string {
	if size == 0 {
		return "no key"
	}
	return strconv.Itoa(8*int(size)) + "-bit tag"
}

// String returns "packet.Config", without the Secret.
func (c Config) String() string { return "packet.Config" }

// Format writes what String returns, for all verbs and flags. Do not print a struct that has a Config in an
// unexported field: package fmt does not call the methods of such fields, and prints the Secret.
func (c Config) Format(s fmt.State, verb rune) { io.WriteString(s, c.String()) }

// LogValue has package log/slog write what String returns.
func (c Config) LogValue() slog.Value { return slog.StringValue(c.String()) }

var errEncoded = errors.New("packet: a Config has a Secret, and is neither encoded nor decoded: use a type of your own")

// MarshalText returns an error, and so do encoding/json and encoding/xml for whatever has a Config in it.
func (Config) MarshalText() ([]byte, error) { return nil, errEncoded }

// MarshalBinary returns an error, and so does encoding/gob.
func (Config) MarshalBinary() ([]byte, error) { return nil, errEncoded }

// UnmarshalText returns an error.
func (*Config) UnmarshalText([]byte) error { return errEncoded }

// UnmarshalBinary returns an error.
func (*Config) UnmarshalBinary([]byte) error { return errEncoded }
