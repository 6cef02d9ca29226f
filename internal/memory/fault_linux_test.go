// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package memory

import (
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
