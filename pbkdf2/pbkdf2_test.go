// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package pbkdf2

import (
	"bytes"
	"context"
	"crypto"
	"crypto/pbkdf2"
	"crypto/sha1"
	"crypto/sha256"
	"crypto/sha3"
	"crypto/sha512"
	"errors"
	"fmt"
	"hash"
	"io"
	"math"
	"math/rand/v2"
	"strconv"
	"strings"
	"testing"

	"example.com/fastmac/internal/kernel"
	"example.com/fastmac/internal/mactest"
	ours "example.com/fastmac/internal/sha1"
	"example.com/fastmac/internal/sha2"
)

func init() { sha2.ChooseAll() } // for package mactest

func skipEnforced(t *testing.T) {
	if kernel.FIPSEnforced() {
		t.Skip("GODEBUG=fips140=only refuses most of this")
	}
}

// TestVectors derives the keys of testdata, one by one and all in a batch for each hash.
func TestVectors(t *testing.T) { mactest.ForAllKernels(t, mactest.HMAC, testVectors) }

func testVectors(t *testing.T) {
	skipEnforced(t)
	batches := make(map[crypto.Hash][]Derivation)
	vectors := mactest.PBKDF2Vectors(t)
	most := 80_000 // iterations
	switch {
	case testing.Short():
		most = 2048
	case mactest.Long():
		most = math.MaxInt // RFC 6070 has 16,777,216
	case kernel.Active(kernel.SHA256) == kernel.List(kernel.SHA256)[0]:
		most = 600_000
	case kernel.Active(kernel.SHA256) == "stdlib":
		most = 10_000 // what runs is crypto/pbkdf2
	}
	for _, v := range vectors {
		if v.Iter > most {
			continue
		}
		key, err := Key(v.Hash.New, string(v.Password), v.Salt, v.Iter, len(v.Key))
		if !bytes.Equal(key, v.Key) || err != nil {
			t.Errorf("%s: %x (%v), want %x", v.Name, key, err, v.Key)
		}
		batches[v.Hash] = append(batches[v.Hash], Derivation{string(v.Password), v.Salt, v.Iter, make([]byte, len(v.Key))})
	}
	t.Logf("%d keys", len(vectors))
	for h, batch := range batches {
		if err := KeyBatch(t.Context(), h.New, batch); err != nil {
			t.Error(h, err)
		}
		for _, v := range vectors {
			if v.Hash == h && v.Iter <= most {
				if !bytes.Equal(batch[0].Key, v.Key) {
					t.Errorf("%s in a batch: %x, want %x", v.Name, batch[0].Key, v.Key)
				}
				batch = batch[1:]
			}
		}
	}
}

// TestKey compares with crypto/pbkdf2.
func TestKey(t *testing.T) { mactest.ForAllKernels(t, mactest.HMAC, testKey) }

func testKey(t *testing.T) {
	functions := []func() hash.Hash{sha1.New, func() hash.Hash { return sha3.New256() }, func() hash.Hash { return sha256.New() }}
	for _, h := range mactest.SHA2 {
		functions = append(functions, h.New)
	}
	for i, h := range functions {
		for _, passwordSize := range []int{0, 64, 65, 128, 300} {
			password, salt := strings.Repeat("p", passwordSize), make([]byte, passwordSize/3)
			for iter := range 5 {
				for _, n := range []int{1, 20, 27, 32, 33, 48, 64, 65, 700, 1100} {
					compare(t, fmt.Sprintf("hash %d, password of %d bytes", i, passwordSize), h, password, salt, iter, n)
				}
			}
		}
		compare(t, fmt.Sprintf("hash %d", i), h, "password", []byte("salt"), -1, 70)
	}
	compare(t, "block numbers of three bytes", sha256.New, "password", []byte("salt"), 1, (1<<16+1)*sha256.Size)
	for _, h := range []crypto.Hash{crypto.SHA1, crypto.SHA256, crypto.SHA384, crypto.SHA512} {
		for _, iter := range []int{steps + 1, 2*steps + 3} {
			compare(t, h.String(), h.New, "password", []byte("salt"), iter, 70)
		}
	}
	compare(t, "another type of function", sha3.New256, "password", []byte("salt"), 3, 70)
}

// TestTooLong checks the longest key, which has 2^32 - 1 blocks. A key that long has no room in tests.
func TestTooLong(t *testing.T) {
	if strconv.IntSize < 64 {
		t.Skip("needs a 64-bit platform")
	}
	for _, h := range []*sha2.Hash{ours.Hash, sha2.Of(crypto.SHA256), sha2.Of(crypto.SHA512)} {
		longest := math.MaxUint32 * uint64(h.Size)
		if tooLong(int(longest), h) || !tooLong(int(longest+1), h) {
			t.Errorf("%s: %d bytes are too long: %v, and one more: %v", h.ID, longest, tooLong(int(longest), h), tooLong(int(longest+1), h))
		}
	}
}

