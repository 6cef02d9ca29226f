// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package interop

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"example.com/fastmac/sshmac/sshtest"
)

const xcrypto = "golang.org/x/crypto"

// TestVersions runs the tests of sshmac on releases of x/crypto from the oldest in common
// use to the newest, as in a program whose go.mod replaces the required release. On the
// oldest and the newest the race detector runs too.
func TestVersions(t *testing.T) {
	newest := needVersions(t)
	sshtest.Find(t, "gcc", "gcc") // for the race detector
	versions := []string{"v0.17.0", "v0.31.0", "v0.38.0", "v0.43.0", "v0.45.0", "v0.55.0", "v0.56.0", "v0.58.0", "v0.59.0"}
	required := goMod(t, "../../sshmac").version(xcrypto)
	if !slices.Contains(versions, required) {
		t.Errorf("the release that sshmac requires, %s, is not tested", required)
	}
	page, err := os.ReadFile("../../docs/ssh.md")
	if err != nil {
		t.Fatal(err)
	}
	_, sentence, _ := strings.Cut(string(page), "`sshmac` is tested with ")
	sentence, _, _ = strings.Cut(sentence, ". ")
	named := regexp.MustCompile(`v\d+\.\d+\.\d+`).FindAllString(sentence, -1)
	slices.Reverse(named) // the newest is first there
	if !slices.Equal(named, versions) {
		t.Errorf("docs/ssh.md names %q, and tested are %q", named, versions)
	}
	if !slices.Contains(versions, newest) {
		versions = append(versions, newest)
	}
	for i, version := range versions {
		race := i == 0 || i == len(versions)-1
		if *sample && !race && version != required {
			continue
		}
		t.Run(version, func(t *testing.T) {
			t.Parallel()
			out, err := testWith(t, version, "../../sshmac", fmt.Sprintf("-race=%v", race), "-short", ".")
			if err != nil {
				t.Fatalf("%v\n%s", err, out)
			}
			for _, want := range []string{
				"--- PASS: TestRegister ",
				"--- PASS: TestDamage ",
				"--- PASS: TestTableShape ",
				filepath.FromSlash(xcrypto+"@"+version+"/ssh") + "\n", // what TestTableShape has read
			} {
				if !strings.Contains(out, want) {
					t.Errorf("%q is not in the output:\n%s", want, out)
				}
			}
		})
	}
}

// TestCBCWithETM shows that x/crypto v0.57.0 fails where docs/ssh.md says so. It encrypts the length of the packet, which its peer expects in the clear.
func TestCBCWithETM(t *testing.T) {
	needVersions(t)
	needSSH(t)
	needSSHD(t)
	out, err := testWith(t, "v0.57.0", ".", "-short", "-run=TestMatrix/^sshd?$/^300000$/-etm@/^aes128-cbc$", ".")
	if err == nil {
		t.Errorf("no test failed:\n%s", out)
	}
	for want, times := range map[string]int{
		"--- FAIL: TestMatrix/ssh/300000/":  4,
		"--- FAIL: TestMatrix/sshd/300000/": 4,
		"/aes128-cbc (":                     8, // none passed
		// Not counted: one encrypted length in 2^14 is accepted.
		"server: ssh: packet too large":                        0,
		"client: ssh: handshake failed: ssh: packet too large": 0,
		"Bad packet length":                                    0,
	} {
		if n := strings.Count(out, want); n == 0 || times > 0 && n != times {
			t.Errorf("%q is %d times in the output, want %d:\n%s", want, n, times, out)
		}
	}
}

// Programs of TestImporter: before fastmac is imported, with Register, and with the
// RegisterMAC that patch-ssh adds.
const (
	plainMain = `package main

import "golang.org/x/crypto/ssh"

func main() { print(len(ssh.Config{}.MACs)) }
`
	registerMain = `package main

import (
	"example.com/fastmac"
	"example.com/fastmac/sshmac"
)

func main() {
	if _, err := fastmac.NewUMACKey(make([]byte, 16), 8); err != nil {
		panic(err)
	}
	if err := sshmac.Register(); err != nil {
		panic(err)
	}
}
`
	patchedMain = `package main

import (
	"slices"

	"example.com/fastmac/sshmac"
	"golang.org/x/crypto/ssh"
)

func main() {
	for _, m := range sshmac.Modes() {
		if err := ssh.RegisterMAC(m.Name, m.KeySize, m.ETM, m.New); err != nil {
			panic(err)
		}
	}
	config := ssh.Config{Ciphers: sshmac.ServerCiphers(), MACs: sshmac.MACs()}
	if config.SetDefaults(); !slices.Equal(config.MACs, sshmac.MACs()) {
		panic(config.MACs)
	}
}
`
)

