// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package conformance

import (
	"bufio"
	"bytes"
	"crypto"
	"encoding/binary"
	"flag"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"example.com/fastmac"
	"example.com/fastmac/internal/mactest"
)

var soak = flag.Duration("soak", 0, "let TestNettle and TestOpenSSL run for so long")

// nettlePool has the bytes of all messages: the first parts are zeros and ones, and messages
// begin anywhere.
const nettlePool = 1<<24 + 1<<15

// nettleAlgorithms are the algorithms of testdata/nettle.c, with the sizes of their tags.
// The last two have messages around 2^24 bytes.
var nettleAlgorithms = []struct {
	name string
	size int
	hash crypto.Hash // of HMAC
}{
	{"UMAC-32", 4, 0}, {"UMAC-64", 8, 0}, {"UMAC-96", 12, 0}, {"UMAC-128", 16, 0},
	{"HMAC-SHA-224", 28, crypto.SHA224}, {"HMAC-SHA-256", 32, crypto.SHA256}, {"HMAC-SHA-384", 48, crypto.SHA384}, {"HMAC-SHA-512", 64, crypto.SHA512},
	{"GMAC", 16, 0}, {"UMAC-64", 8, 0}, {"UMAC-128", 16, 0},
}

const (
	nettleHMAC = 4 // the first of four
	nettleGMAC = 8
	nettleLong = 9
)

// splitMix is SplitMix64, as in testdata/nettle.c.
type splitMix uint64

func (s *splitMix) next() uint64 {
	*s += 0x9e3779b97f4a7c15
	z := uint64(*s)
	z = (z ^ z>>30) * 0xbf58476d1ce4e5b9
	z = (z ^ z>>27) * 0x94d049bb133111eb
	return z ^ z>>31
}

// length is the length of the next message.
func (s *splitMix) length(algorithm int) int {
	r := s.next()
	switch {
	case algorithm >= nettleLong:
		return 1<<24 - 3000 + int(r%8000)
	case r>>60 == 0 && r&0xf00 != 0:
		return int(r % 5000)
	case r>>60 == 0:
		return int(r % 70000)
	case r>>60 <= 3:
		return int(r % 1100)
	}
	return int(r % 130)
}

// TestNettle compares with libnettle, which shares no code with this module: random keys,
// nonces and messages, on every kernel, one-shot, in batches and in streams. -soak 10m goes
// on for ten minutes. It logs how many messages agreed.
func TestNettle(t *testing.T) {
	if testing.Short() && *soak == 0 {
		t.Skip("runs another program")
	}
	nettle, pool := startPeer(t, "libnettle", "nettle-dev", "-lnettle"), newPool()
	agreed, rounds := 0, 1
	if mactest.Long() {
		rounds = 50
	}
	start := time.Now()
	for round := 0; round < rounds || time.Since(start) < *soak; round++ {
		check := func(kernels string, algorithm int) {
			n := 256
			if algorithm >= nettleLong {
				if n = 1; round%50 != 1 {
					return
				}
			}
			agreed += nettle.check(t, pool, kernels, algorithm, n)
		}
		mactest.EachKernel(t, mactest.UMAC, func(kernels string) {
			for _, algorithm := range []int{0, 1, 2, 3, nettleLong, nettleLong + 1} {
				check(kernels, algorithm)
			}
		})
		mactest.EachKernel(t, mactest.HMAC, func(kernels string) {
			for algorithm := nettleHMAC; algorithm < nettleGMAC; algorithm++ {
				check(kernels, algorithm)
			}
		})
		if fastmac.RequireGCM() == nil {
			mactest.EachKernel(t, mactest.GCM, func(kernels string) { check(kernels, nettleGMAC) })
		}
		if t.Failed() {
			return
		}
	}
	t.Logf("%d messages agree with libnettle", agreed)
}

// TestOpenSSL is TestNettle for HMAC, with libcrypto, whose SHA-2 is another.
func TestOpenSSL(t *testing.T) {
	if testing.Short() && *soak == 0 {
		t.Skip("runs another program")
	}
	openssl, pool := startPeer(t, "libcrypto", "libssl-dev", "-DOPENSSL", "-lcrypto"), newPool()
	agreed := map[string]int{} // by the kernels
	start := time.Now()
	for round := 0; round < 4 || time.Since(start) < *soak; round++ {
		mactest.EachKernel(t, mactest.HMAC, func(kernels string) {
			for algorithm := nettleHMAC; algorithm < nettleGMAC; algorithm++ {
				agreed[kernels] += openssl.check(t, pool, kernels, algorithm, 256)
			}
		})
		if t.Failed() {
			return
		}
	}
	t.Logf("messages that agree with libcrypto: %v", agreed)
}

// newPool returns the pool of testdata/nettle.c.
func newPool() []byte {
	pool := make([]byte, nettlePool)
	for i := 1 << 16; i < 1<<17; i++ {
		pool[i] = 0xff
	}
	var rng splitMix
	for i := 1 << 17; i < nettlePool; i += 8 {
		binary.LittleEndian.PutUint64(pool[i:], rng.next())
	}
	return pool
}

// A peer is a process of testdata/nettle.c.
type peer struct {
	library string
	stdin   io.Writer
	stdout  *bufio.Reader
}

