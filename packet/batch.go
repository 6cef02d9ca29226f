// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package packet

import (
	"encoding/binary"
	"fmt"
	"unsafe"

	"example.com/fastmac"
	"example.com/fastmac/internal/lifetime"
	"example.com/fastmac/internal/prefetch"
)

// A Packet is one packet of a batch, for the functions and methods SealBatch and OpenBatch.
// SealBatch turns Bytes from a message into a packet, or empties it if there is an error, so that no
// message is sent without a tag. OpenBatch turns it from a packet into a message, or into nil if there
// is an error.
type Packet struct {
	Bytes   []byte // the message or the packet
	Data    []byte // DataSize bytes of additional data
	Counter uint64 // set by SealBatch, to 0 if there is an error, and by OpenBatch, as Open returns it
	Err     error  // set by OpenBatch, and by the function SealBatch
}

// lanes is the number of packets that a batch hands to its keys at a time. Their messages, 80
// bytes each, are on the stack.
const lanes = 32

// SealBatch seals batch[i].Bytes with senders[i], as Seal does, sets Counter and Err, and returns
// how many packets it has sealed. A sender may occur several times; it then uses rising counters.
// If a sender is nil, Err is [ErrUnknown]. If there is an error, Bytes has no bytes, and keeps its
// memory.
//
// It is for servers with more peers than the CPU's cache has room for: while it hashes some
// packets, it loads the keys of others. If all packets are from one sender, the method SealBatch of
// that sender is faster.
//
// SealBatch panics if senders and batch have different lengths. If a sender was destroyed, or a
// Data does not have DataSize bytes, it panics when it comes to that packet. By then it has sealed
// some of the packets before it, and only lengthened others: send none of them.
//
// SealBatch allocates only where a packet has no room. No packet and its room may overlap another
// packet or its Data.
func SealBatch[S *UMACSender | *GMACSender](senders []S, batch []Packet) int {
	mustPair("SealBatch", "senders", len(senders), len(batch))
	switch senders := any(senders).(type) {
	case []*UMACSender:
		return sealMany(senders, batch, saltSize, (*UMACSender).parts)
	case []*GMACSender:
		return sealMany(senders, batch, 0, (*GMACSender).parts)
	}
	panic("unreachable")
}

// OpenBatch opens batch[i].Bytes with receivers[i], as Open does, in the order of the batch. It
// shortens Bytes to the message, or sets it to nil if there is an error, sets Counter and Err, and
// returns how many packets are good. A receiver may occur several times. If it is nil, as for an
// unknown sender, Err is [ErrUnknown].
//
// It is for servers with many peers, like [SealBatch]. It does not allocate. No packet may overlap
// another packet or its Data.
//
// OpenBatch panics if receivers and batch have different lengths. If a receiver was destroyed, or a
// Data does not have DataSize bytes, it panics when it comes to that packet. By then it has opened
// some of the packets before it; the others are unchanged.
func OpenBatch[R *UMACReceiver | *GMACReceiver](receivers []R, batch []Packet) int {
	mustPair("OpenBatch", "receivers", len(receivers), len(batch))
	switch receivers := any(receivers).(type) {
	case []*UMACReceiver:
		return openMany(receivers, batch, saltSize, (*UMACReceiver).parts)
	case []*GMACReceiver:
		return openMany(receivers, batch, 0, (*GMACReceiver).parts)
	}
	panic("unreachable")
}

// mustPair panics in the function f unless there is a sender or receiver for each packet.
func mustPair(f, what string, n, packets int) {
	if n != packets {
		panic(fmt.Sprintf("packet: %s with %d %s and %d packets", f, n, what, packets))
	}
}

