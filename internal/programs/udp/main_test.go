// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package main

import (
	"fmt"
	"io"
	"math"
	"net"
	"net/netip"
	"os"
	"strings"
	"syscall"
	"testing"

	"golang.org/x/net/ipv4"
)

// TestMain makes this program one of the two sides, as it starts itself for them.
func TestMain(m *testing.M) {
	if len(os.Args) == 2 && (os.Args[1] == "server" || os.Args[1] == "client") {
		main()
		os.Exit(0)
	}
	if os.Getenv("GORACE") == "" {
		os.Setenv("GORACE", "atexit_sleep_ms=0") // else each side takes a second to end, with -race
	}
	os.Exit(m.Run())
}

func testSetup(mac string) Setup {
	return Setup{MAC: mac, Session: testSession, Peers: 300, Packets: 20_000, Size: 200, Batch: 32,
		Faults: Faults{Loss: .02, Replay: .02, Forge: .02, Reorder: 300, Seed: 7}}
}

func needUnix(t *testing.T) {
	if err := systemError(); err != nil {
		t.Skip(err) // no package helps: it needs another system
	}
}

// TestRun runs both sides with all faults. measure returns an error if a count is wrong.
func TestRun(t *testing.T) {
	needUnix(t)
	for _, mac := range append([]string{"none"}, testMacs()...) {
		for _, gso := range []bool{false, true} {
			if gso && gsoError() != nil {
				continue
			}
			for name, change := range map[string]func(*Setup){
				"many":    func(*Setup) {},
				"one":     func(c *Setup) { c.Peers, c.Reorder = 1, 5000 }, // beyond the window
				"perfect": func(c *Setup) { c.Faults = Faults{} },
				"batch=1": func(c *Setup) { c.Batch, c.Packets, c.Size = 1, 2000, minSize },
			} {
				t.Run(fmt.Sprintf("mac=%s/gso=%v/%s", mac, gso, name), func(t *testing.T) {
					c := testSetup(mac)
					c.GSO = gso
					change(&c)
					m, err := measure(c)
					if err != nil {
						t.Fatal(err)
					}
					n := m.server.Counts
					if n.Other != 0 || n.Good == 0 || m.client.Packets != uint64(c.Packets) {
						t.Errorf("%d packets; %v", m.client.Packets, n)
					}
					if mac != "none" && c.Loss > 0 && (n.Forged == 0 || n.Replayed == 0 || n.Unknown == 0) {
						t.Errorf("no faults: %v", n)
					}
					if mac != "none" && mac != "aesgcm" && name == "one" && n.Old == 0 {
						t.Errorf("nothing is too old: %v", n)
					}
					if c.Loss == 0 && n != (counts{Good: uint64(c.Packets)}) {
						t.Errorf("have %v, want %d good", n, c.Packets)
					}
				})
			}
		}
	}
}

// TestSeed runs twice. The counts depend on the seed only.
func TestSeed(t *testing.T) {
	needUnix(t)
	var have []counts
	for _, seed := range []uint64{3, 3, 4} {
		c := testSetup("umac64")
		c.Seed = seed
		m, err := measure(c)
		if err != nil {
			t.Fatal(err)
		}
		have = append(have, m.server.Counts)
	}
	if have[0] != have[1] || have[0] == have[2] {
		t.Errorf("seeds 3, 3 and 4 have the counts\n%v\n%v\n%v", have[0], have[1], have[2])
	}
}

// TestWrongCounts checks that nothing is taken for right that is not.
func TestWrongCounts(t *testing.T) {
	good := measured{client: Report{Counts: counts{Good: 5, Old: 1}}, server: Report{Counts: counts{Good: 5, Old: 1}}}
	if err := good.check(); err != nil {
		t.Error(err)
	}
	for i, change := range []func(*counts){
		func(c *counts) { c.Good-- },
		func(c *counts) { c.Forged++ },
		func(c *counts) { c.Epoch++ },
		func(c *counts) { c.Replayed++ },
		func(c *counts) { c.Old-- },
		func(c *counts) { c.Unknown++ },
		func(c *counts) { c.Other++ },
	} {
		m := good
		change(&m.server.Counts)
		if m.check() == nil {
			t.Errorf("change %d is not found", i)
		}
	}
	m := good
	m.server.Lost = 1
	if err := m.check(); err == nil || !strings.Contains(err.Error(), "kernel lost 1") {
		t.Errorf("a loss in the kernel gives %v", err)
	}
}

