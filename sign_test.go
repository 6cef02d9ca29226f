// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package fastmac_test

import (
	"bufio"
	"bytes"
	"crypto/fips140"
	crand "crypto/rand"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"testing/cryptotest"
	"testing/iotest"

	"example.com/fastmac"
	"example.com/fastmac/internal/mactest"
)

func TestUMACSign(t *testing.T) {
	msg := []byte("message")
	for _, size := range mactest.UMACTagSizes {
		k := mactest.Must(fastmac.NewUMACKey(make([]byte, 16), size))
		sig := k.Sign([]byte("x"), msg)
		if len(sig) != 1+16+size || sig[0] != 'x' {
			t.Fatalf("Sign appended %d bytes, want %d", len(sig)-1, 16+size)
		}
		sig = sig[1:]
		if !k.VerifySigned(sig, msg) || !k.Verify(sig[16:], sig[:16], msg) {
			t.Errorf("%d bytes: the right signature is refused", size)
		}
		testRandom(t, "Sign", func() []byte { return k.Sign(nil, msg)[:16] })
		for bit := range 8 * len(sig) {
			sig[bit/8] ^= 1 << (bit % 8)
			if k.VerifySigned(sig, msg) {
				t.Errorf("%d bytes: accepted with bit %d flipped", size, bit)
			}
			sig[bit/8] ^= 1 << (bit % 8)
		}
		if k.VerifySigned(nil, msg) || k.VerifySigned(sig[:len(sig)-1], msg) || k.VerifySigned(append(sig, 0), msg) ||
			k.VerifySigned(sig[:16], msg) || k.VerifySigned(sig, msg[1:]) {
			t.Errorf("%d bytes: VerifySigned accepts a wrong length", size)
		}
	}
}

// testRandom checks that each call of draw returns new random bytes.
func testRandom(t *testing.T, what string, draw func() []byte) {
	t.Helper()
	seen := make([]map[byte]bool, len(draw())) // values of each byte
	for i := range seen {
		seen[i] = make(map[byte]bool)
	}
	for range 64 {
		for i, b := range draw() {
			seen[i][b] = true
		}
	}
	for i, values := range seen {
		if len(values) < 16 {
			t.Errorf("%s: byte %d of 64 nonces has %d values, want at least 16", what, i, len(values))
		}
	}
}

// TestUMACSignOverlap writes signatures over their messages.
func TestUMACSignOverlap(t *testing.T) {
	k := mactest.Must(fastmac.NewUMACKey(make([]byte, 16), 16))
	msg := bytes.Repeat([]byte("message"), 20)
	m := bytes.Clone(msg)
	if got := k.Sign(m[:0], m); !k.VerifySigned(got, msg) || &got[0] != &m[0] {
		t.Errorf("Sign over the message: %x", got)
	}
	m = bytes.Clone(msg)
	if got, err := k.SignReader(m[:0], bytes.NewReader(m)); err != nil || !k.VerifySigned(got, msg) || &got[0] != &m[0] {
		t.Errorf("SignReader over the message: %x, %v", got, err)
	}
}

// readerFunc is a Reader, and has no WriteTo.
type readerFunc func(p []byte) (int, error)

func (f readerFunc) Read(p []byte) (int, error) { return f(p) }

// writerToFunc is a Reader with a WriteTo, which io.Copy prefers.
type writerToFunc func(w io.Writer) (int64, error)

func (f writerToFunc) Read(p []byte) (int, error)         { return 0, errors.New("Read is called") }
func (f writerToFunc) WriteTo(w io.Writer) (int64, error) { return f(w) }

// splitReader returns a reader whose Read returns fewer than 3000 bytes, and often none.
func splitReader(rng *rand.ChaCha8, r io.Reader) io.Reader {
	return readerFunc(func(p []byte) (int, error) {
		return r.Read(p[:min(len(p), int(rng.Uint64()%2*rng.Uint64()%3000))])
	})
}

// TestSignReader compares SignReader and VerifySignedReader with Sign and
// VerifySigned, for readers of all kinds.
func TestSignReader(t *testing.T) { mactest.ForAllKernels(t, mactest.UMAC, testSignReader) }

