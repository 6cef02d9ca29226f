// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package memory

import (
	"bytes"
	"context"
	"crypto"
	"crypto/aes"
	"crypto/sha1"
	"hash"
	"io"
	"math/rand/v2"
	"os"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"unsafe"

	"example.com/fastmac"
	"example.com/fastmac/aesgcm"
	"example.com/fastmac/hkdf"
	"example.com/fastmac/hmac"
	"example.com/fastmac/internal/mactest"
	"example.com/fastmac/internal/sha2"
	"example.com/fastmac/pbkdf2"
)

// secretDo calls f. In a build with GOEXPERIMENT=runtimesecret it is secret.Do.
var secretDo = func(f func()) { f() }

// TestScanned is the process that is scanned.
func TestScanned(t *testing.T) {
	mode := os.Getenv(scanEnv)
	if mode == "" {
		t.Skip("runs in the processes of TestDestroyScan")
	}
	mactest.CheckKernels(t, slices.Concat(mactest.UMAC, mactest.HMAC))
	in := new(scanSecrets)
	if _, err := io.ReadFull(os.Stdin, mactest.Storage(in)); err != nil {
		t.Fatal(err)
	}
	for i := range mactest.Storage(in) {
		mactest.Storage(in)[i] ^= scanMask
	}
	s := &scanned{in: in, long: make([]byte, 1<<24+5000), rng: rand.New(rand.NewChaCha8(in.seed))}
	if mode == scanFIPS || mode == scanFIPSControl {
		kept := s.useFIPS(mode == scanFIPSControl)
		clear(mactest.Storage(in))
		mactest.AwaitScan()
		runtime.KeepAlive(kept)
		return
	}
	s.use()
	if mode == scanDestroy {
		s.destroy()
		clear(mactest.Storage(in))
	} else {
		s.setups = []any{
			mactest.Must(aes.NewCipher(in.umacKeys[0][:16])), // has the schedule of KDF
			padSecrets(in.umacKeys[3][:16], scanBatchNonces()),
			hmacPads(crypto.SHA256, in.hmacKey[:]),
			hmacPads(crypto.SHA384, in.hmacKey[:]),
			hmacPads(crypto.SHA512, in.hmacKey[:]),
			pbkdf2Secrets(crypto.SHA256, in.hmacKey[:], 1),
			hkdfSecrets(crypto.SHA256, in.hmacKey[:]),
			gcmSecrets("GMAC ", in.gmacKey[:], scanGCMNonce, nil, in.msg[:1000]),
			gcmSecrets("AES-GCM ", in.gcmKey[:], scanGCMNonce, in.msg[:1000], in.msg[:1000]),
		}
	}
	mactest.AwaitScan()
	runtime.KeepAlive(s)
}

type destroyer interface{ Destroy() }

// scanned uses the package in many goroutines, whose stacks grow at different calls.
type scanned struct {
	in     *scanSecrets
	long   []byte // is hashed by POLY-128
	group  sync.WaitGroup
	setups []any

	mu   sync.Mutex
	rng  *rand.Rand
	kept []destroyer
}

// keep adds d to the values that destroy destroys.
func (s *scanned) keep(d any) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.kept = append(s.kept, d.(destroyer))
}

// A dyingClone is a stream with its key. Destroy clones the stream after the key was destroyed, which panics: the
// clone was there by then.
type dyingClone struct {
	key    destroyer
	stream interface {
		destroyer
		hash.Cloner
	}
}

func (d dyingClone) Destroy() {
	d.key.Destroy()
	func() {
		defer func() { mustBe(recover() != nil) }()
		d.stream.Clone()
	}()
	d.stream.Destroy()
}

// destroy destroys everything.
func (s *scanned) destroy() {
	for _, d := range s.kept {
		s.do(d.Destroy)
	}
	s.group.Wait()
}

