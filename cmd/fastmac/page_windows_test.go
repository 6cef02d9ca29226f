// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// TestDirectoryDrive has files of options without a drive, and without a folder, for -C.
func TestDirectoryDrive(t *testing.T) {
	here := inFolder(t, map[string]string{"d/a": "1"})
	drive := filepath.VolumeName(here)
	rooted := here[len(drive):]
	command(t, exitOK, "keygen -o "+rooted+`\key`)
	command(t, exitOK, "tag -C d -k "+rooted+`\key -o `+drive+"list a")
	command(t, exitOK, "verify -C d -k "+drive+"key "+rooted+`\list`)
}

// TestPageInCmd runs the lines about files of docs/files.md in cmd.exe, with names of Windows.
func TestPageInCmd(t *testing.T) {
	lines, left := pageLines(t)
	program, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	inFolder(t, map[string]string{`keys\x`: "", `Photos\a.jpg`: "1", `Photos\sub\B.jpg`: "2", `Photos\x.TMP`: "", `Photos\Cache\c`: "", `disk\a`: "1", `disk\$Recycle.Bin\b`: "", `disk\System Volume Information\c`: "", `disk\._d`: "", `disk\.DS_Store`: ""})
	cmd := func(line string) (string, error) {
		line = strings.ReplaceAll(line, "fastmac ", `"`+program+`" `)
		line = strings.NewReplacer("NEWKEY", `keys\new`, "KEYFILE", `.\keys\old`, "FOLDER", `.\photos`, "SUMS", `.\photos.sums`, "NAMES", "names.txt").Replace(line)
		if err := os.WriteFile("line.bat", []byte("@"+line+"\r\n"), 0o600); err != nil {
			t.Fatal(err)
		}
		c := exec.Command("cmd", "/c", "line.bat")
		c.Env = append(os.Environ(), commandVariable+"=1")
		out, err := c.CombinedOutput()
		return strings.ReplaceAll(string(out), "\r", ""), err
	}
	// check compares the files of the list.
	check := func(want string) {
		t.Helper()
		text, err := os.ReadFile("photos.sums")
		if err != nil {
			t.Fatal(err)
		}
		var paths []string
		for line := range strings.Lines(string(text)) {
			if sums, path, _ := strings.Cut(strings.TrimSuffix(line, "\n"), "  "); strings.HasPrefix(sums, "umac128:") {
				paths = append(paths, path)
			}
		}
		if got := strings.Join(paths, " "); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
	for _, line := range lines {
		switch {
		case strings.Contains(line, "--old-key"):
			if out, err := cmd("fastmac keygen -o NEWKEY"); err != nil {
				t.Fatalf("%v: %s", err, out)
			}
		case strings.Contains(line, "-o SUMS"):
			os.Remove("photos.sums")
		}
		if out, err := cmd(line); err != nil {
			t.Errorf("%s: %v: %s", line, err, out)
		}
		if strings.Contains(line, "*.tmp") {
			check("./photos/a.jpg ./photos/sub/B.jpg")
		}
	}
	os.Remove("photos.sums")
	if out, err := cmd("fastmac tag -k KEYFILE -r disk -o SUMS " + left); err != nil {
		t.Errorf("%v: %s", err, out)
	}
	check("disk/a")
	os.Remove("photos.sums")
	here, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	for _, line := range []string{`dir /s /b /a-d FOLDER\sub > NAMES`, "fastmac tag -k KEYFILE --files-from NAMES -o SUMS"} {
		if out, err := cmd(line); err != nil {
			t.Errorf("%v: %s", err, out)
		}
	}
	names, err := os.ReadFile("names.txt")
	if err != nil || !strings.EqualFold(string(names), here+`\photos\sub\B.jpg`+"\r\n") {
		t.Errorf("%q, %v", names, err)
	}
	check(filepath.ToSlash(strings.TrimSpace(string(names))))
}
