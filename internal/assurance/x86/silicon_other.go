// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

//go:build !linux || !amd64

package x86

import "math/rand/v2"

// A silicon is the CPU, if it is one that executes the kernels.
type silicon struct{}

func newSilicon() (*silicon, error) { return nil, nil }

func (*silicon) compare(*instruction, models, int, *rand.Rand) error { panic("no CPU") }
