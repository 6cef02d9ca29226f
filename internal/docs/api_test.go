// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package docs

import (
	"bytes"
	"crypto"
	"encoding/json"
	"errors"
	"fmt"
	"go/ast"
	"go/doc"
	"go/importer"
	"go/parser"
	"go/token"
	"go/types"
	"hash"
	"io"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"example.com/fastmac"
	"example.com/fastmac/internal/golden"
	"example.com/fastmac/internal/mactest"
)

// notInExamples are the methods that need no example: fmt, encoding and errors call them.
var notInExamples = map[string]bool{"String": true, "Format": true, "Error": true}

// TestExamples checks that an example uses each exported name: each constant, variable and
// function by its name, each type by a value of it, and each method by a call or a value.
func TestExamples(t *testing.T) {
	mactest.NeedGo(t)
	fset := token.NewFileSet()
	imports := exportImporter(t, fset)
	used := make(map[types.Object]bool)
	for _, dir := range public(t) {
		names, err := filepath.Glob(filepath.Join(dir, "example*_test.go"))
		if err != nil || len(names) == 0 {
			t.Fatalf("%s: no examples (%v)", dir, err)
		}
		var files []*ast.File
		for _, name := range names {
			file, err := parser.ParseFile(fset, name, nil, parser.SkipObjectResolution)
			if err != nil {
				t.Fatal(err)
			}
			files = append(files, file)
		}
		info := types.Info{Uses: make(map[*ast.Ident]types.Object), Types: make(map[ast.Expr]types.TypeAndValue)}
		config := types.Config{Importer: imports}
		if _, err := config.Check(dir, fset, files, &info); err != nil {
			t.Fatal(err)
		}
		for _, o := range info.Uses {
			used[o] = true
		}
		for _, tv := range info.Types {
			if named := namedType(tv.Type); named != nil {
				used[named.Obj()] = true
			}
		}
	}
	for _, dir := range public(t) {
		pkg, err := imports.Import(filepath.ToSlash(filepath.Join("example.com/fastmac", dir)))
		if err != nil {
			t.Fatal(err)
		}
		for _, name := range pkg.Scope().Names() {
			o := pkg.Scope().Lookup(name)
			if !o.Exported() {
				continue
			}
			if !used[o] {
				t.Errorf("no example uses %s.%s", pkg.Name(), name)
			}
			named, ok := o.Type().(*types.Named)
			if _, isType := o.(*types.TypeName); !ok || !isType {
				continue
			}
			for m := range named.Methods() {
				if m.Exported() && !notInExamples[m.Name()] && !used[m] {
					t.Errorf("no example uses %s.%s.%s", pkg.Name(), name, m.Name())
				}
			}
		}
	}
}

// namedType returns the type of a value, or that of what it points to, if it has a name.
func namedType(t types.Type) *types.Named {
	if p, ok := t.(*types.Pointer); ok {
		t = p.Elem()
	}
	named, _ := t.(*types.Named)
	return named
}

// exportImporter imports what the go command compiles for the examples.
func exportImporter(t *testing.T, fset *token.FileSet) types.Importer {
	t.Helper()
	args := []string{"list", "-deps", "-test", "-export", "-json=ImportPath,Export"}
	for _, dir := range public(t) {
		args = append(args, path.Join("example.com/fastmac", dir))
	}
	cmd := exec.Command("go", args...)
	cmd.Dir, cmd.Env = userModule(t), append(mactest.HostEnv(), "CGO_ENABLED=0") // as package nested
	out, err := cmd.Output()
	if err != nil {
		t.Fatal(err)
	}
	exports := make(map[string]string)
	for d := json.NewDecoder(bytes.NewReader(out)); ; {
		var p struct{ ImportPath, Export string }
		if err := d.Decode(&p); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			t.Fatal(err)
		}
		exports[p.ImportPath] = p.Export
	}
	return importer.ForCompiler(fset, "gc", func(path string) (io.ReadCloser, error) { return os.Open(exports[path]) })
}

