// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package packet

import (
	"bytes"
	"crypto/fips140"
	"errors"
	"fmt"
	"math/bits"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"
	"unsafe"
	"weak"

	"example.com/fastmac"
	"example.com/fastmac/internal/mactest"
	"example.com/fastmac/packet/internal/packetref"
)

// What UMAC and GMAC have in common.
type (
	sender interface {
		Seal(packet, data []byte) ([]byte, error)
		Trailer(dst, msg []byte) ([]byte, error)
		SealBatch(batch []Packet) error
		Next() uint64
		Stop() error
		StoreErr() error
		Stats() SenderStats
		Overhead() int
		settle()
		Destroy()
	}
	receiver interface {
		Open(packet, data []byte) (msg []byte, counter uint64, err error)
		OpenBatch(batch []Packet) int
		Next() uint64
		Stop() error
		StoreErr() error
		Stats() ReceiverStats
		Forged() uint64
		settle()
		settleIfStored()
		Destroy()
	}
)

// algorithms are those of this machine.
func algorithms() []packetref.Algorithm {
	all := []packetref.Algorithm{packetref.UMAC64, packetref.UMAC128, packetref.GMAC}
	if fastmac.RequireGCM() != nil {
		all = all[:2]
	}
	return all
}

func name(a packetref.Algorithm) string {
	return [...]string{"", "UMAC-64", "UMAC-128", "GMAC"}[a]
}

// forAll runs f as a subtest for each algorithm.
func forAll(t *testing.T, f func(t *testing.T, a packetref.Algorithm)) {
	for _, a := range algorithms() {
		t.Run(name(a), func(t *testing.T) { f(t, a) })
	}
}

func newSender(a packetref.Algorithm, c Config, n Counters) sender {
	c.TagSize = a.TagSize()
	if a == packetref.GMAC {
		return mactest.Must(NewGMACSender(c, n))
	}
	return mactest.Must(NewUMACSender(c, n))
}

func newReceiver(a packetref.Algorithm, c Config, n Counters) receiver {
	c.TagSize = a.TagSize()
	if a == packetref.GMAC {
		return mactest.Must(NewGMACReceiver(c, n))
	}
	return mactest.Must(NewUMACReceiver(c, n))
}

// refKey is the reference for a configuration and a Secret that is new.
func refKey(a packetref.Algorithm, c Config) packetref.Key { return refKeyOf(a, c, SecretIsNew()) }

// refKeyOf is the reference for a configuration.
func refKeyOf(a packetref.Algorithm, c Config, n Counters) packetref.Key {
	return packetref.Key{Algorithm: a, Kind: packetref.Kind(n.kind), Secret: c.Secret, Session: n.session, Sender: c.Sender, Receiver: c.Receiver, Epoch: c.Epoch, DataSize: c.DataSize}
}

// config is one for tests, in which a Store takes no time.
func config() Config {
	return Config{Secret: []byte("a secret of 32 bytes, for tests."), Sender: "client", Epoch: 5, Now: func() time.Time { return time.Time{} }}
}

// sealAt returns a packet with this counter.
func sealAt(t testing.TB, a packetref.Algorithm, c Config, counter uint64, msg string) []byte {
	t.Helper()
	s := newSender(a, c, between(counter, counter+1))
	defer s.Destroy()
	return mactest.Must(s.Seal([]byte(msg), make([]byte, c.DataSize)))
}

// mustOpen opens a packet that is good.
func mustOpen(r receiver, packet, data []byte) {
	if _, _, err := r.Open(packet, data); err != nil {
		panic(err)
	}
}

// pattern returns n bytes.
func pattern(n int) []byte {
	b := make([]byte, n)
	for i := range b {
		b[i] = byte(i % 251)
	}
	return b
}

// errorOf returns the error for a verdict of the reference.
func errorOf(r packetref.Result) error {
	return [...]error{nil, ErrForged, ErrReplayed, ErrOld, ErrRestarted, ErrEnd, ErrEpoch, ErrWorn, ErrNoSession}[r]
}

