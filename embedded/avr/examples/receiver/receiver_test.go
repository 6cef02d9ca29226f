// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package main

import (
	"bytes"
	"crypto"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"testing"
	"testing/iotest"

	"example.com/fastmac"
	"example.com/fastmac/internal/mactest"
)

var testKey = bytes.Repeat([]byte{0x5a}, keySize)

// seal returns the frame that a device sends for a reading.
func seal(key []byte, r reading) []byte {
	frame := []byte{version}
	frame = binary.BigEndian.AppendUint32(frame, r.device)
	frame = binary.BigEndian.AppendUint64(frame, r.counter)
	frame = binary.BigEndian.AppendUint32(frame, uint32(r.value))
	return fastmac.SumHMAC(crypto.SHA512, frame, key, frame)
}

// encode returns a frame in the framing of SLIP, with the end of the one before.
func encode(frame []byte) []byte {
	out := []byte{slipEnd}
	for _, c := range frame {
		switch c {
		case slipEnd:
			out = append(out, slipEsc, slipEscEnd)
		case slipEsc:
			out = append(out, slipEsc, slipEscEsc)
		default:
			out = append(out, c)
		}
	}
	return append(out, slipEnd)
}

func TestOpen(t *testing.T) {
	const highest = math.MaxUint64
	devices := map[uint32]*device{7: mactest.Must(newDevice(testKey, 10)), 8: mactest.Must(newDevice([]byte("another"), 0))}
	changed := func(i int, c byte) []byte {
		frame := seal(testKey, reading{7, 100, 5})
		frame[i] ^= c
		return frame
	}
	for _, step := range []struct {
		name  string
		frame []byte
		want  reading
		err   string
	}{
		{"stored counter", seal(testKey, reading{7, 10, 5}), reading{}, "device 7: counter 10: not above that of the last reading"},
		{"next", seal(testKey, reading{7, 11, -5}), reading{7, 11, -5}, ""},
		{"replayed", seal(testKey, reading{7, 11, -5}), reading{}, "device 7: counter 11: not above that of the last reading"},
		{"gap", seal(testKey, reading{7, 90, math.MinInt32}), reading{7, 90, math.MinInt32}, ""},
		{"late", seal(testKey, reading{7, 89, 5}), reading{}, "device 7: counter 89: not above that of the last reading"},
		{"version", changed(0, 3), reading{}, "version 2: want 1"},
		{"device", changed(4, 8), reading{}, "device 15: no key for it"},
		{"other device", changed(4, 15), reading{}, "device 8: wrong tag"},
		{"counter", changed(5, 0x80), reading{}, "device 7: wrong tag"},
		{"value", changed(16, 1), reading{}, "device 7: wrong tag"},
		{"tag", changed(17, 1), reading{}, "device 7: wrong tag"},
		{"end of the tag", changed(80, 0x80), reading{}, "device 7: wrong tag"},
		{"short", changed(80, 0)[:80], reading{}, "frame of 80 bytes: want 81"},
		{"empty", nil, reading{}, "frame of 0 bytes: want 81"},
		{"after the forgeries", changed(0, 0), reading{7, 100, 5}, ""},
		{"highest", seal(testKey, reading{7, highest, 1}), reading{7, highest, 1}, ""},
		{"wrapped around", seal(testKey, reading{7, 0, 1}), reading{}, "device 7: counter 0: not above that of the last reading"},
		{"other key", seal([]byte("another"), reading{8, 1, 2}), reading{8, 1, 2}, ""},
	} {
		got, err := open(devices, step.frame)
		if got != step.want || (err == nil) != (step.err == "") || err != nil && err.Error() != step.err {
			t.Errorf("%s: %v, %v, want %v, %q", step.name, got, err, step.want, step.err)
		}
	}
}

