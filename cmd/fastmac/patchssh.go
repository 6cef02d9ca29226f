// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package main

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime/debug"
	"strings"

	"example.com/fastmac/internal/sshpatch"
)

const (
	cryptoPath = "golang.org/x/crypto"
	sshPath    = cryptoPath + "/ssh"
)

// registerLines are what a program with the patch needs.
const registerLines = `In the program, before its first handshake:

	for _, m := range sshmac.Modes() {
		if !strings.HasPrefix(m.Name, "umac-") {
			continue // x/crypto has an hmac-sha2-512 of its own
		}
		if err := ssh.RegisterMAC(m.Name, m.KeySize, m.ETM, m.New); err != nil {
			log.Print(err) // the program goes on with the MACs it had
		}
	}
	config.Ciphers = []string{"aes128-ctr"} // with AES-GCM or ChaCha20-Poly1305 no MAC is used
	config.MACs = sshmac.MACs()
`

// An sshPatch is one run of the patch-ssh command.
type sshPatch struct {
	dir, out      string // the flags -C and -o
	check, revert bool

	goCommand string
	root      string // of the module, where its go.mod is
	version   string // of x/crypto, as go.mod selects it
	vendored  bool   // the go command uses root/vendor
	replace   *replacement
	target    string // where the copy of x/crypto is, or will be
	edited    []byte // go.mod with the replace line, once that is written
}

// A replacement is go.mod's replace line for x/crypto.
type replacement struct {
	Old, New struct{ Path, Version string }
}

func (r *replacement) String() string {
	return strings.TrimSpace(fmt.Sprintf("%s %s", r.Old.Path, r.Old.Version)) + " => " + strings.TrimSpace(r.New.Path+" "+r.New.Version)
}

// patchSSH is the command: it returns the exit status.
func patchSSH(ctx context.Context, args []string, stdout, stderr io.Writer) int {
	var p sshPatch
	fs := newFlagSet("patch-ssh")
	fs.StringVar(&p.dir, "C", ".", "")
	fs.StringVar(&p.out, "o", "", "")
	fs.BoolVar(&p.check, "check", false, "")
	fs.BoolVar(&p.revert, "revert", false, "")
	if err := parseFlags(fs, args); errors.Is(err, flag.ErrHelp) {
		return printUsage(stdout, stderr)
	} else if err != nil {
		return usageError(stderr, err)
	}
	if p.check && p.revert {
		return usageError(stderr, errors.New("patch-ssh: --check and --revert do not go together"))
	}
	text, err := p.run(ctx)
	if err != nil && ctx.Err() != nil {
		complain(stderr, fmt.Errorf("interrupted: %w", err))
		return exitInterrupted
	}
	if err == nil {
		_, err = io.WriteString(stdout, text)
	}
	if err != nil {
		complain(stderr, err)
		return exitFailed
	}
	return exitOK
}

// run does what the flags ask for and returns what to print.
func (p *sshPatch) run(ctx context.Context) (string, error) {
	if err := p.load(ctx); err != nil {
		return "", err
	}
	switch {
	case p.revert && p.vendored:
		return p.revertVendor()
	case p.revert:
		return p.revertCopy(ctx)
	}
	state := p.state(ctx)
	switch {
	case state == nil:
		return fmt.Sprintf("ssh.RegisterMAC is in place, in %s, for %s %s: nothing to do\n", p.place(), cryptoPath, p.version), nil
	case p.check:
		return "", fmt.Errorf("ssh.RegisterMAC is not in place: %w", state)
	case p.vendored:
		return p.applyVendor(ctx)
	}
	return p.applyCopy(ctx)
}

