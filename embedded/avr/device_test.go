// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package avr_test

import (
	"bufio"
	"bytes"
	"crypto/sha512"
	"encoding/hex"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// A builder compiles firmwares and the runner, test/run.c.
type builder struct {
	dir, runner string
}

// newBuilder skips the test if a tool is missing.
func newBuilder(t *testing.T) *builder {
	var missing []string
	for _, need := range []struct{ pkg, what string }{
		{"gcc", "gcc"}, {"gcc-avr", "avr-gcc"}, {"binutils-avr", "avr-nm"},
		{"avr-libc", "/usr/lib/avr/include/avr/io.h"},
		{"libsimavr-dev", "/usr/include/simavr/sim_avr.h"}, {"libelf-dev", "/usr/include/libelf.h"},
	} {
		_, err := exec.LookPath(need.what)
		if filepath.IsAbs(need.what) {
			_, err = os.Stat(need.what)
		}
		if err != nil {
			missing = append(missing, need.pkg)
		}
	}
	if missing != nil {
		t.Skipf("the test needs the Debian packages %s", strings.Join(missing, ", "))
	}
	b := &builder{dir: t.TempDir()}
	b.runner = filepath.Join(b.dir, "run")
	command(t, "gcc", "-O2", "-Wall", "-Wextra", "-Werror", "-o", b.runner, "test/run.c", "-lsimavr", "-lelf")
	return b
}

func command(t *testing.T, name string, args ...string) string {
	t.Helper()
	out, err := exec.Command(name, args...).CombinedOutput()
	if err != nil {
		t.Fatalf("%s %s: %v\n%s", name, strings.Join(args, " "), err, out)
	}
	return string(out)
}

// A device is a firmware in simavr.
type device struct {
	t       *testing.T
	stdin   io.Writer
	stdout  *bufio.Scanner
	symbols map[string]symbol

	sha, mac, arena uint16 // addresses of the firmware's variables
	end, sp         uint16 // the memory between is free
	ramend          int

	// interrupts makes the memory below the stack pointer change before each instruction
	// that can be interrupted.
	interrupts int

	tables, code, static int // bytes of sha512_avr.S and of the library
}

type symbol struct{ addr, size int }

// result is what the runner answers to a call.
type result struct {
	r24, cycles, stack, calls, min, max int
	hash                                string
}

// start compiles the firmware and starts it. The flag c++ makes it C++, the library stays
// C.
func (b *builder) start(t *testing.T, mcu string, flags ...string) *device {
	d := &device{t: t, symbols: make(map[string]symbol)}
	dir, err := os.MkdirTemp(b.dir, mcu)
	if err != nil {
		t.Fatal(err)
	}
	cplusplus := slices.Contains(flags, "c++")
	flags = slices.DeleteFunc(flags, func(s string) bool { return s == "c++" })
	flags = append([]string{"-mmcu=" + mcu, "-Isrc", "-Wall", "-Wextra", "-Werror"}, flags...)
	var objects []string
	sources, _ := filepath.Glob("src/*.[cS]")
	for _, source := range append(sources, "test/firmware.c") {
		object := filepath.Join(dir, filepath.Base(source)+".o")
		language := []string{"-std=gnu99"}
		if strings.HasSuffix(source, ".S") {
			language = nil
		} else if cplusplus && source == "test/firmware.c" {
			language = []string{"-x", "c++", "-std=gnu++11"}
		}
		command(t, "avr-gcc", slices.Concat(flags, language, []string{"-c", "-o", object, source})...)
		objects = append(objects, object)
		if source == "test/firmware.c" || slices.Contains(flags, "-flto") {
			continue
		}
		// text, data and bss, of which data is in both memories
		size := strings.Fields(strings.Split(command(t, "avr-size", object), "\n")[1])
		text, _ := strconv.Atoi(size[0])
		data, _ := strconv.Atoi(size[1])
		bss, _ := strconv.Atoi(size[2])
		d.code += text + data
		d.static += data + bss
		if source == "src/sha512_avr.S" {
			d.tables = text
		}
	}
	firmware := filepath.Join(dir, "firmware.elf")
	command(t, "avr-gcc", slices.Concat(flags, []string{"-o", firmware}, objects)...)

	for line := range strings.Lines(command(t, "avr-nm", "-S", firmware)) {
		f := strings.Fields(line)
		if len(f) < 3 {
			continue
		}
		addr, _ := strconv.ParseUint(f[0], 16, 32)
		s := symbol{addr: int(addr &^ 0x800000)} // where the ELF file has the data space
		if len(f) == 4 {
			size, _ := strconv.ParseUint(f[1], 16, 32)
			s.size = int(size)
		}
		d.symbols[f[len(f)-1]] = s
	}

	cmd := exec.Command(b.runner, mcu, firmware, fmt.Sprintf("%x", d.symbol("idle")))
	cmd.Stderr = os.Stderr
	d.stdin, err = cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	d.stdout = bufio.NewScanner(stdout)
	d.stdout.Buffer(nil, 1<<16)
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		d.stdin.(io.Closer).Close()
		if err := cmd.Wait(); err != nil {
			t.Errorf("the runner: %v", err)
		}
	})

	d.sha, d.mac, d.arena = d.variable("sha"), d.variable("mac"), d.variable("arena")
	d.end = d.variable("__bss_end")
	sp := d.read(0x5d, 2)
	d.sp = uint16(sp[0]) | uint16(sp[1])<<8
	d.ramend = d.symbols["__stack"].addr
	return d
}

