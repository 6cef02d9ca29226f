// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

// Package docs has only tests, of what the module says about itself: the commands, the Go code and
// the links in its documents, the commits that figures are of, that nothing is said twice, that
// README.md is short, that an example uses each exported name, and that what is promised has tests.
package docs

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"example.com/fastmac/internal/golden"
	"example.com/fastmac/internal/mactest"
)

// TestMain runs the tests in the root of the module, where the documents are.
func TestMain(m *testing.M) {
	if err := os.Chdir("../.."); err != nil {
		panic(err)
	}
	m.Run()
}

// fragmentImports are the packages that a fragment of Go in a document may use, and
// fragmentProgram has its parameters.
var fragmentImports = map[string]string{
	"base64":  "encoding/base64",
	"binary":  "encoding/binary",
	"crypto":  "crypto",
	"errors":  "errors",
	"fastmac": "example.com/fastmac",
	"fmt":     "fmt",
	"gossh":   "golang.org/x/crypto/ssh",
	"hash":    "hash",
	"hex":     "encoding/hex",
	"hmac":    "crypto/hmac",
	"io":      "io",
	"log":     "log",
	"os":      "os",
	"packet":  "example.com/fastmac/packet",
	"sha512":  "crypto/sha512",
	"ssh":     "golang.org/x/crypto/ssh",
	"sshmac":  "example.com/fastmac/sshmac",
}

const fragmentProgram = `package main

import (
%s)

func main() {}

func example(key, msg, nonce []byte, number uint64, r io.Reader, config *ssh.ServerConfig) error {
	{
//line %s:%d
%s
	}
	return nil
}
`

// documents returns the documents for users and contributors.
func documents(t *testing.T) []string {
	t.Helper()
	pages, err := filepath.Glob("docs/*.md")
	if err != nil || len(pages) == 0 {
		t.Fatalf("no pages in docs (%v)", err)
	}
	for i := range pages {
		pages[i] = filepath.ToSlash(pages[i])
	}
	return append([]string{"README.md", "SECURITY.md", "CONTRIBUTING.md", "CHANGELOG.md"}, pages...)
}

// block is a fenced block of a document, or an indented one, whose language is sh.
type block struct {
	line     int // of its first line
	language string
	text     string
	ofFile   bool // it is below a line that names the file which has it
}

func documentBlocks(t *testing.T, document string) (blocks []block) {
	t.Helper()
	fenced, indented := false, false
	lines := strings.Split(readText(t, document), "\n")
	for i, line := range lines {
		language, fence := strings.CutPrefix(line, "```")
		code, isIndented := strings.CutPrefix(strings.ReplaceAll(line, "\t", "    "), "    ")
		switch {
		case fence && !fenced:
			blocks = append(blocks, block{i + 2, language, "", i > 0 && isFile.MatchString(lines[i-1])})
			fenced = true
		case fence:
			fenced = false
		case fenced:
			blocks[len(blocks)-1].text += line + "\n"
		case isIndented && !indented:
			blocks = append(blocks, block{i + 1, "sh", code + "\n", false})
		case isIndented:
			blocks[len(blocks)-1].text += code + "\n"
		}
		indented = isIndented && !fenced
	}
	if fenced {
		t.Fatalf("%s has a fence without an end", document)
	}
	return blocks
}

// isFile matches the line above a block that is a file of the tree, without its licence.
var isFile = regexp.MustCompile(`^<!-- file: (\S+) -->$`)

// TestFiles checks that blocks are the files that the lines above them name. With -update it writes
// the blocks.
func TestFiles(t *testing.T) {
	for _, document := range documents(t) {
		var b strings.Builder
		old := false // in the block of a file
		for line := range strings.Lines(readText(t, document)) {
			if old {
				old = line != "```\n"
				continue
			}
			if b.WriteString(line); isFile.MatchString(strings.TrimSuffix(line, "\n")) {
				_, program, ok := strings.Cut(readText(t, isFile.FindStringSubmatch(line[:len(line)-1])[1]), "\n\n")
				if !ok {
					t.Errorf("%s: %s has no licence", document, line)
				}
				b.WriteString("```go\n" + program + "```\n")
				old = true
			}
		}
		if b.String() != readText(t, document) {
			if err := golden.Check(document, b.String()); err != nil {
				t.Error(err)
			}
		}
	}
}

// TestGo compiles the Go code of the documents in a module that imports this tree: whole programs as
// they are, fragments in a function. Those that are files have tests of their own.
func TestGo(t *testing.T) {
	mactest.NeedGo(t)
	module := userModule(t)
	built := 0
	for _, document := range documents(t) {
		for _, b := range documentBlocks(t, document) {
			if b.language != "go" || b.ofFile {
				if document == "README.md" && b.language != "sh" {
					t.Errorf("%s:%d: block of %q: want go or sh", document, b.line, b.language)
				}
				continue
			}
			source := fmt.Sprintf("//line %s:%d\n%s", document, b.line, b.text)
			if !strings.HasPrefix(b.text, "package main\n") {
				source = fragment(t, document, b)
			}
			dir := filepath.Join(module, fmt.Sprintf("block%d", built))
			if err := os.Mkdir(dir, 0o777); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(filepath.Join(dir, "main.go"), []byte(source), 0o666); err != nil {
				t.Fatal(err)
			}
			built++
		}
	}
	if built == 0 {
		t.Error("no document has Go code")
	}
	cmd := exec.Command("go", "list", "-export", "./...")                 // compiles, and does not link
	cmd.Dir, cmd.Env = module, append(mactest.HostEnv(), "CGO_ENABLED=0") // as package nested
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Errorf("go list: %v\n%s", err, out)
	}
	t.Logf("%d blocks", built)
}

