// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

// Package avr_test runs the library for AVR in simavr, and checks it against fastmac.
package avr_test

import (
	"bytes"
	"crypto"
	"crypto/sha512"
	"encoding/hex"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"testing"

	"example.com/fastmac"
	"example.com/fastmac/internal/mactest"
)

// chips are the devices that are simulated. The bounds are close to what was measured,
// which does not vary.
var chips = []struct {
	name   string
	cycles int // of one compression, without its call
	memory int // bytes of stack and static RAM, with a context
}{
	{"atmega128", 49104, 500},
	{"atmega1284p", 49104, 500},
	{"atmega2560", 49141, 505}, // return addresses have 3 bytes
}

const (
	maxCode = 3500 // bytes of Init, Update and Final, with all that they call, and tables
	maxHMAC = 4.1  // compressions for a message of 32 bytes under a new key

	sreg = 0x5f // the address of the status register
)

// TestAVR builds the firmware for each chip and runs it.
func TestAVR(t *testing.T) {
	b := newBuilder(t)
	for i, chip := range chips {
		if testing.Short() && i > 0 {
			break
		}
		t.Run(chip.name, func(t *testing.T) {
			t.Parallel()
			d := b.start(t, chip.name, "-Os")
			for name, test := range map[string]func(*testing.T, *device){
				"Vectors": testVectors, "Random": testRandom, "Splits": testSplits, "Verify": testVerify,
				"Overlap": testOverlap, "Copies": testCopies, "ConstantTime": testConstantTime, "Wiped": testWiped,
				"Cycles": func(t *testing.T, d *device) { testCycles(t, d, chip.cycles) },
				"Memory": func(t *testing.T, d *device) { testMemory(t, d, chip.memory) },
			} {
				t.Run(name, func(t *testing.T) {
					d.t = t
					test(t, d)
				})
			}
			d.t = t
		})
	}
	if testing.Short() {
		return
	}
	// Other ways to compile, and code beyond the addresses that lpm and ijmp reach.
	for name, flags := range map[string][]string{
		"Uno":       {"atmega328p", "-Os", "-DARENA=500"},
		"O2":        {"atmega128", "-O2", "-mcall-prologues"},
		"O3":        {"atmega1284p", "-O3"},
		"C++":       {"atmega1284p", "-Os", "c++"},
		"relax":     {"atmega2560", "-Os", "-mrelax"},
		"Arduino":   {"atmega2560", "-Os", "-ffunction-sections", "-fdata-sections", "-flto", "-fuse-linker-plugin", "-Wl,--gc-sections"},
		"far":       {"atmega2560", "-Os", "-DFAR"},
		"unsigned":  {"atmega128", "-Os", "-funsigned-char", "-fpack-struct", "-fshort-enums"},
		"optimized": {"atmega2560", "-O1", "-fno-inline"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d := b.start(t, flags[0], flags[1:]...)
			for _, n := range []int{0, 3, 111, 112, 128, 300} {
				d.checkTag(t, random(n%50), random(n))
			}
			d.checkTag(t, random(200), random(10))
		})
	}
}

// TestREADME compiles the C of README.md with its command.
func TestREADME(t *testing.T) {
	newBuilder(t) // skips if the tools are not there
	content, err := os.ReadFile("README.md")
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	if err := os.CopyFS(filepath.Join(dir, "src"), os.DirFS("src")); err != nil {
		t.Fatal(err)
	}
	build := regexp.MustCompile(`(?m)^ +(avr-gcc .*)$`).FindStringSubmatch(string(content))
	code := regexp.MustCompile("(?s)```c\n(#include <hmac_sha512.h>\n)(.*?)```").FindStringSubmatch(string(content))
	if build == nil || code == nil {
		t.Fatal("README.md has no command of avr-gcc, or no C")
	}
	main := code[1] + "int main(void) {\nstatic uint8_t key[64], msg[9];\nsize_t len = sizeof msg;\n" + code[2] + "return tag[0];\n}\n"
	if err := os.WriteFile(filepath.Join(dir, "main.c"), []byte(main), 0o666); err != nil {
		t.Fatal(err)
	}
	command(t, "sh", "-c", "cd '"+dir+"' && "+build[1])
}

