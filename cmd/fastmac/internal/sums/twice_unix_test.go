// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

//go:build unix

package sums

import (
	"bytes"
	"math/rand/v2"
	"os"
	"syscall"
	"testing"
	"time"
)

// TestExchanged changes the key of a list while somebody who has mapped its file exchanges the content. The
// new list has the content that the old key has tagged, or there is none.
func TestExchanged(t *testing.T) {
	rounds := 20
	if os.Getenv("FASTMAC_TEST_LONG") != "" {
		rounds = 200
	}
	const size = 1 << 20
	contents := [2][]byte{bytes.Repeat([]byte("right "), size)[:size], bytes.Repeat([]byte("wrong "), size)[:size]}
	for _, algorithm := range []string{"umac128", "gmac", "hmac-sha256"} {
		f := newFolder(t, "umac128")
		f.must(WriteKey("new", algorithm, nil))
		f.must(os.WriteFile("file", contents[0], 0o600))
		f.Output = "old"
		f.must(Tag(t.Context(), f.Options, []string{"file"}))
		old, err := os.ReadFile("old")
		f.must(err)
		file, err := os.OpenFile("file", os.O_RDWR, 0)
		f.must(err)
		mapped, err := syscall.Mmap(int(file.Fd()), 0, size, syscall.PROT_READ|syscall.PROT_WRITE, syscall.MAP_SHARED)
		f.must(err)
		kept := 0
		for n := range rounds {
			f.must(os.WriteFile("list", old, 0o600))
			copy(mapped, contents[0])
			ended := make(chan error, 1)
			o := Options{KeyFile: "new", OldKeyFile: "key", Update: "list", Quiet: true, Stdin: f.Stdin, Stdout: &f.out, Stderr: &f.err}
			go func() { ended <- Tag(t.Context(), o, nil) }()
			changing := true
			for i := 1; changing; i++ {
				for until := time.Now().Add(time.Duration(rand.IntN(600)) * time.Microsecond); changing && time.Now().Before(until); {
					select {
					case err = <-ended:
						changing = false
					default:
					}
				}
				copy(mapped, contents[i%2])
			}
			if err != nil {
				continue // changed while it was read, or read as another one
			}
			kept++
			for i, content := range contents {
				copy(mapped, content)
				o := Options{KeyFile: "new", Stdin: f.Stdin, Stdout: &f.out, Stderr: &f.err}
				r, err := Verify(t.Context(), o, "list", true)
				if err != nil || (r.Err() == nil) != (i == 0) {
					t.Fatalf("%s, round %d: content %d: %v, %+v", algorithm, n, i, err, r)
				}
			}
		}
		t.Logf("%s: %d lists of %d", algorithm, kept, rounds)
		syscall.Munmap(mapped)
		file.Close()
	}
}
