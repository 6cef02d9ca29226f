// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package packet

import (
	"bytes"
	"fmt"
	"slices"
	"testing"

	"example.com/fastmac/internal/mactest"
)

// TestModel goes through all that two clients with one Secret, a server and an attacker can do in a few steps: the
// ends say hello, answer, seal, start again and close, and the attacker delivers any message that was ever sent, in
// any order, as often as it likes, to anybody, with the opening of another one or with none. A second thread of the
// server stands still between the load of the session and what it does with it. What runs is the code itself, with
// random bytes that are numbered. In each state
//
//   - no counter was used twice under one key,
//   - nothing was accepted twice, and nothing that was not sent,
//   - nothing was accepted after Close, or a start, of what was sent before,
//   - the server has sealed only in sessions of packets that it has accepted,
//   - a client that has an answer, and whose session can still open, is served.
//
// States that are equal but for what does not matter are visited once.
func TestModel(t *testing.T) {
	defer func(old func([]byte) (int, error)) { draw = old }(draw)
	hello := func(i int) []modelStep { // client i starts, gets an answer and seals
		return []modelStep{{clientStarts, i, 0}, {toServerHello, i, 0}, {toClientAnswer, i, i}, {clientSeals, i, 0}}
	}
	first, second := hello(0), hello(1)
	opened := modelStep{toServerPacket, 0, 0}
	for _, begin := range []struct {
		what  string
		path  []modelStep
		depth int
	}{
		{"nothing", nil, 5},
		{"a packet of a client", first, 4},
		{"two clients with an answer", slices.Concat(first, second), 4},
		{"an open session, and a client with an answer", slices.Concat(first, []modelStep{opened}, second), 4},
		{"the same, with an echo and a thread", slices.Concat(first, []modelStep{opened, {serverSeals, 0, 0}, {threadLoads, 0, 0}}, second), 3},
		{"two sessions, and a thread that has loaded the first", slices.Concat(first, []modelStep{opened, {threadLoads, 0, 0}}, second, []modelStep{{toServerPacket, 1, 1}}), 4},
		{"a right opening with another packet", slices.Concat(first, second, []modelStep{{toServerPacket, 0, 1}}), 4},
	} {
		switch {
		case mactest.Race: // one goroutine
			begin.depth -= 2
		case testing.Short():
			begin.depth--
		}
		level, seen := [][]modelStep{begin.path}, make(map[string]bool)
		for range begin.depth {
			var next [][]modelStep
			for _, path := range level {
				for _, step := range runModel(t, path).steps() {
					longer := append(slices.Clone(path), step)
					if m := runModel(t, longer); !seen[m.key()] {
						seen[m.key()] = true
						next = append(next, longer)
						m.probe(longer)
					}
				}
			}
			level = next
		}
		if t.Logf("%s: %d states", begin.what, len(seen)); len(seen) < 10 {
			t.Errorf("%s: %d states", begin.what, len(seen))
		}
	}
}

// A modelStep is what happens, to a client or with messages.
type modelStep struct {
	what    modelAction
	at, and int
}

type modelAction int

const (
	clientStarts modelAction = iota // in place of client at
	clientSeals
	toClientAnswer // answer and to client at
	toClientPacket // packet and of the server to client at
	toServerHello  // that of start at
	toServerPacket // packet at of a client, with the opening of packet and, or with none
	serverSeals
	serverCloses
	serverStarts
	threadLoads // the session
	threadOpens // packet at
	threadSeals
)

func (s modelStep) String() string {
	return fmt.Sprint([...]string{"client starts", "client seals", "answer to client", "packet to client", "hello to server", "packet to server", "server seals",
		"server closes", "server starts", "thread loads", "thread opens", "thread seals"}[s.what], " ", s.at, " ", s.and)
}

// Bounds of the model.
const (
	modelClients = 2
	modelStarts  = 3 // of clients
	modelPackets = 3 // of clients
	modelEchoes  = 2
	modelResets  = 2 // starts and closes of the server
	modelAnswers = 3
)

// A model is a state.
type model struct {
	t       *testing.T
	path    []modelStep
	clients [modelClients]*modelClient
	server  *UMACServer
	draws   int
	resets  int

	starts  []*modelClient // all clients that have said hello
	answers []modelAnswer
	packets []modelPacket // of clients
	echoes  []modelEcho

	loaded                   bool // by the other thread
	receiver                 *UMACReceiver
	sender                   *UMACSender
	used, accepted, received map[string]bool
	opened                   map[string]bool // sessions of packets that the server has accepted
}

type modelClient struct {
	*UMACClient
	hello    []byte
	answered bool
	modelTime
}

// A modelTime is how far the server is: an answer is good for as long as it is the same.
type modelTime struct {
	sessions uint64
	resets   int
}

