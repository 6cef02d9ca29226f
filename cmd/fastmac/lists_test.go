// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package main

import (
	"bytes"
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"testing"

	"github.com/spf13/pflag"
)

// TestKeyStdin has the key on standard input.
func TestKeyStdin(t *testing.T) {
	inFolder(t, map[string]string{"a": "content", "plain": hexKey})
	for _, name := range usable() {
		key, _ := command(t, exitOK, "keygen -o - -a "+name)
		os.WriteFile("key", []byte(key), 0o600)
		withStdin(t, "key")
		list, stderr := command(t, exitOK, "tag -k - a")
		os.WriteFile("sums", []byte(list), 0o600)
		withStdin(t, "key")
		if stdout, _ := command(t, exitOK, "verify -k - sums"); stdout != "a: OK\n" || stderr != "" {
			t.Errorf("%s: %q, %q", name, stdout, stderr)
		}
		command(t, exitOK, "verify -k key sums")
		// All that keygen writes is a key for tag, and its name is one for -a of both.
		command(t, exitOK, "tag -k key -a "+name+" a")
	}
	withStdin(t, "plain")
	command(t, exitOK, "tag -k - -a hmac-sha512 a")
	withStdin(t, "plain")
	if _, stderr := command(t, exitUsage, "tag -k - a"); !strings.HasPrefix(stderr, "fastmac: tag: - has a key without an algorithm: name it with -a") {
		t.Errorf("%q", stderr)
	}
	withStdin(t, "a")
	if _, stderr := command(t, exitUsage, "tag -k - a"); stderr == "" {
		t.Error("no error for a key that is none")
	}
	command(t, exitOK, "keygen -o key2")
	list, _ := command(t, exitOK, "tag -k key2 --out - a")
	os.WriteFile("sums", []byte(strings.Replace(list, "  a\n", "  -\n", 1)), 0o600)
	withStdin(t, "key2")
	if _, stderr := command(t, exitFailed, "verify -k - --special sums"); !strings.Contains(stderr, "fastmac: -: standard input has been read\n") {
		t.Errorf("%q", stderr)
	}
}

// TestOneSentence has a list and a key that do not fit, and gives one line, also with --quiet.
func TestOneSentence(t *testing.T) {
	inFolder(t, map[string]string{"a": "1", "b": "2", "c": "3"})
	command(t, exitOK, "keygen -o key")
	command(t, exitOK, "keygen -o other")
	command(t, exitOK, "keygen -o hmac -a hmac-sha512")
	list, _ := command(t, exitOK, "tag -k key a b c a b c")
	key, _ := os.ReadFile("key")
	other, _ := os.ReadFile("other")
	for name, content := range map[string]string{
		"sums": list, "old": fileLines(list),
		"utf16": "\xff\xfe" + strings.ReplaceAll(list, "", "\x00"), "bom": "\xef\xbb\xbf" + list,
		"mixed":   strings.Join(append(strings.Fields(string(key))[:2], strings.Fields(string(other))[2]), " "),
		"unknown": "md5 00",
	} {
		os.WriteFile(name, []byte(content), 0o600)
	}
	id := func(key []byte) string { return strings.Fields(string(key))[2] }
	for line, want := range map[string]string{
		"-k other sums":  "sums: the list was made with the key " + id(key) + ", and this is the key " + id(other),
		"-k hmac sums":   "sums: the tags are umac128, and the key is for hmac-sha512",
		"-k hmac old":    "old: the tags are umac128, and the key is for hmac-sha512",
		"-k key utf16":   "utf16: it is in UTF-16, which > writes in some Windows shells: make it with tag -o FILE",
		"-k key bom":     "bom: it begins with a byte order mark, which some editors and shells add: make it with tag -o FILE",
		"-k mixed sums":  "mixed: the identifier belongs to another key: the key or the identifier has changed",
		"-k utf16 sums":  "utf16: it is in UTF-16, which > writes in some Windows shells: make it with keygen -o FILE",
		"-k a sums":      "a: no key: it has characters that are not hex digits, or an odd number of them",
		"-k unknown old": "unknown: the key is for an unknown algorithm: want one of umac32, umac64, umac96, umac128, gmac, hmac-sha256, hmac-sha512",
		"-k nothing old": "nothing: ",
		"-k key nothing": "nothing: ",
		"-k key .":       ".: ",
	} {
		if line == "-k a sums" {
			line += " -a umac128"
		}
		for _, option := range []string{"", " -q", " --status", " --json", " --partial", " --ignore-missing"} {
			stdout, stderr := command(t, exitFailed, "verify "+line+option)
			if exact := "fastmac: " + want; stdout != "" || stderr != exact+"\n" && !strings.HasSuffix(want, ": ") || !strings.HasPrefix(stderr, exact) || strings.Count(stderr, "\n") != 1 {
				t.Errorf("%s: %q, %q, want %q", line+option, stdout, stderr, want)
			}
		}
	}
}

