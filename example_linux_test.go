// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package fastmac_test

import (
	"bytes"
	"crypto"
	"errors"
	"fmt"
	"log"
	"runtime"
	"unsafe"

	"example.com/fastmac"
	"golang.org/x/sys/unix"
)

// keys are the keys that the program places.
type keys struct {
	umac fastmac.UMACKey
	hmac fastmac.HMACKey
}

// mapGuarded maps at least n bytes of zeros, in whole pages, outside Go's memory. The page
// before them and the page after them cannot be accessed. After unmap nothing may use the
// bytes, nor a stream whose key is there.
func mapGuarded(n int) (mem []byte, unmap func() error, err error) {
	page := unix.Getpagesize()
	size := (n + page - 1) / page * page
	all, err := unix.Mmap(-1, 0, page+size+page, unix.PROT_NONE, unix.MAP_ANON|unix.MAP_PRIVATE)
	if err != nil {
		return nil, nil, fmt.Errorf("mmap: %w", err)
	}
	unmap = func() error { return unix.Munmap(all) }
	mem = all[page:][:size:size]
	if err := unix.Mprotect(mem, unix.PROT_READ|unix.PROT_WRITE); err != nil {
		return nil, nil, errors.Join(fmt.Errorf("mprotect: %w", err), unmap())
	}
	return mem, unmap, nil
}

// protect keeps mem out of swap space, core dumps and forked processes. The error names
// each call that failed; the other calls are in effect.
func protect(mem []byte) error {
	var errs []error
	// ENOMEM or EPERM: the process may not lock this much memory. The limit is
	// RLIMIT_MEMLOCK: ulimit -l in a shell, LimitMEMLOCK in systemd.
	if err := unix.Mlock(mem); err != nil {
		errs = append(errs, fmt.Errorf("mlock of %d bytes, see ulimit -l: %w", len(mem), err))
	}
	if err := unix.Madvise(mem, unix.MADV_DONTDUMP); err != nil {
		errs = append(errs, fmt.Errorf("madvise(MADV_DONTDUMP): %w", err))
	}
	// EINVAL: Linux is older than 4.14.
	if err := unix.Madvise(mem, unix.MADV_WIPEONFORK); err != nil {
		errs = append(errs, fmt.Errorf("madvise(MADV_WIPEONFORK): %w", err))
	}
	return errors.Join(errs...)
}

// On Linux a program can place its keys in memory that is not swapped out, is not in core dumps,
// reads as zeros in forked processes, and lies between two pages that cannot be accessed. Values that
// a tag needs for a moment are still in registers and on Go's stacks.
func Example_placedState() {
	mem, unmap, err := mapGuarded(int(unsafe.Sizeof(keys{})))
	if err != nil {
		log.Fatal(err)
	}
	if err := protect(mem); err != nil {
		log.Print(err) // a program that needs the protection exits here
	}
	placed := (*keys)(unsafe.Pointer(unsafe.SliceData(mem)))

	if err := placed.hmac.Init(crypto.SHA256, bytes.Repeat([]byte{0xaa}, 20)); err != nil { // RFC 4231, test case 3
		log.Fatal(err)
	}
	fmt.Printf("%x\n", placed.hmac.Tag(nil, bytes.Repeat([]byte{0xdd}, 50))[:16])

	// Elsewhere AES is crypto/aes, and a UMACKey has a pointer to Go memory. The garbage
	// collector does not see pointers outside Go's memory, and would free what this one
	// points to. So the key must be in Go's memory then.
	umac := new(fastmac.UMACKey)
	if runtime.GOARCH == "amd64" && fastmac.RequireAES() == nil {
		umac = &placed.umac
	}
	if err := umac.Init([]byte("abcdefghijklmnop"), 8); err != nil {
		log.Fatal(err)
	}
	fmt.Printf("%x\n", umac.Tag(nil, []byte("bcdefghi"), nil))

	placed.hmac.Destroy()
	umac.Destroy()
	fmt.Println(len(bytes.ReplaceAll(mem, []byte{0}, nil)) <= 2) // a number for each place, which is no secret
	if err := unmap(); err != nil {
		log.Fatal(err)
	}
	// Output:
	// 773ea91e36800e46854db8ebd09181a7
	// 6e155fad26900be1
	// true
}