// TestAPI compares the exported declarations with api.txt, so that no change of the API goes
// unseen. After a change that is meant, run go test ./internal/docs -update and add a line to
// CHANGELOG.md.
func TestAPI(t *testing.T) {
	mactest.NeedGo(t)
	imports := exportImporter(t, token.NewFileSet())
	var b strings.Builder
	for _, dir := range public(t) {
		for _, line := range declarations(t, imports, dir) {
			fmt.Fprintln(&b, line)
		}
	}
	if err := golden.Check("internal/docs/api.txt", b.String()); err != nil {
		t.Error(err)
	}
}

// declarations returns the exported declarations of a package, a line for each, with the
// methods and fields of its types after them.
func declarations(t *testing.T, imports types.Importer, dir string) (lines []string) {
	t.Helper()
	pkg, err := imports.Import(path.Join("example.com/fastmac", dir))
	if err != nil {
		t.Fatal(err)
	}
	name := dir
	if dir == "." {
		name = pkg.Name()
	}
	qualify := func(p *types.Package) string {
		if p == pkg {
			return ""
		}
		return p.Name()
	}
	add := func(format string, args ...any) {
		lines = append(lines, "pkg "+name+", "+fmt.Sprintf(format, args...))
	}
	for _, name := range pkg.Scope().Names() {
		o := pkg.Scope().Lookup(name)
		if !o.Exported() {
			continue
		}
		switch o := o.(type) {
		case *types.Const:
			add("const %s %s = %s", name, types.TypeString(o.Type(), qualify), o.Val())
		case *types.TypeName:
			var fields []string
			kind := types.TypeString(o.Type().Underlying(), qualify)
			if s, ok := o.Type().Underlying().(*types.Struct); ok {
				kind = "struct"
				for f := range s.Fields() {
					if f.Exported() {
						fields = append(fields, fmt.Sprintf("field %s.%s %s", name, f.Name(), types.TypeString(f.Type(), qualify)))
					}
				}
			}
			add("type %s %s", name, kind)
			for _, field := range fields {
				add("%s", field)
			}
			for m := range types.NewMethodSet(types.NewPointer(o.Type())).Methods() {
				if f := m.Obj().(*types.Func); f.Exported() {
					receiver := "*" + name
					if _, pointer := f.Signature().Recv().Type().(*types.Pointer); !pointer {
						receiver = name
					}
					add("method (%s) %s%s", receiver, f.Name(), strings.TrimPrefix(types.TypeString(f.Signature(), qualify), "func"))
				}
			}
		default:
			add("%s", types.ObjectString(o, qualify))
		}
	}
	return lines
}

// differences are what the three MACs do not have in common, with the names of their types
// replaced, and why.
var differences = map[string]string{
	"UMAC: func NewKey(key []byte, tagSize int) (*Key, error)":                   "UMAC has four tag sizes",
	"UMAC: func NewStream(key []byte, tagSize int) (*Stream, error)":             "the same",
	"UMAC: method (*Key) Init(key []byte, tagSize int) error":                    "the same",
	"GMAC: func NewKey(key []byte) (*Key, error)":                                "GMAC has one tag size",
	"GMAC: func NewStream(key []byte) (*Stream, error)":                          "the same",
	"GMAC: method (*Key) Init(key []byte) error":                                 "the same",
	"HMAC: func NewKey(h crypto.Hash, key []byte) (*Key, error)":                 "HMAC has six hashes",
	"HMAC: func NewStream(h crypto.Hash, key []byte) (*Stream, error)":           "the same",
	"HMAC: method (*Key) Init(h crypto.Hash, key []byte) error":                  "the same",
	"UMAC GMAC: method (*Key) Tag(dst []byte, nonce []byte, msg []byte) []byte":  "HMAC has no nonce",
	"UMAC GMAC: method (*Key) Verify(tag []byte, nonce []byte, msg []byte) bool": "the same",
	"UMAC GMAC: method (*Stream) Tag(dst []byte, nonce []byte) []byte":           "the same",
	"UMAC GMAC: method (*Stream) Verify(tag []byte, nonce []byte) bool":          "the same",
	"UMAC GMAC: method (*Stream) Bind(nonce []byte) hash.Cloner":                 "the same",
	"UMAC GMAC: method (*Stream) Sum(nonce []byte) []byte":                       "the same",
	"HMAC: method (*Key) Tag(dst []byte, msg []byte) []byte":                     "the same",
	"HMAC: method (*Key) Verify(tag []byte, msg []byte) bool":                    "the same",
	"HMAC: method (*Stream) Sum(b []byte) []byte":                                "the same; Sum appends the tag",
	"HMAC: method (*Stream) Verify(tag []byte) bool":                             "the same",
	"UMAC: method (*Key) Sign(dst []byte, msg []byte) []byte":                    "12 bytes are few for random nonces, and HMAC needs none",
	"UMAC: method (*Key) VerifySigned(sig []byte, msg []byte) bool":              "the same",
	"UMAC: method (*Stream) Sign(dst []byte) []byte":                             "the same",
	"UMAC: method (*Stream) VerifySigned(sig []byte) bool":                       "the same",
	"UMAC: method (*Stream) WriteParallel(p []byte, workers int)":                "HMAC is serial, and nobody has asked for GMAC",
}

