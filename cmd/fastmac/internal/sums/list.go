// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package sums

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"

	"example.com/fastmac"
)

// A listWriter writes a list, and computes its tag on the way: it keeps no lines.
type listWriter struct {
	out   *bufio.Writer
	key   *Key
	mac   *fastmac.HMAC
	end   byte // of a line
	lines int
}

func newListWriter(out *bufio.Writer, key *Key, zero bool) *listWriter {
	return &listWriter{out: out, key: key, mac: key.list.New(), end: lineEnd(zero)}
}

// lineEnd returns what lines end with.
func lineEnd(zero bool) byte {
	if zero {
		return 0
	}
	return '\n'
}

// write writes a line, which has no end yet.
func (w *listWriter) write(text []byte) error {
	w.lines++
	text = append(text, w.end)
	w.mac.Write(text)
	_, err := w.out.Write(text)
	return err
}

// finish writes the end line.
func (w *listWriter) finish() error {
	covered := fmt.Sprintf("%s%s:%s:%d:", endPrefix, w.key.name, w.key.id, w.lines)
	io.WriteString(w.mac, covered)
	_, err := fmt.Fprintf(w.out, "%s%x%c", covered, w.mac.Sum(nil), w.end)
	return err
}

// maxLine is more than a line has, in bytes: a path has up to 32767 characters, on Windows,
// and up to three bytes for each of them can be escaped.
const maxLine = 512 << 10

// A list is what readList found. It keeps only what is needed, because a list can be of any size, and
// somebody else can have made it.
type list struct {
	lines      lines
	folders    []string // of notes, as the next two
	patterns   []string // of what is left out in folders
	unread     []string // files
	notes      int
	malformed  []badLine // the first maxMalformed
	bad        int       // malformed lines
	other      error     // the first line of another algorithm, or nil
	ends       []ending  // the first, and the first that says whether the key is right
	count      int       // lines of all kinds
	returns    int       // of them, those that end with "\r\n"
	terminated bool      // the last line has its end
}

// A badLine is a line that is none of a list.
type badLine struct {
	number int
	err    error
}

const (
	// maxMalformed is how many malformed lines are reported.
	maxMalformed = 20

	// maxNotes is how many notes a list has at most.
	maxNotes = 1 << 20

	// maxNoLines is after how many malformed lines, and no other, a text is no list.
	maxNoLines = 1 << 20
)