func (d *device) symbol(name string) int {
	s, ok := d.symbols[name]
	if !ok {
		d.t.Fatalf("the firmware has no symbol %s", name)
	}
	return s.addr
}

func (d *device) variable(name string) uint16 { return uint16(d.symbol(name)) }

func (d *device) size(name string) int { return d.symbols[name].size }

// command writes a line to the runner and returns the answer.
func (d *device) command(format string, args ...any) string {
	d.t.Helper()
	fmt.Fprintf(d.stdin, format+"\n", args...)
	if !d.stdout.Scan() {
		d.t.Fatalf("no answer from the runner: %v", d.stdout.Err())
	}
	return d.stdout.Text()
}

func (d *device) write(addr uint16, b []byte) { d.command("w %x %x", addr, b) }

func (d *device) read(addr uint16, n int) []byte {
	b, err := hex.DecodeString(d.command("r %x %x", addr, n))
	if err != nil || len(b) != n {
		d.t.Fatalf("%d bytes of memory, want %d: %v", len(b), n, err)
	}
	return b
}

// after returns the whole data space as it was when the last call returned.
func (d *device) after() []byte {
	b, err := hex.DecodeString(d.command("s 0 %x", d.ramend+1))
	if err != nil {
		d.t.Fatal(err)
	}
	return b
}

// call calls a function. The test fails if it does not preserve the registers that it
// must.
func (d *device) call(name string, args ...uint16) (r result) {
	d.t.Helper()
	args = append(args, make([]uint16, 5-len(args))...)
	answer := d.command("c %x %x %x %x %x %x %x %d", d.symbol(name), args[0], args[1], args[2], args[3], args[4], d.symbol("sha512_compress"), d.interrupts)
	var preserved int
	_, err := fmt.Sscanf(answer, "%x %x %x %x %x %x %s %d", &r.r24, &r.cycles, &r.stack, &r.calls, &r.min, &r.max, &r.hash, &preserved)
	if err != nil {
		d.t.Fatalf("answer %q: %v", answer, err)
	}
	if preserved != 1 {
		d.t.Errorf("%s does not preserve all registers", name)
	}
	return r
}

func random(n int) []byte {
	b := make([]byte, n)
	for i := range b {
		b[i] = byte(rand.Uint32())
	}
	return b
}

func (d *device) sha512(msg []byte) []byte {
	d.call("sha512", d.arena, d.put(msg), uint16(len(msg)))
	return d.read(d.arena, sha512.Size)
}

func (d *device) hmac(key, msg []byte) []byte {
	addr := d.put(key, msg)
	d.call("hmac_sha512", d.arena, addr, uint16(len(key)), addr+uint16(len(key)), uint16(len(msg)))
	return d.read(d.arena, sha512.Size)
}

func (d *device) verify(tag, key, msg []byte) bool {
	addr := d.put(tag, key, msg)
	k := addr + uint16(len(tag))
	return d.call("hmac_sha512_verify", addr, k, uint16(len(key)), k+uint16(len(key)), uint16(len(msg))).r24 != 0
}

// stream passes the message in parts, of any total length. A key that does not fit in the
// device is hashed in parts, which is what its tag is defined by.
func (d *device) stream(key, msg []byte, part int) []byte {
	if len(key) > d.size("arena")-64 {
		d.call("sha512_init", d.sha)
		d.update("sha512_update", d.sha, key, part)
		d.call("sha512_final", d.sha, d.arena)
		key = d.read(d.arena, sha512.Size)
	}
	d.call("hmac_sha512_init", d.mac, d.put(key), uint16(len(key)))
	d.update("hmac_sha512_update", d.mac, msg, part)
	d.call("hmac_sha512_final", d.mac, d.arena)
	return d.read(d.arena, sha512.Size)
}

func (d *device) update(function string, context uint16, b []byte, part int) {
	for len(b) > 0 {
		n := min(part, len(b))
		d.call(function, context, d.put(b[:n]), uint16(n))
		b = b[n:]
	}
}

// put writes arguments to the arena, behind the room for a tag, and returns the address
// of the first.
func (d *device) put(args ...[]byte) uint16 {
	all := bytes.Join(args, nil)
	if len(all) > d.size("arena")-64 {
		d.t.Fatalf("%d bytes do not fit in the device", len(all))
	}
	d.write(d.arena+64, all)
	return d.arena + 64
}