func compare[H hash.Hash](t *testing.T, name string, h func() H, password string, salt []byte, iter, n int) {
	t.Helper()
	got, err := Key(h, password, salt, iter, n)
	want, wantErr := pbkdf2.Key(h, password, salt, iter, n)
	if !bytes.Equal(got, want) || fmt.Sprint(err) != fmt.Sprint(wantErr) {
		t.Errorf("%s, %d iterations: key of %d bytes %x, %v, want %x, %v", name, iter, n, got, err, want, wantErr)
	}
}

// TestErrors checks that wrong lengths are the errors of crypto/pbkdf2.
func TestErrors(t *testing.T) {
	for _, n := range []int{0, -1, math.MinInt32} {
		compare(t, "length", sha256.New, "password", make([]byte, 16), 1000, n)
	}
	if math.MaxInt == math.MaxInt64 { // a smaller int has no length that is too long
		for _, n := range []int{math.MaxInt, math.MaxInt - 31, math.MaxInt - 32} {
			compare(t, "length", sha256.New, "password", make([]byte, 16), 1000, n)
		}
	}
}

// TestKeyBatch derives batches of different passwords, salts, iterations and lengths.
func TestKeyBatch(t *testing.T) { mactest.ForAllKernels(t, mactest.HMAC, testKeyBatch) }

func testKeyBatch(t *testing.T) {
	skipEnforced(t)
	r := rand.New(rand.NewPCG(1, 2))
	for _, h := range append([]crypto.Hash{crypto.SHA1}, mactest.SHA2...) {
		for _, n := range []int{0, 1, 2, 3, 4, 7, 8, 15, 16, 17, 18, 33} {
			batch := make([]Derivation, n)
			for i := range batch {
				batch[i] = Derivation{
					strings.Repeat(string(rune('a'+i)), r.IntN(200)), bytes.Repeat([]byte{byte(n)}, r.IntN(100)),
					1 + r.IntN(100), make([]byte, 1+r.IntN(200)),
				}
				if n%3 == 0 { // as those of one server
					batch[i].Iter, batch[i].Key = 7, batch[i].Key[:min(len(batch[i].Key), 32)]
				}
			}
			if err := KeyBatch(t.Context(), h.New, batch); err != nil {
				t.Fatal(err)
			}
			for i, d := range batch {
				if want := mactest.Must(pbkdf2.Key(h.New, d.Password, d.Salt, d.Iter, len(d.Key))); !bytes.Equal(d.Key, want) {
					t.Errorf("%v, batch of %d, %d: %x, want %x", h, n, i, d.Key, want)
				}
			}
		}
	}
}

// TestKeyBatchErrors checks that nothing is left in the keys after an error.
func TestKeyBatchErrors(t *testing.T) {
	newBatch := func() []Derivation {
		batch := make([]Derivation, 2*sha2.MaxLanes+3)
		for i := range batch {
			batch[i] = Derivation{"password", make([]byte, 16), 10, bytes.Repeat([]byte{1}, 32)}
		}
		return batch
	}
	isCleared := func(what string, batch []Derivation) {
		t.Helper()
		for i, d := range batch {
			if !bytes.Equal(d.Key, make([]byte, len(d.Key))) {
				t.Errorf("%s: key %d is %x", what, i, d.Key)
			}
		}
	}
	unknown := func() hash.Hash { return sha256.New() } // its keys are from crypto/pbkdf2
	for _, h := range []func() hash.Hash{sha256.New, sha1.New, unknown} {
		for name, spoil := range map[string]func(*Derivation){
			"derivation 1: -1 iterations":         func(d *Derivation) { d.Iter = -1 },
			"derivation 1: 0 iterations":          func(d *Derivation) { d.Iter = 0 },
			"derivation 1 has no room for a key":  func(d *Derivation) { d.Key = nil },
			"derivation 1 has no room for a key ": func(d *Derivation) { d.Key = d.Key[:0] },
		} {
			batch := newBatch()
			spoil(&batch[1])
			if err := KeyBatch(t.Context(), h, batch); err == nil || !strings.HasSuffix(err.Error(), strings.TrimSpace(name)) {
				t.Errorf("error %v, want %s", err, name)
			}
			isCleared(name, batch)
		}
		ctx, cancel := context.WithCancelCause(t.Context())
		cancel(io.EOF)
		batch := newBatch()
		if err := KeyBatch(ctx, h, batch); !errors.Is(err, context.Canceled) {
			t.Errorf("cancelled: error %v", err)
		}
		isCleared("cancelled", batch)
		if err := KeyBatch(t.Context(), h, nil); err != nil {
			t.Errorf("empty batch: %v", err)
		}
	}
	for _, h := range []crypto.Hash{crypto.SHA1, crypto.SHA256} {
		if known := hashOf(h.New); known == nil || !hasSteps(known, 3) {
			continue // it cannot be cancelled within a key
		}
		// Minutes, hours and more: of a number that is cut to 32 bits little would be left.
		for _, iter := range []uint64{1<<31 - 1, 1 << 31, 1<<32 + 1, 1<<32 + 3, 1<<40 + 2, math.MaxInt64} {
			if iter > math.MaxInt {
				continue
			}
			ctx := &counting{Context: t.Context(), left: 5}
			batch := newBatch()
			batch[1].Iter = int(iter)
			if err := KeyBatch(ctx, h.New, batch); err != errLeft {
				t.Errorf("%v, %d iterations, cancelled while under way: error %v", h, iter, err)
			}
			isCleared("cancelled while under way", batch)
		}
	}
}

