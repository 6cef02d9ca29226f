// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package mactest

import (
	"bytes"
	"crypto/fips140"
	"encoding/binary"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"runtime"
	"runtime/debug"
	"slices"
	"strings"
	"testing"
	"unsafe"

	"example.com/fastmac/internal/kernel"
)

// A StackOp is an operation of which no secret may be on the goroutine's stack when it has returned.
type StackOp struct {
	Name string // with the sizes of key and message

	// Prepare sets up an operation on secrets from random, such as keys and messages; all else is the same in
	// each call. It returns the operation, and a function that is called after it, and returns secrets that may
	// remain, such as the tag.
	Prepare func(random func(n int) []byte) (run func(), may func() [][]byte)

	// Only, if it is not nil, returns the secrets that are looked for. All else may remain.
	Only func(random func(n int) []byte) [][]byte
}

const (
	stackBelow = 16 << 10 // how many bytes below an operation's first frame are looked at
	smallStack = 8 << 10  // of the stack that an operation outgrows
	stackGuard = 928      // of which so much is for functions that do not check how much is left, see stack.go of the runtime

	stackPattern = 0x5ac3965a3c69a5c3
)

// CheckStack calls each operation on a stack that is filled with a pattern, with two sets of secrets, and twice with
// each. What is then on the stack, and depends on the secrets alone, is a remain. So it finds all secrets, also
// those that no list has. It looks first at a large stack, and then at small ones that the operation outgrew, which
// the runtime has moved: at what the call left in the old place. In long runs there are more of these.
//
// A garbage collection may move a stack as well, and a signal may store registers on it: there must be none. It
// runs in a process of [StackProcess].
func CheckStack(t *testing.T, ops []StackOp) {
	t.Helper()
	defer debug.SetGCPercent(debug.SetGCPercent(-1))
	step := 336
	switch {
	case len(ops) < 30:
		step = 48
	case Long():
		step = 96
	}
	for i, op := range ops {
		depth := 0
		if found := op.compare(func(run func()) []byte {
			left := runBelow(run)
			depth = max(depth, usedOf(left))
			return left
		}); len(found) > 0 {
			t.Errorf("%s: below the caller's frame: %v", op.Name, found)
		}
		// Other rooms for each operation: many call the same functions.
		var worst remains
		rooms := 0
		for room := i * 72 % step; room < min(depth+64, smallStack-2*stackGuard); room += step {
			found := op.compare(func(run func()) []byte { return runOutgrown(uintptr(room), run) })
			if len(found) > 0 {
				rooms++
			}
			if len(found) > len(worst) {
				worst = found
			}
		}
		if len(worst) > 0 {
			t.Errorf("%s: on a stack that was outgrown, in %d cases: %v", op.Name, rooms, worst)
		}
		if i%8 == 0 {
			runtime.GC()
		}
	}
	outgrown := false
	for room := range 16 {
		outgrown = outgrown || runOutgrown(uintptr(64*room), func() { growSmallStack() }) != nil
	}
	if !outgrown {
		t.Error("no stack was outgrown")
	}
}

// StackProcess runs the same test again in processes in which CheckStack works, with each of the settings of GODEBUG,
// and fails the test if one of them fails. In such a process it returns true. The flag -run of go test may choose
// subtests, as in '^TestStack$/UMAC'.
func StackProcess(t *testing.T, settings ...string) bool {
	t.Helper()
	const env = "FASTMAC_TEST_STACK"
	switch {
	case os.Getenv(env) != "":
		return true
	case runtime.GOARCH != "amd64" || kernel.Purego || Allocates:
		t.Skip("words that compiled code spills to the stack are known on amd64, with this release of Go and with kernels")
	case fips140.Enabled():
		t.Skip("starts processes in FIPS 140 mode itself")
	}
	run := flag.Lookup("test.run").Value.String()
	if test, _, _ := strings.Cut(run, "/"); test != "^"+t.Name()+"$" {
		run = "^" + t.Name() + "$"
	}
	for _, setting := range settings {
		cmd := exec.Command(os.Args[0], "-test.run="+run, "-test.failfast", fmt.Sprintf("-test.short=%v", testing.Short()))
		cmd.Env = append(os.Environ(), env+"=1", "GODEBUG="+ScanDebug[len("GODEBUG="):]+"adaptivestackstart=0,"+setting)
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Errorf("GODEBUG=%s: %v\n%s", setting, err, out)
		}
	}
	return false
}

