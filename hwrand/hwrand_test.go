// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package hwrand

import (
	"bytes"
	cryptorand "crypto/rand"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"os/exec"
	"reflect"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"
	"unsafe"

	"example.com/fastmac"
	"example.com/fastmac/internal/aes"
	"example.com/fastmac/internal/fork"
	"example.com/fastmac/internal/kernel"
	"example.com/fastmac/internal/mactest"
)

// assembly reports whether this build has kernels.
var assembly = (runtime.GOARCH == "amd64" || runtime.GOARCH == "arm64") && !kernel.Purego

func TestMain(m *testing.M) {
	fastmac.Hardware() // chooses all kernels, for package mactest
	if fastmac.RequireAES() != nil {
		mactest.SkipExamples("^ExampleReader_Destroy$")
	}
	m.Run()
}

// eachKernel runs f as a subtest for each kernel that this machine has. Where this build has
// kernels, crypto/aes is not used.
func eachKernel(t *testing.T, f func(t *testing.T)) {
	if assembly && !kernel.InUse(kernel.AES) {
		t.Skip("needs AES instructions")
	}
	mactest.EachKernel(t, mactest.AES, func(name string) {
		if aes.InUse() || !assembly {
			t.Run(name, f)
		}
	})
}

// TestModel compares with the model for many patterns of sizes.
func TestModel(t *testing.T) {
	eachKernel(t, func(t *testing.T) {
		for _, test := range []struct {
			sizes []int
			times int
		}{
			{[]int{1}, 3000},
			{[]int{16}, 300},
			{[]int{32}, 33792}, // more than a MiB
			{[]int{0, 31, 33}, 100},
			{[]int{511, 512, 513}, 100},
			{[]int{992, 1, 991, 1023, 1024, 1025}, 20},
			{[]int{4096, 3}, 100},
			{[]int{65535, 65536, 65537, 66047, 66048}, 6},
			{[]int{1<<20 - 1, 1 << 20, 1<<20 + 1}, 1},
			{[]int{5, 3<<20 + 777}, 1},
		} {
			if !assembly {
				test.times = max(1, test.times/10)
			}
			p := newPair()
			for range test.times {
				for _, n := range test.sizes {
					p.read(t, n)
				}
			}
		}
		for seed := range uint64(4) {
			rng := rand.New(rand.NewPCG(seed, 1))
			p := newPair()
			for range 300 {
				p.advance(time.Duration(rng.ExpFloat64() * float64(300*time.Millisecond)))
				p.read(t, int(rng.Uint64N(1<<rng.Uint64N(18))))
			}
			if p.source.seeds < 5 {
				t.Errorf("only %d seeds", p.source.seeds)
			}
		}
	})
}

// TestBounds reads 0 to 4160 bytes next to pages that cannot be accessed, and then one more,
// which must be caught.
func TestBounds(t *testing.T) {
	eachKernel(t, func(t *testing.T) {
		const most = 4160
		r := newPair().r
		mem := mactest.Guarded(t, most)
		for n := range most + 1 {
			r.Read(mem[:n])
			r.Read(mem[len(mem)-n:])
			for _, end := range []bool{false, true} {
				if !mem.Catches(n, end, func(p []byte) { newPair().r.Read(p) }) {
					t.Fatalf("%d bytes: an access to one byte more is not caught, at the end: %v", n, end)
				}
			}
		}
		t.Logf("%d reads next to guard pages, as many planted accesses of one byte more, all caught", 2*(most+1))
	})
}

// TestZeroKey compares with AES-256 of zeros under a key of zeros, from AESAVS.
func TestZeroKey(t *testing.T) {
	eachKernel(t, func(t *testing.T) {
		r := newReader(new(source).now, func(p []byte) { clear(p) }, func(p []byte) { clear(p) })
		r.Read(make([]byte, 1))
		if got := hex.EncodeToString(r.state[:16]); got != "dc95c078a2408989ad48a21492842087" {
			t.Error(got)
		}
	})
}

