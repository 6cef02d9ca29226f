// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package main

import (
	"bytes"
	"cmp"
	"crypto"
	"encoding/hex"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"testing"

	"example.com/fastmac"
	"example.com/fastmac/internal/mactest"
	"github.com/spf13/pflag"
)

// inFolder makes a new folder the current one, with these files, and returns its path.
func inFolder(t *testing.T, files map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	t.Chdir(dir)
	for name, content := range files {
		if err := os.MkdirAll(filepath.Dir(name), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

var names = []string{"umac32", "umac64", "umac96", "umac128", "gmac", "hmac-sha256", "hmac-sha512"}

// usable returns the algorithms that this machine has.
func usable() []string {
	if fastmac.RequireGCM() != nil {
		return []string{"umac32", "umac64", "umac96", "umac128", "hmac-sha256", "hmac-sha512"}
	}
	return names
}

func TestSumsHelp(t *testing.T) {
	for _, tt := range []struct {
		line string
		want []string
	}{
		{"keygen --help", []string{"keygen -o KEYFILE", "-o, --out", "-a, --algorithm", "0600", "Exit status: "}},
		{"tag --help", []string{"tag -k KEYFILE FILE...", "-k, --key", "-r, --recursive", "-j, --jobs", "-o, --out FILE", "-z, --zero", "fastmac help lists", "Exit status: "}},
		{"verify --help", []string{"verify -k KEYFILE SUMS", "-q, --quiet", "--json", "FAILED open or read", "--complete FOLDER", "--partial", "--ignore-missing", "--status", "--label TEXT", "--at-least NUMBER", "--special", "-c, --check", "-z, --zero", "fastmac help lists", "Exit status: "}},
	} {
		stdout, stderr := command(t, exitOK, tt.line)
		for _, want := range tt.want {
			if !strings.Contains(stdout, want) {
				t.Errorf("%s: %q is not in %q", tt.line, want, stdout)
			}
		}
		for _, name := range names {
			if !strings.Contains(stdout, name) {
				t.Errorf("%s: no %s", tt.line, name)
			}
		}
		for out := range strings.Lines(stdout) {
			if len(out) > 81 {
				t.Errorf("%s: too wide: %q", tt.line, out)
			}
		}
		if stderr != "" {
			t.Errorf("%s: standard error %q", tt.line, stderr)
		}
		if n := strings.Count(stdout, "\n"); n > 70 {
			t.Errorf("%s: %d lines: what few people need is for listsTopic", tt.line, n)
		}
	}
}

func TestSumsUsage(t *testing.T) {
	inFolder(t, map[string]string{"hex": "00112233445566778899aabbccddeeff\n"})
	for _, tt := range []struct{ line, want string }{
		{"keygen", "keygen: -o KEYFILE is missing"},
		{"keygen -o", "keygen: flag needs an argument"},
		{"keygen -o x -a umac", `keygen: -a: no algorithm "umac": want one of umac32, umac64, umac96, umac128, gmac, hmac-sha256, hmac-sha512`},
		{"keygen -o x y", `keygen: unexpected argument "y"`},
		{"tag -k k", "tag: no files"},
		{"tag x", "tag: -k KEYFILE is missing: make a key with fastmac keygen"},
		{"tag -k - x -", "tag: --key - and the argument -: standard input can be one of them"},
		{"tag -k k --out= x", `tag: --out "": want a file for the list, or - for standard output`},
		{"tag -k k --update= x", `tag: --update "": want a file`},
		{"tag -k k --update - x", "tag: --update -: want a file with a list"},
		{"tag -k k --update x -o y", "tag: --out and --update cannot be combined"},
		{"tag -k k --update x --force", "tag: --force and --update cannot be combined"},
		{"tag -k k --files-from x y", `tag: "y" and names from a file: want one of them`},
		{"tag -k k --files-from x --files0-from y", "tag: --files-from and --files0-from cannot be combined"},
		{"tag -k - --files-from -", "tag: --key - and --files-from -: standard input can be one of them"},
		{"tag -k - -r d --exclude-from -", "tag: --key - and --exclude-from -: standard input can be one of them"},
		{"tag -k k --update x --old-key - -", "tag: --old-key - and the argument -: standard input can be one of them"},
		{"tag -k k --update x --old-key y --keep-going", "tag: --old-key and --keep-going cannot be combined"},
		{"tag -k k --update x --old-key -  --files-from -", "tag: --old-key - and --files-from -: standard input can be one of them"},
		{"tag -k k --accept-changes x", "tag: --accept-changes needs --update"},
		{"tag -k k --old-key y x", "tag: --old-key needs --update"},
		{"tag -k k --verify-all x", "tag: --verify-all needs --update"},
		{"tag -k k --force x", "tag: --force needs -o FILE"},
		{"tag -k k --exclude y x", "tag: --exclude needs -r"},
		{"tag -k k --json x", "tag: --json needs -o FILE or --update"},
		{"tag -k k --exclude-caches x", "tag: --exclude-caches needs -r"},
		{"tag -k k --one-file-system x", "tag: --one-file-system needs -r"},
		{"tag -k k -r --exclude= x", "tag: a pattern that is empty, or has a NUL"},
		{"tag -k k --files-from - --files-from -", "tag: --files-from - and --files-from -: standard input can be one of them"},
		{"tag -k k --files-from x --files-from=", `tag: --files-from "": want a file`},
		{"verify -k k --exclude-caches x", "verify: --exclude-caches is for --complete"},
		{"verify -k k --one-file-system x", "verify: --one-file-system is for --complete"},
		{"verify -k k --exclude y x", "verify: --exclude is for --complete"},
		{"verify -k - -", "verify: --key - and the argument -: standard input can be one of them"},
		{"verify -k k --partial --label y x", "verify: --partial accepts a list that does not say which it is: no --label and --at-least"},
		{"verify -k k --partial --at-least 1 x", "verify: --partial accepts a list that does not say which it is: no --label and --at-least"},
		{"tag -k k --at-least 1 x", "tag: --at-least needs --update"},
		{"tag -k k --update x --at-least=", "tag: --at-least: want a number, or a file that has one"},
		{"verify -k k --at-least= x", "verify: --at-least: want a number, or a file that has one"},
		{"verify -k k --at-least - x", "verify: --at-least: want a number, or a file that has one"},
		{"verify -k k --at-least 18446744073709551616 x", "verify: --at-least: 18446744073709551616 is too large for a serial number"},
		{"verify -k k --label= x", `verify: --label "": want a text`},
		{"tag -k k x --label " + strings.Repeat("x", 4097), "tag: --label: 4097 bytes, want at most 4096"},
		{"tag -k k --label= x", `tag: --label "": want a text`},
		{"verify -k k --status --json x", "verify: --status and --json cannot be combined"},
		{"verify -k k --complete= x", `verify: --complete "": want a folder`},
		{"tag -k k -a md5 x", `tag: -a: no algorithm "md5"`},
		{"tag -k k -j -1 x", "tag: --jobs -1: want 0 or more"},
		{"tag -k hex x", "tag: hex has a key without an algorithm: name it with -a"},
		{"verify -k k", "verify: 0 files"},
		{"verify -k k a b", "verify: 2 files"},
		{"verify x", "verify: -k KEYFILE is missing: want the key of the list"},
		{"verify -k hex x", "verify: hex has a key without an algorithm"},
		{"verify -r x", "verify: unknown shorthand flag: 'r'"},
	} {
		stdout, stderr := command(t, exitUsage, tt.line)
		if stdout != "" || !strings.HasPrefix(stderr, "fastmac: "+tt.want) || strings.Count(stderr, "\n") != 1 || !strings.HasSuffix(stderr, " --help\n") {
			t.Errorf("%s: %q, %q", tt.line, stdout, stderr)
		}
	}
	if _, err := os.Stat("x"); err == nil {
		t.Error("a key was written")
	}
}

func TestKeygen(t *testing.T) {
	inFolder(t, nil)
	seen := map[string]bool{}
	for _, name := range names {
		size := cmp.Or(map[string]int{"hmac-sha256": 32, "hmac-sha512": 64}[name], 16)
		stdout, stderr := command(t, exitOK, "keygen -o "+name+" -a "+name)
		text, err := os.ReadFile(name)
		if err != nil || stdout+stderr != "" {
			t.Fatalf("%v, %q, %q", err, stdout, stderr)
		}
		fields := strings.Fields(string(text))
		if len(fields) != 3 || string(text) != strings.Join(fields, " ")+"\n" || fields[0] != name || len(mustHex(t, fields[1])) != size || len(mustHex(t, fields[2])) != 8 || seen[fields[1]] || seen[fields[2]] {
			t.Fatalf("%s: %q", name, text)
		}
		seen[fields[1]], seen[fields[2]] = true, true
		if info, err := os.Stat(name); err != nil || runtime.GOOS != "windows" && info.Mode() != 0o600 {
			t.Errorf("%v, mode %v", err, info.Mode())
		}
		_, stderr = command(t, exitFailed, "keygen -o "+name+" -a "+name)
		if stderr != "fastmac: "+name+" exists: a key is never overwritten\n" {
			t.Errorf("%q", stderr)
		}
		if again, err := os.ReadFile(name); err != nil || !bytes.Equal(again, text) {
			t.Errorf("overwritten: %q", again)
		}
	}
	stdout, _ := command(t, exitOK, "keygen -o -")
	if !regexp.MustCompile(`^umac128 [0-9a-f]{32} [0-9a-f]{16}\n$`).MatchString(stdout) {
		t.Errorf("%q", stdout)
	}
	if _, stderr := command(t, exitFailed, "keygen -o missing/key"); !strings.HasPrefix(stderr, "fastmac: missing/key: ") || strings.Count(stderr, "\n") != 1 {
		t.Errorf("%q", stderr)
	}
}

// TestKeygenRandom checks that all bytes of keys are random.
func TestKeygenRandom(t *testing.T) {
	for _, name := range names {
		mactest.TestRandom(t, name, func() []byte {
			stdout, _ := command(t, exitOK, "keygen -o - -a "+name)
			return mustHex(t, strings.Fields(stdout)[1])
		})
	}
}

const hexKey = "000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f"

// TestTagGolden has lines with fixed tags: HMAC has no nonce.
func TestTagGolden(t *testing.T) {
	inFolder(t, map[string]string{"key": "hmac-sha512 " + hexKey, "plain": hexKey + "\r\n", "a": "abc", "d/.e/.f": "z", "d/.e/g": "", "d/..h": "y", "d/b": "", "d/c d": "x"})
	tag := func(msg string) string {
		sum := fastmac.SumHMAC(crypto.SHA512, nil, mustHex(t, hexKey), []byte(msg))
		return "hmac-sha512::" + hex.EncodeToString(sum) + "  "
	}
	folder := tag("y") + "d/..h\n" + tag("z") + "d/.e/.f\n" + tag("") + "d/.e/g\n" + tag("") + "d/b\n" + tag("x") + "d/c d\n"
	want := tag("abc") + "a\n" + folder
	for _, line := range []string{"tag -k key -r a d", "tag -k key -j 1 -r a d/", "tag -k plain -a hmac-sha512 -j 5 a -r d", "tag -k key -a hmac-sha512 a d/b -r d"} {
		lines := want
		if strings.HasSuffix(line, "d/b -r d") {
			lines = tag("abc") + "a\n" + tag("") + "d/b\n" + folder
		}
		stdout, stderr := command(t, exitOK, line)
		if got := fileLines(stdout); got != lines || stderr != "" {
			t.Errorf("%s: %q, %q, want %q", line, stdout, stderr, lines)
		}
	}
}

var (
	notFiles = regexp.MustCompile(`(?m)^(fastmac list 2::|\\?(folder|exclude|label|serial|time|end2):).*\n`)
	states   = regexp.MustCompile(`(?m)^([^ ]+):\d*:-?\d*:-?\d*:\d*  `)
	serials  = regexp.MustCompile(`; serial \d+, 20\d\d-\d\d-\d\dT\d\d:\d\d:\d\dZ`)
)

// fileLines returns the lines of files in a list, without sizes, times and inodes.
func fileLines(list string) string {
	return states.ReplaceAllString(notFiles.ReplaceAllString(list, ""), "$1  ")
}

func mustHex(t *testing.T, digits string) []byte {
	t.Helper()
	b, err := hex.DecodeString(digits)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// TestTagVerify tags with each algorithm, and verifies before and after a change.
func TestTagVerify(t *testing.T) {
	for _, name := range usable() {
		t.Run(name, func(t *testing.T) {
			large := strings.Repeat("large", 5<<20) // 25 MiB: windows of a mapping, POLY-128
			inFolder(t, map[string]string{"empty": "", "small": "content", "large": large, "middle": large[:1<<20+1]})
			command(t, exitOK, "keygen -o key -a "+name)
			stdout, stderr := command(t, exitOK, "tag -k key empty small large middle small")
			lines := strings.Split(strings.TrimSuffix(fileLines(stdout), "\n"), "\n")
			if stderr != "" || len(lines) != 5 {
				t.Fatalf("%q, %q", stdout, stderr)
			}
			if !strings.HasPrefix(name, "hmac") && strings.Split(lines[1], ":")[1] == strings.Split(lines[4], ":")[1] {
				t.Error("two files have the same nonce")
			}
			if err := os.WriteFile("sums", []byte(stdout), 0o600); err != nil {
				t.Fatal(err)
			}
			for _, jobs := range []string{"1", "2", "9"} {
				stdout, stderr = command(t, exitOK, "verify -k key sums -j "+jobs)
				if stdout != "empty: OK\nsmall: OK\nlarge: OK\nmiddle: OK\nsmall: OK\n" || serials.ReplaceAllString(stderr, "") != "fastmac: 5 files OK; the list is as it was written\n" {
					t.Errorf("%q, %q", stdout, stderr)
				}
			}
			if stdout, stderr = command(t, exitOK, "verify -k key sums --quiet"); stdout+stderr != "" {
				t.Errorf("%q, %q", stdout, stderr)
			}
			// The package agrees.
			fields := strings.FieldsFunc(lines[2], func(r rune) bool { return r == ':' || r == ' ' })
			checkTag(t, name, fields[1:], []byte(large))

			changed := []byte(large)
			changed[len(changed)-1]++
			if err := os.WriteFile("large", changed, 0o600); err != nil {
				t.Fatal(err)
			}
			if err := os.Remove("middle"); err != nil {
				t.Fatal(err)
			}
			stdout, stderr = command(t, exitFailed, "verify -k key sums --quiet")
			if stdout != "large: FAILED\nmiddle: FAILED open or read\n" ||
				!strings.HasPrefix(stderr, "fastmac: middle: ") || !strings.HasSuffix(stderr, "\nfastmac: 1 of 5 files FAILED; 1 of 5 files could not be read\n") {
				t.Errorf("%q, %q", stdout, stderr)
			}
			command(t, exitOK, "keygen -o other -a "+name)
			stdout, stderr = command(t, exitFailed, "verify -k other sums -q")
			if stdout != "" || !regexp.MustCompile(`^fastmac: sums: the list was made with the key [0-9a-f]{16}, and this is the key [0-9a-f]{16}\n$`).MatchString(stderr) {
				t.Errorf("%q, %q", stdout, stderr)
			}
			// Without the end line only the tags tell.
			os.WriteFile("sums", []byte(strings.Join(lines, "\n")+"\n"), 0o600)
			stdout, stderr = command(t, exitFailed, "verify -k other sums --partial")
			if strings.Count(stdout, ": FAILED\n") != 4 || !strings.Contains(stderr, "the key may be wrong") {
				t.Errorf("%q, %q", stdout, stderr)
			}
		})
	}
}

// TestTagRandom checks that all bytes of nonces are random: of the files of a run, and of runs.
func TestTagRandom(t *testing.T) {
	for _, name := range usable() {
		if strings.HasPrefix(name, "hmac") {
			continue // has no nonce
		}
		inFolder(t, map[string]string{"a": "content"})
		command(t, exitOK, "keygen -o key -a "+name)
		var lines []string
		mactest.TestRandom(t, name, func() []byte {
			if len(lines) == 0 {
				stdout, _ := command(t, exitOK, "tag -k key a a a a a a a a")
				lines = strings.Split(strings.TrimSuffix(fileLines(stdout), "\n"), "\n")
			}
			line := lines[0]
			lines = lines[1:]
			return mustHex(t, strings.Split(line, ":")[1])
		})
	}
}

// checkTag checks a line's nonce and tag, in hex, with package fastmac.
func checkTag(t *testing.T, name string, fields []string, msg []byte) {
	t.Helper()
	text, err := os.ReadFile("key")
	if err != nil {
		t.Fatal(err)
	}
	raw := mustHex(t, strings.Fields(string(text))[1])
	ok := false
	switch name {
	case "hmac-sha256", "hmac-sha512":
		k, err := fastmac.NewHMACKey(map[string]crypto.Hash{"hmac-sha256": crypto.SHA256, "hmac-sha512": crypto.SHA512}[name], raw)
		ok = err == nil && k.Verify(mustHex(t, fields[0]), msg)
	case "gmac":
		k, err := fastmac.NewGMACKey(raw)
		ok = err == nil && k.Verify(mustHex(t, fields[1]), mustHex(t, fields[0]), msg)
	default:
		k, err := fastmac.NewUMACKey(raw, len(fields[1])/2)
		ok = err == nil && k.VerifySigned(mustHex(t, fields[0]+fields[1]), msg)
	}
	if !ok {
		t.Errorf("%s %q: not the tag by the package", name, fields)
	}
}

// TestDefaults has what the options of tag and verify are if they are not given.
func TestDefaults(t *testing.T) {
	for _, name := range []string{"tag", "verify"} {
		cmd, _, err := rootCommand().Find([]string{name})
		if err != nil {
			t.Fatal(err)
		}
		cmd.Flags().VisitAll(func(f *pflag.Flag) {
			if !slices.Contains([]string{"", "0", "false", "[]"}, f.DefValue) {
				t.Errorf("%s --%s: %q", name, f.Name, f.DefValue)
			}
		})
	}
}
