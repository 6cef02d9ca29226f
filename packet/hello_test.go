// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package packet

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"unsafe"

	"example.com/fastmac/internal/fork"
	"example.com/fastmac/internal/mactest"
	"example.com/fastmac/packet/internal/packetref"
)

// helloNames are the names in tests of hellos.
const (
	testClient = "client 7"
	testServer = "server"
)

func helloConfig() Config {
	return Config{Secret: pattern(32), TagSize: 16}
}

// toServer is c for the direction from the client to the server, and toClient for the other.
func toServer(c Config) Config { c.Sender, c.Receiver = testClient, testServer; return c }
func toClient(c Config) Config { c.Sender, c.Receiver = testServer, testClient; return c }

// A helloEnd is a server with one client, as a program has it.
type helloEnd struct {
	*testing.T
	HelloServer
	config  Config
	receive *UMACReceiver // nil before the first session
	send    *UMACSender
	opened  int
}

func newHelloEnd(t *testing.T, c Config) *helloEnd { return &helloEnd{T: t, config: c} }

// state is what an attacker must not change.
type helloState struct {
	next, client [helloRandomSize]byte
	epoch        uint8
	open         bool
}

func (e *helloEnd) state() helloState {
	return helloState{e.next, e.client, e.epoch, e.HelloServer.open}
}

// answer returns the answer to a hello that is right.
func (e *helloEnd) answer(hello []byte) []byte {
	e.Helper()
	answer, err := e.Answer(nil, hello, e.config, testServer, testClient)
	if err != nil {
		e.Fatal(err)
	}
	return answer
}

// take opens a packet that begins with an opening.
func (e *helloEnd) take(p []byte) error {
	opening := p[:min(len(p), OpeningSize)]
	s, open, err := e.Begin(opening, e.config)
	if err != nil {
		return err
	}
	if open {
		_, _, err := e.receive.Open(p, nil)
		return err
	}
	r := mactest.Must(NewUMACReceiver(s.With(toServer(e.config))))
	if _, _, err := r.Open(p, nil); err != nil {
		return err
	}
	if !e.Opened(s) {
		e.Fatal("Opened returns false")
	}
	e.receive, e.send = r, mactest.Must(NewUMACSender(s.With(toClient(e.config))))
	e.opened++
	return nil
}

// A dialer is a client with one hello.
type dialer struct {
	*helloEnd
	*HelloClient
	HelloSession
	send    *UMACSender
	receive *UMACReceiver
}

func (e *helloEnd) dial() *dialer {
	return &dialer{helloEnd: e, HelloClient: mactest.Must(NewHelloClient(e.config, testClient, testServer))}
}

func (d *dialer) hello() []byte { return d.Hello(nil) }

// answered takes an answer.
func (d *dialer) answered(answer []byte) {
	d.Helper()
	s, ok := d.Session(answer)
	if !ok {
		d.Fatal("the client refuses the answer")
	}
	d.HelloSession = s
	d.send = mactest.Must(NewUMACSender(s.With(toServer(d.config))))
	d.receive = mactest.Must(NewUMACReceiver(s.With(toClient(d.config))))
}

// opening returns a packet that opens the session.
func (d *dialer) opening() []byte {
	return mactest.Must(d.send.Seal(append(d.Opening(nil), "first"...), nil))
}

// connected returns a client whose session is open.
func (e *helloEnd) connected() *dialer {
	e.Helper()
	d := e.dial()
	d.answered(e.answer(d.hello()))
	e.want("opening", d.opening(), nil)
	return d
}

// want has the server take a packet with an opening.
func (e *helloEnd) want(what string, p []byte, want error) {
	e.Helper()
	if err := e.take(bytes.Clone(p)); err != want {
		e.Errorf("%s: %v, want %v", what, err, want)
	}
}