// TestReseedBytes checks that a reseed is as late as its documentation allows, and not
// later.
func TestReseedBytes(t *testing.T) {
	eachKernel(t, func(t *testing.T) {
		seeds := func(p *pair, n, want int) {
			t.Helper()
			p.read(t, n)
			if p.source.seeds != want {
				t.Fatalf("%d seeds drawn after a read of %d bytes, want %d", p.source.seeds, n, want)
			}
		}
		// A MiB has room for 1,057 buffers of 992 bytes.
		p := newPair()
		for i := range 2*1057 + 1 {
			seeds(p, 1, 1+i/1057)
			p.read(t, 480)
			p.read(t, 511)
		}

		// Or for a buffer and 15 pieces.
		p = newPair()
		for range 15 {
			seeds(p, 65536, 1)
		}
		seeds(p, 65536, 2)

		// Or for 16 buffers and 2,017 steps of 512 bytes in 16 pieces, whose keys are 512
		// bytes of the buffers: a MiB, exactly. It ends with a piece.
		pieces := func(p *pair, last, want int) {
			t.Helper()
			for range 15 {
				seeds(p, 65536, 1)
			}
			seeds(p, last, want)
		}
		full := func(p *pair) {
			t.Helper()
			if p.r.made != 1<<20 {
				t.Fatalf("%d bytes made from one seed: the test is wrong", p.r.made)
			}
		}
		for extra, want := range []int{1, 2} {
			p = newPair()
			for range 32 {
				p.read(t, 480)
			}
			pieces(p, 49664+512*extra, want)
			if extra == 0 {
				full(p)
				seeds(p, 1, 2)
			}
		}

		// Or with a piece whose key needs the last buffer.
		p = newPair()
		for range 30 {
			p.read(t, 480)
		}
		pieces(p, 49664, 1)
		full(p)

		// Or with a buffer.
		p = newPair()
		for range 29 {
			p.read(t, 480)
		}
		p.read(t, 448)
		pieces(p, 49664, 1)
		seeds(p, 1, 1)
		full(p)
		seeds(p, 480, 1)
		seeds(p, 511, 1)
		seeds(p, 1, 2)

		// A piece for which there is room, but not also for the buffer that its key needs.
		// With 32 bytes in the buffer it needs no other one.
		for left, want := range map[int]int{0: 2, 31: 2, 32: 1} {
			p = newPair()
			for range 2 * 989 {
				p.read(t, 496)
			}
			p.read(t, 496)
			p.read(t, 496-left)
			seeds(p, 65536, want)
		}
	})
}

// TestReseedTime checks that a refill after more than a second draws a seed, and that
// nothing else does.
func TestReseedTime(t *testing.T) {
	eachKernel(t, func(t *testing.T) {
		p := newPair()
		p.advance(time.Hour)
		for i, test := range []struct {
			after time.Duration
			size  int
			seeds int
		}{
			{0, 480, 2}, // an hour after the first seed
			{time.Second, 511, 2},
			{0, 2, 2}, // a refill, a second after the seed
			{1, 480, 2},
			{0, 511, 2},
			{0, 1, 3}, // a refill, a nanosecond later
			{0, 480, 3},
			{time.Hour, 511, 3}, // ends the buffer
			{0, 1, 4},
			{0, 480, 4},
			{time.Hour, 480, 4},
			{0, 4096, 5}, // of the buffer, 31 bytes are left: not enough for the key
		} {
			p.advance(test.after)
			p.read(t, test.size)
			if p.source.seeds != test.seeds {
				t.Fatalf("step %d, %+v: %d seeds drawn", i, test, p.source.seeds)
			}
		}
	})
}

