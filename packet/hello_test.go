// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package packet

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"unsafe"

	"example.com/fastmac/internal/fork"
	"example.com/fastmac/internal/kernel"
	"example.com/fastmac/internal/mactest"
	"example.com/fastmac/packet/internal/packetref"
)

// The names in tests of hellos.
const (
	testClient = "client 7"
	testServer = "server"
)

func helloConfig() Config { return Config{Secret: pattern(32), TagSize: 16} }

// What the ends of both algorithms have in common.
type (
	clientEnd interface {
		Hello(dst []byte) []byte
		Answer(answer []byte) bool
		Seal(packet, data []byte) ([]byte, error)
		Open(packet, data []byte) (msg []byte, counter uint64, err error)
		Destroy()
	}
	serverEnd interface {
		Answer(dst, hello []byte) ([]byte, error)
		Seal(packet, data []byte) ([]byte, error)
		Open(packet, data []byte) (msg []byte, counter uint64, err error)
		Stats() ServerStats
		Close()
		Destroy()
	}
)

func newClientEnd(a packetref.Algorithm, c Config) clientEnd {
	if c.TagSize = a.TagSize(); a == packetref.GMAC {
		return mactest.Must(NewGMACClient(c, testClient, testServer))
	}
	return mactest.Must(NewUMACClient(c, testClient, testServer))
}

func newServerEnd(a packetref.Algorithm, c Config) serverEnd {
	if c.TagSize = a.TagSize(); a == packetref.GMAC {
		return mactest.Must(NewGMACServer(c, testServer, testClient))
	}
	return mactest.Must(NewUMACServer(c, testServer, testClient))
}

// halves returns what a server has for batches: nil if no session is open.
func halves(s serverEnd) (sender, receiver) {
	switch s := s.(type) {
	case *UMACServer:
		if s.Sender() != nil && s.Receiver() != nil {
			return s.Sender(), s.Receiver()
		}
	case *GMACServer:
		if s.Sender() != nil && s.Receiver() != nil {
			return s.Sender(), s.Receiver()
		}
	}
	return nil, nil
}

// headOf is what a server answers next, or zeros, with the epoch of its last session.
func headOf(s serverEnd) (head [helloHeadSize]byte, epoch byte) {
	switch s := s.(type) {
	case *UMACServer:
		return s.head, s.epoch
	case *GMACServer:
		return s.head, s.epoch
	}
	panic(s)
}

// A helloTest is a server, and clients for it.
type helloTest struct {
	*testing.T
	serverEnd
	a      packetref.Algorithm
	config Config
}

func newHelloTest(t *testing.T, a packetref.Algorithm, c Config) *helloTest {
	return &helloTest{t, newServerEnd(a, c), a, c}
}

// A dialer is a client.
type dialer struct {
	*helloTest
	clientEnd
}

func (e *helloTest) dial() *dialer { return &dialer{e, newClientEnd(e.a, e.config)} }

func (d *dialer) hello() []byte { return d.Hello(nil) }

// answer returns the answer to a hello that is right.
func (e *helloTest) answer(hello []byte) []byte {
	e.Helper()
	answer, err := e.serverEnd.Answer(nil, hello)
	if err != nil {
		e.Fatal(err)
	}
	return answer
}

// answered takes an answer.
func (d *dialer) answered(answer []byte) {
	d.Helper()
	if !d.clientEnd.Answer(answer) {
		d.Fatal("the client refuses the answer")
	}
}

// packet returns a packet of the client.
func (d *dialer) packet() []byte { return mactest.Must(d.clientEnd.Seal([]byte("first"), nil)) }

// connected returns a client whose session is open.
func (e *helloTest) connected() *dialer {
	e.Helper()
	d := e.dial()
	d.answered(e.answer(d.hello()))
	e.want("opening", d.packet(), nil)
	return d
}

// want has the server open a packet.
func (e *helloTest) want(what string, p []byte, want error) {
	e.Helper()
	before := bytes.Clone(p)
	msg, _, err := e.serverEnd.Open(p, nil)
	if err != want || err == nil && string(msg) != "first" || !bytes.Equal(p, before) {
		e.Errorf("%s: %q, %v, want %v", what, msg, err, want)
	}
}

// wantData sends data in both directions, which arrives unless want is an error.
func (d *dialer) wantData(what string, want error) {
	d.Helper()
	d.want(what+", to the server", d.packet(), want)
	p, err := d.serverEnd.Seal([]byte("data"), nil)
	if err == nil {
		_, _, err = d.clientEnd.Open(p, nil)
	}
	if err != want && (want != ErrForged || err != ErrEpoch) && (want != ErrEpoch || err != ErrForged) {
		d.Errorf("%s, to the client: %v, want %v", what, err, want)
	}
}

