// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package main

import (
	"bytes"
	"embed"
	"encoding/json"
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"example.com/fastmac/internal/kernel/table"
)

// An overlay is files that a build has instead of those of the tree, or in addition to them, by their paths.
type overlay map[string][]byte

// write writes the files to a folder, and returns the name of the file for go build -overlay.
func (o overlay) write(folder string) (string, error) {
	var list struct{ Replace map[string]string }
	list.Replace = make(map[string]string)
	for name, content := range o {
		to := filepath.Join(folder, fmt.Sprintf("%d%s", len(list.Replace), filepath.Ext(name)))
		if err := os.WriteFile(to, content, 0o666); err != nil {
			return "", err
		}
		list.Replace[name] = to
	}
	text, err := json.Marshal(list)
	if err != nil {
		return "", err
	}
	name := filepath.Join(folder, "overlay.json")
	return name, os.WriteFile(name, text, 0o666)
}

// read returns a file as the overlay has it so far.
func (o overlay) read(name string) ([]byte, error) {
	if content, ok := o[name]; ok {
		return content, nil
	}
	return os.ReadFile(name)
}

// replaced has kernels in Go, by the folders of their packages.
//
//go:embed testdata/replaced
var replaced embed.FS

// portableTag takes the place of the tag purego in a build whose standard library has its assembly.
const portableTag = "fastmac_portable"

// overlayFor returns the overlay of a build with the tag, for the module in a folder. Kernels with instructions that
// valgrind lacks become calls of those that have the same contract, or what replaced has. Those in use are then
// the best ones, as on a CPU that has all these instructions. With the tag portableTag the module has what it has on
// architectures without assembly, such as s390x, and riscv64, which needs aligned words.
func overlayFor(root, tags string) (overlay, error) {
	o := make(overlay)
	if err := o.add(root); err != nil {
		return nil, err
	}
	if tags == portableTag {
		if err := o.edit(filepath.Join(root, "nh.go"), "needsAligned = ", "needsAligned = true || "); err != nil {
			return nil, err
		}
		return o, o.renameTag(root)
	}
	for folder, rows := range folders() {
		if slices.ContainsFunc(rows, isReplaced) {
			if err := o.replaceKernels(root, folder); err != nil {
				return nil, err
			}
		}
	}
	return o, nil
}

// folders returns the rows for amd64, by the folder of their package.
func folders() map[string][]table.Row {
	all := make(map[string][]table.Row)
	for _, r := range table.Rows {
		if r.GOARCH == "amd64" {
			all[r.Folder] = append(all[r.Folder], r)
		}
	}
	return all
}

// isReplaced reports whether valgrind lacks instructions of the functions of a row.
func isReplaced(r table.Row) bool {
	return slices.ContainsFunc(r.Classes, func(class string) bool { return class != "AVX2" })
}

// add adds the files of replaced, and takes askCPU from the package kernel of the tree.
func (o overlay) add(root string) error {
	const base = "testdata/replaced"
	err := fs.WalkDir(replaced, base, func(name string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		content, err := replaced.ReadFile(name)
		folder := filepath.Join(root, filepath.FromSlash(strings.TrimPrefix(path.Dir(name), base)))
		if folder != filepath.Join(root, "internal", "kernel") {
			content = append([]byte("//go:build amd64 && !purego && !"+portableTag+"\n\n"), content...)
		}
		o[filepath.Join(folder, "replaced_kernels.go")] = content
		return err
	})
	if err != nil {
		return err
	}
	for _, file := range []string{"cpuid_amd64.go", "cpuid_other.go"} {
		if err := o.edit(filepath.Join(root, "internal", "kernel", file), "func askCPU()", "func doNotAskCPU()"); err != nil {
			return err
		}
	}
	return nil
}

// edit replaces what a file has once.
func (o overlay) edit(name, from, to string) error {
	content, err := o.read(name)
	if err != nil {
		return err
	}
	if n := bytes.Count(content, []byte(from)); n != 1 {
		return fmt.Errorf("%s has %q %d times, want once", name, from, n)
	}
	o[name] = bytes.Replace(content, []byte(from), []byte(to), 1)
	return nil
}

var puregoTag = regexp.MustCompile(`(?m)^(//go:build .*)\bpurego\b`)

// renameTag makes portableTag mean what purego does, except to the constant kernel.Purego.
func (o overlay) renameTag(root string) error {
	return filepath.WalkDir(root, func(name string, entry fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case entry.IsDir() && name != root && (entry.Name() == "testdata" || isModule(name) || name == filepath.Join(root, "internal", "asm")):
			return fs.SkipDir
		case entry.IsDir(), !strings.HasSuffix(name, ".go") && !strings.HasSuffix(name, ".s"), strings.HasSuffix(name, "_test.go"):
			return nil
		case filepath.Dir(name) == filepath.Join(root, "internal", "kernel") && (entry.Name() == "purego.go" || entry.Name() == "asm.go"):
			return nil
		}
		content, err := o.read(name)
		if err != nil {
			return err
		}
		if puregoTag.Match(content) {
			o[name] = puregoTag.ReplaceAll(content, []byte("${1}"+portableTag))
		}
		return nil
	})
}

