// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

// Package fork tells a process from the one that it was copied from. Go programs do not fork,
// but C code in them can, and the child may go on with Go code. What must not be the same in both,
// such as the state of a random generator, keeps the number of the process that it is for.
package fork

import (
	"sync/atomic"
	"syscall"
)

// A Process is the number of a process, never 0. A child has another one than all processes from
// which it descends, except that a number may come again where the system cannot wipe memory.
type Process = uint64

// word is at a fixed address, and all of its page is in it: the system wipes whole pages.
var word struct {
	_ [most]byte

	// current is the Process, or 0 if it must be found out. In a child the system has set it
	// to 0, if it wipes.
	current atomic.Uint64

	_ [most]byte
}

var (
	// wiping is what wipe has returned, or unknown. There is no lock, which a child might have from a thread
	// that it does not have: wipe can be called twice.
	wiping atomic.Uint32

	// last counts the processes from the first one down to this. A child has a copy.
	last atomic.Uint64

	instead func() Process // in tests: see Replace
)

const (
	unknown = iota
	wiped
	notWiped
)

// wipes asks the system to wipe word in children, when a process is asked for the first time, and reports
// whether it does.
func wipes() bool {
	if wiping.Load() == unknown {
		if wipe() {
			wiping.Store(wiped)
		} else {
			wiping.Store(notWiped)
		}
	}
	return wiping.Load() == wiped
}

// Current returns the process that is running. Where the system wipes memory that takes a load.
//
// Whoever uses what is for a process compares afterwards. Between a comparison and the use a
// goroutine may stand still, and then go on in the parent and in the child.
func Current() Process {
	if p := word.current.Load(); p != 0 {
		return p
	}
	return find()
}

// find returns the process after a fork, and where the system must be asked each time.
//
// The system copies a process page by page, while other threads of the parent write. What the
// child has of last may be older than numbers that it has elsewhere, but those have the parent's
// identifier.
func find() Process {
	if instead != nil {
		return instead()
	}
	id := uint64(syscall.Getpid()) << 32
	if !wipes() {
		return id | last.Load()
	}
	word.current.CompareAndSwap(0, id|last.Add(1))
	return word.current.Load()
}

// Pretend makes the running process a child, for what was made before. It is for tests.
func Pretend() {
	if !wipes() {
		last.Add(1) // in place of another identifier
	}
	word.current.Store(0)
}

// Replace has f say which process is running, each time that it is asked, until the caller calls
// restore. It is for tests.
func Replace(f func() Process) (restore func()) {
	word.current.Store(0)
	instead = f
	return func() { instead = nil }
}

// Ignore makes forks go unnoticed from now on. It is for tests, which call it before all else.
func Ignore() {
	p := Current()
	Replace(func() Process { return p })
}