func TestHello(t *testing.T) {
	forAll(t, func(t *testing.T, a packetref.Algorithm) {
		c := helloConfig()
		c.DataSize = 3
		e := newHelloTest(t, a, c)
		d, data := e.dial(), []byte("abc")
		if p, err := d.clientEnd.Seal([]byte("early"), data); p != nil || err != ErrNoSession {
			t.Errorf("a client seals before the answer: %x, %v", p, err)
		}
		if _, _, err := d.clientEnd.Open(make([]byte, 50), data); err != ErrNoSession {
			t.Errorf("a client opens before the answer: %v", err)
		}
		if p, err := e.serverEnd.Seal([]byte("early"), data); p != nil || err != ErrNoSession {
			t.Errorf("a server seals before an opening: %x, %v", p, err)
		}
		if s, r := halves(e.serverEnd); s != nil || r != nil {
			t.Error("there is a session before an opening")
		}
		hello := d.Hello([]byte("before"))
		if string(hello[:6]) != "before" || len(hello) != 6+HelloSize || hello[6] != 0 {
			t.Fatalf("hello %x", hello)
		}
		answer, err := e.serverEnd.Answer([]byte("before"), hello[6:])
		if err != nil || string(answer[:6]) != "before" || len(answer) != len(hello) || answer[6] != 1 {
			t.Fatalf("answer %x, %v", answer, err)
		}
		d.answered(answer[6:])
		first := mactest.Must(d.clientEnd.Seal([]byte("one"), data))
		second := mactest.Must(d.clientEnd.Seal([]byte("two"), data))
		trailer := numberSize + a.TagSize()
		if n := 3 + trailer + 16 + trailer; len(first) != n || n-3-trailer > OpeningSize || !bytes.Equal(first[3+trailer:][:16], hello[7:23]) || !bytes.Equal(first[3+trailer:], second[3+trailer:]) {
			t.Fatalf("packets with openings %x and %x", first, second)
		}
		if _, err := e.serverEnd.Seal(nil, data); err != ErrNoSession {
			t.Errorf("a server seals after an answer: %v", err)
		}
		open := func(p []byte, want string, wantErr error) {
			t.Helper()
			if msg, _, err := e.serverEnd.Open(p, data); string(msg) != want || err != wantErr {
				t.Errorf("%q, %v; want %q, %v", msg, err, want, wantErr)
			}
		}
		open(first, "one", nil)
		open(first, "", ErrReplayed)
		open(first[:3+trailer], "", ErrReplayed) // without its opening it is the same packet
		open(second[:3+trailer], "two", nil)
		open(append(second[:3+trailer:3+trailer], first[3+trailer:]...), "", ErrReplayed)
		if e.serverEnd.Stats() != (ServerStats{Hellos: 1, Openings: 1, Sessions: 1}) {
			t.Errorf("%+v", e.serverEnd.Stats())
		}
		if msg, counter, err := d.clientEnd.Open(mactest.Must(e.serverEnd.Seal([]byte("echo"), data)), data); string(msg) != "echo" || counter != 0 || err != nil {
			t.Errorf("%q, %d, %v", msg, counter, err)
		}
		third := mactest.Must(d.clientEnd.Seal([]byte("three"), data)) // it knows now that the session is open
		if len(third) != 5+trailer {
			t.Errorf("a packet of %d bytes", len(third))
		}
		open(third, "three", nil)
		// The answer may replace the hello.
		same := e.dial().hello()
		if got, err := e.serverEnd.Answer(same[:0], same); err != nil || got[0] != 2 || &got[0] != &same[0] {
			t.Errorf("in place: %x, %v", got, err)
		}
		for _, f := range []func(){
			func() { e.serverEnd.Open(third, nil) }, func() { e.serverEnd.Open(first, nil) }, func() { e.serverEnd.Open(nil, nil) },
			func() { e.serverEnd.Close(); e.serverEnd.Open(first, nil) },
		} {
			mactest.MustPanic(t, "Open", "data of 0 bytes: want 3", f)
		}
	})
}

// TestReplayedHellos plays back all old hellos, answers and packets at all times.
func TestReplayedHellos(t *testing.T) {
	e := newHelloTest(t, packetref.UMAC128, helloConfig())
	var hellos, answers, openings [][]byte // of earlier sessions
	attack := func(when string, d *dialer) {
		t.Helper()
		_, epoch := headOf(e.serverEnd)
		for _, hello := range hellos {
			if answer := e.answer(hello); len(answer) != len(hello) {
				t.Errorf("%s: an answer of %d bytes to a hello of %d", when, len(answer), len(hello))
			}
		}
		before, _ := headOf(e.serverEnd)
		for _, hello := range hellos {
			e.answer(hello)
		}
		for _, answer := range answers {
			if d.clientEnd.Answer(answer) {
				t.Errorf("%s: an old answer is taken", when)
			}
		}
		for _, opening := range openings {
			if _, _, err := e.serverEnd.Open(opening, nil); err != ErrForged && err != ErrReplayed {
				t.Errorf("%s: an old opening: %v", when, err)
			}
		}
		if after, now := headOf(e.serverEnd); after != before || now != epoch {
			t.Errorf("%s: replays have changed the server", when)
		}
	}
	var last *dialer
	for range 6 {
		d := e.dial()
		attack("before the hello", d)
		answer := e.answer(d.hello())
		attack("after the answer", d)
		if last != nil {
			last.wantData("old session, before the new one opens", nil)
		}
		d.answered(answer)
		opening := d.packet()
		attack("before the opening", d)
		e.want("opening", opening, nil)
		if head, _ := headOf(e.serverEnd); head != [helloHeadSize]byte{} { // or a snapshot of an idle server has them
			t.Error("the server has random bytes after an opening")
		}
		hellos, answers, openings = append(hellos, d.hello()), append(answers, answer), append(openings, opening)
		attack("after the opening", d)
		d.wantData("data", nil)
		if last != nil {
			last.wantData("old session", ErrEpoch)
		}
		last = d
	}
}

