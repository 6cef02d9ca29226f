// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package sums

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestDrive has paths that begin in the current folder of a drive: they name no file of a list. All others of
// a folder are the same.
func TestDrive(t *testing.T) {
	a := newArchive(t, map[string]string{"d/A.txt": "1", "d/sub/b": "2"}, nil)
	here, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	drive := filepath.VolumeName(here)
	for _, folder := range []string{`\\?\` + here + `\d`, "//?/" + filepath.ToSlash(here) + "/d", `\\.\` + here + `\D`, here[len(drive):] + `\d`, strings.ToLower(here) + `\d\`, `.\d\sub\..`} {
		if out, err := a.verifyFolders(folder); out != "" || err != nil {
			t.Errorf("%s: %q, %v", folder, out, err)
		}
		a.Recursive = true
		a.check("update of "+folder, "", "fastmac: 2 files: 2 kept, 0 changed, 0 new; 0 gone\n", "", folder)
	}
	const refusal = "begins in the current folder of that drive"
	for _, path := range []string{drive, drive + "d", drive + "d/A.txt"} {
		if out, _ := a.verifyFolders(path); !strings.HasPrefix(out, path+": FAILED open or read\n") {
			t.Errorf("%s: %q", path, out)
		}
		if _, stderr, err := a.tag(path); err == nil || !strings.Contains(stderr, refusal) {
			t.Errorf("%s: %q, %v", path, stderr, err)
		}
	}
}

// TestHiddenName has a file that only paths after \\?\ reach: it is not taken for the one whose name Windows makes
// of its own.
func TestHiddenName(t *testing.T) {
	a := newArchive(t, map[string]string{"d/a": "1"}, nil)
	here, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(`\\?\`+here+`\d\a.`, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if out, err := a.verifyFolders("d"); out != "d/a.: FAILED open or read\n" || err == nil {
		t.Errorf("%q, %v", out, err)
	}
	a.Recursive = true
	if _, stderr, err := a.tag("d"); err == nil || !strings.Contains(stderr, "d/a.: a name with a dot or a space at its end") {
		t.Errorf("%q, %v", stderr, err)
	}
	a.Options = Options{KeyFile: "key", Recursive: true, Output: "list", Force: true}
	folder := `\\?\` + here + `\d`
	if _, stderr, err := a.tag(folder); err != nil || stderr != "" {
		t.Errorf("%q, %v", stderr, err)
	}
	if out, err := a.verifyFolders(folder); out != "" || err != nil {
		t.Errorf("%q, %v", out, err)
	}
}

// TestMessages has paths in messages as they were typed.
func TestMessages(t *testing.T) {
	a := newArchive(t, small, nil)
	if _, err := Verify(t.Context(), Options{KeyFile: `.\key`}, `.\d\list`, true); err == nil || !strings.HasPrefix(err.Error(), `.\d\list: `) {
		t.Error(err)
	}
	if _, err := Verify(t.Context(), Options{KeyFile: `d\key`}, "list", true); err == nil || !strings.HasPrefix(err.Error(), `d\key: `) {
		t.Error(err)
	}
	for _, path := range []string{`.\d\missing`, "./d/missing"} {
		if _, stderr, err := a.tag(path); err == nil || !strings.HasPrefix(stderr, "fastmac: "+path+": ") {
			t.Errorf("%q, %v", stderr, err)
		}
	}
	a.Update, a.Output = "", `.\list`
	if _, _, err := a.tag("d/a"); err == nil || !strings.HasPrefix(err.Error(), `.\list: is there already: --update .\list brings`) {
		t.Error(err)
	}
}