// wantData sends data in both directions, which arrives unless want is an error.
func (d *dialer) wantData(what string, want error) {
	d.Helper()
	if _, _, err := d.helloEnd.receive.Open(mactest.Must(d.send.Seal([]byte("data"), nil)), nil); err != want {
		d.Errorf("%s, to the server: %v, want %v", what, err, want)
	}
	if _, _, err := d.receive.Open(mactest.Must(d.helloEnd.send.Seal([]byte("data"), nil)), nil); err != want {
		d.Errorf("%s, to the client: %v, want %v", what, err, want)
	}
}

func TestHello(t *testing.T) {
	e := newHelloEnd(t, helloConfig())
	d := e.dial()
	hello := d.Hello([]byte("before"))
	if string(hello[:6]) != "before" || len(hello) != 6+HelloSize || hello[6] != 0 {
		t.Fatalf("hello %x", hello)
	}
	answer, err := e.Answer([]byte("before"), hello[6:], e.config, testServer, testClient)
	if err != nil || string(answer[:6]) != "before" || len(answer) != len(hello) || answer[6] != 1 {
		t.Fatalf("answer %x, %v", answer, err)
	}
	d.answered(answer[6:])
	opening := d.Opening([]byte("before"))
	if string(opening[:6]) != "before" || !bytes.Equal(opening[6:], slices.Concat(hello[7:23], answer[7:23])) || len(opening) != 6+OpeningSize {
		t.Errorf("opening %x", opening)
	}
	first, second := d.opening(), d.opening()
	e.want("opening", first, nil)
	e.want("its replay", first, ErrReplayed)
	e.want("another packet with an opening", second, nil)
	d.wantData("data", nil)
	if e.opened != 1 {
		t.Errorf("%d sessions have opened", e.opened)
	}
	// The answer may replace the hello.
	same := d.hello()
	if got, err := e.Answer(same[:0], same, e.config, testServer, testClient); err != nil || got[0] != 2 || &got[0] != &same[0] {
		t.Errorf("in place: %x, %v", got, err)
	}
}

