// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package memory

import (
	"bytes"
	"crypto"
	"crypto/aes"
	"crypto/fips140"
	"errors"
	"fmt"
	"hash"
	"math/bits"
	"reflect"
	"runtime"
	"testing"
	"unsafe"

	"example.com/fastmac"
	"example.com/fastmac/internal/kernel"
	"example.com/fastmac/internal/mactest"
)

func init() { fastmac.Hardware() } // chooses all kernels, for package mactest

// gcmAssembly is whether a GMACKey is this module's, and not that of crypto/cipher.
const gcmAssembly = (runtime.GOARCH == "amd64" || runtime.GOARCH == "arm64") && !kernel.Purego

// TestSizes checks the sizes of keys and streams, and states them. Programs that have one for
// each connection depend on the sizes, so a change belongs in CHANGELOG.md.
func TestSizes(t *testing.T) {
	gmacKey64, gmacKey32, gmac64, gmac32 := uintptr(64), uintptr(56), uintptr(4136), uintptr(4132) // on crypto/cipher
	if gcmAssembly {
		gmacKey64, gmacKey32, gmac64, gmac32 = 376, 372, 168, 160
	}
	for _, test := range []struct {
		name             string
		size, on64, on32 uintptr
	}{
		{"UMACKey", unsafe.Sizeof(fastmac.UMACKey{}), 1712, 1700},
		{"UMAC", unsafe.Sizeof(fastmac.UMAC{}), 352, 340},
		{"HMACKey", unsafe.Sizeof(fastmac.HMACKey{}), 136, 136},
		{"GMACKey", unsafe.Sizeof(fastmac.GMACKey{}), gmacKey64, gmacKey32},
		{"GMAC", unsafe.Sizeof(fastmac.GMAC{}), gmac64, gmac32},
	} {
		want := test.on64
		if bits.UintSize == 32 {
			want = test.on32
		}
		if test.size != want {
			t.Errorf("%s has %d bytes, want %d", test.name, test.size, want)
		}
		t.Logf("%s: %d bytes", test.name, test.size)
	}
	// An HMAC has no more memory than its hash needs: its own, without a key, and with one.
	for h, want := range map[crypto.Hash][2]uint64{crypto.SHA256: {160, 224}, crypto.SHA512: {256, 384}} {
		key := mactest.Must(fastmac.NewHMACKey(h, nil))
		stream, own := allocated(func() { key.New() }), allocated(func() { fastmac.NewHMAC(h, nil) })
		if bits.UintSize == 64 && !fips140.Enabled() && (stream != want[0] || own != want[1] && !mactest.Allocates) {
			t.Errorf("HMAC with %v: %d bytes, with its own key %d, want %d", h, stream, own, want)
		}
		t.Logf("HMAC with %v: %d bytes, with its own key %d", h, stream, own)
	}
	// One type has room for all tag sizes and for AES-256, whose schedule is 64 bytes longer.
	// What a tag of one size uses must not be more than these limits.
	for i, limit := range []int{1308, 1416, 1524, 1632} {
		state := umacKeyState(i + 1)
		if state > limit {
			t.Errorf("UMAC-%d uses %d bytes of a UMACKey for AES-128, want at most %d", 32*(i+1), state, limit)
		}
		t.Logf("UMAC-%d uses %d bytes of a UMACKey for AES-128", 32*(i+1), state)
	}
	if size, most := int(unsafe.Sizeof(fastmac.UMACKey{})), umacKeyState(4)+64; size < most || size > most+88 {
		t.Errorf("a UMACKey has %d bytes, want %d, up to 40 of sizes and pointers, and 48 that place the L1 key", size, most)
	}
}

// allocated returns how many bytes of the heap a call of f takes: the least of several results, because the
// runtime allocates too, such as for a thread that the garbage collector starts.
func allocated(f func()) uint64 {
	const calls = 1000
	least := ^uint64(0)
	for range 5 {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		for range calls {
			f()
		}
		runtime.ReadMemStats(&after)
		least = min(least, (after.TotalAlloc-before.TotalAlloc)/calls)
	}
	return least
}

// umacKeyState returns how many bytes of a UMACKey for AES-128 tags of n iterations use: the
// key schedule of the pads and the keys of L1, L2 and L3. L1 begins 16 bytes later in each.
func umacKeyState(n int) int {
	const schedule, l1, shift, most = 11 * aes.BlockSize, 1024, 16, 4
	size := func(field string) int { return len(mactest.Field(new(fastmac.UMACKey), field)) }
	return schedule + l1 + shift*(n-1) + n*(size("uhash.l2")+size("uhash.l3")+size("uhash.l3High"))/most
}

// TestInitReplaces checks that Init of a small key leaves nothing of a large one.
func TestInitReplaces(t *testing.T) { mactest.ForAllKernels(t, mactest.AES, testInitReplaces) }

