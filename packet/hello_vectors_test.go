// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package packet

import (
	"bytes"
	"slices"
	"strings"
	"testing"

	"example.com/fastmac/internal/fork"
	"example.com/fastmac/internal/mactest"
	"example.com/fastmac/packet/internal/packetref"
)

// FuzzHello runs scripts of clients with one secret, a network, and a server, beside the reference. No
// session opens twice, and no client has two.
func FuzzHello(f *testing.F) {
	mactest.Seeds(f)
	f.Add([]byte("\x00" + "\x00\x00" + "\x01\x00" + "\x02\x00" + "\x03\x00" + "\x03\x00"))
	f.Add([]byte("\x02" + "\x00\x00\x00\x00" + "\x01\x00\x01\x01" + "\x02\x01\x02\x02\x02\x03\x02\x00" + "\x23\x00\x43\x00\x63\x00\x03\x01\x03\x00" + "\x01\x00\x43\x00\x43\x01\x43\x00"))
	f.Add([]byte("\x01" + "\x00\x00" + "\x01\x00" + "\x02\x00" + "\x23\x00" + "\x83\x00\x00\x00\x05" + "\x23\x00" + "\x03\x00"))
	f.Fuzz(func(t *testing.T, code []byte) {
		s := mactest.Script(code)
		c := helloConfig()
		c.MaxForged = 1 + uint64(s.Byte()%8)
		names := packetref.Hello{Secret: c.Secret, Client: testClient, Server: testServer}
		var server HelloServer
		ref := packetref.HelloServer{Hello: names, MaxForged: c.MaxForged}
		type end struct {
			client *HelloClient
			ref    packetref.HelloClient
		}
		var clients []end
		var answers, openings [][]byte
		opened := make(map[string]bool)
		damaged := func(how byte, b []byte) []byte {
			if how&0x80 != 0 {
				return s.Damage(b)
			}
			return b
		}
		for steps := 0; len(s) > 0 && steps < 60; steps++ {
			op, at := s.Byte(), int(s.Byte())
			switch op % 4 {
			case 0: // a client starts
				h := mactest.Must(NewHelloClient(c, testClient, testServer))
				clients = append(clients, end{client: h, ref: packetref.HelloClient{Hello: names, Random: bytes.Clone(h.hello[1:17])}})
				if want := names.Hello(h.hello[1:17]); !bytes.Equal(h.Hello(nil), want) {
					t.Fatalf("hello %x, want %x", h.Hello(nil), want)
				}
			case 1: // a hello
				if len(clients) == 0 {
					continue
				}
				hello := damaged(op, clients[at%len(clients)].client.Hello(nil))
				answer, err := server.Answer(nil, hello, c, testServer, testClient)
				if want := ref.Answer(hello, bytes.Clone(server.next[:])); !bytes.Equal(answer, want) || (err == nil) != (want != nil) {
					t.Fatalf("answer %x, %v, want %x", answer, err, want)
				}
				if err == nil {
					answers = append(answers, answer)
				}
			case 2: // an answer
				if len(answers) == 0 {
					continue
				}
				e := &clients[at%len(clients)]
				answer := damaged(op, answers[len(answers)-1-at/len(clients)%len(answers)])
				got, ok := e.client.Session(answer)
				session, epoch, want := e.ref.Session(answer)
				if ok != want || ok && (!bytes.Equal(got.Opening(nil), session) || got.epoch != epoch) {
					t.Fatalf("session %x, %v, want %x, %v", got, ok, session, want)
				}
				if ok {
					openings = append(openings, session)
				}
			case 3: // an opening
				if len(openings) == 0 {
					continue
				}
				opening := damaged(op, openings[at%len(openings)])
				if op&0x40 != 0 && len(opening) == OpeningSize { // of somebody who has seen the last answer
					opening = append(opening[:16:16], server.next[:]...)
				}
				got, open, err := server.Begin(opening, c)
				wantOpen, result := ref.Begin(opening)
				if open != wantOpen || err != errorOf(result) {
					t.Fatalf("Begin: %v, %v, want %v, %v", open, err, wantOpen, errorOf(result))
				}
				if err != nil || open {
					break
				}
				if !bytes.Equal(got.Opening(nil), opening) || got.epoch != ref.Epoch+1 {
					t.Fatalf("session %x, want %x", got, opening)
				}
				if op&0x20 != 0 || !slices.ContainsFunc(openings, func(o []byte) bool { return bytes.Equal(o, opening) }) {
					break // the packet is forged
				}
				if opened[string(opening)] {
					t.Fatal("a session opens twice")
				}
				opened[string(opening)] = true
				if !server.Opened(got) {
					t.Fatal("Opened returns false")
				}
				if !ref.Opened(opening, bytes.Clone(server.next[:])) {
					t.Fatal("the reference is wrong")
				}
			}
			if server.forged != ref.Forged || server.epoch != ref.Epoch || ref.Next != nil && !bytes.Equal(server.next[:], ref.Next) {
				t.Fatalf("%d wrong openings, epoch %d; want %d, %d", server.forged, server.epoch, ref.Forged, ref.Epoch)
			}
		}
	})
}