// sealMany is SealBatch. The nonce is what follows skip bytes of salt and number.
func sealMany[S any, K *fastmac.UMACKey | *fastmac.GMACKey](senders []*S, batch []Packet, skip int, parts func(*S) (*counters, *form, K, uint32)) (sealed int) {
	var all [lanes]*counters
	var forms [lanes]*form
	var keys [lanes]K
	var msgs [lanes]fastmac.Message
	var nonces [lanes]nonce
	for start := 0; start < len(batch); start += lanes {
		var ids, now lifetime.Sum
		group := batch[start:min(len(batch), start+lanes)]
		prefetch.All(senders[start:start+len(group)], senderLines)
		n := 0 // packets that have a counter
		for i := range group {
			p, who := &group[i], senders[start+i]
			if p.Counter, p.Err = 0, nil; who == nil {
				p.Bytes, p.Err = p.Bytes[:0], ErrUnknown
				continue
			}
			c, f, key, salt := parts(who)
			id := c.mustLive()
			f.mustDataOf(start+i, p)
			counter, err := c.take(1)
			if err != nil {
				c.mustBe(id)
				p.Bytes, p.Err = p.Bytes[:0], err
				continue
			}
			ids.Add(id)
			msgs[n].Data, msgs[n].Tag = f.begin(p, counter)
			nonces[n].set(salt, f.number(counter))
			msgs[n].Nonce = nonces[n][skip:]
			forms[i], keys[n], all[n] = f, key, c
			n++
		}
		fastmac.TagBatch(keys[:n], msgs[:n])
		for i := range group {
			if group[i].Err == nil {
				forms[i].end(&group[i])
			}
		}
		lifetime.Loads()
		for _, c := range all[:n] {
			now.Add(c.life.ID())
		}
		if now != ids {
			for i := range msgs[:n] {
				clear(msgs[i].Tag)
			}
			panic(dead("sender"))
		}
		sealed += n
	}
	return sealed
}

// openMany is OpenBatch. The nonce is what follows skip bytes of salt and number.
func openMany[R any, K *fastmac.UMACKey | *fastmac.GMACKey](receivers []*R, batch []Packet, skip int, parts func(*R) (*window, *form, K, uint32)) (good int) {
	var windows [lanes]*window
	var forms [lanes]*form
	var salts [lanes]uint32
	var keys [lanes]K // nil if there is nothing to verify
	var msgs [lanes]fastmac.Message
	var nonces [lanes]nonce
	var trailers [lanes]trailer
	var group []Packet
	borrowed := 0
	restore := func(first, end int) { forms[first].restore(group[first:end], trailers[first:end]) }
	defer func() { // if one is destroyed meanwhile
		for i := range borrowed {
			if windows[i] != nil {
				restore(i, i+1)
			}
		}
		if borrowed > 0 {
			refuseAll(group)
		}
	}()
	for start := 0; start < len(batch); start += lanes {
		var ids, now lifetime.Sum
		group = batch[start:min(len(batch), start+lanes)]
		prefetch.All(receivers[start:start+len(group)], receiverLines)
		for i := range group { // before check writes to packets
			windows[i], keys[i] = nil, nil
			if who := receivers[start+i]; who != nil {
				windows[i], forms[i], keys[i], salts[i] = parts(who)
				ids.Add(windows[i].mustLive())
				forms[i].mustDataOf(start+i, &group[i])
			}
		}
		for i := range group {
			p := &group[i]
			if windows[i] == nil {
				p.Bytes, p.Counter, p.Err = nil, 0, ErrUnknown
				continue
			}
			if msgs[i].Data, msgs[i].Tag = forms[i].check(p, &trailers[i]); p.Err != nil {
				keys[i] = nil
			}
			nonces[i].set(salts[i], forms[i].number(p.Counter))
			msgs[i].Nonce = nonces[i][skip:]
		}
		borrowed = len(group)
		fastmac.VerifyBatch(keys[:len(group)], msgs[:len(group)])
		borrowed = 0
		for i, end := 0, 0; i < len(group); i = end { // a receiver, and the run of its packets
			for end = i + 1; end < len(group) && windows[end] == windows[i]; {
				end++
			}
			if windows[i] != nil {
				restore(i, end)
				good += windows[i].judgeAll(forms[i], group[i:end], msgs[i:end])
			}
		}
		lifetime.Loads()
		for _, w := range windows[:len(group)] {
			if w != nil {
				now.Add(w.life.ID())
			}
		}
		if now != ids {
			panic(refuseAll(group))
		}
	}
	return good
}

