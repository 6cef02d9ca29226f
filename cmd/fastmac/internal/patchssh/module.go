// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package patchssh

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"runtime/debug"
	"strings"

	"example.com/fastmac/cmd/fastmac/internal/child"
	"example.com/fastmac/internal/sshpatch"
)

// A module is the user's module, as the go command sees it.
type module struct {
	goCommand string
	root      string // the folder of its go.mod
	workspace string // the go.work in use, or ""
	version   string // of x/crypto, or "" if go.mod has none
	vendored  bool   // the go command uses root/vendor
	replace   *replacement

	// scratch is a temporary folder. It has copies of go.mod and go.sum, for go
	// commands that must not change the module's own.
	scratch string
}

// A replacement is a replace line of go.mod.
type replacement struct {
	Old, New struct{ Path, Version string }
}

// findModule returns the module of the folder dir, of which it reads nothing.
func findModule(ctx context.Context, dir, scratch string) (*module, error) {
	if info, err := os.Stat(dir); err != nil {
		return nil, fmt.Errorf("-C: %w", err)
	} else if !info.IsDir() {
		return nil, fmt.Errorf("-C: %s is a file: want the folder of a module", dir)
	}
	goCommand, err := exec.LookPath("go")
	if err != nil {
		return nil, fmt.Errorf("no go command: %w", err)
	}
	m := &module{goCommand: goCommand, root: dir, scratch: scratch}
	var env struct{ GOMOD, GOWORK string }
	if err := m.goJSON(ctx, &env, "env", "-json", "GOMOD", "GOWORK"); err != nil {
		return nil, err
	}
	if env.GOMOD == "" || env.GOMOD == os.DevNull {
		return nil, fmt.Errorf("-C: no go.mod in %s or above it: want the folder of a module", dir)
	}
	m.root = filepath.Dir(env.GOMOD)
	if env.GOWORK != "off" {
		m.workspace = env.GOWORK
	}
	return m, nil
}

// load reads the module.
func (m *module) load(ctx context.Context) error {
	if err := m.readGoMod(ctx); err != nil {
		return err
	}
	// With -e it is not an error if x/crypto is unknown or its folder is missing.
	var crypto struct{ Version, GoMod string }
	err := m.goJSON(ctx, &crypto, "list", "-m", "-e", "-json", cryptoPath)
	m.version = crypto.Version
	// The vendor folder has no go.mod of x/crypto.
	m.vendored = crypto.GoMod == "" && exists(filepath.Join(m.root, "vendor", "modules.txt"))
	return err
}

// inWorkspace returns an error unless builds in the workspace use the copy in dir.
func (m *module) inWorkspace(ctx context.Context, dir string) error {
	var crypto struct {
		Version string
		Replace struct{ Dir string }
	}
	out, err := m.goRunWith(ctx, nil, "list", "-m", "-e", "-json", cryptoPath)
	if jsonErr := json.Unmarshal([]byte(out), &crypto); err == nil {
		err = jsonErr
	}
	if err == nil && crypto.Replace.Dir != dir {
		err = fmt.Errorf("it is in the module, but builds in the workspace %s use %s %s without it: "+
			"want this module in the workspace and none that requires a newer release, or GOWORK=off", m.workspace, cryptoPath, crypto.Version)
	}
	return err
}

// readGoMod reads go.mod, and copies it and go.sum to scratch.
func (m *module) readGoMod(ctx context.Context) error {
	for _, name := range []string{"go.mod", "go.sum"} {
		content, err := os.ReadFile(filepath.Join(m.root, name))
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
		if err := os.WriteFile(filepath.Join(m.scratch, name), content, 0o600); err != nil {
			return err
		}
	}
	var mod struct {
		Module  struct{ Path string }
		Replace []*replacement
	}
	if err := m.goJSON(ctx, &mod, "mod", "edit", "-json"); err != nil {
		return err
	}
	path := mod.Module.Path
	if path == cryptoPath {
		return fmt.Errorf("%s is %s itself: want a module that imports it", m.root, cryptoPath)
	}
	if info, ok := debug.ReadBuildInfo(); ok && path != "" && path == info.Main.Path {
		return fmt.Errorf("%s is the module of this command: want the folder of yours, with -C", m.root)
	}
	for _, r := range mod.Replace {
		if r.Old.Path != cryptoPath {
			continue
		}
		if m.replace != nil {
			return fmt.Errorf("go.mod has two replace lines for %s: want at most one", cryptoPath)
		}
		m.replace = r
	}
	return nil
}

