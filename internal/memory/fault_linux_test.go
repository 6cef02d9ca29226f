// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package memory

import (
	"bytes"
	"math"
	"os"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"testing"

	"example.com/fastmac"
	"example.com/fastmac/internal/mactest"
	"golang.org/x/sys/unix"
)

// TestWriteParallelFault has a mapped file that becomes shorter.
func TestWriteParallelFault(t *testing.T) {
	mactest.ForAllKernels(t, mactest.UMAC, testWriteParallelFault)
}

func testWriteParallelFault(t *testing.T) {
	const size = 80 << 20 // both halves are large enough for WriteParallel
	path := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(path, make([]byte, size), 0o600); err != nil {
		t.Fatal(err)
	}
	f, err := os.OpenFile(path, os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	p, err := unix.Mmap(int(f.Fd()), 0, size, unix.PROT_READ, unix.MAP_SHARED)
	if err != nil {
		t.Fatal(err)
	}
	defer unix.Munmap(p)
	if err := f.Truncate(size / 2); err != nil {
		t.Fatal(err)
	}
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
	k := mactest.Must(fastmac.NewUMACKey(make([]byte, 16), 16))
	for workers := 1; workers < 5; workers++ {
		u := k.New()
		value := func() (value any) {
			defer func() { value = recover() }()
			u.WriteParallel(p, workers)
			return nil
		}()
		if _, ok := value.(runtime.Error); !ok { // in QEMU without the address
			t.Errorf("%d workers: panic %v", workers, value)
		}
		u.Reset()
		u.WriteParallel(p[:size/2], workers)
		if nonce := []byte("nonce"); !k.Verify(u.Tag(nil, nonce), nonce, p[:size/2]) {
			t.Errorf("%d workers: the tag after Reset is wrong", workers)
		}
	}
}

// TestWriteOverflow writes as many bytes at once as an int of 32 bits can count, after a whole block.
func TestWriteOverflow(t *testing.T) {
	if math.MaxInt > math.MaxInt32 && !mactest.Long() {
		t.Skip("for ints of 32 bits, or the long run")
	}
	p, err := unix.Mmap(-1, 0, math.MaxInt32, unix.PROT_READ, unix.MAP_PRIVATE|unix.MAP_ANON)
	if err != nil {
		t.Skipf("no room for 2 GiB: %v", err)
	}
	defer unix.Munmap(p)
	k := mactest.Must(fastmac.NewUMACKey(make([]byte, 16), fastmac.UMAC64Size))
	got, want := k.New(), k.New()
	for _, u := range []*fastmac.UMAC{got, want} {
		u.Write(make([]byte, u.BlockSize()))
	}
	got.Write(p)
	for rest := p; len(rest) > 0; {
		n := min(len(rest), 1<<20)
		want.Write(rest[:n])
		rest = rest[n:]
	}
	nonce := []byte("nonce")
	if got, want := got.Tag(nil, nonce), want.Tag(nil, nonce); !bytes.Equal(got, want) {
		t.Errorf("tag %x, want %x", got, want)
	}
}
