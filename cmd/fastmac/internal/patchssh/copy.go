// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package patchssh

import (
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

// A copyPatch is a copy of x/crypto with the patch, and a replace line in go.mod.
type copyPatch struct {
	*module
	target string // the copy
	stage  string // a temporary folder beside it
	ours   bool   // the replace line was made by patch-ssh
}

func newCopyPatch(m *module, o Options) (*copyPatch, error) {
	p := &copyPatch{module: m, target: m.abs("third_party/" + cryptoPath)}
	if o.Out != "" {
		p.target = m.abs(o.Out)
		if rel, err := filepath.Rel(p.target, m.root); err == nil && filepath.IsLocal(rel) {
			return nil, fmt.Errorf("-o: %s contains the module: want a folder for the copy alone", p.target)
		}
	}
	if r := m.replace; r != nil && r.Old.Version != "" && r.New.Version == "" {
		dir := m.abs(r.New.Path)
		p.ours = dir == p.target || exists(filepath.Join(dir, "ssh", sshpatch.Name))
		if p.ours && o.Out != "" && dir != p.target {
			return nil, fmt.Errorf("-o: the copy is in %s: want no -o, or --revert first", dir)
		}
		if p.ours {
			p.target = dir
		}
	}
	if err := m.inside(p.target); err != nil {
		from := "the copy"
		if o.Out != "" {
			from = "-o"
		} else if p.ours {
			from = "the replace line of go.mod"
		}
		return nil, fmt.Errorf("%s: %w", from, err)
	}
	p.stage = filepath.Join(filepath.Dir(p.target), ".fastmac-patch-ssh")
	if !o.Check && exists(p.stage) { // left by a run that was killed
		p.removeStage()
	}
	return p, nil
}

func (p *copyPatch) state(ctx context.Context) error {
	switch {
	case p.replace == nil:
		return fmt.Errorf("go.mod does not replace %s", cryptoPath)
	case !p.ours:
		return p.foreign()
	case p.replace.Old.Version != p.version:
		return fmt.Errorf("%s is a copy of %s %s, and go.mod has %s", p.target, cryptoPath, p.replace.Old.Version, p.version)
	}
	err := p.compare(ctx, p.version)
	if err == nil && p.workspace != "" {
		err = p.inWorkspace(ctx, p.target)
	}
	return err
}

// foreign is the error about a replace line that was not made by patch-ssh.
func (p *copyPatch) foreign() error {
	return fmt.Errorf("go.mod already replaces %s by %s: want no replace line for it, except from patch-ssh",
		cryptoPath, strings.TrimSpace(p.replace.New.Path+" "+p.replace.New.Version))
}

// apply makes the copy and tests it in the stage. Only after that does it move the copy
// to the target and edit go.mod.
func (p *copyPatch) apply(ctx context.Context) (string, error) {
	if p.replace != nil && !p.ours {
		return "", p.foreign()
	}
	if exists(p.target) {
		// It is from the version before an upgrade or from a run that was killed, or
		// the replace line was removed. If it is unchanged, it can be replaced.
		err := p.compare(ctx, p.version)
		if err != nil && p.ours {
			err = p.compare(ctx, p.replace.Old.Version)
		}
		if err != nil {
			return "", err
		}
	}
	original, err := p.download(ctx, p.version)
	if err != nil {
		return "", err
	}
	defer p.removeStage()
	fresh := filepath.Join(p.stage, "new")
	files, err := readTree(original)
	if err != nil {
		return "", err
	}
	maps.DeleteFunc(files, func(name, _ string) bool { return isTest(name) })
	maps.Copy(files, patchFiles)
	for name, content := range files {
		path := filepath.Join(fresh, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
			return "", err
		}
		if err := os.WriteFile(path, []byte(content), 0o666); err != nil {
			return "", err
		}
	}
	if _, err := p.goRun(ctx, append(p.edit(fresh), filepath.Join(p.scratch, "go.mod"))...); err != nil {
		return "", err
	}
	if err := p.verify(ctx, filepath.Join(fresh, "ssh"), p.scratchMod()); err != nil {
		return "", err
	}
	if err := p.swap(ctx, fresh, p.edit(p.target)); err != nil {
		return "", err
	}
	return fmt.Sprintf("%s is a copy of %s %s with ssh.RegisterMAC, built and tested.\n"+
		"go.mod has a replace line for it. Keep both under version control.\n", p.target, cryptoPath, p.version), nil
}

// revert removes the copy, if nothing was changed in it, and the replace line.
func (p *copyPatch) revert(ctx context.Context) (string, error) {
	if p.replace != nil && !p.ours && p.abs(p.replace.New.Path) == p.target {
		return "", p.foreign()
	}
	var edit []string
	text, version := "", p.version
	if p.ours {
		version = p.replace.Old.Version
		edit = []string{"mod", "edit", "-dropreplace=" + cryptoPath + "@" + version}
		text = "the replace line is removed from go.mod\n"
		if sum, _ := os.ReadFile(p.abs("go.sum")); !strings.Contains(string(sum), cryptoPath+" "+version+" h1:") {
			text += fmt.Sprintf("go.sum has no line for %s %s: run go mod tidy\n", cryptoPath, version)
		}
	}
	if exists(p.target) && version != "" {
		if err := p.compare(ctx, version); err != nil {
			return "", err
		}
		text = fmt.Sprintf("%s is removed\n", p.target) + text
	}
	if text == "" {
		return fmt.Sprintf("nothing to revert: go.mod has no replace line from patch-ssh, and there is no copy in %s\n", p.target), nil
	}
	defer p.removeStage()
	return text, p.swap(ctx, "", edit)
}

// edit returns the arguments for the go command to replace x/crypto by dir. The line
// is only for this version: after an upgrade of x/crypto the program does not
// compile, so the old copy cannot be used unnoticed.
func (p *copyPatch) edit(dir string) []string {
	args := []string{"mod", "edit"}
	if p.replace != nil {
		args = append(args, "-dropreplace="+cryptoPath+"@"+p.replace.Old.Version)
	}
	rel, _ := filepath.Rel(p.root, dir) // dir is in the module
	return append(args, "-replace="+cryptoPath+"@"+p.version+"=./"+filepath.ToSlash(rel))
}

// swap moves the target, if it exists, into the stage, and the folder fresh, unless it
// is "", to the target. Then it runs the go command to edit go.mod. If a step fails, it
// undoes the moves.
func (p *copyPatch) swap(ctx context.Context, fresh string, edit []string) error {
	var moves [][2]string
	if exists(p.target) {
		moves = append(moves, [2]string{p.target, filepath.Join(p.stage, "old")})
	}
	if fresh != "" {
		moves = append(moves, [2]string{fresh, p.target})
	}
	done, err := 0, os.MkdirAll(p.stage, 0o777)
	for ; err == nil && done < len(moves); done++ {
		if err = os.Rename(moves[done][0], moves[done][1]); err != nil {
			break
		}
	}
	if err == nil && edit != nil {
		// An interrupt must not end this in the middle.
		_, err = p.goRun(context.WithoutCancel(ctx), edit...)
	}
	if err != nil {
		for _, move := range slices.Backward(moves[:done]) {
			err = errors.Join(err, os.Rename(move[1], move[0]))
		}
	}
	return err
}

// removeStage removes the stage, and those folders of the module around it that are
// then empty.
func (p *copyPatch) removeStage() {
	os.RemoveAll(p.stage)
	for dir := filepath.Dir(p.stage); dir != p.root; dir = filepath.Dir(dir) {
		if err := os.Remove(dir); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return
		}
	}
}

