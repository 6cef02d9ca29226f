// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package sums

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"example.com/fastmac/cmd/fastmac/internal/list"
	"example.com/fastmac/cmd/fastmac/internal/tree"
)

// CheckPattern returns an error if text is no pattern of Options.Exclude.
func CheckPattern(text string) error {
	_, err := parsePattern(text)
	return err
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

// skipper returns what patterns leave out: the last one that matches decides. If fold is true, case makes no
// difference.
func skipper(all []pattern, fold bool) skipFunc {
	if len(all) == 0 {
		return nil
	}
	return func(path string, isDir bool) bool {
		if fold {
			path = lower(path)
		}
		decided, skip := false, false
		for i := len(all) - 1; i >= 0; i-- {
			switch p := &all[i]; {
			case decided && !p.watched: // nor is one before it
				return skip
			case decided && p.used:
			case p.matches(path, isDir, fold):
				if p.used = true; !decided {
					decided, skip = true, !p.again
				}
			case !p.used:
				for j := range p.meant {
					q := &p.meant[j]
					q.used = q.used || q.matches(path, isDir, fold)
				}
			}
		}
		return skip
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

// watch notes which patterns match something in the folders. Of others [unmatched] tells.
func watch(all []pattern, at tree.Places, folders []string) {
	for i := range all {
		p := &all[i]
		p.watched = true
		for _, text := range meant(p.text, at, folders) {
			if q, err := parsePattern(text); err == nil && text != p.text {
				p.meant = append(p.meant, q)
			}
		}
	}
}

// unmatched returns a warning for each pattern that has matched nothing, with what may have been meant if that would
// have matched something.
func unmatched(all []pattern) (warnings []string) {
	for i := range all {
		p := &all[i]
		if !p.watched || p.used {
			continue
		}
		warning := fmt.Sprintf(`--exclude "%s" matches nothing`, list.Printable(p.text))
		if i := slices.IndexFunc(p.meant, func(q pattern) bool { return q.used }); i >= 0 {
			warning += fmt.Sprintf(`; "%s" would`, list.Printable(p.meant[i].text))
		}
		warnings = append(warnings, warning)
	}
	return warnings
}

// meant returns what may be meant by a pattern that matches nothing: with slashes in place of backslashes, without
// the quotes that cmd.exe leaves, spaces at an end, "./", the path of the folder, or the slash at the end. The last
// one matches at any depth.
func meant(text string, at tree.Places, folders []string) (texts []string) {
	glob := strings.TrimPrefix(text, "!")
	mark := text[:len(text)-len(glob)]
	add := func(glob string) { texts = append(texts, mark+glob, mark+strings.TrimSuffix(glob, "/")) }
	glob = strings.TrimSpace(glob)
	if n := len(glob); n > 1 && strings.ContainsAny(glob[:1], `'"`) && glob[0] == glob[n-1] {
		glob = glob[1 : n-1]
	}
	glob = strings.ReplaceAll(glob, `\`, "/")
	add(glob)
	if strings.HasPrefix(glob, "./") {
		glob = path.Clean(glob)
		add("/" + glob)
	}
	for _, folder := range folders {
		for _, folder := range []string{path.Clean(filepath.ToSlash(folder)), at.Absolute(folder)} {
			if below, ok := strings.CutPrefix(glob, tree.WithSlash(folder)); ok {
				add("/" + below)
			}
		}
	}
	add("**/" + strings.TrimLeft(glob, "/"))
	return texts
}

// readPatterns returns the patterns in the text of a file such as .gitignore, as Git does: a line each, without
// spaces at the end, except for empty ones and comments.
func readPatterns(in io.Reader) (texts []string, err error) {
	r := bufio.NewReader(in)
	mark := []byte("\xef\xbb\xbf")
	if start, _ := r.Peek(len(mark)); bytes.Equal(start, mark) {
		r.Discard(len(mark))
	}
	return list.ReadNames(r, '\n', true, func(_ int, line []byte) ([]byte, error) {
		if line = trimSpaces(line); bytes.HasPrefix(line, []byte("#")) {
			line = nil
		}
		return line, nil
	})
}

// trimSpaces returns a line without the spaces at its end. One with a backslash before it stays, unless that has one
// itself.
func trimSpaces(line []byte) []byte {
	end := 0
	for i := 0; i < len(line); i++ {
		switch {
		case line[i] == '\\':
			i++
			end = min(i+1, len(line))
		case line[i] != ' ':
			end = i + 1
		}
	}
	return line[:end]
}
