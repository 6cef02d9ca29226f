// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package tree

import (
	"context"
	"os"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// TestLease reads a file of which another program, such as Samba, has a lease: it waits until that ends, or
// for an interrupt.
func TestLease(t *testing.T) {
	f := newFolder(t)
	r := new(Files).NewReader(new(content))
	defer r.Close()
	f.write("file", 1)
	for _, interrupt := range []bool{false, true} {
		held, err := os.OpenFile("file", os.O_RDWR, 0)
		f.must(err)
		if _, err := unix.FcntlInt(held.Fd(), unix.F_SETLEASE, unix.F_WRLCK); err != nil {
			t.Skip(err)
		}
		ctx, cancel := context.WithCancel(t.Context())
		time.AfterFunc(50*time.Millisecond, func() {
			if cancel(); !interrupt {
				held.Close()
			}
		})
		if !interrupt {
			ctx = t.Context()
		}
		if err := r.Read(ctx, "file"); (err != nil) != interrupt {
			t.Errorf("interrupted %v: %v", interrupt, err)
		}
		held.Close()
	}
}
