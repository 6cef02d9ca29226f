// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package main

import (
	"context"
	"fmt"
	"runtime"
	"time"

	"golang.org/x/sys/unix"

	"example.com/fastmac/internal/peers/serve"
)

// cpuTime returns the CPU time of this process, in the program and in the kernel.
func cpuTime() time.Duration {
	var u unix.Rusage
	if err := unix.Getrusage(unix.RUSAGE_SELF, &u); err != nil {
		panic("fastmac: getrusage: " + err.Error()) // cannot fail
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// twoCores returns the first two cores that this process may use.
func twoCores() (cores [2]int, err error) {
	var set unix.CPUSet
	if err := unix.SchedGetaffinity(0, &set); err != nil {
		return cores, err
	}
	found := 0
	for core := 0; found < len(cores) && core < len(set)*64; core++ {
		if set.IsSet(core) {
			cores[found] = core
			found++
		}
	}
	if found < len(cores) {
		return cores, fmt.Errorf("needs %d cores, has %d", len(cores), found)
	}
	return cores, nil
}

// startOn starts a peer that can run on one core only: it inherits the affinity of the
// thread that starts it, and Go's scheduler sees one core.
func startOn(ctx context.Context, core int, p serve.Peer) (*serve.Process, error) {
	runtime.LockOSThread()
	var before, one unix.CPUSet
	one.Set(core)
	err := unix.SchedGetaffinity(0, &before)
	if err == nil {
		err = unix.SchedSetaffinity(0, &one)
	}
	if err != nil {
		return nil, err
	}
	process, err := p.Start(ctx)
	if unix.SchedSetaffinity(0, &before) == nil {
		runtime.UnlockOSThread() // else the thread ends with its goroutine
	}
	return process, err
}
