// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package mactest

import (
	"io/fs"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"
)

func TestParseSeeds(t *testing.T) {
	text := "// The first two are\n// for something.\ngo test fuzz v1\n" + `[]byte("\x00a\")")
string("")
byte('\xff')
byte('ÿ')
byte('\'')
uint16(65535)
uint64(18446744073709551615)
// The last.
go test fuzz v1
[]byte("// no comment")
string("\n")
byte(')')
byte('\x00')
byte('\n')
uint16(0)
uint64(7)
`
	want := [][]any{
		{[]byte("\x00a\")"), "", byte(255), byte(255), byte('\''), uint16(65535), ^uint64(0)},
		{[]byte("// no comment"), "\n", byte(')'), byte(0), byte('\n'), uint16(0), uint64(7)},
	}
	if got, err := parseSeeds(text); err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("%v, %v, want %v", got, err, want)
	}
	for _, tt := range []struct{ text, want string }{
		{"", "1: no end of line"},
		{"\n", `1: "", want "go test fuzz v1"`},
		{"// nothing\n", "1: no arguments"},
		{"go test fuzz v1\n", "1: no arguments"},
		{"byte('a')\n", `1: "byte('a')", want "go test fuzz v1"`},
		{"go test fuzz v2\nbyte('a')\n", `1: "go test fuzz v2", want "go test fuzz v1"`},
		{"go test fuzz v1\nbyte('a')", "2: no end of line"},
		{"go test fuzz v1\nbyte('a')\n\n", "3: : want TYPE(VALUE)"},
		{"go test fuzz v1\r\nbyte('a')\r\n", `1: "go test fuzz v1\r", want "go test fuzz v1"`},
		{"go test fuzz v1\nbyte('a')\ngo test fuzz v1\nbyte('a')\nbyte('a')\n",
			"6: the input before has arguments (byte, byte), and the first has (byte)"},
		{"go test fuzz v1\nbyte('a')\ngo test fuzz v1\n[]byte(\"a\")\ngo test fuzz v1\nbyte('a')\n",
			"5: the input before has arguments ([]byte), and the first has (byte)"},
		{"go test fuzz v1\nbyte('a')\ngo test fuzz v1\ngo test fuzz v1\nbyte('a')\n",
			"4: the input before has arguments (), and the first has (byte)"},
	} {
		if _, err := parseSeeds(tt.text); err == nil || err.Error() != tt.want {
			t.Errorf("%q: %v, want %q", tt.text, err, tt.want)
		}
	}
	for _, line := range []string{
		`[]byte("a"`, `[]byte"a")`, `[]byte(a)`, `[]byte('a')`, `[]byte("a)`, `[]byte("a""b")`, `[]byte()`, `string(")`,
		`byte("a")`, `byte('')`, `byte('ab')`, `byte('Ā')`, `byte(7)`, `byte(a')`, `byte('a)`, `byte()`,
		`uint16(65536)`, `uint16(-1)`, `uint16(0x1)`, `uint16()`, `uint64(18446744073709551616)`, `uint64(a)`,
		`int(1)`, ` byte('a')`, `byte('a') `, `# comment`,
	} {
		if arg, err := parseSeed(line); err == nil {
			t.Errorf("%s is %v", line, arg)
		}
	}
}

var usesSeeds = regexp.MustCompile(`(?m)^func (Fuzz\w+)\(f \*testing\.F\) \{\n\tmactest\.Seeds\(f\)\n`)

// TestSeedFiles checks that each file of inputs belongs to a target, which calls Seeds first.
// A target without its file fails.
func TestSeedFiles(t *testing.T) {
	var files, want []string
	err := filepath.WalkDir("../..", func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		path = filepath.ToSlash(path)
		if d.IsDir() {
			if strings.HasPrefix(d.Name(), ".") && d.Name() != ".." {
				return fs.SkipDir
			}
			return nil
		}
		if _, name, found := strings.Cut(path, "/testdata/fuzz/"); found && !strings.Contains(name, "/") {
			files = append(files, path)
		} else if strings.HasSuffix(path, "_test.go") {
			src, err := os.ReadFile(path)
			if err != nil {
				return err
			}
			folder := path[:strings.LastIndex(path, "/")]
			for _, m := range usesSeeds.FindAllSubmatch(src, -1) {
				want = append(want, folder+"/testdata/fuzz/"+string(m[1])+".txt")
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	slices.Sort(files)
	slices.Sort(want)
	if len(files) == 0 || !slices.Equal(files, want) {
		t.Errorf("the files of inputs are\n%s\nand the targets that call Seeds first have\n%s",
			strings.Join(files, "\n"), strings.Join(want, "\n"))
	}
}