// do calls f in a new goroutine, at a random depth of its stack.
func (s *scanned) do(f func()) {
	s.mu.Lock()
	depth := s.rng.IntN(120)
	if s.rng.IntN(2) == 0 {
		depth %= 20 // where the stack of a new goroutine grows for the first time
	}
	s.mu.Unlock()
	s.group.Go(func() { deep(depth, f) })
}

func deep(n int, f func()) byte {
	var frame [64]byte
	if n == 0 {
		secretDo(f)
		return 0
	}
	return deep(n-1, f) + frame[n%len(frame)]
}

func (s *scanned) use() {
	for range 4 {
		for i, tagSize := range mactest.UMACTagSizes {
			for _, size := range scanUMACKeySizes {
				key := s.in.umacKeys[i][:size]
				s.do(func() { s.umacInit(key, tagSize) })
				s.do(func() { s.umacKey(key, tagSize) })
				s.do(func() { s.umac(key, tagSize) })
				s.do(func() { s.umacBatch(key, tagSize) })
			}
		}
		for i, size := range slices.Repeat(scanHMACKeySizes, len(scanHashes)) {
			key, h := s.in.hmacKey[:size], scanHashes[i/len(scanHMACKeySizes)]
			s.do(func() { s.keep(mactest.Must(fastmac.NewHMACKey(h, key))) })
			s.do(func() { s.keep(mactest.Must(fastmac.NewHMAC(h, key))) })
			s.do(func() { fastmac.SumHMAC(h, nil, key, s.in.msg[:20]) })
			s.do(func() { s.hmacKey(h, key) })
			s.do(func() { s.hmac(h, key) })
			s.do(func() { s.hmacBatch(h, key) })
			s.do(func() { s.pbkdf2(h, key) })
			s.hkdf(h, key)
			s.do(func() { s.pbkdf2Key(h, key, 1) })
		}
		for _, size := range scanHMACKeySizes {
			key := s.in.hmacKey[:size]
			s.do(func() { s.keep(hmac.New(sha1.New, key)) })
			s.do(func() { s.stream(hmac.New(sha1.New, key).(*fastmac.HMAC)) })
			s.do(func() { s.pbkdf2(crypto.SHA1, key) })
			s.do(func() { s.pbkdf2Key(crypto.SHA1, key, 1) })
		}
		if scanGCM() {
			for _, size := range scanGCMKeySizes {
				key := s.in.gmacKey[:size]
				s.do(func() { s.gmacKey(key) })
				s.do(func() { s.gmac(key) })
			}
			for _, size := range []int{16, 32} {
				key := s.in.gcmKey[:size]
				s.do(func() { s.aesGCM(key) })
			}
		}
		runtime.GC()
	}
	s.group.Wait()
}

var (
	scanNonce    = []byte("nonce of 16 byte")
	scanGCMNonce = []byte("twelve bytes")
	scanGCMSizes = scanSizes[1:] // the tag of an empty message is the tag mask
)

// umacInit sets up a key, and computes a tag in another goroutine.
func (s *scanned) umacInit(key []byte, tagSize int) {
	k := new(fastmac.UMACKey)
	for range 2 {
		must(k.Init(key, tagSize))
	}
	s.keep(k)
	s.do(func() { k.Tag(nil, scanNonce, s.in.msg[:1500]) })
	s.do(func() {
		last := new(fastmac.UMACKey)
		s.keep(last)
		must(last.Init(key, tagSize)) // the stack is then as Init leaves it
	})
}