// Bytes of the cache lines of a sender and a receiver that are not in their keys.
var (
	senderLines   = []uint64{0}
	receiverLines = []uint64{0, 64, 128}
)

// empty takes the messages out of a batch that is not sealed.
func empty(batch []Packet) {
	for i := range batch {
		batch[i].Bytes = batch[i].Bytes[:0]
	}
}

// clearTrailer overwrites the trailer of a packet whose sender was destroyed meanwhile, which may be in room
// that is longer than the packet. It returns the text of a panic.
func clearTrailer(room []byte) any {
	clear(room[:min(cap(room), int(unsafe.Sizeof(trailer{})))])
	return dead("sender")
}

// clearTrailers is clearTrailer for packets of a batch with trailers of so many bytes.
func clearTrailers(batch []Packet, overhead int) any {
	for i := range batch {
		b := batch[i].Bytes
		clear(b[max(0, len(b)-overhead):])
	}
	return dead("sender")
}

// refuseAll sets the results of a batch whose receiver was destroyed meanwhile. It returns the text of a panic.
func refuseAll(batch []Packet) any {
	for i := range batch {
		p := &batch[i]
		p.Bytes, p.Counter, p.Err = nil, 0, ErrForged
	}
	return dead("receiver")
}

// A trailer has room for the number and the tag of a packet.
type trailer [numberSize + maxTagSize]byte

// begin makes room for number and tag of p, a message, and returns what is to be hashed, and the
// place of the tag.
func (f *form) begin(p *Packet, counter uint64) (data, tag []byte) {
	n := len(p.Bytes)
	p.Bytes, p.Counter = f.room(p.Bytes), counter
	data, tag = p.Bytes[:n], p.Bytes[n+numberSize:]
	if len(p.Data) > 0 {
		data = p.Bytes[:n+copy(p.Bytes[n:], p.Data)]
	}
	return data, tag
}

// end writes the number of p, which has its tag.
func (f *form) end(p *Packet) {
	binary.BigEndian.PutUint64(p.Bytes[len(p.Bytes)-f.overhead():], f.number(p.Counter))
}

// check sets Counter and Err to what the number of p says, and returns what is to be hashed, and
// the tag, or nil if there is an error. With additional data it saves the trailer, for judge to
// write it back.
func (f *form) check(p *Packet, saved *trailer) (data, tag []byte) {
	number, err := f.parse(p.Bytes)
	p.Counter, p.Err = counterOf(number), err
	if err != nil {
		return nil, nil
	}
	n := len(p.Bytes) - f.overhead()
	if len(p.Data) == 0 {
		return p.Bytes[:n], p.Bytes[n+numberSize:]
	}
	return f.borrow(p.Bytes, n, p.Data, saved)
}

// borrow writes data over the trailer of a packet with a message of n bytes, and saves the trailer. It
// returns what is to be hashed, and the tag.
func (f *form) borrow(packet []byte, n int, data []byte, saved *trailer) (hashed, tag []byte) {
	tag = saved[numberSize:copy(saved[:], packet[n:])]
	return packet[:n+copy(packet[n:], data)], tag
}

// restore writes back the trailers of packets that check has overwritten.
func (f *form) restore(batch []Packet, saved []trailer) {
	if f.dataSize == 0 {
		return
	}
	for i := range batch {
		if p := &batch[i]; p.Err == nil {
			copy(p.Bytes[len(p.Bytes)-f.overhead():], saved[i][:])
		}
	}
}

// judgeAll sets Err, Counter and Bytes of packets that have been verified, in order, and returns how
// many are good.
func (w *window) judgeAll(f *form, batch []Packet, verified []fastmac.Message) (good int) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.expect(batch, verified)
	for i := range batch {
		p := &batch[i]
		if p.Err == nil {
			p.Err = w.judge(p.Counter, verified[i].OK)
		} else if w.unchecked(nil); w.worn() {
			p.Err = ErrWorn
		}
		if p.Err != nil {
			p.Bytes, p.Counter = nil, authentic(p.Counter, p.Err)
			continue
		}
		p.Bytes = p.Bytes[:len(p.Bytes)-f.overhead()]
		good++
	}
	return good
}