// TestSymmetry compares the keys and streams of the three MACs: each difference must be in
// differences, and be one.
func TestSymmetry(t *testing.T) {
	mactest.NeedGo(t)
	all := declarations(t, exportImporter(t, token.NewFileSet()), ".")
	macs := []string{"UMAC", "GMAC", "HMAC"}
	who := make(map[string][]string)
	for _, mac := range macs {
		names := regexp.MustCompile(`\b(New)?` + mac + `(Key)?\b`)
		for _, line := range all {
			line = strings.TrimPrefix(line, "pkg fastmac, ")
			every := !slices.ContainsFunc(macs, func(mac string) bool { return !strings.Contains(line, "*"+mac+"Key") })
			if !names.MatchString(line) || every || strings.HasPrefix(line, "const ") { // every: for all three
				continue
			}
			line = names.ReplaceAllStringFunc(line, func(name string) string {
				name, isKey := strings.CutSuffix(name, "Key")
				if isKey {
					return strings.Replace(name, mac, "Key", 1)
				}
				return strings.Replace(name, mac, "Stream", 1)
			})
			who[line] = append(who[line], mac)
		}
	}
	found := make(map[string]bool)
	for line, have := range who {
		if len(have) == len(macs) {
			continue
		}
		difference := strings.Join(have, " ") + ": " + line
		if found[difference] = true; differences[difference] == "" {
			t.Errorf("a difference without a reason: %s", difference)
		}
	}
	for difference := range differences {
		if !found[difference] {
			t.Errorf("no difference: %s", difference)
		}
	}
}

// digest is code that knows nothing of MACs: it takes a function that returns a hash, as
// crypto/hkdf does.
func digest[H hash.Hash](newHash func() H, parts ...string) H {
	h := newHash()
	for _, part := range parts {
		io.WriteString(h, part)
	}
	return h
}

// TestGeneric calls a generic function with New of all keys.
func TestGeneric(t *testing.T) {
	key, nonce := make([]byte, 16), []byte("twelve bytes")
	umac := mactest.Must(fastmac.NewUMACKey(key, 8))
	if u := digest(umac.New, "a mes", "sage"); !umac.Verify(u.Tag(nil, nonce), nonce, []byte("a message")) {
		t.Error("UMAC")
	}
	hmac := mactest.Must(fastmac.NewHMACKey(crypto.SHA256, key))
	if h := digest(hmac.New, "a mes", "sage"); !hmac.Verify(h.Sum(nil), []byte("a message")) {
		t.Error("HMAC")
	}
	if err := fastmac.RequireGCM(); err != nil {
		t.Skip(err)
	}
	gmac := mactest.Must(fastmac.NewGMACKey(key))
	if m := digest(gmac.New, "a mes", "sage"); !gmac.Verify(m.Tag(nil, nonce), nonce, []byte("a message")) {
		t.Error("GMAC")
	}
}

