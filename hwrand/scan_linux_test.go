// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package hwrand

import (
	"bytes"
	"encoding/binary"
	"io"
	"os"
	"slices"
	"sync"
	"testing"
	"time"

	"example.com/fastmac/internal/aes"
	"example.com/fastmac/internal/kernel"
	"example.com/fastmac/internal/mactest"
)

// scanEnv is the environment variable that is set in the scanned processes, to scanErase or
// to scanControl.
const (
	scanEnv     = "FASTMAC_TEST_HWRAND_SCANNED"
	scanErase   = "erase"
	scanControl = "control" // keeps all that it reads, and the seeds
)

var scanSizes = []int{16, 32, 480, 511, 700, 1024, 2048, 3}

const scanRounds = 20

// TestScan looks in the memory of a process that uses a Reader. Former keys, their
// schedules, what was returned and the seeds must not be there, even before Destroy; the
// key and the buffer must be, until Destroy. The process that TestScanned is returns the
// bytes of the model, from which they are known.
func TestScan(t *testing.T) {
	if assembly && !kernel.InUse(kernel.AES) {
		t.Skip("needs AES instructions")
	}
	m := newModel()
	for i := range scanRounds {
		m.source.clock += 400 * time.Millisecond
		for j := range scanSizes {
			m.read(scanSizes[(i+j)%len(scanSizes)])
		}
	}
	secrets := new(mactest.Secrets)
	kinds := make(map[string]bool)
	add := func(kind string, secret []byte) {
		kinds[kind] = true
		secrets.Add(kind, "", secret)
	}
	for i := range m.source.seeds {
		seed := seedOf(i)
		add("seeds", seed[:])
	}
	for _, p := range m.returned {
		add("returned bytes", p)
	}
	for _, key := range m.keys[1:] { // the first is zero
		add("former keys", key)
		if assembly { // the schedule of crypto/aes is unknown
			var s aes.Schedule
			s.Expand(key)
			words, _ := binary.Append(nil, binary.LittleEndian, s[:])
			add("their schedules", words[keySize:])
		}
	}
	add("key", m.key)
	add("buffer", m.buffer)

	modes := []string{scanControl, scanErase}
	if mactest.Long() {
		modes = append(modes, slices.Repeat(modes[1:], 50)...)
	}
	for _, godebug := range []string{"", "cpu.avx512f=off"} {
		for _, mode := range modes {
			before, after := scan(t, secrets, m.source.seeds, mode, godebug)
			for kind := range kinds {
				current := kind == "key" || kind == "buffer"
				kept := mode == scanControl && (kind == "seeds" || kind == "returned bytes")
				if (len(before[kind]) > 0) != (current || kept) {
					t.Errorf("%s, %s: %s, before Destroy: %v", mode, godebug, kind, before[kind])
				}
				if (len(after[kind]) > 0) != kept {
					t.Errorf("%s, %s: %s, after Destroy: %v", mode, godebug, kind, after[kind])
				}
			}
		}
	}
}

// scan starts a process and returns which pieces of each kind it has before and after
// Destroy.
func scan(t *testing.T, secrets *mactest.Secrets, seeds int, mode, godebug string) (before, after map[string]mactest.Finds) {
	t.Helper()
	var input []byte
	for i := range seeds {
		seed := seedOf(i)
		mask(seed[:])
		input = append(input, seed[:]...)
	}
	found := secrets.ScanTest(t, input, 2, scanEnv+"="+mode, mactest.ScanDebug+godebug)
	return found[0], found[1]
}

// TestScanned is the process that is scanned.
func TestScanned(t *testing.T) {
	mode := os.Getenv(scanEnv)
	if mode == "" {
		t.Skip("runs in the processes of TestScan")
	}
	var kept [][]byte
	var s source
	r := newReader(s.now, func(p []byte) {
		if _, err := io.ReadFull(os.Stdin, p); err != nil {
			panic(err)
		}
		mask(p)
		if mode == scanControl {
			kept = append(kept, bytes.Clone(p))
		}
	}, s.cpu)
	var group sync.WaitGroup
	for i := range scanRounds {
		s.clock += 400 * time.Millisecond
		for j := range scanSizes {
			// A new goroutine has a small stack, which grows at different calls.
			group.Go(func() {
				deep(10*j, func() {
					p := make([]byte, scanSizes[(i+j)%len(scanSizes)])
					r.Read(p)
					if mode == scanControl {
						kept = append(kept, p)
					} else {
						clear(p)
					}
				})
			})
			group.Wait()
		}
	}
	one := make([]byte, 1)
	for i := range 2 {
		if i == 1 {
			r.Destroy()
		}
		mactest.AwaitScan()
	}
	if _, panics := read(r, one); !panics || len(kept) == 0 == (mode == scanControl) {
		t.Fatal(panics, len(kept))
	}
}

// mask makes seeds that are sent other than those that are looked for.
func mask(seed []byte) {
	for i := range seed {
		seed[i] ^= 0xa5
	}
}

func deep(n int, f func()) byte {
	var frame [64]byte
	if n == 0 {
		f()
		return 0
	}
	return deep(n-1, f) + frame[n%len(frame)]
}