// TestFork compares with the model when forks are pretended. Package fork forks.
func TestFork(t *testing.T) {
	eachKernel(t, func(t *testing.T) {
		rng := rand.New(rand.NewPCG(1, 2))
		p := newPair()
		forks := 0
		for range 1000 {
			if rng.Uint64N(3) == 0 {
				p.fork()
				forks++
			}
			p.read(t, int(rng.Uint64N(1<<rng.Uint64N(12))))
		}
		if p.source.seeds < forks/2 {
			t.Errorf("%d forks, %d seeds", forks, p.source.seeds)
		}
	})
}

// TestForkInRead pretends forks while a Read draws a seed. It must draw another one, and no block
// may be where it would be without the fork.
func TestForkInRead(t *testing.T) {
	eachKernel(t, func(t *testing.T) {
		for at := 1; at < 4; at++ { // 0 is the seed of the constructor
			for _, size := range []int{100, 480, 3 << 20} {
				var s source
				r := newReader(s.now, func(p []byte) {
					if s.seeds == at {
						fork.Pretend()
					}
					s.seed(p)
				}, s.cpu)
				m := newModel()
				got := make([]byte, size)
				for s.seeds <= at { // the last of these Reads is the one with the fork
					s.clock += 2 * time.Second
					m.source.clock = s.clock
					r.Read(got)
					if s.seeds <= at && !bytes.Equal(got, m.read(size)) {
						t.Fatal("not as the model's before the fork")
					}
				}
				want := m.read(size)
				if s.seeds < m.source.seeds+1 {
					t.Errorf("%d bytes, fork at seed %d: %d seeds, and %d without the fork", size, at, s.seeds, m.source.seeds)
				}
				for i := 0; i+16 <= size; i += 16 {
					if bytes.Equal(got[i:][:16], want[i:][:16]) {
						t.Fatalf("%d bytes, fork at seed %d: block %d as without the fork", size, at, i/16)
					}
				}
			}
		}
	})
}

// TestForkInCopy has a fork just before a Read has its last bytes, from the buffer or a key of its own,
// after which it must ask for the process.
func TestForkInCopy(t *testing.T) {
	eachKernel(t, func(t *testing.T) {
		sizes := []int{600, 70_000}
		for size := 8; size <= 520; size++ {
			sizes = append(sizes, size)
		}
		for _, size := range sizes {
			last := size - 8
			var s source
			r, m := newReader(s.now, s.seed, s.cpu), newModel()
			got := make([]byte, size)
			r.Read(make([]byte, 1)) // so that there is a buffer
			m.read(1)
			want, seeds := m.read(size), s.seeds
			parent := fork.Current()
			restore := fork.Replace(func() fork.Process {
				if !bytes.Equal(got[last:], want[last:]) && s.seeds == seeds {
					return parent
				}
				return parent + 1
			})
			r.Read(got)
			restore()
			if s.seeds == seeds || bytes.Equal(got[:8], want[:8]) || bytes.Equal(got[last:], want[last:]) {
				t.Errorf("%d bytes: as without the fork, or in part", size)
			}
		}
	})
}

// TestCPU checks when the CPU is asked: before a seed is drawn, and after more than a second.
func TestCPU(t *testing.T) {
	eachKernel(t, func(t *testing.T) {
		var s source
		var asked []time.Duration
		r := newReader(s.now, s.seed, func(p []byte) {
			if len(asked) == 0 != (s.seeds == 0) {
				t.Errorf("asked after seed %d", s.seeds)
			}
			asked = append(asked, s.clock)
			s.cpu(p)
		})
		for range 4 {
			r.Read(make([]byte, 3<<20)) // with reseeds
			s.clock += time.Second/2 + 1
		}
		if want := []time.Duration{0, time.Second + 2}; !slices.Equal(asked, want) || s.seeds < 12 {
			t.Errorf("asked at %v, want %v; %d seeds", asked, want, s.seeds)
		}
	})
}

