// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package sshpatch

import (
	"go/format"
	"os"
	"strings"
	"testing"
)

func TestOldest(t *testing.T) {
	mod, err := os.ReadFile("../../go.mod")
	if err != nil {
		t.Fatal(err)
	}
	if want := "golang.org/x/crypto " + Oldest + "\n"; !strings.Contains(string(mod), want) {
		t.Errorf("go.mod does not require %s", want)
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