// testVectors has the rows of testdata, and a hash that FIPS 180-4 has as its example.
func testVectors(t *testing.T, d *device) {
	abc, _ := hex.DecodeString("ddaf35a193617abacc417349ae20413112e6fa4e89a97ea20a9eeee64b55d39a" +
		"2192992a274fc1a836ba3c23a3feebbd454d4423643ce80e2a9ac94fa54ca49f")
	if got := d.sha512([]byte("abc")); !bytes.Equal(got, abc) {
		t.Errorf("SHA-512 of abc: %x, want %x", got, abc)
	}
	for i, v := range mactest.HMACVectors(t, crypto.SHA512) {
		if !mactest.Long() && i%9 != 0 {
			continue
		}
		got := d.stream(v.Key, v.Msg, 1000)
		if ok := bytes.Equal(got[:len(v.Tag)], v.Tag); ok != v.Valid {
			t.Errorf("%s: %x, testdata has %x, valid: %v", v.Name, got, v.Tag, v.Valid)
		}
	}
}

// testRandom has lengths at which blocks begin or end, for keys and for messages.
func testRandom(t *testing.T, d *device) {
	d.interrupts = 1
	defer func() { d.interrupts = 0 }()
	lengths := []int{0, 1, 32, 63, 64, 110, 111, 112, 113, 127, 128, 129, 239, 240, 255, 256, 257, 1000}
	for i, n := range lengths {
		msg := random(n)
		want := sha512.Sum512(msg)
		if got := d.sha512(msg); !bytes.Equal(got, want[:]) {
			t.Errorf("SHA-512 of %d bytes %x: %x, want %x", n, msg, got, want)
		}
		d.checkTag(t, random(lengths[(i+5)%len(lengths)]), msg)
	}
	rounds := 10
	if mactest.Long() {
		rounds = 200
	}
	for range rounds {
		d.checkTag(t, random(rand.IntN(300)), random(rand.IntN(600)))
	}
}

// checkTag checks that fastmac verifies the tag of the device, and the device that of
// fastmac.
func (d *device) checkTag(t *testing.T, key, msg []byte) {
	t.Helper()
	k := mactest.Must(fastmac.NewHMACKey(crypto.SHA512, key))
	if tag := d.hmac(key, msg); !k.Verify(tag, msg) {
		t.Errorf("key %x: the device's tag of %x is %x, want %x", key, msg, tag, k.Tag(nil, msg))
	}
	if !d.verify(k.Tag(nil, msg), key, msg) {
		t.Errorf("key %x: the device refuses the tag of %x", key, msg)
	}
}

// testSplits has messages in two parts, cut everywhere, and byte by byte.
func testSplits(t *testing.T, d *device) {
	n := 131
	if mactest.Long() {
		n = 259
	}
	msg := random(n)
	want := sha512.Sum512(msg)
	for cut := range n + 1 {
		addr := d.put(msg)
		d.call("sha512_init", d.sha)
		d.call("sha512_update", d.sha, addr, uint16(cut))
		d.call("sha512_update", d.sha, addr+uint16(cut), uint16(n-cut))
		d.call("sha512_final", d.sha, d.arena)
		if got := d.read(d.arena, sha512.Size); !bytes.Equal(got, want[:]) {
			t.Errorf("%d bytes, cut at %d: %x, want %x", n, cut, got, want)
		}
	}
	key := random(20)
	if got, k := d.stream(key, msg, 1), mactest.Must(fastmac.NewHMACKey(crypto.SHA512, key)); !k.Verify(got, msg) {
		t.Errorf("byte by byte: %x, want %x", got, k.Tag(nil, msg))
	}
}