// TestDerive compares the derivation of keys with crypto/hkdf.
func TestDerive(t *testing.T) {
	for _, n := range []int{0, 1, 13, 63, 64, 65, 127, 128, 129, 300, 1023, 1024, 1025, 4097, 70_000} {
		for _, size := range []int{1, 2, 91, 92, 107, 108, 109, 254, 255} {
			c := config()
			c.Sender, c.Secret = string(pattern(size)), pattern(16+n)
			c.Epoch, c.DataSize, c.Receiver = uint8(n), size%17, string(pattern(n%256))
			for _, a := range algorithms() {
				counters := Counters{kind: byte(1 + (n+size)%3), session: pattern(n)}
				key := refKeyOf(a, c, counters)
				var okm [okmSize]byte
				c.derive(&okm, byte(a), &counters)
				for _, role := range []byte{sending, receiving} {
					if id := c.storeID(byte(a), &counters, role); !bytes.Equal(id[:], key.StoreID(role)) {
						t.Errorf("%v, role %d: id %x, want %x", a, role, id, key.StoreID(role))
					}
				}
				if want := key.OKM(); !bytes.Equal(okm[:], want) {
					t.Errorf("%v, session of %d bytes, sender of %d: %x, want %x", a, n, size, okm, want)
				}
			}
		}
	}
}

// TestEveryBit opens packets with one bit changed, cut and lengthened ones, and halves of two.
func TestEveryBit(t *testing.T) {
	forAll(t, func(t *testing.T, a packetref.Algorithm) {
		for _, dataSize := range []int{0, 16} {
			c := config()
			c.DataSize = dataSize
			s, r := newSender(a, c, SecretIsNew()), newReceiver(a, c, SecretIsNew())
			data := pattern(dataSize)
			var wrong uint64
			refuse := func(what string, packet, data []byte) {
				t.Helper()
				before, forged := string(packet), r.Forged()
				msg, counter, err := r.Open(packet, data)
				switch {
				case err == ErrForged && len(packet) >= s.Overhead():
					wrong++
				case err == ErrForged, err == ErrEpoch:
				default:
					t.Fatalf("%s: %v", what, err)
				}
				if msg != nil || counter != 0 {
					t.Fatalf("%s: returns %q, %d", what, msg, counter)
				}
				if string(packet) != before {
					t.Fatalf("%s: the packet is changed", what)
				}
				if r.Forged() != wrong {
					t.Fatalf("%s: Forged is %d, and was %d: want %d", what, r.Forged(), forged, wrong)
				}
			}
			sizes := []int{1472}
			for n := 0; n <= 130; n += 1 + n/40*pick(testing.Short() || mactest.Race, 9, 0) {
				sizes = append(sizes, n)
			}
			for _, n := range sizes {
				next := r.Next()
				packet := mactest.Must(s.Seal(pattern(n), data))
				other := mactest.Must(s.Seal(bytes.Repeat([]byte{0x5a}, n), data))
				for i := range packet {
					if i > 64 && i < len(packet)-100 {
						continue
					}
					for bit := range 8 {
						packet[i] ^= 1 << bit
						refuse(fmt.Sprintf("%d bytes, bit %d of byte %d", n, bit, i), packet, data)
						packet[i] ^= 1 << bit
					}
					refuse(fmt.Sprintf("%d bytes, cut to %d", n, i), packet[:i:i], data)
					refuse(fmt.Sprintf("%d bytes without the first %d", n, i+1), packet[i+1:], data)
					joined := append(packet[:i:i], other[i:]...)
					if !bytes.Equal(joined, packet) && !bytes.Equal(joined, other) {
						refuse(fmt.Sprintf("%d bytes, %d of them of another", n, i), joined, data)
					}
				}
				for i := range 8 * dataSize {
					data[i/8] ^= 1 << (i % 8)
					refuse(fmt.Sprintf("%d bytes, bit %d of the data", n, i), packet, data)
					data[i/8] ^= 1 << (i % 8)
				}
				for _, b := range []byte{0, 1, 0xff, packet[len(packet)-1]} {
					refuse(fmt.Sprintf("%d bytes, one more", n), append(packet[:len(packet):len(packet)], b), data)
				}
				if r.Next() != next {
					t.Fatalf("Next is %d, want %d", r.Next(), next)
				}
				if msg, _, err := r.Open(packet, data); err != nil || !bytes.Equal(msg, pattern(n)) {
					t.Fatalf("%d bytes: %q, %v", n, msg, err)
				}
				if _, _, err := r.Open(other, data); err != nil {
					t.Fatal(err)
				}
			}
		}
	})
}