func TestLostAnswers(t *testing.T) {
	e := newHelloTest(t, packetref.UMAC64, helloConfig())
	old := e.connected()
	d := e.dial()
	first := e.answer(d.hello())
	for range 3 { // lost; the same hello has the same answer
		if again := e.answer(d.hello()); !bytes.Equal(again, first) {
			t.Error("another answer to the same hello")
		}
	}
	old.wantData("old session", nil)
	d.answered(e.answer(d.hello()))
	d.packet() // lost
	old.wantData("old session", nil)
	e.want("second packet", d.packet(), nil)

	// The client has an answer, and restarts before it uses it.
	e.answer(e.dial().hello())
	e.connected().wantData("data", nil)
}

func TestBothRestart(t *testing.T) {
	e := newHelloTest(t, packetref.UMAC128, helloConfig())
	old := e.connected()
	opening := old.packet()
	old.wantData("data", nil)
	waiting := e.dial()
	oldAnswer := e.answer(waiting.hello())

	// The server restarts. What the client has is worth nothing, and harms nothing.
	e = newHelloTest(t, packetref.UMAC128, helloConfig())
	e.want("opening, before the server has answered", opening, ErrForged)
	e.want("packet", old.packet(), ErrNoSession)
	e.want("opening of zeros", make([]byte, 100), ErrForged)
	waiting.answered(oldAnswer)
	e.want("session of the old server", waiting.packet(), ErrForged)
	e.answer(waiting.hello())
	e.want("session of the old server, after an answer", waiting.packet(), ErrForged)
	e.want("opening of before", opening, ErrForged)
	if want := (ServerStats{Hellos: 1, WrongOpenings: 5, Unknown: 1}); e.serverEnd.Stats() != want {
		t.Errorf("%+v, want %+v", e.serverEnd.Stats(), want)
	}

	// The client restarts too. The answer to its former hello is none to the new one.
	d := e.dial()
	if d.clientEnd.Answer(oldAnswer) {
		t.Error("the client takes the answer to another hello")
	}
	d.answered(e.answer(d.hello()))
	e.want("opening", d.packet(), nil)
	d.wantData("data", nil)
	e.want("data of before, with the same epoch", old.packet(), ErrForged)
}

// TestTwoClients has two clients with one Secret and name: they close each other's sessions, and nothing worse.
func TestTwoClients(t *testing.T) {
	e := newHelloTest(t, packetref.UMAC128, helloConfig())
	a, b := e.dial(), e.dial()
	answerA, answerB := e.answer(a.hello()), e.answer(b.hello())
	if !bytes.Equal(answerA[:helloHeadSize], answerB[:helloHeadSize]) {
		t.Error("a hello has changed the server")
	}
	if a.clientEnd.Answer(answerB) {
		t.Error("a takes the answer of b")
	}
	a.answered(answerA)
	b.answered(answerB)
	openA, openB := a.packet(), b.packet()
	if bytes.Equal(openA[:29], openB[:29]) {
		t.Error("both have the same key")
	}
	e.want("the packet of a with the opening of b", append(openA[:29:29], openB[29:]...), ErrForged)
	e.want("b", openB, nil)
	e.want("a, whose random bytes of the server are used", openA, ErrForged)
	b.wantData("data of b", nil)
	c := e.connected() // a again
	b.wantData("b", ErrEpoch)
	c.wantData("a", nil)
}

// changed calls f with copies of b that are changed in one bit, cut, or longer.
func changed(b []byte, f func(what string, b []byte)) {
	for i := range 8 * len(b) {
		c := bytes.Clone(b)
		c[i/8] ^= 1 << (i % 8)
		f(fmt.Sprint("bit ", i), c)
	}
	for n := range b {
		f(fmt.Sprint("cut to ", n), bytes.Clone(b[:n]))
	}
	f("longer", append(bytes.Clone(b), 0))
}

func TestForgedHello(t *testing.T) {
	e := newHelloTest(t, packetref.UMAC128, helloConfig())
	ref := packetref.Hello{Secret: e.config.Secret, Client: testClient, Server: testServer, Algorithm: e.a}
	d := e.dial()
	refuse := func(what string, hello []byte) {
		t.Helper()
		if answer, err := e.serverEnd.Answer([]byte("dst"), hello); err != ErrForged || answer != nil {
			t.Errorf("%s: %q, %v", what, answer, err)
		}
	}
	attack := func() {
		t.Helper()
		before, _ := headOf(e.serverEnd)
		changed(d.hello(), refuse)
		refuse("another first byte, with its tag", ref.Answer(d.hello(), 1, make([]byte, 16)))
		if after, _ := headOf(e.serverEnd); after != before {
			t.Error("forged hellos have changed the server")
		}
	}
	attack()
	if head, _ := headOf(e.serverEnd); head != [helloHeadSize]byte{} {
		t.Error("a server that gets nothing else has random bytes")
	}
	d = e.connected()
	refuse("an answer", e.answer(d.hello()))
	attack()
	d.wantData("data", nil)
	if n := e.serverEnd.Stats().WrongHellos; n != 2*8*(HelloSize-1) {
		t.Errorf("%d wrong hellos", n)
	}
}

