// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package fastmac_test

import (
	"bytes"
	"crypto"
	"errors"
	"fmt"
	"os"
	"runtime"
	"runtime/debug"
	"slices"
	"strings"
	"testing"
	"unsafe"

	"example.com/fastmac"
	"example.com/fastmac/internal/kernel"
	"example.com/fastmac/internal/mactest"
	"golang.org/x/sys/unix"
)

// placedKeys returns the memory of Example_placedState, and the error of protect.
func placedKeys(t *testing.T) (placed *keys, mem []byte, protected error) {
	t.Helper()
	mem, unmap, err := mapGuarded(int(unsafe.Sizeof(keys{})))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := unmap(); err != nil {
			t.Error(err)
		}
	})
	return (*keys)(unsafe.Pointer(unsafe.SliceData(mem))), mem, protect(mem)
}

// TestPlacedKeys uses keys outside Go's memory, one-shot and in streams, and checks that
// all of that memory is zeros after Destroy.
func TestPlacedKeys(t *testing.T) {
	mactest.ForAllKernels(t, slices.Concat(mactest.UMAC, mactest.HMAC), testPlacedKeys)
}

func testPlacedKeys(t *testing.T) {
	placed, mem, _ := placedKeys(t)
	zeros := make([]byte, len(mem))
	key, nonce, msg := []byte("0123456789abcdef"), []byte("12345678"), bytes.Repeat([]byte("message"), 1000)

	if err := placed.hmac.Init(crypto.SHA256, key); err != nil {
		t.Fatal(err)
	}
	if bytes.Equal(mem, zeros) {
		t.Error("the HMACKey is not in the placed memory")
	}
	runtime.GC()
	want := mactest.Must(fastmac.NewHMACKey(crypto.SHA256, key)).Tag(nil, msg)
	h := placed.hmac.New()
	h.Write(msg)
	if got := placed.hmac.Tag(nil, msg); !bytes.Equal(got, want) || !h.Verify(want) {
		t.Errorf("HMAC %x, want %x", got, want)
	}
	h.Destroy()
	placed.hmac.Destroy()
	forget := func(k any, kept ...string) { // which are no secrets
		for _, field := range kept {
			clear(mactest.Field(k, field))
		}
	}
	if forget(&placed.hmac, "life"); !bytes.Equal(mem, zeros) {
		t.Errorf("the memory is not zeros after Destroy of the HMACKey: %x", mem)
	}

	if kernel.Active(kernel.AES) == "stdlib" {
		return // a UMACKey has a pointer, see TestPointers
	}
	for _, size := range mactest.UMACTagSizes {
		found := unsafe.Slice((*byte)(unsafe.Pointer(&placed.umac)), unsafe.Sizeof(placed.umac))
		for i := range found {
			found[i] = 0xaa // Init must follow no pointer that is there
		}
		if err := placed.umac.Init(key, size); err != nil {
			t.Fatal(err)
		}
		if bytes.Equal(mem, zeros) {
			t.Error("the UMACKey is not in the placed memory")
		}
		runtime.GC()
		want := mactest.Must(fastmac.NewUMACKey(key, size)).Tag(nil, nonce, msg)
		u := placed.umac.New()
		u.Write(msg)
		if got := placed.umac.Tag(nil, nonce, msg); !bytes.Equal(got, want) || !u.Verify(want, nonce) {
			t.Errorf("UMAC %x, want %x", got, want)
		}
		u.Destroy()
		placed.umac.Destroy()
		if forget(&placed.umac, "pad.life"); !bytes.Equal(mem, zeros) {
			t.Errorf("the memory is not zeros after Destroy of the UMACKey: %x", mem)
		}
	}
}

// TestPlacedGuards checks that the pages before and after the memory cannot be read.
func TestPlacedGuards(t *testing.T) {
	_, mem, _ := placedKeys(t)
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
	var sum byte // the compiler would leave out reads of bytes that are not used
	for _, offset := range []int{-unix.Getpagesize(), -1, len(mem), len(mem) + unix.Getpagesize() - 1} {
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("the byte at offset %d can be read; sum %d", offset, sum)
				}
			}()
			sum += *(*byte)(unsafe.Add(unsafe.Pointer(unsafe.SliceData(mem)), offset))
		}()
	}
}

// TestPlacedFlags asks the kernel whether the memory is locked, not dumped, and wiped
// on fork.
func TestPlacedFlags(t *testing.T) {
	_, mem, err := placedKeys(t)
	switch {
	case err == nil:
	case errors.Is(err, unix.ENOMEM), errors.Is(err, unix.EPERM), errors.Is(err, unix.EAGAIN), errors.Is(err, unix.EINVAL):
		t.Skip("needs a higher RLIMIT_MEMLOCK, or Linux 4.14:", err)
	default:
		t.Fatal(err)
	}
	if unix.Madvise(mem, 1<<20) == nil {
		t.Skip("needs Linux itself: this is an emulator such as QEMU, which accepts any advice and ignores it")
	}
	smaps, err := os.ReadFile("/proc/self/smaps")
	if err != nil {
		t.Skip("needs /proc:", err)
	}
	start := uintptr(unsafe.Pointer(unsafe.SliceData(mem)))
	_, entry, _ := strings.Cut("\n"+string(smaps), fmt.Sprintf("\n%08x-%08x rw-p ", start, start+uintptr(len(mem))))
	_, flags, found := strings.Cut(entry, "\nVmFlags: ")
	if !found {
		t.Fatalf("/proc/self/smaps has no flags for the %d bytes at %x", len(mem), start)
	}
	flags, _, _ = strings.Cut(flags, "\n")
	for flag, what := range map[string]string{"lo": "locked", "dd": "kept out of core dumps", "wf": "wiped on fork"} {
		if !slices.Contains(strings.Fields(flags), flag) {
			t.Errorf("the memory is not %s; VmFlags %s", what, flags)
		}
	}
}
