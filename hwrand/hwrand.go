// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

// Package hwrand provides random bytes from AES instructions, for programs that need many keys or
// salts. It has no code for CPUs without these instructions: on those no [Reader] can be made.
//
// Most programs should use [crypto/rand], which is fast enough for an occasional key. Also use
// crypto/rand wherever the memory of the process may be copied and a repetition does harm, such as
// a nonce that repeats under one key. A program cannot know that a snapshot of its
// virtual machine or a checkpoint of its process was restored. Two copies of a Reader then return
// the same bytes until both have reseeded. On Linux, crypto/rand knows of snapshots if the
// hypervisor reports them.
//
// A Reader knows of forks by C code: a Read that begins in a child reseeds first. SECURITY.md in
// the module says how it notices a fork. A Reader is not a module validated for FIPS 140.
package hwrand

import (
	"crypto/rand"
	"crypto/subtle"
	"encoding/binary"
	"sync"
	"time"

	"example.com/fastmac"
	"example.com/fastmac/internal/aes"
	"example.com/fastmac/internal/fork"
	"example.com/fastmac/internal/opaque"
)

const (
	keySize   = 32                  // of AES-256, in bytes
	stateSize = 2 * aes.StretchStep // of the key and the buffer

	// maxPiece is the most that one key makes, in bytes. NIST SP 800-90A, table 3, allows
	// this for one request to CTR_DRBG.
	maxPiece = 1 << 16

	// A Reader is reseeded before it makes more than reseedBytes from one seed, and at the
	// first refill after reseedAfter. NIST SP 800-90A allows 2^48 requests; these limits are
	// for recovery from a state that became known, and cost less than 1 %.
	reseedBytes = 1 << 20
	reseedAfter = time.Second
)

// A Reader returns random bytes: the output of AES-256 in counter mode, with keys from crypto/rand.
// It erases keys and output as it goes (D. J. Bernstein, "Fast-key-erasure random-number
// generators", 2017). A key makes 1 KiB. The first 32 bytes are the next key, which overwrites this
// one, and the other 992 are a buffer. Read overwrites with zeros what it returns. So the memory of
// a Reader does not reveal what it has returned. It does reveal what it will return until it is
// reseeded.
//
// A Reader adds 32 new bytes from crypto/rand to its key before it has made more than a MiB from
// the last ones, when it fills the buffer and the last ones are more than a second old, and in a
// child process that C code forked. The clock is the monotonic one, which may stand still while a
// machine sleeps. An unused Reader keeps its buffer.
//
// On amd64 CPUs with RDSEED, and on Linux on arm64 CPUs with RNDRRS, it also adds up to 32 bytes
// from the CPU, with the first seed and then at most once a second. It draws them before those from
// crypto/rand, so they cannot depend on those: if somebody knows or chose the CPU's bytes, the key
// is no weaker.
//
// A Read of 512 bytes or more draws a key for each 64 KiB and writes what this key makes directly
// to p. Only the last len(p)%512 bytes come from the buffer. So what two equal Readers return
// depends on the sizes of the Reads, and not only on their sum.
//
// On amd64 and arm64 Read does not allocate. On other architectures a Reader uses crypto/aes, is
// slower and allocates. crypto/aes has no API to overwrite its keys: a Reader overwrites what it
// can reach.
//
// A Reader is safe for concurrent use. Goroutines wait for each other while one copies from the
// buffer or fills it, and not while a long Read does the rest of its work. Do not copy a Reader:
// two copies return the same bytes. It prints as "hwrand.Reader".
type Reader struct {
	readerName

	mu sync.Mutex // with which go vet reports copies

	// The key of the next refill, then bytes that Read returned, which are zero, then from
	// next on those that it has not returned. next is 0 if there is no key, and otherwise
	// at least keySize.
	state [stateSize]byte
	next  int

	made    int           // bytes, since the last seed
	seeded  time.Duration // when that was, by now
	process fork.Process  // and in which

	hardened time.Duration // when bytes of the CPU were added

	// Tests have others. A struct with functions cannot be compared with ==, whose time
	// would depend on the secrets.
	now  func() time.Duration // a monotonic clock
	seed func(p []byte)       // fills p
	cpu  func(p []byte)       // fills p, or a part of it, and the rest with zeros
}

type readerName = opaque.Name[readerText]

type readerText struct{}

func (readerText) String() string { return "hwrand.Reader" }

// New returns a Reader with a key from crypto/rand. If the CPU lacks AES instructions, or the build
// has the tag purego, it returns the error of [fastmac.RequireAES].
func New() (*Reader, error) {
	aes.UsesStretch()
	if err := fastmac.RequireAES(); err != nil {
		return nil, err
	}
	start := time.Now()
	return newReader(
		func() time.Duration { return time.Since(start) },
		func(p []byte) { rand.Read(p) },
		func(p []byte) { aes.Seed(p) },
	), nil
}

