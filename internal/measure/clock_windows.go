// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package measure

import (
	"math/bits"
	"time"
	"unsafe"

	"golang.org/x/sys/windows"
)

var (
	kernel32 = windows.NewLazySystemDLL("kernel32.dll")
	ticks    = kernel32.NewProc("QueryPerformanceCounter")

	// frequency is that of the counter, in Hz.
	frequency = query(kernel32.NewProc("QueryPerformanceFrequency"))
)

// query returns what a function of the counter stores. These never fail.
func query(proc *windows.LazyProc) uint64 {
	var value uint64
	proc.Call(uintptr(unsafe.Pointer(&value)))
	return value
}

// now returns the time since the counter began. [time.Now] has steps of half a millisecond or
// more on Windows, which is longer than a run.
func now() time.Duration {
	hi, lo := bits.Mul64(query(ticks), uint64(time.Second))
	ns, _ := bits.Div64(hi, lo, frequency)
	return time.Duration(ns)
}
