// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package docs

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// promising matches sentences that promise something, and advice those that only tell the reader what to do.
var (
	promising = regexp.MustCompile(`(?i)\b(?:refuse[sd]?|never|always|only|at most|at least|fail(?:s|ed)?|panics?|accept(?:s|ed)?|stays?|unchanged|` +
		`overwrit(?:es?|ten)|waits?|constant time|concurrent|allocates?|errors?|nothing|nobody|no (?:other|program|file)|cannot|left out|replaces?|unless|except|` +
		`returns (?:false|true|nil))\b|\bErr[A-Z]`)
	advice = regexp.MustCompile(`^(?:Never|Do not|Keep|Use|Call|Make|Send|Put|Set|To|First|After an? \w+ run)\b`)
)

// promisingPages are the documents, packages and commands whose sentences are looked at.
var (
	promisingPages    = []string{"docs/archives.md", "docs/files.md", "docs/list-format.md", "docs/packet-format.md", "docs/packets.md"}
	promisingPackages = []string{".", "aesgcm", "hkdf", "hmac", "hwrand", "packet", "packet/store", "pbkdf2", "sshmac"}
	promisingHelp     = []string{"cmd/fastmac/bench.go", "cmd/fastmac/docs.go", "cmd/fastmac/keygen.go", "cmd/fastmac/lists.go", "cmd/fastmac/main.go", "cmd/fastmac/tag.go", "cmd/fastmac/verify.go"}
)

// TestPromises compares promises.txt with the documents, the comments of exported names and the help
// of the command: what it quotes is there, the tests exist, and each sentence in the form of a promise
// is quoted. Who changes a sentence looks whether the tests above its row fail if it is not so.
func TestPromises(t *testing.T) {
	const file = "internal/docs/promises.txt"
	tests, pages := testNames(t), promisingSentences(t)
	quotes := make(map[string][]string)
	page, isRow := "", false
	for i, line := range strings.Split(readText(t, file), "\n") {
		text := strings.TrimLeft(line, "\t")
		if text == "" || text[0] == '#' {
			continue
		}
		switch indent := len(line) - len(text); {
		case indent == 0 && pages[text] != nil:
			page, isRow = text, false
		case indent == 1 && page != "":
			isRow = true
			for name := range strings.FieldsSeq(text) {
				if name != "-" && !tests[name] {
					t.Errorf("%s:%d: there is no test %s", file, i+1, name)
				}
			}
		case indent == 2 && isRow:
			quotes[page] = append(quotes[page], text)
			if !slices.ContainsFunc(pages[page], func(s string) bool { return strings.Contains(s, text) }) {
				t.Errorf("%s:%d: %s does not say: %s", file, i+1, page, text)
			}
		default:
			t.Errorf("%s:%d: want a page, tests or the words of a sentence: %s", file, i+1, text)
		}
	}
	promises := 0
	for page, sentences := range pages {
		for _, s := range sentences {
			if !promising.MatchString(s) || advice.MatchString(s) {
				continue
			}
			promises++
			if !slices.ContainsFunc(quotes[page], func(q string) bool { return strings.Contains(s, q) }) {
				t.Errorf("%s: %s has no test for: %s", file, page, s)
			}
		}
	}
	t.Logf("%d sentences", promises)
}

