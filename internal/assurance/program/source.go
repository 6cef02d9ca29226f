// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package program

import (
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"example.com/fastmac/internal/assurance/machine"
)

// A source is a function in a .s file.
type source struct {
	pkg, name string
	frame     int   // size of the frame
	arguments int64 // and results
	lines     []string
	labels    map[string]int // indices of lines
}

var textLine = regexp.MustCompile(`^TEXT ·(\w+)\(SB\), (?:NOSPLIT, )?\$(\d+)-(\d+)$`)

var labelLine = regexp.MustCompile(`^\w+:$`)

// includes are lines that a .s file may have. The go command makes go_asm.h.
var includes = []string{`#include "textflag.h"`, `#include "go_asm.h"`}

// wordLine is an instruction that the assembler lacks, in a comment.
var wordLine = regexp.MustCompile(`^WORD\s\$0x[0-9a-f]{8} // [^\\]*$`)

// readSources returns the functions of all .s files for an architecture in the module with the folder root.
// Of each function there must be one, in all builds but those with the tag purego.
func readSources(a *machine.Architecture, root string, replaced map[string]string) (sources []source, err error) {
	err = filepath.WalkDir(root, func(name string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		relative, err := filepath.Rel(root, name)
		if err != nil || d.IsDir() {
			return err
		}
		others := slices.ContainsFunc(Architectures, func(b *machine.Architecture) bool {
			return b != a && strings.HasSuffix(name, "_"+b.Name+".s")
		})
		if others {
			return nil
		}
		switch ext := filepath.Ext(name); {
		case filepath.Base(name) == "textflag.h" || filepath.Base(name) == "go_asm.h":
			return fmt.Errorf("%s: in place of Go's", relative)
		case ext == ".syso":
			return fmt.Errorf("%s: code without a source", relative)
		case ext != ".s":
			return nil
		case !strings.HasSuffix(name, "_"+a.Name+".s") || strings.Count(filepath.Base(name), "_") > 1:
			return fmt.Errorf("%s: want a name that all builds for %s include", relative, a.Name)
		}
		text, ok := replaced[filepath.ToSlash(relative)]
		if !ok {
			b, err := os.ReadFile(name)
			if err != nil {
				return err
			}
			text = string(b)
		}
		functions, err := parseSource(text)
		if err != nil || len(functions) == 0 {
			return fmt.Errorf("%s: %d functions, error %v", relative, len(functions), err)
		}
		for _, s := range functions {
			s.pkg = path.Join(ModulePath, filepath.ToSlash(filepath.Dir(relative)))
			if slices.ContainsFunc(sources, func(t source) bool { return t.pkg == s.pkg && t.name == s.name }) {
				return fmt.Errorf("%s: %s is there twice", relative, s.name)
			}
			sources = append(sources, s)
		}
		return nil
	})
	return sources, err
}

// parseSource returns the functions of a .s file.
func parseSource(file string) (functions []source, err error) {
	for line := range strings.Lines(file) {
		line = strings.TrimSpace(line)
		switch m := textLine.FindStringSubmatch(line); {
		case m != nil:
			s := source{name: m[1], labels: make(map[string]int)}
			fmt.Sscan(m[2], &s.frame)
			fmt.Sscan(m[3], &s.arguments)
			functions = append(functions, s)
		case strings.HasPrefix(line, "TEXT"):
			return nil, fmt.Errorf("cannot parse %q", line)
		case strings.HasPrefix(line, "//go:build") && line != "//go:build !purego" || strings.HasPrefix(line, "#") && !slices.Contains(includes, line):
			return nil, fmt.Errorf("%q: other builds may have other code", line)
		case !strings.HasPrefix(line, "//") && !strings.HasPrefix(line, "#") && !wordLine.MatchString(line) && (strings.ContainsAny(line, "#;\\\r") || strings.Contains(line, "/*") || strings.Contains(line, "//")):
			return nil, fmt.Errorf("%q: want one statement, without a comment or a macro", line)
		case line == "" || strings.HasPrefix(line, "//") || strings.HasPrefix(line, "#") ||
			slices.Contains([]string{"DATA", "GLOBL", "PCALIGN"}, strings.Fields(line)[0]):
		default:
			last := &functions[len(functions)-1]
			if label, ok := strings.CutSuffix(line, ":"); ok && labelLine.MatchString(line) {
				last.labels[label] = len(last.lines)
			} else {
				last.lines = append(last.lines, line)
			}
		}
	}
	return functions, nil
}
