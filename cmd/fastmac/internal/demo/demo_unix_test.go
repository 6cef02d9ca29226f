// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

//go:build unix

package demo

import (
	"context"
	"io"
	"path/filepath"
	"syscall"
	"testing"
)

// A cancelling channel ends the run in the middle of a transfer.
type cancelling struct {
	io.ReadWriter
	cancel context.CancelFunc
}

func (c cancelling) Read(p []byte) (int, error) {
	n, err := c.ReadWriter.Read(p)
	c.cancel()
	return n, err
}

func TestDemoInterrupted(t *testing.T) {
	needSSH(t)
	for row, name := range []string{"Go's client", "OpenSSH"} {
		t.Run(name, func(t *testing.T) {
			d := newTestDemo(t)
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			channels := 0 // one at a time
			inUse := false
			d.tamper = func(rw io.ReadWriter) io.ReadWriter {
				channels++
				if channels <= row {
					return rw
				}
				folders, _ := filepath.Glob(filepath.Join(d.temp, "*", "identity"))
				inUse = len(folders) == 1
				return cancelling{rw, cancel}
			}
			d.Size = 8 << 20
			if r, err := d.run(ctx); err != context.Canceled || r != nil {
				t.Errorf("%v, %v", r, err)
			}
			if !inUse {
				t.Error("there was no temporary folder to remove")
			}
			d.checkEmpty(t)
			checkNoChild(t)
		})
	}
	t.Run("probe", func(t *testing.T) {
		fakeSSH(t, "/bin/sleep 600; exit 0")
		d := newTestDemo(t)
		ctx, cancel := context.WithCancel(t.Context())
		d.register = func() error { cancel(); return nil }
		if r, err := d.run(ctx); err != context.Canceled || r != nil {
			t.Errorf("%v, %v", r, err)
		}
		d.checkEmpty(t)
		checkNoChild(t)
	})
}

// checkNoChild checks that this process has no child, running or unwaited.
func checkNoChild(t *testing.T) {
	t.Helper()
	var status syscall.WaitStatus
	if pid, err := syscall.Wait4(-1, &status, syscall.WNOHANG, nil); err != syscall.ECHILD {
		t.Errorf("child process left behind: %d, %v", pid, err)
	}
}