type modelAnswer struct {
	bytes []byte
	modelTime
}

func (m *model) now() modelTime { return modelTime{m.server.Stats().Sessions, m.resets} }

type modelPacket struct {
	bytes   []byte // without its opening
	opening []byte
	from    *modelClient
	counter int
	resets  int // of the server, when it was sealed
}

type modelEcho struct {
	bytes   []byte
	session heads
}

// runModel has the steps of a path happen.
func runModel(t *testing.T, path []modelStep) *model {
	m := &model{t: t, path: path, used: make(map[string]bool), accepted: make(map[string]bool), received: make(map[string]bool), opened: make(map[string]bool)}
	draw = func(b []byte) (int, error) {
		m.draws++
		return copy(b, drawnAt(7, m.draws)), nil
	}
	m.server = mactest.Must(NewUMACServer(modelConfig, testServer, testClient))
	for _, step := range path {
		m.do(step)
	}
	return m
}

var modelConfig = Config{Secret: pattern(16), TagSize: 8}

func (m *model) fail(what string) {
	m.t.Helper()
	m.t.Fatalf("%s: %v", what, m.path)
}

// steps returns all that can happen next.
func (m *model) steps() (all []modelStep) {
	add := func(what modelAction, at, and int) { all = append(all, modelStep{what, at, and}) }
	for i, k := range m.clients {
		if len(m.starts) < modelStarts && (i == 0 || m.clients[i-1] != nil) {
			add(clientStarts, i, 0)
		}
		if k == nil {
			continue
		}
		if k.answered && len(m.packets) < modelPackets {
			add(clientSeals, i, 0)
		}
		for j := range m.answers {
			add(toClientAnswer, i, j)
		}
		for j := range m.echoes {
			add(toClientPacket, i, j)
		}
	}
	if len(m.answers) < modelAnswers {
		for i := range m.starts {
			add(toServerHello, i, 0)
		}
	}
	for i := range m.packets {
		for j := -1; j < len(m.packets); j++ {
			add(toServerPacket, i, j)
		}
		if m.loaded && m.receiver != nil {
			add(threadOpens, i, 0)
		}
	}
	if len(m.echoes) < modelEchoes {
		add(serverSeals, 0, 0)
		if m.loaded && m.sender != nil {
			add(threadSeals, 0, 0)
		}
	}
	if m.resets < modelResets {
		add(serverCloses, 0, 0)
		add(serverStarts, 0, 0)
	}
	if m.server.Receiver() != m.receiver {
		add(threadLoads, 0, 0)
	}
	return all
}

// do has one step happen, and checks what must hold.
func (m *model) do(step modelStep) {
	m.t.Helper()
	switch step.what {
	case clientStarts:
		k := &modelClient{UMACClient: mactest.Must(NewUMACClient(modelConfig, testClient, testServer))}
		k.hello = k.Hello(nil)
		m.clients[step.at] = k
		m.starts = append(m.starts, k)
	case clientSeals:
		k := m.clients[step.at]
		n := k.Sender().Stats().Sealed
		whole := mactest.Must(k.Seal([]byte{byte(len(m.packets))}, nil))
		p := modelPacket{bytes: whole[:1+numberSize+8], opening: whole[1+numberSize+8:], from: k, counter: int(n), resets: m.resets}
		m.use(k.heads, "client", p.bytes)
		m.packets = append(m.packets, p)
	case toClientAnswer:
		k := m.clients[step.at]
		if a := m.answers[step.and]; k.UMACClient.Answer(a.bytes) {
			k.modelTime = a.modelTime
			if k.answered {
				m.fail("a client takes two answers")
			}
			k.answered = true
		}
	case toClientPacket:
		k, e := m.clients[step.at], m.echoes[step.and]
		if _, _, err := k.Open(bytes.Clone(e.bytes), nil); err == nil {
			if e.session != k.heads {
				m.fail("a client accepts a packet of another session")
			}
			m.once(m.received, fmt.Sprint(k.heads, step.and))
		}
	case toServerHello:
		m.answers = append(m.answers, modelAnswer{mactest.Must(m.server.Answer(nil, m.starts[step.at].hello)), m.now()})
	case toServerPacket:
		p := m.packets[step.at]
		b := bytes.Clone(p.bytes)
		if step.and >= 0 {
			b = append(b, m.packets[step.and].opening...)
		}
		msg, _, err := m.server.Open(b, nil)
		m.accept(p, step.at, msg, err)
	case serverSeals:
		m.seal(m.server.Seal)
	case serverCloses:
		m.server.Close()
		m.resets++
	case serverStarts:
		m.server = mactest.Must(NewUMACServer(modelConfig, testServer, testClient))
		m.loaded, m.receiver, m.sender = false, nil, nil
		m.resets++
	case threadLoads:
		m.loaded, m.receiver, m.sender = true, m.server.Receiver(), m.server.Sender()
	case threadOpens:
		p := m.packets[step.at]
		msg, _, err := m.receiver.Open(bytes.Clone(p.bytes), nil)
		m.accept(p, step.at, msg, err)
	case threadSeals:
		m.seal(m.sender.Seal)
	}
}