// TestReplayedHellos plays back all old hellos, answers and openings at all times.
func TestReplayedHellos(t *testing.T) {
	e := newHelloEnd(t, helloConfig())
	var hellos, answers, openings [][]byte // of earlier sessions
	attack := func(when string, d *dialer) {
		t.Helper()
		before, forged := e.state(), e.forged
		for _, hello := range hellos {
			if answer := e.answer(hello); len(answer) != len(hello) {
				t.Errorf("%s: an answer of %d bytes to a hello of %d", when, len(answer), len(hello))
			}
		}
		for _, answer := range answers {
			if _, ok := d.Session(answer); ok {
				t.Errorf("%s: an old answer is taken", when)
			}
		}
		for _, opening := range openings {
			if err := e.take(opening); err != ErrEpoch && err != ErrReplayed {
				t.Errorf("%s: an old opening: %v", when, err)
			}
		}
		if e.state() != before || e.forged != forged {
			t.Errorf("%s: replays have changed the server", when)
		}
	}
	var last *dialer
	for range 6 {
		d := e.dial()
		if last != nil {
			attack("before the hello", d)
		}
		answer := e.answer(d.hello())
		attack("after the answer", d)
		if last != nil {
			last.wantData("old session, before the new one opens", nil)
		}
		d.answered(answer)
		opening := d.opening()
		attack("before the opening", d)
		e.want("opening", opening, nil)
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
	e := newHelloEnd(t, helloConfig())
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
	d.opening() // lost
	old.wantData("old session", nil)
	e.want("second opening", d.opening(), nil)

	// The client has an answer, and restarts before it uses it.
	e.answer(e.dial().hello())
	e.connected().wantData("data", nil)
}

func TestBothRestart(t *testing.T) {
	e := newHelloEnd(t, helloConfig())
	old := e.connected()
	oldOpening := old.opening()
	waiting := e.dial()
	oldAnswer := e.answer(waiting.hello())

	// The server restarts. What the client has is worth nothing, and harms nothing.
	e = newHelloEnd(t, helloConfig())
	e.want("opening, before the server has answered", oldOpening, ErrEpoch)
	e.want("opening of zeros", make([]byte, 100), ErrEpoch)
	if e.Opened(HelloSession{}) {
		t.Error("a session of zeros opens")
	}
	waiting.answered(oldAnswer)
	e.want("session of the old server", waiting.opening(), ErrEpoch)
	e.answer(waiting.hello())
	e.want("session of the old server, after an answer", waiting.opening(), ErrEpoch)
	e.want("opening of before", old.opening(), ErrEpoch)
	if e.forged != 0 {
		t.Errorf("%d wrong openings were counted", e.forged)
	}

	// The client restarts too. The answer to its former hello is none to the new one.
	d := e.dial()
	if _, ok := d.Session(oldAnswer); ok {
		t.Error("the client takes the answer to another hello")
	}
	d.answered(e.answer(d.hello()))
	e.want("opening", d.opening(), nil)
	d.wantData("data", nil)
	// The epoch is the same.
	if _, _, err := e.receive.Open(mactest.Must(old.send.Seal(nil, nil)), nil); err != ErrForged {
		t.Errorf("data of before: %v", err)
	}
}

// TestTwoClients has two clients with one Secret and name: they close each other's sessions, and
// nothing worse.
func TestTwoClients(t *testing.T) {
	e := newHelloEnd(t, helloConfig())
	a, b := e.dial(), e.dial()
	answerA, answerB := e.answer(a.hello()), e.answer(b.hello())
	if !bytes.Equal(answerA[:helloHeadSize], answerB[:helloHeadSize]) {
		t.Error("a hello has changed the server")
	}
	if _, ok := a.Session(answerB); ok {
		t.Error("a takes the answer of b")
	}
	a.answered(answerA)
	b.answered(answerB)
	openA, openB := a.opening(), b.opening()
	if bytes.Equal(openA[OpeningSize:], openB[OpeningSize:]) {
		t.Error("both have the same key")
	}
	e.want("b", openB, nil)
	e.want("a, whose random bytes of the server are used", openA, ErrEpoch)
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
	e := newHelloEnd(t, helloConfig())
	d := e.connected()
	before := e.state()
	refuse := func(what string, hello []byte) {
		t.Helper()
		if answer, err := e.Answer([]byte("dst"), hello, e.config, testServer, testClient); err != ErrForged || string(answer) != "dst" {
			t.Errorf("%s: %q, %v", what, answer, err)
		}
	}
	changed(d.hello(), refuse)
	refuse("an answer", e.answer(d.hello()))
	var k helloKeys
	e.config.deriveHello(&k, testClient, testServer)
	other := [HelloSize]byte(d.hello())
	other[0] = 1 // of a later version
	tag := tagHello(&k.hello, &other)
	refuse("another first byte, with its tag", append(other[:helloHeadSize], tag[:]...))
	if e.state() != before {
		t.Error("forged hellos have changed the server")
	}
	d.wantData("data", nil)

	// A server that gets nothing else has no random bytes either.
	e = newHelloEnd(t, helloConfig())
	changed(d.hello(), refuse)
	if e.state() != (helloState{}) {
		t.Error("forged hellos have changed a new server")
	}
}

func TestForgedAnswer(t *testing.T) {
	e := newHelloEnd(t, helloConfig())
	d := e.dial()
	answer := e.answer(d.hello())
	refuse := func(what string, answer []byte) {
		t.Helper()
		if s, ok := d.Session(answer); ok || s != (HelloSession{}) {
			t.Errorf("the client takes %s", what)
		}
	}
	changed(answer, refuse)
	refuse("its hello", d.hello())
	refuse("an answer to another hello", e.answer(e.dial().hello()))
	d.answered(answer)
	e.want("opening", d.opening(), nil)
}

// TestForgedOpening changes each bit of a packet with an opening. None of them opens a session. Only
// those with the server's random bytes count.
func TestForgedOpening(t *testing.T) {
	e := newHelloEnd(t, helloConfig())
	old := e.connected()
	d := e.dial()
	d.answered(e.answer(d.hello()))
	opening := d.opening()
	before, counted := e.state(), uint64(0)
	changed(opening, func(what string, p []byte) {
		t.Helper()
		if err := e.take(p); err != ErrForged && err != ErrEpoch {
			t.Errorf("%s: %v", what, err)
		}
		if len(p) >= OpeningSize && bytes.Equal(p[16:OpeningSize], opening[16:OpeningSize]) {
			counted++
		}
		if e.forged != counted {
			t.Fatalf("%s: %d wrong openings, want %d", what, e.forged, counted)
		}
	})
	// The attacker has seen an answer: a session for which a key is not even made, and that of the
	// session which is open.
	server := opening[16:OpeningSize]
	for range 2 {
		e.want("twice the server's random bytes", slices.Concat(server, server, opening[OpeningSize:]), ErrForged)
		e.want("zeros for the client's random bytes", slices.Concat(make([]byte, 16), server, opening[OpeningSize:]), ErrForged)
		e.want("the open session's client", slices.Concat(old.Opening(nil)[:16], opening[16:]), ErrEpoch) // its receiver says so
		if e.forged != counted {
			t.Errorf("%d wrong openings, want %d", e.forged, counted)
		}
	}
	if e.state() != before {
		t.Error("forged packets have changed the server")
	}
	old.wantData("old session", nil)
	e.want("opening", opening, nil)
}

// TestHelloCross has ends of all combinations of secrets and names, and sends everything to
// everybody, also back.
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
	servers := make([]HelloServer, len(ends))
	for i, from := range ends {
		c := mactest.Must(NewHelloClient(config(from), from.client, from.server))
		hello := c.Hello(nil)
		var right []byte
		for j, to := range ends {
			answer, err := servers[j].Answer(nil, hello, config(to), to.server, to.client)
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
				if _, ok := c.Session(ref.Answer(hello, 1, right[1:17])); ok {
					t.Errorf("%v takes an answer of %v", from, to)
				}
			}
		}
		if _, ok := c.Session(right); !ok {
			t.Errorf("%v refuses its answer", from)
		}
	}
}

