// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package main

import (
	"bytes"
	"crypto/rand"
	"encoding/binary"
	"slices"
	"testing"

	"example.com/fastmac"
	"example.com/fastmac/internal/mactest"
	"example.com/fastmac/packet"
)

// testMacs are the values of -mac with a handshake.
func testMacs() []string {
	if fastmac.RequireGCM() != nil {
		return []string{"umac64", "umac128"}
	}
	return macs[2:]
}

// end is a server with two peers, and what a test has of it.
type end struct {
	*server
	mac    string
	master master
}

func newEnd(t *testing.T, mac string, m master) *end {
	t.Helper()
	s, err := newServer(&Setup{MAC: mac, Peers: 2, Master: m, Session: testSession}, 4, func(Report) {})
	if err != nil {
		t.Fatal(err)
	}
	return &end{s, mac, m}
}

// dialer is the client of peer 1.
type dialer struct {
	senders
	hello []byte // the datagram
}

func (e *end) config(number uint32) packet.Config {
	var s peerSecret
	e.master.peer(number, &s)
	return s.config(tagSize(e.mac))
}

// dial returns a client of peer 1 that has just started.
func (e *end) dial() *dialer {
	s := mactest.Must(newSenders(&Setup{MAC: e.mac, Peers: 2}))
	hello := mactest.Must(s.hello(1, e.config(1)))
	return &dialer{s, append(putMark(nil, markHello, 1), hello...)}
}

// answered sets up the client with an answer.
func (e *end) answered(t *testing.T, d *dialer, answer []byte) {
	t.Helper()
	if len(answer) != helloSize || mark(answer) != markAnswer || mark(answer[4:]) != 1 {
		t.Fatalf("answer %x", answer)
	}
	if !d.answer(1, answer[markedSize:]) {
		t.Fatal("the client refuses the answer")
	}
}

// connected returns a client whose session is open.
func (e *end) connected(t *testing.T) *dialer {
	t.Helper()
	d := e.dial()
	e.answered(t, d, bytes.Clone(e.take(d.hello)))
	e.expect(t, "opening packet", d.opening(t), counts{Good: 1})
	return d
}

func (d *dialer) seal(t *testing.T, message []byte) []byte {
	t.Helper()
	batch := []packet.Packet{{Bytes: message}}
	if err := d.senders.seal([]uint32{1}, batch); err != nil {
		t.Fatal(err)
	}
	return batch[0].Bytes
}

func (d *dialer) opening(t *testing.T) []byte {
	return mactest.Must(d.first(1, append(putMark(nil, markOpen, 1), "some bytes"...)))
}

func (d *dialer) data(t *testing.T) []byte {
	return d.seal(t, append(binary.BigEndian.AppendUint32(nil, 1), "some data"...))
}

// expect gives the server a packet, and wants the one count.
func (e *end) expect(t *testing.T, what string, datagram []byte, want counts) {
	t.Helper()
	e.counts = counts{}
	if answer := e.take(bytes.Clone(datagram)); answer != nil {
		t.Errorf("%s has an answer", what)
	}
	e.flush()
	if want = want.as(e.mac); e.counts != want {
		t.Errorf("%s %s: have %v, want %v", e.mac, what, e.counts, want)
	}
}

func newMaster() (m master) {
	rand.Read(m[:])
	return m
}

func TestHello(t *testing.T) {
	for _, mac := range testMacs() {
		e := newEnd(t, mac, newMaster())
		d := e.dial()
		answer := bytes.Clone(e.take(d.hello))
		if len(answer) != len(d.hello) {
			t.Errorf("an answer of %d bytes to a hello of %d", len(answer), len(d.hello))
		}
		e.answered(t, d, answer)
		e.expect(t, "data before an opening packet", d.data(t), counts{Unknown: 1})
		opening := d.opening(t)
		e.expect(t, "opening packet", opening, counts{Good: 1})
		e.expect(t, "its replay", opening, counts{Replayed: 1})
		e.expect(t, "another opening packet", d.opening(t), counts{Good: 1})
		data := d.data(t)
		e.expect(t, "data", data, counts{Good: 1})
		e.expect(t, "its replay", data, counts{Replayed: 1})
	}
}

// TestReplayedHellos plays back old hellos and opening packets at all times.
func TestReplayedHellos(t *testing.T) {
	for _, mac := range testMacs() {
		e := newEnd(t, mac, newMaster())
		var hellos, openings [][]byte // of earlier sessions
		attack := func(when string) {
			t.Helper()
			before := e.answers()
			for _, hello := range hellos {
				if answer := e.take(hello); len(answer) != len(hello) {
					t.Errorf("%s: an answer of %d bytes to a hello of %d", when, len(answer), len(hello))
				}
			}
			for _, opening := range openings {
				e.counts = counts{}
				if e.take(bytes.Clone(opening)); e.counts.Good != 0 {
					t.Errorf("%s: an old opening packet is good", when)
				}
			}
			if !slices.Equal(before, e.answers()) {
				t.Errorf("%s: replays have changed the server", when)
			}
		}
		var last *dialer
		for range 5 {
			d := e.dial()
			attack("before the hello")
			answer := bytes.Clone(e.take(d.hello))
			attack("after the answer")
			if last != nil {
				e.expect(t, "old session, before the new one opens", last.data(t), counts{Good: 1})
			}
			e.answered(t, d, answer)
			opening := d.opening(t)
			attack("before the opening packet")
			e.expect(t, "opening packet", opening, counts{Good: 1})
			hellos, openings = append(hellos, d.hello), append(openings, opening)
			attack("after the opening packet")
			e.expect(t, "data", d.data(t), counts{Good: 1})
			if last != nil {
				e.expect(t, "old session", last.data(t), counts{Epoch: 1})
			}
			last = d
		}
	}
}