func TestForgedAnswer(t *testing.T) {
	e := newHelloTest(t, packetref.UMAC128, helloConfig())
	d := e.dial()
	answer := e.answer(d.hello())
	refuse := func(what string, answer []byte) {
		t.Helper()
		if d.clientEnd.Answer(answer) {
			t.Errorf("the client takes %s", what)
		}
	}
	changed(answer, refuse)
	refuse("its hello", d.hello())
	refuse("an answer to another hello", e.answer(e.dial().hello()))
	d.answered(answer)
	e.want("opening", d.packet(), nil)
	// A second answer would begin the session again.
	later := e.answer(d.hello()) // the server has other random bytes now
	ref := packetref.Hello{Secret: make([]byte, 16), Client: testClient, Server: testServer, Algorithm: e.a}
	for name, second := range map[string][]byte{"the same answer": answer, "a later answer": later, "one under a wrong key": ref.Answer(d.hello(), 1, answer[1:17])} {
		refuse(name, second)
	}
	if k := d.clientEnd.(*UMACClient); k.keys != (helloKeys{}) {
		t.Error("the keys are still there")
	}
	d.wantData("data", nil)
}

// TestForgedOpening changes each bit of a packet with an opening. None of them opens a session, and no wrong
// opening counts for a receiver.
func TestForgedOpening(t *testing.T) {
	forAll(t, func(t *testing.T, a packetref.Algorithm) {
		e := newHelloTest(t, a, helloConfig())
		old := e.connected()
		old.wantData("data", nil)
		d := e.dial()
		d.answered(e.answer(d.hello()))
		p := d.packet()
		trailer := numberSize + a.TagSize()
		opening := len(p) - trailer - 16 // where it is
		before, epoch := headOf(e.serverEnd)
		_, r := halves(e.serverEnd)
		stats := e.serverEnd.Stats()
		for i := range 8 * len(p) {
			bad := bytes.Clone(p)
			bad[i/8] ^= 1 << (i % 8)
			switch at := i / 8; {
			case at == len(p)-trailer: // it is not an opening any more
				e.serverEnd.Open(bad, nil)
				continue
			case at < opening: // a right one
				stats.Openings++
			default:
				stats.WrongOpenings++
			}
			if _, _, err := e.serverEnd.Open(bad, nil); err != ErrForged && (err != ErrEpoch || i/8 >= opening) || e.serverEnd.Stats() != stats {
				t.Fatalf("bit %d: %v, %+v, want %+v", i, err, e.serverEnd.Stats(), stats)
			}
		}
		for n := range p {
			e.serverEnd.Open(bytes.Clone(p[:n]), nil)
		}
		e.want("zeros", make([]byte, len(p)), ErrForged)
		e.want("zeros without room for an opening", make([]byte, trailer+15), ErrEpoch) // for the receiver
		e.want("an opening alone", p[opening:], ErrForged)                              // of a packet that is too short
		// A client whose random bytes are zeros is none, though it has the Secret.
		ref := packetref.Hello{Secret: e.config.Secret, Client: testClient, Server: testServer, Algorithm: a}
		zeros := ref.Hello(make([]byte, 16))
		toServer, _ := ref.Keys(zeros, before[:])
		for range 2 {
			e.want("zeros", append(toServer.Seal([]byte("first"), nil, 0), ref.Opening(zeros, before[:])...), ErrForged)
		}
		if n := r.Forged(); n > 8+uint64(len(p)) {
			t.Errorf("%d wrong tags", n)
		}
		if after, now := headOf(e.serverEnd); after != before || now != epoch {
			t.Error("forged packets have changed the server")
		}
		old.wantData("old session", nil)
		e.want("opening", p, nil)
	})
}

// TestInventedOpenings has somebody who repeats a hello and sees the answer, and sends openings. A good client is
// served afterwards, and the one that is connected too.
func TestInventedOpenings(t *testing.T) {
	openings := 1 << 12
	if mactest.Long() {
		openings = 1 << 18
	}
	forAll(t, func(t *testing.T, a packetref.Algorithm) {
		c := helloConfig()
		c.MaxForged = 100
		e := newHelloTest(t, a, c)
		old := e.connected()
		old.wantData("data", nil)
		recorded := e.dial().hello()
		d := e.dial()
		d.answered(e.answer(d.hello()))
		p := make([]byte, 60+OpeningSize)
		for i := range openings {
			if i%100 == 0 {
				e.answer(recorded)
			}
			binary.LittleEndian.PutUint64(p[len(p)-numberSize-a.TagSize()-16:], uint64(i))
			if _, _, err := e.serverEnd.Open(p, nil); err != ErrForged {
				t.Fatal(err)
			}
		}
		old.wantData("the open session", nil)
		e.want("the client that has had an answer", d.packet(), nil)
		e.connected().wantData("a good client", nil)
		if n := e.serverEnd.Stats().WrongOpenings; n != uint64(openings) {
			t.Errorf("%d wrong openings", n)
		}
	})
}

// TestHeldOpening has somebody on the path who holds a right opening, and sends it with wrong packets. That costs
// the set-up of one receiver, which counts them, and other clients are served.
func TestHeldOpening(t *testing.T) {
	forAll(t, func(t *testing.T, a packetref.Algorithm) {
		c := helloConfig()
		c.MaxForged = 7
		e := newHelloTest(t, a, c)
		old := e.connected()
		d, other := e.dial(), e.dial()
		d.answered(e.answer(d.hello()))
		other.answered(e.answer(other.hello()))
		good := d.packet()
		bad := bytes.Clone(good)
		bad[0]++
		e.want("a wrong packet", bad, ErrForged)
		for i := range uint64(20) {
			want := ErrForged
			if i >= c.MaxForged-1 {
				want = ErrWorn
			}
			e.want("a wrong packet", bad, want)
		}
		e.want("the right one, too late", good, ErrWorn)
		old.wantData("the open session", nil)
		e.want("another client", other.packet(), nil)
		other.wantData("data", nil)
		e.want("the held opening, when another session has opened", good, ErrForged)
		if s := e.serverEnd.Stats(); s.Sessions != 2 || s.WrongOpenings != 1 {
			t.Errorf("%+v", s)
		}
	})
}

