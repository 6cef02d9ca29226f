// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package main

import (
	"bytes"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"math"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
)

// keySize is the size of a device's key in bytes.
const keySize = 32

// A store is a directory with two files, in which each line has the number of a device.
// In keys its key follows, in hexadecimal. In counters the counter of its last reading
// follows; without one a new receiver would accept old readings again. A checksum ends each
// line, so that what is left of "1 1234" is not a lower counter.
type store struct {
	dir      string
	devices  map[uint32]*device
	counters map[uint32]uint64
}

func openStore(dir string) (*store, error) {
	s := &store{dir, make(map[uint32]*device), make(map[uint32]uint64)}
	counters, err := readTable(dir, "counters")
	if err != nil {
		return nil, err
	}
	for id, field := range counters {
		if s.counters[id], err = strconv.ParseUint(field, 10, 64); err != nil {
			return nil, fmt.Errorf("counters: device %d: %q: want a counter", id, field)
		}
	}
	keys, err := readTable(dir, "keys")
	if err != nil {
		return nil, err
	}
	for id, field := range keys {
		key, err := hex.DecodeString(field)
		if err != nil || len(key) != keySize {
			return nil, fmt.Errorf("keys: device %d: want a key of %d hexadecimal digits", id, 2*keySize)
		}
		last, ok := s.counters[id]
		if !ok {
			return nil, fmt.Errorf("counters: no line for device %d, so old readings would be accepted again", id)
		}
		s.devices[id], err = newDevice(key, last)
		clear(key)
		if err != nil {
			return nil, fmt.Errorf("keys: device %d: %w", id, err)
		}
	}
	return s, nil
}

// save stores the counter of the last reading of a device. When it returns, the counter
// is on the disk. If another program has stored one since, save returns an error: that
// program may have printed this reading. Lines that were added before stay as they are.
func (s *store) save(id uint32, counter uint64) error {
	table, err := readTable(s.dir, "counters")
	if err != nil {
		return err
	}
	if last, err := strconv.ParseUint(table[id], 10, 64); err != nil || last != s.counters[id] {
		return fmt.Errorf("counters: device %d has %q, and had %d: another program has changed the file", id, table[id], s.counters[id])
	}
	s.counters[id] = counter
	table[id] = strconv.FormatUint(counter, 10)
	var b bytes.Buffer
	for _, id := range slices.Sorted(maps.Keys(table)) {
		b.WriteString(line(id, table[id]))
	}
	// A crash leaves the old file or the new one.
	path := filepath.Join(s.dir, "counters")
	if err := writeFile(path+".new", os.O_TRUNC, b.Bytes()); err != nil {
		return err
	}
	if err := os.Rename(path+".new", path); err != nil {
		return err
	}
	return syncFolder(s.dir)
}

// syncFolder makes new names reach the disk, which Windows cannot be asked for.
func syncFolder(dir string) error {
	if runtime.GOOS == "windows" {
		return nil
	}
	d, err := os.Open(dir)
	if err != nil {
		return err
	}
	return errors.Join(d.Sync(), d.Close())
}

// makeKey adds a device to the store, and writes the header of its sketch, a new file.
func makeKey(dir string, number uint64, header string) error {
	if number > math.MaxUint32 {
		return fmt.Errorf("device %d: want 0 to %d", number, uint32(math.MaxUint32))
	}
	id := uint32(number)
	for _, name := range []string{"keys", "counters"} {
		table, err := readTable(dir, name)
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
		// A number stands for one key. With a new key the counter of the device may
		// begin again, and the receiver would refuse it.
		if _, ok := table[id]; ok {
			return fmt.Errorf("device %d is in the file %s already: use another number", id, name)
		}
	}
	key := make([]byte, keySize)
	defer clear(key)
	rand.Read(key)
	var b bytes.Buffer
	fmt.Fprintf(&b, "// The secret key of device %d. Do not publish or commit it.\n", id)
	fmt.Fprintf(&b, "#define DEVICE_ID %dUL\n", id)
	fmt.Fprintf(&b, "static const uint8_t device_key[%d] PROGMEM = {", keySize)
	for i, c := range key {
		if i%8 == 0 {
			fmt.Fprint(&b, "\n ")
		}
		fmt.Fprintf(&b, " 0x%02x,", c)
	}
	fmt.Fprint(&b, "\n};\n")
	defer clear(b.Bytes())
	if err := writeFile(header, os.O_EXCL, b.Bytes()); err != nil {
		return err
	}
	// The counters of a device begin with 1.
	err := writeFile(filepath.Join(dir, "counters"), os.O_APPEND, []byte(line(id, "0")))
	if err == nil {
		err = writeFile(filepath.Join(dir, "keys"), os.O_APPEND, []byte(line(id, hex.EncodeToString(key))))
	}
	if err == nil {
		err = syncFolder(dir)
	}
	if err != nil {
		os.Remove(header) // of a device that the store may not have
	}
	return err
}

// line returns a line of a file of the store.
func line(id uint32, field string) string {
	s := fmt.Sprintf("%d %s", id, field)
	sum := sha256.Sum256([]byte(s))
	return fmt.Sprintf("%s %x\n", s, sum[:8])
}

// writeFile adds data to a file that only its owner may read, or makes or replaces it, and
// makes it reach the disk.
func writeFile(path string, how int, data []byte) error {
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|how, 0o600)
	if err != nil {
		return err
	}
	_, err = f.Write(data)
	if err == nil {
		err = f.Sync()
	}
	return errors.Join(err, f.Close())
}

// readTable returns the lines of a file of the store: the number of a device, and a field.
func readTable(dir, name string) (map[uint32]string, error) {
	data, err := os.ReadFile(filepath.Join(dir, name))
	if err != nil {
		return nil, err
	}
	table := make(map[uint32]string)
	for i, text := range slices.Collect(strings.Lines(string(data))) {
		number, rest, _ := strings.Cut(text, " ")
		field, _, _ := strings.Cut(rest, " ")
		id, err := strconv.ParseUint(number, 10, 32)
		if err != nil || text != line(uint32(id), field) {
			return nil, fmt.Errorf("%s:%d: want the number of a device, a field and their checksum: a part is missing, or was changed", name, i+1)
		}
		if _, ok := table[uint32(id)]; ok {
			return nil, fmt.Errorf("%s:%d: device %d has a line already", name, i+1, id)
		}
		table[uint32(id)] = field
	}
	return table, nil
}
