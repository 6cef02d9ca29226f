// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package sums

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
)

func TestPatterns(t *testing.T) {
	for _, test := range []struct{ patterns, left, skipped string }{
		{"*.o", "a d/b.c", "a.o d/b.o d/e/.o"},
		{"/a", "d/a", "a a/b"},
		{"d/a", "a e/d/a", "d/a d/a/b"},
		{"**/d/a", "a", "d/a e/d/a"},
		{"a/", "a d/a", "a/b d/a/c"},
		{"d/**", "d", "d/a d/e/f"},
		{"a/**/b", "ab a/bc", "a/b a/c/b a/c/d/b"},
		{"*.c !/d/x.c", "d/x.c", "x.c e/d/x.c"},
		{"!a *", "", "a b"},
		{"* !a", "a", "b d/c"},
		{"/* !/d/", "d/a d/b/c", "a e/d"},
		{"[a-c]x", "dx", "ax d/bx"},
		{"[!a]x", "ax", "bx"},
		{"?", "ab dd/ef", "a dd/e"},
		{`\*`, "a", "* d/*"},
		{`\a\#`, "a", "a#"},
		{`\!a`, "a", "!a"},
		{"é*", "e", "é éé"},
		{"a*b", "a/b", "ab acb"},
	} {
		all, err := parsePatterns(strings.Fields(test.patterns))
		if err != nil {
			t.Errorf("%s: %v", test.patterns, err)
			continue
		}
		skip := skipper(all, false)
		for want, paths := range map[bool]string{false: test.left, true: test.skipped} {
			for _, path := range strings.Fields(paths) {
				if skips(skip, path, false) != want {
					t.Errorf("%s: %s is left out: %v, want %v", test.patterns, path, !want, want)
				}
			}
		}
	}
	if skipper(nil, false) != nil {
		t.Error("no pattern leaves something out")
	}
	// Whoever has written a file of patterns does not make others wait: this one would take minutes if the ] were
	// looked for again after each "[:".
	if p, err := parsePattern("[" + strings.Repeat("[:", 2<<20) + "x]"); err != nil || !p.matches(":", false, false) || p.matches("a", false, false) {
		t.Errorf("a long bracket: %v", err)
	}
	for _, text := range []string{"", "a\x00b"} {
		if _, err := parsePattern(text); err == nil {
			t.Errorf("%q is accepted", text)
		}
	}
	texts, err := readPatterns(strings.NewReader("\xef\xbb\xbf# comment\n\n*.o\r\n  \na \\ \n\\#b  \n!c\nd\\\\ "))
	if want := []string{"*.o", `a \ `, `\#b`, "!c", `d\\`}; err != nil || !slices.Equal(texts, want) {
		t.Errorf("%q, %v, want %q", texts, err, want)
	}
}