// TestCross opens packets of 128 configurations with the receivers of all.
func TestCross(t *testing.T) {
	type end struct {
		sender
		receiver
		data []byte
	}
	var ends []end
	for i := range 128 {
		c := config()
		a := packetref.UMAC64
		switch i / 32 {
		case 1:
			c.DataSize = 8
		case 2:
			a = packetref.UMAC128
		case 3:
			if a = packetref.GMAC; fastmac.RequireGCM() != nil {
				continue
			}
		}
		if i&1 != 0 {
			c.Sender = "server"
		}
		n := NewSession(pattern(32 + i&2))
		if i&4 != 0 {
			c.Secret = []byte("another secret, for another peer")
		}
		if i&8 != 0 {
			c.Epoch++
		}
		if i&16 != 0 {
			c.Receiver = "server 2"
		}
		ends = append(ends, end{newSender(a, c, n), newReceiver(a, c, n), make([]byte, c.DataSize)})
	}
	for i, from := range ends {
		packet := mactest.Must(from.Seal(make([]byte, 40), from.data))
		for j, to := range ends {
			_, _, err := to.Open(packet, to.data)
			if i == j && err != nil || i != j && err != ErrForged && err != ErrEpoch {
				t.Errorf("from %d to %d: %v", i, j, err)
			}
		}
	}
}

// TestPair has a connection with both directions, and reflects a packet. The names are those of
// each direction, and another pair of one end has other keys.
func TestPair(t *testing.T) {
	c := config()
	c.Sender, c.TagSize = "", 16
	test := func(s1, s2 sender, r1, r2 receiver) {
		t.Helper()
		for _, way := range []struct {
			sender
			to, back receiver
		}{{s1, r2, r1}, {s2, r1, r2}} {
			packet := mactest.Must(way.Seal([]byte("hello"), nil))
			if _, _, err := way.back.Open(packet, nil); err != ErrForged {
				t.Errorf("reflected: %v", err)
			}
			if msg, n, err := way.to.Open(packet, nil); string(msg) != "hello" || n != 0 || err != nil {
				t.Errorf("%q, %d, %v", msg, n, err)
			}
		}
		named := c
		named.Sender, named.Receiver = "a", "b"
		_, umac := s1.(*UMACSender)
		a := pick(umac, packetref.UMAC128, packetref.GMAC)
		if _, _, err := r2.Open(sealAt(t, a, named, 5, ""), nil); err != nil {
			t.Errorf("from the sender that the pair of a has: %v", err)
		}
		if _, _, err := newReceiver(a, named, SecretIsNew()).Open(mactest.Must(s1.Seal(nil, nil)), nil); err != nil {
			t.Errorf("to the receiver that the pair of b has: %v", err)
		}
		named.Receiver = "c"
		if _, _, err := newReceiver(a, named, SecretIsNew()).Open(mactest.Must(s1.Seal(nil, nil)), nil); err != ErrForged {
			t.Errorf("to another peer of a: %v", err)
		}
	}
	s1, r1, err := NewUMACPair(c, "a", "b", SecretIsNew())
	if err != nil {
		t.Fatal(err)
	}
	s2, r2, err := NewUMACPair(c, "b", "a", SecretIsNew())
	if err != nil {
		t.Fatal(err)
	}
	test(s1, s2, r1, r2)
	if fastmac.RequireGCM() == nil {
		s1, r1, err := NewGMACPair(c, "a", "b", SecretIsNew())
		if err != nil {
			t.Fatal(err)
		}
		s2, r2, err := NewGMACPair(c, "b", "a", SecretIsNew())
		if err != nil {
			t.Fatal(err)
		}
		test(s1, s2, r1, r2)
	}
	named, to := c, c
	named.Sender, to.Receiver = "a", "b"
	for _, bad := range []struct {
		c        Config
		me, peer string
		n        Counters
	}{
		{c, "a", "a", SecretIsNew()},
		{named, "a", "b", SecretIsNew()},
		{to, "a", "b", SecretIsNew()},
		{c, "a", "", SecretIsNew()},
		{c, "", "b", SecretIsNew()},
		{c, "a", "b", Counters{}},
		{c, "a", "b", Stored(new(memory), nil)},
		{c, "a", "b", Stored(nil, new(memory))},
	} {
		if s, r, err := NewUMACPair(bad.c, bad.me, bad.peer, bad.n); s != nil || r != nil || err == nil {
			t.Errorf("UMAC, %q and %q: no error", bad.me, bad.peer)
		}
		if s, r, err := NewGMACPair(bad.c, bad.me, bad.peer, bad.n); s != nil || r != nil || err == nil {
			t.Errorf("GMAC, %q and %q: no error", bad.me, bad.peer)
		}
	}
}

