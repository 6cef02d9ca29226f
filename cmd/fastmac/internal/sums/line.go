// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package sums

import (
	"encoding/hex"
	"errors"
	"fmt"
	"strings"
)

// A line of a file of tags is
//
//	ALGORITHM:NONCE:TAG  PATH
//
// with the nonce and the tag in hex. As in the output of sha512sum, if the path has
// a backslash, a newline or a carriage return, these are \\, \n and \r, and the line begins
// with a backslash.
type line struct {
	nonce, tag []byte
	path       string
}

var (
	escaper = strings.NewReplacer(`\`, `\\`, "\n", `\n`, "\r", `\r`)
	special = "\\\n\r"
)

// escape returns the path as it is in a line, and what the line begins with.
func escape(path string) (begin, escaped string) {
	if !strings.ContainsAny(path, special) {
		return "", path
	}
	return `\`, escaper.Replace(path)
}

// unescape is the inverse of escape. It reports whether the path is one that escape returns.
func unescape(escaped string) (path string, ok bool) {
	var b strings.Builder
	for {
		before, after, found := strings.Cut(escaped, `\`)
		b.WriteString(before)
		if !found {
			return b.String(), true
		}
		switch {
		case strings.HasPrefix(after, `\`):
			b.WriteByte('\\')
		case strings.HasPrefix(after, "n"):
			b.WriteByte('\n')
		case strings.HasPrefix(after, "r"):
			b.WriteByte('\r')
		default:
			return "", false
		}
		escaped = after[1:]
	}
}

// format returns the line, without a newline.
func (l *line) format(a *algorithm) string {
	begin, path := escape(l.path)
	b := make([]byte, 0, len(begin)+len(a.name)+2*(a.nonce+a.tagSize)+4+len(path))
	b = append(append(append(b, begin...), a.name...), ':')
	b = append(hex.AppendEncode(b, l.nonce), ':')
	b = append(hex.AppendEncode(b, l.tag), ' ', ' ')
	return string(append(b, path...))
}

// parseLine returns the line of a file of tags by this algorithm, from its text without the
// newline.
func parseLine(text string, a *algorithm) (line, error) {
	var l line
	text, escaped := strings.CutPrefix(text, `\`)
	sums, path, ok := strings.Cut(text, "  ")
	fields := strings.Split(sums, ":")
	if !ok || len(fields) != 3 || path == "" {
		return l, errors.New("want ALGORITHM:NONCE:TAG  PATH")
	}
	if fields[0] != a.name {
		if byName(fields[0]) == nil {
			return l, fmt.Errorf("no algorithm %q", fields[0])
		}
		return l, fmt.Errorf("a tag of %s, and the key is for %s", fields[0], a.name)
	}
	var err error
	if l.nonce, err = decode(fields[1], "nonce", a.nonce); err != nil {
		return l, err
	}
	if l.tag, err = decode(fields[2], "tag", a.tagSize); err != nil {
		return l, err
	}
	if l.path = path; escaped {
		if l.path, ok = unescape(path); !ok {
			return l, errors.New(`a backslash in the path: want \\, \n or \r`)
		}
	}
	return l, nil
}

// decode returns the bytes of a nonce or a tag, which has this size.
func decode(digits, what string, size int) ([]byte, error) {
	b, err := hex.DecodeString(digits)
	if err != nil {
		return nil, fmt.Errorf("the %s is not hex", what)
	}
	if len(b) != size {
		return nil, fmt.Errorf("a %s of %d bytes: want %d", what, len(b), size)
	}
	return b, nil
}
