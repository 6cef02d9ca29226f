// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package packet

import (
	"bytes"
	"slices"
	"strings"
	"testing"

	"example.com/fastmac"
	"example.com/fastmac/internal/mactest"
	"example.com/fastmac/packet/internal/packetref"
)

// drawn has everybody draw what follows from a seed. It returns what puts the random bytes back.
func drawn(seed byte) (restore func()) {
	old, next := draw, 0
	draw = func(b []byte) (int, error) {
		next++
		return copy(b, drawnAt(seed, next)), nil
	}
	return func() { draw = old }
}

// drawnAt returns what is drawn in the nth place.
func drawnAt(seed byte, n int) []byte {
	b := bytes.Repeat([]byte{seed}, helloRandomSize)
	b[0], b[1] = byte(n), byte(n>>8)
	return b
}

// A refClient has sent one hello. It has an answer once Answer has returned true.
type refClient struct {
	packetref.Hello
	Random         []byte
	Opening        []byte
	Sends, Accepts packetref.Key
	done           bool
}

// Answer reports whether it takes an answer. It takes one.
func (c *refClient) Answer(answer []byte) bool {
	hello := c.Hello.Hello(c.Random)
	if c.done || len(answer) != 33 || answer[0] == 0 || !bytes.Equal(answer, c.Hello.Answer(hello, answer[0], answer[1:17])) {
		return false
	}
	c.done = true
	c.Opening = c.Hello.Opening(hello, answer)
	c.Sends, c.Accepts = c.Keys(hello, answer)
	return true
}

// FuzzHello runs scripts of clients with one Secret, a network, and a server, beside the reference. No session opens
// twice, and no packet is accepted twice.
func FuzzHello(f *testing.F) {
	mactest.Seeds(f)
	f.Add([]byte("\x00\x00" + "\x00\x00" + "\x01\x00" + "\x02\x00" + "\x03\x00" + "\x04\x00" + "\x04\x00"))
	f.Add([]byte("\x02\x01" + "\x00\x00\x00\x00" + "\x01\x00\x01\x01" + "\x02\x01\x02\x02\x02\x03\x02\x00" + "\x03\x00\x03\x01\x84\x00\x05\x00\x84\x01" + "\x04\x00\x04\x01\x45\x00\x01\x00\x04\x00\x06\x00\x04\x01"))
	f.Add([]byte("\x01\x02" + "\x00\x00" + "\x01\x00" + "\x02\x00" + "\x03\x00\x03\x00\x03\x00" + "\x84\x00\x00\x00\x05" + "\x84\x01\x00\x00\x05" + "\x84\x02\x00\x00\x05" + "\x04\x00"))
	f.Fuzz(func(t *testing.T, code []byte) {
		defer drawn(3)()
		s := mactest.Script(code)
		a := fuzzAlgorithm(s.Byte())
		c := helloConfig()
		c.MaxForged = 1 + uint64(s.Byte()%8)
		names := packetref.Hello{Secret: c.Secret, Client: testClient, Server: testServer, Algorithm: a}
		server := newServerEnd(a, c)
		ref := packetref.HelloServer{Hello: names, Bits: minWindow, MaxForged: c.MaxForged}
		type end struct {
			client clientEnd
			ref    refClient
			sealed uint64
		}
		var clients []*end
		var answers, packets [][]byte
		draws := 0
		accepted := make(map[string]bool)
		damaged := func(how byte, b []byte) []byte {
			if b = bytes.Clone(b); how&0x80 != 0 {
				return s.Damage(b)
			}
			return b
		}
		for steps := 0; len(s) > 0 && steps < 60; steps++ {
			op, at := s.Byte(), int(s.Byte())
			if op%8 > 0 && op%8 < 4 && len(clients) == 0 || op%8 == 2 && len(answers) == 0 || (op%8 == 4 || op%8 == 6) && len(packets) == 0 {
				continue
			}
			switch op % 8 {
			case 0: // a client starts
				draws++
				k := &end{newClientEnd(a, c), refClient{Hello: names, Random: drawnAt(3, draws)}, 0}
				if clients = append(clients, k); !bytes.Equal(k.client.Hello(nil), names.Hello(k.ref.Random)) {
					t.Fatalf("hello %x, want %x", k.client.Hello(nil), names.Hello(k.ref.Random))
				}
			case 1: // a hello
				hello := damaged(op, clients[at%len(clients)].client.Hello(nil))
				none := ref.Next == nil
				answer, err := server.Answer(nil, hello)
				want := ref.Answer(hello, drawnAt(3, draws+1))
				if !bytes.Equal(answer, want) || (err == nil) != (want != nil) {
					t.Fatalf("answer %x, %v, want %x", answer, err, want)
				}
				if none && ref.Next != nil {
					draws++
				}
				if err == nil {
					answers = append(answers, answer)
				}
			case 2: // an answer
				k := clients[at%len(clients)]
				answer := damaged(op, answers[len(answers)-1-at/len(clients)%len(answers)])
				if got, want := k.client.Answer(answer), k.ref.Answer(answer); got != want {
					t.Fatalf("answer %x is taken: %v, want %v", answer, got, want)
				}
			case 3: // a packet
				k := clients[at%len(clients)]
				got, err := k.client.Seal([]byte("message"), nil)
				if k.ref.Opening == nil {
					if err != ErrNoSession || got != nil {
						t.Fatalf("Seal before an answer: %x, %v", got, err)
					}
					continue
				}
				want := append(k.ref.Sends.Seal([]byte("message"), nil, k.sealed), k.ref.Opening...)
				if k.sealed++; !bytes.Equal(got, want) {
					t.Fatalf("packet %x, %v, want %x", got, err, want)
				}
				packets = append(packets, got)
			case 4, 6: // it arrives, perhaps with another opening, or with none
				p := damaged(op, packets[at%len(packets)])
				if size := helloRandomSize + numberSize + a.TagSize(); op%8 == 6 && len(p) >= size {
					p = p[:len(p)-size]
					if op&0x40 != 0 {
						other := packets[at/len(packets)%len(packets)]
						p = append(p, other[len(other)-size:]...)
					}
				}
				epoch := ref.Epoch
				msg, counter, err := server.Open(p, nil)
				want, wantCounter, result := ref.Open(p, nil)
				if !bytes.Equal(msg, want) || counter != wantCounter || err != errorOf(result) {
					t.Fatalf("Open: %q, %d, %v; want %q, %d, %v", msg, counter, err, want, wantCounter, errorOf(result))
				}
				if err == nil {
					key := string(ref.Receiver.Session) + string(rune(counter))
					if accepted[key] {
						t.Fatal("a packet is accepted twice")
					}
					accepted[key] = true
				}
				if opened := server.Stats().Sessions; err != nil && epoch != ref.Epoch || byte(opened%255) != ref.Epoch%255 {
					t.Fatalf("%d sessions have opened, epoch %d", opened, ref.Epoch)
				}
			case 5:
				if op&0x40 != 0 {
					server.Close()
					ref.Close()
				}
				if _, err := server.Seal(nil, nil); (err == nil) != (ref.Opening != nil) {
					t.Fatalf("the server seals: %v", err)
				}
			}
			if head, epoch := headOf(server); epoch != ref.Epoch || !bytes.Equal(head[1:], append(ref.Next, make([]byte, 16-len(ref.Next))...)) {
				t.Fatalf("epoch %d, want %d; random bytes %x, want %x", epoch, ref.Epoch, head, ref.Next)
			}
		}
	})
}

