// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package patchssh

import (
	"context"
	"crypto/sha256"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"time"

	"github.com/gofrs/flock"
)

// Variables for tests to change: where locks are, and what calls f after a second unless it is
// stopped before.
var (
	cacheDir    = os.UserCacheDir
	afterSecond = func(f func()) (stop func() bool) { return time.AfterFunc(time.Second, f).Stop }
)

// lock waits until no other run changes the module, and returns a function that admits the next
// one. After a second it says on stderr that it waits. The lock is of an empty file, which stays,
// and ends with the process. The file is in a folder of the user, because whoever can open it can
// hold the lock, and outside the module, which a run that fails leaves as it was.
func (m *module) lock(ctx context.Context, stderr io.Writer) (unlock func() error, err error) {
	root, err := filepath.EvalSymlinks(m.root)
	if err != nil {
		return nil, err
	}
	dir, err := cacheDir()
	if err != nil {
		return nil, fmt.Errorf("no folder for a lock: %w: set one to a folder of yours", err)
	}
	dir = filepath.Join(dir, "fastmac")
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, fmt.Errorf("no folder for a lock: %w", err)
	}
	l := flock.New(filepath.Join(dir, fmt.Sprintf("patch-ssh-%x.lock", sha256.Sum256([]byte(root)))))
	locked, err := l.TryLock()
	if err == nil && !locked {
		stop := afterSecond(func() {
			fmt.Fprintf(stderr, "fastmac: waiting for another patch-ssh in %s, which holds the lock %s\n", root, l.Path())
		})
		_, err = l.TryLockContext(ctx, 50*time.Millisecond)
		stop()
	}
	if err != nil {
		return nil, fmt.Errorf("cannot lock %s: %w", l.Path(), err)
	}
	return l.Unlock, nil
}