// remains are words of 4 bytes, by their place.
type remains []remain

type remain struct {
	at int
	a  [4]byte // with the first secrets
}

func (r remains) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%d words of 4 bytes depend on secrets:", len(r))
	for i, word := range r {
		if i == 12 {
			fmt.Fprint(&b, " and more")
			break
		}
		if i == 0 || word.at != r[i-1].at+4 {
			fmt.Fprintf(&b, " at %d:", word.at)
		}
		fmt.Fprintf(&b, " %x", word.a)
	}
	return b.String()
}

// compare returns what look finds after the operation and depends on the secrets. Places are those in what look
// returns. The end of that is the same place each time. A find must repeat: another thread may have got the memory.
func (op *StackOp) compare(look func(run func()) []byte) (found remains) {
	for range 3 {
		if found = op.compareOnce(look); len(found) == 0 {
			break
		}
	}
	return found
}

func (op *StackOp) compareOnce(look func(run func()) []byte) (found remains) {
	var left [2][2][]byte // by the secrets
	var after [2]func() [][]byte
	for i, secrets := range []int{0, 1, 1, 0} { // what only time changes is not equal in both of one kind
		rng := rand.NewChaCha8([32]byte{byte(secrets)})
		run, may := op.Prepare(func(n int) []byte { return Random(rng, n) })
		p := look(run)
		if len(p) == 0 {
			return nil
		}
		left[secrets][i/2], after[secrets] = p, may
	}
	if op.Only != nil {
		rng := rand.NewChaCha8([32]byte{})
		return findOnly(left[0][0], op.Only(func(n int) []byte { return Random(rng, n) }))
	}
	var may [2][][]byte
	for at := 0; at+8 <= len(left[0][0]); at += 8 {
		a, b := left[0][0][at:][:8], left[1][0][at:][:8]
		if bytes.Equal(a, b) || !bytes.Equal(a, left[0][1][at:][:8]) || !bytes.Equal(b, left[1][1][at:][:8]) {
			continue
		}
		if may[0] == nil {
			for i := range may {
				may[i] = [][]byte{nil}
				for _, p := range after[i]() {
					reversed := slices.Clone(p)
					slices.Reverse(reversed)
					may[i] = append(may[i], p, reversed)
				}
			}
		}
		if isDull(a) && isDull(b) {
			continue
		}
		for half := range 2 {
			a, b := a[4*half:][:4], b[4*half:][:4]
			if bytes.Equal(a, b) || isSmall(a) || isSmall(b) {
				continue
			}
			from, to := 0, 4 // a part of what may remain may be beside other bytes
			for a[from] == b[from] {
				from++
			}
			for a[to-1] == b[to-1] {
				to--
			}
			if !mayRemain(a[from:to], may[0]) || !mayRemain(b[from:to], may[1]) {
				found = append(found, remain{at + 4*half, [4]byte(a)})
			}
		}
	}
	return found
}

// findOnly returns where p has pieces of 8 bytes of secrets.
func findOnly(p []byte, secrets [][]byte) (found remains) {
	for at := 0; at+8 <= len(p); at++ {
		if slices.ContainsFunc(secrets, func(s []byte) bool { return bytes.Contains(s, p[at:][:8]) }) {
			found = append(found, remain{at, [4]byte(p[at:])})
		}
	}
	return found
}

