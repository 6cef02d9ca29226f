// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package main

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

// What became of a mutant.
const (
	covered    = "RUNNABLE" // not yet tested
	killed     = "KILLED"
	timedOut   = "TIMED OUT" // also counts as killed
	lived      = "LIVED"
	notCovered = "NOT COVERED"
	notViable  = "NOT VIABLE" // does not compile
)

// A mutant is a file in which old, at offset, is replaced by text.
type mutant struct {
	status    string
	file      string
	line      int
	kind      string
	offset    int
	old, text string
	source    string // the line in the file
	by        string // the test that killed it
	number    int    // of its copy in a schema, from 1 on
}

func (m *mutant) String() string {
	return fmt.Sprintf("%s\t%s:%d\t%s\t%d\t%q\t%q\t%s\t%s",
		m.status, m.file, m.line, m.kind, m.offset, m.old, m.text, m.source, m.by)
}

// readMutants returns the mutants of the matching files, by file and offset. A minus that becomes
// a plus is listed twice by gremlins, as ARITHMETIC_BASE and INVERT_NEGATIVES, but is one mutant.
func readMutants(name string, match *regexp.Regexp) ([]*mutant, error) {
	data, err := os.ReadFile(name)
	if err != nil {
		return nil, err
	}
	read := readLived
	if strings.HasSuffix(name, ".json") {
		read = readGremlins
	}
	list, err := read(data, match)
	slices.SortStableFunc(list, func(a, b *mutant) int {
		return cmp.Or(cmp.Compare(filepath.Dir(a.file), filepath.Dir(b.file)), cmp.Compare(a.file, b.file), cmp.Compare(a.offset, b.offset), cmp.Compare(a.text, b.text))
	})
	return slices.CompactFunc(list, func(a, b *mutant) bool {
		return a.file == b.file && a.offset == b.offset && a.text == b.text
	}), err
}

// readLived reads the mutants that lived from the output of this command.
func readLived(data []byte, match *regexp.Regexp) ([]*mutant, error) {
	var list []*mutant
	for line := range strings.Lines(string(data)) {
		fields := strings.Split(strings.TrimSuffix(line, "\n"), "\t")
		if fields[0] != lived || len(fields) < 8 {
			continue
		}
		m := &mutant{status: covered, kind: fields[2], source: fields[6]}
		position := strings.ReplaceAll(fields[1], ":", " ")
		replacement := fmt.Sprint(position, " ", fields[3], " ", fields[4], " ", fields[5])
		if _, err := fmt.Sscanf(replacement, "%s %d %d %q %q", &m.file, &m.line, &m.offset, &m.old, &m.text); err != nil {
			return nil, fmt.Errorf("%s: %w", line, err)
		}
		if match.MatchString(m.file) {
			list = append(list, m)
		}
	}
	return list, nil
}

// readGremlins reads the output of gremlins.
func readGremlins(data []byte, match *regexp.Regexp) ([]*mutant, error) {
	var output struct {
		Files []struct {
			Name      string `json:"file_name"`
			Mutations []struct {
				Type, Status string
				Line, Column int
			}
		}
	}
	if err := json.Unmarshal(data, &output); err != nil {
		return nil, err
	}
	var list []*mutant
	for _, f := range output.Files {
		if !match.MatchString(f.Name) {
			continue
		}
		source, err := os.ReadFile(f.Name)
		if err != nil {
			return nil, err
		}
		lines := bytes.SplitAfter(source, []byte("\n"))
		for _, g := range f.Mutations {
			m := &mutant{status: g.Status, file: f.Name, line: g.Line, kind: g.Type}
			m.offset = len(bytes.Join(lines[:g.Line-1], nil)) + g.Column - 1
			m.source = strings.TrimSpace(string(lines[g.Line-1]))
			rest := string(source[m.offset:])
			for old, text := range replacements[m.kind] {
				if len(old) > len(m.old) && strings.HasPrefix(rest, old) {
					m.old, m.text = old, text
				}
			}
			if m.old == "" {
				return nil, fmt.Errorf("%s:%d:%d: no operator of %s", f.Name, g.Line, g.Column, g.Type)
			}
			list = append(list, m)
		}
	}
	return list, nil
}

