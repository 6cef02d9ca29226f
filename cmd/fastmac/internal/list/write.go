// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package list

import (
	"bufio"
	"encoding/hex"
	"fmt"
	"io"
	"strconv"

	"example.com/fastmac"
)

// A Writer writes a list, and computes its tag on the way: it keeps no lines.
type Writer struct {
	out   *bufio.Writer
	key   *Key
	mac   *fastmac.HMAC
	zero  bool
	text  []byte // of a line
	lines int
}

// NewWriter returns a writer of a list of format 2 by a key. If zero is true, lines end with a NUL, and nothing
// in them is escaped.
func NewWriter(out *bufio.Writer, key *Key, zero bool) *Writer {
	return &Writer{out: out, key: key, mac: key.list.New(), zero: zero}
}

// Destroy overwrites what the writer has of the key.
func (w *Writer) Destroy() { w.mac.Destroy() }

// lineEnd returns what lines end with.
func lineEnd(zero bool) byte {
	if zero {
		return 0
	}
	return '\n'
}

// Line writes the line of a file.
func (w *Writer) Line(l *Line) error {
	w.text = appendLine(w.text[:0], l, w.key.algorithm, w.zero)
	return w.write()
}

// Note writes a note of this kind.
func (w *Writer) Note(kind, text string) error {
	w.text = appendNote(w.text[:0], note{kind, text}, w.zero)
	return w.write()
}

// write writes a line, which has no end yet, and before the first one that of the list.
func (w *Writer) write() error {
	if w.lines == 0 {
		first := append(append([]byte(firstLine), w.key.name...), lineEnd(w.zero))
		w.text = append(first, w.text...)
		w.lines++
	}
	w.lines++
	w.text = append(w.text, lineEnd(w.zero))
	w.mac.Write(w.text)
	_, err := w.out.Write(w.text)
	return err
}

// Finish writes what the list says of itself, and the end line.
func (w *Writer) Finish(about About) error {
	if about.Label != "" {
		if err := w.Note(label, about.Label); err != nil {
			return err
		}
	}
	if err := w.Note(serial, strconv.FormatUint(about.Serial, 10)); err != nil {
		return err
	}
	if err := w.Note(written, about.Time.UTC().Format(timeForm)); err != nil {
		return err
	}
	covered := fmt.Sprintf("%s%s:%s:%d:", ends[1], w.key.name, w.key.ID, w.lines)
	io.WriteString(w.mac, covered)
	_, err := fmt.Fprintf(w.out, "%s%x%c", covered, w.mac.Sum(nil), lineEnd(w.zero))
	return err
}

// appendLine appends a line, without its end. In a list of tag -z, raw, nothing is escaped.
func appendLine(b []byte, l *Line, a *algorithm, raw bool) []byte {
	begin, path := "", l.Path
	if !raw {
		begin, path = escape(l.Path)
	}
	b = append(append(append(b, begin...), a.name...), ':')
	b = append(hex.AppendEncode(b, l.Nonce), ':')
	b = hex.AppendEncode(b, l.Tag)
	b = appendState(append(b, ':'), l.State)
	return append(append(b, ' ', ' '), path...)
}

// appendNote appends a note, without its end.
func appendNote(b []byte, n note, raw bool) []byte {
	begin, text := "", n.text
	if !raw {
		begin, text = escape(n.text)
	}
	return fmt.Appendf(b, "%s%s:  %s", begin, n.kind, text)
}