// TestSecondAnswer gives a client more answers than one.
func TestSecondAnswer(t *testing.T) {
	e := newHelloEnd(t, helloConfig())
	d := e.dial()
	answer, again := e.answer(d.hello()), e.answer(d.hello())
	d.answered(answer)
	e.want("opening", d.opening(), nil)
	later := e.answer(d.hello()) // the server has other random bytes now
	tag := tagAnswer(new([helloKeySize]byte), (*[HelloSize]byte)(d.hello()), (*[HelloSize]byte)(answer))
	for name, second := range map[string][]byte{
		"the same answer": answer, "the answer to the hello sent again": again, "a later answer": later,
		"a tag under zeros": append(answer[:helloHeadSize:helloHeadSize], tag[:]...),
	} {
		if _, ok := d.Session(second); ok {
			t.Errorf("%s gives a second session", name)
		}
	}
	if d.key != [helloKeySize]byte{} {
		t.Error("the key is still there")
	}
}

// TestWornOpening sends forged openings up to the limit, each with another client's part, and so with
// another key. Those between them that are right do not set the count back.
func TestWornOpening(t *testing.T) {
	c := helloConfig()
	c.MaxForged = 7
	e := newHelloEnd(t, c)
	var last *dialer
	forge := func(d *dialer, i int) {
		t.Helper()
		forged := d.opening()
		forged[i]++
		e.want("forged opening", forged, ErrForged)
	}
	for i := range 6 {
		last = e.dial()
		last.answered(e.answer(last.hello()))
		forge(last, i)
		e.want("opening", last.opening(), nil)
	}
	d := e.dial()
	d.answered(e.answer(d.hello()))
	for range 20 { // without the server's random bytes they do not count
		p := d.opening()
		p[20]++
		e.want("blind opening", p, ErrEpoch)
	}
	forge(d, 0)
	for range 3 {
		e.want("opening at the limit", d.opening(), ErrWorn)
	}
	if e.forged != 7 {
		t.Errorf("%d wrong openings", e.forged)
	}
	last.wantData("the open session", nil)
	e.want("opening of the open session", last.opening(), nil)

	for _, l := range []struct {
		c    Config
		want uint64
	}{{Config{TagSize: 8}, 1 << 32}, {Config{TagSize: 16}, 1 << 48}, {Config{}, 1 << 32}, {Config{TagSize: 16, MaxForged: 3}, 3}} {
		e := newHelloEnd(t, helloConfig())
		e.answer(e.dial().hello())
		opening := append(pattern(16), e.next[:]...)
		e.forged = l.want - 1
		for _, want := range []error{nil, ErrWorn, ErrWorn} {
			if _, _, err := e.Begin(opening, l.c); err != want {
				t.Errorf("tags of %d bytes, MaxForged %d: %v, want %v", l.c.TagSize, l.c.MaxForged, err, want)
			}
		}
	}
}