const hellosFile = "testdata/hellos.json"

// helloVectors are those of one client and one server.
type helloVectors struct {
	Algorithm packetref.Algorithm `json:"algorithm"`
	Secret    hexBytes            `json:"secret"`
	Client    string              `json:"client"`
	Server    string              `json:"server"`
	Info      hexBytes            `json:"info"`
	OKM       hexBytes            `json:"okm"`
	Hello     hexBytes            `json:"hello"`
	Answer    hexBytes            `json:"answer"`
	Opening   hexBytes            `json:"opening"`
	Packet    hexBytes            `json:"packet"` // of the client, with counter 0 and the opening
	Echo      hexBytes            `json:"echo"`   // of the server, with counter 0
	Hellos    []hexBytes          `json:"refusedHellos"`
	Answers   []hexBytes          `json:"refusedAnswers"`
	Packets   []hexBytes          `json:"refusedPackets"` // before the session has opened
}

func (v *helloVectors) ref() packetref.Hello {
	return packetref.Hello{Secret: v.Secret, Client: v.Client, Server: v.Server, Algorithm: v.Algorithm}
}

var helloMessage = []byte("a message")

// makeHellos computes the vectors with the reference.
func makeHellos() (all []helloVectors) {
	for i, names := range [][2]string{{"client", "server"}, {"server", "client"}, {"c", "s/1"}, {strings.Repeat("n", 255), "m"}, {"\u00fc", strings.Repeat("n", 255)}} {
		v := helloVectors{Algorithm: packetref.Algorithm(1 + i%3), Secret: pattern(16 + 16*i), Client: names[0], Server: names[1]}
		ref := v.ref()
		client, server, epoch := bytes.Repeat([]byte{0xc1 + byte(i)}, 16), pattern(16 + i)[i:], uint8(1+254*i)%255+1
		v.Info, v.OKM = ref.Info(), ref.OKM()
		v.Hello = ref.Hello(client)
		v.Answer = ref.Answer(v.Hello, epoch, server)
		v.Opening = ref.Opening(v.Hello, v.Answer)
		toServer, toClient := ref.Keys(v.Hello, v.Answer)
		packet := toServer.Seal(helloMessage, nil, 0)
		v.Packet, v.Echo = slices.Concat(packet, v.Opening), toClient.Seal(helloMessage, nil, 0)
		bad := func(b []byte, ats ...int) (bad []hexBytes) {
			for _, at := range ats {
				c := bytes.Clone(b)
				c[at] ^= 0x10
				bad = append(bad, c)
			}
			return append(bad, b[:len(b)-1], append(bytes.Clone(b), 0), nil)
		}
		swapped, other := ref, ref
		swapped.Client, swapped.Server = ref.Server, ref.Client
		other.Secret = append(bytes.Clone(ref.Secret), 1)
		v.Hellos = append(bad(v.Hello, 0, 1, 16, 17, 32), v.Answer, swapped.Hello(client), other.Hello(client))
		v.Answers = append(bad(v.Answer, 0, 1, 16, 17, 32), v.Hello, swapped.Answer(v.Hello, epoch, server), other.Answer(v.Hello, epoch, server), ref.Answer(ref.Hello(server), epoch, server), ref.Answer(v.Hello, 0, server))
		v.Packets = append(bad(v.Packet, 0, 9, 17, len(packet)-1, len(packet), len(packet)+16, len(packet)+23, len(v.Packet)-1), packet, v.Opening, v.Echo,
			slices.Concat(packet, ref.Opening(v.Hello, ref.Answer(v.Hello, epoch%255+1, server))), slices.Concat(v.Echo, v.Opening), slices.Concat(packet, v.Opening, v.Opening))
		all = append(all, v)
	}
	return all
}

