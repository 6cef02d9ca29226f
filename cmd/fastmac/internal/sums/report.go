// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package sums

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"

	"example.com/fastmac/cmd/fastmac/internal/list"
)

// A Report is what Verify found.
type Report struct {
	Files []File `json:"files"`

	List      string `json:"list"` // "complete", "failed", or "no end line" where that is accepted
	ListError string `json:"list_error,omitempty"`

	Right      int `json:"ok"`
	Wrong      int `json:"failed"`
	Unreadable int `json:"unreadable"`
	Missing    int `json:"missing"` // with IgnoreMissing
	NotListed  int `json:"not_listed"`
	Malformed  int `json:"malformed_lines"`
	partial    bool
	complete   bool // Complete has a folder
	NotTagged  int  `json:"not_tagged"` // files that tag could not read
	LeftOut    int  `json:"left_out"`   // what is no file, in the folders of Complete
	Excluded   int  `json:"excluded"`   // files there that patterns leave out, and folders as one

	// Of a list that is complete: the folders that it covers, the patterns of what it leaves out there, and what
	// it says of itself, if it is of format 2.
	Folders []string `json:"folders,omitempty"`
	Exclude []string `json:"exclude,omitempty"`
	Options []string `json:"options,omitempty"` // that leave out some of it too
	Label   string   `json:"label,omitempty"`
	Serial  uint64   `json:"serial,omitempty"`
	Time    string   `json:"time,omitempty"`
}

const (
	listComplete = "complete"
	listFailed   = "failed"
	listNoEnd    = "no end line"

	resultOK         = "ok"
	resultFailed     = "failed"
	resultUnreadable = "unreadable"
	resultNotListed  = "not listed"
	resultNotTagged  = "not tagged"
	resultMissing    = "missing"

	// Of Tag.
	resultTagged   = "tagged"
	resultNew      = "new"
	resultChanged  = "changed"
	resultGone     = "gone"
	resultExcluded = "excluded"
	resultLeftOut  = "left out"
)

// verdicts are the results as text has them.
var verdicts = map[string]string{
	resultOK:         "OK",
	resultFailed:     "FAILED",
	resultUnreadable: "FAILED open or read",
	resultNotListed:  "NOT IN THE LIST",
	resultNotTagged:  "NOT TAGGED",
	resultNew:        "NEW",
	resultChanged:    "CHANGED",
	resultGone:       "GONE",
	resultExcluded:   "EXCLUDED",
}

// A File is the result for a file, and the reason if it is unreadable.
type File struct {
	Path   string `json:"path"`
	Result string `json:"result"`
	Error  string `json:"error,omitempty"`

	// The content is another one, while the size and the times are those of the list.
	Damaged bool `json:"damaged,omitempty"`
}

// MarshalJSON adds the bytes of a path that is not UTF-8, as JSON strings cannot have them.
func (f File) MarshalJSON() ([]byte, error) {
	type plain File
	var raw []byte
	if !utf8.ValidString(f.Path) {
		raw = []byte(f.Path)
	}
	return json.Marshal(struct {
		plain
		Raw []byte `json:"path_base64,omitempty"`
	}{plain(f), raw})
}

// UnmarshalJSON is the inverse of MarshalJSON.
func (f *File) UnmarshalJSON(text []byte) error {
	type plain File
	var v struct {
		plain
		Raw []byte `json:"path_base64"`
	}
	if err := json.Unmarshal(text, &v); err != nil {
		return err
	}
	*f = File(v.plain)
	if v.Raw != nil {
		f.Path = string(v.Raw)
	}
	return nil
}

// files returns how many lines name files that were looked for.
func (r *Report) files() int { return r.Right + r.Wrong + r.Unreadable + r.Missing }

// Err returns an error unless everything is right.
func (r *Report) Err() error {
	all := r.files()
	var parts []string
	if r.Wrong > 0 {
		parts = append(parts, count(r.Wrong, all, "file")+" FAILED")
	}
	if r.Unreadable > 0 {
		parts = append(parts, count(r.Unreadable, all, "file")+" could not be read")
	}
	if r.Malformed > 0 {
		parts = append(parts, count(r.Malformed, all+r.Malformed, "line")+" malformed")
	}
	if r.NotListed > 0 {
		parts = append(parts, list.Counted(r.NotListed, "file")+" not in the list")
	}
	if r.NotTagged > 0 && !r.partial {
		parts = append(parts, list.Counted(r.NotTagged, "file")+" could not be read when the list was made: --partial accepts that")
	}
	if r.List == listFailed {
		parts = append(parts, "the list FAILED")
	}
	if r.Wrong > 0 && r.Right == 0 && r.List != listComplete {
		parts = append(parts, "no tag is right, so the key may be wrong")
	}
	if len(parts) == 0 && r.Right == 0 {
		parts = append(parts, "no file was verified")
	}
	if len(parts) == 0 {
		return nil
	}
	return errors.New(strings.Join(parts, "; "))
}

// Summary returns a sentence about a report without an error.
func (r *Report) Summary() string {
	text := list.Counted(r.Right, "file") + " OK"
	if r.Missing > 0 {
		text = count(r.Right, r.files(), "file") + " OK, the others are missing"
	}
	if r.List == listComplete {
		text += "; the list is as it was written"
	}
	if r.NotTagged > 0 {
		text += ", without " + list.Counted(r.NotTagged, "file") + " that could not be read"
	}
	if len(r.Exclude) > 0 {
		text += ", without what " + list.Counted(len(r.Exclude), "pattern") + " excluded"
	}
	for _, option := range r.Options {
		text += ", with --" + option
	}
	if r.LeftOut > 0 {
		text += fmt.Sprintf("; %d left out", r.LeftOut)
	}
	if r.Excluded > 0 {
		text += fmt.Sprintf("; %d excluded", r.Excluded)
	}
	if len(r.Folders) > 0 && !r.complete {
		text += "; added files are not looked for without --complete " + r.Folders[0]
	}
	if r.Serial > 0 {
		text += fmt.Sprintf("; serial %d, %s", r.Serial, r.Time)
	}
	if r.Label != "" {
		text += ", label " + r.Label
	}
	return text
}

// Changes is what Tag found.
type Changes struct {
	Files []File `json:"files"` // those that are not as they were in the list of before, or not tagged

	Written    bool `json:"written"` // to Output or Update
	Tagged     int  `json:"tagged"`  // lines of files in the list
	Unreadable int  `json:"unreadable"`
	LeftOut    int  `json:"left_out"` // links to folders or to nothing, pipes, sockets and devices
	Excluded   int  `json:"excluded"` // files, and folders as one

	Serial uint64 `json:"serial"` // of the new list

	// Of an update.
	Kept    int `json:"kept"`
	New     int `json:"new"`
	Changed int `json:"changed"`
	Gone    int `json:"gone"` // or excluded now
}

// summary returns a sentence about an update.
func (c *Changes) summary() string {
	return fmt.Sprintf("%s: %d kept, %d changed, %d new; %d gone", list.Counted(c.Tagged, "file"), c.Kept, c.Changed, c.New, c.Gone)
}

// without returns how many the list of a plan is without.
func (c *Changes) without(p *plan) (text string) {
	if c.LeftOut > 0 {
		text = fmt.Sprintf(", %d left out", c.LeftOut)
	}
	if len(p.patterns) > 0 {
		text += fmt.Sprintf(", %d excluded", c.Excluded)
	}
	return text
}

// count returns a phrase such as "1 of 3 files".
func count(n, all int, what string) string {
	return fmt.Sprintf("%d of %s", n, list.Counted(all, what))
}
