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
)

// A source is a function in a .s file, which avo has generated.
type source struct {
	pkg, name string
	frame     int // size of the frame
	lines     []string
	labels    map[string]int // indices of lines
}

var text = regexp.MustCompile(`^TEXT ·(\w+)\(SB\), (?:NOSPLIT, )?\$(\d+)-\d+$`)

// readSources returns the functions of all .s files of the module for amd64.
func readSources() (sources []source, err error) {
	root, err := output("go", "list", "-m", "-f", "{{.Dir}}", ModulePath)
	if err != nil {
		return nil, err
	}
	root = strings.TrimSpace(root)
	err = filepath.WalkDir(root, func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || filepath.Ext(name) != ".s" || strings.HasSuffix(name, "_arm64.s") {
			return err
		}
		b, err := os.ReadFile(name)
		if err != nil {
			return err
		}
		relative, err := filepath.Rel(root, filepath.Dir(name))
		if err != nil {
			return err
		}
		functions, err := parseSource(string(b))
		for _, s := range functions {
			s.pkg = path.Join(ModulePath, filepath.ToSlash(relative))
			sources = append(sources, s)
		}
		if err != nil || len(functions) == 0 {
			return fmt.Errorf("%s: %d functions, error %v", name, len(functions), err)
		}
		return nil
	})
	return sources, err
}

// parseSource returns the functions of a .s file.
func parseSource(file string) (functions []source, err error) {
	for line := range strings.Lines(file) {
		line = strings.TrimSpace(line)
		switch m := text.FindStringSubmatch(line); {
		case m != nil:
			s := source{name: m[1], labels: make(map[string]int)}
			fmt.Sscan(m[2], &s.frame)
			functions = append(functions, s)
		case strings.HasPrefix(line, "TEXT"):
			return nil, fmt.Errorf("cannot parse %q", line)
		case line == "" || strings.HasPrefix(line, "//") || strings.HasPrefix(line, "#") ||
			slices.Contains([]string{"DATA", "GLOBL", "PCALIGN"}, strings.Fields(line)[0]):
		default:
			last := &functions[len(functions)-1]
			if label, ok := strings.CutSuffix(line, ":"); ok {
				last.labels[label] = len(last.lines)
			} else {
				last.lines = append(last.lines, line)
			}
		}
	}
	return functions, nil
}
