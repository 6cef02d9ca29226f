// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package sums

import (
	"errors"
	"fmt"
	"io"
	"strings"

	"example.com/fastmac/cmd/fastmac/internal/list"
	"example.com/fastmac/cmd/fastmac/internal/tree"
	"github.com/git-lfs/wildmatch/v2"
)

// A pattern says what is left out of a folder, in the language of gitignore(5): the last pattern
// that matches a path decides. Paths are relative to the folder that is walked.
type pattern struct {
	match  *wildmatch.Wildmatch
	folded *wildmatch.Wildmatch // the same where a file is found in each case
	again  bool                 // "!": what it matches is not left out
	folder bool                 // a slash at the end: only folders match
}

// maxPattern is how long a pattern is at most, in bytes: no path is longer.
const maxPattern = 4096

// parsePattern returns a pattern, or an error if Git would match nothing with it, or something else than
// package wildmatch.
func parsePattern(text string) (pattern, error) {
	var p pattern
	if len(text) > maxPattern || strings.Contains(text, "\x00") {
		return p, fmt.Errorf("a pattern with more than %d bytes, or with a NUL", maxPattern)
	}
	glob, again := strings.CutPrefix(text, "!")
	glob, p.folder = strings.CutSuffix(glob, "/")
	p.again = again
	glob, err := checkGlob(glob)
	if err != nil {
		return p, fmt.Errorf("pattern %s: %w", list.Escape(text), err)
	}
	if !strings.Contains(glob, "/") {
		glob = "**/" + glob // a name is matched at any depth
	}
	glob = strings.TrimPrefix(glob, "/")
	p.match, p.folded = wildmatch.NewWildmatch(glob), wildmatch.NewWildmatch(glob, wildmatch.CaseFold)
	return p, nil
}

// CheckPattern returns an error if text is no pattern of Options.Exclude.
func CheckPattern(text string) error {
	_, err := parsePattern(text)
	return err
}

// special are the characters that have a meaning in a pattern.
const special = `\*?[]`

// checkGlob returns a pattern without backslashes that have no effect, or an error.
func checkGlob(glob string) (string, error) {
	var b strings.Builder
	for i := 0; i < len(glob); i++ {
		rest := glob[i:]
		switch {
		case rest[0] == '\\' && (len(rest) == 1 || rest[1] == '/'):
			return "", errors.New("a backslash before nothing")
		case rest[0] == '\\':
			if strings.IndexByte(special, rest[1]) >= 0 {
				b.WriteByte('\\')
			}
			b.WriteByte(rest[1])
			i++
			continue
		case strings.HasPrefix(rest, "//"):
			return "", errors.New("two slashes")
		case strings.HasPrefix(rest, "**"):
			if before, after := glob[:i], rest[2:]; before != "" && !strings.HasSuffix(before, "/") || after != "" && after[0] != '/' {
				return "", errors.New("** is not between slashes")
			} else if strings.HasSuffix(before, "**/") {
				return "", errors.New("**/**")
			}
			b.WriteString("**")
			i++
			continue
		case rest[0] == '[':
			class := classOf(rest)
			if class == "" {
				return "", errors.New("want characters in [ and ], without [, \\ and /, and - only in a range")
			}
			b.WriteString(class)
			i += len(class) - 1
			continue
		}
		b.WriteByte(rest[0])
	}
	if strings.Trim(glob, "/") == "" {
		return "", errors.New("it has no name")
	}
	return b.String(), nil
}

// classOf returns the class of characters, such as [a-z] or [!0-9], with which text begins.
func classOf(text string) string {
	first := 1
	if len(text) > first && (text[first] == '!' || text[first] == '^') {
		first++
	}
	end := strings.IndexByte(text[first:], ']')
	if end < 1 || strings.ContainsAny(text[first:first+end], `[\/`) {
		return ""
	}
	chars := []rune(text[first : first+end])
	for i, c := range chars {
		// What these mean differs between Git and package wildmatch.
		if c == '-' && (i == 0 || i+1 == len(chars) || chars[i-1] > chars[i+1] || i > 1 && chars[i-2] == '-') {
			return ""
		}
	}
	return text[:first+end+1]
}

// parsePatterns returns the patterns, and nil if there are none.
func parsePatterns(texts []string) (all []pattern, err error) {
	for _, text := range texts {
		p, err := parsePattern(text)
		if err != nil {
			return nil, err
		}
		all = append(all, p)
	}
	return all, nil
}

// A skipFunc reports whether a path is left out, whose parents are not. A nil one leaves out nothing.
type skipFunc func(path string, isDir bool) bool

// skipper returns what patterns leave out. If fold is true, case makes no difference.
func skipper(all []pattern, fold bool) skipFunc {
	if len(all) == 0 {
		return nil
	}
	return func(path string, isDir bool) bool {
		for i := len(all) - 1; i >= 0; i-- {
			p := &all[i]
			match := p.match
			if fold {
				match = p.folded
			}
			if (isDir || !p.folder) && match.Match(path) {
				return !p.again
			}
		}
		return false
	}
}

// skipperIn returns what patterns leave out of a folder. Case makes a difference if it does so for the folder,
// as in Git.
func skipperIn(folder string, all []pattern) skipFunc {
	return skipper(all, len(all) > 0 && tree.FoldsCase(folder))
}

// skips reports whether a path, or one of its folders, is left out.
func skips(skip skipFunc, path string, isDir bool) bool {
	if skip == nil {
		return false
	}
	for i, c := range []byte(path) {
		if c == '/' && skip(path[:i], true) {
			return true
		}
	}
	return skip(path, isDir)
}

// readPatterns returns the patterns in the text of a file such as .gitignore: a line each, without
// spaces at the end, except for empty ones and comments.
func readPatterns(in io.Reader) (texts []string, err error) {
	lines, err := list.ReadNames(in, '\n', true)
	for _, line := range lines {
		for strings.HasSuffix(line, " ") && !strings.HasSuffix(line, `\ `) {
			line = line[:len(line)-1]
		}
		if line != "" && line[0] != '#' {
			texts = append(texts, line)
		}
	}
	return texts, err
}