// TestBadConfig has what constructors refuse. What there was before Init stays.
func TestBadConfig(t *testing.T) {
	good := config()
	good.TagSize = 16
	var us UMACSender
	var ur UMACReceiver
	var gs GMACSender
	var gr GMACReceiver
	inits := map[string]func(c Config, n Counters) error{"UMACSender": us.Init, "UMACReceiver": ur.Init}
	storage := map[string]func() []byte{
		"UMACSender": func() []byte { return mactest.Storage(&us) }, "UMACReceiver": func() []byte { return mactest.Storage(&ur) },
		"GMACSender": func() []byte { return mactest.Storage(&gs) }, "GMACReceiver": func() []byte { return mactest.Storage(&gr) },
	}
	if fastmac.RequireGCM() == nil {
		inits["GMACSender"], inits["GMACReceiver"] = gs.Init, gr.Init
	} else if err := gs.Init(good, SecretIsNew()); !errors.Is(err, errors.ErrUnsupported) {
		t.Errorf("GMACSender: %v", err)
	} else if err := gr.Init(good, SecretIsNew()); !errors.Is(err, errors.ErrUnsupported) {
		t.Errorf("GMACReceiver: %v", err)
	}
	for what, test := range map[string]struct {
		change func(c *Config, n *Counters)
		only   string // in the names of those that refuse it
	}{
		"short secret": {func(c *Config, n *Counters) { c.Secret = c.Secret[:15] }, ""},
		"the limits": {func(c *Config, n *Counters) {
			c.Secret, c.Sender, c.Receiver = c.Secret[:16], strings.Repeat("x", 255), strings.Repeat("y", 255)
			c.DataSize, c.Window, *n = 16, 1<<16, between(1<<56-1<<48, 1<<56)
		}, "none"},
		"no secret":        {func(c *Config, n *Counters) { c.Secret = nil }, ""},
		"no sender":        {func(c *Config, n *Counters) { c.Sender = "" }, ""},
		"long receiver":    {func(c *Config, n *Counters) { c.Receiver = strings.Repeat("x", 256) }, ""},
		"long sender":      {func(c *Config, n *Counters) { c.Sender = strings.Repeat("x", 256) }, ""},
		"no tag size":      {func(c *Config, n *Counters) { c.TagSize = 0 }, ""},
		"tag size 12":      {func(c *Config, n *Counters) { c.TagSize = 12 }, ""},
		"tag size in bits": {func(c *Config, n *Counters) { c.TagSize = 128 }, ""},
		"tag size 8":       {func(c *Config, n *Counters) { c.TagSize = 8 }, "GMAC"},
		"data size 17":     {func(c *Config, n *Counters) { c.DataSize = 17 }, ""},
		"data size -1":     {func(c *Config, n *Counters) { c.DataSize = -1 }, ""},
		"window 512":       {func(c *Config, n *Counters) { c.Window = 512 }, "Receiver"},
		"window 1025":      {func(c *Config, n *Counters) { c.Window = 1025 }, "Receiver"},
		"window 2^17":      {func(c *Config, n *Counters) { c.Window = 1 << 17 }, "Receiver"},
		"window -1024":     {func(c *Config, n *Counters) { c.Window = -1024 }, "Receiver"},
		"ahead above 2^48": {func(c *Config, n *Counters) { c.Ahead = maxRange + 1 }, ""},
		"age -1":           {func(c *Config, n *Counters) { c.MaxAge = -1 }, ""},
		"no counters":      {func(c *Config, n *Counters) { *n = Counters{} }, ""},
		"no stores":        {func(c *Config, n *Counters) { *n = Stored(nil, nil) }, ""},
		"one store":        {func(c *Config, n *Counters) { m := new(memory); *n = Stored(m, m) }, ""},
		"no store to send": {func(c *Config, n *Counters) { *n = Stored(nil, new(memory)) }, "Sender"},
		"no other store":   {func(c *Config, n *Counters) { *n = Stored(new(memory), nil) }, "Receiver"},
		"store that fails": {func(c *Config, n *Counters) { *n = Stored(&memory{fail: 1}, &memory{fail: 1}) }, ""},
		"store of another": {func(c *Config, n *Counters) { *n = Stored(&memory{id: [16]byte{1}}, &memory{id: [16]byte{2}}) }, ""},
		"store at the end": {func(c *Config, n *Counters) { *n = Stored(&memory{value: maxEnd}, &memory{value: maxEnd}) }, ""},
		"no session":       {func(c *Config, n *Counters) { *n = NewSession(nil) }, ""},
		"half a session":   {func(c *Config, n *Counters) { *n = NewSession(pattern(31)) }, ""},
		"session of zeros": {func(c *Config, n *Counters) { *n = NewSession(make([]byte, 33)) }, ""},
		"equal halves":     {func(c *Config, n *Counters) { *n = NewSession(slices.Repeat(pattern(16), 2)) }, ""},
		"client of zeros":  {func(c *Config, n *Counters) { *n = NewSession(append(make([]byte, 16), pattern(16)...)) }, ""},
		"server of zeros":  {func(c *Config, n *Counters) { *n = NewSession(append(pattern(16), make([]byte, 16)...)) }, ""},
	} {
		for who, init := range inits {
			if err := init(good, steps(3, 9)); err != nil {
				t.Fatal(err)
			}
			c, n := good, SecretIsNew()
			c.Secret = []byte("another secret, which is right..")
			test.change(&c, &n)
			before := bytes.Clone(storage[who]())
			err := init(c, n)
			if refused := err != nil; refused != strings.Contains(who, test.only) {
				t.Errorf("%s: %s: %v", who, what, err)
			} else if refused && !strings.HasPrefix(err.Error(), "packet: ") {
				t.Errorf("%s: %s: %v", who, what, err)
			}
			if err != nil && !bytes.Equal(storage[who](), before) {
				t.Errorf("%s: %s: changed", who, what)
			}
		}
	}
	for what, err := range map[string]error{
		"NewUMACSender":   second(NewUMACSender(Config{}, SecretIsNew())),
		"NewUMACReceiver": second(NewUMACReceiver(Config{}, SecretIsNew())),
		"NewGMACSender":   second(NewGMACSender(Config{}, SecretIsNew())),
		"NewGMACReceiver": second(NewGMACReceiver(Config{}, SecretIsNew())),
	} {
		if err == nil {
			t.Errorf("%s: no error", what)
		}
	}
}

