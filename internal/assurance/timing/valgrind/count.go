// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package main

import (
	"bytes"
	_ "embed"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// plantPackage is what counted functions and planted branches use.
//
//go:embed testdata/plant/plant.go
var plantPackage []byte

// addPlant adds this package, and has the probe call its functions when an operation begins, and at the end.
func (o overlay) addPlant(root string) error {
	o[filepath.Join(root, "internal", "plant", "plant.go")] = plantPackage
	probe := filepath.Join(root, "internal", "assurance", "timing", "valgrind", "probe", "main.go")
	for from, to := range map[string]string{
		"\tfor _, o := range operations {\n": "\tclear(plant.Ran[:])\n\tfor _, o := range operations {\n",
		"\t\to.run()\n":                      "\t\tplant.Start()\n\t\to.run()\n",
		"\tleak()\n\tjson":                   "\tif unmarked {\n\t\tplant.PrintRan()\n\t}\n\tleak()\n\tjson",
	} {
		if err := o.edit(probe, from, to); err != nil {
			return err
		}
	}
	o[probe] = withImport(o[probe])
	return nil
}

// withImport imports package plant, without another line.
func withImport(source []byte) []byte {
	clause := bytes.Index(source, []byte("\npackage ")) + 1
	end := clause + bytes.IndexByte(source[clause:], '\n')
	return slices.Concat(source[:end], []byte(`; import plant "example.com/fastmac/internal/plant"`), source[end:])
}

// count makes all functions of the files count that they run. It returns their names, by their numbers.
func (o overlay) count(root string, files []string) (names []string, err error) {
	for _, file := range files {
		source, err := o.read(file)
		if err != nil {
			return nil, err
		}
		functions, err := functionsIn(root, file, source)
		if err != nil {
			return nil, err
		}
		if len(functions) == 0 {
			continue
		}
		var text []byte
		last := 0
		for _, f := range functions {
			body := int(f.decl.Body.Lbrace) // after it
			text = append(text, source[last:body]...)
			text = fmt.Appendf(text, " plant.Ran[%d] = true; ", len(names))
			last = body
			names = append(names, f.name)
		}
		o[file] = withImport(append(text, source[last:]...))
	}
	return names, o.addPlant(root)
}

// counted runs the probe in a variant, outside valgrind, where nothing is secret, and returns the names of the functions
// that its operations call. Kernels that valgrind lacks are always replaced, and in use where the variant has them.
func (v variant) counted(root, folder string, files []string) (ran []string, err error) {
	o, err := overlayFor(root, v.tags)
	if err != nil {
		return nil, err
	}
	names, err := o.count(root, files)
	if err != nil {
		return nil, err
	}
	program := filepath.Join(folder, "counted"+v.tags)
	if _, err := os.Stat(program); err != nil {
		if err := v.buildWith("", program, o); err != nil {
			return nil, err
		}
	}
	debug := v.godebug
	if !v.overlay {
		debug += ",cpu.avx512f=off,cpu.vaes=off,cpu.sha=off"
	}
	cmd := exec.Command(program, "unmarked")
	cmd.Env = append(os.Environ(), "GODEBUG="+strings.Trim(debug, ","))
	var out bytes.Buffer
	cmd.Stderr = &out
	if err := cmd.Run(); err != nil {
		return nil, fmt.Errorf("the probe: %w: %s", err, &out)
	}
	for line := range strings.Lines(out.String()) { // the runtime may print lines too
		if i, err := strconv.Atoi(strings.TrimSpace(line)); err == nil && i < len(names) {
			ran = append(ran, names[i])
		}
	}
	return ran, nil
}

// checkFunctions runs the probe in the variants and prints how many functions it calls. It fails if one that may have
// secrets is not called.
func checkFunctions(w io.Writer, variants []variant) error {
	folder, err := os.MkdirTemp("", "fastmac-valgrind-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(folder)
	root, err := rootOf("")
	if err != nil {
		return err
	}
	files, err := sources("")
	if err != nil {
		return err
	}
	ran := make(map[string]bool)
	for _, v := range variants {
		if v.goamd64 != "" { // the same functions
			continue
		}
		names, err := v.counted(root, folder, files)
		if err != nil {
			return fmt.Errorf("%s: %w", v.name, err)
		}
		for _, name := range names {
			ran[name] = true
		}
	}
	all, err := functions(root, files)
	if err != nil {
		return err
	}
	public := public()
	findings := missing(all, ran, public)
	without := 0
	for _, name := range all {
		if isPublic(public, name) {
			without++
		}
	}
	fmt.Fprintf(w, "%6d  functions, without those that have no secrets, which are %d others\n", len(all)-without, without)
	if len(findings) > 0 {
		return errors.New(strings.Join(findings, "\n"))
	}
	return nil
}