// load finds the module, its x/crypto and the place for the patch.
func (p *sshPatch) load(ctx context.Context) (err error) {
	if p.goCommand, err = exec.LookPath("go"); err != nil {
		return fmt.Errorf("there is no go command in PATH (%w): install Go, or add the folder of its command to PATH", err)
	}
	if p.root, err = filepath.Abs(p.dir); err != nil {
		return err
	}
	if info, err := os.Stat(p.root); err != nil || !info.IsDir() {
		return fmt.Errorf("%s is no folder that can be read (%v): name the one of your module with -C", p.dir, err)
	}
	if p.out != "" {
		if !filepath.IsAbs(p.out) {
			p.out = filepath.Join(p.root, p.out)
		}
		p.out = filepath.Clean(p.out)
	}
	var env struct{ GOMOD, GOWORK string }
	if err := p.goJSON(ctx, &env, "env", "-json", "GOMOD", "GOWORK"); err != nil {
		return err
	}
	switch {
	case env.GOMOD == "" || env.GOMOD == os.DevNull:
		return fmt.Errorf("there is no go.mod in %s or above: run patch-ssh in your module, or name its folder with -C", p.root)
	case env.GOWORK != "" && env.GOWORK != "off":
		return fmt.Errorf("the workspace %s is in use, where other modules decide about %s, too: set GOWORK=off to patch the module alone", env.GOWORK, cryptoPath)
	}
	p.root = filepath.Dir(env.GOMOD)
	p.target = filepath.Join(p.root, "third_party", filepath.FromSlash(cryptoPath))
	if p.out != "" {
		p.target = p.out
	}

	var mod struct {
		Module  struct{ Path string }
		Require []struct{ Path, Version string }
		Replace []*replacement
	}
	if err := p.goJSON(ctx, &mod, "mod", "edit", "-json"); err != nil {
		return err
	}
	if info, ok := debug.ReadBuildInfo(); ok && info.Main.Path != "" && mod.Module.Path == info.Main.Path {
		return fmt.Errorf("%s is the module of this command: name the folder of yours with -C, as an absolute path", p.root)
	}
	for _, r := range mod.Replace {
		if r.Old.Path != cryptoPath {
			continue
		}
		if p.replace != nil {
			return fmt.Errorf("go.mod has two replace lines for %s, (%v) and (%v): leave one", cryptoPath, p.replace, r)
		}
		p.replace = r
	}
	if dir := p.replaceDir(); p.ours() {
		if p.out != "" && dir != p.out {
			return fmt.Errorf("go.mod replaces %s by %s, and -o asks for %s: first run patch-ssh --revert, without -o", cryptoPath, dir, p.out)
		}
		p.target = dir
		if exists, err := p.targetExists(); err != nil {
			return err
		} else if !exists { // go list would fail
			for _, r := range mod.Require {
				if r.Path == cryptoPath {
					p.version = r.Version
					return nil
				}
			}
		}
	}

	var module struct {
		Version, GoMod string
		Main           bool
	}
	err = p.goJSON(ctx, &module, "list", "-m", "-json", cryptoPath)
	switch {
	case err != nil && (strings.Contains(err.Error(), "not a known dependency") || strings.Contains(err.Error(), "can't resolve module")):
		return fmt.Errorf("%s has no %s: write the program's import of %s, run go mod tidy, and then this again", env.GOMOD, cryptoPath, sshPath)
	case err != nil:
		return err
	case module.Main:
		return fmt.Errorf("%s is %s itself: run patch-ssh in a module that uses it", p.root, cryptoPath)
	}
	// With -mod=vendor the go command does not look at the module's go.mod. Without
	// a line in go.sum it does not either.
	p.version, p.vendored = module.Version, module.GoMod == ""
	if _, err := os.Stat(filepath.Join(p.root, "vendor", "modules.txt")); p.vendored && err != nil {
		return fmt.Errorf("go.sum has no line for the go.mod of %s %s: run go mod tidy, and then this again", cryptoPath, p.version)
	}
	if p.vendored && p.out != "" {
		return fmt.Errorf("-o %s has no effect: %s is in use; leave out -o, or set GOFLAGS=-mod=mod", p.out, filepath.Join(p.root, "vendor"))
	}
	return nil
}

// replaceDir is the folder that go.mod replaces x/crypto by, or "".
func (p *sshPatch) replaceDir() string {
	if p.replace == nil || p.replace.New.Version != "" {
		return ""
	}
	dir := filepath.FromSlash(p.replace.New.Path)
	if !filepath.IsAbs(dir) {
		dir = filepath.Join(p.root, dir)
	}
	return filepath.Clean(dir)
}

// ours tells whether patch-ssh made the replace line: it is for one version, and
// names the place of the copy or a folder with the file.
func (p *sshPatch) ours() bool {
	dir := p.replaceDir()
	if dir == "" || p.replace.Old.Version == "" {
		return false
	}
	_, err := os.Lstat(filepath.Join(dir, "ssh", sshpatch.Name))
	return err == nil || dir == p.target
}