func newReader(now func() time.Duration, seed, cpu func(p []byte)) *Reader {
	r := &Reader{now: now, seed: seed, cpu: cpu, hardened: -2 * reseedAfter}
	r.reseed()
	return r
}

// Read fills p with random bytes and returns len(p). The error is always nil. Read panics after
// Destroy, and if r does not come from [New]: a caller who ignores an error would have a key of
// zeros.
func (r *Reader) Read(p []byte) (int, error) {
	r.mu.Lock()
	if r.next != 0 && len(p) < aes.StretchStep && len(p) <= stateSize-r.next { // as in most calls
		if len(p) <= 64 && len(p)%16 == 0 { // keys are: no calls for them
			left := r.state[r.next:]
			r.next += len(p)
			for i := 0; i < len(p)-15 && i < len(left)-15; i += 16 {
				a, b := binary.LittleEndian.Uint64(left[i:]), binary.LittleEndian.Uint64(left[i+8:])
				binary.LittleEndian.PutUint64(p[i:], a)
				binary.LittleEndian.PutUint64(p[i+8:], b)
				clear(left[i : i+16])
			}
		} else {
			r.take(p)
		}
		if r.process == fork.Current() { // asked after the bytes are taken, see package fork
			r.mu.Unlock()
			return len(p), nil
		}
	}
	r.read(p[:len(p):len(p)])
	return len(p), nil
}

// read is Read with the mutex locked, which it unlocks.
func (r *Reader) read(p []byte) {
	for {
		if r.next == 0 {
			r.mu.Unlock()
			panic("hwrand: use of a Reader that was destroyed or that New did not make")
		}
		process := fork.Current()
		if r.process != process {
			r.reseed()
		}
		rest := p
		for len(rest) >= aes.StretchStep {
			size := pieceSize(rest)
			made := size
			if stateSize-r.next < keySize {
				made += stateSize - keySize // draw refills the state
			}
			if r.made+made > reseedBytes {
				r.reseed()
			}
			r.draw(rest[:keySize])
			r.made += size
			rest = rest[size:]
		}
		if len(rest) > 0 {
			r.draw(rest)
		}
		r.mu.Unlock()

		// Each piece begins with its key, which is in no other place.
		for rest := p; len(rest) >= aes.StretchStep; {
			size := pieceSize(rest)
			aes.Stretch(rest[:size])
			rest = rest[size:]
		}
		if process == fork.Current() {
			return
		}
		r.mu.Lock() // what p has is from the state of another process
	}
}

// pieceSize returns how much of the rest of a long read the next key makes.
func pieceSize(rest []byte) int {
	return min(len(rest)/aes.StretchStep*aes.StretchStep, maxPiece)
}

// draw moves bytes of the state to p.
func (r *Reader) draw(p []byte) {
	n := r.take(p)
	for n < len(p) {
		r.refill()
		n += r.take(p[n:])
	}
}

// take moves bytes of the state to p, as many as there are, and returns their number.
func (r *Reader) take(p []byte) int {
	left := r.state[r.next:]
	n := copy(p, left)
	clear(left[:n])
	r.next += n
	return n
}

// refill replaces the state, of which all bytes have been drawn.
func (r *Reader) refill() {
	const size = stateSize - keySize
	if r.made+size > reseedBytes || r.now()-r.seeded > reseedAfter {
		r.reseed()
	}
	aes.Stretch(r.state[:])
	r.next = keySize
	r.made += size
}

// reseed adds a seed to the key and drops what is left of the buffer, so that draw refills
// next. It uses the storage of the buffer for the seed.
func (r *Reader) reseed() {
	process, now := fork.Current(), r.now()
	key, fresh := r.state[:keySize], r.state[keySize:2*keySize]
	if now-r.hardened > reseedAfter {
		// Before the seed, on which it cannot depend then. For each MiB it would take 5 % of the
		// time.
		r.cpu(fresh)
		subtle.XORBytes(key, key, fresh)
		r.hardened = now
	}
	r.seed(fresh)
	subtle.XORBytes(key, key, fresh)
	clear(r.state[keySize:])
	r.next = stateSize
	r.made, r.seeded, r.process = 0, now, process
}

// Destroy overwrites the key and the buffer with zeros. After that, Read panics. A Read in another
// goroutine at the same time completes or panics: let such calls end first.
func (r *Reader) Destroy() {
	r.mu.Lock()
	clear(r.state[:])
	r.next = 0
	r.mu.Unlock()
}
