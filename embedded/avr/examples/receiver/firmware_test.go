// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package main

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"testing"
)

// An attacker sits between a sensor and a receiver.
type attacker struct {
	t        *testing.T
	sensor   *bufio.Reader
	receiver io.Writer
	counter  uint64 // of the last frame that next returned
	steps    []step
}

// A step is what the receiver must print for a part of the stream, a regular expression.
type step struct{ name, want string }

// next returns the next frame of the sensor as it is on the wire, and what is in it.
// After an error both have the right sizes.
func (a *attacker) next() (wire, frame []byte) {
	frame = make([]byte, frameSize)
	for n := 0; n < 2; {
		c, err := a.sensor.ReadByte()
		if err != nil {
			a.t.Errorf("the sensor has sent %d frames: %v", a.counter, err)
			return encode(frame), frame
		}
		wire = append(wire, c)
		if c == slipEnd {
			n++
		}
	}
	frames := slip{r: bufio.NewReader(bytes.NewReader(wire))}
	got, err := frames.next()
	if err != nil || len(got) != frameSize {
		a.t.Errorf("after %d frames: frame of %d bytes, %v", a.counter, len(got), err)
		return encode(frame), frame
	}
	a.counter++
	return wire, got
}

// send sends bytes to the receiver, which must then print lines that match.
func (a *attacker) send(name string, wire []byte, want string) {
	a.steps = append(a.steps, step{name, want})
	if _, err := a.receiver.Write(wire); err != nil {
		a.t.Errorf("%s: %v", name, err)
	}
}

// accepted is what the receiver prints for a reading. The n-th has the counter n, and the
// simulator's ADC has measured n times 5 mV of 5 V.
func accepted(counter uint64) string {
	return fmt.Sprintf("device 1 counter %d value %d\n", counter, counter*5*1023/5000)
}

func late(counter uint64) string {
	return fmt.Sprintf("refused: device 1: counter %d: not above that of the last reading\n", counter)
}

const (
	wrongTag = "refused: device 1: wrong tag\n"
	refusals = "(refused: .*\n)+"
)

// attack does what an attacker, a bad line and a lost byte can do to the stream.
func (a *attacker) attack() {
	wire, _ := a.next()
	a.send("first", wire, accepted(1))
	a.send("replayed", wire, late(1))
	second, _ := a.next()
	third, _ := a.next()
	a.send("second", second, accepted(2))
	a.send("third", third, accepted(3))
	a.send("replayed later", append(bytes.Clone(wire), second...), late(1)+late(2))

	wire, frame := a.next()
	for i := range frame {
		want := wrongTag
		if i == 0 {
			want = "refused: version [0-9]+: want 1\n"
		} else if i < 5 {
			want = "refused: device [0-9]+: no key for it\n"
		}
		for _, bit := range []byte{0x01, 0x80} {
			frame[i] ^= bit
			a.send(fmt.Sprintf("altered in byte %d", i), encode(frame), want)
			frame[i] ^= bit
		}
	}
	a.send("not altered", wire, accepted(4))

	wire, _ = a.next()
	var altered []byte
	for i := range wire {
		// The added ends finish what the altered byte has left open.
		altered = append(append(altered, slipEnd), wire...)
		altered[len(altered)-len(wire)+i] ^= 0x04
		altered = append(altered, slipEnd)
	}
	a.send("altered in each byte of the line", altered, refusals)
	a.send("not altered on the line", wire, accepted(5))

	wire, frame = a.next()
	for n := 1; n < len(frame); n++ {
		a.send(fmt.Sprintf("truncated to %d bytes", n), encode(frame[:n]), fmt.Sprintf("refused: frame of %d bytes: want 81\n", n))
		a.send(fmt.Sprintf("truncated to the last %d bytes", n), encode(frame[len(frame)-n:]), fmt.Sprintf("refused: frame of %d bytes: want 81\n", n))
	}
	a.send("longer", encode(append(bytes.Clone(frame), 0)), "refused: bad framing: frame of more than 81 bytes\n")
	a.send("not truncated", wire, accepted(6))

	// Each cut-off frame is followed by a whole one. It lacks two bytes or more: in place of
	// its last byte alone, the first byte of the next frame would end it.
	for n := 1; n < frameSize; n += 7 {
		cut, _ := a.next()
		whole, _ := a.next()
		want := accepted(a.counter)
		if n > 1 {
			want = refusals + want
		}
		a.send(fmt.Sprintf("cut off after %d bytes", n), append(cut[:n:n], whole...), want)
	}

	first, _ := a.next()
	dropped, _ := a.next()
	last, _ := a.next()
	a.send("reordered", append(bytes.Clone(last), first...), accepted(a.counter)+late(a.counter-2))
	a.send("much too late", dropped, late(a.counter-1))
	a.next()
	wire, _ = a.next()
	a.send("one is dropped", wire, accepted(a.counter))

	_, frame = a.next()
	message := bytes.Clone(frame[:messageSize])
	wire, frame = a.next()
	a.send("tag of another reading", encode(append(message, frame[messageSize:]...)), wrongTag)
	a.send("next after it", wire, accepted(a.counter))

	random := rand.New(rand.NewPCG(1, 2))
	for _, n := range []int{1, frameSize, 1000} {
		for _, ends := range []bool{false, true} {
			noise := make([]byte, n)
			for i := range noise {
				if noise[i] = byte(random.Uint32()); noise[i] == slipEnd {
					noise[i] = 0
				}
			}
			if ends {
				noise = append(noise, slipEnd)
			}
			wire, _ = a.next()
			a.send(fmt.Sprintf("%d bytes of noise before", n), append(noise, wire...), refusals+accepted(a.counter))
		}
	}
	wire, _ = a.next()
	bad := append(append(bytes.Clone(wire[:40]), "\xc0noise"...), wire[40:]...)
	wire, _ = a.next()
	bad = append(append(bad, wire[:20]...), wire[21:]...)
	a.send("noise within, and a lost byte", bad, refusals)
	wire, _ = a.next()
	a.send("recovered", wire, accepted(a.counter))
	wire, _ = a.next()
	a.send("the line ends", wire[:30], "refused: bad framing: the stream ends within a frame\n")
}

