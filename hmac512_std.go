// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package fastmac

import (
	"crypto/fips140"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha512"
	"encoding"
	"encoding/binary"
	"fmt"
	"hash"
	"sync"
)

// HMAC-SHA-512 where SHA-512 is not this package's. In FIPS 140 mode it is
// crypto/hmac, for that is what the validated module has; elsewhere it is the
// chaining values of crypto/sha512, which come in the state that this marshals.

// useFIPS tells whether it is crypto/hmac; tests change it.
var useFIPS = fips140.Enabled()

// initStd sets up the chaining values, or puts the key itself in their place.
func (k *HMACSHA512Key) initStd(key []byte) {
	mustApprove(key)
	var sum [sha512.Size]byte
	if len(key) > sha512.BlockSize {
		sum = sha512.Sum512(key)
		key = sum[:]
	}
	var b hmacBlock
	if useFIPS {
		copy(b[:], key)
		k.putBlock(&b)
	} else {
		b.innerPad(key)
		k.inner = chainingValue(&b)
		b.flip()
		k.outer = chainingValue(&b)
	}
	clear(b[:])
	clear(sum[:])
}

// mustApprove panics if only approved algorithms may run and the key is too short for
// them, SP 800-131A section 10. crypto/hmac would panic too, but it is given the key
// filled up.
func mustApprove(key []byte) {
	const least = 112 / 8
	if len(key) < least && fips140.Enforced() {
		panic(fmt.Sprintf("fastmac: HMAC key of %d bytes: want %d or more with GODEBUG=fips140=only", len(key), least))
	}
}

// fipsMask is xored with the key in FIPS 140 mode, for zeros mean that there is none.
// It is drawn at random, so that no key that one can choose is zeros then.
var fipsMask = sync.OnceValue(func() uint64 {
	var b [8]byte
	rand.Read(b[:])
	return binary.LittleEndian.Uint64(b[:])
})

// putBlock puts the key, filled up with zeros, in place of the chaining values.
func (k *HMACSHA512Key) putBlock(block *hmacBlock) {
	mask := fipsMask()
	for i := range k.inner {
		k.inner[i] = binary.BigEndian.Uint64(block[8*i:]) ^ mask
		k.outer[i] = binary.BigEndian.Uint64(block[sha512.Size+8*i:]) ^ mask
	}
}

// newHMAC returns the HMAC under the key that putBlock has put, by way of a buffer
// of a block or more.
func (k *HMACSHA512Key) newHMAC(buf []byte) hash.Hash {
	block, mask := buf[:sha512.BlockSize], fipsMask()
	for i := range k.inner {
		binary.BigEndian.PutUint64(block[8*i:], k.inner[i]^mask)
		binary.BigEndian.PutUint64(block[sha512.Size+8*i:], k.outer[i]^mask)
	}
	h := hmac.New(sha512.New, block)
	clear(block)
	return h
}

// The state that crypto/sha512 marshals: magic, chaining value, block buffer,
// number of bytes hashed.
const (
	marshaledMagic = "sha\x07"
	marshaledSize  = len(marshaledMagic) + sha512.Size + sha512.BlockSize + 8
)

// chainingValue returns SHA-512's after one block.
func chainingValue(block *hmacBlock) (value [8]uint64) {
	h := sha512.New()
	h.Write(block[:])
	var buf [marshaledSize]byte
	state, err := h.(encoding.BinaryAppender).AppendBinary(buf[:0])
	if err != nil || len(state) != marshaledSize || string(state[:len(marshaledMagic)]) != marshaledMagic {
		panic("fastmac: crypto/sha512 marshals its state in an unknown format")
	}
	for i := range value {
		value[i] = binary.BigEndian.Uint64(state[len(marshaledMagic)+8*i:])
	}
	clear(buf[:])
	return value
}

// marshal fills state with what makes a crypto/sha512 hash go on from a chaining
// value after one block.
func marshal(state *[marshaledSize]byte, value *[8]uint64) []byte {
	copy(state[:], marshaledMagic)
	putState((*[hmacTagSize]byte)(state[len(marshaledMagic):]), value)
	clear(state[len(marshaledMagic)+sha512.Size:])
	state[marshaledSize-1] = sha512.BlockSize
	return state[:]
}

