// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package packet

import (
	"bytes"
	"encoding/hex"
	"encoding/json"
	"flag"
	"os"
	"testing"

	"example.com/fastmac/internal/mactest"
	"example.com/fastmac/packet/internal/packetref"
)

var update = flag.Bool("update", false, "write testdata/packets.json, from the reference")

const vectorsFile = "testdata/packets.json"

// hexBytes are hexadecimal digits in JSON.
type hexBytes []byte

func (b hexBytes) MarshalText() ([]byte, error) { return hex.AppendEncode(nil, b), nil }

func (b *hexBytes) UnmarshalText(text []byte) (err error) {
	*b, err = hex.DecodeString(string(text))
	return err
}

// vectors are those of one key. Byte i of a message is i modulo 251.
type vectors struct {
	Algorithm packetref.Algorithm `json:"algorithm"`
	Secret    hexBytes            `json:"secret"`
	Session   hexBytes            `json:"session"`
	Sender    string              `json:"sender"`
	Receiver  string              `json:"receiver"`
	Epoch     uint8               `json:"epoch"`
	Data      hexBytes            `json:"data"`
	Info      hexBytes            `json:"info"`
	OKM       hexBytes            `json:"okm"`
	Packets   []vector            `json:"packets"`
	Refused   []hexBytes          `json:"refused"` // packets that the receiver must refuse
}

type vector struct {
	Size    int      `json:"size"` // of the message in bytes
	Counter uint64   `json:"counter"`
	Nonce   hexBytes `json:"nonce"`
	Trailer hexBytes `json:"trailer"` // number and tag
}

func (v *vectors) key() packetref.Key {
	return packetref.Key{Algorithm: v.Algorithm, Secret: v.Secret, Session: v.Session, Sender: v.Sender, Receiver: v.Receiver, Epoch: v.Epoch, DataSize: len(v.Data)}
}

func (v *vectors) config() Config {
	return Config{Secret: v.Secret, Session: v.Session, Sender: v.Sender, Receiver: v.Receiver, Epoch: v.Epoch, DataSize: len(v.Data)}
}

var (
	vectorSizes    = []int{0, 1, 31, 32, 33, 64, 1024, 1025, 1200, 1472}
	vectorCounters = []uint64{0, 1, 1<<32 - 1, 1 << 32, 1<<48 - 1, 1<<56 - 2}
)

// makeVectors computes the vectors with the reference.
func makeVectors() (all []vectors) {
	for a := packetref.UMAC64; a <= packetref.GMAC; a++ {
		for _, dataSize := range []int{0, 16} {
			for _, sessionSize := range []int{0, 32} {
				v := vectors{
					Algorithm: a, Secret: pattern(32), Session: bytes.Repeat([]byte{0xa5}, sessionSize), Sender: "server/1", Receiver: "client"[:sessionSize/32*6],
					Epoch: uint8(sessionSize), Data: bytes.Repeat([]byte{0xda}, dataSize),
				}
				key := v.key()
				v.Info, v.OKM = key.Info(), key.OKM()
				for _, size := range vectorSizes {
					for _, counter := range vectorCounters {
						packet := key.Seal(pattern(size), v.Data, counter)
						v.Packets = append(v.Packets, vector{size, counter, key.Nonce(packet[size : size+8]), packet[size:]})
					}
				}
				good := key.Seal(pattern(5), v.Data, 7)
				for _, i := range []int{0, 4, 5, 6, 12, 13, len(good) - 1} {
					bad := bytes.Clone(good)
					bad[i] ^= 0x80
					v.Refused = append(v.Refused, bad)
				}
				wrong := key
				wrong.Sender = "server/2"
				v.Refused = append(v.Refused, good[1:], good[:len(good)-1], append(bytes.Clone(good), 0), nil, good[5:12], wrong.Seal(pattern(5), v.Data, 7))
				all = append(all, v)
			}
		}
	}
	return all
}

func readVectors(t testing.TB) (all []vectors) {
	t.Helper()
	if err := json.Unmarshal(mactest.Must(os.ReadFile(vectorsFile)), &all); err != nil {
		t.Fatal(err)
	}
	return all
}

// TestVectorsFile checks that the file is what the reference says, or writes it.
func TestVectorsFile(t *testing.T) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	b.WriteString("[\n")
	for i, v := range makeVectors() {
		if i > 0 {
			b.WriteString(",\n")
		}
		if err := e.Encode(v); err != nil {
			t.Fatal(err)
		}
	}
	b.WriteString("]\n")
	text := bytes.ReplaceAll(b.Bytes(), []byte(`{"size"`), []byte("\n{\"size\""))
	if *update {
		if err := os.WriteFile(vectorsFile, text, 0o666); err != nil {
			t.Fatal(err)
		}
	}
	if have := mactest.Must(os.ReadFile(vectorsFile)); !bytes.Equal(bytes.ReplaceAll(have, []byte("\r\n"), []byte("\n")), text) {
		t.Error(vectorsFile + " is not what the reference makes")
	}
}

// TestVectors seals and opens all packets of the file.
func TestVectors(t *testing.T) {
	count := 0
	for _, v := range readVectors(t) {
		if v.Algorithm == packetref.GMAC && len(algorithms()) < 3 {
			continue
		}
		c := v.config()
		c.TagSize = v.Algorithm.TagSize()
		var okm [okmSize]byte
		if c.derive(&okm, byte(v.Algorithm)); !bytes.Equal(okm[:], v.OKM) {
			t.Errorf("okm is %x, want %x", okm, v.OKM)
		}
		for _, p := range v.Packets {
			count++
			n := Counters{p.Counter, p.Counter + 1}
			s, r := newSender(v.Algorithm, c, n), newReceiver(v.Algorithm, c, n)
			packet := mactest.Must(s.Seal(pattern(p.Size), v.Data))
			if !bytes.Equal(packet[:p.Size], pattern(p.Size)) || !bytes.Equal(packet[p.Size:], p.Trailer) {
				t.Errorf("%s, %d bytes, counter %d: %x, want %x", name(v.Algorithm), p.Size, p.Counter, packet[p.Size:], p.Trailer)
			}
			packet = append(pattern(p.Size), p.Trailer...)
			if msg, counter, err := r.Open(packet, v.Data); !bytes.Equal(msg, pattern(p.Size)) || counter != p.Counter || err != nil {
				t.Errorf("%s, %d bytes, counter %d: %d, %v", name(v.Algorithm), p.Size, p.Counter, counter, err)
			}
		}
		r := newReceiver(v.Algorithm, c, Fresh())
		for _, p := range v.Refused {
			if _, _, err := r.Open(p, v.Data); err != ErrForged && err != ErrEpoch {
				t.Errorf("%s: %x: %v", name(v.Algorithm), p, err)
			}
		}
	}
	if want := 240 * len(algorithms()); count != want {
		t.Errorf("%d packets, want %d", count, want)
	}
}