func startPeer(t *testing.T, library, debian string, flags ...string) *peer {
	t.Helper()
	cc, err := exec.LookPath("cc")
	if err != nil {
		t.Skip("needs a C compiler: install the package gcc")
	}
	// A copy, because a cached result of the test must depend on the file.
	source, err := os.ReadFile("testdata/nettle.c")
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	file, program := filepath.Join(dir, "nettle.c"), filepath.Join(dir, "nettle")
	if err := os.WriteFile(file, source, 0o666); err != nil {
		t.Fatal(err)
	}
	args := append([]string{"-O2", "-Wall", "-Wextra", "-Werror", "-o", program, file}, flags...)
	if out, err := exec.Command(cc, args...).CombinedOutput(); bytes.Contains(out, []byte("fatal error:")) {
		t.Skipf("needs %s: install the package %s\n%s", library, debian, out)
	} else if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	cmd := exec.Command(program)
	cmd.Stderr = os.Stderr
	stdin, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		stdin.Close()
		if err := cmd.Wait(); err != nil {
			t.Error(err)
		}
	})
	return &peer{library, stdin, bufio.NewReaderSize(stdout, 1<<16)}
}

// check compares n messages under one key and returns n. It uses the random numbers in the
// order of testdata/nettle.c.
func (p *peer) check(t *testing.T, pool []byte, kernels string, algorithm, n int) int {
	t.Helper()
	a := nettleAlgorithms[algorithm]
	seed := rand.Uint64()
	request := binary.LittleEndian.AppendUint64(nil, seed)
	request = binary.LittleEndian.AppendUint32(request, uint32(n))
	if _, err := p.stdin.Write(append(request, byte(algorithm))); err != nil {
		t.Fatal(err)
	}

	rng := splitMix(seed)
	key := binary.LittleEndian.AppendUint64(nil, rng.next())
	key = binary.LittleEndian.AppendUint64(key, rng.next())
	at, size := 1<<17+int(rng.next()%(1<<20)), int(rng.next()%200)
	var tags, nonces, msgs [][]byte
	for range n {
		length := rng.length(algorithm)
		at := int(rng.next() % uint64(nettlePool-length))
		nonce := binary.LittleEndian.AppendUint64(nil, rng.next())
		nonce = binary.LittleEndian.AppendUint64(nonce, rng.next())
		nonces = append(nonces, nonce[:1+rng.next()%16])
		if algorithm == nettleGMAC {
			nonces[len(nonces)-1] = nonce[:12]
		}
		msgs = append(msgs, pool[at:at+length])
		tags = append(tags, make([]byte, a.size))
	}
	compute(t, algorithm, key, pool[at:at+size], seed%4, tags, nonces, msgs)
	want := make([]byte, a.size)
	for i, tag := range tags {
		if _, err := io.ReadFull(p.stdout, want); err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(tag, want) {
			t.Errorf("%s, kernels %s, way %d, key %x or %x, nonce %x, message %x: tag %x, that of %s %x", a.name, kernels, seed%4,
				key, pool[at:at+size], nonces[i], excerpt(msgs[i]), tag, p.library, want)
		}
	}
	return n
}

// compute sets tags in one of four ways: one by one, in a batch, in parts, and HMAC in a batch with a key for each.
func compute(t *testing.T, algorithm int, key, hmacKey []byte, way uint64, tags, nonces, msgs [][]byte) {
	t.Helper()
	h := nettleAlgorithms[algorithm].hash
	switch {
	case h != 0:
		k := mactest.Must(fastmac.NewHMACKey(h, hmacKey))
		if way == 1 {
			mactest.TagBatch(k.TagBatch, tags, nil, msgs)
			return
		}
		if way == 3 {
			fastmac.SumHMACBatch(h, slices.Repeat([][]byte{hmacKey}, len(msgs)), mactest.Batch[fastmac.Message](tags, nil, msgs))
			return
		}
		m := k.New()
		for i, msg := range msgs {
			if way == 0 {
				k.Tag(tags[i][:0], msg)
				continue
			}
			m.Reset()
			writeParts(m, msg)
			m.Sum(tags[i][:0])
		}
	case algorithm == nettleGMAC:
		k := mactest.Must(fastmac.NewGMACKey(key))
		m := k.New()
		for i, msg := range msgs {
			if way < 2 {
				k.Tag(tags[i][:0], nonces[i], msg)
				continue
			}
			m.Reset()
			writeParts(m, msg)
			m.Tag(tags[i][:0], nonces[i])
		}
	default:
		k := mactest.Must(fastmac.NewUMACKey(key, len(tags[0])))
		if way == 1 {
			mactest.TagBatch(k.TagBatch, tags, nonces, msgs)
			return
		}
		u := k.New()
		for i, msg := range msgs {
			if way == 0 {
				k.Tag(tags[i][:0], nonces[i], msg)
				continue
			}
			u.Reset()
			writeParts(u, msg)
			u.Tag(tags[i][:0], nonces[i])
		}
	}
}

// writeParts writes msg in up to four parts.
func writeParts(w io.Writer, msg []byte) {
	for range rand.IntN(4) {
		n := rand.IntN(len(msg) + 1)
		w.Write(msg[:n])
		msg = msg[n:]
	}
	w.Write(msg)
}

// excerpt is a message for an error.
func excerpt(msg []byte) string {
	if len(msg) <= 128 {
		return fmt.Sprintf("%x", msg)
	}
	return fmt.Sprintf("%x... of %d bytes", slices.Clip(msg[:128]), len(msg))
}
