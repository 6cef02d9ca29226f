// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

// Package list is the format of keys and lists, as docs/list-format.md has it: bytes in, lines out, and back.
//
// It opens no file, and knows no folder and no terminal: what is read comes from an io.Reader. Whether the
// files of a list are as it says is for package sums. What a new option adds to a list is a field of a line,
// in line.go and write.go, or a note, in the same files and in addNote of read.go.
package list

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
	"time"

	"example.com/fastmac"
)

// A List is what Read found. It keeps only what is needed, because a list can be of any size, and
// somebody else can have made it.
type List struct {
	Lines      Lines
	Folders    []string // of notes, as the next three
	Patterns   []string // of what is left out in folders
	Unread     []string // files
	Options    []string // OneFileSystem and ExcludeCaches
	notes      int
	About      About     // of a list of format 2
	Malformed  []BadLine // the first maxMalformed
	Bad        int       // malformed lines
	other      error     // the first line of another algorithm, or nil
	format     int       // 1 or 2, by the first line
	ends       []ending  // the first, and the first that says whether the key is right
	count      int       // lines of all kinds
	returns    int       // of them, those that end with "\r\n"
	terminated bool      // the last line has its end
	tooLong    bool      // a line is, of which only a part was read
}

// About is what a list says of itself. Format 1 has none of it.
type About struct {
	Label  string    // of tag --label; may be empty
	Serial uint64    // how many lists there were before, and this one
	Time   time.Time // when it was written, in seconds
}

// timeForm is how a list has a time, in UTC.
const timeForm = "2006-01-02T15:04:05Z"

// A BadLine is a line that is none of a list.
type BadLine struct {
	Number int
	Err    error
}

const (
	// maxMalformed is how many malformed lines are reported.
	maxMalformed = 20

	// MaxNotes is how many notes a list has at most.
	MaxNotes = 1 << 20

	// maxBad is after how many malformed lines a text is no list.
	maxBad = 1 << 20
)

// Read reads a list, up to the end of in. Its errors are those of in, and of text that is no list at all.
func Read(in io.Reader, key *Key, zero bool) (*List, error) {
	r := bufio.NewReaderSize(in, 64<<10)
	start, _ := r.Peek(4)
	if err := CheckEncoding(start, "tag -o FILE"); err != nil {
		return nil, err
	}
	l := &List{Lines: Lines{nonce: key.nonce, tag: key.tagSize}, format: 1}
	mac := key.list.New()
	defer mac.Destroy()
	end := lineEnd(zero)
	var text []byte
	for {
		var tooLong bool
		var err error
		text, tooLong, err = readLine(r, text[:0], end)
		if err == io.EOF && len(text) == 0 || l.Bad == maxBad && l.Bad == l.count {
			if l.format == 1 {
				l.About = About{} // what a list without its first line says of itself is of no use
			}
			return l, nil
		}
		if l.Bad == maxBad {
			return nil, fmt.Errorf("%d of its first %d lines are malformed: it is no list", l.Bad, l.count)
		}
		if err != nil && err != io.EOF {
			return nil, err
		}
		l.count++
		text, l.terminated = bytes.CutSuffix(text, []byte{end})
		if !zero {
			// Lists survive a conversion to the line ends of Windows: the tag is that of the
			// lines without it. A path has its "\r" escaped.
			var found bool
			if text, found = bytes.CutSuffix(text, []byte{'\r'}); found {
				l.returns++
			}
		}
		switch {
		case tooLong:
			l.tooLong = true
			err = fmt.Errorf("it has more than %d bytes, which no path has", maxLine)
		case !zero && bytes.IndexByte(text, 0) >= 0:
			err = errNUL
		case len(l.ends) > 0 && bytes.HasPrefix(text, []byte(firstPrefix)):
			// Another list, which was joined to this one: Complete says so.
		case l.count == 1 && bytes.HasPrefix(text, []byte(firstPrefix)):
			if err = l.addFirst(string(text), key.algorithm, zero); err != nil && l.format > 2 {
				return nil, err
			}
		case bytes.HasPrefix(text, []byte(firstPrefix)):
			err = errors.New("the first line of a list, with others before it")
		case isEnd(text):
			err = l.addEnding(string(text), key, mac)
		default:
			err = l.addLine(string(text), key.algorithm, zero)
		}
		if err != nil {
			l.addMalformed(err)
		}
		text = append(text, end)
		mac.Write(text)
	}
}

// addFirst adds the first line of a list of format 2, or of another one, which it does not know.
func (l *List) addFirst(text string, a *algorithm, zero bool) error {
	name, ok := strings.CutPrefix(text, firstLine)
	if l.format = 2; !ok {
		l.format = 3
		return errors.New("the list has a format that this fastmac does not know: a newer one made it")
	}
	if zero && strings.Contains(name, "\n") {
		return errors.New("a newline: verify -z is for a list of tag -z")
	}
	return a.is(name)
}

func (l *List) addLine(text string, a *algorithm, zero bool) error {
	if n, found, err := parseNote(text, zero); found {
		if err == nil {
			err = l.addNote(n)
		}
		return err
	}
	parsed, err := parseLine(text, a, zero)
	if err == nil {
		l.Lines.Add(parsed)
	}
	return err
}