// TestKernelLoss has a server that drops datagrams before it counts them, as a full
// socket does. The client must come to its end, and the report must have all of them.
func TestKernelLoss(t *testing.T) {
	needUnix(t)
	conn, err := net.ListenUDP("udp4", net.UDPAddrFromAddrPort(netip.MustParseAddrPort("127.0.0.1:0")))
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	c := testSetup("umac64")
	c.Master = newMaster()
	c.Server = Address{conn.LocalAddr().(*net.UDPAddr).AddrPort(), 100}
	reports := make(chan Report, 1)
	s, err := newServer(&c, c.Server.Window, func(r Report) { reports <- r })
	if err != nil {
		t.Fatal(err)
	}
	dropped := uint64(0)
	go func() {
		buffer := make([]byte, 2048)
		for n := 0; ; {
			k, from, err := conn.ReadFrom(buffer)
			if err != nil {
				return
			}
			if mark(buffer[:k]) < markFlow {
				// Fewer in all than make the client wait: that would take its time.
				if n++; n%1000 == 999 {
					dropped++
					continue
				}
			}
			if answer := s.take(buffer[:k]); len(answer) > 0 {
				conn.WriteTo(answer, from)
			}
			s.flush()
			if message, _ := s.count(); message != nil {
				conn.WriteTo(message, from)
			}
		}
	}()
	client, err := runClient(&c)
	if err != nil {
		t.Fatal(err)
	}
	server := <-reports
	if server.Lost != dropped || dropped == 0 || (measured{client, server}).check() == nil {
		t.Errorf("%d datagrams dropped, %d reported", dropped, server.Lost)
	}
	if server.Packets+server.Lost != client.Written {
		t.Errorf("%d received and %d lost of %d", server.Packets, server.Lost, client.Written)
	}
}

// TestForgedFlow checks that nobody else can tell the ends what has arrived.
func TestForgedFlow(t *testing.T) {
	e := newEnd(t, "umac64", newMaster())
	f, err := newFlow(&Setup{Master: e.master, Session: testSession}, "client", "server")
	if err != nil {
		t.Fatal(err)
	}
	m, err := f.seal(flowEnd, 0)
	if err != nil {
		t.Fatal(err)
	}
	for i := range 8 * len(m) {
		forged := append([]byte(nil), m...)
		forged[i/8] ^= 1 << (i % 8)
		if e.take(forged) != nil {
			t.Errorf("a message with bit %d changed has an answer", i)
		}
		e.flush()
	}
	if e.reported {
		t.Error("a forged message has ended the run")
	}
	answer := append([]byte(nil), e.take(m)...)
	if kind, _, ok := f.open(answer); !ok || kind != flowEnd || !e.reported {
		t.Error("the right message has no answer")
	}
	if e.take(m) != nil {
		t.Error("its replay has an answer")
	}
	// What somebody else sends counts, and does not make the client wait for room.
	c := &client{Setup: &Setup{}, flow: f, written: 1}
	e.take([]byte("junk"))
	e.take([]byte("junk"))
	if m, err = f.seal(flowAsk, c.written); err != nil {
		t.Fatal(err)
	}
	if _, ok := c.take(e.take(m)); !ok || c.arrived != c.written {
		t.Errorf("%v, %d of %d datagrams have arrived", ok, c.arrived, c.written)
	}
	reflected := &client{flow: f}
	if _, ok := reflected.take(m); ok {
		t.Error("the client takes its own message for one of the server")
	}
}

// testSession is what measure would draw.
var testSession = [32]byte([]byte("16 random bytes and 16 others..."))

// TestFlowSession has two runs with one master secret. Nothing of the first is taken in the second:
// their keys are different, though the counters are the same.
func TestFlowSession(t *testing.T) {
	c := Setup{MAC: "umac64", Peers: 2, Master: newMaster(), Session: testSession}
	var first, second []byte
	for i, m := range []*[]byte{&first, &second} {
		c.Session[0] = byte(i)
		f, err := newFlow(&c, "client", "server")
		if err != nil {
			t.Fatal(err)
		}
		if *m, err = f.seal(flowAsk, 0); err != nil {
			t.Fatal(err)
		}
	}
	s, err := newServer(&c, 4, func(Report) {})
	if err != nil {
		t.Fatal(err)
	}
	if s.take(first) != nil {
		t.Error("a message of the first run has an answer in the second")
	}
	if s.take(second) == nil {
		t.Error("the message of the second run has no answer")
	}
}