// sumStd appends to dst the hash of p that goes on from a chaining value. The hash
// does not leave this function, so the compiler keeps it on the stack.
func sumStd(dst []byte, value *[8]uint64, p []byte) []byte {
	var state [marshaledSize]byte
	h := sha512.New()
	if err := h.(encoding.BinaryUnmarshaler).UnmarshalBinary(marshal(&state, value)); err != nil {
		panic("fastmac: " + err.Error())
	}
	clear(state[:])
	h.Write(p)
	return h.Sum(dst)
}

func (k *HMACSHA512Key) tagStd(dst, msg []byte) []byte {
	if useFIPS {
		// By way of a buffer: what is handed to h, an interface, is on the heap,
		// and where this is not in use callers may have it on the stack.
		buf := make([]byte, min(max(len(msg), sha512.BlockSize), 4096))
		h := k.newHMAC(buf)
		for len(msg) > 0 {
			n := copy(buf, msg)
			h.Write(buf[:n])
			msg = msg[n:]
		}
		return append(dst, h.Sum(buf[:0])...)
	}
	var inner [sha512.Size]byte
	dst = sumStd(dst, &k.outer, sumStd(inner[:0], &k.inner, msg))
	clear(inner[:])
	return dst
}

// stdHMAC is a stream.
type stdHMAC struct {
	h    hash.Hash // of crypto/sha512, after the inner pad; or of crypto/hmac
	fips bool

	// What is handed to h, an interface, cannot be on the stack.
	scratch [marshaledSize]byte
}

// newStd returns a stream that is to be reset.
func (k *HMACSHA512Key) newStd() *stdHMAC {
	s := &stdHMAC{fips: useFIPS}
	if s.fips {
		s.h = k.newHMAC(s.scratch[:])
	} else {
		s.h = sha512.New()
	}
	return s
}

func (s *stdHMAC) reset(k *HMACSHA512Key) {
	if s.fips {
		s.h.Reset()
		return
	}
	if err := s.h.(encoding.BinaryUnmarshaler).UnmarshalBinary(marshal(&s.scratch, &k.inner)); err != nil {
		panic("fastmac: " + err.Error())
	}
	clear(s.scratch[:])
}

func (s *stdHMAC) sum(b []byte, k *HMACSHA512Key) []byte {
	if s.fips {
		return s.h.Sum(b)
	}
	b = sumStd(b, &k.outer, s.h.Sum(s.scratch[:0]))
	clear(s.scratch[:])
	return b
}

func (s *stdHMAC) clone(k *HMACSHA512Key) (*stdHMAC, error) {
	if s.fips {
		c, ok := s.h.(hash.Cloner)
		if !ok {
			return nil, fmt.Errorf("fastmac: crypto/hmac's %T cannot be cloned", s.h)
		}
		h, err := c.Clone()
		if err != nil {
			return nil, err
		}
		return &stdHMAC{h: h, fips: true}, nil
	}
	// By way of the marshaled state, which every SHA-512 of the standard
	// library has; that of GOEXPERIMENT=boringcrypto is no hash.Cloner.
	state, err := s.h.(encoding.BinaryAppender).AppendBinary(s.scratch[:0])
	if err != nil {
		return nil, err
	}
	c := k.newStd()
	err = c.h.(encoding.BinaryUnmarshaler).UnmarshalBinary(state)
	clear(s.scratch[:])
	return c, err
}

// wipe overwrites what it can reach; crypto/hmac lets it reach nothing but the
// bytes of the message.
func (s *stdHMAC) wipe() {
	// A block of zeros, in two parts so that it is buffered, takes the place of
	// the message's last bytes, and Reset that of the chaining value.
	s.h.Reset()
	clear(s.scratch[:])
	s.h.Write(s.scratch[:1])
	s.h.Write(s.scratch[1:sha512.BlockSize])
	s.h.Reset()
}
