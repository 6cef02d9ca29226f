// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

// Package sums tags files, verifies their tags and brings lists up to date. It joins package list, which
// knows the format of keys and lists, and package tree, which knows files and folders, with the options of
// the command.
//
// Tag goes one way: names.go reads names and patterns, whose meaning is in pattern.go and exclude.go, plan.go
// finds which files the list is to have,
// tagger.go makes their lines and notes, and output.go and outfile.go put the list at its place. On the way
// update.go says what the old list has, and recorder.go counts and prints. Verify, in verify.go, reads the
// list first.
//
// An option is a field of Options, and a line in addSumsOptions, tagCommand or verifyCommand of the command.
// What it does stands in the file of the step that it changes.
package sums

import (
	"context"
	"io"
	"runtime"

	"example.com/fastmac/cmd/fastmac/internal/list"
	"example.com/fastmac/cmd/fastmac/internal/tree"
)

// Options are those of Tag and Verify.
type Options struct {
	KeyFile   string // "-" is Stdin
	Algorithm string // if not empty, what the key must be for
	Jobs      int    // cores; 0 is all
	Quiet     bool   // print only what is not right
	Zero      bool   // lines end with a NUL, and nothing in them is escaped

	// MinimalStat is for file systems that give a file another inode number, or a folder other times, at each
	// look: a file is the same if its size and times are, and a folder if its names are.
	MinimalStat bool

	// Of what is in folders, in the language of gitignore.
	Exclude     []string // patterns
	ExcludeFrom []string // files with patterns

	OneFileSystem bool // not folders on another file system than the one above
	ExcludeCaches bool // not what is in folders with a CACHEDIR.TAG, except for that

	// Of Tag.
	Recursive  bool     // the files in folders
	Output     string   // if not empty, the file for the list, in place of Stdout
	Force      bool     // Output may replace a list
	FilesFrom  []string // files with names of files, a line each; "-" is Stdin
	Files0From []string // the same, and a NUL follows each name
	KeepGoing  bool     // a list of what can be read
	Label      string   // if not empty, what the list says of itself; an update keeps that of before
	Changes    *Changes // if not nil, results go there, and are not printed

	AtLeast *Floor // if not nil, the serial number that the list to update or to verify must have at least

	// Of Tag that updates a list.
	Update        string // the list
	OldKeyFile    string // if not empty, its key
	AcceptChanges bool   // files that have changed are tagged
	VerifyAll     bool   // files whose size and times are as they were are read too

	// Of Verify.
	Complete      []string // folders whose files the list must have
	IgnoreMissing bool     // a file that does not exist is no failure
	Partial       bool     // a list without an end line is no failure
	Special       bool     // files that are not regular, and standard input, are read
	Status        bool     // print nothing
	Wanted        string   // if not empty, the label that the list must have

	Stdin          io.Reader
	Stdout, Stderr io.Writer
}

// A run is what the goroutines of Tag or Verify share.
type run struct {
	key      *list.Key
	oldKey   *list.Key // whose tags are computed too, or nil
	files    tree.Files
	jobs     int // cores
	progress *progress
}

// open reads the key, and makes what the readers of files share.
func (o *Options) open(ctx context.Context) (*run, error) {
	key, err := ReadKey(ctx, o.KeyFile, o.Algorithm, o.Stdin, o.Stderr)
	if err != nil {
		return nil, err
	}
	r := &run{key: key, jobs: o.Jobs}
	if r.jobs == 0 {
		r.jobs = runtime.GOMAXPROCS(0)
	}
	if !o.Status {
		r.progress = newProgress(o.Stderr)
	}
	r.files.Stdin, r.files.Count, r.files.Cores, r.files.Minimal = o.Stdin, r.progress.add, 1, o.MinimalStat
	if key.Parallel() {
		r.files.Cores = r.jobs
	}
	if o.KeyFile == "-" {
		r.files.UseStdin()
	}
	return r, nil
}

func (r *run) close() {
	r.key.Destroy()
	if r.oldKey != nil {
		r.oldKey.Destroy()
	}
}

// A worker reads files, one after the other, and computes their tags.
type worker struct {
	*tree.Reader
	stream *list.Stream
}

func (r *run) worker() worker {
	s := r.key.Stream(r.oldKey)
	return worker{r.files.NewReader(s), s}
}

func (w worker) close() {
	w.Reader.Close()
	w.stream.Destroy()
}
