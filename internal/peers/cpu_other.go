// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

//go:build !linux

package main

import (
	"context"
	"errors"
	"time"

	"example.com/fastmac/internal/peers/serve"
)

var errNotLinux = errors.New("needs Linux")

func twoCores() ([2]int, error) { return [2]int{}, errNotLinux }

func cpuTime() time.Duration { return 0 } // never called without two cores

func startOn(context.Context, int, serve.Peer) (*serve.Process, error) { return nil, errNotLinux }