// A program may declare such an interface for the keys that have a nonce.
var _ = []interface {
	Size() int
	Tag(dst, nonce, msg []byte) []byte
	Verify(tag, nonce, msg []byte) bool
	Destroy()
}{(*fastmac.UMACKey)(nil), (*fastmac.GMACKey)(nil)}

// TestDependencies lists the modules that each package for users brings into a program: only
// sshmac brings more than golang.org/x/sys.
func TestDependencies(t *testing.T) {
	mactest.NeedGo(t)
	module := userModule(t)
	for _, dir := range public(t) {
		want := "golang.org/x/sys"
		if dir == "sshmac" {
			want = "example.com/fastmac/sshmac golang.org/x/crypto golang.org/x/sys"
		}
		pkg := path.Join("example.com/fastmac", dir)
		cmd := exec.Command("go", "list", "-deps", "-f", "{{with .Module}}{{.Path}}{{end}}", pkg)
		cmd.Dir, cmd.Env = module, mactest.HostEnv()
		out, err := cmd.Output()
		if err != nil {
			t.Fatalf("%s: %v", pkg, err)
		}
		modules := strings.Fields(string(out))
		slices.Sort(modules)
		modules = slices.DeleteFunc(slices.Compact(modules), func(m string) bool { return m == "example.com/fastmac" })
		if got := strings.Join(modules, " "); got != want {
			t.Errorf("%s brings %s, want %s", pkg, got, want)
		}
		t.Logf("%s brings %v", pkg, modules)
	}
}