// TestErased looks in the whole Reader, after each of many reads, for what it has returned
// and for former keys. What it returns next must be there.
func TestErased(t *testing.T) {
	eachKernel(t, func(t *testing.T) {
		p := newPair()
		storage := unsafe.Slice((*byte)(unsafe.Pointer(p.r)), unsafe.Sizeof(*p.r))
		for i := range 400 {
			p.read(t, []int{8, 16, 32, 77, 500, 700, 3000}[i%7])
			words := make(map[uint64]bool)
			for j := range len(storage) - 7 {
				words[binary.LittleEndian.Uint64(storage[j:])] = true
			}
			find := func(what string, secret []byte, want bool) {
				for ; len(secret) >= 8; secret = secret[8:] {
					if words[binary.LittleEndian.Uint64(secret)] != want {
						t.Fatalf("read %d: %s in the Reader: %v", i, what, !want)
					}
				}
			}
			for _, secret := range p.m.returned {
				find("returned bytes", secret, false)
			}
			for _, key := range p.m.keys[1:] { // the first is zero
				find("a former key", key, false)
			}
			find("the key", p.m.key, true)
			find("the buffer", p.m.buffer, true)
		}
	})
}

func TestDestroy(t *testing.T) {
	eachKernel(t, func(t *testing.T) {
		p := newPair()
		p.read(t, 100)
		for range 2 {
			p.r.Destroy()
			for what, r := range map[string]*Reader{"destroyed": p.r, "zero": {}} {
				if r.state != [stateSize]byte{} {
					t.Errorf("%s: state %x", what, r.state)
				}
				for _, size := range []int{0, 1, 600, 1 << 20} {
					buf := bytes.Repeat([]byte{7}, size)
					mactest.MustPanic(t, what, "hwrand: use of a Reader that was destroyed or that New did not make", func() { r.Read(buf) })
					if bytes.Count(buf, []byte{7}) != size {
						t.Errorf("%s: Read of %d bytes: %x", what, size, buf)
					}
				}
			}
		}
	})
}

// TestConcurrent reads from several goroutines. Together they must get what the model
// returns, each block once.
func TestConcurrent(t *testing.T) {
	eachKernel(t, func(t *testing.T) {
		const goroutines, reads = 8, 1000
		for _, size := range []int{32, 512} {
			p := newPair()
			got := make([][][]byte, goroutines)
			var group sync.WaitGroup
			for g := range got {
				group.Go(func() {
					for range reads {
						buf := make([]byte, size)
						p.r.Read(buf)
						got[g] = append(got[g], buf)
					}
				})
			}
			group.Wait()
			want := make(map[string]bool)
			for range goroutines * reads {
				want[string(p.m.read(size))] = true
			}
			for _, bufs := range got {
				for _, buf := range bufs {
					if !want[string(buf)] {
						t.Fatalf("size %d: %x is not the model's, or is read twice", size, buf)
					}
					delete(want, string(buf))
				}
			}
		}
	})
}

// TestConcurrentDestroy destroys a Reader in use. Each Read must be complete, or panic and write
// nothing.
func TestConcurrentDestroy(t *testing.T) {
	eachKernel(t, func(t *testing.T) {
		random := func(p []byte) bool { return !bytes.Equal(p, make([]byte, len(p))) }
		for i := range 20 {
			r := newPair().r
			var group sync.WaitGroup
			var destroyed atomic.Bool
			for range 4 {
				group.Go(func() {
					for {
						buf, late := make([]byte, 3000), destroyed.Load()
						n, panics := read(r, buf)
						if !panics && !late && n == len(buf) && random(buf[:8]) && random(buf[n-8:]) {
							continue
						}
						if !panics || !bytes.Equal(buf, make([]byte, len(buf))) {
							t.Errorf("Read: %d, panics: %v, %x", n, panics, buf[:8])
						}
						return
					}
				})
			}
			for range 50 * i {
				r.Read(make([]byte, 16))
			}
			r.Destroy()
			destroyed.Store(true)
			group.Wait()
		}
	})
}

// read reads, and reports whether Read panics.
func read(r *Reader, p []byte) (n int, panics bool) {
	defer func() { panics = recover() != nil }()
	n, _ = r.Read(p)
	return n, false
}