func (s *scanned) umacKey(key []byte, tagSize int) {
	k := mactest.Must(fastmac.NewUMACKey(key, tagSize))
	s.keep(k)
	for _, size := range scanSizes {
		msg := s.in.msg[:size]
		mustBe(k.Verify(k.Tag(nil, scanNonce, msg), scanNonce, msg))
		mustBe(k.VerifySigned(k.Sign(nil, msg), msg))
	}
	if len(key) == 16 {
		s.do(func() { k.Tag(nil, scanNonce, s.long) })
	}

	msg := s.in.msg[:]
	u := k.New()
	s.keep(u)
	u.Write(msg)
	mustBe(k.VerifySigned(u.Sign(nil), msg))
	mustBe(u.VerifySigned(k.Sign(nil, msg)))

	k = mactest.Must(fastmac.NewUMACKey(key, tagSize))
	u = k.New()
	scanUMAC(u, s.in)
	s.keep(dyingClone{k, u})
}

func (s *scanned) umacBatch(key []byte, tagSize int) {
	k := mactest.Must(fastmac.NewUMACKey(key, tagSize))
	s.keep(k)
	s.do(func() { s.umacBatches(k, len(key), tagSize, 8) })
	s.umacBatches(k, len(key), tagSize, 2, 3, 9, 8, 16)
}

func (s *scanned) umacBatches(k *fastmac.UMACKey, keySize, tagSize int, sizes ...int) {
	for _, n := range sizes {
		b := mactest.NewUMACBatch(n, tagSize, func(i int) []byte { return scanBatchNonces()[i%8] },
			func(i int) []byte { return s.in.msg[:scanSizes[i%len(scanSizes)]] })
		b.Nonces[n-1] = scanNonce
		mactest.TagBatch(k.TagBatch, b.Tags, b.Nonces, b.Msgs)
		if n == 16 && keySize == 24 {
			continue // the stack is then as TagBatch leaves it
		}
		verify := func() { mustBe(mactest.VerifyBatch(k.VerifyBatch, make([]bool, n), b.Tags, b.Nonces, b.Msgs)) }
		s.do(verify)
		verify()
	}
}

func (s *scanned) umac(key []byte, tagSize int) {
	u, err := fastmac.NewUMAC(key, tagSize)
	must(err)
	s.keep(u)
	for _, size := range scanSizes {
		u.Reset()
		u.Write(s.in.msg[:size/3])
		u.Write(s.in.msg[size/3 : size])
		mustBe(u.Verify(u.Tag(nil, scanNonce), scanNonce))
	}
	if len(key) == 16 {
		u.Reset()
		for _, size := range []int{1<<24 + 100, 1500, 2000} {
			u.Write(s.long[:size])
		}
		u.Tag(nil, scanNonce)
	}
	u.Reset()
	scanUMAC(u, s.in)
	c, err := u.Clone()
	must(err)
	s.keep(c)
	b := u.Bind(scanNonce)
	s.keep(b)
	b.Write(s.in.msg[:77])
	b.Sum(nil)
	switch len(key) {
	case 16:
		// Each call is in a goroutine of its own. The second writes the first word of
		// POLY-128.
		s.do(func() {
			c.Write(s.long[:1<<24-2400]) // after 2500 bytes of scanUMAC
			s.do(func() {
				c.Write(s.long[:1500])
				s.do(func() { c.(*fastmac.UMAC).Tag(nil, scanNonce) })
			})
		})
	case 32:
		// The blocks of POLY-128 are the last call.
		u.Reset()
		u.Write(s.long)
	case 24:
		// The first word of POLY-128 is the last call.
		u.Reset()
		u.Write(s.long[:1<<24+100])
		u.Write(s.long[:1500])
	}
}

func (s *scanned) hmacKey(h crypto.Hash, key []byte) {
	k := mactest.Must(fastmac.NewHMACKey(h, key))
	s.keep(k)
	for _, size := range scanSizes {
		msg := s.in.msg[:size]
		tag := k.Tag(nil, msg)
		mustBe(k.Verify(tag, msg) && bytes.Equal(fastmac.SumHMAC(h, nil, key, msg), tag))
	}

	k = mactest.Must(fastmac.NewHMACKey(h, key))
	m := k.New()
	m.Write(s.in.msg[:2500])
	s.keep(dyingClone{k, m})
}