func testSignReader(t *testing.T) {
	rng := rand.NewChaCha8([32]byte([]byte("testSignReader, a seed, 32 bytes")))
	path := filepath.Join(t.TempDir(), "message")
	readers := map[string]func(msg []byte) io.Reader{
		"bytes.Reader":   func(msg []byte) io.Reader { return bytes.NewReader(msg) },
		"bytes.Buffer":   func(msg []byte) io.Reader { return bytes.NewBuffer(bytes.Clone(msg)) },
		"strings.Reader": func(msg []byte) io.Reader { return strings.NewReader(string(msg)) },
		"bufio.Reader":   func(msg []byte) io.Reader { return bufio.NewReader(iotest.HalfReader(bytes.NewReader(msg))) },
		"multi": func(msg []byte) io.Reader {
			return io.MultiReader(bytes.NewReader(msg[:len(msg)/3]), iotest.HalfReader(bytes.NewReader(msg[len(msg)/3:])))
		},
		"plain":    func(msg []byte) io.Reader { return readerFunc(bytes.NewReader(msg).Read) },
		"one byte": func(msg []byte) io.Reader { return iotest.OneByteReader(bytes.NewReader(msg)) },
		"half":     func(msg []byte) io.Reader { return iotest.HalfReader(bytes.NewReader(msg)) },
		"data with EOF": func(msg []byte) io.Reader {
			return iotest.DataErrReader(splitReader(rng, bytes.NewReader(msg)))
		},
		"split": func(msg []byte) io.Reader { return splitReader(rng, bytes.NewReader(msg)) },
		"file": func(msg []byte) io.Reader {
			if err := os.WriteFile(path, msg, 0o600); err != nil {
				t.Fatal(err)
			}
			f, err := os.Open(path)
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { f.Close() })
			return f
		},
	}
	lengths := []int{0, 1, 32, 1023, 1024, 1025, 5000, 1<<16 - 1, 1 << 16, 1<<16 + 1, 150_000}
	for i := range 5 {
		lengths = append(lengths, int(rng.Uint64()%(3000<<i)))
	}
	for i, length := range lengths {
		k := mactest.Must(fastmac.NewUMACKey(make([]byte, 16), mactest.UMACTagSizes[i%4]))
		msg := mactest.Random(rng, length)
		for name, reader := range readers {
			sig, err := k.SignReader([]byte("x"), reader(msg))
			if err != nil || len(sig) != 1+16+k.Size() || sig[0] != 'x' || !k.VerifySigned(sig[1:], msg) {
				t.Fatalf("%s, %d bytes: signature %x, %v", name, length, sig, err)
			}
			sig = sig[1:]
			if ok, err := k.VerifySignedReader(sig, reader(msg)); !ok || err != nil {
				t.Errorf("%s, %d bytes: its own signature: %v, %v", name, length, ok, err)
			}
			if ok, err := k.VerifySignedReader(k.Sign(nil, msg), reader(msg)); !ok || err != nil {
				t.Errorf("%s, %d bytes: the signature of Sign: %v, %v", name, length, ok, err)
			}
			other := append(msg[:length:length], 0)
			if length > 0 {
				other = bytes.Clone(msg)
				other[rng.Uint64()%uint64(length)] ^= 1
			}
			if ok, err := k.VerifySignedReader(sig, reader(other)); ok || err != nil {
				t.Errorf("%s, %d bytes: with another message: %v, %v", name, length, ok, err)
			}
			sig[rng.Uint64()%uint64(len(sig))] ^= 1
			if ok, err := k.VerifySignedReader(sig, reader(msg)); ok || err != nil {
				t.Errorf("%s, %d bytes: another signature: %v, %v", name, length, ok, err)
			}
		}
	}
}

// TestSignReaderNonce checks that the nonce is random, and is drawn after the message has
// been read.
func TestSignReaderNonce(t *testing.T) {
	k := mactest.Must(fastmac.NewUMACKey(make([]byte, 16), 16))
	sign := func(r io.Reader) []byte {
		sig, err := k.SignReader(nil, r)
		if err != nil {
			t.Fatal(err)
		}
		return sig[:16]
	}
	testRandom(t, "SignReader", func() []byte { return sign(bytes.NewReader(nil)) })

	if fips140.Version() == "v1.0.0" {
		t.Skip("SetGlobalRandom does not work with GOFIPS140=v1.0.0")
	}
	cryptotest.SetGlobalRandom(t, 1)
	var whileReading, after [16]byte
	crand.Read(whileReading[:])
	crand.Read(after[:])
	cryptotest.SetGlobalRandom(t, 1)
	nonce := sign(readerFunc(func(p []byte) (int, error) {
		crand.Read(whileReading[:])
		return 0, io.EOF
	}))
	if !bytes.Equal(nonce, after[:]) {
		t.Errorf("nonce %x, want %x", nonce, after)
	}
}

