// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package list

import (
	"encoding/hex"
	"errors"
	"fmt"
	"strconv"
	"strings"
)

// A Line is the line of a file in a list,
//
//	ALGORITHM:NONCE:TAG  PATH
//	ALGORITHM:NONCE:TAG:SIZE:MTIME:CTIME  PATH
//
// with the nonce and the tag in hex. If the path has escapes, see [Escape], the line begins with
// a backslash. The size in bytes and the times, in nanoseconds since 1970, are those that the file
// had when it was read, see [Times]. Only an update looks at them.
type Line struct {
	Nonce, Tag []byte
	Path       string
	Times      string // SIZE:MTIME:CTIME, or empty
}

// Times returns a size and times as a line has them. A ctime of 0 is none.
func Times(size, mtime, ctime int64) string {
	b := append(strconv.AppendInt(make([]byte, 0, 64), size, 10), ':')
	b = append(strconv.AppendInt(b, mtime, 10), ':')
	if ctime != 0 {
		b = strconv.AppendInt(b, ctime, 10)
	}
	return string(b)
}

// errForm is the error for what is no line of a list.
var errForm = errors.New("want ALGORITHM:NONCE:TAG  PATH")

// checkTimes returns an error if the times of a line have another form.
func checkTimes(fields []string) error {
	for i, field := range fields {
		if _, err := strconv.ParseInt(field, 10, 64); err != nil && !(i == 2 && field == "") {
			return errors.New("a size and times that are no numbers")
		}
	}
	return nil
}

// A note is a line of a list that is not about the content of a file,
//
//	KIND:  TEXT
//
// with the escapes of a path. The tag of the list covers it as it does all lines.
type note struct{ kind, text string }

// The kinds of notes.
const (
	Folder  = "folder"  // a folder whose files tag -r has tagged
	Exclude = "exclude" // a pattern for what was left out there
	Unread  = "unread"  // a file that tag --keep-going could not read
	Option  = "option"  // OneFileSystem or ExcludeCaches
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
	for _, kind := range []string{Folder, Exclude, Unread, Option} {
		if rest, ok := strings.CutPrefix(text, kind+":  "); ok {
			if escaped {
				if rest, ok = unescape(rest); !ok {
					return n, true, errEscape
				}
			}
			if rest == "" {
				return n, true, errForm
			}
			return note{kind, rest}, true, nil
		}
	}
	return n, false, nil
}

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
		if strings.Contains(text, "\x00") {
			return l, errors.New("a NUL character: a list of tag -z needs verify -z")
		}
	}
	sums, path, ok := strings.Cut(text, "  ")
	fields := strings.SplitN(sums, ":", 4)
	if !ok || len(fields) < 3 || path == "" {
		return l, errForm
	}
	if len(fields) == 4 {
		l.Times = fields[3]
		times := strings.Split(l.Times, ":")
		if len(times) != 3 {
			return l, errForm
		}
		if err := checkTimes(times); err != nil {
			return l, err
		}
	}
	if fields[0] != a.name {
		if byName(fields[0]) == nil {
			return l, fmt.Errorf("no algorithm %q", fields[0])
		}
		return l, otherAlgorithmError{fields[0], a.name}
	}
	var err error
	if l.Nonce, err = decode(fields[1], "nonce", a.nonce); err != nil {
		return l, err
	}
	if l.Tag, err = decode(fields[2], "tag", a.tagSize); err != nil {
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