func (s *scanned) hmac(h crypto.Hash, key []byte) { s.stream(mactest.Must(fastmac.NewHMAC(h, key))) }

func (s *scanned) stream(m *fastmac.HMAC) {
	s.keep(m)
	for _, size := range scanSizes {
		m.Reset()
		m.Write(s.in.msg[:size/3])
		m.Write(s.in.msg[size/3 : size])
		mustBe(m.Verify(m.Sum(nil)))
	}
	m.Reset()
	m.Write(s.in.msg[:2500])
	c, err := m.Clone()
	must(err)
	s.keep(c)
}

func (s *scanned) hmacBatch(h crypto.Hash, key []byte) {
	k := mactest.Must(fastmac.NewHMACKey(h, key))
	s.keep(k)
	s.do(func() { s.hmacBatches(h, k, key, 8, 16) })
	s.hmacBatches(h, k, key, 1, 3, 5, 8, 17, 33)
}

func (s *scanned) hmacBatches(h crypto.Hash, k *fastmac.HMACKey, key []byte, sizes ...int) {
	for _, n := range sizes {
		var msgs, keys [][]byte
		for i := range n {
			msgs = append(msgs, s.in.msg[:scanSizes[i%len(scanSizes)]])
			keys = append(keys, key)
		}
		tags, ok := mactest.Tags(n, h.Size()), make([]bool, n)
		mactest.TagBatch(k.TagBatch, tags, nil, msgs)
		mustBe(mactest.VerifyBatch(k.VerifyBatch, ok, tags, nil, msgs))
		mactest.SumBatch(fastmac.SumHMACBatch, h, tags, keys, msgs)
		mustBe(mactest.VerifyBatch(k.VerifyBatch, ok, tags, nil, msgs))
	}
}

const (
	scanSalt       = "salt of PBKDF2"
	scanIterations = 10
)

// pbkdf2 derives keys, and clears them, if there is assembly for one key: else crypto/pbkdf2 may do it,
// which clears nothing.
func (s *scanned) pbkdf2(h crypto.Hash, key []byte) {
	if !hasAssembly(h) {
		return
	}
	password := unsafe.String(&key[0], len(key))
	for _, n := range []int{1, 2, 3, 17} {
		batch := make([]pbkdf2.Derivation, n)
		for i := range batch {
			batch[i] = pbkdf2.Derivation{Password: password, Salt: []byte(scanSalt), Iter: scanIterations, Key: make([]byte, 1+7*i)}
		}
		must(pbkdf2.KeyBatch(context.Background(), h.New, batch))
		for _, d := range batch {
			clear(d.Key)
		}
	}
	s.pbkdf2Key(h, key, scanIterations)
	mustBe(pbkdf2.KeyBatch(&ending{context.Background(), 1}, h.New, []pbkdf2.Derivation{
		{Password: password, Salt: []byte(scanSalt), Iter: 2000, Key: make([]byte, 32)},
	}) == context.Canceled)
	other := pbkdf2.Derivation{Password: otherPassword(key), Salt: []byte(scanSalt), Iter: scanIterations, Key: make([]byte, 32)}
	must(pbkdf2.KeyBatch(context.Background(), otherHash, []pbkdf2.Derivation{other}))
	clear(other.Key)
}

// ending is a context that ends after so many calls of Err.
type ending struct {
	context.Context
	looks int
}

func (c *ending) Err() error {
	if c.looks--; c.looks < 0 {
		return context.Canceled
	}
	return nil
}

func (s *scanned) pbkdf2Key(h crypto.Hash, key []byte, iterations int) {
	if hasAssembly(h) {
		clear(mactest.Must(pbkdf2.Key(h.New, unsafe.String(&key[0], len(key)), []byte(scanSalt), iterations, 3*h.Size())))
	}
}

const (
	scanInfo     = "info of HKDF"
	scanLongInfo = 150 // in bytes: more than a block of each hash
)

