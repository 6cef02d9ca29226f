// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package sshmac

import (
	"bytes"
	"crypto"
	"crypto/fips140"
	"crypto/hmac"
	"crypto/sha256"
	"crypto/sha512"
	"crypto/subtle"
	"encoding/binary"
	"fmt"
	"hash"
	"math/rand/v2"
	"reflect"
	"runtime"
	"runtime/debug"
	"slices"
	"strings"
	"sync"
	"testing"
	"unsafe"

	"example.com/fastmac"
	"example.com/fastmac/internal/mactest"
	"example.com/fastmac/internal/sha2"
	"example.com/fastmac/internal/umacref"
)

func TestModes(t *testing.T) {
	type properties struct {
		keySize int
		etm     bool
		size    int
	}
	want := map[string]properties{
		"umac-64@openssh.com":           {16, false, 8},
		"umac-128@openssh.com":          {16, false, 16},
		"umac-64-etm@openssh.com":       {16, true, 8},
		"umac-128-etm@openssh.com":      {16, true, 16},
		"hmac-sha2-256":                 {32, false, 32},
		"hmac-sha2-256-etm@openssh.com": {32, true, 32},
		"hmac-sha2-512":                 {64, false, 64},
		"hmac-sha2-512-etm@openssh.com": {64, true, 64},
	}
	macs := MACs()
	for _, m := range allModes() {
		if got := (properties{m.KeySize, m.ETM, m.New(make([]byte, m.KeySize)).Size()}); got != want[m.Name] {
			t.Errorf("%s: %+v, want %+v", m.Name, got, want[m.Name])
		}
		if !slices.Contains(macs, m.Name) {
			t.Errorf("MACs() lacks %s", m.Name)
		}
		delete(want, m.Name)
	}
	if len(want) > 0 {
		t.Errorf("allModes() lacks %v", want)
	}
	var umacs []string
	for _, m := range Modes() {
		umacs = append(umacs, m.Name)
	}
	if want := []string{UMAC64, UMAC128, UMAC64ETM, UMAC128ETM}; !slices.Equal(umacs, want) {
		t.Errorf("Modes() = %v, want %v", umacs, want)
	}
	order := []string{
		"umac-64-etm@openssh.com", "umac-128-etm@openssh.com", "hmac-sha2-256-etm@openssh.com", "hmac-sha2-512-etm@openssh.com",
		"umac-64@openssh.com", "umac-128@openssh.com", "hmac-sha2-256", "hmac-sha2-512",
	}
	if !slices.Equal(macs[:len(order)], order) {
		t.Errorf("MACs() = %q, want OpenSSH's order %q", macs, order)
	}
}

func TestContract(t *testing.T) {
	mactest.CheckKernels(t, slices.Concat(mactest.UMAC, mactest.HMAC))
	for _, m := range allModes() {
		t.Run(m.Name, func(t *testing.T) {
			key := bytes.Repeat([]byte{7}, m.KeySize)
			methods := []string{"Destroy"}
			if strings.HasPrefix(m.Name, "hmac") {
				methods = append(methods, "Verify") // of a *fastmac.HMAC
			}
			mactest.TestHash(t, mactest.Subject{New: func() hash.Hash { return m.New(key) }, Methods: methods})
		})
	}
}

// TestCloneKeepsKey checks that the key of a clone is not wiped when only clones are left,
// and that Destroy of the first hash wipes it.
func TestCloneKeepsKey(t *testing.T) {
	for _, m := range allModes() {
		key := bytes.Repeat([]byte{7}, m.KeySize)
		h := m.New(key)
		h.Write([]byte("0000message"))
		want := h.Sum(nil)
		c := clone(t, clone(t, h))
		h = nil
		for range 3 {
			collected := make(chan bool)
			runtime.SetFinalizer(new([64]byte), func(*[64]byte) { close(collected) })
			runtime.GC()
			<-collected
		}
		if got := c.Sum(nil); !bytes.Equal(got, want) {
			t.Errorf("%s: tag %x of a clone, want %x", m.Name, got, want)
		}

		h = m.New(key)
		c = clone(t, h)
		h.(interface{ Destroy() }).Destroy()
		for _, destroyed := range []hash.Hash{h, c} {
			func() {
				defer func() {
					if recover() == nil {
						t.Errorf("%s: a hash can be used after Destroy", m.Name)
					}
				}()
				destroyed.Sum(nil)
			}()
		}
	}
}