// patchFiles are the files of the copy that x/crypto does not have.
var patchFiles = map[string]string{
	"ssh/" + sshpatch.Name:     sshpatch.Source,
	"ssh/" + sshpatch.TestName: sshpatch.Test,
}

// isTest reports whether a file of x/crypto is only for its tests, which no program
// needs. Packages are not left out: the replace line is for all of them, and the program
// may import another one at any time.
func isTest(name string) bool {
	return strings.HasSuffix(name, "_test.go") || slices.Contains(strings.Split(name, "/"), "testdata")
}

// compare returns an error unless the target is what apply makes of a version of
// x/crypto. It may have tests of x/crypto.
func (p *copyPatch) compare(ctx context.Context, version string) error {
	if info, err := os.Lstat(p.target); err != nil {
		return err
	} else if !info.IsDir() {
		return fmt.Errorf("%s is not a folder: want an unchanged copy, or nothing there", p.target)
	}
	original, err := p.download(ctx, version)
	if err != nil {
		return err
	}
	want, err := readTree(original)
	if err != nil {
		return err
	}
	maps.Copy(want, patchFiles)
	got, err := readTree(p.target)
	if err != nil {
		return err
	}
	maps.DeleteFunc(want, func(name, content string) bool {
		found, ok := got[name]
		if ok && found == content {
			delete(got, name)
			return true
		}
		return !ok && isTest(name) && patchFiles[name] == ""
	})
	maps.Copy(want, got)
	if len(want) == 0 {
		return nil
	}
	names := slices.Sorted(maps.Keys(want))
	return fmt.Errorf("%s is not what patch-ssh makes of %s %s (files that differ: %d, first %s): want an unchanged copy, or nothing there",
		p.target, cryptoPath, version, len(names), strings.Join(names[:min(len(names), 5)], ", "))
}

// readTree returns the content of all files in dir by their names, with slashes.
func readTree(dir string) (map[string]string, error) {
	files, fsys := make(map[string]string), os.DirFS(dir)
	err := fs.WalkDir(fsys, ".", func(name string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		if !entry.Type().IsRegular() {
			files[name] = "\x00 " + entry.Type().String() // as no file of x/crypto has
			return nil
		}
		content, err := fs.ReadFile(fsys, name)
		files[name] = string(content)
		return err
	})
	return files, err
}