func TestFlags(t *testing.T) {
	for _, args := range [][]string{
		{"-mac", "md5"}, {"-peers", "0"}, {"-peers", "1000001"}, {"-packets", "0"}, {"-size", "7"}, {"-size", "1449"},
		{"-batch", "0"}, {"-batch", "257"}, {"-reorder", "-1"}, {"-loss", "-.1"}, {"-loss", "NaN"}, {"-replay", ".6"},
		{"-forge", "2"}, {"10.0.0.1:80"}, {"-peers", "many"}, {"-what"},
	} {
		if _, _, err := parse(args); err == nil {
			t.Errorf("%q gives no error", args)
		}
	}
	if gsoError() != nil {
		if _, _, err := parse([]string{"-gso"}); err == nil {
			t.Error("-gso gives no error on a system without it")
		}
	}
	c, compared, err := parse(nil)
	if err != nil || !compared || c.Peers != 100_000 || c.Reorder != 500 {
		t.Errorf("without flags: %+v, %v, %v", c, compared, err)
	}
	if _, compared, err := parse([]string{"-mac", "gmac"}); err != nil || compared {
		t.Errorf("-mac gmac: %v, %v", compared, err)
	}
}

func TestLoopback(t *testing.T) {
	for address, want := range map[string]bool{
		"127.0.0.1:1": true, "127.9.9.9:1": true, "0.0.0.0:1": false, "10.0.0.1:1": false, "[::1]:1": false, "[::ffff:10.0.0.1]:1": false,
	} {
		if err := loopback(netip.MustParseAddrPort(address)); (err == nil) != want {
			t.Errorf("%s: %v", address, err)
		}
	}
	if _, err := runClient(&Setup{Server: Address{netip.MustParseAddrPort("192.0.2.1:1"), 1}}); err == nil {
		t.Error("the client sends to 192.0.2.1")
	}
	if err := run([]string{"client"}, strings.NewReader("{"), io.Discard); err == nil && systemError() == nil {
		t.Error("a broken setup gives no error")
	}
}

// TestRefusedGSO has a kernel that does not know UDP_SEGMENT. Everything must be sent, once.
func TestRefusedGSO(t *testing.T) {
	if err := gsoError(); err != nil {
		t.Skip(err) // no package helps: it needs Linux
	}
	room := make([]byte, 100*10)
	var datagrams [][]byte
	for i := range 100 {
		room[10*i] = byte(i)
		datagrams = append(datagrams, room[10*i:10*i+10])
	}
	datagrams = append(datagrams, []byte("longer datagram"), []byte("x"))
	for _, refusal := range []error{nil, syscall.EIO, syscall.EINVAL, os.NewSyscallError("sendmmsg", syscall.EIO)} {
		w := &writer{gso: true}
		var got []byte
		calls, most := 0, 0
		w.write = func(msgs []ipv4.Message, _ int) (int, error) {
			calls++
			if w.gso && refusal != nil && calls == 2 { // the first one went through
				return 0, refusal
			}
			m := msgs[0] // one message a call, as a kernel may
			if len(m.OOB) > 0 && !w.gso {
				t.Error("a control message without gso")
			}
			if w.gso && (len(m.OOB) > 0) != (w.counts[0] > 1) {
				t.Errorf("%d datagrams and a control message of %d bytes", w.counts[0], len(m.OOB))
			}
			most = max(most, w.counts[0])
			for _, b := range m.Buffers {
				got = append(got, b...)
			}
			return 1, nil
		}
		if err := w.send(datagrams); err != nil {
			t.Fatal(err)
		}
		if want := string(room) + "longer datagramx"; string(got) != want || most != gsoMax || w.gso != (refusal == nil) {
			t.Errorf("refusal %v: %d bytes of %d, equal: %v; at most %d segments; gso %v",
				refusal, len(got), len(want), string(got) == want, most, w.gso)
		}
	}
	w := &writer{write: func([]ipv4.Message, int) (int, error) { return 0, syscall.EIO }}
	if err := w.send(datagrams); err == nil {
		t.Error("EIO without gso gives no error")
	}
}

func TestWindow(t *testing.T) {
	for _, c := range []struct{ buffer, size, want int }{
		{0, 1200, 1}, {212992 * 2, 1200, 86}, {8 << 20, 1200, maxWindow}, {math.MaxInt, minSize, maxWindow},
	} {
		if have := window(c.buffer, c.size); have != c.want {
			t.Errorf("buffer %d, size %d: have %d, want %d", c.buffer, c.size, have, c.want)
		}
	}
}

func TestCompare(t *testing.T) {
	needUnix(t)
	c := testSetup("")
	c.Peers, c.Packets = 10, 500
	var out strings.Builder
	if err := compare(c, &out); err != nil {
		t.Fatal(err)
	}
	for _, mac := range append([]string{"none"}, testMacs()...) {
		if !strings.Contains(out.String(), mac+"  ") {
			t.Errorf("no line for %s:\n%s", mac, out.String())
		}
	}
	out.Reset()
	c.MAC = "umac128"
	if err := single(c, &out); err != nil || !strings.Contains(out.String(), "500 packets sealed") {
		t.Errorf("%v\n%s", err, out.String())
	}
}