// TestManySessions goes through all epochs twice. No two sessions have the same key.
func TestManySessions(t *testing.T) {
	e := newHelloEnd(t, helloConfig())
	seen := make(map[string]int)
	var last *dialer
	for i := range 600 {
		d := e.connected()
		if d.epoch != uint8(i+1) {
			t.Fatalf("session %d has the epoch %d", i, d.epoch)
		}
		s := string(d.Opening(nil))
		for _, part := range []string{s[:16], s[16:]} {
			if seen[part] != 0 {
				t.Fatalf("sessions %d and %d have the same random bytes", seen[part]-1, i)
			}
			seen[part] = i + 1
		}
		if i >= 256 && i%50 == 0 {
			d.wantData("data", nil)
			last.wantData("the session before", ErrEpoch)
		}
		last = d
	}
}

// TestConcurrentOpened opens one session, and several for the same random bytes, in many goroutines:
// one of them wins.
func TestConcurrentOpened(t *testing.T) {
	for range 50 {
		e := newHelloEnd(t, helloConfig())
		var wins atomic.Int32
		var group sync.WaitGroup
		var dialers [3]*dialer
		for i := range dialers {
			dialers[i] = e.dial()
			dialers[i].answered(e.answer(dialers[i].hello()))
		}
		for i, d := range dialers {
			for range 2 {
				group.Go(func() {
					s, open, err := e.Begin(d.Opening(nil), e.config)
					if open || err == ErrEpoch {
						return // another one was faster
					}
					if err != nil {
						t.Errorf("client %d: %v", i, err)
					} else if e.Opened(s) {
						wins.Add(1)
					}
				})
				group.Go(func() { e.answer(d.hello()) })
			}
		}
		group.Wait()
		if wins.Load() != 1 || e.epoch != 1 {
			t.Fatalf("%d sessions have opened, and the epoch is %d", wins.Load(), e.epoch)
		}
	}
	// One client is given one answer in many goroutines.
	e := newHelloEnd(t, helloConfig())
	d := e.dial()
	answer := e.answer(d.hello())
	var sessions atomic.Int32
	var group sync.WaitGroup
	for range 20 {
		group.Go(func() {
			if _, ok := d.Session(answer); ok {
				sessions.Add(1)
			}
		})
	}
	group.Wait()
	if sessions.Load() != 1 {
		t.Errorf("%d sessions of one answer", sessions.Load())
	}
}