// fragment returns a program with the statements of b in a function.
func fragment(t *testing.T, document string, b block) string {
	t.Helper()
	program := func(imports string) string {
		return fmt.Sprintf(fragmentProgram, imports, document, b.line, b.text)
	}
	file, err := parser.ParseFile(token.NewFileSet(), "", program(""), parser.SkipObjectResolution)
	if err != nil {
		t.Errorf("%s:%d: %v", document, b.line, err)
		return "package main\n\nfunc main() {}\n"
	}
	imports := make(map[string]bool)
	ast.Inspect(file, func(n ast.Node) bool {
		if s, ok := n.(*ast.SelectorExpr); ok {
			if x, ok := s.X.(*ast.Ident); ok && fragmentImports[x.Name] != "" {
				imports[fmt.Sprintf("\t%s %q\n", x.Name, fragmentImports[x.Name])] = true
			}
		}
		return true
	})
	return program(strings.Join(slices.Sorted(maps.Keys(imports)), ""))
}

// userModule makes a module that imports this tree, with the requirements of module sshmac. The program in its
// folder programs/small needs few packages.
func userModule(t *testing.T) string {
	t.Helper()
	tree, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	for _, name := range []string{"go.mod", "go.sum"} {
		text := readText(t, filepath.Join("sshmac", name))
		if name == "go.mod" {
			text = strings.Replace(text, "module example.com/fastmac/sshmac\n", "module readme.invalid\n", 1)
			text = strings.Replace(text, "=> ../\n", fmt.Sprintf("=> %q\n", tree), 1)
			for _, nested := range []string{"sshmac", "packet"} {
				text += fmt.Sprintf("\nrequire example.com/fastmac/%s v0.0.0\n\nreplace example.com/fastmac/%[1]s => %q\n", nested, filepath.Join(tree, nested))
			}
		}
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	const program = `package main

import (
	"example.com/fastmac/sshmac"
	_ "golang.org/x/crypto/ssh"
)

func main() { sshmac.Register() }
`
	const small = `package main

import (
	"crypto"

	"example.com/fastmac"
)

func main() {
	umac, _ := fastmac.NewUMACKey(make([]byte, 16), 8)
	umac.Tag(nil, make([]byte, 8), nil)
	gmac, _ := fastmac.NewGMACKey(make([]byte, 16))
	gmac.Tag(nil, make([]byte, 12), nil)
	hmac, _ := fastmac.NewHMACKey(crypto.SHA256, nil)
	hmac.Tag(nil, nil)
}
`
	err = os.WriteFile(filepath.Join(dir, "main.go"), []byte(program), 0o666)
	if err == nil {
		err = os.MkdirAll(filepath.Join(dir, "programs/small"), 0o777)
	}
	if err == nil {
		err = os.WriteFile(filepath.Join(dir, "programs/small/main.go"), []byte(small), 0o666)
	}
	if err != nil {
		t.Fatal(err)
	}
	return dir
}

// ofOthers are the commits in documents that are of other repositories.
var ofOthers = []string{
	"08547f0b",     // thrussh
	"f8381f3331d9", // google/highwayhash
}

var commitName = regexp.MustCompile(`(?i)\bcommit"?[:\s]+"?([0-9a-f]{7,40}(?:-dirty)?)\b`)

// TestCommits checks that the commits from which figures are, and that documents name, are in the
// history of the tree.
func TestCommits(t *testing.T) {
	git := func(args ...string) string {
		t.Helper()
		out, err := exec.Command("git", args...).CombinedOutput()
		if err != nil {
			t.Skipf("no history: git %s: %v: %s", strings.Join(args, " "), err, out)
		}
		return strings.TrimSpace(string(out))
	}
	if in := git("rev-parse", "--show-prefix"); in != "" {
		t.Skipf("no history: the tree is %s in another one", in)
	}
	if git("rev-parse", "--is-shallow-repository") == "true" {
		t.Skip("no history: the clone is shallow")
	}
	history := "\n" + git("rev-list", "HEAD")
	tree, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	named := make(map[string]int)
	for file := range strings.SplitSeq(git("ls-files", "--cached", "--others", "--exclude-standard", "*.md", "*.txt", "*.json", "*.svg"), "\n") {
		// With the whole name a change of the file makes the go command run the test again.
		text, err := os.ReadFile(filepath.Join(tree, filepath.FromSlash(file)))
		if err != nil {
			t.Fatal(err)
		}
		found := commitName.FindAllSubmatch(text, -1)
		for _, m := range found {
			commit := string(m[1])
			named[commit]++
			if !slices.Contains(ofOthers, commit) && !strings.Contains(history, "\n"+commit) {
				t.Errorf("%s names commit %s, which is not in the history", file, commit)
			}
		}
		if strings.HasPrefix(file, "internal/peers/results/") && len(found) != 1 {
			t.Errorf("%s names %d commits, want one", file, len(found))
		}
	}
	for _, commit := range ofOthers {
		if named[commit] == 0 {
			t.Errorf("no document names commit %s of others", commit)
		}
	}
	t.Logf("%d commits", len(named))
}
