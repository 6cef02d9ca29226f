// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package fork_test

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"unsafe"

	"example.com/fastmac/internal/fork"
	"example.com/fastmac/internal/mactest"
	"golang.org/x/sys/unix"
)

// TestForks runs a program whose C code forks 200 times, or 1,000 times if long tests run, and whose children
// fork again. Nothing that hwrand, aesgcm and the sequences of nonces return may come twice, also where children
// have the identifier of an ancestor. A program that does not notice forks must be found out.
func TestForks(t *testing.T) {
	mactest.NeedGo(t)
	if _, err := exec.LookPath("gcc"); err != nil {
		t.Skipf("needs a C compiler, package gcc: %v", err)
	}
	program := filepath.Join(t.TempDir(), "forks")
	build := exec.Command("go", "build", "-o", program, "./testdata/forks")
	build.Env = append(mactest.HostEnv(), "CGO_ENABLED=1")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("go build: %v\n%s", err, out)
	}
	forks := 200
	if mactest.Long() {
		forks = 1000
	}
	for _, test := range []struct {
		name, flags string
		ignore      bool
	}{
		{"notice", fmt.Sprintf("-forks=%d", forks), false},
		{"namespaces", "-forks=100 -namespaces", false},
		{"ignore", "-forks=100 -ignore", true},
	} {
		t.Run(test.name, func(t *testing.T) {
			out, err := exec.Command(program, strings.Fields(test.flags)...).CombinedOutput()
			if err != nil {
				t.Fatalf("%v\n%s", err, out)
			}
			if string(out) == "no namespaces\n" {
				t.Skip("needs a user who can make PID namespaces")
			}
			lines := regexp.MustCompile(`(?m)^(.*): (\d+) repeated$`).FindAllSubmatch(out, -1)
			if len(lines) < 2 {
				t.Errorf("the program prints %s", out)
			}
			for _, line := range lines {
				repeated, _ := strconv.Atoi(string(line[2]))
				if test.ignore && repeated < 100 {
					t.Errorf("forks are not noticed, and %s", line[0])
				} else if !test.ignore && repeated > 0 {
					t.Error(string(line[0]))
				}
			}
			t.Logf("%s", out)
		})
	}
}

// TestChild checks that a child has another number than this process. Between the fork and its end it
// only asks for that.
func TestChild(t *testing.T) {
	parent := fork.Current()
	flags, stack := uintptr(syscall.SIGCHLD), uintptr(0)
	if runtime.GOARCH == "s390x" {
		flags, stack = stack, flags
	}
	pid, _, errno := syscall.RawSyscall6(syscall.SYS_CLONE, flags, stack, 0, 0, 0, 0)
	if errno == 0 && pid == 0 {
		same := uintptr(0)
		if fork.Current() == parent {
			same = 1
		}
		for {
			syscall.RawSyscall(syscall.SYS_EXIT, same, 0, 0)
		}
	}
	if errno != 0 {
		t.Fatal(errno)
	}
	var status syscall.WaitStatus
	if _, err := syscall.Wait4(int(pid), &status, 0, nil); err != nil || !status.Exited() || status.ExitStatus() != 0 {
		t.Errorf("a child has the number of its parent: %v, %v", status, err)
	}
}

// TestAdvice runs TestChild where the system accepts any advice on memory and takes none, as some
// emulators do.
func TestAdvice(t *testing.T) {
	runtime.LockOSThread() // for good: the thread, and what it starts, has the filter
	filter := []unix.SockFilter{
		{Code: unix.BPF_LD | unix.BPF_W | unix.BPF_ABS}, // the number of the system call
		{Code: unix.BPF_JMP | unix.BPF_JEQ | unix.BPF_K, Jf: 1, K: unix.SYS_MADVISE},
		{Code: unix.BPF_RET | unix.BPF_K, K: unix.SECCOMP_RET_ERRNO}, // 0
		{Code: unix.BPF_RET | unix.BPF_K, K: unix.SECCOMP_RET_ALLOW},
	}
	err := unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0)
	if err == nil {
		err = unix.Prctl(unix.PR_SET_SECCOMP, unix.SECCOMP_MODE_FILTER, uintptr(unsafe.Pointer(&unix.SockFprog{Len: uint16(len(filter)), Filter: &filter[0]})), 0, 0)
	}
	if err == nil {
		err = unix.Madvise(make([]byte, 1), -1)
	}
	if err != nil {
		t.Skipf("needs filters of system calls: %v", err)
	}
	out, err := exec.Command(os.Args[0], "-test.v", "-test.run=^TestChild$").CombinedOutput()
	if e := (*fs.PathError)(nil); errors.As(err, &e) {
		t.Skipf("cannot start itself, as in an emulator: %v", err)
	}
	if err != nil || !bytes.Contains(out, []byte("--- PASS: TestChild")) {
		t.Errorf("%v\n%s", err, out)
	}
}