// TestImporter imports sshmac into a module that requires the release of x/crypto
// that sshmac does: neither the release nor the go line may change, whether patch-ssh
// is not used, used before sshmac is imported, or used after. With the replace line of
// docs/ssh.md a module keeps an older release.
func TestImporter(t *testing.T) {
	needVersions(t)
	root, err := filepath.Abs("../..")
	if err != nil {
		t.Fatal(err)
	}
	sshmac := goMod(t, filepath.Join(root, "sshmac"))
	command := filepath.Join(t.TempDir(), "fastmac")
	goRun(t, filepath.Join(root, "cmd/fastmac"), "build", "-o", command, ".")

	newModule := func(t *testing.T) (dir string) {
		dir = t.TempDir()
		mod := fmt.Sprintf("module importer.invalid\n\ngo %s\n\nrequire %s %s\n", sshmac.Go, xcrypto, sshmac.version(xcrypto))
		if err := os.WriteFile(filepath.Join(dir, "go.mod"), []byte(mod), 0o600); err != nil {
			t.Fatal(err)
		}
		return dir
	}
	// use makes content the program, adds what it imports to go.mod, and runs it.
	use := func(t *testing.T, dir, content string) {
		t.Helper()
		if err := os.WriteFile(filepath.Join(dir, "main.go"), []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
		if strings.Contains(content, "example.com/fastmac") {
			goRun(t, dir, "mod", "edit", "-require=example.com/fastmac@v0.0.0", "-replace=example.com/fastmac="+root,
				"-require=example.com/fastmac/sshmac@v0.0.0", "-replace=example.com/fastmac/sshmac="+filepath.Join(root, "sshmac"))
		}
		goRun(t, dir, "mod", "tidy")
		goRun(t, dir, "run", ".")
		got := goMod(t, dir)
		if want := sshmac.version(xcrypto); got.version(xcrypto) != want {
			t.Errorf("go.mod requires x/crypto %s after the import, want %s", got.version(xcrypto), want)
		}
		if got.Go != sshmac.Go {
			t.Errorf("go.mod has go %s after the import, want %s", got.Go, sshmac.Go)
		}
	}
	patch := func(t *testing.T, dir string, args ...string) {
		t.Helper()
		out, err := exec.Command(command, append([]string{"patch-ssh", "-C", dir}, args...)...).CombinedOutput()
		if err != nil {
			t.Fatalf("patch-ssh %v: %v\n%s", args, err, out)
		}
	}

	t.Run("register", func(t *testing.T) {
		t.Parallel()
		use(t, newModule(t), registerMain)
	})
	t.Run("patch first", func(t *testing.T) {
		t.Parallel()
		dir := newModule(t)
		use(t, dir, plainMain)
		patch(t, dir)
		use(t, dir, patchedMain)
		patch(t, dir, "--check")
	})
	t.Run("import first", func(t *testing.T) {
		t.Parallel()
		dir := newModule(t)
		use(t, dir, registerMain)
		patch(t, dir)
		use(t, dir, patchedMain)
		patch(t, dir, "--check")
	})
	t.Run("older", func(t *testing.T) {
		t.Parallel()
		doc, err := os.ReadFile(filepath.Join(root, "docs", "ssh.md"))
		if err != nil {
			t.Fatal(err)
		}
		_, line, ok := strings.Cut(string(doc), "\n    go mod edit -replace="+xcrypto+"=")
		line, _, _ = strings.Cut(line, "\n")
		_, older, _ := strings.Cut(line, "@")
		if !ok || older == "" {
			t.Fatal("docs/ssh.md does not say how to keep an older release")
		}
		dir := newModule(t)
		goRun(t, dir, "mod", "edit", "-replace="+xcrypto+"="+line)
		use(t, dir, registerMain)
		got := strings.TrimSpace(string(goRun(t, dir, "list", "-m", xcrypto)))
		if want := fmt.Sprintf("%s %s => %s %s", xcrypto, sshmac.version(xcrypto), xcrypto, older); got != want {
			t.Errorf("go list -m: %s, want %s", got, want)
		}
	})
}

// modFile is what go mod edit -json prints.
type modFile struct {
	Go      string
	Require []struct{ Path, Version string }
}

// goMod reads the go.mod in dir.
func goMod(t *testing.T, dir string) modFile {
	t.Helper()
	var m modFile
	if err := json.Unmarshal(goRun(t, dir, "mod", "edit", "-json"), &m); err != nil {
		t.Fatal(err)
	}
	return m
}

// version returns the version that m requires of a module.
func (m modFile) version(path string) string {
	for _, r := range m.Require {
		if r.Path == path {
			return r.Version
		}
	}
	return ""
}

// goRun runs the go command in dir and returns its standard output.
func goRun(t *testing.T, dir string, args ...string) []byte {
	t.Helper()
	var stderr strings.Builder
	cmd := exec.Command("go", args...)
	cmd.Dir, cmd.Stderr = dir, &stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("go %s: %v\n%s%s", strings.Join(args, " "), err, out, &stderr)
	}
	return out
}

// needVersions skips the test if other releases of x/crypto are not available, and
// returns the newest.
func needVersions(t *testing.T) string {
	t.Helper()
	if testing.Short() {
		t.Skip("rebuilds everything for each release")
	}
	newest, err := exec.Command("go", "list", "-m", "-f", "{{.Version}}", xcrypto+"@latest").Output()
	if err != nil {
		t.Skipf("needs a Go module proxy: go list -m %s@latest: %v", xcrypto, err)
	}
	return strings.TrimSpace(string(newest))
}

// testWith runs go test in the module in dir, with another release of x/crypto than
// its go.mod requires, and returns the output.
func testWith(t *testing.T, version, dir string, args ...string) (string, error) {
	t.Helper()
	temp := t.TempDir()
	for _, name := range []string{"go.mod", "go.sum"} {
		content, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(temp, name), content, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	goRun(t, temp, "mod", "edit", "-replace", xcrypto+"="+xcrypto+"@"+version)
	mod := filepath.Join(temp, "go.mod")
	// The sources were vetted with the required release.
	cmd := exec.Command("go", append([]string{"test", "-count=1", "-vet=off", "-v", "-mod=mod", "-modfile=" + mod}, args...)...)
	cmd.Dir = dir
	out, err := cmd.CombinedOutput()
	return string(out), err
}
