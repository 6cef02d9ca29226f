// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package golden

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestDiff(t *testing.T) {
	for _, tt := range []struct{ old, new, want string }{
		{"", "", ""},
		{"a\nb\n", "a\nb\n", ""},
		{"a\nb\nc\n", "a\nx\nc\n", "-b\n+x\n"},
		{"a\n", "a\na\nb\n", "+a\n+b\n"},
		{"a\na\nb\n", "a\n", "-a\n-b\n"},
		{"a\nb\n", "b\na\n", "the same lines in another order\n"},
		{"a\n", "a", "-a\n+a\n"}, // the end of the line
		{"", "a\n", "+a\n"},
		{"\n", "", "-\n"},
	} {
		if got := diff(tt.old, tt.new); got != tt.want {
			t.Errorf("%q, %q: %q, want %q", tt.old, tt.new, got, tt.want)
		}
	}
}

func TestCheck(t *testing.T) {
	defer func(before bool) { *update = before }(*update)
	*update = false
	file := filepath.Join(t.TempDir(), "file.txt")
	if err := Check(file, "a\n"); !os.IsNotExist(err) {
		t.Errorf("no file: %v", err)
	}
	*update = true
	if err := Check(file, "a\nb\n"); err != nil {
		t.Fatal(err)
	}
	*update = false
	if err := Check(file, "a\nb\n"); err != nil {
		t.Error(err)
	}
	if err := Check(file, "a\nc\n"); err == nil || !strings.HasSuffix(err.Error(), ":\n-b\n+c\n") || !strings.Contains(err.Error(), "-update") {
		t.Errorf("another line: %v", err)
	}
	if err := os.WriteFile(file, []byte("a\r\nb\r\n"), 0o666); err != nil {
		t.Fatal(err)
	}
	if err := Check(file, "a\nb\n"); err != nil {
		t.Errorf("with the line ends of Windows: %v", err)
	}
}