// gitCorners are patterns about which the manual of gitignore says nothing, or something else than Git does.
var gitCorners = []string{
	`a\\ `, "a\\ ", "a\\  ", "a ", " a", `a\`, `\`, `a\/`, `d\/a`, `\!a`, `\#`, "#", "!", "!/", "/", "//", "//a", "d//a", " ", "\xef\xbb\xbfa",
	"**.c", "**a", "a**", "***", "a***c", "**/**", "**/**/a", "/**", "d/**", "d**/a", "/d**/a", "/a**/a", "d/**a", "d/a**/a", "**/", "**/a/", "d/**/", `**\/a`, `d/**\/a`, "/*", "*/", "*/*/a", "d/*/a.c",
	"[", "[]", "[]]", "[]a]", "[!]]", "[!", "[!]", "[^]", "[^a]", "[a", "[a/b]", "d[/]a", "d[!a]a", "d?a", "[-a]", "[a-]", "[a-]x", "[!-a]", "[b-a]", "[a-c-e]", "[a-c-]", "[+--]", `[\]]`, `[\a-\c]`, `[a\-c]`, `[\`, `[a\`, `[a-\`, "[[]", "[[a]",
	"*.[[:alpha:]]", "[[:alpha:]]", "[[:digit:][:upper:]]", "[![:alnum:]]", "[[:punct:]]", "[[:space:]]a", "[[:lower:]-z]", "[[:foo:]]", "[[:alpha:]", "[[:alpha", "[[:alpha]", "[[:]", "[[:]]", "[[::]]", "[a[:digit:]-]", "[a[:digit:]-c]", "a[[:space:]]", "[[:xdigit:]][[:graph:]]", "[[:cntrl:]]", "[[:print:]][[:blank:]]", "[[:UPPER:]]", "[[:[:alpha:]]", "[[:a[:digit:]]", "[[:[:]", "[![:[:]",
	"?", "??", "é", "[é]", "[!a]?", "*é", "é*", "D", "[D]", "[C-E]", "[!D]", "[^A-Z]", "A.C", "*.C", "[[:upper:]]", "D/**", "\xff", "a\r", "a\ra", "**/d/**/a.c", "*a*b*c", "x-/*/*", "/!a", "d/#/a",
}

// TestGit compares patterns with Git: the corners, one by one, and others of random parts, as the file has them.
func TestGit(t *testing.T) {
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("no git: apt-get install git")
	}
	t.Chdir(t.TempDir())
	git := func(stdin []byte, args ...string) []byte {
		t.Helper()
		cmd := exec.Command("git", args...)
		cmd.Env = append(os.Environ(), "GIT_CONFIG_NOSYSTEM=1", "GIT_CONFIG_GLOBAL="+os.DevNull, "GIT_CEILING_DIRECTORIES=")
		cmd.Stdin = bytes.NewReader(stdin)
		out, err := cmd.Output()
		if failed, ok := errors.AsType[*exec.ExitError](err); err != nil && !(ok && failed.ExitCode() == 1) { // 1 is none
			t.Fatalf("git %s: %v", args, err)
		}
		return out
	}
	git(nil, "init", "-q")
	var files []string
	for _, a := range []string{"a", "b", "x-", "_", "#", "!a"} {
		for _, b := range []string{"a", "a.c", "D", "d e"} {
			for _, c := range []string{"a", "b", "a.c", "x"} {
				files = append(files, "d/"+a+"/"+b+"/"+c, a+"d/"+b+c)
			}
		}
	}
	files = append(files, "a", "b", "a.c", "z", "1", "]", "-", "[", "^", "é", "éa", "ab-c", "dx/ya/a", "d-a")
	if runtime.GOOS != "windows" { // where names cannot have these
		files = append(files, `a\`, `\`, "a ", "a b ", " a", "a\r", "a\x01", "\xff", "x:", "*", "?", `d\/a`)
	}
	for _, path := range files {
		if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o700), os.WriteFile(path, nil, 0o600)); err != nil {
			t.Fatal(err)
		}
	}
	skipped := 0
	compare := func(text string, fold bool) {
		t.Helper()
		texts, err := readPatterns(strings.NewReader(text))
		if err != nil {
			t.Fatalf("%q: %v", text, err)
		}
		all, err := parsePatterns(texts)
		if err != nil {
			t.Fatalf("%q: %v", text, err)
		}
		if err := os.WriteFile(".git/info/exclude", []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		out := git([]byte(strings.Join(files, "\x00")+"\x00"), "-c", fmt.Sprintf("core.ignorecase=%v", fold), "check-ignore", "--no-index", "--stdin", "-z")
		ignored := make(map[string]bool)
		for path := range strings.SplitSeq(string(out), "\x00") {
			ignored[path] = true
		}
		skip := skipper(all, fold)
		for _, path := range files {
			got := skips(skip, path, false)
			if got != ignored[path] {
				t.Errorf("%q, case folded: %v: %s is left out: %v, by Git: %v", text, fold, path, got, !got)
				break
			}
			if got {
				skipped++
			}
		}
	}
	for _, text := range gitCorners {
		compare(text+"\n", false)
		compare(text+"\n", true)
	}
	parts := []string{"a", "b", "d", "D", "a.c", "*", "?", "**", "/", "/", "/", "[ab]", "[!a]", "[^b]", "[a-d]", "[_a-c]", "[!a-c_]", "[a-b", "-]", `\*`, `\a`, "x*", "*.c", "**/", "/**", " ", "!", "#", `\ `, `\`, "]", "[", "_", "-", "[[:", "alpha", ":]", "é", "\r"}
	r := rand.New(rand.NewPCG(3, 4))
	for i := range 250 {
		text := ""
		for range 1 + r.IntN(3) {
			for range 1 + r.IntN(6) {
				text += parts[r.IntN(len(parts))]
			}
			text += "\n"
		}
		compare(text, i%4 == 0)
	}
	if skipped < 1000 {
		t.Errorf("only %d are left out", skipped)
	}
}

// TestExclude leaves out files, and has a verifier who knows which: nobody else can add to them.
func TestExclude(t *testing.T) {
	a := newArchive(t, map[string]string{"d/a": "", "d/b.o": "", "d/cache/c": "", "d/e/cache/f": "", "d/e/g": ""},
		func(o *Options) { o.Exclude = []string{"*.o", "/cache/"} })
	if list := a.list(); strings.Contains(list, "b.o") || strings.Contains(list, "d/cache") || strings.Count(list, "\n") != 10 {
		t.Fatalf("%q", list)
	}
	verify := func(folders []string, change func(o *Options)) (*Report, string) {
		t.Helper()
		var out, errs bytes.Buffer
		o := Options{KeyFile: "key", Complete: folders, Quiet: true, Stdin: strings.NewReader(""), Stdout: &out, Stderr: &errs}
		if change != nil {
			change(&o)
		}
		r, err := Verify(t.Context(), o, "list", true)
		if err != nil {
			t.Fatal(err)
		}
		return r, out.String()
	}
	here, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	for _, folder := range []string{"d", "./d", "d/", here + "/d", "../" + filepath.Base(here) + "/d", "d/e", "d/cache"} {
		if r, out := verify([]string{folder}, nil); out != "" || r.Err() != nil || len(r.Exclude) != 2 || len(r.Folders) != 1 {
			t.Errorf("%s: %q, %+v", folder, out, r)
		}
	}
	if r, _ := verify([]string{"d"}, nil); r.Excluded != 2 || withoutSerial(r) != "3 files OK; the list is as it was written, without what 2 patterns excluded; 2 excluded" {
		t.Errorf("%d, %s", r.Excluded, r.Summary())
	}
	if r, _ := verify([]string{"d", "./d/"}, nil); r.Excluded != 4 {
		t.Errorf("two folders: %d", r.Excluded)
	}
	// The folder above, in which only d is covered.
	if _, out := verify([]string{"."}, nil); out != "./key: NOT IN THE LIST\n" {
		t.Errorf("%q", out)
	}
	a.write(map[string]string{"x.o": "", "cache/x": "", "d/e/x": ""})
	if _, out := verify([]string{"."}, nil); out != "./cache/x: NOT IN THE LIST\n./d/e/x: NOT IN THE LIST\n./key: NOT IN THE LIST\n./x.o: NOT IN THE LIST\n" {
		t.Errorf("%q", out)
	}
	if _, out := verify([]string{"."}, func(o *Options) { o.Exclude = []string{"/key", "x", "/x.o"} }); out != "" {
		t.Errorf("%q", out)
	}
	// Without its tag a list excludes nothing.
	list := a.list()
	cut := list[:strings.LastIndex(list, "end2:")]
	if err := os.WriteFile("list", []byte(cut), 0o600); err != nil {
		t.Fatal(err)
	}
	r, out := verify([]string{"d"}, func(o *Options) { o.Partial = true })
	if !strings.Contains(out, "d/b.o: NOT IN THE LIST\n") || !strings.Contains(out, "d/cache/c: NOT IN THE LIST\n") || len(r.Folders)+len(r.Exclude)+len(r.Options) > 0 {
		t.Errorf("%q, %+v", out, r)
	}
	if _, err := os.Stat("list"); errors.Is(err, fs.ErrNotExist) {
		t.Error(err)
	}
}

// TestExcludeNested has folders in each other: what one leaves out the other may have.
func TestExcludeNested(t *testing.T) {
	a := newArchive(t, map[string]string{"d/a": "", "d/e/b": "", "d/e/f/c": "", "d/e/f/g/c": ""}, nil)
	a.Options = Options{KeyFile: "key", Output: "list", Force: true, Recursive: true, Exclude: []string{"/e/", "/g/"}}
	if _, stderr, err := a.tag("d", "d/e/f", "./d"); err != nil || stderr != "fastmac: 2 files tagged, 2 excluded\n" || strings.Count(a.list(), "\n") != 10 {
		t.Fatalf("%q, %v, %q", stderr, err, a.list())
	}
	if out, err := a.verify(); out != "" || err != nil {
		t.Errorf("%q, %v", out, err)
	}
	a.write(map[string]string{"d/e/f/h": ""})
	if out, err := a.verify(); out != "d/e/f/h: NOT IN THE LIST\n" || err == nil {
		t.Errorf("%q, %v", out, err)
	}
}

// TestUnmatched has patterns that match nothing, most of them as people type them.
func TestUnmatched(t *testing.T) {
	a := newArchive(t, map[string]string{"d/a": "", "d/sub/b": "", "d/ee/sub/c": "", "d/s p": "", "d/f": ""}, nil)
	here, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	for pattern, would := range map[string]string{
		"./sub": "/sub", "d/ee/sub": "/ee/sub", "./d/ee": "/ee", here + "/d/sub/": "/sub/", "sub/c": "**/sub/c", `'sub\b'`: "sub/b", `"sub"`: "sub",
		"a ": "a", " a": "a", `.\sub`: "/sub", "f/": "f", "/c": "**/c", "!./a": "!/a", "!a": "", `s\ p`: "", "s p": "",
		"*.tmp": "-", "x/y": "-", "[": "-", `'x'`: "-", "!x": "-", "SUB": "-",
	} {
		if runtime.GOOS == "windows" && strings.ContainsAny(pattern, `\:S`) {
			continue
		}
		want := fmt.Sprintf("fastmac: warning: --exclude %q matches nothing; %q would\n", pattern, would)
		switch would {
		case "-":
			want = fmt.Sprintf("fastmac: warning: --exclude %q matches nothing\n", pattern)
		case "":
			want = ""
		}
		want = strings.NewReplacer(`\\`, `\`, `\"`, `"`).Replace(want)
		a.Options = Options{KeyFile: "key", Output: "list", Force: true, Recursive: true, Exclude: []string{"ee/sub/c", pattern}}
		_, stderr, err := a.tag("d")
		if warning := stderr[:strings.LastIndex(strings.TrimSuffix(stderr, "\n"), "\n")+1]; err != nil || warning != want {
			t.Errorf("%s: %q, %v, want %q", pattern, warning, err, want)
		}
		var errs bytes.Buffer
		o := Options{KeyFile: "key", Complete: []string{"d"}, Exclude: a.Exclude, Stdin: strings.NewReader(""), Stdout: new(bytes.Buffer), Stderr: &errs}
		if _, err := Verify(t.Context(), o, "list", true); err != nil || errs.String() != want {
			t.Errorf("verify, %s: %q, %v, want %q", pattern, &errs, err, want)
		}
	}
	// Who wants silence has it, and what a file or a list says is no typing error.
	a.write(map[string]string{"patterns": "*.tmp\n"})
	a.Options = Options{KeyFile: "key", Output: "list", Force: true, Recursive: true, Exclude: []string{"x"}, Quiet: true}
	if _, stderr, err := a.tag("d"); stderr != "" || err != nil {
		t.Errorf("%q, %v", stderr, err)
	}
	a.Options = Options{KeyFile: "key", Update: "list", ExcludeFrom: []string{"patterns"}}
	a.check("an update", "", "fastmac: 5 files: 5 kept, 0 changed, 0 new; 0 gone, 0 excluded\n", "")
	// Patterns of the command line come after those of files, so that they can take one back.
	a.write(map[string]string{"patterns": "*\n"})
	a.Options = Options{KeyFile: "key", Output: "list", Force: true, Recursive: true, ExcludeFrom: []string{"patterns"}, Exclude: []string{"!/[a-z]*"}}
	if _, stderr, err := a.tag("d"); stderr == "" || err != nil {
		t.Errorf("%q, %v", stderr, err)
	}
	// A pattern that has matched only what others leave out has matched.
	a.Options = Options{KeyFile: "key", Output: "list", Force: true, Recursive: true, Exclude: []string{"sub", "s*"}}
	if _, stderr, err := a.tag("d"); stderr != "fastmac: 2 files tagged, 3 excluded\n" || err != nil {
		t.Errorf("%q, %v", stderr, err)
	}
}