// replacements is the table of gremlins v0.6.0.
var replacements = map[string]map[string]string{
	"ARITHMETIC_BASE":         {"+": "-", "-": "+", "*": "/", "/": "*", "%": "*"},
	"CONDITIONALS_BOUNDARY":   {"<": "<=", "<=": "<", ">": ">=", ">=": ">"},
	"CONDITIONALS_NEGATION":   {"==": "!=", "!=": "==", "<": ">=", "<=": ">", ">": "<=", ">=": "<"},
	"INCREMENT_DECREMENT":     {"++": "--", "--": "++"},
	"INVERT_ASSIGNMENTS":      {"+=": "-=", "-=": "+=", "*=": "/=", "/=": "*=", "%=": "%="},
	"INVERT_BITWISE":          {"&": "|", "|": "&", "^": "&", "&^": "&", "<<": ">>", ">>": "<<"},
	"INVERT_BWASSIGN":         {"&=": "|=", "|=": "&=", "^=": "&=", "&^=": "&=", "<<=": ">>=", ">>=": "<<="},
	"INVERT_LOGICAL":          {"&&": "||", "||": "&&"},
	"INVERT_LOOPCTRL":         {"break": "continue", "continue": "break"},
	"INVERT_NEGATIVES":        {"-": "+"},
	"REMOVE_SELF_ASSIGNMENTS": {"+=": "=", "-=": "=", "*=": "=", "/=": "=", "%=": "=", "&=": "=", "|=": "=", "^=": "=", "&^=": "=", "<<=": "=", ">>=": "="},
}

// readFolder returns the removals of the matching files of a folder, except tests.
func readFolder(dir string, match *regexp.Regexp) (list []*mutant, err error) {
	files, err := filepath.Glob(filepath.Join(dir, "*.go"))
	for _, name := range files {
		if err == nil && match.MatchString(name) && !strings.HasSuffix(name, "_test.go") {
			var removed []*mutant
			removed, err = removals(name)
			list = append(list, removed...)
		}
	}
	return list, err
}

// eachStatement calls f for each statement in a block of a file, with its mutant, which has no new text yet.
func eachStatement(name, kind string, f func(s ast.Stmt, m *mutant, text func(ast.Node) string)) error {
	source, err := os.ReadFile(name)
	if err != nil {
		return err
	}
	set := token.NewFileSet()
	file, err := parser.ParseFile(set, name, source, 0)
	if err != nil {
		return err
	}
	text := func(n ast.Node) string {
		return string(source[set.Position(n.Pos()).Offset:set.Position(n.End()).Offset])
	}
	ast.Inspect(file, func(n ast.Node) bool {
		var block []ast.Stmt
		switch n := n.(type) {
		case *ast.BlockStmt:
			block = n.List
		case *ast.CaseClause:
			block = n.Body
		}
		for _, s := range block {
			at := set.Position(s.Pos())
			m := &mutant{status: covered, file: name, line: at.Line, kind: kind, offset: at.Offset, old: text(s)}
			m.source, _, _ = strings.Cut(m.old, "\n")
			f(s, m, text)
		}
		return true
	})
	return nil
}

// remove sets the new text of a mutant to nothing, except that the variables of the old one stay in use.
func (m *mutant) remove() *mutant {
	m.text = "if false {" + m.old + "}"
	return m
}

// removals returns, for each statement in a block, a mutant without it, except for declarations and
// statements with a block of their own.
func removals(name string) (list []*mutant, err error) {
	err = eachStatement(name, "STATEMENT_REMOVED", func(s ast.Stmt, m *mutant, _ func(ast.Node) string) {
		switch s := s.(type) {
		case *ast.BranchStmt:
			if s.Tok != token.FALLTHROUGH {
				m.remove()
			}
		case *ast.AssignStmt:
			if s.Tok == token.DEFINE {
				return
			}
			m.remove()
		case *ast.ExprStmt, *ast.DeferStmt, *ast.GoStmt, *ast.SendStmt, *ast.IncDecStmt:
			m.remove()
		default:
			return
		}
		list = append(list, m)
	})
	return list, err
}
