// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package patchssh

import (
	"path/filepath"
	"strings"
	"testing"

	"example.com/fastmac/internal/mactest"
	"example.com/fastmac/internal/sshpatch"
)

// FuzzRun runs --check and --revert on modules that are damaged: go.mod, vendor/modules.txt
// and a file of the copy, or the patch in the vendor folder, have any content. Neither may
// panic or change anything, --check must fail, and --revert may only succeed if it reports
// that there is nothing to revert, because there is no intact patch. If only the replace line
// is left of it, --revert removes that.
func FuzzRun(f *testing.F) {
	mactest.Seeds(f)
	const goMod = "module example.com/program\n\ngo 1.26.0\n\nrequire golang.org/x/crypto v0.58.0\n"
	f.Add(goMod, "", "")
	f.Add(goMod+"\nreplace golang.org/x/crypto v0.58.0 => ./third_party/golang.org/x/crypto\n", "", "module golang.org/x/crypto\n")
	f.Add(goMod, "# golang.org/x/crypto v0.58.0\n## explicit; go 1.25.0\ngolang.org/x/crypto/ssh\n", "package ssh\n")
	f.Add("module example.com/program\ngo 1.26.0\nreplace golang.org/x/crypto => /nowhere\n", "", "x")
	f.Fuzz(func(t *testing.T, goMod, modules, copied string) {
		t.Setenv("GOFLAGS", "") // with -mod=mod the go command would write go.sum
		t.Setenv("GOPROXY", "off")
		t.Setenv("GOSUMDB", "off")
		t.Setenv("GOTOOLCHAIN", "local")
		t.Setenv("GOWORK", "off")
		dir := filepath.Join(t.TempDir(), "program")
		write(t, filepath.Join(dir, "go.mod"), goMod)
		write(t, filepath.Join(dir, "main.go"), noSSHMAC)
		if modules != "" {
			write(t, filepath.Join(dir, "vendor", "modules.txt"), modules)
			t.Setenv("GOFLAGS", "-mod=vendor")
			write(t, filepath.Join(dir, "vendor", filepath.FromSlash(sshPath), sshpatch.Name), copied)
		} else if copied != "" {
			write(t, filepath.Join(dir, "third_party", "golang.org", "x", "crypto", "go.mod"), copied)
		}
		before := snapshot(t, dir)
		for _, o := range []Options{check(dir), revert(dir)} {
			text, err := Run(t.Context(), o, t.Output())
			if err == nil && o.Revert && strings.HasPrefix(text, "the replace line is removed") && !exists(filepath.Join(dir, "third_party")) {
				before[filepath.Join(dir, "go.mod")] = read(t, filepath.Join(dir, "go.mod"))
				text, err = Run(t.Context(), o, t.Output())
			}
			if err == nil && !(o.Revert && strings.HasPrefix(text, "nothing to revert")) {
				t.Errorf("%+v: %q, and no error", o, text)
			}
			checkUnchanged(t, dir, before)
		}
	})
}
