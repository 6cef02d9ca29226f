// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package list

import (
	"bytes"
	"encoding/hex"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// A Line is the line of a file in a list, of format 2 and in two forms of format 1,
//
//	ALGORITHM:NONCE:TAG:SIZE:MTIME:CTIME:INODE  PATH
//	ALGORITHM:NONCE:TAG:SIZE:MTIME:CTIME  PATH
//	ALGORITHM:NONCE:TAG  PATH
//
// with the nonce and the tag in hex. If the path has escapes, see [Escape], the line begins with
// a backslash.
type Line struct {
	Nonce, Tag []byte
	Path       string
	State      State
}

// A State is what a file system said about a file when it was read: only an update looks at it, and who
// wonders why a tag is wrong. The zero State says nothing, as that of a file that could have been changed
// again in the same moment.
type State struct {
	Size         int64
	Mtime, Ctime int64  // in nanoseconds since 1970; a Ctime of 0 is none
	Inode        uint64 // 0 is none
}

// appendState appends the four fields of a state.
func appendState(b []byte, s State) []byte {
	if s == (State{}) {
		return append(b, ":::"...)
	}
	b = append(strconv.AppendInt(b, s.Size, 10), ':')
	b = append(strconv.AppendInt(b, s.Mtime, 10), ':')
	if s.Ctime != 0 {
		b = strconv.AppendInt(b, s.Ctime, 10)
	}
	if b = append(b, ':'); s.Inode != 0 {
		b = strconv.AppendUint(b, s.Inode, 10)
	}
	return b
}

// errForm is the error for what is no line of a list.
var errForm = errors.New("want ALGORITHM:NONCE:TAG  PATH")

// parseState returns the state in the text after the tag of a line, which begins with a colon or is empty: of
// three fields in format 1, where numbers may have signs and leading zeros, and of four in format 2.
func parseState(text string) (s State, err error) {
	if text == "" || text == "::::" {
		return s, nil
	}
	size, rest, _ := strings.Cut(text[1:], ":")
	mtime, rest, ok := strings.Cut(rest, ":")
	ctime, inode, two := strings.Cut(rest, ":")
	if !ok || strings.Contains(inode, ":") {
		return s, errForm
	}
	number := func(digits string) (n int64) {
		if err == nil {
			n, err = strconv.ParseInt(digits, 10, 64)
		}
		if two && !isPlain(strings.TrimPrefix(digits, "-")) {
			err = strconv.ErrSyntax
		}
		return n
	}
	s.Size, s.Mtime = number(size), number(mtime)
	if ctime != "" {
		s.Ctime = number(ctime)
	}
	if inode != "" && err == nil {
		s.Inode, err = strconv.ParseUint(inode, 10, 64)
	}
	// What is none has no 0.
	if err != nil || two && (s.Size < 0 || size == "-0" || mtime == "-0" || ctime != "" && s.Ctime == 0 || inode != "" && (s.Inode == 0 || !isPlain(inode))) {
		return s, errors.New("a size, times or an inode that are no numbers")
	}
	return s, nil
}

// isPlain reports whether a number, of which the digits are right, has no sign and no leading zero.
func isPlain(digits string) bool {
	return digits == "0" || digits != "" && '1' <= digits[0] && digits[0] <= '9'
}

// A note is a line of a list that is not about the content of a file,
//
//	KIND:  TEXT
//
// with the escapes of a path. The tag of the list covers it as it does all lines.
type note struct{ kind, text string }

// The kinds of notes. A list has the last three at most once.
const (
	Folder  = "folder"  // a folder whose files tag -r has tagged
	Exclude = "exclude" // a pattern for what was left out there
	Unread  = "unread"  // a file that tag --keep-going could not read
	Option  = "option"  // OneFileSystem or ExcludeCaches
	label   = "label"   // what tag --label says
	serial  = "serial"  // how many lists there were before, and this one
	written = "time"    // when it was written
)

// Options that leave out some of what is in folders.
const (
	OneFileSystem = "one-file-system"
	ExcludeCaches = "exclude-caches"
)

// parseNote returns the note in the text of a line without its end, if it is one.
func parseNote(text string, raw bool) (n note, found bool, err error) {
	escaped := false
	if !raw {
		text, escaped = strings.CutPrefix(text, `\`)
	}
	colon := strings.IndexByte(text, ':')
	if colon < 0 || !strings.HasPrefix(text[colon:], ":  ") {
		return n, false, nil
	}
	switch n.kind = text[:colon]; n.kind {
	case Folder, Exclude, Unread, Option, label, serial, written:
	default:
		return n, false, nil
	}
	n.text = text[colon+len(":  "):]
	if escaped {
		var ok bool
		if n.text, ok = unescape(n.text); !ok {
			return n, true, errEscape
		}
	}
	if n.text == "" {
		return n, true, errForm
	}
	return n, true, nil
}

var errNUL = errors.New("a NUL character: a list of tag -z needs verify -z")

var errEscape = errors.New(`a backslash in the path: want \\, \n, \r or \xHH`)

// An otherAlgorithmError is the error for a line of another algorithm than the key's.
type otherAlgorithmError struct{ line, key string }

func (e otherAlgorithmError) Error() string {
	return fmt.Sprintf("a tag of %s, and the key is for %s", e.line, e.key)
}

// parseLine returns the line of a list by this algorithm, from its text without its end.
func parseLine(text string, a *algorithm, raw bool) (Line, error) {
	var l Line
	escaped := false
	if !raw {
		text, escaped = strings.CutPrefix(text, `\`)
	}
	sums, path, ok := strings.Cut(text, "  ")
	name, rest, _ := strings.Cut(sums, ":")
	nonce, rest, two := strings.Cut(rest, ":")
	if !ok || !two || path == "" {
		return l, errForm
	}
	tag, state := rest, ""
	if colon := strings.IndexByte(rest, ':'); colon >= 0 {
		tag, state = rest[:colon], rest[colon:]
	}
	var err error
	if l.State, err = parseState(state); err != nil {
		return l, err
	}
	if err := a.is(name); err != nil {
		return l, err
	}
	if l.Nonce, err = decode(nonce, "nonce", a.nonce); err != nil {
		return l, err
	}
	if l.Tag, err = decode(tag, "tag", a.tagSize); err != nil {
		return l, err
	}
	if l.Path = path; escaped {
		if l.Path, ok = unescape(path); !ok {
			return l, errEscape
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

// is returns an error if a list names another algorithm.
func (a *algorithm) is(name string) error {
	switch {
	case name == a.name:
		return nil
	case byName(name) == nil:
		return fmt.Errorf("no algorithm %q", name)
	}
	return otherAlgorithmError{name, a.name}
}

// What the first line of a list of format 2 begins with, before the algorithm: programs that know format 1
// only take it for the line of a file, by an algorithm that they do not know. Other formats will have another
// number.
const (
	firstPrefix = "fastmac list "
	firstLine   = firstPrefix + "2::  "
)

// ends are what the end line of each format begins with, and no other line.
var ends = []string{"end:", "end2:"}

// isEnd reports whether a line is an end line.
func isEnd(text []byte) bool {
	return bytes.HasPrefix(text, []byte(ends[0])) || bytes.HasPrefix(text, []byte(ends[1]))
}

// An ending is the end line of a list, of format 2 or 1,
//
//	end2:ALGORITHM:KEY:LINES:TAG
//	end:ALGORITHM:KEY:LINES:TAG
//
// with the identifier of the key, the number of lines before this one, and a tag in hex. The
// tag covers all bytes of the list up to the colon before it, where each line ends with "\n",
// or in a list of tag -z with a NUL.
type ending struct {
	number        int // of the line
	format        int
	algorithm, id string
	lines         uint64
	right         bool // the tag is
}

// parseEnding returns the end line, what of it the tag covers, and the tag.
func parseEnding(text string) (e ending, covered string, tag []byte, err error) {
	fields := strings.Split(text, ":")
	format := 1 + slices.Index(ends, fields[0]+":")
	if len(fields) != 5 {
		return e, "", nil, fmt.Errorf("want %sALGORITHM:KEY:LINES:TAG", ends[format-1])
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
	lines, err := strconv.ParseUint(fields[3], 10, 63)
	if err != nil || format > 1 && strconv.FormatUint(lines, 10) != fields[3] {
		return e, "", nil, fmt.Errorf("%q lines: want a number", fields[3])
	}
	if tag, err = decode(fields[4], "tag", listKeyLen); err != nil {
		return e, "", nil, err
	}
	e = ending{format: format, algorithm: fields[1], id: fields[2], lines: lines}
	return e, strings.TrimSuffix(text, fields[4]), tag, nil
}