// testVerify changes each bit of a tag, or one of each byte.
func testVerify(t *testing.T, d *device) {
	key, msg := random(64), random(5)
	tag := fastmac.SumHMAC(crypto.SHA512, nil, key, msg)
	step := 7 // reaches each byte
	if mactest.Long() {
		step = 1
	}
	for bit := 0; bit < 8*len(tag); bit += step {
		wrong := bytes.Clone(tag)
		wrong[bit/8] ^= 1 << (bit % 8)
		if d.verify(wrong, key, msg) {
			t.Errorf("the device accepts a tag with bit %d flipped", bit)
		}
	}
	if !d.verify(tag, key, msg) {
		t.Error("the device refuses the tag")
	}
}

// testOverlap writes tags over the message and over the key.
func testOverlap(t *testing.T, d *device) {
	for _, n := range []int{64, 200} {
		key, msg := random(n), random(n)
		want := fastmac.SumHMAC(crypto.SHA512, nil, key, msg)
		for _, over := range []int{0, n} {
			addr := d.put(key, msg)
			d.call("hmac_sha512", addr+uint16(over), addr, uint16(n), addr+uint16(n), uint16(n))
			if got := d.read(addr+uint16(over), len(want)); !bytes.Equal(got, want) {
				t.Errorf("%d bytes, the tag over byte %d: %x, want %x", n, over, got, want)
			}
		}
	}
}

// testCopies makes many tags with one expanded key.
func testCopies(t *testing.T, d *device) {
	key := random(32)
	k := mactest.Must(fastmac.NewHMACKey(crypto.SHA512, key))
	d.call("hmac_sha512_init", d.mac, d.put(key), uint16(len(key)))
	expanded := d.read(d.mac, d.size("mac"))
	for n := range 3 {
		msg := random(n * 100)
		d.write(d.mac, expanded)
		d.call("hmac_sha512_update", d.mac, d.put(msg), uint16(len(msg)))
		r := d.call("hmac_sha512_final", d.mac, d.arena)
		if tag := d.read(d.arena, 64); !k.Verify(tag, msg) {
			t.Errorf("%d bytes: %x, want %x", len(msg), tag, k.Tag(nil, msg))
		}
		if n == 0 && r.calls != 2 {
			t.Errorf("%d compressions under an expanded key, want 2", r.calls)
		}
	}
}

// testConstantTime compares the sequences of instructions for different data of equal
// lengths.
func testConstantTime(t *testing.T, d *device) {
	for _, n := range []int{0, 32, 120, 300} {
		var first result
		for i := range 5 {
			key, msg := random(n), random(n)
			switch i {
			case 1:
				clear(key)
				clear(msg)
			case 2:
				key, msg = bytes.Repeat([]byte{0xff}, n), bytes.Repeat([]byte{0xff}, n)
			}
			tag := fastmac.SumHMAC(crypto.SHA512, nil, key, msg)
			if i != 0 {
				tag[rand.IntN(64)] ^= byte(i - 1) // 0 makes it right
			}
			addr := d.put(tag, key, msg)
			r := d.call("hmac_sha512_verify", addr, addr+64, uint16(n), addr+64+uint16(n), uint16(n))
			if i == 0 {
				first = r
			}
			if r.hash != first.hash || r.cycles != first.cycles {
				t.Errorf("%d bytes: %d cycles, and other data %d, by other instructions: %v", n, r.cycles, first.cycles, r.hash != first.hash)
			}
		}
	}
}