// place is the folder of the patch as messages name it.
func (p *sshPatch) place() string {
	dir := p.target
	if p.vendored {
		dir = p.vendorSSH()
	}
	return p.short(dir)
}

// short is path as seen from the module, if it is in there.
func (p *sshPatch) short(path string) string {
	if rel, err := filepath.Rel(p.root, path); err == nil && filepath.IsLocal(rel) {
		return rel
	}
	return path
}

// state returns nil if the patch is in place and fits go.mod, or what is missing.
func (p *sshPatch) state(ctx context.Context) error {
	if p.vendored {
		return p.vendorState()
	}
	switch {
	case p.replace == nil:
		return fmt.Errorf("go.mod does not replace %s; run fastmac patch-ssh", cryptoPath)
	case !p.ours():
		return p.foreignError()
	case p.replace.Old.Version != p.version:
		return fmt.Errorf("%s is a copy of %s %s, and go.mod has %s; run fastmac patch-ssh", p.place(), cryptoPath, p.replace.Old.Version, p.version)
	}
	if exists, err := p.targetExists(); err == nil && !exists {
		return fmt.Errorf("go.mod replaces %s by %s, which does not exist; run fastmac patch-ssh", cryptoPath, p.place())
	}
	return p.unchanged(ctx, p.version)
}

func (p *sshPatch) foreignError() error {
	return fmt.Errorf("go.mod replaces %s already (%v): apply the patch to that, or remove the replace line", cryptoPath, p.replace)
}

// verify builds x/crypto/ssh as the module has it, and runs the test of the patch,
// without x/crypto's own, which may need modules that this one does not have.
func (p *sshPatch) verify(ctx context.Context, sshDir string) error {
	if _, err := p.goRun(ctx, "build", sshPath); err != nil {
		return err
	}
	temp, err := os.MkdirTemp("", "fastmac-patch-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(temp)
	test := filepath.Join(temp, sshpatch.TestName)
	if err := os.WriteFile(test, []byte(sshpatch.Test), 0o600); err != nil {
		return err
	}
	var overlay struct{ Replace map[string]string }
	overlay.Replace = make(map[string]string)
	entries, err := os.ReadDir(sshDir)
	if err != nil {
		return err
	}
	for _, entry := range entries {
		if strings.HasSuffix(entry.Name(), "_test.go") {
			overlay.Replace[filepath.Join(sshDir, entry.Name())] = "" // no such file
		}
	}
	overlay.Replace[filepath.Join(sshDir, sshpatch.TestName)] = test
	content, err := json.Marshal(overlay)
	if err != nil {
		return err
	}
	overlayFile := filepath.Join(temp, "overlay.json")
	if err := os.WriteFile(overlayFile, content, 0o600); err != nil {
		return err
	}
	out, err := p.goRun(ctx, "test", "-v", "-vet=off", "-overlay", overlayFile, "-run", "^TestRegisterMAC", sshPath)
	if err != nil {
		return err
	}
	if !strings.Contains(out, "--- PASS: TestRegisterMAC") {
		return fmt.Errorf("the test of ssh.RegisterMAC did not run: it needs Go 1.24 or newer; go test printed: %s", out)
	}
	return nil
}

// goRun runs the go command in the module and returns its standard output. The
// error has its complaints.
func (p *sshPatch) goRun(ctx context.Context, args ...string) (string, error) {
	var stdout strings.Builder
	var stderr headBuffer
	cmd := exec.CommandContext(ctx, p.goCommand, args...)
	cmd.Dir = p.root
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	cmd.WaitDelay = killDelay
	killTree(cmd)
	err := cmd.Run()
	if err != nil {
		out := stderr.String()
		if args[0] == "test" || args[1] == "download" { // which complain on standard output
			out += stdout.String()
		}
		err = fmt.Errorf("go %s: %w\n%s", strings.Join(args, " "), err, strings.TrimSpace(out))
	}
	return stdout.String(), err
}

func (p *sshPatch) goJSON(ctx context.Context, v any, args ...string) error {
	out, err := p.goRun(ctx, args...)
	if err != nil {
		return err
	}
	if err := json.Unmarshal([]byte(out), v); err != nil {
		return fmt.Errorf("go %s printed what is no JSON of the expected kind: %w", strings.Join(args, " "), err)
	}
	return nil
}