// TestSignReaderErrors checks that an error of the reader is returned as it is. Nothing is
// signed or accepted, even if the whole message has been read.
func TestSignReaderErrors(t *testing.T) {
	k := mactest.Must(fastmac.NewUMACKey(make([]byte, 16), 16))
	msg, failure := bytes.Repeat([]byte("message"), 10_000), errors.New("failure")
	wrapped := fmt.Errorf("the connection is lost: %w", io.EOF)
	sig := k.Sign(nil, msg)
	for name, test := range map[string]struct {
		reader func() io.Reader
		want   error
	}{
		"error":           {func() io.Reader { return iotest.ErrReader(failure) }, failure},
		"late error":      {func() io.Reader { return io.MultiReader(bytes.NewReader(msg), iotest.ErrReader(failure)) }, failure},
		"unexpected EOF":  {func() io.Reader { return iotest.ErrReader(io.ErrUnexpectedEOF) }, io.ErrUnexpectedEOF},
		"wrapped EOF":     {func() io.Reader { return io.MultiReader(bytes.NewReader(msg), iotest.ErrReader(wrapped)) }, wrapped},
		"timeout":         {func() io.Reader { return iotest.TimeoutReader(readerFunc(bytes.NewReader(msg).Read)) }, iotest.ErrTimeout},
		"data with error": {func() io.Reader { return readerFunc(func(p []byte) (int, error) { return copy(p, msg), failure }) }, failure},
		"no progress":     {func() io.Reader { return readerFunc(func(p []byte) (int, error) { return 0, nil }) }, io.ErrNoProgress},
		"WriteTo": {func() io.Reader {
			return writerToFunc(func(w io.Writer) (int64, error) {
				n, _ := w.Write(msg)
				return int64(n), failure
			})
		}, failure},
	} {
		storage := bytes.Repeat([]byte("x"), 100)
		dst, err := k.SignReader(storage[:5], test.reader())
		if err != test.want || len(dst) != 5 || &dst[0] != &storage[0] || strings.Trim(string(storage), "x") != "" {
			t.Errorf("%s: SignReader: error %v, want %v; dst %q", name, err, test.want, storage)
		}
		if ok, err := k.VerifySignedReader(sig, test.reader()); ok || err != test.want {
			t.Errorf("%s: VerifySignedReader: %v, %v; want %v", name, ok, err, test.want)
		}
	}
	for _, n := range []int{-1, 1<<16 + 1} {
		r := readerFunc(func(p []byte) (int, error) { return n, nil })
		want := fmt.Sprintf("a count of %d: want 0 to 65536", n)
		mactest.MustPanic(t, "SignReader", want, func() { k.SignReader(nil, r) })
		mactest.MustPanic(t, "VerifySignedReader", want, func() { k.VerifySignedReader(sig, r) })
	}
}

// TestSignReaderEmpty has readers that return nothing several times between two bytes.
func TestSignReaderEmpty(t *testing.T) {
	k := mactest.Must(fastmac.NewUMACKey(make([]byte, 16), 16))
	for _, empty := range []int{0, 1, 99, 100} {
		reads := 0
		sig, err := k.SignReader(nil, readerFunc(func(p []byte) (int, error) {
			reads++
			switch {
			case reads > 3*(empty+1):
				return 0, io.EOF
			case reads%(empty+1) == 0:
				p[0] = 'x'
				return 1, nil
			}
			return 0, nil
		}))
		if empty == 100 {
			if err != io.ErrNoProgress || reads != empty {
				t.Errorf("error %v after %d reads", err, reads)
			}
		} else if err != nil || !k.VerifySigned(sig, []byte("xxx")) {
			t.Errorf("%d times nothing: error %v, tag %x", empty, err, sig)
		}
	}
}

