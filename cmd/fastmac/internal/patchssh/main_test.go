// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package patchssh

import (
	"context"
	"os"
	"testing"
)

// TestMain runs the command, without the tests, if the environment names a module. The files of
// locks are in a folder that is removed.
func TestMain(m *testing.M) {
	os.Exit(func() int {
		locks, err := os.MkdirTemp("", "patchssh")
		if err != nil {
			panic(err)
		}
		defer os.RemoveAll(locks)
		cacheDir = func() (string, error) { return locks, nil }
		if dir := os.Getenv("FASTMAC_TEST_MODULE"); dir != "" {
			if _, err := Run(context.Background(), apply(dir), os.Stderr); err != nil {
				panic(err)
			}
			return 0
		}
		return m.Run()
	}())
}
