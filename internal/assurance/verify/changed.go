// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package main

import (
	"bytes"
	"fmt"
	"go/types"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strings"

	"example.com/fastmac/internal/assurance/machine"
	"example.com/fastmac/internal/assurance/program"
)

// A revision is an earlier tree of the module, with which this one is compared.
type revision struct {
	name     string
	programs map[*machine.Architecture]*program.Program
	all      string // if not "", why no function is left out
}

// newRevision returns a revision of the repository.
func newRevision(name string) (*revision, error) {
	commit, err := output("git", "rev-parse", "--verify", "--quiet", "--end-of-options", name+"^{commit}")
	if err != nil {
		return nil, fmt.Errorf("%s is no revision: %w", name, err)
	}
	root, err := program.Root()
	if err != nil {
		return nil, err
	}
	dir, err := os.MkdirTemp("", "fastmac-revision-")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	if _, err := output("git", "clone", "-q", "--shared", "--no-checkout", root, dir); err != nil {
		return nil, err
	}
	if _, err := output("git", "-C", dir, "checkout", "-q", "--detach", commit); err != nil {
		return nil, err
	}
	r := &revision{name: name, programs: make(map[*machine.Architecture]*program.Program)}
	folders, err := proofFolders()
	if err != nil {
		return nil, err
	}
	for _, folder := range folders {
		relative, err := filepath.Rel(root, folder)
		if err != nil {
			return nil, err
		}
		now, err := files(folder)
		if err != nil {
			return nil, err
		}
		// A folder that was not there has no files.
		if before, err := files(filepath.Join(dir, relative)); err != nil || !reflect.DeepEqual(now, before) {
			r.all = relative + " is not the same"
			return r, nil
		}
	}
	for _, a := range program.Architectures {
		if r.programs[a], err = loadIn(filepath.Join(dir, "internal", "assurance"), a); err != nil {
			r.all = "its program cannot be read: " + err.Error()
			return r, nil
		}
	}
	return r, nil
}

// same reports whether p has the functions and the choices that it has in r, and the proofs are the same.
func (r *revision) same(p *program.Program) bool {
	if r == nil || r.all != "" {
		return false
	}
	before := r.programs[p.Architecture]
	return len(changed(p, before)) == 0 && len(p.Functions) == len(before.Functions) && slices.EqualFunc(p.Choices, before.Choices, func(a, b *program.Choice) bool {
		return a.Pkg+"."+a.Name == b.Pkg+"."+b.Name && a.Best == b.Best && a.Above == b.Above
	})
}

// narrow returns a pattern for those functions of p that have changed since r, and prints how many they
// are. Without a revision it returns match.
func (r *revision) narrow(w io.Writer, p *program.Program, match *regexp.Regexp) *regexp.Regexp {
	switch {
	case r == nil:
		return match
	case r.all != "":
		fmt.Fprintf(w, "All functions are proved, because in %s %s\n\n", r.name, r.all)
		return match
	}
	names := changed(p, r.programs[p.Architecture])
	fmt.Fprintf(w, "%d of %d functions are proved. NOT PROVED are the other %d: they have the code, data and declarations of %s, and the proofs are the same\n\n",
		len(names), len(p.Functions), len(p.Functions)-len(names), r.name)
	return regexp.MustCompile("^(" + strings.Join(names, "|") + ")$") // without names it matches none
}

// proofFolders are those of the packages of the module that this command consists of, and of the
// go.mod with the versions of the others.
func proofFolders() ([]string, error) {
	const path = program.ModulePath + "/internal/assurance/verify"
	list, err := output("go", "list", "-deps", "-f", "{{with .Module}}{{if or .Main .Replace}}{{$.Dir}}{{end}}{{end}}", path)
	if err != nil {
		return nil, err
	}
	module, err := output("go", "list", "-f", "{{.Module.Dir}}", path)
	return append(strings.Fields(list), module), err
}

// files returns the files in a folder, except for tests and what is in its folders.
func files(folder string) (map[string]string, error) {
	entries, err := os.ReadDir(folder)
	if err != nil {
		return nil, err
	}
	found := make(map[string]string)
	for _, e := range entries {
		if e.IsDir() || strings.HasSuffix(e.Name(), "_test.go") {
			continue
		}
		b, err := os.ReadFile(filepath.Join(folder, e.Name()))
		if err != nil {
			return nil, err
		}
		found[e.Name()] = string(b)
	}
	return found, nil
}

