// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"example.com/fastmac/internal/sshpatch"
)

// applyCopy puts a copy of x/crypto with the patch into the target and a replace
// line into go.mod. If it fails, both are as before.
func (p *sshPatch) applyCopy(ctx context.Context) (_ string, err error) {
	if p.replace != nil && !p.ours() {
		return "", p.foreignError()
	}
	exists, err := p.targetExists()
	if err != nil {
		return "", err
	}
	if exists {
		// It may be left from an older x/crypto, or from a replace line that
		// somebody removed. Then nothing in it is lost.
		if err := p.unchanged(ctx, p.copyVersion()); err != nil {
			return "", fmt.Errorf("%w\nIf nothing in it is of use, remove it and run this again; for another place, take -o", err)
		}
	}
	original, err := p.download(ctx, p.version)
	if err != nil {
		return "", err
	}
	restore, err := p.keepGoMod()
	if err != nil {
		return "", err
	}

	// Beside the target, so that a rename does it.
	stage, err := p.stage()
	if err != nil {
		return "", err
	}
	defer p.removeStage(stage)
	fresh, old := filepath.Join(stage, "new"), filepath.Join(stage, "old")
	if err := os.CopyFS(fresh, os.DirFS(original)); err != nil { // makes the files writable
		return "", err
	}
	for name, content := range patchFiles {
		if err := os.WriteFile(filepath.Join(fresh, name), []byte(content), 0o666); err != nil {
			return "", err
		}
	}
	if exists {
		if err := os.Rename(p.target, old); err != nil {
			return "", err
		}
	}
	defer func() {
		if err != nil && exists {
			err = errors.Join(err, os.Rename(old, p.target))
		}
	}()
	if err := os.Rename(fresh, p.target); err != nil {
		return "", err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, restore(), os.Rename(p.target, fresh))
		}
	}()

	edit := []string{"mod", "edit"}
	if p.replace != nil {
		edit = append(edit, "-dropreplace="+cryptoPath+"@"+p.replace.Old.Version)
	}
	// For this version alone: an upgrade of x/crypto has to show, and does, as
	// the program does not compile without RegisterMAC.
	edit = append(edit, "-replace="+cryptoPath+"@"+p.version+"="+p.replacePath())
	if _, err := p.goRun(ctx, edit...); err != nil {
		return "", err
	}
	if p.edited, err = os.ReadFile(filepath.Join(p.root, "go.mod")); err != nil {
		return "", err
	}
	if err := p.verify(ctx, filepath.Join(p.target, "ssh")); err != nil {
		return "", err
	}
	return fmt.Sprintf("%s is a copy of %s %s with ssh.RegisterMAC in %s, built and tested.\ngo.mod has a replace line for it. Keep both under version control.\n\n%s",
		p.place(), cryptoPath, p.version, filepath.Join("ssh", sshpatch.Name), registerLines), nil
}

// revertCopy removes the copy, if nothing was changed in it, and the replace line.
func (p *sshPatch) revertCopy(ctx context.Context) (string, error) {
	exists, err := p.targetExists()
	if err != nil {
		return "", err
	}
	ours := p.ours()
	if !ours && p.replaceDir() == p.target {
		return "", p.foreignError()
	}
	if !exists && !ours {
		return fmt.Sprintf("there is no %s, and no replace line of patch-ssh in go.mod: nothing to revert\n", p.place()), nil
	}
	if exists {
		if err := p.unchanged(ctx, p.copyVersion()); err != nil {
			return "", fmt.Errorf("%w\nNothing was reverted. If nothing in it is of use, undo the changes or remove it, and run this again", err)
		}
	}
	restore, err := p.keepGoMod()
	if err != nil {
		return "", err
	}
	var done []string
	if ours {
		if _, err := p.goRun(ctx, "mod", "edit", "-dropreplace="+cryptoPath+"@"+p.replace.Old.Version); err != nil {
			return "", errors.Join(err, restore())
		}
		done = append(done, "the replace line is removed from go.mod")
		sum, err := os.ReadFile(filepath.Join(p.root, "go.sum"))
		if err == nil && p.version != "" && !strings.Contains(string(sum), cryptoPath+" "+p.version+" h1:") {
			done = append(done, fmt.Sprintf("go.sum has no line for %s %s any more: run go mod tidy", cryptoPath, p.version))
		}
	}
	if exists {
		// A rename moves all of it or nothing. To remove it takes many steps.
		stage, err := p.stage()
		if err == nil {
			defer p.removeStage(stage)
			err = os.Rename(p.target, filepath.Join(stage, "old"))
		}
		if err != nil {
			return "", errors.Join(err, restore())
		}
		done = append(done, fmt.Sprintf("%s is removed", p.place()))
	}
	return strings.Join(done, "\n") + "\n", nil
}

// patchFiles are what the copy has besides the files of x/crypto.
var patchFiles = map[string]string{
	filepath.Join("ssh", sshpatch.Name):     sshpatch.Source,
	filepath.Join("ssh", sshpatch.TestName): sshpatch.Test,
}

func (p *sshPatch) targetExists() (bool, error) {
	_, err := os.Lstat(p.target)
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	return err == nil, err
}

// copyVersion is the version that the target has to be a copy of.
func (p *sshPatch) copyVersion() string {
	if p.ours() {
		return p.replace.Old.Version
	}
	return p.version
}

// replacePath is the target as a replace line names it.
func (p *sshPatch) replacePath() string {
	rel, err := filepath.Rel(p.root, p.target)
	if err != nil { // on another drive
		return filepath.ToSlash(p.target)
	}
	rel = filepath.ToSlash(rel)
	if !strings.HasPrefix(rel, "../") {
		rel = "./" + rel
	}
	return rel
}