// TestHabits has the options of sha512sum.
func TestHabits(t *testing.T) {
	inFolder(t, map[string]string{"a": "1", "b": "2"})
	command(t, exitOK, "keygen -o key")
	list, _ := command(t, exitOK, "tag -k key a b")
	os.WriteFile("sums", []byte(list), 0o600)
	for _, tt := range []struct{ options, stdout, stderr string }{
		{"-c", "a: OK\nb: OK\n", "fastmac: 2 files OK; the list is as it was written\n"},
		{"--check", "a: OK\nb: OK\n", "fastmac: 2 files OK; the list is as it was written\n"},
		{"-c --quiet", "", ""},
		{"--status", "", ""},
	} {
		if stdout, stderr := command(t, exitOK, "verify -k key sums "+tt.options); stdout != tt.stdout || serials.ReplaceAllString(stderr, "") != tt.stderr {
			t.Errorf("%s: %q, %q", tt.options, stdout, stderr)
		}
	}
	os.WriteFile("b", nil, 0o600)
	os.Remove("a")
	for line, want := range map[string]string{
		"-c --ignore-missing sums": "b: FAILED\n|fastmac: 1 of 2 files FAILED\n",
		"-c --status sums":         "|",
	} {
		stdout, stderr := command(t, exitFailed, "verify -k key "+line)
		if stdout+"|"+stderr != want {
			t.Errorf("%s: %q, %q", line, stdout, stderr)
		}
	}
	// verify has no advice that is tag's.
	os.Mkdir("d", 0o700)
	list, _ = command(t, exitOK, "tag -k key b")
	os.WriteFile("sums", []byte(strings.Replace(list, "  b\n", "  d\n", 1)), 0o600)
	if _, stderr := command(t, exitFailed, "verify -k key sums"); !strings.Contains(stderr, "fastmac: d: is a folder\n") {
		t.Errorf("%q", stderr)
	}
}

// TestZero has lists of lines that end with a NUL, in which nothing is escaped.
func TestZero(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("needs names with backslashes and newlines")
	}
	inFolder(t, map[string]string{"a\nb": "1", `c\d`: "2", "\xff\x1b": "3"})
	command(t, exitOK, "keygen -o ../key")
	defer os.Remove("../key")
	list, _ := command(t, exitOK, `tag -k ../key -z -r . --label \a`)
	for _, name := range []string{"\x00label:  \\a\x00", "  ./a\nb\x00", `  ./c\d` + "\x00", "  ./\xff\x1b\x00"} {
		if !strings.Contains(list, name) {
			t.Errorf("%q is not in %q", name, list)
		}
	}
	if strings.Count(list, "\x00") != 9 || strings.Count(list, "\n") != 1 {
		t.Errorf("%q", list)
	}
	os.WriteFile("../sums", []byte(list), 0o600)
	defer os.Remove("../sums")
	if stdout, _ := command(t, exitOK, "verify -z -k ../key ../sums"); stdout != "\\./a\\nb: OK\n\\./c\\\\d: OK\n\\./\\xff\\x1b: OK\n" {
		t.Errorf("%q", stdout)
	}
	if _, stderr := command(t, exitFailed, "verify -k ../key ../sums"); !strings.Contains(stderr, "a list of tag -z needs verify -z\n") {
		t.Errorf("%q", stderr)
	}
}

// TestEmptyFolder has folders without files.
func TestEmptyFolder(t *testing.T) {
	inFolder(t, map[string]string{"a": "1"})
	os.MkdirAll("empty/too", 0o700)
	command(t, exitOK, "keygen -o key")
	if stdout, stderr := command(t, exitFailed, "tag -k key -r empty"); stdout != "" || stderr != "fastmac: empty: has no files\nfastmac: 1 of 1 file not tagged\n" {
		t.Errorf("%q, %q", stdout, stderr)
	}
	if stdout, stderr := command(t, exitFailed, "tag -k key -r a empty"); strings.Count(stdout, "\n") != 2 || stderr != "fastmac: empty: has no files\nfastmac: 1 of 2 files not tagged, so the list has no end line\n" {
		t.Errorf("%q, %q", stdout, stderr)
	}
	out, err := os.Create("empty/sums")
	if err != nil {
		t.Fatal(err)
	}
	defer out.Close()
	var stderr bytes.Buffer
	if code := run(t.Context(), strings.Fields("tag -k key -r empty"), out, &stderr); code != exitFailed || stderr.String() != "fastmac: no files except the output: nothing is tagged\n" {
		t.Errorf("%d, %q", code, &stderr)
	}
}