// answers returns what the server says to a hello of each peer: its random bytes and the next epoch.
func (e *end) answers() (all []string) {
	for i := range e.all {
		k := mactest.Must(packet.NewUMACClient(e.config(i), clientName, serverName))
		answer := e.take(append(putMark(nil, markHello, i), k.Hello(nil)...))
		all = append(all, string(answer[markedSize:helloSize-16]))
	}
	return all
}

func TestLostAnswers(t *testing.T) {
	e := newEnd(t, "umac128", newMaster())
	old := e.connected(t)
	d := e.dial()
	for range 3 { // lost
		e.take(d.hello)
	}
	e.expect(t, "old session", old.data(t), counts{Good: 1})
	e.answered(t, d, bytes.Clone(e.take(d.hello))) // the same hello once more
	d.opening(t)                                   // lost
	e.expect(t, "old session", old.data(t), counts{Good: 1})
	e.expect(t, "second opening packet", d.opening(t), counts{Good: 1})

	// The client has an answer, and restarts before it uses it.
	e.take(e.dial().hello)
	next := e.connected(t)
	e.expect(t, "data", next.data(t), counts{Good: 1})
}

func TestBothRestart(t *testing.T) {
	for _, mac := range testMacs() {
		m := newMaster()
		e := newEnd(t, mac, m)
		old := e.connected(t)
		oldHello := e.dial()
		oldAnswer := bytes.Clone(e.take(oldHello.hello))

		// The server restarts. What the client has is worth nothing, and harms nothing.
		e = newEnd(t, mac, m)
		e.answered(t, oldHello, oldAnswer)
		e.expect(t, "data of before", old.data(t), counts{Unknown: 1})
		e.expect(t, "opening packet of before", old.opening(t), counts{Forged: 1})
		e.expect(t, "session of the old server", oldHello.opening(t), counts{Forged: 1}) // its second

		// The client restarts too. The answer to its former hello is none to the new one.
		d := e.dial()
		if d.answer(1, oldAnswer[markedSize:]) {
			t.Error("the client takes the answer to another hello")
		}
		answer := bytes.Clone(e.take(d.hello))
		e.answered(t, d, answer)
		e.expect(t, "opening packet", d.opening(t), counts{Good: 1})
		e.expect(t, "data", d.data(t), counts{Good: 1})
		e.expect(t, "data of before", old.data(t), counts{Forged: 1}) // the epoch is the same
	}
}

func TestForgedHello(t *testing.T) {
	e := newEnd(t, "umac64", newMaster())
	d := e.connected(t)
	before := e.answers()
	hello := d.hello
	for i := range 8 * len(hello) {
		forged := bytes.Clone(hello)
		forged[i/8] ^= 1 << (i % 8)
		if answer := e.take(forged); len(answer) > 0 {
			t.Errorf("a hello with bit %d changed has an answer", i)
		}
		e.flush()
	}
	for _, forged := range [][]byte{{}, hello[:4], hello[:8], hello[:len(hello)-1], append(bytes.Clone(hello), 0)} {
		if answer := e.take(forged); len(answer) > 0 {
			t.Errorf("a hello of %d bytes has an answer", len(forged))
		}
		e.flush()
	}
	// There are peers 0 and 1.
	k := mactest.Must(packet.NewUMACClient(e.config(2), clientName, serverName))
	if answer := e.take(k.Hello(putMark(nil, markHello, 2))); len(answer) > 0 {
		t.Error("peer 2 has an answer")
	}
	if !slices.Equal(before, e.answers()) {
		t.Error("forged hellos have changed the server")
	}
	e.expect(t, "data", d.data(t), counts{Good: 1})
}

// TestForgedOpening changes each bit of an opening packet. None of them opens a session.
func TestForgedOpening(t *testing.T) {
	for _, mac := range testMacs() {
		e := newEnd(t, mac, newMaster())
		old := e.connected(t)
		d := e.dial()
		e.answered(t, d, bytes.Clone(e.take(d.hello)))
		opening := d.opening(t)
		before := e.answers()
		for i := range 8 * len(opening) {
			forged := bytes.Clone(opening)
			forged[i/8] ^= 1 << (i % 8)
			e.counts = counts{}
			e.take(forged)
			e.flush()
			if e.counts.Good != 0 {
				t.Errorf("%s: an opening packet with bit %d changed is good", mac, i)
			}
		}
		for n := range opening {
			e.counts = counts{}
			e.take(bytes.Clone(opening[:n]))
			e.flush()
			if e.counts.Good != 0 {
				t.Errorf("%s: an opening packet of %d bytes is good", mac, n)
			}
		}
		if !slices.Equal(before, e.answers()) {
			t.Errorf("%s: forged packets have changed the server", mac)
		}
		e.expect(t, "old session", old.data(t), counts{Good: 1})
		e.expect(t, "opening packet", opening, counts{Good: 1})
	}
}
