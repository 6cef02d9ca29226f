// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

//go:build !purego && !race

package main

import (
	"fmt"
	"go/ast"
	"go/token"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// A planter puts branches into a file.
type planter struct {
	next  *int             // number of a branch, in all files
	texts map[int][]string // by where they stand in the file
	here  map[int][]int    // numbers
}

// plant inserts branches on variables.
func (p *planter) plant(at token.Pos, names ...string) {
	for _, name := range names {
		n := *p.next
		*p.next++
		offset := int(at) - 1
		p.texts[offset] = append(p.texts[offset], fmt.Sprintf("if plant.Left[%d] != 0 && plant.See(%[1]d, &%s)&1 != 0 { plant.Taken() }", n, name))
		p.here[offset] = append(p.here[offset], n)
	}
}

// A scope has the variables of a function that are declared so far.
type scope map[string]bool

func (s scope) add(exprs ...ast.Expr) (added []string) {
	for _, e := range exprs {
		if id, ok := e.(*ast.Ident); ok && id.Name != "_" {
			s[id.Name] = true
			added = append(added, id.Name)
		}
	}
	return added
}

// roots returns the variables that an expression is about, as k of &k.pad[2].
func (s scope) roots(exprs ...ast.Expr) (names []string) {
	for _, e := range exprs {
		switch e := e.(type) {
		case *ast.Ident:
			if s[e.Name] && !slices.Contains(names, e.Name) {
				names = append(names, e.Name)
			}
		case *ast.SelectorExpr:
			names = append(names, s.roots(e.X)...)
		case *ast.IndexExpr:
			names = append(names, s.roots(e.X)...)
		case *ast.SliceExpr:
			names = append(names, s.roots(e.X)...)
		case *ast.StarExpr:
			names = append(names, s.roots(e.X)...)
		case *ast.UnaryExpr:
			names = append(names, s.roots(e.X)...)
		case *ast.ParenExpr:
			names = append(names, s.roots(e.X)...)
		case *ast.CallExpr:
			names = append(names, s.roots(e.Fun)...)
			names = append(names, s.roots(e.Args...)...)
		}
	}
	slices.Sort(names)
	return slices.Compact(names)
}

func (s scope) fields(lists ...*ast.FieldList) (names []string) {
	for _, list := range lists {
		if list == nil {
			continue
		}
		for _, f := range list.List {
			for _, id := range f.Names {
				names = append(names, s.add(id)...)
			}
		}
	}
	return names
}

func (p *planter) function(s scope, recv *ast.FieldList, t *ast.FuncType, body *ast.BlockStmt) {
	s = maps.Clone(s)
	p.plant(body.Lbrace+1, s.fields(recv, t.Params)...)
	s.fields(t.Results)
	p.list(s, body.List)
}

// literals plants into the function literals of a node.
func (p *planter) literals(s scope, n ast.Node) {
	if n == nil {
		return
	}
	ast.Inspect(n, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.BlockStmt:
			return false
		case *ast.FuncLit:
			p.function(s, nil, n.Type, n.Body)
			return false
		}
		return true
	})
}

func (p *planter) list(s scope, stmts []ast.Stmt) {
	for _, stmt := range stmts {
		p.stmt(s, stmt)
	}
}

// declared adds the variables of the simple statement at the beginning of another one.
func (p *planter) declared(s scope, stmt ast.Stmt) []string {
	if a, ok := stmt.(*ast.AssignStmt); ok {
		p.literals(s, a)
		if a.Tok == token.DEFINE {
			return s.add(a.Lhs...)
		}
		return s.roots(a.Lhs...)
	}
	return nil
}

