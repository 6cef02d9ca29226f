// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package packet

import (
	"bytes"
	"fmt"
	"testing"

	"example.com/fastmac"
	"example.com/fastmac/internal/fork"
	"example.com/fastmac/internal/mactest"
)

// A party is a sender or a receiver, P.
type party[P any] interface {
	*P
	Init(c Config, n Counters) error
	Destroy()
}

var (
	dyingConfig  = Config{Secret: []byte("a secret of more than 16 bytes"), Sender: "a", Receiver: "b"}
	dyingSession = Config{Secret: dyingConfig.Secret, TagSize: 8}
)

// dying has a computation with a sender or a receiver: it is destroyed, and in another trial set up anew.
func dying[P any, Q party[P]](what string, c Config, in []byte, compute func(p Q, in, out []byte) func() []byte) (all []mactest.Dying) {
	for _, how := range []string{"Destroy", "Init"} {
		all = append(all, mactest.Dying{Name: what + "/" + how, In: in, Replaced: how == "Init", New: func(in, out []byte) (func() []byte, func()) {
			p := Q(new(P))
			if err := p.Init(c, SecretIsNew()); err != nil {
				panic(err)
			}
			return compute(p, in, out), func() {
				if how == "Destroy" {
					p.Destroy()
				} else if err := p.Init(c, SecretIsNew()); err != nil {
					panic(err)
				}
			}
		}})
	}
	return all
}

const dyingMessage = 3500 // bytes

// dyingParties has the computations with senders S and receivers R.
func dyingParties[S, R any, P interface {
	party[S]
	sender
}, Q interface {
	party[R]
	receiver
}](name string, c Config, seal func(senders []P, batch []Packet) int, open func(receivers []Q, batch []Packet) int) (all []mactest.Dying) {
	send := func(what string, compute func(s P, in, out []byte) func() []byte) {
		all = append(all, dying[S, P](name+"/"+what, c, nil, compute)...)
	}
	// trailer checks what a panic leaves behind a message in in.
	trailer := func(in []byte, compute func() []byte) []byte {
		defer func() {
			if r := recover(); r != nil {
				input := mactest.DyingInput()
				for i, b := range in {
					if b != input[i] && (b != 0 || i < dyingMessage) {
						panic("something is left")
					}
				}
				panic(r)
			}
		}()
		return compute()
	}
	send("Seal", func(s P, in, out []byte) func() []byte {
		return func() []byte {
			return trailer(in, func() []byte { return mactest.Must(s.Seal(in[:dyingMessage], nil)) })
		}
	})
	send("Trailer", func(s P, in, out []byte) func() []byte {
		return func() []byte { return mactest.Must(s.Trailer(out[:0], in)) }
	})
	// batch has messages of which one is in.
	batch := func(in []byte) []Packet {
		batch := make([]Packet, 2*lanes)
		for i := range batch {
			if batch[i].Bytes = in[: dyingMessage : dyingMessage+100]; i != lanes/2 {
				batch[i].Bytes = append(make([]byte, 0, dyingMessage+100), mactest.DyingInput()[:dyingMessage]...)
			}
		}
		return batch
	}
	bytesOf := func(batch []Packet) (all []byte) {
		for i := range batch {
			if batch[i].Err != nil {
				return nil
			}
			all = append(all, batch[i].Bytes...)
		}
		return all
	}
	// trailers checks what a panic leaves in a batch.
	trailers := func(batch []Packet, seal func()) []byte {
		defer func() {
			if r := recover(); r != nil {
				for i := range batch {
					if left := batch[i].Bytes[:cap(batch[i].Bytes)][dyingMessage:][:maxTagSize+numberSize]; i != lanes/2 && !bytes.Equal(left, make([]byte, len(left))) {
						panic("a trailer is left")
					}
				}
				panic(r)
			}
		}()
		seal()
		return bytesOf(batch)
	}
	send("SealBatch", func(s P, in, out []byte) func() []byte {
		b := batch(in)
		return func() []byte {
			return trailers(b, func() {
				if err := s.SealBatch(b); err != nil {
					panic(err)
				}
			})
		}
	})
	send("SealBatch of many", func(s P, in, out []byte) func() []byte {
		b, senders := batch(in)[:lanes], make([]P, lanes)
		for i := range senders {
			senders[i] = s
		}
		return func() []byte {
			if n := seal(senders, b); n != len(b) {
				panic("not all are sealed")
			}
			return bytesOf(b)
		}
	})

	s := P(new(S))
	if err := s.Init(c, SecretIsNew()); err != nil {
		panic(err)
	}
	s.Seal(nil, nil) // so that the counter of the packet is not 0
	packet := mactest.Must(s.Seal(mactest.DyingInput()[:dyingMessage], nil))
	receive := func(what string, compute func(r Q, in, out []byte) func() []byte) {
		all = append(all, dying[R, Q](name+"/"+what, c, packet, compute)...)
	}
	receive("Open", func(r Q, in, out []byte) func() []byte {
		return func() []byte {
			msg, _, err := r.Open(in[:len(packet)], nil)
			if err != nil {
				return nil
			}
			return msg
		}
	})
	// opened returns the message of a batch. After a panic nothing says that a packet is good.
	opened := func(in []byte, open func(batch []Packet)) func() []byte {
		b := []Packet{{Bytes: in[:len(packet)], Counter: 1}}
		return func() []byte {
			defer func() {
				if r := recover(); r != nil {
					if p := &b[0]; p.Err == ErrForged && (p.Bytes != nil || p.Counter != 0) {
						panic("a packet is left")
					}
					panic(r)
				}
			}()
			open(b)
			return b[0].Bytes
		}
	}
	receive("OpenBatch", func(r Q, in, out []byte) func() []byte {
		return opened(in, func(b []Packet) { r.OpenBatch(b) })
	})
	receive("OpenBatch of many", func(r Q, in, out []byte) func() []byte {
		return opened(in, func(b []Packet) { open([]Q{r}, b) })
	})
	return all
}