// isSmall reports whether a word of 4 bytes is a small number, and isDull whether one of 8 bytes is, or an address in
// this process. The allocator leaves such words, which depend on nothing but time.
func isSmall(word []byte) bool { return binary.NativeEndian.Uint32(word) < 1<<16 }

func isDull(word []byte) bool {
	n := binary.NativeEndian.Uint64(word)
	if n < 1<<16 {
		return true
	}
	maps, err := os.ReadFile("/proc/self/maps")
	if err != nil {
		panic(err)
	}
	for line := range strings.Lines(string(maps)) {
		var begin, end uint64
		if fmt.Sscanf(line, "%x-%x", &begin, &end); begin <= n && n < end {
			return true
		}
	}
	return false
}

// mayRemain reports whether a word is in one of some strings.
func mayRemain(word []byte, may [][]byte) bool {
	return slices.ContainsFunc(may, func(p []byte) bool { return bytes.Contains(p, word) })
}

// usedOf returns how many bytes at the end of p are not the pattern.
func usedOf(p []byte) int {
	i := 0
	for i+8 <= len(p) && binary.NativeEndian.Uint64(p[i:]) == stackPattern {
		i += 8
	}
	return len(p) - i
}

// runBelow calls run on a large stack, and returns what is below the frame of its caller.
func runBelow(run func()) []byte {
	left, done := make([]byte, stackBelow), make(chan struct{})
	go func() {
		defer close(done)
		growStack()
		fillBelow(stackBelow)
		run()
		copyBelow(left)
	}()
	<-done
	return left
}

//go:noinline
func growStack() byte {
	var frame [3 * stackBelow]byte
	return touchFrame(frame[:])
}

//go:noinline
func growSmallStack() byte {
	var frame [smallStack / 2]byte // with what is in use more than half, and less than all, without the guard
	return touchFrame(frame[:])
}

//go:noinline
func touchFrame(p []byte) byte { return p[len(p)/2] }

// runOutgrown calls run on a small stack of which so many bytes are left, apart from the guard. If the runtime has
// moved the stack meanwhile, it returns what is in the old place, and else nil.
func runOutgrown(room uintptr, run func()) (left []byte) {
	buf, done := make([]byte, smallStack), make(chan struct{})
	go func() {
		defer close(done)
		growSmallStack()
		if descend(room+stackGuard, run, buf) {
			left = buf
		}
	}()
	<-done
	return left
}

// descend is runOutgrown, of the rest of the stack. The place of a stack of up to 8 KiB is a multiple of its size.
//
//go:noinline
func descend(room uintptr, run func(), buf []byte) (moved bool) {
	var here uint64
	at := uintptr(unsafe.Pointer(&here))
	if at%smallStack > room+64 {
		return descend(room, run, buf)
	}
	fillBelow(int(at % smallStack))
	run()
	if uintptr(unsafe.Pointer(&here)) == at {
		return false
	}
	copyOld(buf, at&^(smallStack-1))
	return true
}

// fillBelow fills n bytes of stack below its caller's frame, or a few less, with the pattern.
//
//go:noinline
//go:nosplit
func fillBelow(n int) {
	var here uint64
	for i := 64; i+8 <= n; i += 8 {
		*(*uint64)(unsafe.Add(unsafe.Pointer(&here), -i)) = stackPattern
	}
}

// copyBelow copies what is on the stack below its caller's frame.
//
//go:noinline
//go:nosplit
func copyBelow(p []byte) {
	var here uint64
	copy(p, unsafe.Slice((*byte)(unsafe.Add(unsafe.Pointer(&here), -len(p))), len(p)))
}

// copyOld copies from an address where there was a stack. It still is memory of the process.
//
//go:noinline
//go:nosplit
func copyOld(p []byte, at uintptr) {
	copy(p, unsafe.Slice(*(**byte)(unsafe.Pointer(&at)), len(p)))
}