// TestReceive has streams of frames and noise. In the wanted events a number is the
// counter of a reading; all others are refusals.
func TestReceive(t *testing.T) {
	// SLIP escapes two bytes of this device's number.
	frames := map[int][]byte{}
	for n := 1; n <= 3; n++ {
		frames[n] = encode(seal(testKey, reading{0xc0dbdcdd, uint64(n), 1}))
	}
	const ends = "bad framing: the stream ends within a frame"
	esc := string(rune(slipEsc))
	for _, test := range []struct {
		name   string
		stream []any // strings, whose runes are bytes, and numbers of frames
		want   []string
	}{
		{"nothing", nil, nil},
		{"only ends", []any{"ÀÀÀ"}, nil},
		{"frames", []any{1, 2, 3}, []string{"1", "2", "3"}},
		{"noise before", []any{"noise", 1, 2}, []string{"frame of 5 bytes: want 81", "1", "2"}},
		{"noise between", []any{1, "\x00", 2}, []string{"1", "frame of 1 bytes: want 81", "2"}},
		{"noise with ends", []any{1, "ÀaÀÀbcÀ", 2}, []string{"1", "frame of 1 bytes: want 81", "frame of 2 bytes: want 81", "2"}},
		{"long noise", []any{strings.Repeat("x", 100000), 1}, []string{"bad framing: frame of more than 81 bytes", "1"}},
		{"bad escape", []any{esc + "a", 1}, []string{"bad framing: byte 0x61 after an escape", "1"}},
		{"bad escapes", []any{esc + "a" + esc + "ÜÝ", 1}, []string{"bad framing: byte 0x61 after an escape", "1"}},
		{"escaped end", []any{esc, 1, 2}, []string{"bad framing: the frame ends within an escape", "1", "2"}},
		{"ends within a frame", []any{1, "x"}, []string{"1", ends}},
		{"ends within an escape", []any{1, esc}, []string{"1", ends}},
		{"ends within a bad frame", []any{1, esc + "a"}, []string{"1", ends}},
	} {
		var stream []byte
		for _, part := range test.stream {
			switch part := part.(type) {
			case int:
				stream = append(stream, frames[part]...)
			case string:
				for _, r := range part {
					stream = append(stream, byte(r))
				}
			}
		}
		for name, port := range map[string]io.Reader{
			"at once":      bytes.NewReader(stream),
			"byte by byte": iotest.OneByteReader(bytes.NewReader(stream)),
		} {
			var got []string
			err := receive(port, map[uint32]*device{0xc0dbdcdd: mactest.Must(newDevice(testKey, 0))}, func(r reading) error {
				got = append(got, fmt.Sprint(r.counter))
				return nil
			}, func(err error) { got = append(got, err.Error()) })
			if err != nil || fmt.Sprintf("%q", got) != fmt.Sprintf("%q", test.want) {
				t.Errorf("%s, %s: %q, %v, want %q", test.name, name, got, err, test.want)
			}
		}
	}
}

// FuzzReceive makes a stream of frames, damaged frames and noise, and compares what is
// accepted with what is between two ends, is a frame of a device, and has a rising counter.
func FuzzReceive(f *testing.F) {
	mactest.Seeds(f)
	f.Add([]byte{0, 1, 0, 1, 1, 2, 1, 1, 0, 3, 0, 30, 2, 3, 5, 0, 4, 0, 0, 5})
	f.Add([]byte{3, 7, 192, 219, 1, 0, 4, 0, 2, 5, 10, 0, 2, 6, 20, 1, 44, 0, 9, 3, 2, 219, 0, 9, 0, 10})
	f.Add([]byte{1, 200, 4, 0, 32, 0, 5}) // a forged counter, and then a lower one
	f.Fuzz(func(t *testing.T, script []byte) {
		// SLIP escapes two bytes of the first number.
		keys := map[uint32][]byte{0xc0dbdcdd: testKey, 7: []byte("another")}
		devices, highest := map[uint32]*device{}, map[uint32]uint64{}
		for id, key := range keys {
			devices[id] = mactest.Must(newDevice(key, 0))
		}
		var stream []byte
		s := mactest.Script(script)
		for i := 0; i < 40 && len(s) > 0; i++ {
			kind := s.Byte()
			r := reading{7, uint64(s.Byte()), int32(kind)}
			if kind&4 != 0 {
				r.device = 0xc0dbdcdd
			}
			frame := seal(keys[r.device], r)
			switch kind % 4 {
			case 0:
				stream = append(stream, encode(frame)...)
			case 1:
				stream = append(stream, encode(s.Damage(frame))...)
			case 2:
				stream = append(stream, s.Damage(encode(frame))...)
			case 3:
				n := min(int(r.counter), len(s))
				stream, s = append(stream, s[:n]...), s[n:]
			}
		}
		var got, want []reading
		parts := bytes.Split(stream, []byte{slipEnd})
		for _, part := range parts[:len(parts)-1] {
			frame := []byte(unescape.Replace(string(part)))
			if len(frame) != frameSize || !bytes.Equal(encode(frame)[1:], append(part, slipEnd)) {
				continue
			}
			r := reading{binary.BigEndian.Uint32(frame[1:]), binary.BigEndian.Uint64(frame[5:]), int32(binary.BigEndian.Uint32(frame[13:]))}
			if key, ok := keys[r.device]; ok && bytes.Equal(frame, seal(key, r)) && r.counter > highest[r.device] {
				highest[r.device] = r.counter
				want = append(want, r)
			}
		}
		err := receive(bytes.NewReader(stream), devices, func(r reading) error {
			got = append(got, r)
			return nil
		}, func(error) {})
		if err != nil || !slices.Equal(got, want) {
			t.Errorf("%x: %v, %v, want %v", stream, got, err, want)
		}
	})
}

