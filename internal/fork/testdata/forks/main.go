// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

// Command forks forks as C code does, goes on with Go code in each child and in a child of that,
// and prints how often they and the parent have drawn the same. With -namespaces there is a third
// generation, and the second and the third have the same identifier, 1, in PID namespaces of their own.
//
// In a child the Go runtime has lost its other threads. If one of them was at work, the child may
// hang; then a signal ends it after half a second, and it does not count. All but the forks are raw system calls,
// during which the runtime does not start such work.
package main

// #define _GNU_SOURCE
// #include <sched.h>
// #include <signal.h>
// #include <sys/time.h>
// #include <unistd.h>
//
// static int new_namespace(void) {
// 	return unshare(CLONE_NEWPID) && unshare(CLONE_NEWUSER | CLONE_NEWPID);
// }
//
// static pid_t fork_child(void) {
// 	pid_t pid = fork();
// 	if (pid == 0) {
// 		signal(SIGALRM, SIG_DFL);
// 		setitimer(ITIMER_REAL, &(struct itimerval){.it_value.tv_usec = 500000}, NULL);
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
	namespaces := flag.Bool("namespaces", false, "make the children of children process 1 of a namespace")
	flag.Parse()
	generations := 2
	if *namespaces {
		generations = 3
	}
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
			d.child(ends[1], generations, *namespaces)
		}
		syscall.Close(ends[1])
		p := d.draw()
		add(p)
		var drawn [][]byte
		for io(syscall.SYS_READ, ends[0], p) {
			drawn = append(drawn, bytes.Clone(p))
		}
		syscall.Close(ends[0])
		if wait(pid) != 0 {
			fmt.Println("no namespaces")
			return
		}
		for _, p := range drawn {
			add(p)
		}
		if len(drawn) == 2*generations-1 {
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

// wait waits for a child, and returns with what status it has exited, or 0 if a signal ended it.
func wait(pid C.pid_t) int {
	var status syscall.WaitStatus
	syscall.RawSyscall6(syscall.SYS_WAIT4, uintptr(pid), uintptr(unsafe.Pointer(&status)), 0, 0, 0, 0)
	return max(0, status.ExitStatus())
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

// child draws, and ends the process. Except for the last generation, it forks, its child does the
// same before, and then it draws again.
func (d drawer) child(pipe, generations int, namespaces bool) {
	io(syscall.SYS_WRITE, pipe, d.draw())
	status := 0
	if generations > 1 {
		if namespaces && C.new_namespace() != 0 {
			C._exit(1)
		}
		pid := C.fork_child()
		if pid == 0 {
			d.child(pipe, generations-1, namespaces)
		}
		status = wait(pid)
		io(syscall.SYS_WRITE, pipe, d.draw())
	}
	C._exit(C.int(status))
}