// loadIn returns the program of the tree that a folder is in.
func loadIn(folder string, a *machine.Architecture) (*program.Program, error) {
	here, err := os.Getwd()
	if err != nil {
		return nil, err
	}
	if err := os.Chdir(folder); err != nil {
		return nil, err
	}
	p, err := program.Load(a, nil)
	if back := os.Chdir(here); err == nil {
		err = back
	}
	return p, err
}

// output returns what a command prints, without the space around it. It has no variables of git: a hook
// has some, such as GIT_DIR, and with them git would work in another repository than its folder says.
func output(name string, args ...string) (string, error) {
	cmd := exec.Command(name, args...)
	cmd.Env = slices.DeleteFunc(os.Environ(), func(v string) bool { return strings.HasPrefix(v, "GIT_") })
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		err = fmt.Errorf("%s %s: %w: %s", name, strings.Join(args, " "), err, stderr.Bytes())
	}
	return strings.TrimSpace(string(out)), err
}

// changed returns the names of the functions of p of which the proofs may say something else than of
// those of an earlier program. For all others the proofs have the same: instructions, the data with the
// addresses that these have, and the declaration with the types in it.
func changed(p, before *program.Program) (names []string) {
	earlier := make(map[string]*machine.Function)
	for _, f := range before.Functions {
		earlier[f.Pkg+"."+f.Name] = f
	}
	for _, f := range p.Functions {
		name := f.Pkg + "." + f.Name
		g := earlier[name]
		if g == nil || !reflect.DeepEqual(contentOf(p, f), contentOf(before, g)) || describe(p.Declared[name]) != describe(before.Declared[name]) {
			names = append(names, f.Name)
		}
	}
	return names
}

// A content is a function, wherever it is and its data are.
type content struct {
	frame, arguments, results int64
	code                      []machine.Instruction
	data                      []datum
}

// A datum is what an instruction has the address of.
type datum struct {
	offset   uint64 // of the address in it
	bytes    string
	constant bool
}

func contentOf(p *program.Program, f *machine.Function) content {
	c := content{frame: f.Frame, arguments: f.Arguments, results: f.Results}
	for _, original := range f.Code {
		i := *original
		switch {
		case i.Flow == machine.Fill: // among them the first half of an address of arm64
			i.Operands = nil
		case i.Jumps():
			i.Target = uint64(f.At[i.Target])
		case i.Flow == machine.Call:
			i.Target = 0 // there is one, of the runtime
		}
		i.Address, i.Bytes, i.Text = 0, nil, ""
		i.Operands = append([]machine.Operand(nil), i.Operands...)
		for k := range i.Operands {
			o := &i.Operands[k]
			absolute := o.Kind == machine.Memory && o.Base == machine.None && o.Index == machine.None && !o.Thread
			if absolute || i.Mnemonic == "adr" && o.Kind == machine.Immediate {
				d := p.At(o.Number)
				c.data = append(c.data, datum{o.Number - d.Address, string(d.Bytes), d.Constant})
				o.Number = 0
			}
		}
		c.code = append(c.code, i)
	}
	return c
}

// describe returns a type with all types in it.
func describe(t types.Type) string {
	var b strings.Builder
	seen := make(map[string]bool)
	var walk func(t types.Type)
	walk = func(t types.Type) {
		switch t := t.(type) {
		case *types.Named:
			name := t.String()
			b.WriteString(name)
			if !seen[name] {
				seen[name] = true
				b.WriteByte('=')
				walk(t.Underlying())
			}
		case *types.Alias:
			walk(types.Unalias(t))
		case *types.Pointer:
			b.WriteByte('*')
			walk(t.Elem())
		case *types.Slice:
			b.WriteString("[]")
			walk(t.Elem())
		case *types.Array:
			fmt.Fprintf(&b, "[%d]", t.Len())
			walk(t.Elem())
		case *types.Struct:
			b.WriteString("struct{")
			for field := range t.Fields() {
				b.WriteString(field.Name() + " ")
				walk(field.Type())
				b.WriteByte(';')
			}
			b.WriteByte('}')
		case *types.Signature:
			for _, list := range []*types.Tuple{t.Params(), t.Results()} {
				b.WriteByte('(')
				for v := range list.Variables() {
					b.WriteString(v.Name() + " ")
					walk(v.Type())
					b.WriteByte(',')
				}
				b.WriteByte(')')
			}
		default:
			fmt.Fprint(&b, t)
		}
	}
	walk(t)
	return b.String()
}
