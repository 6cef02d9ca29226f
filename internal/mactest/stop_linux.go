// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package mactest

import (
	"fmt"
	"runtime"
	"runtime/debug"
	"testing"
	"unsafe"

	"golang.org/x/sys/unix"
)

// A stopping is a page at whose first access a goroutine stops: see userfaultfd(2).
type stopping struct {
	fd      int
	page    []byte
	content []byte // of the page, with what follows the content
}

// newStopping returns a page that begins with content, or an error if the system does not allow it.
func newStopping(t testing.TB, content []byte) (*stopping, error) {
	const userModeOnly = 1
	fd, _, errno := unix.Syscall(unix.SYS_USERFAULTFD, unix.O_CLOEXEC|userModeOnly, 0, 0)
	if errno != 0 {
		return nil, fmt.Errorf("userfaultfd: %w", errno)
	}
	t.Cleanup(func() { unix.Close(int(fd)) })
	s := &stopping{fd: int(fd), content: make([]byte, unix.Getpagesize())}
	copy(s.content, content)
	var err error
	if s.page, err = unix.Mmap(-1, 0, len(s.content), unix.PROT_READ|unix.PROT_WRITE, unix.MAP_ANON|unix.MAP_PRIVATE); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { unix.Munmap(s.page) })
	api := [3]uint64{0xaa}
	register := [4]uint64{uint64(uintptr(unsafe.Pointer(&s.page[0]))), uint64(len(s.page)), 1} // missing pages
	for _, call := range []struct {
		request uintptr
		with    unsafe.Pointer
	}{{0xc018aa3f, unsafe.Pointer(&api)}, {0xc020aa00, unsafe.Pointer(&register)}} {
		if err := s.control(call.request, call.with); err != nil {
			return nil, fmt.Errorf("userfaultfd: ioctl %#x: %w", call.request, err)
		}
	}
	return s, nil
}

func (s *stopping) control(request uintptr, with unsafe.Pointer) error {
	if _, _, errno := unix.Syscall(unix.SYS_IOCTL, uintptr(s.fd), request, uintptr(with)); errno != 0 {
		return errno
	}
	return nil
}

// bytes returns what begins with the content.
func (s *stopping) bytes() []byte { return s.page[:DyingSize:DyingSize] }

// stop runs f in a goroutine, calls meanwhile when it is stopped, and waits for its end. It reports whether
// it was stopped. The goroutine stops in the middle of an instruction, and keeps its processor of the
// scheduler: nothing else may stop all goroutines, as a garbage collection does.
func (s *stopping) stop(f, meanwhile func()) (stopped bool) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(max(3, runtime.GOMAXPROCS(0))))
	runtime.GC()
	defer debug.SetGCPercent(debug.SetGCPercent(-1))
	done := make(chan bool)
	go func() {
		f()
		close(done)
	}()
	var message [32]byte
	for !stopped {
		select {
		case <-done:
			return false
		default:
		}
		wait := []unix.PollFd{{Fd: int32(s.fd), Events: unix.POLLIN}}
		if n, _ := unix.Poll(wait, 1); n == 1 {
			unix.Read(s.fd, message[:])
			stopped = true
		}
	}
	meanwhile()
	copied := [5]uint64{uint64(uintptr(unsafe.Pointer(&s.page[0]))), uint64(uintptr(unsafe.Pointer(&s.content[0]))), uint64(len(s.page))}
	if err := s.control(0xc028aa03, unsafe.Pointer(&copied)); err != nil {
		panic(err) // the goroutine would stand still for ever
	}
	<-done
	return true
}
