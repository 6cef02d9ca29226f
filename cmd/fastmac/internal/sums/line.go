// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package sums

import (
	"encoding/hex"
	"errors"
	"fmt"
	"strconv"
	"strings"
)

// A line of a list is
//
//	ALGORITHM:NONCE:TAG  PATH
//
// with the nonce and the tag in hex. If the path has escapes, see [Escape], the line begins with
// a backslash.
type line struct {
	nonce, tag []byte
	path       string
}

// errForm is the error for what is no line of a list.
var errForm = errors.New("want ALGORITHM:NONCE:TAG  PATH")

// An otherAlgorithmError is the error for a line of another algorithm than the key's.
type otherAlgorithmError struct{ line, key string }

func (e otherAlgorithmError) Error() string {
	return fmt.Sprintf("a tag of %s, and the key is for %s", e.line, e.key)
}

// format returns the line, without its end. In a list of tag -z, raw, nothing is escaped.
func (l *line) format(a *algorithm, raw bool) []byte {
	begin, path := "", l.path
	if !raw {
		begin, path = escape(l.path)
	}
	b := make([]byte, 0, len(begin)+len(a.name)+2*(a.nonce+a.tagSize)+4+len(path)+1) // and the end
	b = append(append(append(b, begin...), a.name...), ':')
	b = append(hex.AppendEncode(b, l.nonce), ':')
	b = append(hex.AppendEncode(b, l.tag), ' ', ' ')
	return append(b, path...)
}

// parseLine returns the line of a list by this algorithm, from its text without its end.
func parseLine(text string, a *algorithm, raw bool) (line, error) {
	var l line
	escaped := false
	if !raw {
		text, escaped = strings.CutPrefix(text, `\`)
		if strings.Contains(text, "\x00") {
			return l, errors.New("a NUL character: a list of tag -z needs verify -z")
		}
	}
	sums, path, ok := strings.Cut(text, "  ")
	fields := strings.Split(sums, ":")
	if !ok || len(fields) != 3 || path == "" {
		return l, errForm
	}
	if fields[0] != a.name {
		if byName(fields[0]) == nil {
			return l, fmt.Errorf("no algorithm %q", fields[0])
		}
		return l, otherAlgorithmError{fields[0], a.name}
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
			return l, errors.New(`a backslash in the path: want \\, \n, \r or \xHH`)
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

// endPrefix is what the end line of a list begins with, and no other line.
const endPrefix = "end:"

// An ending is the end line of a list,
//
//	end:ALGORITHM:KEY:LINES:TAG
//
// with the identifier of the key, the number of lines before this one, and a tag in hex. The
// tag covers all bytes of the list up to the colon before it, where each line ends with "\n",
// or in a list of tag -z with a NUL.
type ending struct {
	number        int // of the line
	algorithm, id string
	lines         int
	right         bool // the tag is
}

// parseEnding returns the end line, what of it the tag covers, and the tag.
func parseEnding(text string) (e ending, covered string, tag []byte, err error) {
	fields := strings.Split(text, ":")
	if len(fields) != 5 {
		return e, "", nil, errors.New("want end:ALGORITHM:KEY:LINES:TAG")
	}
	if byName(fields[1]) == nil {
		return e, "", nil, fmt.Errorf("no algorithm %q", fields[1])
	}
	if _, err := decode(fields[2], "key's identifier", idSize); err != nil {
		return e, "", nil, err
	}
	// What differs from a list in the case of digits is not as tag wrote it.
	if strings.ToLower(text) != text {
		return e, "", nil, errors.New("upper-case characters: want lower case")
	}
	lines, err := strconv.ParseUint(fields[3], 10, strconv.IntSize-1)
	if err != nil {
		return e, "", nil, fmt.Errorf("%q lines: want a number", fields[3])
	}
	if tag, err = decode(fields[4], "tag", listKeyLen); err != nil {
		return e, "", nil, err
	}
	e = ending{algorithm: fields[1], id: fields[2], lines: int(lines)}
	return e, strings.TrimSuffix(text, fields[4]), tag, nil
}
