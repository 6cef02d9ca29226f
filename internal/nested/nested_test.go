// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

// Package nested has only a test: of the modules for users in the folders of the root module.
package nested

import (
	"bytes"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"example.com/fastmac/internal/mactest"
)

// TestNested runs the tests of the nested modules for users: ./... matches no package of another
// module, not even in a workspace.
func TestNested(t *testing.T) {
	mactest.NeedGo(t)
	root := filepath.Join("..", "..")
	// The go command runs this test again if a folder that it has read has changed.
	if err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err == nil && d.IsDir() && path != root && strings.HasPrefix(d.Name(), ".") {
			return filepath.SkipDir
		}
		return err
	}); err != nil {
		t.Fatal(err)
	}
	for _, module := range []string{"sshmac", "packet"} {
		t.Run(module, func(t *testing.T) {
			cmd := exec.Command("go", "test", "./...")
			// Their job in .ci/run has cgo. Without it package net is compiled faster.
			cmd.Dir, cmd.Env = filepath.Join(root, module), append(mactest.HostEnv(), "CGO_ENABLED=0")
			if _, err := os.Stat(cmd.Dir); err != nil {
				t.Skip("this copy of the root module has no others:", err)
			}
			out, err := cmd.CombinedOutput()
			if bytes.Contains(out, []byte("go.mod requires go >=")) {
				t.Skipf("a newer Go is needed: %s", out)
			}
			if t.Logf("%s", out); err != nil {
				t.Errorf("%s in %s: %v", strings.Join(cmd.Args, " "), module, err)
			}
		})
	}
}
