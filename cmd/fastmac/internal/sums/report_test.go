// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package sums

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"testing"
)

// TestJSONNames has the names that programs find in what --json prints, as the page has them.
func TestJSONNames(t *testing.T) {
	page, err := os.ReadFile(filepath.FromSlash("../../../../docs/list-format.md"))
	if err != nil {
		t.Fatal(err)
	}
	files := []File{{Path: "p\xff", Result: "r", Error: "e", Damaged: true}, {Path: "p"}}
	const filesText = `"files":[{"path":"p\ufffd","result":"r","error":"e","damaged":true,"path_base64":"cP8="},{"path":"p","result":""}]`
	for _, tt := range []struct {
		report any
		want   string
	}{
		{Report{Files: files, List: "l", ListError: "e", Right: 1, Wrong: 2, Unreadable: 3, Missing: 4, NotListed: 5, Malformed: 6, NotTagged: 7, LeftOut: 8, Excluded: 9,
			Folders: []string{"f"}, Exclude: []string{"x"}, Options: []string{"o"}, Label: "label", Serial: 10, Time: "t"},
			`{` + filesText + `,"list":"l","list_error":"e","ok":1,"failed":2,"unreadable":3,"missing":4,"not_listed":5,"malformed_lines":6,"not_tagged":7,"left_out":8,"excluded":9,` +
				`"folders":["f"],"exclude":["x"],"options":["o"],"label":"label","serial":10,"time":"t"}`},
		{Report{Files: []File{}}, `{"files":[],"list":"","ok":0,"failed":0,"unreadable":0,"missing":0,"not_listed":0,"malformed_lines":0,"not_tagged":0,"left_out":0,"excluded":0}`},
		{Changes{Files: files, Written: true, Tagged: 1, Unreadable: 2, LeftOut: 3, Excluded: 4, Serial: 5, Kept: 6, New: 7, Changed: 8, Gone: 9},
			`{` + filesText + `,"written":true,"tagged":1,"unreadable":2,"left_out":3,"excluded":4,"serial":5,"kept":6,"new":7,"changed":8,"gone":9}`},
	} {
		if text, err := json.Marshal(tt.report); err != nil || string(text) != tt.want {
			t.Errorf("%s, %v, want %s", text, err, tt.want)
		}
		for _, name := range regexp.MustCompile(`"(\w+)":`).FindAllStringSubmatch(tt.want, -1) {
			if !bytes.Contains(page, []byte("`"+name[1]+"`")) {
				t.Errorf("the page has no %s", name[1])
			}
		}
	}
}
