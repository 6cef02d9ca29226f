// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package list

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
)

// maxLine is more than a line has, in bytes: a path has up to 32767 characters, on Windows,
// and up to three bytes for each of them can be escaped.
const maxLine = 512 << 10

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

// ReadNames returns the lines of a text, whose last one may have no end. If cr is true, a carriage
// return before the end is no part of a line. Of each line, with its number, accept returns what is kept, which
// is nothing if that is empty, or why the text is refused.
func ReadNames(in io.Reader, end byte, cr bool, accept func(n int, line []byte) ([]byte, error)) (names []string, err error) {
	r := bufio.NewReaderSize(in, 64<<10)
	if start, _ := r.Peek(4); end != 0 {
		if err := CheckEncoding(start, "a program that writes UTF-8"); err != nil {
			return nil, err
		}
	}
	// All names of a block are parts of one string.
	var block, text []byte
	var ends []int
	flush := func() {
		all, from := string(block), 0
		for _, to := range ends {
			names, from = append(names, all[from:to]), to
		}
		block, ends = block[:0], ends[:0]
	}
	for n := 1; ; n++ {
		var tooLong bool
		text, tooLong, err = readLine(r, text[:0], end)
		if err != nil && err != io.EOF || err == io.EOF && len(text) == 0 {
			break
		}
		name := bytes.TrimSuffix(text, []byte{end})
		if cr {
			name = bytes.TrimSuffix(name, []byte{'\r'})
		}
		if tooLong {
			return nil, fmt.Errorf("line %d has more than %d bytes", n, maxLine)
		}
		name, refused := accept(n, name)
		if refused != nil {
			return nil, refused
		}
		if len(name) == 0 {
			continue
		}
		block, ends = append(block, name...), append(ends, len(block)+len(name))
		if len(block) >= 64<<10 {
			flush()
		}
	}
	flush()
	if err == io.EOF {
		err = nil
	}
	return names, err
}

// CheckEncoding returns an error if a text that starts so is in an encoding that the command
// does not write. remedy is how to make it.
func CheckEncoding(start []byte, remedy string) error {
	switch {
	case bytes.HasPrefix(start, []byte{0xff, 0xfe}), bytes.HasPrefix(start, []byte{0xfe, 0xff}),
		len(start) >= 4 && (start[0] == 0 || start[1] == 0): // no name of an algorithm has one letter
		return errors.New("it is in UTF-16, which > writes in some Windows shells: make it with " + remedy)
	case bytes.HasPrefix(start, []byte("\xef\xbb\xbf")):
		return errors.New("it begins with a byte order mark, which some editors and shells add: make it with " + remedy)
	}
	return nil
}

// Counted returns a phrase such as "3 files".
func Counted(n int, what string) string {
	if n != 1 {
		what += "s"
	}
	return fmt.Sprintf("%d %s", n, what)
}