// TestModuleGraph checks that a module that imports this one gets golang.org/x/sys and no other module
// with it, and may have the oldest Go that this one has.
func TestModuleGraph(t *testing.T) {
	mactest.NeedGo(t)
	tree, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	_, goLine, _ := strings.Cut(readText(t, "go.mod"), "\n")
	goLine, _, _ = strings.Cut(goLine, "\nrequire")
	for name, text := range map[string]string{
		"go.mod":  fmt.Sprintf("module importer.invalid\n%s\nrequire example.com/fastmac v0.0.0\n\nreplace example.com/fastmac => %q\n", goLine, tree),
		"go.sum":  readText(t, "go.sum"),
		"main.go": "package main\n\nimport \"example.com/fastmac\"\n\nfunc main() { println(fastmac.Hardware()) }\n",
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	run := func(args ...string) string {
		cmd := exec.Command("go", args...)
		cmd.Dir, cmd.Env = dir, mactest.HostEnv()
		out, err := cmd.CombinedOutput()
		if err != nil {
			t.Fatalf("go %s: %v\n%s", strings.Join(args, " "), err, out)
		}
		return string(out)
	}
	run("mod", "tidy")
	run("run", ".")
	var modules []string
	for node := range strings.FieldsSeq(run("mod", "graph")) {
		if name, _, _ := strings.Cut(node, "@"); name != "go" && name != "toolchain" {
			modules = append(modules, name)
		}
	}
	slices.Sort(modules)
	if got, want := slices.Compact(modules), []string{"example.com/fastmac", "golang.org/x/sys", "importer.invalid"}; !slices.Equal(got, want) {
		t.Errorf("the module graph has %q, want %q", got, want)
	}
	if mod := readText(t, filepath.Join(dir, "go.mod")); !strings.Contains(mod, goLine) {
		t.Errorf("go mod tidy wants another Go than%s:\n%s", goLine, mod)
	}
}

// TestMisuse checks that go vet reports copies of keys, streams, NonceSequences and
// ReplayWindows, and that comparisons of them, and of Sealers, do not compile.
func TestMisuse(t *testing.T) {
	mactest.NeedGo(t)
	for name, test := range map[string]struct{ command, source, want string }{
		"copy": {command: "vet", want: "assignment copies lock value", source: `
func copies(k1 *fastmac.UMACKey, u *fastmac.UMAC, k2 *fastmac.HMACKey, h *fastmac.HMAC, n *fastmac.NonceSequence, w *fastmac.ReplayWindow, k3 *fastmac.GMACKey, m *fastmac.GMAC, k4 *aesgcm.Key) {
	a := *k1
	b := *u
	c := *k2
	d := *h
	e := *n
	f := *w
	g := *k3
	i := *m
	j := *k4
	a.Size()
	b.Size()
	c.Tag(nil, nil)
	d.Size()
	e.Next(nil)
	f.Accept(1)
	g.Size()
	i.Size()
	j.Destroy()
}
`},
		"compare": {command: "build", want: "invalid operation", source: `
func compares(k1, k2 *fastmac.UMACKey, u, v *fastmac.UMAC, k3, k4 *fastmac.HMACKey, g, h *fastmac.HMAC, m, n *fastmac.NonceSequence, w, x *fastmac.ReplayWindow, k5, k6 *fastmac.GMACKey, y, z *fastmac.GMAC, k7, k8 *aesgcm.Key, s, t *aesgcm.Sealer) bool {
	return *k1 == *k2 ||
		*u == *v ||
		*k3 == *k4 ||
		*g == *h ||
		*m == *n ||
		*w == *x ||
		*k5 == *k6 ||
		*y == *z ||
		*k7 == *k8 ||
		*s == *t
}
`},
	} {
		t.Run(name, func(t *testing.T) {
			file := filepath.Join(t.TempDir(), name+".go")
			source := "package main\n\nimport (\n\"example.com/fastmac\"\n\"example.com/fastmac/aesgcm\"\n)\n" + test.source + "\nfunc main() {}\n"
			if err := os.WriteFile(file, []byte(source), 0o600); err != nil {
				t.Fatal(err)
			}
			out, err := exec.Command("go", test.command, file).CombinedOutput()
			if err == nil {
				t.Fatalf("go %s reports nothing", test.command)
			}
			for i, line := range strings.Split(source, "\n") {
				bad := strings.Contains(line, ":= *") || strings.Contains(line, "==")
				if reported := strings.Contains(string(out), fmt.Sprintf("%s.go:%d:", name, i+1)); bad != reported {
					t.Errorf("line %d, %q: reported: %v\n%s", i+1, line, reported, out)
				}
			}
			if !strings.Contains(string(out), test.want) {
				t.Errorf("go %s does not report %q:\n%s", test.command, test.want, out)
			}
		})
	}
}

// TestDocumented looks for exported names without a doc comment. Error is documented by its
// interface.
func TestDocumented(t *testing.T) {
	for _, dir := range public(t) {
		testDocumented(t, dir)
	}
}

func testDocumented(t *testing.T, dir string) {
	t.Helper()
	names, err := filepath.Glob(filepath.Join(dir, "*.go"))
	if err != nil {
		t.Fatal(err)
	}
	fset := token.NewFileSet()
	var files []*ast.File
	for _, name := range names {
		if strings.HasSuffix(name, "_test.go") {
			continue
		}
		f, err := parser.ParseFile(fset, name, nil, parser.ParseComments)
		if err != nil {
			t.Fatal(err)
		}
		files = append(files, f)
	}
	pkg, err := doc.NewFromFiles(fset, files, path.Join("example.com/fastmac", dir))
	if err != nil {
		t.Fatal(err)
	}
	check := func(name, doc string) {
		if doc == "" {
			t.Errorf("%s has no doc comment", name)
		}
	}
	for _, f := range pkg.Funcs {
		check(f.Name, f.Doc)
	}
	for _, v := range append(pkg.Consts, pkg.Vars...) {
		check(v.Names[0], v.Doc)
	}
	for _, typ := range pkg.Types {
		check(typ.Name, typ.Doc)
		for _, v := range append(typ.Consts, typ.Vars...) {
			check(v.Names[0], v.Doc)
		}
		for _, f := range typ.Funcs {
			check(f.Name, f.Doc)
		}
		for _, m := range typ.Methods {
			if m.Name != "Error" {
				check(typ.Name+"."+m.Name, m.Doc)
			}
		}
	}
}