// TestOpenedLate has a session whose random bytes another session has used between Begin and Opened.
func TestOpenedLate(t *testing.T) {
	e := newHelloEnd(t, helloConfig())
	a, b := e.dial(), e.dial()
	a.answered(e.answer(a.hello()))
	b.answered(e.answer(b.hello()))
	late, _, err := e.Begin(a.Opening(nil), e.config)
	if err != nil {
		t.Fatal(err)
	}
	e.want("b", b.opening(), nil)
	if e.Opened(late) {
		t.Error("two sessions have opened for the same random bytes")
	}
	b.wantData("b", nil)
	if e.Opened(b.HelloSession) || e.Opened(HelloSession{}) {
		t.Error("a session opens twice")
	}
	// Of a session without Begin nothing is taken back.
	fresh := newHelloEnd(t, helloConfig())
	d := fresh.dial()
	d.answered(fresh.answer(d.hello()))
	if fresh.Opened(d.HelloSession); fresh.forged != 0 {
		t.Errorf("%d wrong openings", fresh.forged)
	}
}

// TestHelloFork has a child at each point of a handshake. The parent and the child must not both go
// on.
func TestHelloFork(t *testing.T) {
	e := newHelloEnd(t, helloConfig())
	e.connected()
	d := e.dial()
	answer := e.answer(d.hello())
	other := e.dial()
	other.answered(e.answer(other.hello()))
	s, _, err := e.Begin(other.Opening(nil), e.config)
	if err != nil {
		t.Fatal(err)
	}

	fork.Pretend()
	if _, ok := d.Session(answer); ok {
		t.Error("the client of the parent has a session")
	}
	for _, s := range []HelloSession{other.HelloSession, s, {}} {
		if _, err := NewUMACSender(s.With(toServer(e.config))); err == nil {
			t.Error("a session of the parent has a sender")
		}
	}
	if got, err := e.Answer(nil, d.hello(), e.config, testServer, testClient); got != nil || err != ErrCopied {
		t.Errorf("Answer: %x, %v", got, err)
	}
	for _, opening := range [][]byte{other.Opening(nil), make([]byte, OpeningSize)} {
		if _, open, err := e.Begin(opening, e.config); open || err != ErrCopied {
			t.Errorf("Begin: %v, %v", open, err)
		}
	}
	if e.Opened(s) {
		t.Error("a session of the parent opens")
	}
	newHelloEnd(t, helloConfig()).connected().wantData("a new server and client", nil)
}

func TestHelloErrors(t *testing.T) {
	c := helloConfig()
	short := c
	short.Secret = make([]byte, 15)
	for _, bad := range []struct {
		c        Config
		me, peer string
	}{
		{short, "a", "b"}, {c, "", "b"}, {c, "a", ""}, {c, "a", "a"}, {c, strings.Repeat("a", 256), "b"}, {c, "a", strings.Repeat("b", 256)}, {Config{}, "a", "b"},
	} {
		if h, err := NewHelloClient(bad.c, bad.me, bad.peer); h != nil || err == nil || !strings.HasPrefix(err.Error(), "packet: ") {
			t.Errorf("NewHelloClient, %q and %q: %v", bad.me, bad.peer, err)
		}
		var h HelloServer
		if got, err := h.Answer([]byte("dst"), make([]byte, HelloSize), bad.c, bad.me, bad.peer); string(got) != "dst" || err == nil || err == ErrForged {
			t.Errorf("Answer, %q and %q: %q, %v", bad.me, bad.peer, got, err)
		}
	}
	// Fields of one direction, and those for packets only, do not matter.
	d := newHelloEnd(t, c).dial()
	c.Sender, c.Receiver, c.Epoch, c.TagSize, c.DataSize = "x", "y", 9, 7, 99
	if _, err := new(HelloServer).Answer(nil, d.hello(), c, testServer, testClient); err != nil {
		t.Error(err)
	}
}

