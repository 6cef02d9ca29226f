// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

//go:build unix

package sums

import (
	"bytes"
	"errors"
	"os"
	"strings"
	"syscall"
	"testing"
)

// TestCacheMeanwhile makes a cache of a folder only while verify looks into it: what was added there is not hidden.
func TestCacheMeanwhile(t *testing.T) {
	const none = "Signature: none, and more text that follows it"
	a := newArchive(t, map[string]string{"d/c/CACHEDIR.TAG": none, "d/c/x": ""}, nil)
	if err := syscall.Mkfifo("pipe", 0o600); err != nil {
		t.Fatal(err)
	}
	// Whoever opens the pipe waits for verify, which has then looked into the folders, and read no file.
	feed := func(between func() error) <-chan error {
		ended := make(chan error, 1)
		go func() {
			pipe, err := os.OpenFile("pipe", os.O_WRONLY, 0)
			if err == nil && between != nil {
				err = between()
			}
			ended <- errors.Join(err, pipe.Close())
		}()
		return ended
	}
	a.Options = Options{KeyFile: "key", Output: "list", Force: true, Recursive: true, ExcludeCaches: true, Jobs: 1}
	fed := feed(nil)
	_, _, err := a.tag("pipe", "d")
	if err := errors.Join(err, <-fed); err != nil {
		t.Fatal(err)
	}
	write := func(content string) func() error {
		return func() error { return os.WriteFile("d/c/CACHEDIR.TAG", []byte(content), 0o600) }
	}
	for _, test := range []struct {
		name, before string
		between      func() error
		want         string
	}{
		{"nothing", none, nil, "d/c/added: NOT IN THE LIST\n"},
		{"for a moment", cacheTag, write(none), "d/c: FAILED open or read\n"},
		{"twice", cacheTag, func() error { return errors.Join(write(none)(), write(cacheTag)()) }, "d/c/CACHEDIR.TAG: FAILED\nd/c: FAILED open or read\n"},
	} {
		a.write(map[string]string{"d/c/CACHEDIR.TAG": test.before, "d/c/added": ""})
		fed := feed(test.between)
		var out, errs bytes.Buffer
		o := Options{KeyFile: "key", Complete: []string{"d"}, Quiet: true, Special: true, Jobs: 1, Stdin: strings.NewReader(""), Stdout: &out, Stderr: &errs}
		r, err := Verify(t.Context(), o, "list", true)
		if err := errors.Join(err, <-fed); err != nil {
			t.Fatal(err)
		}
		if out.String() != test.want || r.Err() == nil {
			t.Errorf("%s: %q, %q, want %q", test.name, &out, &errs, test.want)
		}
	}
}