func second[T any](_ T, err error) error { return err }

// TestCopied shows what the documents say: two senders with equal settings repeat numbers, and
// those with different sessions have different keys.
func TestCopied(t *testing.T) {
	forAll(t, func(t *testing.T, a packetref.Algorithm) {
		c := config()
		first := mactest.Must(newSender(a, c, SecretIsNew()).Seal([]byte("message"), nil))
		again := mactest.Must(newSender(a, c, SecretIsNew()).Seal([]byte("message"), nil))
		if !bytes.Equal(first, again) {
			t.Error("equal senders differ")
		}
		if _, _, err := newReceiver(a, c, NewSession(pattern(32))).Open(first, nil); err != ErrForged {
			t.Errorf("another session: %v", err)
		}
	})
}

// TestInPlace has a message with and without room, in the middle of a buffer, and a Trailer.
func TestInPlace(t *testing.T) {
	forAll(t, func(t *testing.T, a packetref.Algorithm) {
		c := config()
		c.DataSize = 4
		s, r := newSender(a, c, SecretIsNew()), newReceiver(a, c, SecretIsNew())
		buffer := bytes.Repeat([]byte{0xee}, 200)
		packet := mactest.Must(s.Seal(buffer[10:20], buffer[12:16]))
		if end := 20 + s.Overhead(); &packet[0] != &buffer[10] || !bytes.Equal(buffer[end:], bytes.Repeat([]byte{0xee}, 200-end)) {
			t.Error("not in place")
		}
		msg, _, err := r.Open(packet, packet[2:6])
		if err != nil || len(msg) != 10 || &msg[0] != &buffer[10] {
			t.Errorf("%q, %v", msg, err)
		}
		packet = mactest.Must(s.Seal(buffer[:3:3], buffer[:4]))
		if msg, counter, err := r.Open(packet, buffer[:4]); err != nil || counter != 1 || len(msg) != 3 || &msg[0] == &buffer[0] {
			t.Errorf("without room: %q, %d, %v", msg, counter, err)
		}
		mactest.MustPanic(t, "Trailer", "DataSize", func() { s.Trailer(nil, nil) })
		mactest.MustPanic(t, "Seal", "data of 3 bytes: want 4", func() { s.Seal(nil, buffer[:3]) })
		mactest.MustPanic(t, "Open", "data of 0 bytes: want 4", func() { r.Open(packet, nil) })
		batch := []Packet{{Bytes: packet, Data: buffer[:4]}, {Bytes: packet, Data: buffer[:5]}}
		mactest.MustPanic(t, "SealBatch", "packet 1: data of 5 bytes: want 4", func() { s.SealBatch(batch) })
		mactest.MustPanic(t, "OpenBatch", "packet 1: data of 5 bytes: want 4", func() { r.OpenBatch(batch) })
		if s.Next() != 2 {
			t.Errorf("Next is %d after panics, want 2", s.Next())
		}

		c.DataSize = 0
		s, r = newSender(a, c, SecretIsNew()), newReceiver(a, c, SecretIsNew())
		for range 3 {
			trailer := mactest.Must(s.Trailer([]byte("head"), []byte("a message")))
			packet := append([]byte("a message"), trailer[4:]...)
			if msg, _, err := r.Open(packet, nil); err != nil || string(msg) != "a message" || string(trailer[:4]) != "head" {
				t.Errorf("Trailer: %q, %v", msg, err)
			}
		}
	})
}

