// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

//go:build !linux

package mactest

import (
	"errors"
	"testing"
)

type stopping struct{}

func newStopping(testing.TB, []byte) (*stopping, error) {
	return nil, errors.New("only Linux has userfaultfd")
}

func (*stopping) bytes() []byte                           { return nil }
func (*stopping) stop(f, meanwhile func()) (stopped bool) { return false }
