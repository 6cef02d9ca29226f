// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package main

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"strings"
)

// variable is the environment variable with the number of the mutant.
const variable = "FASTMAC_MUTANT"

// A schema is a file with all its mutants, in functions that choose one when they are called.
type schema struct {
	source  string
	set     *token.FileSet
	parsed  *ast.File
	mutants map[*ast.FuncDecl][]*mutant
	wipes   []*mutant // which are made in place
}

func newSchema(file string) (*schema, error) {
	source, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	s := &schema{source: string(source), set: token.NewFileSet(), mutants: map[*ast.FuncDecl][]*mutant{}}
	s.parsed, err = parser.ParseFile(s.set, file, source, parser.ParseComments)
	return s, err
}

func (s *schema) offset(p token.Pos) int { return s.set.Position(p).Offset }

// add adds a mutant, and reports whether it is in a function that can call a copy of itself.
func (s *schema) add(m *mutant) bool {
	if m.kind == wipeRemoved {
		s.wipes = append(s.wipes, m)
		return true
	}
	for _, d := range s.parsed.Decls {
		f, ok := d.(*ast.FuncDecl)
		if !ok || f.Body == nil || m.offset < s.offset(f.Body.Pos()) || m.offset >= s.offset(f.End()) {
			continue
		}
		if _, ok := arguments(f); !ok || f.Name.Name == "init" {
			return false
		}
		s.mutants[f] = append(s.mutants[f], m)
		return true
	}
	return false
}

// arguments returns the arguments with which f calls its copy, and reports whether each
// has a name.
func arguments(f *ast.FuncDecl) (string, bool) {
	if f.Type.TypeParams != nil {
		return "", false
	}
	var args []string
	for _, field := range f.Type.Params.List {
		if len(field.Names) == 0 {
			return "", false
		}
		for _, name := range field.Names {
			arg := name.Name
			if arg == "_" {
				return "", false
			}
			if _, ok := field.Type.(*ast.Ellipsis); ok {
				arg += "..."
			}
			args = append(args, arg)
		}
	}
	if f.Recv != nil && (len(f.Recv.List[0].Names) == 0 || f.Recv.List[0].Names[0].Name == "_") {
		return "", false
	}
	return strings.Join(args, ", "), true
}

// print returns the source of the file with its mutants. The compiler reports an error in a copy as
// one in a file that is named after its mutant.
func (s *schema) print() string {
	if len(s.wipes) > 0 {
		return s.printInPlace()
	}
	var out, copies strings.Builder
	last := 0
	for _, d := range s.parsed.Decls {
		f, ok := d.(*ast.FuncDecl)
		if !ok || len(s.mutants[f]) == 0 {
			continue
		}
		args, _ := arguments(f)
		start, name, body, end := s.offset(f.Pos()), s.offset(f.Name.Pos()), s.offset(f.Body.Lbrace)+1, s.offset(f.End())
		if f.Doc != nil {
			start = s.offset(f.Doc.Pos()) // for its directives
		}
		out.WriteString(s.source[last:body])
		last = body
		fmt.Fprintf(&out, "switch %s {", variable)
		for _, m := range s.mutants[f] {
			if m.status != covered {
				continue
			}
			called := fmt.Sprintf("mutant%d%s", m.number, f.Name.Name) // not exported
			call := called + "(" + args + ")"
			if f.Recv != nil {
				call = f.Recv.List[0].Names[0].Name + "." + call
			}
			if f.Type.Results != nil {
				call = "return " + call
			} else {
				call += "; return"
			}
			fmt.Fprintf(&out, "case %d: %s; ", m.number, call)
			fmt.Fprintf(&copies, "\n//line mutant%d.go:1\n%s%s%s%s%s\n", m.number,
				s.source[start:name], called, s.source[name+len(f.Name.Name):m.offset], m.text, s.source[m.offset+len(m.old):end])
		}
		out.WriteString("};")
	}
	out.WriteString(s.source[last:])
	return out.String() + copies.String()
}

// printInPlace returns the source of the file with statements that a mutant replaces. Copies of functions would be
// other frames, and there are none of a generic function.
func (s *schema) printInPlace() string {
	var out strings.Builder
	last := 0
	for i := 0; i < len(s.wipes); {
		first := s.wipes[i]
		out.WriteString(s.source[last:first.offset])
		fmt.Fprintf(&out, "switch %s {", variable)
		for ; i < len(s.wipes) && s.wipes[i].offset == first.offset; i++ {
			fmt.Fprintf(&out, "case %d: %s; ", s.wipes[i].number, s.wipes[i].text)
		}
		fmt.Fprintf(&out, "default: %s; }", first.old)
		last = first.offset + len(first.old)
	}
	return out.String() + s.source[last:]
}

// chooser returns a file that reads the number of the mutant.
func (s *schema) chooser() string {
	return fmt.Sprintf(`package %s

import (
	"os"
	"strconv"
)

var %s = func() int { n, _ := strconv.Atoi(os.Getenv(%q)); return n }()
`, s.parsed.Name.Name, variable, variable)
}