var unescape = strings.NewReplacer("\xdb\xdc", "\xc0", "\xdb\xdd", "\xdb")

func TestReceiveErrors(t *testing.T) {
	broken := errors.New("broken")
	frame := encode(seal(testKey, reading{1, 1, 1}))
	devices := map[uint32]*device{1: mactest.Must(newDevice(testKey, 0))}
	refuse := func(err error) { t.Error(err) }
	if err := receive(bytes.NewReader(frame), devices, func(reading) error { return broken }, refuse); err != broken {
		t.Errorf("the reading is not accepted: %v", err)
	}
	port := io.MultiReader(bytes.NewReader(frame[:9]), iotest.ErrReader(broken))
	if err := receive(port, devices, func(reading) error { return nil }, refuse); err != broken {
		t.Errorf("the port fails: %v", err)
	}
}

// runReceiver runs the command, and returns what it prints.
func runReceiver(t *testing.T, want int, stdin io.Reader, args ...string) (stdout, stderr string) {
	t.Helper()
	var out, errs bytes.Buffer
	if got := run(args, stdin, &out, &errs); got != want {
		t.Fatalf("receiver %q: status %d, want %d\n%s%s", args, got, want, out.Bytes(), errs.Bytes())
	}
	return out.String(), errs.String()
}

// newHeader makes a key for a device, and returns its header.
func newHeader(t *testing.T, dir, id string) string {
	t.Helper()
	path := filepath.Join(dir, id+".h")
	runReceiver(t, 0, nil, "-dir", dir, "-new", id, path)
	return string(mactest.Must(os.ReadFile(path)))
}

// headerKey returns the key in a header key.h.
func headerKey(t *testing.T, header string) (key []byte) {
	t.Helper()
	for _, c := range regexp.MustCompile(`0x[0-9a-f]{2}`).FindAllString(header, -1) {
		var b byte
		if _, err := fmt.Sscanf(c, "0x%02x", &b); err != nil {
			t.Fatal(err)
		}
		key = append(key, b)
	}
	if len(key) != keySize {
		t.Fatalf("key of %d bytes in\n%s", len(key), header)
	}
	return key
}