func isModule(folder string) bool {
	_, err := os.Stat(filepath.Join(folder, "go.mod"))
	return err == nil
}

// replaceKernels replaces kernels in a package, in its Go files and in its assembly.
func (o overlay) replaceKernels(root, folder string) error {
	names, err := filepath.Glob(filepath.Join(root, folder, "*_amd64.*"))
	if err != nil {
		return err
	}
	bodies := o[filepath.Join(root, folder, "replaced_kernels.go")]
	siblings := make(map[string]string) // functions that valgrind can run, by their layer and contract
	var declared []*ast.FuncDecl
	gone := make(map[string]bool)
	sources := make(map[string][]byte)
	in := make(map[*ast.FuncDecl]string)
	for _, name := range names {
		if sources[name], err = o.read(name); err != nil {
			return err
		}
		if filepath.Ext(name) != ".go" || strings.HasSuffix(name, "_test.go") {
			continue
		}
		file, err := parser.ParseFile(token.NewFileSet(), name, sources[name], parser.ParseComments|parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		for _, d := range file.Decls {
			f, ok := d.(*ast.FuncDecl)
			if !ok || f.Body != nil {
				continue
			}
			if row, err := table.Find("amd64", filepath.ToSlash(folder), f.Name.Name); err == nil && !isReplaced(*row.Row) {
				siblings[fmt.Sprint(row.Layer, row.Contract)] = f.Name.Name
			}
			declared, in[f] = append(declared, f), name
		}
	}
	// From the end of each file on: what is replaced does not move what is before it.
	for _, f := range slices.Backward(declared) {
		row, err := table.Find("amd64", filepath.ToSlash(folder), f.Name.Name)
		own := regexp.MustCompile(`(?m)^func ` + f.Name.Name + `\b`).Match(bodies)
		if err != nil || !own && !isReplaced(*row.Row) { // functions that jump to kernels are in no row
			continue
		}
		source, start, end := sources[in[f]], int(f.Pos())-1, int(f.End())-1
		if f.Doc != nil {
			start = int(f.Doc.Pos()) - 1
		}
		text := ""
		if !own {
			sibling, ok := siblings[fmt.Sprint(row.Layer, row.Contract)]
			if !ok {
				return fmt.Errorf("%s, in %s: testdata/replaced lacks it, and there is no kernel of that contract which valgrind can run", f.Name.Name, folder)
			}
			text = forward(string(source[f.Pos()-1:end]), sibling, f.Type)
		}
		sources[in[f]] = slices.Concat(source[:start], []byte(text), source[end:])
		gone[f.Name.Name] = true
	}
	for _, name := range names {
		if filepath.Ext(name) == ".s" {
			sources[name] = without(sources[name], gone)
		}
		o[name] = sources[name]
	}
	if len(gone) == 0 {
		return errors.New(folder + " has no kernel to replace")
	}
	return nil
}

// forward returns a function with this head, which calls another one with its arguments.
func forward(head, callee string, t *ast.FuncType) string {
	var args []string
	for _, field := range t.Params.List {
		for _, name := range field.Names {
			args = append(args, name.Name)
		}
	}
	result := ""
	if t.Results != nil {
		result = "return "
	}
	return fmt.Sprintf("%s { %s%s(%s) }", head, result, callee, strings.Join(args, ", "))
}

var textName = regexp.MustCompile(`^TEXT ·(\w+)\(SB\)`)

// without returns assembly without functions.
func without(source []byte, functions map[string]bool) []byte {
	var kept []byte
	skip := false
	for line := range bytes.Lines(source) {
		if m := textName.FindSubmatch(line); m != nil {
			skip = functions[string(m[1])]
		} else if bytes.HasPrefix(line, []byte("DATA ")) || bytes.HasPrefix(line, []byte("GLOBL ")) {
			skip = false
		}
		if !skip {
			kept = append(kept, line...)
		}
	}
	return kept
}

// rootOf returns the folder of the root module, for a module that refers to it.
func rootOf(module string) (string, error) {
	cmd := exec.Command("go", "list", "-m", "-f", "{{.Dir}}", "example.com/fastmac")
	cmd.Dir = module
	out, err := cmd.Output()
	if err != nil {
		return "", fmt.Errorf("go list: %w", err)
	}
	return strings.TrimSpace(string(out)), nil
}