// TestClose closes sessions: what was sent before is refused, also by those who have a pointer to the receiver.
func TestClose(t *testing.T) {
	forAll(t, func(t *testing.T, a packetref.Algorithm) {
		e := newHelloTest(t, a, helloConfig())
		e.serverEnd.Close() // there is none
		d := e.connected()
		opening := d.packet()
		d.wantData("data", nil)
		held, late := d.packet(), e.dial()
		late.answered(e.answer(late.hello()))
		s, r := halves(e.serverEnd)
		bad := late.packet()
		bad[0]++
		e.want("a wrong packet", bad, ErrForged) // the server has a receiver for it
		e.serverEnd.Close()
		e.serverEnd.Close()
		e.want("a held packet", held, ErrNoSession)
		e.want("a held packet with its opening", opening, ErrForged)
		e.want("a held opening", late.packet(), ErrForged)
		if _, _, err := r.Open(held, nil); err != ErrEnd {
			t.Errorf("a receiver of before: %v", err)
		}
		if _, err := s.Seal(nil, nil); err != ErrEnd {
			t.Errorf("a sender of before: %v", err)
		}
		if _, err := e.serverEnd.Seal(nil, nil); err != ErrNoSession {
			t.Error(err)
		}
		e.answer(late.hello())
		e.want("a held opening, after a hello", late.packet(), ErrForged)
		e.connected().wantData("a new session", nil)
		e.want("a held packet", held, ErrEpoch)
	})
}

// TestHelloCross has ends of all combinations of secrets and names, and sends everything to everybody, also back.
func TestHelloCross(t *testing.T) {
	type end struct {
		secret         byte
		client, server string
	}
	var ends []end
	names := []string{"a", "b", "ab", "a\x00", "\x01a", strings.Repeat("a", 255), strings.Repeat("a", 254)}
	for _, secret := range []byte{1, 2} {
		for _, client := range names {
			for _, server := range names {
				if client != server {
					ends = append(ends, end{secret, client, server})
				}
			}
		}
	}
	config := func(e end) Config { return Config{Secret: append(pattern(15), e.secret), TagSize: 8} }
	servers := make([]*UMACServer, len(ends))
	for i, e := range ends {
		servers[i] = mactest.Must(NewUMACServer(config(e), e.server, e.client))
	}
	for i, from := range ends {
		c := mactest.Must(NewUMACClient(config(from), from.client, from.server))
		hello := c.Hello(nil)
		var right []byte
		for j, to := range ends {
			answer, err := servers[j].Answer(nil, hello)
			if (err == nil) != (i == j) || err != nil && err != ErrForged {
				t.Errorf("hello of %v to %v: %v", from, to, err)
			}
			if i == j {
				right = answer
			}
		}
		for j, to := range ends {
			if j != i {
				// What the server would say if it took the hello.
				ref := packetref.Hello{Secret: config(to).Secret, Client: to.client, Server: to.server}
				if c.Answer(ref.Answer(hello, 1, right[1:17])) {
					t.Errorf("%v takes an answer of %v", from, to)
				}
			}
		}
		if !c.Answer(right) {
			t.Errorf("%v refuses its answer", from)
		}
	}
}

// TestManySessions goes through all epochs twice. No two sessions have the same random bytes.
func TestManySessions(t *testing.T) {
	e := newHelloTest(t, packetref.UMAC64, helloConfig())
	seen := make(map[string]int)
	var last *dialer
	for i := range 600 {
		d := e.connected()
		heads := d.clientEnd.(*UMACClient).heads
		if _, epoch := headOf(e.serverEnd); epoch != byte(1+i%255) || heads[helloHeadSize] != epoch {
			t.Fatalf("session %d has the epoch %d", i, epoch)
		}
		for _, part := range [][]byte{heads[1:helloHeadSize], heads[helloHeadSize+1:]} {
			if seen[string(part)] != 0 {
				t.Fatalf("sessions %d and %d have the same random bytes", seen[string(part)]-1, i)
			}
			seen[string(part)] = i + 1
		}
		if i >= 250 && i%50 == 0 {
			d.wantData("data", nil)
			last.packet() // with an opening
			last.wantData("the session before", ErrForged)
		}
		last = d
	}
}