// scratchMod is the go command's option to use the go.mod and go.sum in scratch.
func (m *module) scratchMod() string { return "-modfile=" + filepath.Join(m.scratch, "go.mod") }

// abs makes path absolute: a relative one begins at the module.
func (m *module) abs(path string) string {
	path = filepath.FromSlash(path)
	if !filepath.IsAbs(path) {
		path = filepath.Join(m.root, path)
	}
	return filepath.Clean(path)
}

// inside returns an error unless path is in the module, and no folder on the way or path itself
// is a link, behind which may be the files of others. What is not there yet is no link.
func (m *module) inside(path string) error {
	rel, err := filepath.Rel(m.root, path)
	if err != nil || !filepath.IsLocal(rel) {
		return fmt.Errorf("%s is outside of the module %s: want a folder in it", path, m.root)
	}
	at := m.root
	for name := range strings.SplitSeq(rel, string(filepath.Separator)) {
		at = filepath.Join(at, name)
		info, err := os.Lstat(at)
		if errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		if err != nil {
			return err
		}
		if info.Mode()&(fs.ModeSymlink|fs.ModeIrregular) != 0 { // the latter is a junction of Windows
			return fmt.Errorf("%s is a symbolic link, which patch-ssh does not follow", at)
		}
	}
	return nil
}

// download returns the folder of a version of x/crypto in the module cache. The go
// command downloads it if necessary.
func (m *module) download(ctx context.Context, version string) (string, error) {
	var result struct{ Dir, Error string }
	err := m.goJSON(ctx, &result, "mod", "download", "-json", m.scratchMod(), cryptoPath+"@"+version)
	if result.Error != "" {
		err = fmt.Errorf("%s %s: %s", cryptoPath, version, result.Error)
	}
	return result.Dir, err
}

// verify runs the test of the patch in the module's x/crypto/ssh, in sshDir, as if
// the patch were there. It leaves out x/crypto's tests, which may need modules that
// this one does not have.
func (m *module) verify(ctx context.Context, sshDir string, options ...string) error {
	overlay := make(map[string]string)
	entries, err := os.ReadDir(sshDir)
	if err != nil {
		return err
	}
	for _, entry := range entries {
		if strings.HasSuffix(entry.Name(), "_test.go") {
			overlay[filepath.Join(sshDir, entry.Name())] = "" // no such file
		}
	}
	for name, content := range map[string]string{sshpatch.Name: sshpatch.Source, sshpatch.TestName: sshpatch.Test} {
		path := filepath.Join(m.scratch, name)
		if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
			return err
		}
		overlay[filepath.Join(sshDir, name)] = path
	}
	content, err := json.Marshal(map[string]any{"Replace": overlay})
	if err != nil {
		return err
	}
	file := filepath.Join(m.scratch, "overlay.json")
	if err := os.WriteFile(file, content, 0o600); err != nil {
		return err
	}
	args := append([]string{"test", "-v", "-vet=off", "-overlay", file, "-run", "^TestRegisterMAC"}, options...)
	out, err := m.goRun(ctx, append(args, sshPath)...)
	if err == nil && !strings.Contains(out, "--- PASS: TestRegisterMAC") {
		err = fmt.Errorf("the test of ssh.RegisterMAC did not run: want Go 1.24 or newer; go test printed: %s", out)
	}
	return err
}

// goRun runs the go command in the module, without a workspace, and returns its
// standard output. An error includes its output.
func (m *module) goRun(ctx context.Context, args ...string) (string, error) {
	if m.workspace == "" {
		return m.goRunWith(ctx, nil, args...)
	}
	return m.goRunWith(ctx, append(os.Environ(), "GOWORK=off"), args...)
}

func (m *module) goRunWith(ctx context.Context, env []string, args ...string) (string, error) {
	var stdout strings.Builder
	var stderr child.Head
	cmd := child.Command(ctx, m.goCommand, args...)
	cmd.Dir, cmd.Env = m.root, env
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	err := cmd.Run()
	if err != nil {
		err = fmt.Errorf("go %s: %w: %s", args[0], err, strings.TrimSpace(stderr.String()+stdout.String()))
	}
	return stdout.String(), err
}

// goJSON runs the go command and decodes what it prints, even if it fails.
func (m *module) goJSON(ctx context.Context, v any, args ...string) error {
	out, err := m.goRun(ctx, args...)
	if jsonErr := json.Unmarshal([]byte(out), v); err == nil {
		err = jsonErr
	}
	return err
}

// exists reports whether there is a file, folder or link at path.
func exists(path string) bool {
	_, err := os.Lstat(path)
	return !errors.Is(err, fs.ErrNotExist)
}