// TestCommand makes two devices, reads from a file and from standard input, and restarts.
func TestCommand(t *testing.T) {
	dir := t.TempDir()
	headers := map[uint32]string{}
	for _, id := range []uint32{0, math.MaxUint32} {
		headers[id] = newHeader(t, dir, fmt.Sprint(id))
		if want := fmt.Sprintf("\n#define DEVICE_ID %dUL\n", id); !strings.Contains(headers[id], want) {
			t.Errorf("no line %q in\n%s", want, headers[id])
		}
	}
	if bytes.Equal(headerKey(t, headers[0]), headerKey(t, headers[math.MaxUint32])) {
		t.Error("two devices have one key")
	}
	frame := func(id uint32, counter uint64) []byte {
		return encode(seal(headerKey(t, headers[id]), reading{id, counter, -3}))
	}
	port := filepath.Join(dir, "port")
	if err := os.WriteFile(port, append(frame(0, 1), frame(math.MaxUint32, 9)...), 0o600); err != nil {
		t.Fatal(err)
	}
	const want = "device 0 counter 1 value -3\ndevice 4294967295 counter 9 value -3\n"
	if stdout, stderr := runReceiver(t, 0, nil, "-dir", dir, port); stdout != want || stderr != "" {
		t.Errorf("printed %q, %q, want %q", stdout, stderr, want)
	}

	// A new receiver knows the counters.
	const refused = "refused: device 0: counter 1: not above that of the last reading\n" +
		"refused: device 4294967295: counter 9: not above that of the last reading\n"
	if stdout, stderr := runReceiver(t, 0, nil, "-dir", dir, port); stdout != "" || stderr != refused {
		t.Errorf("after a restart: printed %q, %q, want %q", stdout, stderr, refused)
	}
	const next = "device 0 counter 2 value -3\n"
	for _, args := range [][]string{{"-dir", dir}, {"-dir", dir, "-"}} {
		want, wantErr := next, ""
		if len(args) == 3 {
			want, wantErr = "", "refused: device 0: counter 2: not above that of the last reading\n"
		}
		if stdout, stderr := runReceiver(t, 0, bytes.NewReader(frame(0, 2)), args...); stdout != want || stderr != wantErr {
			t.Errorf("%q: printed %q, %q, want %q, %q", args, stdout, stderr, want, wantErr)
		}
	}
}

func TestCommandErrors(t *testing.T) {
	dir := t.TempDir()
	newHeader(t, dir, "5")
	header := filepath.Join(dir, "other.h")
	for _, test := range []struct {
		args   []string
		status int
		stderr string
	}{
		{[]string{"-h"}, 0, "usage:"},
		{[]string{"a", "b"}, 2, "usage:"},
		{[]string{"-new", "1"}, 2, "usage:"},
		{[]string{"-new", "1", "a", "b"}, 2, "usage:"},
		{[]string{"-new", "-1"}, 2, "invalid value"},
		{[]string{"-dir", dir, "-new", "4294967296", header}, 1, "receiver: device 4294967296: want 0 to 4294967295\n"},
		{[]string{"-dir", dir, "-new", "5", header}, 1, "receiver: device 5 is in the file "},
		{[]string{"-dir", dir, "-new", "6", filepath.Join(dir, "5.h")}, 1, "receiver: open "},
		{[]string{"-dir", dir, "-new", "6", filepath.Join(dir, "none", "key.h")}, 1, "receiver: open "},
		{[]string{"-dir", filepath.Join(dir, "none")}, 1, "receiver: open "},
		{[]string{"-dir", dir, filepath.Join(dir, "none")}, 1, "receiver: open "},
	} {
		stdout, stderr := runReceiver(t, test.status, strings.NewReader(""), test.args...)
		if stdout != "" || !strings.Contains(stderr, test.stderr) {
			t.Errorf("%q: printed %q, %q, want %q", test.args, stdout, stderr, test.stderr)
		}
	}
}