func testInitReplaces(t *testing.T) {
	large, small := bytes.Repeat([]byte{0xa7}, 128), []byte("0123456789abcdef")
	type replacer struct {
		name         string
		contents     func() []byte
		large, small func() error
	}
	keys := func() []replacer {
		h, u, g := new(fastmac.HMACKey), new(fastmac.UMACKey), new(fastmac.GMACKey)
		all := []replacer{
			{"HMACKey", func() []byte { return mactest.Contents(h) }, func() error { return h.Init(crypto.SHA512, large) }, func() error { return h.Init(crypto.SHA256, small) }},
			{"UMACKey", func() []byte { return mactest.Contents(u) }, func() error { return u.Init(large[:32], 16) }, func() error { return u.Init(small, 4) }},
		}
		if gcmAssembly && fastmac.RequireGCM() == nil {
			all = append(all, replacer{"GMACKey", func() []byte { return mactest.Contents(g) }, func() error { return g.Init(large[:32]) }, func() error { return g.Init(small) }})
		}
		return all
	}
	replaced, fresh := keys(), keys()
	for i, k := range replaced {
		if err := errors.Join(k.large(), k.small(), fresh[i].small()); err != nil {
			t.Fatal(k.name, err)
		}
		if k.name == "UMACKey" && kernel.NewReport().AES == "stdlib" {
			continue // it has pointers to crypto/aes
		}
		if !bytes.Equal(k.contents(), fresh[i].contents()) {
			t.Errorf("%s: not as if it had never had another key", k.name)
		}
	}
}

// TestPointers checks which keys may be placed outside Go's memory. An HMACKey has no
// pointers, nor has a GMACKey on amd64 and arm64. The pointers of a UMACKey are nil if AES is not crypto/aes.
func TestPointers(t *testing.T) { mactest.ForAllKernels(t, mactest.AES, testPointers) }

func testPointers(t *testing.T) {
	if found := pointers(reflect.ValueOf(mactest.Must(fastmac.NewHMACKey(crypto.SHA256, []byte("key")))).Elem(), ""); len(found) > 0 {
		t.Errorf("HMACKey has pointers: %v", found)
	}
	if gcmAssembly {
		if found := pointers(reflect.ValueOf(new(fastmac.GMACKey)).Elem(), ""); len(found) > 0 {
			t.Errorf("GMACKey has pointers: %v", found)
		}
	}
	for _, size := range mactest.UMACTagSizes {
		set := 0
		found := pointers(reflect.ValueOf(mactest.Must(fastmac.NewUMACKey(make([]byte, 16), size))).Elem(), "")
		for _, v := range found {
			if !v.IsZero() {
				set++
			}
		}
		if std := kernel.NewReport().AES == "stdlib"; std != (set > 0) {
			t.Errorf("UMACKey with tags of %d bytes has %d pointers that are not nil, of %v; crypto/aes in use: %v", size, set, found, std)
		}
	}
}

// pointers returns all parts of v that the garbage collector may follow, by their paths.
func pointers(v reflect.Value, path string) map[string]reflect.Value {
	found := make(map[string]reflect.Value)
	part := func(v reflect.Value, name string) {
		for path, pointer := range pointers(v, path+name) {
			found[path] = pointer
		}
	}
	switch v.Kind() {
	case reflect.Struct:
		for i := range v.NumField() {
			part(v.Field(i), "."+v.Type().Field(i).Name)
		}
	case reflect.Array:
		for i := range v.Len() {
			part(v.Index(i), fmt.Sprintf("[%d]", i))
		}
	case reflect.Bool, reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64,
		reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64, reflect.Uintptr:
	default:
		found[path] = v
	}
	return found
}

// TestFinalizer sets finalizers that use and destroy streams with their keys, which is
// possible only if a stream is at the beginning of its memory. It checks that a clone, which
// uses the key, keeps the finalizer from running.
func TestFinalizer(t *testing.T) {
	nonce := []byte("twelve bytes")
	final := make(chan []byte, 1)
	check := func(name string, h hash.Cloner, sum func(h hash.Hash) []byte) {
		h.Write([]byte("message"))
		c, err := h.Clone()
		if mactest.CannotClone(err) {
			runtime.SetFinalizer(h, nil)
			return
		}
		if err != nil {
			t.Fatal(err)
		}
		want := sum(h)
		h = nil
		runtime.GC()
		runtime.GC()
		if len(final) > 0 {
			t.Errorf("%s: the finalizer runs before the clone's last use", name)
		}
		if got := sum(c); !bytes.Equal(got, want) {
			t.Errorf("%s: tag %x of a clone, want %x", name, got, want)
		}
		c = nil
		for i := 0; len(final) == 0 && i < 1000; i++ {
			runtime.GC()
			runtime.Gosched()
		}
		if len(final) == 0 {
			t.Fatalf("%s: the finalizer does not run", name)
		}
		if got := <-final; !bytes.Equal(got, want) {
			t.Errorf("%s: tag %x in the finalizer, want %x", name, got, want)
		}
	}
	u, err := fastmac.NewUMAC(make([]byte, 16), fastmac.UMAC64Size)
	if err != nil {
		t.Fatal(err)
	}
	runtime.SetFinalizer(u, func(u *fastmac.UMAC) { final <- u.Tag(nil, nonce); u.Destroy() })
	check("UMAC", u, func(h hash.Hash) []byte { return h.(*fastmac.UMAC).Tag(nil, nonce) })
	h := mactest.Must(fastmac.NewHMAC(crypto.SHA256, make([]byte, 16)))
	runtime.SetFinalizer(h, func(h *fastmac.HMAC) { final <- h.Sum(nil); h.Destroy() })
	check("HMAC", h, func(h hash.Hash) []byte { return h.Sum(nil) })
	if m, err := fastmac.NewGMAC(make([]byte, 16)); err == nil {
		runtime.SetFinalizer(m, func(m *fastmac.GMAC) { final <- m.Tag(nil, nonce); m.Destroy() })
		check("GMAC", m, func(h hash.Hash) []byte { return h.(*fastmac.GMAC).Tag(nil, nonce) })
	}
}
