// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package main

import (
	"bufio"
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"example.com/fastmac/internal/mactest"
)

const (
	hz          = 16000000 // F_CPU in README.md
	readingTime = hz / 8   // cycles, more than any build needs to start and send a reading
	block       = 4        // COUNTER_BLOCK of the tests' firmware
)

// A board is a simulated MCU with the firmware of the sensor, which is device 1 of the
// store in dir. Each run of it ends with a loss of power. Only its EEPROM is kept.
type board struct {
	mcu, dir                  string
	sketch, simulator, eeprom string // in dir
}

// A tool is a file of a Debian package.
type tool struct{ deb, file string }

// needTools skips the test if a tool is missing.
func needTools(t *testing.T, tools ...tool) {
	t.Helper()
	var missing []string
	for _, tool := range tools {
		_, err := exec.LookPath(tool.file)
		if filepath.IsAbs(tool.file) {
			_, err = os.Stat(tool.file)
		}
		if err != nil {
			missing = append(missing, tool.deb)
		}
	}
	if missing != nil {
		t.Skipf("needs the Debian packages %s", strings.Join(missing, " "))
	}
}

// newBoard builds the firmware and the simulator. It skips the test if there are no tools
// for that.
func newBoard(t *testing.T, mcu string) *board {
	t.Helper()
	needTools(t,
		tool{"gcc", "gcc"},
		tool{"libc6-dev", "/usr/include/stdio.h"},
		tool{"gcc-avr", "avr-gcc"},
		tool{"binutils-avr", "avr-ld"},
		tool{"avr-libc", "/usr/lib/avr/include/avr/io.h"},
		tool{"libsimavr-dev", "/usr/include/simavr/sim_avr.h"},
		tool{"libelf-dev", "/usr/include/libelf.h"},
	)
	// The tools read copies, because go test uses a cached result unless the test itself has
	// opened the files. And the sketch must not find another key.h.
	dir := t.TempDir()
	b := &board{mcu: mcu, dir: dir, sketch: filepath.Join(dir, "examples", "sensor"),
		simulator: filepath.Join(dir, "board"), eeprom: filepath.Join(dir, "eeprom")}
	for to, from := range map[string]string{"src": "../../src", "testdata": "testdata", "examples/sensor": "../sensor"} {
		if err := os.CopyFS(filepath.Join(dir, to), os.DirFS(from)); err != nil {
			t.Fatal(err)
		}
	}
	command(t, "gcc", "-O2", "-Wall", "-Wextra", "-Werror", "-o", b.simulator,
		filepath.Join(dir, "testdata", "board.c"), "-lsimavr", "-lelf")
	runReceiver(t, 0, nil, "-dir", dir, "-new", "1", filepath.Join(b.sketch, "key.h"))
	readme, err := os.ReadFile(filepath.Join(b.sketch, "README.md"))
	if err != nil {
		t.Fatal(err)
	}
	build := regexp.MustCompile(`(?m)^ +avr-gcc .*$`).FindString(string(readme))
	build = strings.Replace(build, "-mmcu=atmega1284p", "-mmcu="+mcu, 1)
	build += fmt.Sprintf(" -Wall -Wextra -Werror -DINTERVAL_MS=1 -DCOUNTER_BLOCK=%d", block)
	command(t, "sh", "-c", fmt.Sprintf("cd '%s' && %s", b.sketch, build))
	convert := regexp.MustCompile(`(?m)^ +avr-objcopy .*$`).FindString(string(readme))
	command(t, "sh", "-c", fmt.Sprintf("cd '%s' && %s && test -s sensor.hex", b.sketch, convert))
	b.writeEEPROM(t, nil)
	return b
}

// command runs a program that must succeed.
func command(t *testing.T, name string, args ...string) {
	t.Helper()
	if out, err := exec.Command(name, args...).CombinedOutput(); err != nil {
		t.Fatalf("%s %q: %v\n%s", name, args, err, out)
	}
}

// writeEEPROM writes data to the EEPROM, and to the rest what an erased one has.
func (b *board) writeEEPROM(t *testing.T, data []byte) {
	t.Helper()
	const size = 4096 // of the largest; the simulator reads what the MCU has
	data = append(bytes.Clone(data), bytes.Repeat([]byte{0xff}, size-len(data))...)
	if err := os.WriteFile(b.eeprom, data, 0o600); err != nil {
		t.Fatal(err)
	}
}

func (b *board) readEEPROM(t *testing.T) []byte {
	t.Helper()
	data, err := os.ReadFile(b.eeprom)
	if err != nil {
		t.Fatal(err)
	}
	return data
}

func (b *board) firmware() string { return filepath.Join(b.sketch, "sensor.elf") }

// command returns the simulation of so many cycles after a reset.
func (b *board) command(t *testing.T, cycles int) *exec.Cmd {
	cmd := exec.CommandContext(t.Context(), b.simulator, b.mcu, fmt.Sprint(hz), fmt.Sprint(cycles), b.eeprom,
		b.firmware())
	cmd.Stderr = os.Stderr
	return cmd
}

// run returns what the sensor sends in so many cycles after a reset.
func (b *board) run(t *testing.T, cycles int) []byte {
	t.Helper()
	out, err := b.command(t, cycles).Output()
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// check reads what the sensor has sent up to a loss of power, whose counters must be above
// last. It returns the number of readings and the counter of the last one.
func (b *board) check(t *testing.T, stream []byte, last uint64) (n int, counter uint64) {
	t.Helper()
	header, err := os.ReadFile(filepath.Join(b.sketch, "key.h"))
	if err != nil {
		t.Fatal(err)
	}
	devices := map[uint32]*device{1: mactest.Must(newDevice(headerKey(t, string(header)), last))}
	frames := slip{r: bufio.NewReader(bytes.NewReader(stream))}
	for {
		frame, err := frames.next()
		if err != nil { // at the latest the end of the stream
			return n, last
		}
		r, err := open(devices, frame)
		if err != nil {
			t.Fatalf("after counter %d: %v", last, err)
		}
		n, last = n+1, r.counter
	}
}

// mcus are the MCUs of most tests. The others take the long run.
func mcus() []string {
	if os.Getenv("FASTMAC_TEST_LONG") == "" {
		return []string{"atmega1284p"}
	}
	return []string{"atmega128", "atmega1284p", "atmega2560", "atmega328p"}
}