// TestStore has files that the receiver must not use.
func TestStore(t *testing.T) {
	key := strings.Repeat("5a", keySize)
	one, none := line(1, key), line(1, "0")
	const damaged = ":1: want the number of a device, a field and their checksum: a part is missing, or was changed"
	for _, test := range []struct{ name, keys, counters, err string }{
		{"good", one + line(2, key), line(1, "18446744073709551615") + line(2, "0"), ""},
		{"empty", "", "", ""},
		{"short key", line(1, key[2:]), none, "keys: device 1: want a key of 64 hexadecimal digits"},
		{"not a key", line(1, key[1:]+"x"), none, "keys: device 1: want a key of 64 hexadecimal digits"},
		{"no key", line(1, ""), none, "keys: device 1: want a key of 64 hexadecimal digits"},
		{"not a device", "x" + one[1:], none, "keys" + damaged},
		{"another device", "2" + one[1:], none, "keys" + damaged},
		{"another counter", one, "1 1" + none[3:], "counters" + damaged},
		{"no checksum", one, "1 0\n", "counters" + damaged},
		{"an empty line", one, "\n" + none, "counters" + damaged},
		{"two keys", one + one, none, "keys:2: device 1 has a line already"},
		{"no counter", one, line(2, "0"), "counters: no line for device 1, so old readings would be accepted again"},
		{"not a counter", one, line(1, "-1"), `counters: device 1: "-1": want a counter`},
		{"high counter", one, line(1, "18446744073709551616"), `counters: device 1: "18446744073709551616": want a counter`},
	} {
		dir := t.TempDir()
		for name, data := range map[string]string{"keys": test.keys, "counters": test.counters} {
			if err := os.WriteFile(filepath.Join(dir, name), []byte(data), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		if _, err := openStore(dir); fmt.Sprint(err) != test.err && (err != nil || test.err != "") {
			t.Errorf("%s: %v, want %q", test.name, err, test.err)
		}
	}
	// One that was cut off is none, wherever that was.
	dir, whole := t.TempDir(), line(1, "1234")+line(2, "99")
	for n := range len(whole) + 1 {
		err := errors.Join(os.WriteFile(filepath.Join(dir, "keys"), []byte(one+line(2, key)), 0o600),
			os.WriteFile(filepath.Join(dir, "counters"), []byte(whole[:n]), 0o600))
		if err != nil {
			t.Fatal(err)
		}
		if _, err := openStore(dir); (err == nil) != (n == len(whole)) {
			t.Errorf("%d of %d bytes: %v", n, len(whole), err)
		}
	}
}

// TestSave has a directory in which another receiver was stopped while it wrote, and then
// one in which the counter cannot be stored: a reading must not be printed there.
func TestSave(t *testing.T) {
	dir := t.TempDir()
	header := newHeader(t, dir, "1")
	frame := func(counter uint64) io.Reader {
		return bytes.NewReader(encode(seal(headerKey(t, header), reading{1, counter, 1})))
	}
	path := filepath.Join(dir, "counters.new")
	if err := os.WriteFile(path, []byte("1 9\n2 "), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"device 1 counter 1 value 1\n", ""} {
		if stdout, stderr := runReceiver(t, 0, frame(1), "-dir", dir); stdout != want {
			t.Errorf("printed %q, %q, want %q", stdout, stderr, want)
		}
	}
	for _, name := range []string{"keys", "counters", "1.h"} {
		info, err := os.Stat(filepath.Join(dir, name))
		if err != nil {
			t.Fatal(err)
		}
		if mode := info.Mode(); mode&0o077 != 0 && runtime.GOOS != "windows" {
			t.Errorf("%s: others may use it: %v", name, mode)
		}
	}
	if runtime.GOOS == "linux" && syncFolder("/proc") == nil {
		t.Error("a folder that cannot be synced is no error")
	}
	if err := os.Mkdir(path, 0o700); err != nil {
		t.Fatal(err)
	}
	if stdout, _ := runReceiver(t, 1, frame(2), "-dir", dir); stdout != "" {
		t.Errorf("printed %q", stdout)
	}
}

// TestShared has two receivers that use one directory: a reading must not be printed twice. A device that
// is added in the meantime keeps its line.
func TestShared(t *testing.T) {
	dir := t.TempDir()
	newHeader(t, dir, "1")
	one, err1 := openStore(dir)
	two, err2 := openStore(dir)
	newHeader(t, dir, "2")
	if err := errors.Join(err1, err2, one.save(1, 5), one.save(1, 6)); err != nil {
		t.Fatal(err)
	}
	const want = `counters: device 1 has "6", and had 0: another program has changed the file`
	if err := two.save(1, 6); fmt.Sprint(err) != want {
		t.Errorf("the second: %v, want %s", err, want)
	}
	if got, err := os.ReadFile(filepath.Join(dir, "counters")); string(got) != line(1, "6")+line(2, "0") {
		t.Errorf("stored %q, %v", got, err)
	}
}
