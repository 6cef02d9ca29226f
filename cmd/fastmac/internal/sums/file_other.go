// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

//go:build !unix

package sums

import (
	"errors"
	"os"
)

type regularFile = os.File

func openRegular(path string) (*regularFile, error) { return os.Open(path) }

// canMap: on Windows nobody could shorten or replace a file while it is mapped, such as a log.
const canMap = false

// mapFile returns an error: files are read.
func mapFile(*regularFile, int64, int) ([]byte, error) { return nil, errors.ErrUnsupported }

func unmap([]byte) {}

// appends: here >> of a shell only begins at the end.
func appends(*os.File) bool { return false }