// TestKeyBatchLooks counts how often KeyBatch asks whether its context is done, and asks no more once it is: between
// two times it makes at most so many iterations, which take some milliseconds, of as many blocks as there are
// lanes.
func TestKeyBatchLooks(t *testing.T) {
	const most = 1024
	for _, h := range []crypto.Hash{crypto.SHA1, crypto.SHA256, crypto.SHA384, crypto.SHA512} {
		for _, c := range []struct{ keys, iter, size, looks int }{
			{1, 20*most + 1, 20, 20},
			{3, 20*most + 1, 20, 20},
			{sha2.MaxLanes, 5*most + 1, 20, 5},
			{sha2.MaxLanes + 1, 5*most + 1, 20, 10},
			{1, 1, 1000 * h.Size(), 1000 / sha2.MaxLanes},
			{1000, 1, 20, 1000 / sha2.MaxLanes},
		} {
			if known := hashOf(h.New); known == nil || !hasSteps(known, c.keys) {
				continue // it cannot be cancelled within a key
			}
			batch := make([]Derivation, c.keys)
			for i := range batch {
				batch[i] = Derivation{"password", []byte("salt"), c.iter, make([]byte, c.size)}
			}
			ctx := &counting{Context: t.Context(), left: math.MaxInt}
			if err := KeyBatch(ctx, h.New, batch); err != nil || math.MaxInt-ctx.left < c.looks {
				t.Errorf("%v, %+v: %v, asked %d times", h, c, err, math.MaxInt-ctx.left)
			}
			ctx.left = c.looks / 2
			if err := KeyBatch(ctx, h.New, batch); err != errLeft || ctx.left != -1 {
				t.Errorf("%v, %+v, cancelled: %v, asked %d times more", h, c, err, -1-ctx.left)
			}
		}
	}
}

var errLeft = errors.New("asked often enough")

// counting is a context that is done after it has been asked a number of times.
type counting struct {
	context.Context
	left int
}

func (c *counting) Err() error {
	if c.left--; c.left < 0 {
		return errLeft
	}
	return nil
}

func BenchmarkKey(b *testing.B) {
	for _, c := range []struct {
		name    string
		h       func() hash.Hash
		iter, n int
	}{
		{"SHA-256", sha256.New, 4096, 32}, {"SHA-256", sha256.New, 4096, 64}, {"SHA-512", sha512.New, 2048, 64},
		{"SHA-224", sha256.New224, 4096, 28}, {"SHA-384", sha512.New384, 2048, 48}, {"SHA-1", sha1.New, 4096, 20}, {"SHA-1", sha1.New, 4096, 32},
	} {
		for _, impl := range []struct {
			name string
			f    func(func() hash.Hash, string, []byte, int, int) ([]byte, error)
		}{{"fastmac", Key[hash.Hash]}, {"crypto", pbkdf2.Key[hash.Hash]}} {
			b.Run(fmt.Sprintf("%s/%d/%s", c.name, c.n, impl.name), func(b *testing.B) {
				for b.Loop() {
					impl.f(c.h, "password", []byte("salt"), c.iter, c.n)
				}
				b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*c.iter), "ns/iteration")
			})
		}
	}
}

func BenchmarkKeyBatch(b *testing.B) {
	for _, c := range []struct {
		name    string
		h       func() hash.Hash
		iter, n int
	}{{"SHA-256", sha256.New, 4096, 32}, {"SHA-256", sha256.New, 4096, 64}, {"SHA-512", sha512.New, 2048, 64}} {
		batch := make([]Derivation, 16)
		for i := range batch {
			batch[i] = Derivation{"password", []byte("salt"), c.iter, make([]byte, c.n)}
		}
		b.Run(fmt.Sprintf("%s/%d", c.name, c.n), func(b *testing.B) {
			for b.Loop() {
				KeyBatch(b.Context(), c.h, batch)
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*len(batch)), "ns/key")
		})
	}
}
