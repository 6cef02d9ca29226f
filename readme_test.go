// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package fastmac_test

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"example.com/fastmac/internal/mactest"
)

// readmeCommands are the commands of README.md, and how each is run. The test runs
// them in their order in README.md, with its placeholders replaced.
var readmeCommands = map[string]struct {
	inCI     bool // .ci/run runs it, perhaps with more arguments, and the test does not
	inModule bool // it is for the module of a user, not for the tree
	long     bool // it is for the long run
}{
	"go test ./...":                {inCI: true},
	"go run -C cmd/fastmac . demo": {inCI: true},
	"go run -C cmd/fastmac . patch-ssh -C /path/of/your/module":                                     {long: true},
	"go install -C cmd/fastmac .":                                                                   {long: true},
	"go mod edit -require=example.com/fastmac@v0.0.0 -replace=example.com/fastmac=/path/to/fastmac": {inModule: true},
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

// block is a fenced block of README.md, or an indented one, whose language is sh.
type block struct {
	line     int // of its first line
	language string
	text     string
}

func readmeBlocks(t *testing.T) (blocks []block) {
	t.Helper()
	readme, err := os.ReadFile("README.md")
	if err != nil {
		t.Fatal(err)
	}
	fenced, indented := false, false
	for i, line := range strings.Split(string(readme), "\n") {
		language, fence := strings.CutPrefix(line, "```")
		code, isIndented := strings.CutPrefix(line, "    ")
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
		t.Fatal("README.md has a fence without an end")
	}
	return blocks
}

// TestREADMEGo builds the Go code of README.md in a module that imports this tree:
// whole programs as they are, fragments in a function.
func TestREADMEGo(t *testing.T) {
	skipREADME(t)
	module := userModule(t)
	for i, b := range readmeBlocks(t) {
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
	cmd.Env = append(hostEnv(), "GOPROXY=off")
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

// TestREADMECommands checks that every command of README.md is run, here or by
// .ci/run. The long run adds patch-ssh, which builds and tests a copy of x/crypto.
func TestREADMECommands(t *testing.T) {
	skipREADME(t)
	tree, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	ci, err := os.ReadFile(filepath.FromSlash(".ci/run"))
	if err != nil {
		t.Fatal(err)
	}
	module, bin := userModule(t), t.TempDir()
	placeholders := strings.NewReplacer("/path/to/fastmac", tree, "/path/of/your/module", module)
	t.Setenv("PATH", bin+string(os.PathListSeparator)+os.Getenv("PATH"))
	found := make(map[string]bool)
	for _, b := range readmeBlocks(t) {
		if b.language != "sh" {
			continue
		}
		for command := range strings.Lines(b.text) {
			command = strings.TrimSuffix(command, "\n")
			how, ok := readmeCommands[command]
			if !ok {
				t.Errorf("README.md:%d: %q is not in readmeCommands", b.line, command)
				continue
			}
			found[command] = true
			if how.inCI {
				if !regexp.MustCompile(`(?m)^\s*run (env (\S+=\S+ )+)?` + regexp.QuoteMeta(command) + `( |$)`).Match(ci) {
					t.Errorf("README.md:%d: .ci/run does not run %q", b.line, command)
				}
				continue
			}
			if how.long && !mactest.Long() {
				continue
			}
			dir := tree
			if how.inModule {
				dir = module
			}
			args := strings.Fields(command)
			for i := range args {
				args[i] = placeholders.Replace(args[i])
			}
			cmd := exec.Command(args[0], args[1:]...)
			cmd.Dir = dir
			cmd.Env = append(hostEnv(), "GOBIN="+bin)
			if out, err := cmd.CombinedOutput(); err != nil {
				t.Errorf("README.md:%d: %s: %v\n%s", b.line, command, err, out)
			}
		}
	}
	for command := range readmeCommands {
		if !found[command] {
			t.Errorf("README.md does not have the command %q of readmeCommands", command)
		}
	}
}

// skipREADME skips tests of README.md in short mode, in which other kernels and
// platforms are tested: README.md is the same for all.
func skipREADME(t *testing.T) {
	t.Helper()
	if testing.Short() {
		t.Skip("runs the go command")
	}
	if _, err := exec.LookPath("go"); err != nil {
		t.Skip(err)
	}
}

// hostEnv is the environment for the go command to build for this machine, even if
// the test was built for another one.
func hostEnv() []string { return append(os.Environ(), "GOOS=", "GOARCH=", "GOWORK=off") }

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