// TestFinalizer checks that the key of a hash is destroyed when the hash has been dropped. Nothing
// can read the memory of the hash then, so the hash gets a key that the test has too.
func TestFinalizer(t *testing.T) {
	for _, m := range allModes() {
		raw := make([]byte, m.KeySize)
		var isDestroyed func() bool
		switch h := m.New(raw).(type) {
		case *packetUMAC:
			k := mactest.Must(fastmac.NewUMACKey(raw, h.Size()))
			setPointer(h.u, "key", k)
			isDestroyed = func() (is bool) {
				defer func() { is = recover() != nil }()
				k.Size()
				return false
			}
		case *fastmac.HMAC:
			if fips140.Enabled() {
				runtime.SetFinalizer(h, func(*fastmac.HMAC) {}) // ends the process if there is one
				continue
			}
			key := new(sha2.KeyRoom)
			key[0][0] = 1
			message := *(**unsafe.Pointer)(pointer(h, "message"))
			*message = unsafe.Pointer(key) // its first field points to the key
			isDestroyed = func() bool { return key[0][0] == 0 }
		}
		destroyed := false
		for i := 0; i < 100 && !destroyed; i++ {
			// In a finalizer, because all of them run in one goroutine.
			answer := make(chan bool, 1)
			runtime.SetFinalizer(new([64]byte), func(*[64]byte) { answer <- isDestroyed() })
			runtime.GC()
			destroyed = <-answer
		}
		if !destroyed {
			t.Errorf("%s: the key of a hash that was dropped is not destroyed", m.Name)
		}
	}
}

// setPointer sets a field of a stream of package fastmac.
func setPointer[T any](stream any, field string, p *T) {
	*(**T)(pointer(stream, field)) = p
}

// pointer returns the address of a field of a stream.
func pointer(stream any, field string) unsafe.Pointer {
	return reflect.ValueOf(stream).Elem().FieldByName(field).Addr().UnsafePointer()
}

// TestLastUse computes tags in hashes that are unreachable from the moment at which Sum
// needs them no longer, and checks that no finalizer destroys them before.
func TestLastUse(t *testing.T) {
	rounds := 50
	if mactest.Long() {
		rounds = 500
	}
	defer debug.SetGCPercent(debug.SetGCPercent(20))
	packet := make([]byte, 700)
	for _, m := range allModes() {
		key := bytes.Repeat([]byte{7}, m.KeySize)
		h := m.New(key)
		h.Write(packet)
		want := h.Sum(nil)
		var group sync.WaitGroup
		for range 3 {
			group.Go(func() {
				hashes := make([]hash.Hash, 100)
				for range rounds {
					for i := range hashes {
						hashes[i] = m.New(key)
						hashes[i].Write(packet)
					}
					for i := range hashes {
						h := hashes[i]
						hashes[i] = nil
						if got := h.Sum(nil); !bytes.Equal(got, want) {
							t.Errorf("%s: tag %x, want %x", m.Name, got, want)
							return
						}
					}
				}
			})
		}
		group.Wait()
	}
}