// TestSignReaderLength checks that VerifySignedReader reads nothing for a signature of
// a wrong length.
func TestSignReaderLength(t *testing.T) {
	for _, size := range mactest.UMACTagSizes {
		k := mactest.Must(fastmac.NewUMACKey(make([]byte, 16), size))
		for n := range 50 {
			read := false
			r := readerFunc(func(p []byte) (int, error) { read = true; return 0, io.EOF })
			ok, err := k.VerifySignedReader(make([]byte, n), r)
			if ok || err != nil || read != (n == 16+size) {
				t.Errorf("%d bytes for %d: %v, %v; reads: %v", n, 16+size, ok, err, read)
			}
		}
	}
}

// TestSignReaderPeek verifies a signature that is in the buffer of the reader.
func TestSignReaderPeek(t *testing.T) {
	k := mactest.Must(fastmac.NewUMACKey(make([]byte, 16), 16))
	msg := bytes.Repeat([]byte("message"), 100)
	r := bufio.NewReaderSize(io.MultiReader(bytes.NewReader(k.Sign(nil, msg)), bytes.NewReader(msg)), 1<<20)
	sig, err := r.Peek(32)
	if err != nil {
		t.Fatal(err)
	}
	before := bytes.Clone(sig)
	r.Discard(32)
	if ok, err := k.VerifySignedReader(sig, io.LimitReader(r, int64(len(msg)))); !ok || err != nil {
		t.Errorf("%v, %v", ok, err)
	}
	if bytes.Equal(sig, before) {
		t.Error("reading did not overwrite the signature, so nothing is tested")
	}
}

// TestSignReaderWiped checks that the buffer of the message is all zeros afterwards, and
// that the stream is destroyed.
func TestSignReaderWiped(t *testing.T) {
	k := mactest.Must(fastmac.NewUMACKey(make([]byte, 16), 16))
	sig := k.Sign(nil, nil)
	var buf []byte
	var stream io.Writer
	for end, f := range map[string]func() (int, error){
		"EOF":   func() (int, error) { return 0, io.EOF },
		"error": func() (int, error) { return 0, io.ErrUnexpectedEOF },
		"panic": func() (int, error) { panic("the reader fails") },
	} {
		reader := func() io.Reader {
			buf = nil
			plain := readerFunc(func(p []byte) (int, error) {
				if buf == nil {
					buf = p
					return copy(p, bytes.Repeat([]byte("message"), len(p))), nil
				}
				return f()
			})
			return writerToFunc(func(w io.Writer) (int64, error) {
				stream = w
				return io.Copy(w, plain)
			})
		}
		for name, call := range map[string]func(){
			"SignReader":         func() { k.SignReader(nil, reader()) },
			"VerifySignedReader": func() { k.VerifySignedReader(sig, reader()) },
		} {
			func() {
				defer func() { recover() }()
				call()
			}()
			if len(buf) == 0 || !bytes.Equal(buf, make([]byte, len(buf))) {
				t.Errorf("%s, %s: the buffer of %d bytes is not all zeros", name, end, len(buf))
			}
			mactest.MustPanic(t, name+", "+end+": Write afterwards", "destroyed", func() { stream.Write(nil) })
		}
	}
}

// TestSignReaderMemory checks that a message of 16 MiB is not copied to the heap.
func TestSignReaderMemory(t *testing.T) {
	const size = 16 << 20
	k := mactest.Must(fastmac.NewUMACKey(make([]byte, 16), 8))
	path := filepath.Join(t.TempDir(), "message")
	if err := os.WriteFile(path, make([]byte, size), 0o600); err != nil {
		t.Fatal(err)
	}
	file, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	for name, r := range map[string]io.Reader{
		"strings.Reader": strings.NewReader(strings.Repeat("x", size)),
		"file":           file,
		"plain":          io.LimitReader(readerFunc(func(p []byte) (int, error) { return len(p), nil }), size),
	} {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		if _, err := k.SignReader(nil, r); err != nil {
			t.Fatal(err)
		}
		runtime.ReadMemStats(&after)
		if n := after.TotalAlloc - before.TotalAlloc; n > 1<<17 {
			t.Errorf("%s: %d bytes allocated", name, n)
		}
	}
}