// accept checks what the server says to a packet.
func (m *model) accept(p modelPacket, at int, msg []byte, err error) {
	m.t.Helper()
	if err != nil {
		return
	}
	if len(msg) != 1 || msg[0] != byte(at) {
		m.fail("a packet was changed")
	}
	if p.resets != m.resets {
		m.fail("a packet is accepted after Close or a start")
	}
	m.once(m.accepted, fmt.Sprint(at))
	m.opened[string(p.from.heads[:])] = true
}

func (m *model) once(set map[string]bool, key string) {
	m.t.Helper()
	if set[key] {
		m.fail("a packet is accepted twice")
	}
	set[key] = true
}

// seal has the server seal.
func (m *model) seal(seal func(packet, data []byte) ([]byte, error)) {
	m.t.Helper()
	p, err := seal([]byte{9}, nil)
	if err != nil {
		return
	}
	// The session is that in which it can be opened.
	for _, k := range m.starts {
		if !k.answered {
			continue
		}
		c := modelConfig
		h := handshake{}
		h.keys.derive(c.Secret, testClient, testServer)
		h.config = c
		h.config.Sender, h.config.Receiver = testClient, testServer
		_, receive, n := h.configs(&k.heads)
		if _, _, err := mactest.Must(NewUMACReceiver(receive, n)).Open(bytes.Clone(p), nil); err == nil {
			if !m.opened[string(k.heads[:])] {
				m.fail("the server seals in a session that no packet has opened")
			}
			m.use(k.heads, "server", p)
			m.echoes = append(m.echoes, modelEcho{p, k.heads})
			return
		}
	}
	m.fail("the server seals in a session of nobody")
}

// use checks that a number is used once under a key.
func (m *model) use(session heads, sender string, packet []byte) {
	m.t.Helper()
	key := fmt.Sprint(session, sender, packet[1:1+numberSize])
	if m.used[key] {
		m.fail("a counter is used twice")
	}
	m.used[key] = true
}

// key returns all that matters for what comes. Random bytes are as they were drawn, which is a number.
func (m *model) key() string {
	var b bytes.Buffer
	for _, k := range m.clients {
		if k != nil {
			fmt.Fprint(&b, k.hello[1:3], k.answered, k.state.Load(), k.heads[18:20], "|")
		}
	}
	s := m.server
	fmt.Fprint(&b, s.head[:3], s.epoch, m.resets, m.loaded, "|")
	for _, p := range []*session{s.current.Load(), s.tried} {
		if p != nil {
			fmt.Fprint(&b, p.heads[1:3], p.heads[18:20])
		}
		b.WriteByte('|')
	}
	if m.receiver != nil {
		fmt.Fprint(&b, m.receiver == s.Receiver(), m.receiver.soft, m.receiver.form.epoch)
	}
	for _, a := range m.answers {
		fmt.Fprint(&b, a.bytes[:3], a.bytes[17], "|")
	}
	for i, p := range m.packets {
		fmt.Fprint(&b, p.from.hello[1:3], len(p.opening), p.counter, p.resets == m.resets, m.accepted[fmt.Sprint(i)], "|")
	}
	for i, e := range m.echoes {
		fmt.Fprint(&b, e.session[1:3], e.bytes[1:9], m.received[fmt.Sprint(e.session, i)], "|")
	}
	for _, k := range m.starts {
		fmt.Fprint(&b, k.hello[1:3], m.opened[string(k.heads[:])])
	}
	return b.String()
}

// probe checks that a client is served whose session is open, or can still open. It changes the state.
func (m *model) probe(path []modelStep) {
	m.t.Helper()
	for i, k := range m.clients {
		if k == nil || !k.answered {
			continue
		}
		after := m
		if i > 0 {
			after = runModel(m.t, path)
			k = after.clients[i]
		}
		s := after.server
		p := s.current.Load()
		if p != nil && p.heads == k.heads || k.modelTime == after.now() {
			if _, _, err := s.Open(mactest.Must(k.Seal([]byte("probe"), nil)), nil); err != nil {
				after.fail(fmt.Sprint("a client is locked out: ", err))
			}
			if _, _, err := k.Open(mactest.Must(s.Seal([]byte("probe"), nil)), nil); err != nil {
				after.fail(fmt.Sprint("a client hears nothing: ", err))
			}
		}
	}
}