func clone(t *testing.T, h hash.Hash) hash.Hash {
	t.Helper()
	c, err := h.(hash.Cloner).Clone()
	if mactest.CannotClone(err) {
		t.Skip(err)
	}
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// standard returns crypto/hmac's hash for a mode of HMAC, and nil for one of UMAC.
func standard(m Mode, key []byte) hash.Hash {
	switch m.KeySize {
	case sha256.Size:
		return hmac.New(sha256.New, key)
	case sha512.Size:
		return hmac.New(sha512.New, key)
	}
	return nil
}

// TestPackets computes tags as an SSH transport does and compares them with those
// of RFC 4418 and of crypto/hmac, under odd and even sequence numbers.
func TestPackets(t *testing.T) {
	rng := rand.NewChaCha8([32]byte([]byte("TestPackets.    seed of 32 bytes")))
	for _, m := range allModes() {
		key := make([]byte, m.KeySize)
		rng.Read(key)
		h := m.New(key)
		for i := range 300 {
			seq := uint32(i)
			if i > 200 {
				seq = uint32(rng.Uint64())
			}
			packet := make([]byte, rng.Uint64()%2000)
			if i%7 == 0 {
				packet = make([]byte, h.BlockSize()-1+i%3)
			}
			rng.Read(packet)

			number := binary.BigEndian.AppendUint32(nil, seq)
			var want []byte
			if std := standard(m, key); std == nil {
				want = umacref.UMAC(key, packet, binary.BigEndian.AppendUint64(nil, uint64(seq)), h.Size())
			} else {
				std.Write(number)
				std.Write(packet)
				want = std.Sum(nil)
			}

			h.Reset()
			if i%3 == 0 { // a packet that is abandoned before its tag
				h.Write(number)
				h.Write(packet[len(packet)/2:])
				h.Reset()
			}
			if i%5 == 0 { // the number in pieces
				h.Write(number[:i%4])
				number = number[i%4:]
			}
			h.Write(number)
			cut := rng.Uint64() % uint64(len(packet)+1)
			h.Write(packet[:cut])
			h.Write(packet[cut:])
			// In CBC mode the tag is appended to the packet itself.
			if got := h.Sum(packet); !bytes.Equal(got[len(packet):], want) || !bytes.Equal(got[:len(packet)], packet) {
				t.Fatalf("%s: packet %d of %d bytes: tag %x, want %x", m.Name, seq, len(packet), got[len(packet):], want)
			}
		}
	}
}

// TestVectors uses the vectors of testdata that have an SSH key's size, except for messages
// that no packet has. The tags of UMAC are those under a sequence number: the vector's xor two
// pads of umacref. Those of HMAC have no number; the first bytes of the message are in its place.
func TestVectors(t *testing.T) {
	const maxPacket = 256 << 10
	tags, comparisons := 0, 0
	compare := func(m Mode, name string, key, packet, want []byte) {
		h := m.New(key)
		for _, cut := range []int{0, min(4, len(packet)), len(packet) / 2, len(packet)} {
			h.Reset()
			h.Write(packet[:cut])
			h.Write(packet[cut:])
			comparisons++
			if got := h.Sum(nil); !bytes.Equal(got, want) {
				t.Errorf("%s: %s: tag %x, want %x", name, m.Name, got, want)
			}
		}
		if got := clone(t, h).Sum(nil); !bytes.Equal(got, want) {
			t.Errorf("%s: %s: tag of a clone %x, want %x", name, m.Name, got, want)
		}
		comparisons++
	}
	seq := binary.BigEndian.AppendUint32(nil, 1<<32-5)
	nonce := append(make([]byte, 4), seq...)
	for _, v := range mactest.UMACVectors(t) {
		if len(v.Key) != umacKeySize || v.Size > maxPacket {
			continue
		}
		packet := append(bytes.Clone(seq), v.Msg()...)
		for size, want := range v.Tags {
			tag := bytes.Clone(want)
			subtle.XORBytes(tag, tag, umacref.PDF(v.Key, v.Nonce, size))
			subtle.XORBytes(tag, tag, umacref.PDF(v.Key, nonce, size))
			for _, m := range Modes() {
				if size == m.New(v.Key).Size() {
					compare(m, v.Name, v.Key, packet, tag)
					tags++
				}
			}
		}
	}
	umacTags := tags
	for _, m := range allModes() {
		h := map[string]crypto.Hash{hmacSHA256: crypto.SHA256, hmacSHA512: crypto.SHA512}[strings.TrimSuffix(m.Name, "-etm@openssh.com")]
		if h == 0 {
			continue
		}
		for _, v := range mactest.HMACVectors(t, h) {
			if len(v.Key) == m.KeySize && len(v.Tag) == h.Size() && v.Valid {
				compare(m, v.Name, v.Key, v.Msg, v.Tag)
				tags++
			}
		}
	}
	if umacTags != 1732 || tags-umacTags != 124 {
		t.Errorf("%d tags of UMAC and %d of HMAC in testdata, want 1732 and 124", umacTags, tags-umacTags)
	}
	t.Logf("%d tags of UMAC, %d of HMAC: %d comparisons", umacTags, tags-umacTags, comparisons)
}

func TestKeySize(t *testing.T) {
	for _, m := range allModes() {
		for _, n := range []int{0, m.KeySize - 1, m.KeySize + 1, 24} {
			func() {
				defer func() {
					want := fmt.Sprintf("sshmac: key of %d bytes for %s: want %d", n, m.Name, m.KeySize)
					if r := recover(); r != want {
						t.Errorf("%s: key of %d bytes: %v, want a panic with %q", m.Name, n, r, want)
					}
				}()
				m.New(make([]byte, n))
			}()
		}
	}
}

func TestPrinting(t *testing.T) {
	h := Modes()[0].New(bytes.Repeat([]byte{0xa7}, umacKeySize))
	h.Write(bytes.Repeat([]byte{0xa7}, 20))
	const want = "fastmac.UMAC(64-bit tag)"
	for _, verb := range strings.Fields("%v %+v %#v %s %x %d %q") {
		if got := fmt.Sprintf(verb, h); got != want {
			t.Errorf("%s: %q, want %q", verb, got, want)
		}
	}
}

// TestArgs checks that the hashes write only to what Sum appends: not to a key or a packet, and not behind these.
func TestArgs(t *testing.T) {
	a := mactest.NewArgs(rand.NewChaCha8([32]byte([]byte("TestArgs, a seed with 32 bytes.."))))
	for _, m := range allModes() {
		h := m.New(a.In(m.KeySize))
		for _, n := range []int{0, 1, 60, 300, 3000} {
			h.Reset()
			h.Write(a.In(sequenceSize))
			h.Write(a.In(n))
			h.Write(a.In(n))
			h.Sum(a.Room(n%9, h.Size()))
			h.Sum(a.RoomFor(a.In(n), h.Size()))
			a.Check(t, m.Name)
		}
	}
}
