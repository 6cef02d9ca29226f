// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package sums

import (
	"errors"
	"strings"
)

// A pattern says what is left out of a folder, in the language of gitignore(5), and means what it means to Git,
// also where the manual says nothing. It matches bytes, so ? is one of the bytes of é. Paths are relative to
// the folder that is walked.
type pattern struct {
	text   string
	again  bool // "!": what it matches is not left out
	folder bool // a slash at the end: only folders match
	name   bool // it has no other slash: the last name of a path is matched, at any depth

	plain, folded glob // the second one where case makes no difference, for paths in lower case

	watched bool      // somebody wants to know whether it matched
	used    bool      // it did
	meant   []pattern // if it did not, one of these may be what was meant
}

// A glob is what a pattern matches with.
type glob struct {
	prefix string // up to the first special character
	parts  []part // what follows
	never  bool   // it matches nothing, as a bracket is not closed, or a backslash is the last character
}

// A part matches one byte, or is a star.
type part struct {
	kind kind
	char byte
	set  *byteSet
}

// A byteSet is a set of bytes.
type byteSet [4]uint64

func (s *byteSet) add(c byte)      { s[c>>6] |= 1 << (c & 63) }
func (s *byteSet) remove(c byte)   { s[c>>6] &^= 1 << (c & 63) }
func (s *byteSet) has(c byte) bool { return s[c>>6]>>(c&63)&1 != 0 }

// complement makes a set that of the other bytes of names.
func (s *byteSet) complement() {
	for i := range s {
		s[i] = ^s[i]
	}
	s.remove('/')
}

type kind byte

const (
	oneChar kind = iota
	oneOf        // the bytes of set
	star         // "*": any number of bytes, and no slash
	deep         // "**" at the end: any number of bytes
	folders      // "**/": nothing, or what ends with a slash
)

// parsePattern returns a pattern.
func parsePattern(text string) (pattern, error) {
	p := pattern{text: text}
	if text == "" || strings.Contains(text, "\x00") {
		return p, errors.New("a pattern that is empty, or has a NUL")
	}
	body, again := strings.CutPrefix(text, "!")
	body, p.folder = strings.CutSuffix(body, "/")
	p.again, p.name = again, !strings.Contains(body, "/")
	body = strings.TrimPrefix(body, "/")
	p.plain, p.folded = parseGlob(body, false), parseGlob(body, true)
	return p, nil
}