// TestServerLoop has goroutines in the loop of a server, and one client that begins session after session, with
// replays. Each packet of the client is accepted exactly once, and nothing panics.
func TestServerLoop(t *testing.T) {
	sessions := 2000
	if mactest.Long() {
		sessions = 30_000
	}
	forAll(t, func(t *testing.T, a packetref.Algorithm) {
		e := newHelloTest(t, a, helloConfig())
		type datagram struct {
			bytes []byte
			again bool
		}
		in, out := make(chan datagram, 8), make(chan []byte, 8)
		var accepted, refused, replayed atomic.Uint64
		loop := func() {
			for b := range in {
				if answer, err := e.serverEnd.Answer(nil, b.bytes); err == nil {
					out <- answer
					continue
				}
				msg, _, err := e.serverEnd.Open(b.bytes, nil)
				if b.again && err != nil {
					replayed.Add(1)
					continue
				}
				if accepted.Add(1); err != nil {
					refused.Add(1)
					t.Error(err)
				}
				echo, err := e.serverEnd.Seal(msg, nil)
				if err != nil {
					t.Error(err)
				}
				out <- echo
			}
		}
		mactest.Concurrently(3, func(g int) {
			if g > 0 {
				loop()
				return
			}
			defer close(in)
			for range sessions {
				d := e.dial()
				in <- datagram{d.hello(), false}
				if !d.clientEnd.Answer(<-out) {
					t.Error("the client refuses the answer")
				}
				packets := make([]datagram, 3) // they may arrive in any order
				for i := range packets {
					p := mactest.Must(d.clientEnd.Seal([]byte("message"), nil))
					packets[i] = datagram{bytes.Clone(p), true}
					in <- datagram{p, false}
				}
				for range packets {
					if _, _, err := d.clientEnd.Open(<-out, nil); err != nil {
						t.Error(err)
					}
				}
				in <- packets[1]
			}
		})
		want := ServerStats{Hellos: uint64(sessions), Openings: uint64(sessions), Sessions: uint64(sessions)}
		if s := e.serverEnd.Stats(); accepted.Load() != uint64(3*sessions) || refused.Load() != 0 || replayed.Load() != uint64(sessions) || s.Sessions != want.Sessions || s.Hellos != want.Hellos || s.Openings != want.Openings {
			t.Errorf("%d accepted, %d refused, %d replayed; %+v", accepted.Load(), refused.Load(), replayed.Load(), s)
		}
	})
}

// TestOneSession has many goroutines that open the sessions of several clients, for which there are the same random
// bytes: one opens. And one client is given one answer many times.
func TestOneSession(t *testing.T) {
	for range 50 {
		e := newHelloTest(t, packetref.UMAC64, helloConfig())
		var dialers [3]*dialer
		var packets [3][]byte
		for i := range dialers {
			d := e.dial()
			answer := e.answer(d.hello())
			var answers atomic.Int32
			mactest.Concurrently(4, func(int) {
				if d.clientEnd.Answer(answer) {
					answers.Add(1)
				}
			})
			if answers.Load() != 1 {
				t.Fatalf("a client takes %d answers", answers.Load())
			}
			dialers[i], packets[i] = d, d.packet()
		}
		var opened, other atomic.Int32
		mactest.Concurrently(9, func(g int) {
			if g%3 == 2 {
				e.answer(dialers[g/3].hello())
			}
			switch _, _, err := e.serverEnd.Open(bytes.Clone(packets[g/3]), nil); err {
			case nil:
				opened.Add(1)
			case ErrForged, ErrReplayed:
				other.Add(1)
			default:
				t.Error(err)
			}
		})
		if _, epoch := headOf(e.serverEnd); opened.Load() != 1 || other.Load() != 8 || epoch != 1 {
			t.Fatalf("%d sessions have opened, and the epoch is %d", opened.Load(), epoch)
		}
	}
}

// TestHelloFork has a child at each point of a handshake. The parent and the child must not both go on.
func TestHelloFork(t *testing.T) {
	forAll(t, func(t *testing.T, a packetref.Algorithm) {
		e := newHelloTest(t, a, helloConfig())
		old := e.connected()
		packet := old.packet()
		d, other := e.dial(), e.dial()
		answer := e.answer(d.hello())
		other.answered(e.answer(other.hello()))
		opening := other.packet()

		fork.Pretend()
		if d.clientEnd.Answer(answer) || len(d.hello()) != 0 {
			t.Error("the client of the parent has a session")
		}
		if got, err := other.clientEnd.Seal(nil, nil); err != ErrCopied || len(got) != 0 {
			t.Errorf("a session of the parent seals: %x, %v", got, err)
		}
		if got, err := e.serverEnd.Answer(nil, old.hello()); got != nil || err != ErrForged {
			t.Errorf("Answer: %x, %v", got, err)
		}
		if got, err := e.serverEnd.Answer(nil, append(make([]byte, HelloSize-1), 1)); got != nil || err != ErrCopied {
			t.Errorf("Answer: %x, %v", got, err)
		}
		e.want("an opening", opening, ErrCopied)
		e.want("a packet of the open session", packet, nil)
		if _, err := e.serverEnd.Seal(nil, nil); err != ErrCopied || e.serverEnd.Stats() != (ServerStats{}) {
			t.Error(err)
		}
		e.serverEnd.Close()
		e.want("a packet after Close", packet[:len(packet)-16-numberSize-a.TagSize()], ErrCopied)
		e.serverEnd.Destroy()
		newHelloTest(t, a, helloConfig()).connected().wantData("a new server and client", nil)
	})
	// A fork in the middle of a call: it has asked once.
	current, asked := fork.Current(), uint64(0)
	armed := false
	defer fork.Replace(func() fork.Process {
		if armed {
			asked++
		}
		return current + asked/2
	})()
	middle := func(f func()) {
		armed = true
		f()
		armed, asked = false, 0
	}
	e := newHelloTest(t, packetref.UMAC64, helloConfig())
	d, other := e.dial(), e.dial()
	hello, answer := d.hello(), e.answer(d.hello())
	other.answered(e.answer(other.hello()))
	packet := other.packet()
	middle(func() {
		if answer, err := e.serverEnd.Answer(nil, hello); answer != nil || err != ErrCopied {
			t.Errorf("Answer: %x, %v", answer, err)
		}
	})
	middle(func() { e.want("opening", packet, ErrCopied) })
	middle(func() {
		if d.clientEnd.Answer(answer) {
			t.Error("an answer is taken")
		}
	})
}

