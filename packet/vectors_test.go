// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package packet

import (
	"bytes"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"testing"

	"example.com/fastmac/internal/golden"
	"example.com/fastmac/internal/mactest"
	"example.com/fastmac/packet/internal/packetref"
)

const (
	vectorsFile = "testdata/packets.json"
	scriptsFile = "testdata/scripts.json"
)

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
	Kind      packetref.Kind      `json:"kind"`
	Secret    hexBytes            `json:"secret"`
	Session   hexBytes            `json:"session"`
	Sender    string              `json:"sender"`
	Receiver  string              `json:"receiver"`
	Epoch     uint8               `json:"epoch"`
	Data      hexBytes            `json:"data"`
	Info      hexBytes            `json:"info"`
	OKM       hexBytes            `json:"okm"`
	StoreIDs  []hexBytes          `json:"storeIDs,omitempty"` // of the sender and the receiver
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
	return packetref.Key{Algorithm: v.Algorithm, Kind: v.Kind, Secret: v.Secret, Session: v.Session, Sender: v.Sender, Receiver: v.Receiver, Epoch: v.Epoch, DataSize: len(v.Data)}
}

func (v *vectors) config() Config {
	return Config{Secret: v.Secret, Sender: v.Sender, Receiver: v.Receiver, Epoch: v.Epoch, DataSize: len(v.Data)}
}

var (
	vectorSizes    = []int{0, 1, 31, 32, 33, 64, 1024, 1025, 1200, 1472}
	vectorCounters = []uint64{0, 1, 1<<32 - 1, 1 << 32, 1<<48 - 1, 1<<56 - 2}
)

