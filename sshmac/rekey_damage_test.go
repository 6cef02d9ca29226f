// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package sshmac

import (
	"bytes"
	"fmt"
	"io"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"testing/synctest"

	"example.com/fastmac/internal/mactest"
)

// phases are the packets of a rekey in one direction, in their order. The last of them
// carries data.
var phases = []string{"KEXINIT", "ECDH", "NEWKEYS", "first packet under the new keys"}

const newKeys, underNewKeys = 2, 3

// A rekeying is a connection whose keys are renewed twice while both ends send packets
// with rekeySize bytes of data. One direction is damaged, in the second rekey.
type rekeying struct {
	mac        string
	fromServer bool // the damaged direction
}

const (
	rekeyPackets = 13
	rekeySize    = 1000
)

// run damages packet d.packet of phases, and returns the packets of the second rekey.
// Without a fault that packet of the first rekey is sent in its place. The first under the
// new keys then has the right sequence number too, because x/crypto counts from 0 under
// new keys.
func (r rekeying) run(t *testing.T, d damage) (rekey [][]byte) {
	config := only(r.mac)
	config.RekeyThreshold = 4 * rekeySize // more than a handshake has
	sender, receiver := connectMem(t, clientConfig(config))
	if r.fromServer {
		sender, receiver = receiver, sender
	}
	synctest.Wait() // until no packet of the handshake is in flight

	mode := macModes[r.mac]
	dataSize := packets{[]int{rekeySize}, mode.etm, mode.new(make([]byte, mode.keySize)).Size()}.wireSize(0)
	var all [][]byte // the packets sent
	var starts []int // and where in them a rekey starts: KEXINIT has another size than data
	in, out := receiver.raw.(*memConn).out, sender.raw.(*memConn).out
	out.fault = func(p []byte) ([]byte, bool) {
		packet := len(all)
		all = append(all, bytes.Clone(p))
		if len(p) != dataSize && (starts == nil || packet >= starts[len(starts)-1]+len(phases)) {
			starts = append(starts, packet)
		}
		if len(starts) < 2 || packet < starts[1]+d.packet {
			return p, false
		}
		if i := packet - starts[1] - d.packet; d.fault != nil {
			return d.fault(i, bytes.Clone(p))
		} else if i == 0 {
			return all[starts[0]+d.packet], false
		}
		return p, false
	}
	sent, back := make([]byte, rekeyPackets*rekeySize), make([]byte, rekeyPackets*rekeySize)
	content(0).Read(sent)
	content(1).Read(back)
	for i := range rekeyPackets {
		// These fail once the other end has hung up. Nothing is read meanwhile, so that
		// there are no packets that adjust a window.
		sender.channel.Write(sent[i*rekeySize:][:rekeySize])
		synctest.Wait()
		receiver.channel.Write(back[i*rekeySize:][:rekeySize])
		synctest.Wait()
	}
	in.Close()
	out.Close()

	got, _ := io.ReadAll(receiver.channel)
	gotBack, _ := io.ReadAll(sender.channel)
	err, backErr := receiver.conn.Wait(), sender.conn.Wait()
	if len(starts) != 2 {
		t.Fatalf("%s: %d rekeys, want 2", d.name, len(starts))
	}
	before := starts[1] - newKeys - 1 // packets with data
	if d.delivered < 0 {
		before = rekeyPackets
	}
	if want := sent[:(before+max(0, d.delivered))*rekeySize]; !bytes.Equal(got, want) {
		t.Errorf("%s: %d bytes delivered, want %d; a prefix of what was sent: %v", d.name, len(got), len(want), bytes.HasPrefix(sent, got))
	}
	if !bytes.HasPrefix(back, gotBack) || len(gotBack) < (before-1)*rekeySize {
		t.Errorf("%s: %d bytes delivered in the other direction; a prefix of what was sent: %v", d.name, len(gotBack), bytes.HasPrefix(back, gotBack))
	}
	if d.errs == nil && err == io.EOF || d.errs != nil && !slices.Contains(d.errs, err.Error()) {
		t.Errorf("%s: the connection ends with %q, want one of %q", d.name, err, d.errs)
	}
	// The other end may have sent a packet after it hung up.
	if backErr != io.EOF && backErr != io.ErrClosedPipe {
		t.Errorf("%s: at the other end the connection ends with %q", d.name, backErr)
	}
	return all[starts[1]:min(len(all), starts[1]+len(phases))]
}

// TestRekeyDamage damages each packet of a rekey, and the first packet under the new keys,
// in each direction: the connection must end with an error, and everything sent before must
// be delivered, and nothing else.
func TestRekeyDamage(t *testing.T) {
	registered(t)
	turns := 4 // of MACs; one in so many is used with a packet
	switch {
	case testing.Short():
		turns = len(MACs())
	case mactest.Long():
		turns = 1
	}
	for i, mac := range MACs() {
		for direction, fromServer := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s/fromServer=%v", mac, fromServer), func(t *testing.T) {
				rng := rand.New(rand.NewPCG(uint64(i), 1))
				r := rekeying{mac, fromServer}
				mode := macModes[mac]
				s := packets{make([]int, len(phases)), mode.etm, mode.new(make([]byte, mode.keySize)).Size()}
				synctest.Test(t, func(t *testing.T) {
					none := damage{"no damage", flip(0, 0), 1 << 20, -1, endOfStream}
					for k, p := range r.run(t, none) {
						// As if it were data with the least padding.
						s.sizes[k] = len(p) - s.tagSize - 4 - 1 - 9 - 4
						if s.wireSize(k) != len(p) {
							t.Fatalf("%s has %d bytes, want %d", phases[k], len(p), s.wireSize(k))
						}
					}
				})
				var garbled []string // as in damages
				if s.etm {
					garbled = badPadding
				}
				for k, phase := range phases {
					if (i+k+4*direction)%turns != 0 {
						continue
					}
					all := append(s.damages(rng, k), damage{"replaced by that of the rekey before", nil, k, k, garbled})
					if mactest.Long() {
						for position, d := range s.flips(rng, k) {
							if position%len(MACs()) == i { // each byte once
								all = append(all, d)
							}
						}
					}
					for _, d := range all {
						kind := d.name[strings.LastIndex(d.name, ": ")+2:]
						switch {
						case k == newKeys && kind == "length of a block less":
							continue // it has only one
						case k < newKeys && slices.Contains([]string{"length of a block more", "dropped", "swapped with the next"}, kind):
							// Perhaps both ends then wait for each other, until the stream is closed.
							d.errs = slices.Concat(badPadding, tooLarge, endInPacket, endOfStream)
						}
						d.name = phase + ": " + d.name
						if d.delivered -= k; k < underNewKeys {
							d.delivered = 0 // there is no data in them
						}
						synctest.Test(t, func(t *testing.T) { r.run(t, d) })
					}
				}
			})
		}
	}
}