// download returns the folder in the module cache of a version of x/crypto. The
// go command fetches it if it is not there.
func (p *sshPatch) download(ctx context.Context, version string) (string, error) {
	restore, err := p.keepGoMod()
	if err != nil {
		return "", err
	}
	var module struct{ Dir string }
	err = p.goJSON(ctx, &module, "mod", "download", "-json", cryptoPath+"@"+version)
	// Under -mod=mod it adds to go.sum what no build needs.
	return module.Dir, errors.Join(err, restore())
}

// keepGoMod reads go.mod and go.sum, and returns what puts them back if they
// differ. A go.mod that is not as this program has edited it is not put back: then
// somebody else has written to it, and only the replace line is undone.
func (p *sshPatch) keepGoMod() (restore func() error, err error) {
	kept := make(map[string][]byte)
	for _, name := range []string{"go.mod", "go.sum"} {
		name = filepath.Join(p.root, name)
		if kept[name], err = os.ReadFile(name); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return nil, err
		}
	}
	return func() (err error) {
		for name, before := range kept {
			if now, readErr := os.ReadFile(name); readErr == nil && bytes.Equal(now, before) {
				continue
			}
			if filepath.Base(name) == "go.mod" && p.edited != nil {
				if now, readErr := os.ReadFile(name); readErr == nil && !bytes.Equal(now, p.edited) {
					err = errors.Join(err, p.undoReplace())
					continue
				}
			}
			if before == nil {
				if removeErr := os.Remove(name); !errors.Is(removeErr, fs.ErrNotExist) {
					err = errors.Join(err, removeErr)
				}
				continue
			}
			err = errors.Join(err, os.WriteFile(name, before, 0o666))
		}
		return err
	}, nil
}

// undoReplace undoes the replace line in a go.mod that has other changes too.
func (p *sshPatch) undoReplace() error {
	edit := []string{"mod", "edit", "-dropreplace=" + cryptoPath + "@" + p.version}
	if p.replace != nil {
		edit = append(edit, "-replace="+cryptoPath+"@"+p.replace.Old.Version+"="+p.replace.New.Path)
	}
	// What led here may be that the context has ended.
	_, err := p.goRun(context.Background(), edit...)
	return err
}

// stage makes a folder beside the target.
func (p *sshPatch) stage() (string, error) {
	parent := filepath.Dir(p.target)
	if err := os.MkdirAll(parent, 0o777); err != nil {
		p.removeEmpty(parent)
		return "", err
	}
	stage, err := os.MkdirTemp(parent, ".fastmac-")
	if err != nil {
		p.removeEmpty(parent)
	}
	return stage, err
}

func (p *sshPatch) removeStage(stage string) {
	os.RemoveAll(stage)
	p.removeEmpty(filepath.Dir(stage))
}

// removeEmpty removes dir and the folders above it that are empty then, up to the
// module's.
func (p *sshPatch) removeEmpty(dir string) {
	for {
		rel, err := filepath.Rel(p.root, dir)
		if err != nil || !filepath.IsLocal(rel) || rel == "." {
			return
		}
		// Remove would take a link to a full folder away.
		if info, err := os.Lstat(dir); err == nil && !info.IsDir() {
			return
		}
		if err := os.Remove(dir); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return
		}
		dir = filepath.Dir(dir)
	}
}

// unchanged compares the target with a version of x/crypto and the patch.
func (p *sshPatch) unchanged(ctx context.Context, version string) error {
	original, err := p.download(ctx, version)
	if err != nil {
		return err
	}
	names, err := differences(original, p.target)
	if err != nil {
		return err
	}
	if len(names) == 0 {
		return nil
	}
	const show = 5
	more := ""
	if len(names) > show {
		more = fmt.Sprintf(" and %d more", len(names)-show)
		names = names[:show]
	}
	return fmt.Errorf("%s is not what patch-ssh makes of %s %s: these differ: %s%s", p.place(), cryptoPath, version, strings.Join(names, ", "), more)
}

// differences returns the names of the files that dir and original, with the patch,
// do not both have with the same content.
func differences(original, dir string) (names []string, err error) {
	if info, err := os.Lstat(dir); err != nil {
		return nil, err
	} else if !info.IsDir() {
		return []string{"it is no folder"}, nil
	}
	want := make(map[string][]byte)
	for name, content := range patchFiles {
		want[name] = []byte(content)
	}
	if err := walkFiles(original, func(name string) (err error) {
		want[name], err = os.ReadFile(filepath.Join(original, name))
		return err
	}); err != nil {
		return nil, err
	}
	err = walkFiles(dir, func(name string) error {
		content, ok := want[name]
		delete(want, name)
		path := filepath.Join(dir, name)
		if info, err := os.Lstat(path); err != nil {
			return err
		} else if !ok || !info.Mode().IsRegular() {
			names = append(names, name)
			return nil
		}
		got, err := os.ReadFile(path)
		if !bytes.Equal(got, content) {
			names = append(names, name)
		}
		return err
	})
	names = slices.AppendSeq(names, maps.Keys(want))
	slices.Sort(names)
	return names, err
}

// walkFiles calls f with the names in dir of all files in it.
func walkFiles(dir string, f func(name string) error) error {
	return filepath.WalkDir(dir, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		name, err := filepath.Rel(dir, path)
		if err != nil {
			return err
		}
		return f(name)
	})
}