func TestHelloClientDestroy(t *testing.T) {
	e := newHelloEnd(t, helloConfig())
	h := e.dial().HelloClient
	if s := fmt.Sprintf("%v %+v %s %#v", h, h, h, h.helloClientName); s != strings.TrimSpace(strings.Repeat("packet.HelloClient ", 4)) {
		t.Errorf("prints as %s", s)
	}
	h.Destroy()
	h.Destroy()
	for i, b := range mactest.Contents(h) {
		if b != 0 {
			t.Errorf("byte %d is %#x after Destroy", i, b)
		}
	}
	for _, h := range []*HelloClient{h, new(HelloClient)} {
		for name, f := range map[string]func(){"Hello": func() { h.Hello(nil) }, "Session": func() { h.Session(make([]byte, HelloSize)) }} {
			mactest.MustPanic(t, name, "packet: use of a HelloClient that was destroyed or never set up", f)
		}
	}
}

func TestHelloSizes(t *testing.T) {
	if n := unsafe.Sizeof(HelloServer{}); n > 64 {
		t.Errorf("a HelloServer has %d bytes", n)
	}
	t.Logf("HelloServer %d bytes, HelloClient %d, HelloSession %d", unsafe.Sizeof(HelloServer{}), unsafe.Sizeof(HelloClient{}), unsafe.Sizeof(HelloSession{}))
}

func TestHelloAllocations(t *testing.T) {
	if fipsMode() {
		t.Skip("FIPS 140 mode: crypto/hmac allocates")
	}
	e := newHelloEnd(t, helloConfig())
	clients := make([]*dialer, 60)
	for i := range clients {
		clients[i] = e.dial()
	}
	hello, answer, opening := make([]byte, 0, HelloSize), make([]byte, 0, HelloSize), make([]byte, 0, OpeningSize)
	forged := make([]byte, HelloSize)
	i := 0
	if n := testing.AllocsPerRun(50, func() {
		d := clients[i]
		i++
		if _, err := e.Answer(answer, forged, e.config, testServer, testClient); err != ErrForged {
			t.Fatal(err)
		}
		got, err := e.Answer(answer, d.Hello(hello), e.config, testServer, testClient)
		if err != nil {
			t.Fatal(err)
		}
		if _, ok := d.Session(forged); ok {
			t.Fatal("a session of a forged answer")
		}
		s, ok := d.Session(got)
		if !ok {
			t.Fatal("no session")
		}
		n, _, err := e.Begin(s.Opening(opening), e.config)
		if err != nil {
			t.Fatal(err)
		}
		if c, _ := n.With(toServer(e.config)); c.Epoch != uint8(i) {
			t.Fatalf("epoch %d of session %d", c.Epoch, i)
		}
		if !e.Opened(n) {
			t.Fatal("not opened")
		}
		d.Destroy()
	}); n != 0 {
		t.Errorf("%v allocations", n)
	}
}

// BenchmarkHello measures what hellos and openings cost each end, also wrong ones.
func BenchmarkHello(b *testing.B) {
	c := helloConfig()
	h := mactest.Must(NewHelloClient(c, testClient, testServer))
	var server HelloServer
	hello, buffer := h.Hello(nil), make([]byte, 0, HelloSize)
	answer := mactest.Must(server.Answer(nil, hello, c, testServer, testClient))
	forged := bytes.Clone(hello)
	forged[20]++
	opening := slices.Concat(hello[1:17], answer[1:17])
	blind := make([]byte, OpeningSize)
	var r UMACReceiver
	p := append(bytes.Clone(opening), make([]byte, 40)...)
	p[len(p)-24] = 1 // the epoch
	for _, f := range []struct {
		name string
		f    func()
	}{
		{"client", func() { NewHelloClient(c, testClient, testServer) }},
		{"answer", func() { server.Answer(buffer, hello, c, testServer, testClient) }},
		{"forged hello", func() { server.Answer(buffer, forged, c, testServer, testClient) }},
		{"forged answer", func() { h.Session(forged) }},
		{"blind opening", func() { server.Begin(blind, c) }},
		{"forged opening", func() {
			s, _, err := server.Begin(opening, c)
			if err != nil {
				b.Fatal(err)
			}
			r.Init(s.With(toServer(c)))
			if _, _, err := r.Open(p, nil); err != ErrForged {
				b.Fatal(err)
			}
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