func TestEpoch(t *testing.T) {
	forAll(t, func(t *testing.T, a packetref.Algorithm) {
		c := config()
		packet := sealAt(t, a, c, 1<<56-1, "a message")
		if e, ok := Epoch(packet, a.TagSize()); e != 5 || !ok {
			t.Errorf("%d, %v", e, ok)
		}
		if e, ok := Epoch(packet[9:], a.TagSize()); e != 5 || !ok {
			t.Errorf("no message: %d, %v", e, ok)
		}
		if e, ok := Epoch(packet[10:], a.TagSize()); e != 0 || ok {
			t.Errorf("short: %d, %v", e, ok)
		}
	})
	mactest.MustPanic(t, "Epoch", "want 8 or 16", func() { Epoch(make([]byte, 99), 12) })
}

// TestDestroy checks that nothing is left, and that nothing works afterwards.
func TestDestroy(t *testing.T) {
	var us UMACSender
	var ur UMACReceiver
	var gs GMACSender
	var gr GMACReceiver
	check := func(who string, s sender, r receiver, init func(Config, Counters) error, storage func() []byte) {
		c := config()
		c.TagSize = 16
		for i, state := range []string{"zero", "destroyed", "destroyed again"} {
			if s != nil {
				for what, call := range map[string]func(){
					"Seal":     func() { s.Seal(nil, nil) },
					"Trailer":  func() { s.Trailer(nil, nil) },
					"Batch":    func() { s.SealBatch(nil) },
					"Stats":    func() { s.Stats() },
					"StoreErr": func() { s.StoreErr() },
					"Stop":     func() { s.Stop() },
					"Overhead": func() { s.Overhead() },
				} {
					mactest.MustPanic(t, state+" "+who+"."+what, "use of a "+pick(s != nil, "sender", "receiver")+" that was destroyed or never set up", call)
				}
				s.Destroy()
			} else {
				for what, call := range map[string]func(){
					"Open":     func() { r.Open(nil, nil) },
					"Batch":    func() { r.OpenBatch(nil) },
					"Stats":    func() { r.Stats() },
					"StoreErr": func() { r.StoreErr() },
					"Stop":     func() { r.Stop() },
				} {
					mactest.MustPanic(t, state+" "+who+"."+what, "use of a "+pick(s != nil, "sender", "receiver")+" that was destroyed or never set up", call)
				}
				r.Destroy()
			}
			if i == 2 {
				break
			}
			c.Window = maxWindow >> (6 * i) // with a bitmap of its own, and without
			if err := init(c, steps(3, 9)); err != nil {
				t.Skip(err)
			}
			if s != nil {
				s.Seal(nil, nil)
				s.Destroy()
			} else {
				packet := sealAt(t, pick(who[0] == 'U', packetref.UMAC128, packetref.GMAC), c, 4, "")
				if _, _, err := r.Open(packet, nil); err != nil {
					t.Error(err)
				}
				if packet[23]++; r.Forged() != 0 {
					t.Errorf("Forged is %d", r.Forged())
				}
				if _, _, err := r.Open(packet, nil); err != ErrForged {
					t.Error(err)
				}
				r.Destroy()
			}
			for i, b := range storage() {
				if b != 0 {
					t.Errorf("%s: byte %d is %#x after Destroy", who, i, b)
				}
			}
		}
	}
	check("UMACSender", &us, nil, us.Init, func() []byte { return mactest.Contents(&us) })
	check("UMACReceiver", nil, &ur, ur.Init, func() []byte { return mactest.Contents(&ur) })
	check("GMACSender", &gs, nil, gs.Init, func() []byte { return mactest.Contents(&gs) })
	check("GMACReceiver", nil, &gr, gr.Init, func() []byte { return mactest.Contents(&gr) })
}