func parseGlob(text string, fold bool) (g glob) {
	first := strings.IndexAny(text, `*?[\`)
	if first < 0 {
		first = len(text)
	}
	if g.prefix = text[:first]; fold {
		g.prefix = lower(g.prefix)
	}
	// To Git a "**" that follows the prefix is at the beginning.
	g.parts, g.never = parseParts(text[first:], fold)
	return g
}

// lower returns a text with the letters of ASCII in lower case, and all other bytes as they are.
func lower(text string) string {
	b := []byte(text)
	for i, c := range b {
		b[i] = lowerByte(c)
	}
	return string(b)
}

func lowerByte(c byte) byte {
	if 'A' <= c && c <= 'Z' {
		c += 'a' - 'A'
	}
	return c
}

func parseParts(glob string, fold bool) (parts []part, never bool) {
	for i := 0; i < len(glob); {
		c, rest := glob[i], glob[i+1:]
		switch c {
		case '*':
			end := len(glob) - len(strings.TrimLeft(rest, "*"))
			after := glob[end:]
			p := part{kind: star}
			if end-i > 1 && (i == 0 || glob[i-1] == '/') {
				switch {
				case after == "" || strings.HasPrefix(after, `\/`):
					p.kind = deep
				case after[0] == '/':
					p.kind = folders
					end++
				}
			}
			parts, i = append(parts, p), end
			continue
		case '?':
			parts = append(parts, part{kind: oneOf, set: anyByte})
			i++
			continue
		case '[':
			set, size := parseSet(rest, fold)
			if set == nil {
				return nil, true
			}
			parts = append(parts, part{kind: oneOf, set: set})
			i += 1 + size
			continue
		case '\\':
			if rest == "" {
				return nil, true
			}
			c = rest[0] // to Git an upper-case one matches nothing if fold is true
			i++
		default:
			if fold {
				c = lowerByte(c)
			}
		}
		parts = append(parts, part{char: c})
		i++
	}
	return parts, false
}

// anyByte has what can be in a name.
var anyByte = func() *byteSet {
	var set byteSet
	set.complement()
	return &set
}()

// parseSet returns the set of a text that follows a [, and the size of its text, with the ]. It returns nil if there
// is none.
func parseSet(text string, fold bool) (*byteSet, int) {
	set := new(byteSet)
	i, closed := 0, 0 // where the ] is after the last "[:"
	negated := text != "" && (text[0] == '!' || text[0] == '^')
	if negated {
		i++
	}
	last := byte(0) // the character before, from which a range can begin
	for first := i; i < len(text) && (text[i] != ']' || i == first); i++ {
		c, isRange := text[i], false
		switch {
		case c == '[' && strings.HasPrefix(text[i+1:], ":"):
			if closed < i+2 { // it is looked for once, also if many follow each other
				next := strings.IndexByte(text[i+2:], ']')
				if next < 0 {
					return nil, 0
				}
				closed = i + 2 + next
			}
			if name, ok := strings.CutSuffix(text[i+2:closed], ":"); ok {
				in := classes[name]
				if in == nil {
					return nil, 0
				}
				for c := range byte(0x80) {
					if in(c) || fold && name == "upper" && 'a' <= c && c <= 'z' {
						set.add(c)
					}
				}
				i += len("[:") + len(name) + len(":")
				last = 0
				continue
			}
		case c == '-' && last != 0 && i+1 < len(text) && text[i+1] != ']':
			isRange = true
			i++
			c = text[i]
		}
		if c == '\\' {
			if i++; i == len(text) {
				return nil, 0
			}
			c = text[i]
		}
		if !isRange {
			set.add(c)
			last = c
			continue
		}
		for b := int(last); b <= int(c); b++ {
			set.add(byte(b))
			if fold {
				set.add(lowerByte(byte(b)))
			}
		}
		last = 0
	}
	if i >= len(text) {
		return nil, 0
	}
	if negated {
		set.complement()
	}
	set.remove('/')
	return set, i + 1
}

// classes are those of [:alpha:] and the like, in ASCII.
var classes = map[string]func(c byte) bool{
	"alnum":  func(c byte) bool { return isAlpha(c) || isDigit(c) },
	"alpha":  isAlpha,
	"blank":  func(c byte) bool { return c == ' ' || c == '\t' },
	"cntrl":  func(c byte) bool { return c < ' ' || c == 0x7f },
	"digit":  isDigit,
	"graph":  isGraph,
	"lower":  func(c byte) bool { return 'a' <= c && c <= 'z' },
	"print":  func(c byte) bool { return c == ' ' || isGraph(c) },
	"punct":  func(c byte) bool { return isGraph(c) && !isAlpha(c) && !isDigit(c) },
	"space":  func(c byte) bool { return c == ' ' || '\t' <= c && c <= '\r' },
	"upper":  func(c byte) bool { return 'A' <= c && c <= 'Z' },
	"xdigit": func(c byte) bool { return isDigit(c) || 'a' <= c|0x20 && c|0x20 <= 'f' },
}

func isAlpha(c byte) bool { return 'a' <= c|0x20 && c|0x20 <= 'z' }
func isDigit(c byte) bool { return '0' <= c && c <= '9' }
func isGraph(c byte) bool { return '!' <= c && c <= '~' }

// matches reports whether a path is one of the pattern's. If fold is true it has lower case.
func (p *pattern) matches(path string, isDir, fold bool) bool {
	g := &p.plain
	if fold {
		g = &p.folded
	}
	if g.never || p.folder && !isDir {
		return false
	}
	if p.name {
		path = path[strings.LastIndexByte(path, '/')+1:]
	}
	rest, ok := strings.CutPrefix(path, g.prefix)
	return ok && match(g.parts, rest)
}

// match reports whether all of a text is as parts have it. A star first stands for as little as it can, and for more
// if what follows fails. Only the last star of each kind is tried again: where a later one begins depends on
// the slashes between, or it can have what an earlier one would.
func match(parts []part, text string) bool {
	type try struct{ part, at int }
	none := try{-1, 0}
	last, lastDeep := none, none
	for i, at := 0, 0; i < len(parts) || at < len(text); {
		if i < len(parts) {
			switch p := &parts[i]; {
			case p.kind == star:
				last = try{i, at}
				i++
				continue
			case p.kind == deep, p.kind == folders:
				last, lastDeep = none, try{i, at}
				i++
				continue
			case at < len(text) && (p.kind == oneChar && p.char == text[at] || p.kind == oneOf && p.set.has(text[at])):
				i++
				at++
				continue
			}
		}
		switch {
		case last != none && last.at < len(text) && text[last.at] != '/':
			last.at++
			i, at = last.part+1, last.at
		case lastDeep != none && lastDeep.at < len(text):
			skip := 1
			if parts[lastDeep.part].kind == folders {
				if skip = strings.IndexByte(text[lastDeep.at:], '/') + 1; skip == 0 {
					return false
				}
			}
			lastDeep.at += skip
			last = none
			i, at = lastDeep.part+1, lastDeep.at
		default:
			return false
		}
	}
	return true
}