// TestNoName has the argument that a shell makes of a variable without a value.
func TestNoName(t *testing.T) {
	inFolder(t, map[string]string{"a": "1", "d/b": "2"})
	command(t, exitOK, "keygen -o key")
	for _, args := range [][]string{{"", "a"}, {"-r", "d", ""}} {
		var stdout, stderr bytes.Buffer
		code := run(t.Context(), append([]string{"tag", "-k", "key", "-o", "list"}, args...), &stdout, &stderr)
		if _, err := os.Stat("list"); code != exitFailed || err == nil || !strings.HasPrefix(stderr.String(), "fastmac: : ") {
			t.Errorf("%q: exit status %d, %q, stat: %v", args, code, &stderr, err)
		}
	}
}

// TestOut has -o: the list appears at once, and only if tag came to its end.
func TestOut(t *testing.T) {
	inFolder(t, map[string]string{"d/a": "1", "d/b": "2", "d/sums": "old\n"})
	command(t, exitOK, "keygen -o key")
	names := func() string {
		entries, err := os.ReadDir("d")
		if err != nil {
			t.Fatal(err)
		}
		text := ""
		for _, e := range entries {
			text += e.Name() + " "
		}
		return text
	}
	check := func(what, want string) {
		t.Helper()
		if text, err := os.ReadFile("d/sums"); err != nil || string(text) != want || names() != "a b sums " {
			t.Errorf("%s: %v, %q, in %s", what, err, text, names())
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	var out, errs bytes.Buffer
	if code := run(ctx, strings.Fields("tag -k key -r d --force -o d/sums"), &out, &errs); code != exitInterrupted {
		t.Errorf("%d, %q", code, &errs)
	}
	check("interrupted", "old\n")
	if err := os.Chmod("d/sums", 0o640); err != nil {
		t.Fatal(err)
	}
	if stdout, stderr := command(t, exitOK, "tag -k key -r d --force -o d/sums"); stdout+stderr != "" {
		t.Errorf("%q, %q", stdout, stderr)
	}
	list, _ := os.ReadFile("d/sums")
	check("done", string(list))
	if info, err := os.Stat("d/sums"); err != nil || runtime.GOOS != "windows" && info.Mode().Perm() != 0o640 {
		t.Errorf("%v, %v", info.Mode(), err)
	}
	if stdout, _ := command(t, exitOK, "verify -k key d/sums --complete d"); stdout != "d/a: OK\nd/b: OK\n" {
		t.Errorf("%q", stdout)
	}
	// A file that cannot be tagged, or no file: the list of before stays, and no new one is left.
	for _, line := range []string{"d/a missing -o d/sums", "missing -o d/sums", "d/sums -o d/sums", "d/a missing -o d/new"} {
		out := strings.Fields(line)[len(strings.Fields(line))-1]
		if _, stderr := command(t, exitFailed, "tag --force -k key "+line); !strings.HasSuffix(stderr, "not tagged, so no list is written to "+out+"\n") {
			t.Errorf("%s: %q", line, stderr)
		}
		check(line, string(list))
	}
	if _, stderr := command(t, exitFailed, "tag -k key d/sums --force -o d/sums"); !strings.HasPrefix(stderr, "fastmac: d/sums: is the output\n") {
		t.Errorf("%q", stderr)
	}
	here, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{"d/sums", "./d/../d/sums", filepath.Join(here, "d", "sums")} {
		if _, stderr := command(t, exitFailed, "tag -k key d/a -o "+path); !strings.Contains(stderr, ": is there already: ") {
			t.Errorf("%s: %q", path, stderr)
		}
		check(path, string(list))
	}
	for path, want := range map[string]string{
		"d":         "d: is a folder: want a file for the list",
		"missing/x": "missing/x: ",
	} {
		if _, stderr := command(t, exitFailed, "tag -k key key -o "+path); !strings.HasPrefix(stderr, "fastmac: "+want) || strings.Count(stderr, "\n") != 1 {
			t.Errorf("%s: %q", path, stderr)
		}
	}
	if names() != "a b sums " {
		t.Errorf("left: %s", names())
	}
}

// TestOutLink has -o with a link and with a device.
func TestOutLink(t *testing.T) {
	inFolder(t, map[string]string{"d/list": "old\n"})
	command(t, exitOK, "keygen -o key")
	if err := os.Symlink(filepath.Join("d", "list"), "link"); err != nil {
		t.Skip(err)
	}
	command(t, exitOK, "tag -k key key --force -o link")
	if info, err := os.Lstat("link"); err != nil || info.Mode()&os.ModeSymlink == 0 {
		t.Errorf("the link is gone: %v", err)
	}
	command(t, exitOK, "verify -k key d/list")
	if _, err := os.Stat("/dev/null"); err == nil {
		if _, stderr := command(t, exitFailed, "tag -k key key -o /dev/null"); stderr != "fastmac: /dev/null: is not a regular file: want one; without -o the list goes to standard output\n" {
			t.Errorf("%q", stderr)
		}
	}
	if err := os.Symlink("nothing", "broken"); err != nil {
		t.Fatal(err)
	}
	if _, stderr := command(t, exitFailed, "tag -k key key -o broken"); stderr != "fastmac: broken: is a link to a file that does not exist: make the file, or remove the link\n" {
		t.Errorf("%q", stderr)
	}
	if _, stderr := command(t, exitFailed, "keygen -o broken"); stderr != "fastmac: broken exists: a key is never overwritten\n" {
		t.Errorf("%q", stderr)
	}
	if _, err := os.Lstat("nothing"); err == nil {
		t.Error("a key was written through a link")
	}
	if target, err := os.Readlink("broken"); target != "nothing" {
		t.Errorf("the link is gone: %v", err)
	}
}

// TestInstallDocs has the files of man and of shells.
func TestInstallDocs(t *testing.T) {
	dir := inFolder(t, nil)
	stdout, stderr := command(t, exitOK, "install-docs --prefix "+dir)
	if stderr != "" {
		t.Errorf("%q", stderr)
	}
	written := make(map[string]string)
	for path := range strings.Lines(stdout) {
		path = strings.TrimSuffix(path, "\n")
		text, err := os.ReadFile(path)
		if err != nil || len(text) == 0 {
			t.Errorf("%s: %v", path, err)
		}
		name, _ := filepath.Rel(dir, path)
		written[filepath.ToSlash(name)] = string(text)
	}
	// Longer files of an earlier version are replaced.
	for name, text := range written {
		if err := os.WriteFile(filepath.FromSlash(name), []byte(text+"earlier"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	command(t, exitOK, "install-docs --prefix "+dir)
	for name, want := range written {
		if text, err := os.ReadFile(filepath.FromSlash(name)); err != nil || string(text) != want {
			t.Errorf("%s has %d bytes, want %d: %v", name, len(text), len(want), err)
		}
	}
	var missing []string
	for _, command := range append(rootCommand().Commands(), rootCommand()) {
		page := "share/man/man1/" + strings.ReplaceAll(command.CommandPath(), " ", "-") + ".1"
		text, ok := written[page]
		if !ok {
			missing = append(missing, page)
		}
		delete(written, page)
		// Each word of the help is in the page, in its order.
		rest := strings.NewReplacer(`\-`, "-", `\e`, `\`, `\\`, `\`, `\&`, "").Replace(text)
		block := true // the next line, if it is indented, is in lines of its own
		for line := range strings.Lines(command.Long) {
			indented := strings.HasPrefix(line, "  ")
			if indented && block && !(strings.Contains(rest, strings.TrimSpace(line)+"\n") && strings.Contains(rest, "\n.EX\n")) {
				t.Errorf("%s: no line %q", page, line)
			}
			block = line == "\n" || indented && block
			if line == strings.ToUpper(line) && strings.Trim(line, "ABCDEFGHIJKLMNOPQRSTUVWXYZ") == "\n" && line != "\n" && !strings.Contains(text, ".SH "+line) {
				t.Errorf("%s: no heading %q", page, line)
			}
		}
		for _, word := range strings.Fields(command.Long) {
			_, after, found := strings.Cut(rest, word)
			if !found {
				t.Errorf("%s: no %q in %.200q", page, word, rest)
				break
			}
			rest = after
		}
		command.Flags().VisitAll(func(f *pflag.Flag) {
			if !strings.Contains(text, `\-\-`+strings.ReplaceAll(f.Name, "-", `\-`)) && !strings.Contains(text, "--"+f.Name) {
				t.Errorf("%s: no --%s", page, f.Name)
			}
		})
		checkPage(t, filepath.Join(dir, filepath.FromSlash(page)))
	}
	for _, name := range []string{"bash-completion/completions/fastmac", "zsh/site-functions/_fastmac", "fish/vendor_completions.d/fastmac.fish"} {
		if !strings.Contains(written["share/"+name], "__complete") {
			missing = append(missing, name)
		}
		delete(written, "share/"+name)
	}
	if len(missing) > 0 || len(written) > 0 {
		t.Errorf("missing %q, besides %q", missing, written)
	}
	t.Setenv("HOME", dir)
	t.Setenv("USERPROFILE", dir)
	if stdout, _ := command(t, exitOK, "install-docs"); !strings.HasPrefix(stdout, filepath.Join(dir, ".local", "share", "man")) {
		t.Errorf("%q", stdout)
	}
	os.WriteFile("file", nil, 0o600)
	if _, stderr := command(t, exitFailed, "install-docs --prefix file"); strings.Count(stderr, "\n") != 1 {
		t.Errorf("%q", stderr)
	}
}

// checkPage checks a man page with groff, if there is one.
func checkPage(t *testing.T, path string) {
	t.Helper()
	out, err := exec.Command("groff", "-man", "-Tutf8", "-ww", "-z", path).CombinedOutput()
	if errors.Is(err, exec.ErrNotFound) {
		return
	}
	if err != nil || len(out) > 0 {
		t.Errorf("%s: %v, %s", path, err, out)
	}
}

// TestDocumentedFormat verifies the example of docs/list-format.md, and makes it.
func TestDocumentedFormat(t *testing.T) {
	text, err := os.ReadFile(filepath.Join("..", "..", "docs", "list-format.md"))
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"fastmac list 1", "key identifier ", "list tag ", "\nend:ALGORITHM:KEY:LINES:TAG", "\nend2:ALGORITHM:KEY:LINES:TAG", "\nfastmac list 2::  ALGORITHM\n"} {
		if !bytes.Contains(text, []byte(want)) {
			t.Errorf("docs/list-format.md has no %q", want)
		}
	}
	// The example is a key, a file with "abc\n", and its list.
	_, example, ok := strings.Cut(string(text), ":\n\n```\n")
	example, _, ok2 := strings.Cut(example, "```\n")
	key, list, ok3 := strings.Cut(example, "\n")
	if !ok || !ok2 || !ok3 {
		t.Fatal("no example")
	}
	inFolder(t, map[string]string{"key": key + "\n", "abc.txt": "abc\n", "sums": list})
	if stdout, stderr := command(t, exitOK, "verify -k key sums"); stdout != "abc.txt: OK\n" || stderr != "fastmac: 1 file OK; the list is as it was written; serial 1, 2026-11-29T05:43:34Z, label letters\n" {
		t.Errorf("%q, %q", stdout, stderr)
	}
	// But the state of the file, the time and the tag, that is what tag writes.
	same := func(list string) string {
		return regexp.MustCompile(`(?m)^time:  .{20}$|[0-9a-f]{128}$`).ReplaceAllString(states.ReplaceAllString(list, "$1::::  "), "")
	}
	if tagged, _ := command(t, exitOK, "tag -k key --label letters abc.txt"); same(tagged) != same(list) {
		t.Errorf("tag prints %q, the example is %q", tagged, list)
	}
	// OpenSSL agrees, also with HMAC-SHA-256.
	_, script, _ := strings.Cut(string(text), "```sh\n")
	script, _, _ = strings.Cut(script, "```\n")
	if version, err := exec.Command("openssl", "version").Output(); err != nil || !bytes.HasPrefix(version, []byte("OpenSSL 3")) || runtime.GOOS == "windows" {
		t.Skip("needs OpenSSL 3 and a shell")
	}
	command(t, exitOK, "keygen -o key256 -a hmac-sha256")
	command(t, exitOK, "tag -k key256 -o sums256 abc.txt")
	for key, bits := range map[string]string{"key": "512", "key256": "256"} {
		sums := strings.Replace(key, "key", "sums", 1)
		list, err := os.ReadFile(sums)
		if err != nil {
			t.Fatal(err)
		}
		script := strings.NewReplacer("KEYFILE", key, "SUMS", sums, "-sha512", "-sha"+bits).Replace(script)
		out, err := exec.Command("sh", "-ec", script).CombinedOutput()
		line := strings.TrimPrefix(fileLines(string(list)), "hmac-sha"+bits+"::")
		want := strings.Replace(line, "  ", " *", 1) + string(list[bytes.LastIndexByte(list, ':')+1:])
		if err != nil || strings.ToLower(string(out)) != want {
			t.Errorf("%s: %v: %s, want %s", key, err, out, want)
		}
	}
}