// TestSecondAnswer has an answer that comes while another one is taken, when there are no keys any more: a
// tag under a key of zeros, which anybody can compute, changes nothing.
func TestSecondAnswer(t *testing.T) {
	e := newHelloTest(t, packetref.UMAC64, helloConfig())
	d := e.dial()
	hello := d.hello()
	answer := e.answer(hello)
	forged := append([]byte{1}, pattern(helloRandomSize)...)
	heads := headsOf(hello, forged)
	tag := helloTag(new(helloKeys).answer(), heads[:])
	current, between, taken := fork.Current(), false, false
	defer fork.Replace(func() fork.Process { // is asked between the first look and the lock
		if between {
			between = false
			taken = d.clientEnd.Answer(answer)
		}
		return current
	})()
	between = true
	again := d.clientEnd.Answer(append(forged, tag[:]...))
	if !taken || again {
		t.Errorf("the answer is taken: %v, the second one: %v", taken, again)
	}
	e.want("a packet of the session", d.packet(), nil)
}

func TestHelloErrors(t *testing.T) {
	c := helloConfig()
	short, named, tag, window := c, c, c, c
	short.Secret, named.Sender, tag.TagSize, window.Window = make([]byte, 15), "x", 12, 7
	for _, bad := range []struct {
		c        Config
		me, peer string
	}{
		{short, "a", "b"}, {c, "", "b"}, {c, "a", ""}, {c, "a", "a"}, {c, strings.Repeat("a", 256), "b"}, {c, "a", strings.Repeat("b", 256)}, {Config{}, "a", "b"},
		{named, "a", "b"}, {tag, "a", "b"}, {window, "a", "b"},
	} {
		for i, err := range []error{
			second(NewUMACClient(bad.c, bad.me, bad.peer)), second(NewUMACServer(bad.c, bad.me, bad.peer)),
			second(NewGMACClient(bad.c, bad.me, bad.peer)), second(NewGMACServer(bad.c, bad.me, bad.peer)),
		} {
			if err == nil || !strings.HasPrefix(err.Error(), "packet: ") {
				t.Errorf("%d, %q and %q: %v", i, bad.me, bad.peer, err)
			}
		}
		if s, _ := NewUMACServer(bad.c, bad.me, bad.peer); s != nil {
			t.Error("a server with an error")
		}
	}
}

func TestHelloDestroy(t *testing.T) {
	forAll(t, func(t *testing.T, a packetref.Algorithm) {
		e := newHelloTest(t, a, helloConfig())
		k, _, waiting := e.connected().clientEnd, e.answer(e.dial().hello()), e.dial().clientEnd
		p := e.dial()
		p.answered(e.answer(p.hello()))
		bad := p.packet()
		bad[0]++
		e.serverEnd.Open(bad, nil)
		_, r := halves(e.serverEnd)
		mac := name(a)[:4]
		for _, v := range []any{k, waiting, e.serverEnd} {
			what := "packet." + mac + "Client"
			if v == any(e.serverEnd) {
				what = "packet." + mac + "Server"
			}
			if s := fmt.Sprintf("%v %+v %s", v, v, v); s != what+" "+what+" "+what {
				t.Errorf("prints as %s", s)
			}
			for range 2 {
				v.(interface{ Destroy() }).Destroy()
			}
			for i, b := range mactest.Contents(v) {
				if b != 0 {
					t.Errorf("%s: byte %d is %#x after Destroy", what, i, b)
				}
			}
		}
		mactest.MustPanic(t, "Open", "destroyed", func() { r.Open(bad, nil) })
		clients, servers := []clientEnd{k, waiting, new(UMACClient), new(GMACClient)}, []serverEnd{e.serverEnd, new(UMACServer), new(GMACServer)}
		for _, f := range slices.Concat(calls(clients, func(k clientEnd) []func() {
			return []func(){func() { k.Hello(nil) }, func() { k.Answer(nil) }, func() { k.Answer(bytes.Repeat([]byte{1}, HelloSize)) }, func() { k.Seal(nil, nil) }, func() { k.Open(nil, nil) }, func() { senderOf(k) }}
		}), calls(servers, func(s serverEnd) []func() {
			return []func(){func() { s.Answer(nil, nil) }, func() { s.Answer(nil, make([]byte, HelloSize)) }, func() { s.Seal(nil, nil) }, func() { s.Open(nil, nil) }, func() { s.Open(make([]byte, 100), nil) }, func() { s.Close() }, func() { s.Stats() }, func() { halves(s) }}
		})) {
			mactest.MustPanic(t, "a call", "that was destroyed or never set up", f)
		}
	})
}

// TestDestroyedTwice destroys ends in two goroutines at once.
func TestDestroyedTwice(t *testing.T) {
	for range 100 {
		e := newHelloTest(t, packetref.UMAC64, helloConfig())
		k, held := e.connected(), e.dial()
		held.answered(e.answer(held.hello()))
		bad := held.packet()
		bad[0]++
		e.want("a wrong packet", bad, ErrForged) // the server has a receiver for it
		mactest.Concurrently(2, func(int) {
			k.clientEnd.Destroy()
			e.serverEnd.Destroy()
		})
	}
}

// senderOf calls the methods of a client for batches.
func senderOf(k clientEnd) sender {
	switch k := k.(type) {
	case *UMACClient:
		return k.Sender()
	case *GMACClient:
		return k.Sender()
	}
	panic(k)
}