// TestHelloVectorsFile checks that the file is what the reference says, or writes it.
func TestHelloVectorsFile(t *testing.T) { testFile(t, hellosFile, makeHellos()) }

// TestHelloVectors has both ends with the random bytes of the file.
func TestHelloVectors(t *testing.T) {
	defer func(old func([]byte) (int, error)) { draw = old }(draw)
	for _, v := range read[helloVectors](t, hellosFile) {
		var k helloKeys
		k.derive(v.Secret, v.Client, v.Server)
		if !bytes.Equal(k[:], v.OKM) {
			t.Errorf("okm is %x, want %x", k, v.OKM)
		}
		if v.Algorithm == packetref.GMAC && fastmac.RequireGCM() != nil {
			continue
		}
		c := Config{Secret: v.Secret, TagSize: v.Algorithm.TagSize()}
		draw = func(b []byte) (int, error) { return copy(b, v.Hello[1:]), nil }
		var client clientEnd
		var server serverEnd
		if v.Algorithm == packetref.GMAC {
			k, s := mactest.Must(NewGMACClient(c, v.Client, v.Server)), mactest.Must(NewGMACServer(c, v.Server, v.Client))
			client, server, s.epoch = k, s, v.Answer[0]-1
		} else {
			k, s := mactest.Must(NewUMACClient(c, v.Client, v.Server)), mactest.Must(NewUMACServer(c, v.Server, v.Client))
			client, server, s.epoch = k, s, v.Answer[0]-1
		}
		draw = func(b []byte) (int, error) { return copy(b, v.Answer[1:]), nil }
		if got := client.Hello(nil); !bytes.Equal(got, v.Hello) {
			t.Errorf("hello %x, want %x", got, v.Hello)
		}
		for _, hello := range v.Hellos {
			if got, err := server.Answer(nil, hello); got != nil || err != ErrForged {
				t.Errorf("answer %x to %x, %v", got, hello, err)
			}
		}
		if got, err := server.Answer(nil, v.Hello); !bytes.Equal(got, v.Answer) || err != nil {
			t.Errorf("answer %x, %v, want %x", got, err, v.Answer)
		}
		for _, answer := range v.Answers {
			if client.Answer(answer) {
				t.Errorf("the client takes %x", answer)
			}
		}
		if !client.Answer(v.Answer) {
			t.Errorf("the client refuses %x", v.Answer)
		}
		if got, err := client.Seal(bytes.Clone(helloMessage), nil); !bytes.Equal(got, v.Packet) || !bytes.HasSuffix(got, v.Opening) || err != nil {
			t.Errorf("packet %x, %v, want %x", got, err, v.Packet)
		}
		for _, p := range v.Packets {
			if msg, _, err := server.Open(p, nil); err == nil {
				t.Errorf("the server opens %x: %q", p, msg)
			}
		}
		if msg, _, err := server.Open(v.Packet, nil); !bytes.Equal(msg, helloMessage) || err != nil {
			t.Errorf("%q, %v", msg, err)
		}
		if got, err := server.Seal(bytes.Clone(helloMessage), nil); !bytes.Equal(got, v.Echo) || err != nil {
			t.Errorf("echo %x, %v, want %x", got, err, v.Echo)
		}
	}
}
