// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package sshpatch

import (
	"errors"
	"fmt"
	"go/format"
	"io/fs"
	"os"
	"strings"
	"testing"
)

func TestOldest(t *testing.T) {
	mod, err := os.ReadFile("../../sshmac/go.mod")
	if errors.Is(err, fs.ErrNotExist) {
		t.Skip("this copy of the root module has no others:", err)
	}
	if err != nil {
		t.Fatal(err)
	}
	if want := "golang.org/x/crypto " + Oldest + "\n"; !strings.Contains(string(mod), want) {
		t.Errorf("sshmac/go.mod does not require %s", want)
	}
}

// TestFormat checks these files with gofmt, as for files that end in .go. That they
// compile and work is tested where they are applied.
func TestFormat(t *testing.T) {
	for name, source := range map[string]string{Name: Source, TestName: Test} {
		formatted, err := format.Source([]byte(source))
		if err != nil {
			t.Errorf("%s: %v", name, err)
		} else if string(formatted) != source {
			t.Errorf("gofmt would change %s", name)
		}
	}
}

// TestProposal checks that PROPOSAL.md has the doc comment and the declaration of the file, and
// the numbers of lines.
func TestProposal(t *testing.T) {
	content, err := os.ReadFile("PROPOSAL.md")
	if err != nil {
		t.Fatal(err)
	}
	_, api, _ := strings.Cut(Source, "\n// RegisterMAC ")
	api, _, ok := strings.Cut("// RegisterMAC "+api, " {\n")
	if !ok || !strings.Contains(string(content), "```go\n"+api+"\n```\n") {
		t.Errorf("PROPOSAL.md does not have\n%s", api)
	}
	want := fmt.Sprintf("A file of %d lines, and a test of %d", strings.Count(Source, "\n"), strings.Count(Test, "\n"))
	if !strings.Contains(string(content), want) {
		t.Errorf("PROPOSAL.md does not have %q", want)
	}
}