// testNames returns the tests of the tree by the folder and the name; in the root by the name.
func testNames(t *testing.T) map[string]bool {
	t.Helper()
	names := make(map[string]bool)
	function := regexp.MustCompile(`(?m)^func ((?:Test|Fuzz|Example)\w*)\(`)
	err := filepath.WalkDir(".", func(file string, _ fs.DirEntry, err error) error {
		if err != nil || !strings.HasSuffix(file, "_test.go") {
			return err
		}
		for _, m := range function.FindAllStringSubmatch(readText(t, file), -1) {
			names[strings.TrimPrefix(path.Dir(filepath.ToSlash(file))+"."+m[1], "..")] = true
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range regexp.MustCompile(`(?m)^(\w+)\(\) {`).FindAllStringSubmatch(readText(t, ".ci/run"), -1) {
		names["ci."+m[1]] = true
	}
	return names
}

// promisingSentences returns the sentences of each page.
func promisingSentences(t *testing.T) map[string][]string {
	t.Helper()
	all := make(map[string][]string)
	code := regexp.MustCompile("(?m)^    .*$|^<!--.*$")
	linked := regexp.MustCompile(`!?\[([^\]]*)\]\([^)]*\)`)
	item := regexp.MustCompile(`\n(?:\s*(?:-|\d+\.|#+) |\|)`)
	for _, page := range promisingPages {
		text := code.ReplaceAllString(fence.ReplaceAllString(readText(t, page), ""), "")
		all[page] = sentences(item.ReplaceAllString(linked.ReplaceAllString(text, "$1"), "\n\n"))
	}
	for _, dir := range promisingPackages {
		files, err := filepath.Glob(filepath.Join(filepath.FromSlash(dir), "*.go"))
		if err != nil {
			t.Fatal(err)
		}
		for _, name := range files {
			if strings.HasSuffix(name, "_test.go") {
				continue
			}
			file, err := parser.ParseFile(token.NewFileSet(), name, readText(t, name), parser.ParseComments)
			if err != nil {
				t.Fatal(err)
			}
			for _, c := range exportedComments(file) {
				text := regexp.MustCompile("(?m)^\t.*$").ReplaceAllString(c.Text(), "")
				all[dir] = append(all[dir], sentences(item.ReplaceAllString("\n"+text, "\n\n"))...)
			}
		}
	}
	for _, name := range promisingHelp {
		file, err := parser.ParseFile(token.NewFileSet(), name, readText(t, name), 0)
		if err != nil {
			t.Fatal(err)
		}
		ast.Inspect(file, func(n ast.Node) bool {
			if kv, ok := n.(*ast.KeyValueExpr); ok && fmt.Sprint(kv.Key) == "Long" {
				ast.Inspect(kv.Value, func(n ast.Node) bool {
					if s, ok := n.(*ast.BasicLit); ok && s.Kind == token.STRING {
						all[name] = append(all[name], sentences(strings.Trim(s.Value, "`\""))...)
					}
					return true
				})
			}
			return true
		})
	}
	for page := range all {
		slices.Sort(all[page])
		all[page] = slices.Compact(all[page])
	}
	return all
}

// exportedComments returns the comments that go doc prints, of a file.
func exportedComments(file *ast.File) (comments []*ast.CommentGroup) {
	exported := func(names ...*ast.Ident) bool {
		return len(names) == 0 || slices.ContainsFunc(names, func(n *ast.Ident) bool { return n.IsExported() })
	}
	comments = append(comments, file.Doc)
	for _, d := range file.Decls {
		switch d := d.(type) {
		case *ast.FuncDecl:
			if exported(d.Name) && (d.Recv == nil || exported(receiver(d.Recv.List[0].Type))) {
				comments = append(comments, d.Doc)
			}
		case *ast.GenDecl:
			for i, s := range d.Specs {
				switch s := s.(type) {
				case *ast.ValueSpec:
					if !exported(s.Names...) {
						continue
					}
					comments = append(comments, s.Doc, s.Comment)
				case *ast.TypeSpec:
					if !exported(s.Name) {
						continue
					}
					comments = append(comments, s.Doc)
					if body, ok := s.Type.(*ast.StructType); ok {
						for _, f := range body.Fields.List {
							if exported(f.Names...) {
								comments = append(comments, f.Doc, f.Comment)
							}
						}
					}
					if body, ok := s.Type.(*ast.InterfaceType); ok {
						for _, f := range body.Methods.List {
							comments = append(comments, f.Doc, f.Comment)
						}
					}
				default:
					continue
				}
				if i == 0 {
					comments = append(comments, d.Doc)
				}
			}
		}
	}
	return slices.DeleteFunc(comments, func(c *ast.CommentGroup) bool { return c == nil })
}

// receiver returns the name of the type of a receiver.
func receiver(x ast.Expr) *ast.Ident {
	switch x := x.(type) {
	case *ast.StarExpr:
		return receiver(x.X)
	case *ast.IndexExpr:
		return receiver(x.X)
	case *ast.Ident:
		return x
	}
	return ast.NewIdent("_")
}

var sentenceEnd = regexp.MustCompile(`([.:;?!][)*]*) ([\p{Lu}\[*\x60\-])`)

// sentences returns the sentences of paragraphs, each with single spaces.
func sentences(text string) (all []string) {
	for paragraph := range strings.SplitSeq(text, "\n\n") {
		paragraph = strings.Join(strings.Fields(paragraph), " ")
		for s := range strings.SplitSeq(sentenceEnd.ReplaceAllString(paragraph, "$1\n$2"), "\n") {
			if s != "" {
				all = append(all, s)
			}
		}
	}
	return all
}