// testWiped runs each function twice, with different secrets, on a memory that is
// otherwise equal. Afterwards only the context and the output may differ.
func testWiped(t *testing.T, d *device) {
	type step struct {
		name     string
		args     []uint16
		mayWrite []string // besides the arena
	}
	const n, m = 150, 260 // the key is hashed, and the message is longer than a block
	key, msg := d.arena+64, d.arena+64+n
	for _, sequence := range [][]step{
		{{"sha512", []uint16{d.arena, msg, m}, nil}},
		{{"hmac_sha512", []uint16{d.arena, key, n, msg, m}, nil}},
		{{"hmac_sha512_verify", []uint16{d.arena, key, n, msg, m}, nil}},
		{
			{"sha512_init", []uint16{d.sha}, []string{"sha"}},
			{"sha512_update", []uint16{d.sha, msg, m}, []string{"sha"}},
			{"sha512_final", []uint16{d.sha, d.arena}, nil},
		},
		{
			{"hmac_sha512_init", []uint16{d.mac, key, n}, []string{"mac"}},
			{"hmac_sha512_update", []uint16{d.mac, msg, m}, []string{"mac"}},
			{"hmac_sha512_final", []uint16{d.mac, d.arena}, nil},
		},
	} {
		var memories [2][][]byte
		for i := range memories {
			d.write(d.end, bytes.Repeat([]byte{0x55}, int(d.sp-d.end)))
			d.write(d.arena, random(64+n+m))
			for _, s := range sequence {
				r := d.call(s.name, s.args...)
				if r.r24&^1 != 0 && s.name == "hmac_sha512_verify" {
					t.Errorf("%s returns %d", s.name, r.r24)
				}
				memory := d.after()
				clear(memory[d.arena:][:d.size("arena")])
				for _, name := range s.mayWrite {
					clear(memory[d.symbol(name):][:d.size(name)])
				}
				memory[sreg] = 0 // flags of the last instructions
				memories[i] = append(memories[i], memory)
			}
		}
		for i, s := range sequence {
			for addr, x := range memories[0][i] {
				if y := memories[1][i][addr]; x != y {
					t.Errorf("after %s the byte at %#x depends on secrets: %#x and %#x", s.name, addr, x, y)
				}
			}
		}
	}
}

func testCycles(t *testing.T, d *device, limit int) {
	r := d.call("sha512_compress", d.sha)
	if r.calls != 1 || r.max > limit {
		t.Errorf("a compression needs %d cycles, more than %d", r.max, limit)
	}
	key, msg := random(32), random(32)
	addr := d.put(key, msg)
	h := d.call("hmac_sha512", d.arena, addr, 32, addr+32, 32)
	ratio := float64(h.cycles) / float64(r.max)
	if h.calls != 4 || ratio > maxHMAC {
		t.Errorf("HMAC needs %d cycles, %.3f compressions; want %v", h.cycles, ratio, maxHMAC)
	}
	t.Logf("compression: %d cycles; HMAC of 32 bytes: %d cycles, %.3f compressions", r.max, h.cycles, ratio)
}

func testMemory(t *testing.T, d *device, limit int) {
	addr := d.put(random(500))
	d.call("sha512_init", d.sha)
	d.call("hmac_sha512_init", d.mac, addr, 200)
	stack := make(map[string]int)
	for _, s := range []struct {
		name    string
		context string // static, if it is not on the stack
		args    []uint16
	}{
		{"sha512_compress", "sha", []uint16{d.sha}},
		{"sha512_update", "sha", []uint16{d.sha, addr, 300}},
		{"sha512_final", "sha", []uint16{d.sha, d.arena}},
		{"sha512", "", []uint16{d.arena, addr, 300}},
		{"hmac_sha512_init", "mac", []uint16{d.mac, addr, 200}},
		{"hmac_sha512_update", "mac", []uint16{d.mac, addr, 300}},
		{"hmac_sha512_final", "mac", []uint16{d.mac, d.arena}},
		{"hmac_sha512", "", []uint16{d.arena, addr, 200, addr, 300}},
		{"hmac_sha512_verify", "", []uint16{d.arena, addr, 200, addr, 300}},
	} {
		sum := d.call(s.name, s.args...).stack
		stack[s.name] = sum
		if s.context != "" {
			sum += d.size(s.context)
		}
		if sum += d.static; sum > limit {
			t.Errorf("%s needs %d bytes of stack and static RAM, more than %d", s.name, sum, limit)
		}
	}
	code := d.tables + d.size("sha512_final")
	if code > maxCode {
		t.Errorf("Init, Update and Final need %d bytes of code, more than %d", code, maxCode)
	}
	t.Logf("code: %d bytes, with HMAC and one-shot %d; static RAM: %d; contexts: %d, %d; stack: %v",
		code, d.code, d.static, d.size("sha"), d.size("mac"), stack)
}