func TestPrinting(t *testing.T) {
	c := config()
	for _, verb := range []string{"%v", "%+v", "%#v", "%s", "%x", "%q", "%d"} {
		for _, v := range []any{c, &c} {
			if got := fmt.Sprintf(verb, v); got != "packet.Config" {
				t.Errorf("%s of a Config: %q", verb, got)
			}
		}
	}
	for _, size := range []int{8, 16} {
		c.TagSize = size
		mactest.Printing(t, fmt.Sprintf("packet.UMACSender(%d-bit tag)", 8*size), mactest.Must(NewUMACSender(c, SecretIsNew())))
		mactest.Printing(t, fmt.Sprintf("packet.UMACReceiver(%d-bit tag)", 8*size), mactest.Must(NewUMACReceiver(c, SecretIsNew())))
	}
	mactest.Printing(t, "packet.UMACSender(no key)", new(UMACSender))
	mactest.Printing(t, "packet.UMACReceiver(no key)", new(UMACReceiver))
	mactest.Printing(t, "packet.GMACSender(128-bit tag)", new(GMACSender))
	mactest.Printing(t, "packet.GMACReceiver(128-bit tag)", new(GMACReceiver))
	if fastmac.RequireGCM() == nil {
		mactest.Printing(t, "packet.GMACSender(128-bit tag)", mactest.Must(NewGMACSender(c, SecretIsNew())))
		mactest.Printing(t, "packet.GMACReceiver(128-bit tag)", mactest.Must(NewGMACReceiver(c, SecretIsNew())))
	}
}

// TestSizes checks that the state that changes is in cache lines of its own, and that there is
// little besides it and the key.
func TestSizes(t *testing.T) {
	if runtime.GOARCH != "amd64" {
		t.Skip("sizes of keys differ")
	}
	var us UMACSender
	var ur UMACReceiver
	var gs GMACSender
	var gr GMACReceiver
	const state, bitmap, rare, rest = 56, minWindow / 8, 64, 8
	for _, test := range []struct {
		what       string
		have, want uintptr
	}{
		{"UMACSender", unsafe.Sizeof(us), state + rest + unsafe.Sizeof(us.key)},
		{"UMACReceiver", unsafe.Sizeof(ur), state + bitmap + rare + rest + unsafe.Sizeof(ur.key)},
		{"GMACSender", unsafe.Sizeof(gs), state + rest + unsafe.Sizeof(gs.key)},
		{"GMACReceiver", unsafe.Sizeof(gr), state + bitmap + rare + rest + unsafe.Sizeof(gr.key)},
	} {
		if test.have != test.want {
			t.Errorf("%s has %d bytes, want %d", test.what, test.have, test.want)
		}
		t.Logf("%s has %d bytes", test.what, test.have)
	}
}

// TestLines checks where senders and receivers are in their cache lines, behind the 8 bytes that
// the runtime has before objects of their sizes: what changes has lines of its own, and a key
// begins 8 bytes after the start of a line, as one that NewUMACKey allocates. The runtime has
// nothing before a GMACSender, which has less than 512 bytes.
func TestLines(t *testing.T) {
	if bits.UintSize != 64 {
		t.Skip("pointers have 4 bytes")
	}
	const line, before = 64, 8
	var us UMACSender
	var ur UMACReceiver
	var gs GMACSender
	var gr GMACReceiver
	for _, test := range []struct {
		what     string
		at, want uintptr
	}{
		{"the end of UMACSender.counters", before + unsafe.Sizeof(us.counters), 0},
		{"UMACSender.key", before + unsafe.Offsetof(us.key), before},
		{"UMACReceiver.window.small", before + unsafe.Offsetof(ur.window.small), 0},
		{"the end of UMACReceiver.window", before + unsafe.Sizeof(ur.window), 0},
		{"UMACReceiver.key", before + unsafe.Offsetof(ur.key), before},
		{"GMACSender.key", unsafe.Offsetof(gs.key), 0},
		{"GMACReceiver.window.small", before + unsafe.Offsetof(gr.window.small), 0},
		{"GMACReceiver.key", before + unsafe.Offsetof(gr.key), before},
	} {
		if test.at%line != test.want {
			t.Errorf("%s is at %d of its line, want %d", test.what, test.at%line, test.want)
		}
	}
	on := struct {
		us *UMACSender
		ur *UMACReceiver
		gs *GMACSender
		gr *GMACReceiver
	}{new(UMACSender), new(UMACReceiver), new(GMACSender), new(GMACReceiver)}
	heap = &on
	for what, at := range map[string]struct {
		have unsafe.Pointer
		want uintptr
	}{
		"a UMACSender":   {unsafe.Pointer(on.us), before},
		"a UMACReceiver": {unsafe.Pointer(on.ur), before},
		"a GMACSender":   {unsafe.Pointer(on.gs), 0},
		"a GMACReceiver": {unsafe.Pointer(on.gr), before},
	} {
		if uintptr(at.have)%line != at.want {
			t.Logf("%s is at %p: the allocator of this Go release is another one", what, at.have)
		}
	}
}

