// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

//go:build unix

package sums

import (
	"context"
	"errors"
	"os"
	"syscall"
	"testing"
)

// TestOutInterrupted interrupts Tag with an output file, after it has opened a file: what was
// there before stays, and nothing else is left.
func TestOutInterrupted(t *testing.T) {
	f := newFolder(t, "umac128")
	f.write("a", 1)
	f.must(os.WriteFile("list", []byte("old"), 0o600))
	f.must(syscall.Mkfifo("fifo", 0o600))
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	opened := make(chan *os.File, 1)
	go func() {
		w, _ := os.OpenFile("fifo", os.O_WRONLY, 0) // waits for Tag
		cancel()
		opened <- w
	}()
	f.Output, f.Jobs = "list", 1
	err := Tag(ctx, f.Options, []string{"a", "fifo"})
	(<-opened).Close()
	if !errors.Is(err, context.Canceled) {
		t.Errorf("%v", err)
	}
	text, err := os.ReadFile("list")
	entries, dirErr := os.ReadDir(".")
	if err != nil || dirErr != nil || string(text) != "old" || len(entries) != 4 { // a, fifo, key, list
		t.Errorf("%q, %v, %v", text, err, entries)
	}
}