func (l *List) addNote(n note) error {
	about := &l.About
	if len(l.ends) > 0 {
		about = new(About) // that of another list
	}
	switch n.kind {
	case label:
		return once(&about.Label, n.text)
	case serial:
		number, err := strconv.ParseUint(n.text, 10, 64)
		if err != nil || number == 0 || strconv.FormatUint(number, 10) != n.text {
			return errors.New("want a number from 1 on")
		}
		return once(&about.Serial, number)
	case written:
		at, err := time.Parse(timeForm, n.text)
		if err != nil || at.Year() < 1970 || at.Format(timeForm) != n.text {
			return errors.New("want a time such as " + timeForm)
		}
		return once(&about.Time, at)
	case Option:
		if n.text != OneFileSystem && n.text != ExcludeCaches {
			return errors.New("an option that this fastmac does not know")
		}
	}
	if l.notes++; l.notes > MaxNotes {
		return fmt.Errorf("it is one of more than %d about folders and files that were left out", MaxNotes)
	}
	switch n.kind {
	case Folder:
		l.Folders = append(l.Folders, n.text)
	case Exclude:
		l.Patterns = append(l.Patterns, n.text)
	case Option:
		l.Options = append(l.Options, n.text)
	default:
		l.Unread = append(l.Unread, n.text)
	}
	return nil
}

// once sets what a list has at most once.
func once[T comparable](to *T, value T) error {
	var none T
	if *to != none {
		return errors.New("the second one of its kind")
	}
	*to = value
	return nil
}

// addEnding adds an end line, where mac has read what is before it.
func (l *List) addEnding(text string, key *Key, mac *fastmac.HMAC) error {
	e, covered, tag, err := parseEnding(text)
	if err != nil {
		return err
	}
	e.number = l.count
	switch {
	case len(l.ends) == 0:
		// What follows an end line is wrong whatever its tag is, so mac need not be restored.
		io.WriteString(mac, covered)
		e.right = mac.Verify(tag)
		l.ends = append(l.ends, e)
	case len(l.ends) == 1 && !l.ends[0].tells(key) && e.tells(key):
		l.ends = append(l.ends, e)
	}
	return nil
}

// tells reports whether an end line says that a list has tags by this key, or that it has none.
func (e *ending) tells(key *Key) bool { return e.algorithm != key.name || e.id == key.ID }

func (l *List) addMalformed(err error) {
	if _, ok := errors.AsType[otherAlgorithmError](err); ok && l.other == nil {
		l.other = err
	}
	if l.Bad++; l.Bad <= maxMalformed {
		l.Malformed = append(l.Malformed, BadLine{l.count, err})
	}
}

// Check returns an error if nothing in the list can be right: it is empty, no list, or by
// another key.
func (l *List) Check(key *Key) error {
	if l.count == 0 {
		return errors.New("the list has no lines")
	}
	for _, e := range l.ends {
		switch {
		case e.algorithm == key.name && e.id == key.ID:
			return nil
		case e.algorithm != key.name:
			return fmt.Errorf("the tags are %s, and the key is for %s", e.algorithm, key.name)
		}
	}
	if len(l.ends) > 0 {
		return fmt.Errorf("the list was made with the key %s, and this is the key %s", l.ends[0].id, key.ID)
	}
	if l.Lines.Len() > 0 || len(l.Malformed) == 0 {
		return nil
	}
	if other, ok := errors.AsType[otherAlgorithmError](l.other); ok {
		return fmt.Errorf("the tags are %s, and the key is for %s", other.line, other.key)
	}
	first := l.Malformed[0]
	return fmt.Errorf("no line is from fastmac tag: line %d: %w", first.Number, first.Err)
}

// ErrNoEnd is the error for a list without an end line.
var ErrNoEnd = errors.New("the list has no end line, so lines may be missing and paths exchanged")

// Complete returns an error unless the list is as tag wrote it.
func (l *List) Complete() error {
	if len(l.ends) == 0 {
		return ErrNoEnd
	}
	e, before := l.ends[0], l.count-1
	switch {
	case e.format != l.format:
		return fmt.Errorf("the list was changed: its end line is of format %d, and its first line is not", e.format)
	case e.number != l.count:
		return fmt.Errorf("line %d is the end of a list, and lines follow it: lists were joined, or lines added; one run makes one list, of many names with tag --files0-from, and tag --update adds to it", e.number)
	case e.lines != uint64(before):
		return fmt.Errorf("the list was changed: it has %s before the end line, which is for %d", Counted(before, "line"), e.lines)
	case l.tooLong:
		return errors.New("the list was changed: a line is too long")
	case !e.right:
		return errors.New("the list was changed: its tag is wrong, so a line or a path was edited, moved or exchanged")
	case !l.terminated:
		return errors.New("the list was changed: its last line is incomplete")
	case l.returns != 0 && l.returns != l.count:
		return errors.New("the list was changed: some lines end with a carriage return, and some do not")
	}
	return nil
}
