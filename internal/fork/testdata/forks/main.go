// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

// Command forks forks as C code does, goes on with Go code in each child and in a child of that,
// and prints how often they and the parent have drawn the same.
//
// In a child the Go runtime has lost its other threads. If one of them was at work, the child may
// hang; then it ends by a signal, and does not count. All but the forks are raw system calls,
// during which the runtime does not start such work.
package main

// #include <signal.h>
// #include <unistd.h>
//
// static pid_t fork_child(void) {
// 	pid_t pid = fork();
// 	if (pid == 0) {
// 		signal(SIGALRM, SIG_DFL);
// 		alarm(3);
// 	}
// 	return pid;
// }
import "C"

import (
	"bytes"
	"flag"
	"fmt"
	"runtime/debug"
	"syscall"
	"unsafe"

	"example.com/fastmac"
	"example.com/fastmac/aesgcm"
	"example.com/fastmac/hwrand"
	"example.com/fastmac/internal/fork"
)

func main() {
	forks := flag.Int("forks", 1000, "the number of children")
	ignore := flag.Bool("ignore", false, "do not notice forks")
	flag.Parse()
	if *ignore {
		fork.Ignore()
	}
	debug.SetGCPercent(-1) // it needs the other threads
	d := newDrawer()
	seen, repeated := make(map[string]bool), make(map[string]int)
	add := func(p []byte) {
		for _, draw := range d {
			key := draw.what + string(p[:draw.size])
			if seen[key] {
				repeated[draw.what]++
			}
			seen[key] = true
			p = p[draw.size:]
		}
	}
	add(d.draw())
	hung := 0
	for done := 0; done < *forks; {
		var ends [2]int
		if err := syscall.Pipe(ends[:]); err != nil {
			panic(err)
		}
		pid := C.fork_child()
		if pid == 0 {
			d.child(ends[1], true)
		}
		syscall.Close(ends[1])
		p := d.draw()
		add(p)
		var drawn [][]byte
		for io(syscall.SYS_READ, ends[0], p) {
			drawn = append(drawn, bytes.Clone(p))
		}
		syscall.Close(ends[0])
		wait(pid)
		for _, p := range drawn {
			add(p)
		}
		if len(drawn) == 3 {
			done++
		} else if hung++; hung > *forks/10 {
			panic("too many children hang")
		}
	}
	fmt.Printf("%d forks, and %d that hung\n", *forks, hung)
	for _, draw := range d {
		fmt.Printf("%s: %d repeated\n", draw.what, repeated[draw.what])
	}
}

// io reads or writes p, which a pipe does at once, and reports whether it did.
func io(call uintptr, pipe int, p []byte) bool {
	n, _, _ := syscall.RawSyscall(call, uintptr(pipe), uintptr(unsafe.Pointer(&p[0])), uintptr(len(p)))
	return int(n) == len(p)
}

func wait(pid C.pid_t) {
	syscall.RawSyscall6(syscall.SYS_WAIT4, uintptr(pid), 0, 0, 0, 0, 0)
}

// A drawer draws what processes must not have in common.
type drawer []struct {
	what string
	size int
	draw func(p []byte)
}

func newDrawer() drawer {
	twelve, sixteen := fastmac.NewNonceSequence(12), fastmac.NewNonceSequence(16)
	d := drawer{
		{"nonces of 12 bytes", 12, func(p []byte) { twelve.Next(p[:0]) }},
		{"nonces of 16 bytes", 16, func(p []byte) { sixteen.Next(p[:0]) }},
	}
	if r, err := hwrand.New(); err == nil {
		long := make([]byte, 1<<12)
		d = append(d, drawer{
			{"random bytes, 32", 32, func(p []byte) { r.Read(p) }},
			{"random bytes, 4096", 32, func(p []byte) { r.Read(long); copy(p, long) }},
		}...)
	}
	if k, err := aesgcm.NewKey(make([]byte, 32)); err == nil {
		s, sealed := k.NewSealer(), make([]byte, 0, 100)
		d = append(d, drawer{
			{"nonces of a Sealer", aesgcm.NonceSize, func(p []byte) { copy(p, s.Seal(sealed, nil, p, nil)) }},
		}...)
	}
	return d
}

func (d drawer) draw() (all []byte) {
	for _, draw := range d {
		p := make([]byte, draw.size)
		draw.draw(p)
		all = append(all, p...)
	}
	return all
}

// child draws, and ends the process. If it forks, its child does the same before, and then it draws
// again.
func (d drawer) child(pipe int, forks bool) {
	io(syscall.SYS_WRITE, pipe, d.draw())
	if forks {
		pid := C.fork_child()
		if pid == 0 {
			d.child(pipe, false)
		}
		wait(pid)
		io(syscall.SYS_WRITE, pipe, d.draw())
	}
	C._exit(0)
}
