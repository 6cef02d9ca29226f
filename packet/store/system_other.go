// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

//go:build !(darwin || dragonfly || freebsd || linux || netbsd || openbsd || windows)

package store

import (
	"errors"
	"os"
	"runtime"
)

// Without a lock that ends with the process, two processes could use the same counters.

func flock(*os.File) error         { return errors.New("store: there is no lock for " + runtime.GOOS) }
func rename(from, to string) error { return os.Rename(from, to) }
func syncFolder(string) error      { return errors.ErrUnsupported }