const hellosFile = "testdata/hellos.json"

// helloVectors are those of one client and one server.
type helloVectors struct {
	Secret  hexBytes   `json:"secret"`
	Client  string     `json:"client"`
	Server  string     `json:"server"`
	Info    hexBytes   `json:"info"`
	OKM     hexBytes   `json:"okm"`
	Hello   hexBytes   `json:"hello"`
	Answer  hexBytes   `json:"answer"`
	Session hexBytes   `json:"session"`
	Epoch   uint8      `json:"epoch"`
	Hellos  []hexBytes `json:"refusedHellos"`
	Answers []hexBytes `json:"refusedAnswers"`
}

func (v *helloVectors) ref() packetref.Hello {
	return packetref.Hello{Secret: v.Secret, Client: v.Client, Server: v.Server}
}

// makeHellos computes the vectors with the reference.
func makeHellos() (all []helloVectors) {
	for i, names := range [][2]string{{"client", "server"}, {"server", "client"}, {"c", "s/1"}, {strings.Repeat("n", 255), "m"}, {"\u00fc", strings.Repeat("n", 255)}} {
		v := helloVectors{Secret: pattern(16 + 16*i), Client: names[0], Server: names[1], Epoch: uint8(1 + 255*i)}
		ref := v.ref()
		client, server := bytes.Repeat([]byte{0xc1 + byte(i)}, 16), pattern(16 + i)[i:]
		v.Info, v.OKM, v.Session = ref.Info(), ref.OKM(), slices.Concat(client, server)
		v.Hello = ref.Hello(client)
		v.Answer = ref.Answer(v.Hello, v.Epoch, server)
		bad := func(b []byte) (bad []hexBytes) {
			for _, at := range []int{0, 1, 16, 17, 32} {
				c := bytes.Clone(b)
				c[at] ^= 0x10
				bad = append(bad, c)
			}
			return append(bad, b[:32], append(bytes.Clone(b), 0), nil)
		}
		swapped, other := ref, ref
		swapped.Client, swapped.Server = ref.Server, ref.Client
		other.Secret = append(bytes.Clone(ref.Secret), 0)
		v.Hellos = append(bad(v.Hello), v.Answer, swapped.Hello(client), other.Hello(client))
		v.Answers = append(bad(v.Answer), v.Hello, swapped.Answer(v.Hello, v.Epoch, server), other.Answer(v.Hello, v.Epoch, server), ref.Answer(ref.Hello(server), v.Epoch, server))
		all = append(all, v)
	}
	return all
}

// TestHelloVectorsFile checks that the file is what the reference says, or writes it.
func TestHelloVectorsFile(t *testing.T) { testFile(t, hellosFile, makeHellos()) }

// TestHelloVectors has both ends with the random bytes of the file.
func TestHelloVectors(t *testing.T) {
	for _, v := range read[helloVectors](t, hellosFile) {
		c := Config{Secret: v.Secret, TagSize: 16}
		var k helloKeys
		c.deriveHello(&k, v.Client, v.Server)
		if got := slices.Concat(k.hello[:], k.answer[:]); !bytes.Equal(got, v.OKM) {
			t.Errorf("okm is %x, want %x", got, v.OKM)
		}
		client := func() *HelloClient {
			h := mactest.Must(NewHelloClient(c, v.Client, v.Server))
			copy(h.hello[:], v.Hello)
			return h
		}
		if tag := tagHello(&k.hello, (*[HelloSize]byte)(v.Hello)); !bytes.Equal(tag[:], v.Hello[helloHeadSize:]) {
			t.Errorf("tag of the hello %x, want %x", tag, v.Hello[helloHeadSize:])
		}
		server := HelloServer{epoch: v.Epoch - 1, next: [16]byte(v.Session[16:]), process: fork.Current()}
		if got, err := server.Answer(nil, v.Hello, c, v.Server, v.Client); !bytes.Equal(got, v.Answer) || err != nil {
			t.Errorf("answer %x, %v, want %x", got, err, v.Answer)
		}
		h := client()
		for _, answer := range v.Answers {
			if _, ok := h.Session(answer); ok {
				t.Errorf("the client takes %x", answer)
			}
		}
		if s, ok := h.Session(v.Answer); !ok || !bytes.Equal(s.Opening(nil), v.Session) || s.epoch != v.Epoch {
			t.Errorf("session %x, %v, want %x", s, ok, v.Session)
		}
		for _, hello := range v.Hellos {
			if got, err := server.Answer(nil, hello, c, v.Server, v.Client); got != nil || err != ErrForged {
				t.Errorf("answer %x to %x, %v", got, hello, err)
			}
		}
	}
}
