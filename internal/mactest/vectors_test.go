// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package mactest

import (
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// TestFiles checks that the loader's tables and testdata/README.md name the files of
// testdata, with the same numbers of tags. The loader compares these with the files.
func TestFiles(t *testing.T) {
	dir := testdata(t)
	inTables := make(map[string]int)
	for _, f := range slices.Concat(umacFiles, hmacFiles, pbkdf2Files, hkdfFiles, gcmFiles) {
		inTables[f.name] = f.tags
	}

	present := make(map[string]bool)
	if err := fs.WalkDir(os.DirFS(dir), ".", func(name string, d fs.DirEntry, err error) error {
		if strings.HasSuffix(name, ".json") {
			present[name] = true
		}
		return err
	}); err != nil {
		t.Fatal(err)
	}
	for name := range present {
		if _, ok := inTables[name]; !ok {
			t.Errorf("testdata/%s is not loaded", name)
		}
	}

	readme, err := os.ReadFile(filepath.Join(dir, "README.md"))
	if err != nil {
		t.Fatal(err)
	}
	described := make(map[string]int)
	for _, m := range regexp.MustCompile("(?m)^\\| `(.+\\.json)` \\| ([0-9,]+) (?:tags|keys)").FindAllStringSubmatch(string(readme), -1) {
		n, err := strconv.Atoi(strings.ReplaceAll(m[2], ",", ""))
		if err != nil {
			t.Fatal(err)
		}
		described[m[1]] = n
	}
	if !maps.Equal(described, inTables) {
		t.Errorf("testdata/README.md has tags %v, the loader %v", described, inTables)
	}
}
