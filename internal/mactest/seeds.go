// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package mactest

import (
	"errors"
	"fmt"
	"os"
	"reflect"
	"strconv"
	"strings"
	"testing"
)

// seedHeader is the first line of a file in which the go command stores an input.
const seedHeader = "go test fuzz v1"

// Seeds adds the inputs of a fuzz target, which are in testdata/fuzz/NAME.txt: the files that
// the go command writes for them, one after the other. A line that begins with // is a comment.
// A target calls Seeds first, so that seed#0 in the output of a test is the first of the file.
func Seeds(f *testing.F) {
	f.Helper()
	name := "testdata/fuzz/" + f.Name() + ".txt"
	text, err := os.ReadFile(name)
	if err != nil {
		f.Fatal(err)
	}
	inputs, err := parseSeeds(string(text))
	if err != nil {
		f.Fatalf("%s:%v", name, err)
	}
	for _, args := range inputs {
		f.Add(args...)
	}
}

// parseSeeds returns the arguments of each input. Its errors begin with a line number.
func parseSeeds(text string) (inputs [][]any, err error) {
	body, ended := strings.CutSuffix(text, "\n")
	lines := strings.Split(body, "\n")
	if !ended {
		return nil, fmt.Errorf("%d: no end of line", len(lines))
	}
	for i, line := range append(lines, seedHeader) {
		last := len(inputs) - 1
		switch {
		case strings.HasPrefix(line, "//"):
		case line == seedHeader:
			if last >= 0 && types(inputs[last]) != types(inputs[0]) {
				return nil, fmt.Errorf("%d: the input before has arguments (%s), and the first has (%s)",
					i+1, types(inputs[last]), types(inputs[0]))
			}
			inputs = append(inputs, nil)
		case last < 0:
			return nil, fmt.Errorf("%d: %q, want %q", i+1, line, seedHeader)
		default:
			arg, err := parseSeed(line)
			if err != nil {
				return nil, fmt.Errorf("%d: %s: %w", i+1, line, err)
			}
			inputs[last] = append(inputs[last], arg)
		}
	}
	inputs = inputs[:len(inputs)-1]
	if len(inputs) == 0 || len(inputs[0]) == 0 {
		return nil, errors.New("1: no arguments")
	}
	return inputs, nil
}

// parseSeed returns the argument in a line, for the types that fuzz targets here have.
func parseSeed(line string) (any, error) {
	kind, rest, _ := strings.Cut(line, "(")
	value, closed := strings.CutSuffix(rest, ")")
	if !closed {
		return nil, errors.New("want TYPE(VALUE)")
	}
	switch kind {
	case "[]byte", "string":
		s, err := strconv.Unquote(value)
		if err != nil || value[0] == '\'' {
			return nil, errors.New("want a string in quotes")
		}
		if kind == "string" {
			return s, nil
		}
		return []byte(s), nil
	case "byte":
		quoted, ok := strings.CutPrefix(value, "'")
		char, _, end, err := strconv.UnquoteChar(quoted, '\'')
		if !ok || err != nil || end != "'" || char > 0xff {
			return nil, errors.New("want a character of up to 255")
		}
		return byte(char), nil
	case "uint16":
		n, err := strconv.ParseUint(value, 10, 16)
		return uint16(n), err
	case "uint64":
		return strconv.ParseUint(value, 10, 64)
	}
	return nil, fmt.Errorf("parseSeed has no type %q", kind)
}

// types returns the types of args, separated by commas.
func types(args []any) string {
	var names []string
	for _, a := range args {
		names = append(names, strings.ReplaceAll(reflect.TypeOf(a).String(), "uint8", "byte"))
	}
	return strings.Join(names, ", ")
}