// TestDying destroys senders and receivers while they are in use.
func TestDying(t *testing.T) {
	c := dyingConfig
	c.TagSize = fastmac.UMAC64Size
	all := dyingParties("UMAC-64", c, SealBatch[*UMACSender], OpenBatch[*UMACReceiver])
	c.TagSize = fastmac.UMAC128Size
	all = append(all, dyingParties("UMAC-128", c, SealBatch[*UMACSender], OpenBatch[*UMACReceiver])...)
	if fastmac.RequireGCM() == nil {
		all = append(all, dyingParties("GMAC", c, SealBatch[*GMACSender], OpenBatch[*GMACReceiver])...)
	}
	mactest.TestDying(t, mactest.DyingTrials(), append(all, dyingHello()...))
}

// dyingHello has the computations of a client and a server. What they return depends on a key, and is right.
func dyingHello() []mactest.Dying {
	end := func(who, what string, compute func(k *UMACClient, s *UMACServer, hello, answer, packet []byte) []byte) mactest.Dying {
		return mactest.Dying{Name: who + "/" + what, New: func(_, _ []byte) (func() []byte, func()) {
			k := mactest.Must(NewUMACClient(dyingSession, "a", "b"))
			s := mactest.Must(NewUMACServer(dyingSession, "b", "a"))
			hello := k.Hello(nil)
			answer := mactest.Must(s.Answer(nil, hello))
			other := mactest.Must(NewUMACClient(dyingSession, "a", "b"))
			other.Answer(mactest.Must(s.Answer(nil, other.Hello(nil))))
			packet := mactest.Must(other.Seal([]byte("first"), nil))
			return func() []byte { return compute(k, s, hello, answer, packet) }, pick(who == "client", k.Destroy, s.Destroy)
		}, Misses: true, Right: func(result []byte) bool { return string(result) == "right" }}
	}
	right := func(ok bool) []byte { return []byte(pick(ok, "right", "wrong")) }
	return []mactest.Dying{
		end("client", "Hello", func(k *UMACClient, _ *UMACServer, hello, _, _ []byte) []byte {
			return right(bytes.Equal(k.Hello(nil), hello))
		}),
		end("client", "Answer", func(k *UMACClient, _ *UMACServer, _, answer, _ []byte) []byte {
			return right(k.Answer(answer))
		}),
		end("server", "Answer", func(_ *UMACClient, s *UMACServer, hello, answer, _ []byte) []byte {
			return right(bytes.Equal(mactest.Must(s.Answer(nil, hello)), answer))
		}),
		end("server", "Open", func(_ *UMACClient, s *UMACServer, _, _, packet []byte) []byte {
			msg, _, err := s.Open(packet, nil)
			return right(string(msg) == "first" && err == nil)
		}),
		end("server", "Open of an opening under a key of zeros", func(_ *UMACClient, s *UMACServer, _, answer, _ []byte) []byte {
			h := handshake{config: Config{TagSize: dyingSession.TagSize}}
			heads := headsOf(nil, answer)
			opening := h.opening(&heads)
			_, _, err := s.Open(opening[:h.openingSize()], nil)
			return right(err == ErrForged)
		}),
	}
}

// TestDestroyedAfterCounter destroys senders, and sets them up anew, exactly when a packet has its counter: under
// another key the counter is not that of this packet.
func TestDestroyedAfterCounter(t *testing.T) {
	afterCounter[UMACSender](t, "UMAC", SealBatch[*UMACSender])
	if fastmac.RequireGCM() == nil {
		afterCounter[GMACSender](t, "GMAC", SealBatch[*GMACSender])
	}
}

func afterCounter[S any, P interface {
	party[S]
	sender
}](t *testing.T, mac string, sealMany func(senders []P, batch []Packet) int) {
	c := dyingConfig
	c.TagSize = maxTagSize
	for what, seal := range map[string]func(s P, b []byte){
		"Seal":      func(s P, b []byte) { s.Seal(b, nil) },
		"Trailer":   func(s P, b []byte) { s.Trailer(b, nil) },
		"SealBatch": func(s P, b []byte) { s.SealBatch([]Packet{{Bytes: b}}) },
		"many":      func(s P, b []byte) { sealMany([]P{s}, []Packet{{Bytes: b}}) },
	} {
		for _, again := range []bool{false, true} {
			s := P(new(S))
			if err := s.Init(c, SecretIsNew()); err != nil {
				t.Fatal(err)
			}
			packet := append(make([]byte, 0, 100), "message"...)
			mactest.MustPanic(t, fmt.Sprintf("%s: %s, set up again: %v", mac, what, again), "destroyed", func() {
				whenAsked(func() {
					s.Destroy()
					if again {
						if err := s.Init(c, SecretIsNew()); err != nil {
							t.Error(err)
						}
					}
				}, func() { seal(s, packet) })
			})
			if left := packet[len(packet):cap(packet)]; !bytes.Equal(left, make([]byte, len(left))) {
				t.Errorf("%s: %s, set up again: %v: %x is left", mac, what, again, left)
			}
		}
	}
}

// whenAsked calls f, and kill when it asks for the first time which process is running.
func whenAsked(kill, f func()) {
	current, asked := fork.Current(), false
	defer fork.Replace(func() fork.Process {
		if !asked {
			asked = true
			kill()
		}
		return current
	})()
	f()
}