// readList reads a list, up to the end of in, with the times of files if times is true. Its errors are those of in, and of text that is
// no list at all.
func readList(in io.Reader, key *Key, zero, times bool) (*list, error) {
	r := bufio.NewReaderSize(in, 64<<10)
	start, _ := r.Peek(4)
	if err := checkEncoding(start, "tag -o FILE"); err != nil {
		return nil, err
	}
	l := &list{lines: lines{nonce: key.nonce, tag: key.tagSize, times: times}}
	mac := key.list.New()
	defer mac.Destroy()
	end := lineEnd(zero)
	var text []byte
	for {
		var tooLong bool
		var err error
		text, tooLong, err = readLine(r, text[:0], end)
		if err == io.EOF && len(text) == 0 || l.bad == maxNoLines && l.bad == l.count {
			return l, nil
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
			err = fmt.Errorf("it has more than %d bytes, which no path has", maxLine)
		case bytes.HasPrefix(text, []byte(endPrefix)):
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

// readLine appends a line with its end to text. Of a line that is too long it leaves out the
// rest.
func readLine(r *bufio.Reader, text []byte, end byte) (_ []byte, tooLong bool, err error) {
	for {
		part, err := r.ReadSlice(end)
		if !tooLong {
			text = append(text, part...)
			tooLong = len(text) > maxLine
		}
		if err != bufio.ErrBufferFull {
			if tooLong && err == nil {
				text = append(text[:maxLine], end)
			}
			return text, tooLong, err
		}
	}
}

// checkEncoding returns an error if a text that starts so is in an encoding that the command
// does not write. remedy is how to make it.
func checkEncoding(start []byte, remedy string) error {
	switch {
	case bytes.HasPrefix(start, []byte{0xff, 0xfe}), bytes.HasPrefix(start, []byte{0xfe, 0xff}),
		len(start) >= 4 && (start[0] == 0 || start[1] == 0): // no name of an algorithm has one letter
		return errors.New("it is in UTF-16, which > writes in some Windows shells: make it with " + remedy)
	case bytes.HasPrefix(start, []byte("\xef\xbb\xbf")):
		return errors.New("it begins with a byte order mark, which some editors and shells add: make it with " + remedy)
	}
	return nil
}

func (l *list) addLine(text string, a *algorithm, zero bool) error {
	if n, found, err := parseNote(text, zero); found {
		if err == nil {
			err = l.addNote(n)
		}
		return err
	}
	parsed, err := parseLine(text, a, zero)
	if err == nil {
		l.lines.add(parsed)
	}
	return err
}

func (l *list) addNote(n note) error {
	if l.notes++; l.notes > maxNotes {
		return fmt.Errorf("it is one of more than %d about folders and files that were left out", maxNotes)
	}
	switch n.kind {
	case noteFolder:
		l.folders = append(l.folders, n.text)
	case noteExclude:
		l.patterns = append(l.patterns, n.text)
	default:
		l.unread = append(l.unread, n.text)
	}
	return nil
}

// addEnding adds an end line, where mac has read what is before it.
func (l *list) addEnding(text string, key *Key, mac *fastmac.HMAC) error {
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
func (e *ending) tells(key *Key) bool { return e.algorithm != key.name || e.id == key.id }

func (l *list) addMalformed(err error) {
	if _, ok := errors.AsType[otherAlgorithmError](err); ok && l.other == nil {
		l.other = err
	}
	if l.bad++; l.bad <= maxMalformed {
		l.malformed = append(l.malformed, badLine{l.count, err})
	}
}

// check returns an error if nothing in the list can be right: it is empty, no list, or by
// another key.
func (l *list) check(key *Key) error {
	if l.count == 0 {
		return errors.New("the list has no lines")
	}
	for _, e := range l.ends {
		switch {
		case e.algorithm == key.name && e.id == key.id:
			return nil
		case e.algorithm != key.name:
			return fmt.Errorf("the tags are %s, and the key is for %s", e.algorithm, key.name)
		}
	}
	if len(l.ends) > 0 {
		return fmt.Errorf("the list was made with the key %s, and this is the key %s", l.ends[0].id, key.id)
	}
	if l.lines.len() > 0 || len(l.malformed) == 0 {
		return nil
	}
	if other, ok := errors.AsType[otherAlgorithmError](l.other); ok {
		return fmt.Errorf("the tags are %s, and the key is for %s", other.line, other.key)
	}
	first := l.malformed[0]
	return fmt.Errorf("no line is from fastmac tag: line %d: %w", first.number, first.err)
}

// errNoEnd is the error for a list without an end line.
var errNoEnd = errors.New("the list has no end line, so lines may be missing and paths exchanged")

// complete returns an error unless the list is as tag wrote it.
func (l *list) complete() error {
	if len(l.ends) == 0 {
		return errNoEnd
	}
	e, before := l.ends[0], l.count-1
	switch {
	case e.number != l.count:
		return fmt.Errorf("line %d is the end of a list, and lines follow it: lists were joined, or lines added; one run makes one list, of many names with tag --files0-from, and tag --update adds to it", e.number)
	case e.lines != before:
		return fmt.Errorf("the list was changed: it has %s before the end line, which is for %d", counted(before, "line"), e.lines)
	case !e.right:
		return errors.New("the list was changed: its tag is wrong, so a line or a path was edited, moved or exchanged")
	case !l.terminated:
		return errors.New("the list was changed: its last line is incomplete")
	case l.returns != 0 && l.returns != l.count:
		return errors.New("the list was changed: some lines end with a carriage return, and some do not")
	}
	return nil
}