func (p *planter) stmt(s scope, stmt ast.Stmt) {
	switch x := stmt.(type) {
	case *ast.AssignStmt:
		p.plant(x.End(), p.declared(s, x)...)
	case *ast.DeclStmt:
		if d, ok := x.Decl.(*ast.GenDecl); ok && d.Tok == token.VAR {
			for _, spec := range d.Specs {
				p.literals(s, spec)
				for _, id := range spec.(*ast.ValueSpec).Names {
					s.add(id)
				}
			}
		}
	case *ast.ExprStmt:
		p.literals(s, x)
		if call, ok := x.X.(*ast.CallExpr); ok {
			if id, ok := call.Fun.(*ast.Ident); !ok || id.Name != "panic" { // after that it would not be the end of the function
				p.plant(x.End(), s.roots(call)...)
			}
		}
	case *ast.BlockStmt:
		p.list(maps.Clone(s), x.List)
	case *ast.LabeledStmt:
		p.stmt(s, x.Stmt)
	case *ast.IfStmt:
		s = maps.Clone(s)
		names := p.declared(s, x.Init)
		if call, ok := x.Cond.(*ast.CallExpr); ok {
			names = append(names, s.roots(call)...)
		}
		p.literals(s, x.Cond)
		p.plant(x.Body.Lbrace+1, names...)
		p.stmt(s, x.Body)
		if x.Else != nil {
			p.stmt(s, x.Else)
		}
	case *ast.ForStmt:
		s = maps.Clone(s)
		p.plant(x.Body.Lbrace+1, p.declared(s, x.Init)...)
		p.stmt(s, x.Body)
	case *ast.RangeStmt:
		s = maps.Clone(s)
		if x.Tok == token.DEFINE {
			p.plant(x.Body.Lbrace+1, s.add(x.Key, x.Value)...)
		}
		p.stmt(s, x.Body)
	case *ast.SwitchStmt:
		s = maps.Clone(s)
		names := p.declared(s, x.Init)
		for _, c := range x.Body.List {
			c := c.(*ast.CaseClause)
			p.plant(c.Colon+1, names...)
			p.list(maps.Clone(s), c.Body)
		}
	case *ast.TypeSwitchStmt:
		for _, c := range x.Body.List {
			p.list(maps.Clone(s), c.(*ast.CaseClause).Body)
		}
	case *ast.SelectStmt:
		for _, c := range x.Body.List {
			p.list(maps.Clone(s), c.(*ast.CommClause).Body)
		}
	case *ast.ReturnStmt, *ast.DeferStmt, *ast.GoStmt, *ast.SendStmt:
		p.literals(s, x)
	}
}

// file returns a file with branches, and the line of each.
func (p *planter) file(source []byte, f []function) (text []byte, lines map[int]int) {
	p.texts, p.here = make(map[int][]string), make(map[int][]int)
	for _, f := range f {
		p.function(scope{}, f.decl.Recv, f.decl.Type, f.decl.Body)
	}
	lines = make(map[int]int)
	line, last := 1, 0
	add := func(s string) {
		text = append(text, s...)
		line += strings.Count(s, "\n")
	}
	for _, at := range slices.Sorted(maps.Keys(p.texts)) {
		add(string(source[last:at]))
		last = at
		for i, t := range p.texts[at] {
			add("\n")
			lines[p.here[at][i]] = line
			add(t)
		}
		add("\n")
	}
	add(string(source[last:]))
	return text, lines
}

// A line is one of a file.
type line struct {
	file string
	n    int
}

// planted builds the probe of a variant with branches in all functions of the files. It returns the function of each
// branch.
func planted(t *testing.T, v variant, root, program string, files []string) map[line]string {
	t.Helper()
	o := make(overlay)
	if v.overlay {
		o = must(overlayFor(root, v.tags))(t)
	}
	functionAt := make(map[line]string)
	number := 0
	for _, file := range files {
		source := must(o.read(file))(t)
		p := planter{next: &number}
		text, lines := p.file(source, must(functionsIn(root, file, source))(t))
		if len(lines) == 0 {
			continue
		}
		o[file] = withImport(text)
		for _, f := range must(functionsIn(root, file, o[file]))(t) {
			for _, n := range lines {
				if f.first <= n && n <= f.last {
					functionAt[line{file, n}] = f.name
				}
			}
		}
	}
	if err := o.addPlant(root); err != nil {
		t.Fatal(err)
	}
	if err := v.buildWith("", program, o); err != nil {
		t.Fatal(err)
	}
	return functionAt
}

// TestBranches puts branches into all functions, on each of their variables where it is set. Memcheck must report one
// at least in each function that is not in public.txt, and none in the others.
func TestBranches(t *testing.T) {
	needTools(t)
	root := must(rootOf(""))(t)
	files := must(sources(""))(t)
	noticed := make(map[string]bool)
	programs := make(map[string]map[line]string)
	folder := t.TempDir()
	for _, v := range variants {
		if !v.planted {
			continue
		}
		program := filepath.Join(folder, fmt.Sprint("probe", v.tags, v.overlay))
		if programs[program] == nil {
			programs[program] = planted(t, v, root, program, files)
		}
		run := must(v.run(program))(t)
		branches, here := make(map[line]bool), make(map[string]bool)
		for _, r := range run.reports {
			at := line{r.top().file, r.top().line}
			if name := programs[program][at]; name != "" && r.kind == branch {
				branches[at], here[name], noticed[name] = true, true, true
			}
		}
		t.Logf("%s: %d branches planted, %d of them noticed, in %d functions; %.1f s", v.name, len(programs[program]), len(branches), len(here), run.cpu.Seconds())
	}
	all := must(functions(root, files))(t)
	public := public()
	n := 0
	for _, name := range all {
		switch {
		case isPublic(public, name):
			if noticed[name] {
				t.Errorf("%s has secrets, and is in public.txt", name)
			}
		case noticed[name]:
			n++
		default:
			t.Errorf("%s: no branch was noticed: let the probe call it with secrets, or give the reason in public.txt", name)
		}
	}
	t.Logf("%d functions, in %d of them a branch was noticed", len(all), n)
}