// makeVectors computes the vectors with the reference.
func makeVectors() (all []vectors) {
	for a := packetref.UMAC64; a <= packetref.GMAC; a++ {
		for _, dataSize := range []int{0, 16} {
			for kind := packetref.Session; kind <= packetref.SecretOnce; kind++ {
				v := vectors{
					Algorithm: a, Kind: kind, Secret: pattern(32), Session: hexBytes{}, Sender: "server/1", Receiver: []string{"client", "", "b"}[kind-1],
					Epoch: 32 * uint8(kind-1), Data: bytes.Repeat([]byte{0xda}, dataSize),
				}
				if kind == packetref.Session {
					v.Session = bytes.Repeat([]byte{0xa5}, 32+dataSize)
					v.Session[0], v.Session[len(v.Session)-1] = 0, 0
				}
				key := v.key()
				v.Info, v.OKM = key.Info(), key.OKM()
				if kind == packetref.Stored {
					v.StoreIDs = []hexBytes{key.StoreID(1), key.StoreID(2)}
				}
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

// A script is what a receiver gets, and what it does. All packets have the same additional data.
type script struct {
	Name      string              `json:"name"`
	Algorithm packetref.Algorithm `json:"algorithm"`
	Kind      packetref.Kind      `json:"kind"`
	Secret    hexBytes            `json:"secret"`
	Session   hexBytes            `json:"session"`
	Sender    string              `json:"sender"`
	Receiver  string              `json:"receiver"`
	Epoch     uint8               `json:"epoch"`
	Data      hexBytes            `json:"data"`
	First     uint64              `json:"first"` // of the range of counters
	End       uint64              `json:"end"`
	Window    int                 `json:"window"` // in bits
	MaxForged uint64              `json:"maxForged"`
	Steps     []scriptStep        `json:"steps"`
	Next      uint64              `json:"next"`   // one more than the highest accepted counter, after the last step
	Forged    uint64              `json:"forged"` // the number of wrong tags
}

// A scriptStep is a packet.
type scriptStep struct {
	Packet hexBytes `json:"packet"`
	Result string   `json:"result"`
}

// The results of steps: the names of the verdicts.
var resultNames = [...]string{"good", "forged", "replayed", "old", "restarted", "end", "epoch", "worn"}

func (s *script) receiver() packetref.Receiver {
	key := packetref.Key{Algorithm: s.Algorithm, Kind: s.Kind, Secret: s.Secret, Session: s.Session, Sender: s.Sender, Receiver: s.Receiver, Epoch: s.Epoch, DataSize: len(s.Data)}
	window := packetref.Window{First: s.First, End: s.End, Bits: s.Window}
	return packetref.Receiver{Key: key, Window: window, MaxForged: s.MaxForged}
}

// makeScripts has the reference do what scripts say.
func makeScripts() (all []script) {
	for a := packetref.UMAC64; a <= packetref.GMAC; a++ {
		var s script
		var r packetref.Receiver
		kind := packetref.Session
		begin := func(name string, n Counters, window int, most uint64, dataSize int) {
			s = script{
				Name: name, Algorithm: a, Kind: kind, Secret: pattern(32), Session: hexBytes{}, Sender: "server/1", Receiver: "client", Epoch: 7,
				Data: bytes.Repeat([]byte{0xda}, dataSize), First: n.first, End: n.end, Window: window, MaxForged: most,
			}
			if kind == packetref.Session {
				s.Session = pattern(32)
			}
			kind = kind%packetref.SecretOnce + 1
			r = s.receiver()
		}
		end := func() {
			s.Next, s.Forged = r.Next(), r.Forged
			all = append(all, s)
		}
		seal := func(counter uint64) []byte { return r.Seal(pattern(int(counter%4)), s.Data, counter) }
		step := func(packet []byte) {
			_, _, result := r.Open(packet, s.Data)
			s.Steps = append(s.Steps, scriptStep{Packet: packet, Result: resultNames[result]})
		}
		open := func(counters ...uint64) {
			for _, counter := range counters {
				step(seal(counter))
			}
		}
		forge := func(packet []byte, at int) { // at is counted from the number on
			packet[len(packet)-8-a.TagSize()+at] ^= 0x10
			step(packet)
		}
		const most, last = maxForged8, maxEnd - 1

		begin("order, gaps, and packets that come late or twice", SecretIsNew(), 1024, most, 0)
		open(0, 1, 2, 2, 1, 6, 4, 5, 4, 3, 3, 7, 0)
		end()

		for _, w := range []uint64{1024, 4096} {
			if a != packetref.UMAC64 && w > 1024 {
				break // to keep the file short
			}
			begin("the edges of the window", SecretIsNew(), int(w), most, 0)
			open(3, w-64, 0, 3, w-1, w-64, 2, w, 63, 64, 1, 64, 2*w-1, w, w-1, w, 2*w)
			open(2*w-960, 2*w-w+63, 2*w-w+64, 2*w-w+65, 2*w-w+64, 2*w-1, 2*w)
			end()

			begin("jumps", between(maxEnd-maxRange, maxEnd), int(w), most, 0)
			at := s.First
			for _, jump := range []uint64{5, w - 64, w - 1, w, w + 1, 1 << 32, 1 << 37, last - s.First} {
				at = min(at+jump, last)
				open(at, at-1, at-w+64, at-w+64, at-w+63, at)
			}
			end()
		}

		begin("the ends of the range", between(1000, 1100), 1024, most, 0)
		open(1000, 999, 0, 1099, 1100, last, 1098)
		open(1100, 1<<32, 999+maxRange)
		end()

		begin("the end of all ranges", between(maxEnd-2, maxEnd-1), 1024, most, 0)
		open(maxEnd-2, last)
		end()

		begin("the last counters of all", between(maxEnd-2, maxEnd), 1024, most, 0)
		open(last, last, maxEnd-2, maxEnd-3)
		end()

		begin("wrong tags move nothing", SecretIsNew(), 1024, most, 8)
		open(1)
		for _, at := range []int{-1, 1, 7, 8, 8 + a.TagSize() - 1} { // message, counter, tag
			forge(seal(3), at)
		}
		forge(seal(maxRange-1), 9)
		forge(seal(1), 9)
		forge(seal(maxRange+5), 9)
		step(seal(2)[1:])
		step(append(seal(2), 0))
		other := r.Key
		other.Sender = "server/2"
		step(other.Seal([]byte("message"), s.Data, 4))
		step(r.Seal([]byte("message"), []byte("12345678"), 4))
		step(seal(0)[:8+a.TagSize()-1])
		step([]byte{7})
		open(2, 3, 1)
		end()

		begin("other epochs", SecretIsNew(), 1024, 2, 0)
		other = r.Key
		for _, epoch := range []uint8{6, 8, 0, 255} {
			other.Epoch = epoch
			step(other.Seal([]byte("message"), nil, 0))
		}
		for range 3 { // of which none counts as a wrong tag
			forge(seal(1), 0)
		}
		open(1)
		end()

		begin("worn", between(100, 200), 1024, 3, 16)
		open(100, 99, 200, 100)
		forge(seal(101), 8)
		step(seal(101)[:3])
		forge(seal(102), 15)
		open(101, 102)
		forge(seal(103), 8)
		open(103, 100, 99, 200)
		forge(seal(104), 8)
		step(seal(105)[:3])
		forge(seal(106), 0)
		end()
	}
	return all
}

func read[T any](t testing.TB, file string) (all []T) {
	t.Helper()
	if err := json.Unmarshal(mactest.Must(os.ReadFile(file)), &all); err != nil {
		t.Fatal(err)
	}
	return all
}

// TestVectorsFile checks that the files are what the reference says, or writes them.
func TestVectorsFile(t *testing.T) {
	testFile(t, vectorsFile, makeVectors())
	testFile(t, scriptsFile, makeScripts())
}

// testFile has one element of a file for the vectors of a key, and for a script.
func testFile[T any](t *testing.T, file string, all []T) {
	t.Helper()
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	b.WriteString("[\n")
	for i, v := range all {
		if i > 0 {
			b.WriteString(",\n")
		}
		if err := e.Encode(v); err != nil {
			t.Fatal(err)
		}
	}
	b.WriteString("]\n")
	text := b.Bytes()
	for _, element := range []string{`{"size"`, `{"packet"`} { // each in a line of its own
		text = bytes.ReplaceAll(text, []byte(element), []byte("\n"+element))
	}
	if err := golden.Check(file, string(text)); err != nil {
		t.Error(err)
	}
}

// storeAt returns a Store for a kind, or nil.
func storeAt(kind packetref.Kind, first uint64) Store {
	if kind != packetref.Stored {
		return nil
	}
	return &memory{value: first}
}

// windowOf returns the window of a receiver.
func windowOf(r receiver) *window {
	if r, ok := r.(*GMACReceiver); ok {
		return &r.window
	}
	return &r.(*UMACReceiver).window
}

// countersOf returns the counters of a sender.
func countersOf(s sender) *counters {
	if s, ok := s.(*GMACSender); ok {
		return &s.counters
	}
	return &s.(*UMACSender).counters
}

// TestVectors seals and opens all packets of the file.
func TestVectors(t *testing.T) {
	count := 0
	for _, v := range read[vectors](t, vectorsFile) {
		if v.Algorithm == packetref.GMAC && len(algorithms()) < 3 {
			continue
		}
		c := v.config()
		c.TagSize = v.Algorithm.TagSize()
		counters := Counters{kind: byte(v.Kind), session: v.Session}
		var okm [okmSize]byte
		if c.derive(&okm, byte(v.Algorithm), &counters); !bytes.Equal(okm[:], v.OKM) {
			t.Errorf("okm is %x, want %x", okm, v.OKM)
		}
		for _, p := range v.Packets {
			count++
			n := counters
			n.first, n.end, n.step = p.Counter, p.Counter+1, 1
			n.send, n.receive = storeAt(v.Kind, p.Counter), storeAt(v.Kind, p.Counter)
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
		counters.end, counters.receive = maxRange, storeAt(v.Kind, 0)
		r := newReceiver(v.Algorithm, c, counters)
		for i, id := range v.StoreIDs {
			if got := c.storeID(byte(v.Algorithm), &counters, byte(1+i)); !bytes.Equal(got[:], id) {
				t.Errorf("id is %x, want %x", got, id)
			}
		}
		for _, p := range v.Refused {
			if _, _, err := r.Open(p, v.Data); err != ErrForged && err != ErrEpoch {
				t.Errorf("%s: %x: %v", name(v.Algorithm), p, err)
			}
		}
	}
	if want := 360 * len(algorithms()); count != want {
		t.Errorf("%d packets, want %d", count, want)
	}
}

// TestScripts has receivers that open the packets of the file one by one, and in batches.
func TestScripts(t *testing.T) {
	seen := make(map[string]int)
	for _, s := range read[script](t, scriptsFile) {
		if s.Algorithm == packetref.GMAC && len(algorithms()) < 3 {
			continue
		}
		c := Config{
			Secret: s.Secret, Sender: s.Sender, Receiver: s.Receiver, Epoch: s.Epoch,
			DataSize: len(s.Data), Window: s.Window, MaxForged: s.MaxForged,
		}
		// Of kind 2 too the end stays as it is.
		n := Counters{kind: byte(s.Kind), session: s.Session, first: s.First, end: s.End}
		newReceiver := func() receiver {
			n.receive = storeAt(s.Kind, s.First)
			r := newReceiver(s.Algorithm, c, n)
			if s.Kind == packetref.Stored {
				windowOf(r).supply.most = s.End
			}
			return r
		}
		single, batched := newReceiver(), newReceiver()
		var batch []Packet
		flush := func(to int) {
			batched.OpenBatch(batch)
			for i, p := range batch {
				if step := s.Steps[to-len(batch)+i]; p.Err != resultError(step.Result) {
					t.Errorf("%s, %s, step %d, in a batch: %v, want %s", name(s.Algorithm), s.Name, to-len(batch)+i, p.Err, step.Result)
				}
			}
			batch = nil
		}
		for i, step := range s.Steps {
			seen[step.Result]++
			batch = append(batch, Packet{Bytes: bytes.Clone(step.Packet), Data: s.Data})
			msg, _, err := single.Open(step.Packet, s.Data)
			if err != resultError(step.Result) || err == nil && !bytes.Equal(msg, pattern(len(step.Packet)-8-s.Algorithm.TagSize())) {
				t.Errorf("%s, %s, step %d: %v, want %s", name(s.Algorithm), s.Name, i, err, step.Result)
			}
		}
		flush(len(s.Steps))
		for _, r := range []receiver{single, batched} {
			if r.Next() != s.Next || r.Forged() != s.Forged {
				t.Errorf("%s, %s: Next is %d, Forged %d; want %d, %d", name(s.Algorithm), s.Name, r.Next(), r.Forged(), s.Next, s.Forged)
			}
		}
	}
	for _, result := range resultNames {
		if seen[result] < 2*len(algorithms()) {
			t.Errorf("%d steps with the result %q", seen[result], result)
		}
	}
}

// resultError returns the error for the result of a packet.
func resultError(result string) error {
	return errorOf(packetref.Result(slices.Index(resultNames[:], result)))
}

// TestNettle compares the keys and tags of both files with libnettle's, which shares no code with this
// module.
func TestNettle(t *testing.T) {
	if testing.Short() {
		t.Skip("runs another program")
	}
	cc, err := exec.LookPath("cc")
	if err != nil {
		t.Skip("needs a C compiler: install the package gcc")
	}
	program := filepath.Join(t.TempDir(), "nettle")
	if out, err := exec.Command(cc, "-O2", "-Wall", "-Wextra", "-Werror", "-o", program, "testdata/nettle.c", "-lnettle").CombinedOutput(); bytes.Contains(out, []byte("nettle/")) {
		t.Skipf("needs libnettle: install the package nettle-dev\n%s", out)
	} else if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	const deriveKey = 4
	var requests, want []byte
	tags := 0
	add := func(algorithm packetref.Algorithm, answer []byte, fields ...[]byte) {
		requests = append(requests, byte(algorithm))
		for _, f := range fields {
			requests = append(binary.LittleEndian.AppendUint32(requests, uint32(len(f))), f...)
		}
		want = append(want, answer...)
		tags++
	}
	for _, v := range read[vectors](t, vectorsFile) {
		add(deriveKey, v.OKM, v.Secret, v.Session, v.Info)
		for _, p := range v.Packets {
			add(v.Algorithm, p.Trailer[8:], v.OKM[:16], p.Nonce, append(pattern(p.Size), v.Data...))
		}
	}
	for _, s := range read[script](t, scriptsFile) {
		key := s.receiver().Key
		okm := key.OKM()
		add(deriveKey, okm, s.Secret, s.Session, key.Info())
		for _, step := range s.Steps {
			// These have a right tag.
			if n := len(step.Packet) - 8 - s.Algorithm.TagSize(); slices.Contains([]string{"good", "replayed", "old", "end"}, step.Result) && n >= 0 {
				msg, number, tag := step.Packet[:n], step.Packet[n:n+8], step.Packet[n+8:]
				add(s.Algorithm, tag, okm[:16], key.Nonce(number), slices.Concat(msg, s.Data))
			}
		}
	}
	cmd := exec.Command(program)
	cmd.Stdin = bytes.NewReader(requests)
	got, err := cmd.Output()
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(got, want) {
		i := 0
		for i < min(len(got), len(want)) && got[i] == want[i] {
			i++
		}
		t.Fatalf("%d bytes of keys and tags, want %d; the first that differs is byte %d", len(got), len(want), i)
	}
	t.Logf("%d keys and tags agree with libnettle", tags)
}
