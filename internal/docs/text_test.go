// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package docs

import (
	"encoding/binary"
	"encoding/xml"
	"fmt"
	"go/parser"
	"go/token"
	"maps"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"example.com/fastmac/internal/umacref"
)

// readText reads a document. With the whole name a change of it makes the go command run the test
// again.
func readText(t *testing.T, document string) string {
	t.Helper()
	name, err := filepath.Abs(filepath.FromSlash(document))
	if err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// TestREADMESize keeps README.md a page that is read to its end.
func TestREADMESize(t *testing.T) {
	const words, numbers, paragraphWords = 850, 70, 60
	text := readText(t, "README.md")
	text = regexp.MustCompile(`\]\([^)]*\)|<!--.*?-->`).ReplaceAllString(text, "")
	if n := len(strings.Fields(text)); n > words {
		t.Errorf("README.md has %d words, want at most %d", n, words)
	}
	if n := len(regexp.MustCompile(`\d[\d.,]*`).FindAllString(text, -1)); n > numbers {
		t.Errorf("README.md has %d numbers, want at most %d", n, numbers)
	}
	for paragraph := range strings.SplitSeq(text, "\n\n") {
		if strings.HasPrefix(paragraph, "|") {
			continue // a table
		}
		for item := range strings.SplitSeq(paragraph, "\n- ") {
			if n := len(strings.Fields(item)); n > paragraphWords {
				t.Errorf("README.md: %d words in a paragraph, want at most %d: %.60s...", n, paragraphWords, item)
			}
		}
	}
}

var (
	link    = regexp.MustCompile(`\]\(([^)\s]+)\)|(?:src|srcset)="([^"]+)"`)
	heading = regexp.MustCompile(`(?m)^#+ (.*)$`)
	fence   = regexp.MustCompile("(?ms)^```.*?^```$")
)

// anchors returns the names by which links reach the headings of a document, as GitHub makes them.
func anchors(text string) map[string]bool {
	names := make(map[string]bool)
	for _, m := range heading.FindAllStringSubmatch(fence.ReplaceAllString(text, ""), -1) {
		title := link.ReplaceAllString(m[1], "]")
		title = regexp.MustCompile(`[^\p{L}\p{N} _-]`).ReplaceAllString(strings.ToLower(title), "")
		names[strings.ReplaceAll(title, " ", "-")] = true
	}
	return names
}

// TestLinks checks that what the documents link to inside the tree exists, with its heading, and that
// each page of docs can be reached from README.md.
func TestLinks(t *testing.T) {
	all := documents(t)
	if out, err := exec.Command("git", "ls-files", "--cached", "--others", "--exclude-standard", "*.md").Output(); err == nil {
		all = strings.Split(strings.TrimSpace(string(out)), "\n")
	}
	targets := make(map[string][]string)
	links := 0
	for _, document := range all {
		if _, err := os.Stat(filepath.FromSlash(document)); err != nil {
			continue // removed, not committed
		}
		for _, m := range link.FindAllStringSubmatch(fence.ReplaceAllString(readText(t, document), ""), -1) {
			target := m[1] + m[2]
			if strings.Contains(target, "://") {
				continue
			}
			links++
			file, anchor, _ := strings.Cut(target, "#")
			if file == "" {
				file = document
			} else {
				file = path.Join(path.Dir(document), file)
			}
			if _, err := os.Stat(filepath.FromSlash(file)); err != nil {
				t.Errorf("%s links to %s: %v", document, target, err)
			} else if anchor != "" && !anchors(readText(t, file))[anchor] {
				t.Errorf("%s links to %s, which has no such heading", document, target)
			}
			targets[document] = append(targets[document], file)
			if strings.HasSuffix(file, ".svg") {
				if err := xml.Unmarshal([]byte(readText(t, file)), new(struct{})); err != nil {
					t.Errorf("%s: %v", file, err)
				}
			}
		}
	}
	reached := map[string]bool{"README.md": true}
	for queue := []string{"README.md"}; len(queue) > 0; queue = queue[1:] {
		for _, file := range targets[queue[0]] {
			if !reached[file] {
				reached[file] = true
				queue = append(queue, file)
			}
		}
	}
	for _, document := range documents(t) {
		if !reached[document] {
			t.Errorf("no links lead from README.md to %s", document)
		}
	}
	t.Logf("%d links", links)
}

// saidTwice may stand in more than one document: the nonce rule.
var saidTwice = []string{
	"never use a nonce of umac or gmac for two messages under one key two tags with one nonce can be enough to forge others",
	"all nonces under one umac key have the same length",
}

// packageTexts returns the package documentation of the packages for users.
func packageTexts(t *testing.T) map[string]string {
	t.Helper()
	texts := make(map[string]string)
	for _, dir := range append(public(t), "packet") {
		files, err := filepath.Glob(filepath.Join(dir, "*.go"))
		if err != nil {
			t.Fatal(err)
		}
		for _, file := range files {
			f, err := parser.ParseFile(token.NewFileSet(), file, nil, parser.ParseComments|parser.PackageClauseOnly)
			if err != nil {
				t.Fatal(err)
			}
			if f.Doc != nil && !strings.HasSuffix(file, "_test.go") {
				texts["package "+path.Base(f.Name.Name)] += f.Doc.Text()
			}
		}
	}
	return texts
}

// TestSaidOnce checks that no two documents say the same in the same words: that no run of ten
// words stands in two of them, code and commands left out. Package documentation is a document.
func TestSaidOnce(t *testing.T) {
	const run = 10
	texts := packageTexts(t)
	for _, document := range append(documents(t), "internal/sshpatch/PROPOSAL.md", "embedded/avr/README.md", "embedded/avr/examples/sensor/README.md") {
		texts[document] = fence.ReplaceAllString(readText(t, document), "\n")
	}
	code := regexp.MustCompile("(?m)`[^`]*`|^(?: {4}|\t).*$|\\]\\([^)]*\\)|<!--.*?-->")
	word := regexp.MustCompile(`[\p{L}\p{N}'-]+`)
	first := make(map[string]string)
	for _, document := range slices.Sorted(maps.Keys(texts)) {
		last := -run // place of the last run that was reported
		words := word.FindAllString(strings.ToLower(code.ReplaceAllString(texts[document], " ")), -1)
		for i := range max(0, len(words)-run+1) {
			text := strings.Join(words[i:i+run], " ")
			other, ok := first[text]
			if !ok {
				first[text] = document
				continue
			}
			allowed := slices.ContainsFunc(saidTwice, func(s string) bool { return strings.Contains(s, text) })
			if other != document && !allowed && i >= last+run {
				t.Errorf("%s and %s both say: %s", other, document, text)
				last = i
			}
		}
	}
	t.Logf("%d documents", len(texts))
}

// TestHowUMACWorks computes the example of docs/how-umac-works.md with the transcription of RFC 4418.
func TestHowUMACWorks(t *testing.T) {
	key, nonce, msg := []byte("abcdefghijklmnop"), []byte("bcdefghi"), []byte("aaa")
	l1Key, l3Key1, l3Key2 := umacref.KDF(key, 1, 1024+16), umacref.KDF(key, 3, 2*64), umacref.KDF(key, 4, 2*4)
	var words []string
	for i := range 8 {
		words = append(words, fmt.Sprintf("%08x", binary.BigEndian.Uint32(l1Key[4*i:])))
	}
	want := []string{strings.Join(words, " ")}
	var rows [4]string
	pad, tag := umacref.PDF(key, nonce, 8), umacref.UMAC(key, msg, nonce, 8)
	for i := range 2 {
		l1 := umacref.L1Hash(l1Key[16*i:16*i+1024], msg)
		l3 := umacref.L3Hash(l3Key1[64*i:64*i+64], l3Key2[4*i:4*i+4], append(make([]byte, 8), l1...))
		for row, value := range [][]byte{l1, l3, pad[4*i : 4*i+4], tag[4*i : 4*i+4]} {
			rows[row] += fmt.Sprintf(" `%x` |", value)
		}
	}
	for i, name := range []string{"L1", "L3", "pad", "tag = L3 xor pad"} {
		want = append(want, "| "+name+" |"+rows[i])
	}
	page := readText(t, "docs/how-umac-works.md")
	for _, line := range want {
		if !strings.Contains(page, line) {
			t.Errorf("docs/how-umac-works.md does not have %q", line)
		}
	}
}