// TestMissing checks that New returns the error of RequireAES, and draws a seed only
// if there is none. .ci/run sets FASTMAC_TEST_MISSING on CPUs without AES instructions.
func TestMissing(t *testing.T) {
	drawn := 0
	system := cryptorand.Reader
	defer func() { cryptorand.Reader = system }()
	cryptorand.Reader = readerFunc(func(p []byte) (int, error) {
		drawn += len(p)
		return system.Read(p)
	})
	r, err := New()
	want := fastmac.RequireAES()
	if fmt.Sprint(err) != fmt.Sprint(want) || (r == nil) != (err != nil) {
		t.Errorf("New() = %v, %v, want %v", r, err, want)
	}
	if (err == nil) != (drawn == 32) || (err != nil) != (drawn == 0) {
		t.Errorf("New() = %v, %v, %d bytes drawn", r, err, drawn)
	}
	if err != nil && !errors.Is(err, errors.ErrUnsupported) {
		t.Errorf("%v does not wrap errors.ErrUnsupported", err)
	}
	if names, ok := os.LookupEnv("FASTMAC_TEST_MISSING"); ok {
		// The variable is for AES-GCM, which needs all that AES needs, and PCLMULQDQ.
		names = strings.Join(slices.DeleteFunc(strings.Split(names, ","), func(name string) bool { return name == "PCLMULQDQ" }), ", ")
		if (err != nil) != (names != "") || err != nil && !strings.HasSuffix(err.Error(), ": "+names) {
			t.Errorf("New() = %v, %v, want %q missing", r, err, names)
		}
		return
	}
	if !assembly || err != nil {
		return
	}
	cmd := exec.Command(os.Args[0], "-test.run=^TestMissing$")
	cmd.Env = append(os.Environ(), "GODEBUG=cpu.aes=off", "FASTMAC_TEST_MISSING=AES")
	out, err := cmd.CombinedOutput()
	if e := (*fs.PathError)(nil); errors.As(err, &e) {
		t.Skipf("cannot start itself, as in an emulator: %v", err)
	}
	if err != nil {
		t.Errorf("cpu.aes=off: %v\n%s", err, out)
	}
}

type readerFunc func([]byte) (int, error)

func (f readerFunc) Read(p []byte) (int, error) { return f(p) }

func TestAllocs(t *testing.T) {
	r, err := New()
	if err != nil || !assembly || mactest.Race {
		t.Skip("needs amd64 or arm64 with AES instructions, and no race detector:", err)
	}
	for _, size := range []int{1, 32, 600, 100000, 1 << 20} {
		p := make([]byte, size)
		if n := testing.AllocsPerRun(50, func() { r.Read(p) }); n != 0 {
			t.Errorf("Read of %d bytes allocates %v times", size, n)
		}
	}
}

// TestPrinting checks that a Reader prints as its name and nothing else.
func TestPrinting(t *testing.T) {
	r := newReader(new(source).now, new(source).seed, new(source).cpu)
	mactest.Printing(t, "hwrand.Reader", r)
	if reflect.TypeFor[Reader]().Comparable() {
		t.Error("a Reader is comparable")
	}
}

// TestDying destroys Readers while they are in use: what they return is random, whatever happens after it was
// drawn.
func TestDying(t *testing.T) {
	if err := fastmac.RequireAES(); err != nil {
		t.Skip(err)
	}
	var all []mactest.Dying
	for _, n := range []int{16, 400, 2000} {
		all = append(all, mactest.Dying{Name: strconv.Itoa(n), New: func(_, out []byte) (func() []byte, func()) {
			r := mactest.Must(New())
			p := make([]byte, n)
			return func() []byte { r.Read(p); return p }, r.Destroy
		}, Misses: true, Right: func(p []byte) bool { return !bytes.Contains(p, make([]byte, 8)) }})
	}
	mactest.TestDying(t, mactest.DyingTrials(), all)
}