// TestSensor joins a simulated sensor to the receiver, with an attacker between them.
func TestSensor(t *testing.T) {
	for _, mcu := range mcus() {
		t.Run(mcu, func(t *testing.T) {
			b := newBoard(t, mcu)
			cmd := b.command(t, 80*readingTime)
			stdout, err := cmd.StdoutPipe()
			if err != nil {
				t.Fatal(err)
			}
			if err := cmd.Start(); err != nil {
				t.Fatal(err)
			}
			port, line := io.Pipe()
			var record bytes.Buffer // of all that the receiver has seen
			a := &attacker{t: t, sensor: bufio.NewReader(stdout), receiver: io.MultiWriter(line, &record)}
			done := make(chan struct{})
			go func() {
				defer close(done)
				defer line.Close()
				a.attack()
			}()
			var log bytes.Buffer
			if status := run([]string{"-dir", b.dir}, port, &log, &log); status != 0 {
				t.Errorf("receiver: status %d", status)
			}
			port.Close()
			<-done
			stdout.Close() // the simulator stops
			if err := cmd.Wait(); err != nil {
				t.Error(err)
			}
			rest := log.String()
			for _, s := range a.steps {
				match := regexp.MustCompile("^(?:" + s.want + ")").FindString(rest)
				if match == "" {
					t.Fatalf("%s: the receiver printed\n%.300s\nwant\n%s", s.name, rest, s.want)
				}
				rest = rest[len(match):]
			}
			if rest != "" {
				t.Errorf("the receiver also printed\n%.300s", rest)
			}
			t.Logf("%d frames, %d steps", a.counter, len(a.steps))

			// After a restart the receiver accepts none of it again.
			stdoutLog, _ := runReceiver(t, 0, &record, "-dir", b.dir)
			if stdoutLog != "" {
				t.Errorf("after a restart the receiver accepts\n%.300s", stdoutLog)
			}
		})
	}
}

// TestPowerLoss lets the power fail at any time. No counter may repeat, and each loss may
// cost no more counters than the sensor has reserved.
func TestPowerLoss(t *testing.T) {
	if testing.Short() {
		t.Skip("simulates many starts")
	}
	for _, mcu := range mcus() {
		t.Run(mcu, func(t *testing.T) {
			b := newBoard(t, mcu)
			random := rand.New(rand.NewPCG(3, 4))
			last, most, readings := uint64(0), uint64(0), 0
			for range 40 {
				var n int
				n, last = b.check(t, b.run(t, random.IntN(3*readingTime)), last)
				readings += n
				most += uint64(n) + block
			}
			t.Logf("%d readings, the last counter is %d", readings, last)
			if readings < 40 || last > most {
				t.Errorf("%d readings, the last counter is %d: want 40 or more, and at most %d", readings, last, most)
			}
		})
	}
}

// The EEPROM of the sensor has two slots with the highest counter that is reserved.
const (
	slotStart = 32
	slotSize  = 16
	slotsEnd  = slotStart + 2*slotSize
)