// hkdf derives keys, each in a goroutine that does nothing else, and clears them, if there is assembly for one
// key: else crypto/hkdf does it, which clears nothing.
func (s *scanned) hkdf(h crypto.Hash, key []byte) {
	if !hasAssembly(h) {
		return
	}
	for _, info := range []string{"", scanInfo, strings.Repeat("i", scanLongInfo)} {
		for _, n := range []int{1, h.Size(), 3 * h.Size()} {
			s.do(func() { clear(mactest.Must(hkdf.Key(h.New, key, []byte(scanSalt), info, n))) })
			s.do(func() { clear(mactest.Must(hkdf.Expand(h.New, key, info, n))) })
		}
	}
	s.do(func() { clear(mactest.Must(hkdf.Extract(h.New, key, []byte(scanSalt)))) })
}

// hasAssembly reports whether there is a kernel for one message, or SHA-1, which is this module's without one.
func hasAssembly(h crypto.Hash) bool { return h == crypto.SHA1 || sha2.Of(h).HasAssembly() }

// gmacKey sets up a key, and computes tags in two goroutines.
func (s *scanned) gmacKey(key []byte) {
	k := new(fastmac.GMACKey)
	for range 2 {
		must(k.Init(key))
	}
	s.keep(k)
	tags := func() {
		for _, size := range scanGCMSizes {
			msg := s.in.msg[:size]
			mustBe(k.Verify(k.Tag(nil, scanGCMNonce, msg), scanGCMNonce, msg))
		}
	}
	s.do(tags)
	tags()

	k = mactest.Must(fastmac.NewGMACKey(key))
	m := k.New()
	m.Write(s.in.msg[:2500])
	s.keep(dyingClone{k, m})
}

func (s *scanned) gmac(key []byte) {
	m, err := fastmac.NewGMAC(key)
	must(err)
	s.keep(m)
	for _, size := range scanGCMSizes {
		m.Reset()
		m.Write(s.in.msg[:size/3])
		m.Write(s.in.msg[size/3 : size])
		mustBe(m.Verify(m.Tag(nil, scanGCMNonce), scanGCMNonce))
	}
	m.Reset()
	m.Write(s.in.msg[:2500])
	c, err := m.Clone()
	must(err)
	s.keep(c)
	b := m.Bind(scanGCMNonce)
	s.keep(b)
	b.Write(s.in.msg[:77])
	b.Sum(nil)
}

// aesGCM seals and opens, and clears the plaintexts, except those that Open refused.
func (s *scanned) aesGCM(key []byte) {
	k, err := aesgcm.NewKey(key)
	must(err)
	s.keep(k)
	sealer := k.NewSealer()
	seal := func() {
		buf, refused := make([]byte, 5000+28), make([]byte, 5000)
		for _, size := range scanGCMSizes {
			plaintext, nonce := s.in.msg[:size], scanGCMNonce
			sealed := k.Seal(nil, nonce, plaintext, plaintext)
			got, err := k.Open(buf[:0], nonce, sealed, plaintext)
			must(err)
			mustBe(bytes.Equal(got, plaintext))
			got = k.Seal(got[:0], nonce, got, plaintext) // over the plaintext
			got[0] ^= 1
			_, err = k.Open(refused[:0], nonce, got, plaintext)
			mustBe(err != nil)
			_, err = k.Open(got[:0], nonce, got, plaintext)
			mustBe(err != nil)

			copy(buf, plaintext)
			got, err = k.NewSealer().Open(buf[:0], nil, sealer.Seal(buf[:0], nil, buf[:size], nil), nil)
			must(err)
			mustBe(bytes.Equal(got, plaintext))
			clear(got)
		}
	}
	s.do(seal)
	seal()
}

func must(err error) {
	if err != nil {
		panic(err)
	}
}

func mustBe(ok bool) {
	if !ok {
		panic("wrong tag")
	}
}
