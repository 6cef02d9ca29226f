// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package main

import (
	"bytes"
	"context"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
)

// This file builds a module for another checkout, whose path is that of this module and "/old": there
// this program may use internal packages of both. It has the checkout's packages under that path, the
// operations of this tree for them, and this program.

var goMod = regexp.MustCompile(`(?m)^module (\S+)$`)

// runOld runs this program with a second tree: a folder, or a revision of git.
func runOld(ctx context.Context, old string, args []string) error {
	root, err := output(ctx, "", "go", "list", "-m", "-f", "{{.Dir}}")
	if err != nil {
		return err
	}
	temp, err := os.MkdirTemp("", "compare-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(temp)
	folder := old
	if _, err := os.Stat(filepath.Join(old, "go.mod")); err != nil {
		folder = filepath.Join(temp, "checkout")
		archive := filepath.Join(temp, "tar")
		if _, err := output(ctx, root, "git", "archive", "-o", archive, old); err != nil {
			return err
		}
		if err := os.Mkdir(folder, 0o777); err != nil {
			return err
		}
		if _, err := output(ctx, folder, "tar", "-xf", archive); err != nil {
			return err
		}
	}
	program := filepath.Join(temp, "compare.exe")
	if err := buildOld(ctx, root, folder, old, filepath.Join(temp, "module"), program); err != nil {
		return err
	}
	cmd := exec.CommandContext(ctx, program, args...)
	cmd.Stdout, cmd.Stderr = os.Stdout, os.Stderr
	return cmd.Run()
}

// buildOld makes the module in the folder into, and the program.
func buildOld(ctx context.Context, root, old, name, into, program string) error {
	current, err := modulePath(root)
	if err != nil {
		return err
	}
	path, err := modulePath(old)
	if err != nil {
		return err
	}
	moved := current + "/old"
	operations := filepath.Join("internal", "compare", "operations")
	rename := func(from string) *strings.Replacer {
		return strings.NewReplacer(`"`+from+`"`, `"`+moved+`"`, `"`+from+`/`, `"`+moved+`/`)
	}
	if err := copyPackages(old, into, "", rename(path)); err != nil {
		return err
	}
	if err := os.RemoveAll(filepath.Join(into, "internal", "compare")); err != nil {
		return err
	}
	if err := copyPackages(root, into, filepath.Dir(operations), strings.NewReplacer()); err != nil {
		return err
	}
	if err := copyPackages(root, into, operations, rename(current)); err != nil {
		return err
	}
	second := fmt.Sprintf(`package main

import (
	"%s/internal/compare/operations"
	old "%s/internal/compare/operations"
)

func init() {
	trees = append(trees, tree{%q, func(layer int) (all []operations.Operation) {
		for _, o := range old.All(layer) {
			all = append(all, operations.Operation(o))
		}
		return all
	}, old.Kernels, old.Select})
}
`, current, moved, name)
	if err := os.WriteFile(filepath.Join(into, "internal", "compare", "second.go"), []byte(second), 0o666); err != nil {
		return err
	}
	// The old one's requirements, and this module as it is.
	mod, err := os.ReadFile(filepath.Join(old, "go.mod"))
	if err != nil {
		return err
	}
	mod = goMod.ReplaceAll(mod, []byte("module "+moved))
	mod = fmt.Appendf(mod, "\nrequire %s v0.0.0\nreplace %[1]s => %s\n", current, filepath.ToSlash(root))
	if err := os.WriteFile(filepath.Join(into, "go.mod"), mod, 0o666); err != nil {
		return err
	}
	var sums []byte
	for _, folder := range []string{old, root} {
		sum, err := os.ReadFile(filepath.Join(folder, "go.sum"))
		if err != nil {
			return err
		}
		sums = append(sums, sum...)
	}
	if err := os.WriteFile(filepath.Join(into, "go.sum"), sums, 0o666); err != nil {
		return err
	}
	_, err = output(ctx, into, "go", "build", "-mod=mod", "-o", program, "./internal/compare")
	return err
}

func modulePath(folder string) (string, error) {
	mod, err := os.ReadFile(filepath.Join(folder, "go.mod"))
	if err != nil {
		return "", err
	}
	m := goMod.FindSubmatch(mod)
	if m == nil {
		return "", fmt.Errorf("%s: no module line in go.mod", folder)
	}
	return string(m[1]), nil
}

// copyPackages copies what is built in a folder of a module and below, except for nested modules, with other paths of imports.
func copyPackages(from, to, folder string, imports *strings.Replacer) error {
	return filepath.WalkDir(filepath.Join(from, folder), func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(from, path)
		if err != nil {
			return err
		}
		if d.IsDir() {
			_, err := os.Stat(filepath.Join(path, "go.mod"))
			if rel != "." && (err == nil || strings.HasPrefix(d.Name(), ".") || d.Name() == "testdata") {
				return filepath.SkipDir
			}
			return nil
		}
		switch filepath.Ext(path) {
		case ".go":
			if strings.HasSuffix(path, "_test.go") {
				return nil
			}
		case ".s", ".h", ".txt": // .txt is embedded
		default:
			return nil
		}
		content, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		if filepath.Ext(path) == ".go" {
			content = []byte(imports.Replace(string(content)))
		}
		target := filepath.Join(to, rel)
		if err := os.MkdirAll(filepath.Dir(target), 0o777); err != nil {
			return err
		}
		return os.WriteFile(target, content, 0o666)
	})
}

// output returns what a command prints.
func output(ctx context.Context, folder, name string, args ...string) (string, error) {
	cmd := exec.CommandContext(ctx, name, args...)
	cmd.Dir = folder
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		return "", fmt.Errorf("%s: %w\n%s", strings.Join(cmd.Args, " "), err, bytes.TrimSpace(stderr.Bytes()))
	}
	return string(bytes.TrimSpace(out)), nil
}