// heap keeps the compiler from having objects on the stack.
var heap any

func TestAllocations(t *testing.T) {
	mactest.SkipAllocations(t)
	if fastmac.RequireAES() != nil {
		t.Skip("without AES instructions a tag may allocate")
	}
	forAll(t, func(t *testing.T, a packetref.Algorithm) {
		for _, size := range []int{0, 64, 1200, 5000} {
			c := config()
			c.DataSize = size % 3 * 8
			data := make([]byte, c.DataSize)
			s, r := newSender(a, c, SecretIsNew()), newReceiver(a, c, SecretIsNew())
			buffer := make([]byte, size, size+64)
			if n := testing.AllocsPerRun(100, func() {
				packet, err := s.Seal(buffer, data)
				if err != nil {
					t.Fatal(err)
				}
				if _, _, err := r.Open(packet, data); err != nil {
					t.Fatal(err)
				}
				packet[0]++
				if _, _, err := r.Open(packet, data); err == nil {
					t.Fatal("no error")
				}
			}); n != 0 {
				t.Errorf("%d bytes: Seal and Open allocate %v times", size, n)
			}
			batch := make([]Packet, 70)
			buffers := make([][]byte, len(batch))
			for i := range buffers {
				buffers[i] = make([]byte, size, size+64)
			}
			if n := testing.AllocsPerRun(20, func() {
				for i := range batch {
					batch[i] = Packet{Bytes: buffers[i], Data: data}
				}
				if s.SealBatch(batch) != nil || r.OpenBatch(batch) != len(batch) {
					t.Fatal("batch fails")
				}
			}); n != 0 {
				t.Errorf("%d bytes: batches allocate %v times", size, n)
			}
		}
		c := config()
		c.TagSize = a.TagSize()
		c.Sender, c.Receiver = string(pattern(maxNameSize)), string(pattern(maxNameSize))
		c.Window = minWindow
		var s UMACSender
		var r UMACReceiver
		if n := testing.AllocsPerRun(20, func() {
			if a != packetref.GMAC && (s.Init(c, steps(0, 1)) != nil || r.Init(c, steps(0, 1)) != nil) {
				t.Fatal("Init fails")
			}
		}); n != 0 && !fipsMode() {
			t.Errorf("Init allocates %v times", n)
		}
	})
}

func pick[T any](first bool, a, b T) T {
	if first {
		return a
	}
	return b
}

func fipsMode() bool { return fips140.Enabled() }

// TestSecretNotRetained checks that nothing refers to the Secret when the constructors have returned.
func TestSecretNotRetained(t *testing.T) {
	ends, secret := func() ([]any, weak.Pointer[[32]byte]) {
		secret := new([32]byte)
		copy(secret[:], pattern(32))
		c := Config{Secret: secret[:], TagSize: 16}
		s, r, err := NewUMACPair(c, "a", "b", SecretIsNew())
		if err != nil {
			t.Fatal(err)
		}
		client, server := mactest.Must(NewUMACClient(c, "a", "b")), mactest.Must(NewUMACServer(c, "b", "a"))
		if !client.Answer(mactest.Must(server.Answer(nil, client.Hello(nil)))) {
			t.Fatal("the answer is not taken")
		}
		if _, _, err := server.Open(mactest.Must(client.Seal(nil, nil)), nil); err != nil {
			t.Fatal(err)
		}
		return []any{s, r, client, server}, weak.Make(secret)
	}()
	runtime.GC()
	if secret.Value() != nil {
		t.Error("something refers to the Secret")
	}
	runtime.KeepAlive(ends)
}
