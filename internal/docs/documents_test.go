// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

// Package docs has only tests, of what the module says about itself: the commands in its
// documents, the Go code of README.md, and that an example uses each exported name.
package docs

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"example.com/fastmac/internal/mactest"
)

// TestMain runs the tests in the root of the module, where the documents are.
func TestMain(m *testing.M) {
	if err := os.Chdir("../.."); err != nil {
		panic(err)
	}
	m.Run()
}

// readmeImports are the packages that a fragment of Go in README.md may use, and
// readmeFragment has its parameters.
var readmeImports = map[string]string{
	"binary":  "encoding/binary",
	"errors":  "errors",
	"fastmac": "example.com/fastmac",
	"fmt":     "fmt",
	"hmac":    "crypto/hmac",
	"io":      "io",
	"log":     "log",
	"os":      "os",
	"sha512":  "crypto/sha512",
	"ssh":     "golang.org/x/crypto/ssh",
	"sshmac":  "example.com/fastmac/sshmac",
}

const readmeFragment = `package main

import (
%s)

func main() {}

func example(key, msg, nonce []byte, r io.Reader, config *ssh.ServerConfig) error {
//line README.md:%d
%s
	return nil
}
`

// block is a fenced block of a document, or an indented one, whose language is sh.
type block struct {
	line     int // of its first line
	language string
	text     string
}

func documentBlocks(t *testing.T, document string) (blocks []block) {
	t.Helper()
	content, err := os.ReadFile(filepath.FromSlash(document))
	if err != nil {
		t.Fatal(err)
	}
	fenced, indented := false, false
	for i, line := range strings.Split(string(content), "\n") {
		language, fence := strings.CutPrefix(line, "```")
		code, isIndented := strings.CutPrefix(strings.ReplaceAll(line, "\t", "    "), "    ")
		switch {
		case fence && !fenced:
			blocks = append(blocks, block{i + 2, language, ""})
			fenced = true
		case fence:
			fenced = false
		case fenced:
			blocks[len(blocks)-1].text += line + "\n"
		case isIndented && !indented:
			blocks = append(blocks, block{i + 1, "sh", code + "\n"})
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

// TestREADMEGo builds the Go code of README.md in a module that imports this tree:
// whole programs as they are, fragments in a function.
func TestREADMEGo(t *testing.T) {
	mactest.NeedGo(t)
	module := userModule(t)
	for i, b := range documentBlocks(t, "README.md") {
		switch b.language {
		case "sh":
			continue
		case "go":
		default:
			t.Errorf("README.md:%d: block of %q: want go or sh", b.line, b.language)
			continue
		}
		source := fmt.Sprintf("//line README.md:%d\n%s", b.line, b.text)
		if !strings.HasPrefix(b.text, "package main\n") {
			source = fragment(t, b)
		}
		dir := filepath.Join(module, fmt.Sprintf("block%d", i))
		if err := os.Mkdir(dir, 0o777); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, "main.go"), []byte(source), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	cmd := exec.Command("go", "build", "./...")
	cmd.Dir = module
	cmd.Env = append(mactest.HostEnv(), "GOPROXY=off")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Errorf("go build: %v\n%s", err, out)
	}
}

// fragment returns a program with the statements of b in a function.
func fragment(t *testing.T, b block) string {
	t.Helper()
	source := fmt.Sprintf(readmeFragment, "", b.line, b.text)
	file, err := parser.ParseFile(token.NewFileSet(), "", source, parser.SkipObjectResolution)
	if err != nil {
		t.Errorf("README.md:%d: %v", b.line, err)
		return "package main\n\nfunc main() {}\n"
	}
	used := make(map[string]bool)
	ast.Inspect(file, func(n ast.Node) bool {
		if s, ok := n.(*ast.SelectorExpr); ok {
			if x, ok := s.X.(*ast.Ident); ok && readmeImports[x.Name] != "" {
				used[readmeImports[x.Name]] = true
			}
		}
		return true
	})
	imports := ""
	for path := range used {
		imports += fmt.Sprintf("\t%q\n", path)
	}
	return fmt.Sprintf(readmeFragment, imports, b.line, b.text)
}

// userModule makes a module that imports this tree, with the requirements of its go.mod.
func userModule(t *testing.T) string {
	t.Helper()
	tree, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	for _, name := range []string{"go.mod", "go.sum"} {
		content, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		text := string(content)
		if name == "go.mod" {
			text = strings.Replace(text, "module example.com/fastmac\n", "module readme.invalid\n", 1) +
				fmt.Sprintf("\nrequire example.com/fastmac v0.0.0\n\nreplace example.com/fastmac => %q\n", tree)
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
	if err := os.WriteFile(filepath.Join(dir, "main.go"), []byte(program), 0o666); err != nil {
		t.Fatal(err)
	}
	return dir
}
