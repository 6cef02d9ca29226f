// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package list

import (
	"fmt"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Escape returns a name as it is in a list, on a terminal and in messages. A name can have
// bytes that move the cursor, hide what follows them or turn it around, so only what is seen
// is left as it is. As in the output of sha512sum, backslashes, newlines and carriage returns
// are \\, \n and \r, and what has an escape begins with a backslash. Besides, \xHH is a byte of
// a character that is not seen, or that is not UTF-8. Of spaces, those at the ends and those
// after a space are escaped: many of them would push what follows into the next row.
func Escape(name string) string {
	begin, escaped := escape(name)
	return begin + escaped
}

// escape returns the name and, apart from it, what it begins with.
func escape(name string) (begin, escaped string) {
	if plain(name) {
		return "", name
	}
	var b strings.Builder
	base := false // the character before can carry an accent
	for i := 0; i < len(name); {
		r, size := utf8.DecodeRuneInString(name[i:])
		char := name[i : i+size]
		edge := r == ' ' && (i == 0 || i+1 == len(name) || name[i-1] == ' ')
		lonely := unicode.IsMark(r) && !base
		base = seen(r, size) && r != ' ' && !lonely
		switch {
		case r == '\\':
			b.WriteString(`\\`)
		case r == '\n':
			b.WriteString(`\n`)
		case r == '\r':
			b.WriteString(`\r`)
		case seen(r, size) && !edge && !lonely:
			b.WriteString(char)
		default:
			b.WriteString(escapeBytes(char))
		}
		i += size
	}
	if escaped = b.String(); escaped != name {
		begin = `\`
	}
	return begin, escaped
}

// plain reports whether a name has only ASCII characters that need no escape, as most have.
func plain(name string) bool {
	for i := range len(name) {
		if c := name[i]; c <= ' ' || c >= 0x7f || c == '\\' {
			return false
		}
	}
	return true
}

func escapeBytes(s string) string {
	var b strings.Builder
	for _, c := range []byte(s) {
		fmt.Fprintf(&b, `\x%02x`, c)
	}
	return b.String()
}

// Seen reports whether a character is seen on a terminal, and moves nothing but the cursor.
// unicode.IsPrint leaves out control and format characters, such as those that change the
// direction, and all spaces but one. The tables have letters and marks that are not seen.
func Seen(r rune) bool {
	const brailleBlank = '\u2800'
	return unicode.IsPrint(r) && r != brailleBlank &&
		!unicode.In(r, unicode.Other_Default_Ignorable_Code_Point, unicode.Variation_Selector)
}

// seen reports whether the character of size bytes that was decoded as r is UTF-8 and seen.
func seen(r rune, size int) bool {
	return Seen(r) && (r != utf8.RuneError || size > 1)
}

// unescape is the inverse of escape. It reports whether each escape has one of the forms that
// escape writes. It also accepts them where escape does not write them, such as \x41.
func unescape(escaped string) (name string, ok bool) {
	var b strings.Builder
	for {
		before, after, found := strings.Cut(escaped, `\`)
		b.WriteString(before)
		if !found {
			return b.String(), true
		}
		used := 1
		switch {
		case strings.HasPrefix(after, `\`):
			b.WriteByte('\\')
		case strings.HasPrefix(after, "n"):
			b.WriteByte('\n')
		case strings.HasPrefix(after, "r"):
			b.WriteByte('\r')
		case strings.HasPrefix(after, "x") && len(after) >= 3:
			c, err := strconv.ParseUint(after[1:3], 16, 8)
			if err != nil {
				return "", false
			}
			b.WriteByte(byte(c))
			used = 3
		default:
			return "", false
		}
		escaped = after[used:]
	}
}

// Printable returns a message without characters that are not seen, for text that may have
// more than names.
func Printable(text string) string {
	var b strings.Builder
	for i := 0; i < len(text); {
		r, size := utf8.DecodeRuneInString(text[i:])
		if char := text[i : i+size]; seen(r, size) {
			b.WriteString(char)
		} else {
			b.WriteString(escapeBytes(char))
		}
		i += size
	}
	return b.String()
}