// TestTornWrite lets the power fail during the write to the EEPROM: some bytes have been
// written, the byte in progress has any value, and the rest has not been written.
func TestTornWrite(t *testing.T) {
	if testing.Short() {
		t.Skip("simulates many starts")
	}
	b := newBoard(t, "atmega1284p")
	last := uint64(0)
	for boot := range 3 { // the first write to each slot, and one over an older number
		before := b.readEEPROM(t)
		_, next := b.check(t, b.run(t, readingTime), last)
		if next == last {
			t.Fatal("no reading")
		}
		after := b.readEEPROM(t)
		var written []int
		for i := range after {
			if after[i] != before[i] {
				written = append(written, i)
			}
		}
		if len(written) == 0 || written[0] < slotStart || written[len(written)-1] >= slotsEnd ||
			written[0]/slotSize != written[len(written)-1]/slotSize {
			t.Fatalf("start %d: bytes %d of the EEPROM were written: want some of one slot", boot, written)
		}
		for _, down := range []bool{false, true} {
			torn := bytes.Clone(before)
			for k := range written {
				i := written[k]
				if down {
					i = written[len(written)-1-k]
				}
				values := []byte{0x00, 0xff, before[i], after[i] ^ 0x10, ^after[i]}
				if os.Getenv("FASTMAC_TEST_LONG") == "" {
					values = values[3:]
				}
				for _, value := range values {
					torn[i] = value
					b.writeEEPROM(t, torn)
					n, counter := b.check(t, b.run(t, readingTime), last)
					if n == 0 || counter > last+2*block+uint64(n) {
						t.Errorf("start %d, byte %d is %#x: %d readings after counter %d, the last is %d", boot, i, value, n, last, counter)
					}
				}
				torn[i] = after[i]
			}
		}
		b.writeEEPROM(t, after)
		last = next
	}
}

// TestEEPROM reads what the sensor has stored, and expects a sensor that cannot store its
// counter to be silent.
func TestEEPROM(t *testing.T) {
	b := newBoard(t, "atmega1284p")
	n, last := b.check(t, b.run(t, 6*readingTime), 0)
	if n < 2*block || last != uint64(n) {
		t.Fatalf("%d readings up to counter %d", n, last)
	}
	data := b.readEEPROM(t)
	highest := max(binary.BigEndian.Uint64(data[slotStart:]), binary.BigEndian.Uint64(data[slotStart+slotSize:]))
	if highest < last || highest > last+block {
		t.Errorf("counter %d, and %d is reserved: want at most %d more", last, highest, block)
	}
	for i, c := range data {
		if c != 0xff && (i < slotStart || i >= slotsEnd) {
			t.Errorf("byte %d of the EEPROM was written", i)
		}
	}

	damaged := bytes.Clone(data)
	damaged[slotStart] ^= 1
	b.writeEEPROM(t, damaged)
	if n, _ := b.check(t, b.run(t, readingTime), last-block); n == 0 {
		t.Error("one damaged slot: no reading")
	}
	damaged[slotStart+2*slotSize-1] ^= 1
	b.writeEEPROM(t, damaged)
	if out := b.run(t, readingTime); len(out) != 0 {
		t.Errorf("two damaged slots: the sensor sends %x", out)
	}

	// The first block of counters can be stored, the second cannot.
	b.writeEEPROM(t, nil)
	worn := b.command(t, 4*readingTime)
	worn.Args = append(worn.Args, fmt.Sprint(slotStart+slotSize+3))
	out, err := worn.Output()
	if err != nil {
		t.Fatal(err)
	}
	if n, last := b.check(t, out, 0); n != block || last != block {
		t.Errorf("worn out EEPROM: %d readings up to counter %d, want %d", n, last, block)
	}
}

// TestArduino builds the sketch with Arduino's own files for the Mega 2560.
func TestArduino(t *testing.T) {
	const arduino = "/usr/share/arduino/hardware/arduino/avr/"
	needTools(t, tool{"arduino-core-avr", arduino + "cores/arduino/Arduino.h"})
	b := newBoard(t, "atmega2560")
	args := []string{"-mmcu=" + b.mcu, fmt.Sprintf("-DF_CPU=%dL", hz), "-DARDUINO=10819", "-DARDUINO_AVR_MEGA2560",
		"-DARDUINO_ARCH_AVR", "-Os", "-w", "-ffunction-sections", "-fdata-sections", "-Wl,--gc-sections",
		"-std=gnu++11", "-fpermissive", "-fno-exceptions", "-fno-threadsafe-statics",
		"-DDECIMAL_DIG=17", // avr-gcc 5.4 does not define it for C++
		"-DINTERVAL_MS=1", "-I", arduino + "cores/arduino", "-I", arduino + "variants/mega", "-I", filepath.Join(b.dir, "src"),
		"-o", b.firmware()}
	for _, pattern := range []string{filepath.Join(b.dir, "src", "*.[cS]"), arduino + "cores/arduino/*.[cS]", arduino + "cores/arduino/*.cpp"} {
		sources, err := filepath.Glob(pattern)
		if err != nil || len(sources) == 0 {
			t.Fatalf("%s: no files, %v", pattern, err)
		}
		args = append(args, sources...)
	}
	command(t, "avr-gcc", append(args, "-x", "c++", filepath.Join(b.sketch, "sensor.ino"))...)
	if n, last := b.check(t, b.run(t, 3*readingTime), 0); n < 3 || last != uint64(n) {
		t.Errorf("%d readings up to counter %d", n, last)
	}
}