func calls[E any](ends []E, of func(E) []func()) (all []func()) {
	for _, e := range ends {
		all = append(all, of(e)...)
	}
	return all
}

func TestHelloSizes(t *testing.T) {
	if n := unsafe.Sizeof(UMACServer{}); n > 384 { // beside a sender and a receiver: see TestSizes
		t.Errorf("a UMACServer has %d bytes", n)
	}
	t.Logf("UMACServer %d bytes and %d for a session, UMACClient %d", unsafe.Sizeof(UMACServer{}), unsafe.Sizeof(session{}), unsafe.Sizeof(UMACClient{}))
}

func TestHelloAllocations(t *testing.T) {
	if fipsMode() {
		t.Skip("FIPS 140 mode: crypto/hmac allocates")
	}
	forAll(t, func(t *testing.T, a packetref.Algorithm) {
		e := newHelloTest(t, a, helloConfig())
		room := make([]byte, 0, 200)
		d := e.connected()
		hello, forged, invented, packet, bad := d.hello(), append(make([]byte, HelloSize-1), 1), make([]byte, 100), d.packet(), d.packet()
		bad[20]++
		held := e.dial()
		held.answered(e.answer(held.hello()))
		wrong := held.packet()
		wrong[0]++
		e.serverEnd.Open(wrong, nil)
		for what, f := range map[string]func(){
			"Answer":                        func() { e.serverEnd.Answer(room, hello) },
			"Answer to a forged hello":      func() { e.serverEnd.Answer(room, forged) },
			"Open of an invented opening":   func() { e.serverEnd.Open(invented, nil) },
			"Open behind a right opening":   func() { e.serverEnd.Open(wrong, nil) },
			"Open in the session":           func() { e.serverEnd.Open(packet, nil) },
			"Open of a wrong packet":        func() { e.serverEnd.Open(bad, nil) },
			"Seal of the client":            func() { d.clientEnd.Seal(room[:9], nil) },
			"Seal of the server":            func() { e.serverEnd.Seal(room[:9], nil) },
			"Hello":                         func() { d.clientEnd.Hello(room) },
			"Answer, when there is one":     func() { d.clientEnd.Answer(hello) },
			"Open of the client":            func() { d.clientEnd.Open(invented, nil) },
			"Answer to what is not a hello": func() { e.serverEnd.Answer(room, invented) },
		} {
			if n := testing.AllocsPerRun(50, f); n != 0 {
				t.Errorf("%s: %v allocations", what, n)
			}
		}
		if !kernel.InUse(kernel.AES) { // then the set-up of a key allocates
			return
		}
		clients := make([]*dialer, 20)
		answers := make([][]byte, len(clients))
		for i := range clients {
			clients[i] = e.dial()
			answers[i] = e.answer(clients[i].hello())
		}
		i := 0
		if n := testing.AllocsPerRun(len(clients)-1, func() { clients[i].answered(answers[i]); i++ }); n > 0 {
			t.Errorf("an answer: %v allocations", n)
		}
	})
}

// BenchmarkHello measures what hellos and openings cost each end, also wrong ones.
func BenchmarkHello(b *testing.B) {
	c := helloConfig()
	server := mactest.Must(NewUMACServer(c, testServer, testClient))
	client := mactest.Must(NewUMACClient(c, testClient, testServer))
	waiting := mactest.Must(NewUMACClient(c, testClient, testServer))
	hello, buffer := client.Hello(nil), make([]byte, 0, 100)
	answer := mactest.Must(server.Answer(nil, hello))
	wrong := bytes.Clone(hello)
	wrong[20]++
	open, room := mactest.Must(NewUMACClient(c, testClient, testServer)), make([]byte, 200)
	open.Answer(mactest.Must(server.Answer(nil, open.Hello(nil))))
	server.Open(mactest.Must(open.Seal(room[:64], nil)), nil)
	open.Open(mactest.Must(server.Seal(room[:64], nil)), nil)
	// Now there is another session, whose first packet somebody holds back.
	client.Answer(mactest.Must(server.Answer(nil, hello)))
	packet := mactest.Must(client.Seal(make([]byte, 20, 100), nil))
	invented := bytes.Clone(packet)
	invented[50]++
	held := bytes.Clone(packet)
	held[0]++
	for _, f := range []struct {
		name string
		f    func()
	}{
		{"client", func() { NewUMACClient(c, testClient, testServer) }},
		{"server", func() { NewUMACServer(c, testServer, testClient) }},
		{"answer", func() { server.Answer(buffer, hello) }},
		{"wrong hello", func() { server.Answer(buffer, wrong) }},
		{"wrong answer", func() { waiting.Answer(answer) }},
		{"wrong opening", func() { server.Open(invented, nil) }},
		{"wrong packet behind a right opening", func() { server.Open(held, nil) }},
		{"packet", func() { // in the open session
			p, _ := open.Seal(room[:64], nil)
			if _, _, err := server.Open(p, nil); err != nil {
				b.Fatal(err)
			}
		}},
		{"session", func() {
			k := mactest.Must(NewUMACClient(c, testClient, testServer))
			k.Answer(mactest.Must(server.Answer(buffer, k.Hello(nil))))
			server.Open(mactest.Must(k.Seal(buffer[:20], nil)), nil)
		}},
	} {
		b.Run(f.name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				f.f()
			}
		})
	}
}
