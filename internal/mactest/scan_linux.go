// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package mactest

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"golang.org/x/sys/unix"
)

// Secrets are the pieces, of 16 bytes each, that a scan of memory looks for. Each piece has
// a kind.
type Secrets struct {
	pieces map[[pieceSize]byte]secret
	filter [1 << 16]bool // true at filterOf of each piece
}

type secret struct{ kind, of string }

const pieceSize = 16

// Add adds all pieces of b, a secret of a kind, that begin at a multiple of 8 bytes, and returns their
// number. It adds each piece as it is, and with the bytes of each 4-byte or 8-byte word
// or of the whole piece reversed. Add leaves out pieces with few distinct bytes, such as zeros, which are not
// secret. of says whose the secret is, such as the algorithm and the size of its key, or nothing. A piece
// that an earlier call added keeps its kind.
func (s *Secrets) Add(kind, of string, b []byte) (added int) {
	if s.pieces == nil {
		s.pieces = make(map[[pieceSize]byte]secret)
	}
	for ; len(b) >= pieceSize; b = b[8:] {
		piece := [pieceSize]byte(b)
		if !isRandom(piece[:]) {
			continue
		}
		added++
		for _, reversed := range []int{0, 3, 7, 15} {
			var p [pieceSize]byte
			for i := range p {
				p[i] = piece[i^reversed]
			}
			if _, ok := s.pieces[p]; !ok {
				s.pieces[p] = secret{kind, of}
				s.filter[filterOf(p[:])] = true
			}
		}
	}
	return added
}

// isRandom reports whether a piece has enough distinct bytes to be random. In some secrets
// only 8 bytes of a piece are random.
func isRandom(piece []byte) bool {
	distinct := 0
	for i, b := range piece {
		if bytes.IndexByte(piece[:i], b) < 0 {
			distinct++
		}
	}
	return distinct >= 7
}

// filterOf returns an index into the filter, from the first 8 bytes of p.
func filterOf(p []byte) uint16 {
	return uint16(binary.LittleEndian.Uint64(p) * 0x9e3779b97f4a7c15 >> 48)
}

// Scan searches all memory that the process pid can write to, and returns the pieces of each kind that
// it found. The process must be a child of this one, and idle.
func (s *Secrets) Scan(pid int) (found map[string]Finds, err error) {
	maps, err := os.Open(fmt.Sprintf("/proc/%d/maps", pid))
	if err != nil {
		return nil, err
	}
	defer maps.Close()
	mem, err := os.Open(fmt.Sprintf("/proc/%d/mem", pid))
	if err != nil {
		return nil, err
	}
	defer mem.Close()
	found = make(map[string]Finds)
	lines := bufio.NewScanner(maps)
	for lines.Scan() {
		var begin, end uint64
		var mode string
		if _, err := fmt.Sscanf(lines.Text(), "%x-%x %s", &begin, &end, &mode); err != nil {
			return nil, fmt.Errorf("fastmac: line %q of /proc/%d/maps: %w", lines.Text(), pid, err)
		}
		if !strings.HasPrefix(mode, "rw") {
			continue
		}
		mapping := "an anonymous mapping"
		if fields := strings.Fields(lines.Text()); len(fields) > 5 {
			mapping = strings.Join(fields[5:], " ")
		}
		if err := s.scanRange(found, mem, mapping, int64(begin), int64(end)); err != nil {
			return nil, fmt.Errorf("fastmac: memory of process %d, %s: %w", pid, lines.Text(), err)
		}
	}
	return found, lines.Err()
}

// ScanReady is what AwaitScan prints when a process waits to be scanned, and ScanDebug the setting
// of GODEBUG that switches off the copies of the Go runtime: of the registers when a signal
// preempts a goroutine, and of a stack that the garbage collector shrinks. More settings may
// follow.
const (
	ScanReady = "ready\n"
	ScanDebug = "GODEBUG=asyncpreemptoff=1,gcshrinkstackoff=1,"
)

// ScanTest runs TestScanned in a process of its own, with more in its environment, and writes
// input to it. It scans the process so many times, each time that it is in [AwaitScan]. After the last
// time it asks for what the Go heap has, if there are finds, to say where they are.
func (s *Secrets) ScanTest(t *testing.T, input []byte, times int, env ...string) (found []map[string]Finds) {
	t.Helper()
	if Race {
		t.Skip("the memory of the race detector is too large to be scanned")
	}
	cmd := exec.Command(os.Args[0], "-test.run=^TestScanned$")
	cmd.Env = slices.Concat(os.Environ(), []string{"GOGC=10"}, env)
	stdin := Must(cmd.StdinPipe())
	stdout := Must(cmd.StdoutPipe())
	if err := cmd.Start(); errors.Is(err, unix.ENOEXEC) {
		t.Skip("needs a CPU of this architecture, not an emulator:", err)
	} else if err != nil {
		t.Fatal(err)
	}
	defer cmd.Wait()
	defer stdin.Close()
	if exe, err := os.Readlink(fmt.Sprintf("/proc/%d/exe", cmd.Process.Pid)); err == nil && exe != Must(os.Executable()) {
		// Linux has started an emulator for it, whose memory has the registers of all threads.
		t.Skip("needs a CPU of this architecture, not an emulator:", exe)
	}
	if _, err := stdin.Write(input); err != nil {
		t.Fatal(err)
	}
	await := func() {
		line := make([]byte, len(ScanReady))
		if n, err := io.ReadFull(stdout, line); err != nil || string(line) != ScanReady {
			stdin.Close() // the process waits for it
			rest, _ := io.ReadAll(stdout)
			t.Fatalf("the process is not ready: %v: %s%s", err, line[:n], rest)
		}
	}
	for i := range times {
		await()
		kinds, err := s.Scan(cmd.Process.Pid)
		if errors.Is(err, unix.EACCES) || errors.Is(err, unix.EPERM) {
			t.Skip("may not read the memory of a child process:", err)
		}
		if err != nil {
			t.Fatal(err)
		}
		found = append(found, kinds)
		if i == times-1 && len(kinds) > 0 {
			name := filepath.Join(t.TempDir(), "heap")
			fmt.Fprintln(stdin, name)
			await()
			heap := Must(readHeap(name))
			for _, finds := range kinds {
				for i := range finds {
					finds[i].place = heap.place(finds[i].at, finds[i].place)
				}
			}
		}
		io.WriteString(stdin, "\n")
	}
	return found
}

// scanRange adds to found the pieces in the memory from begin to end, which is in a mapping.
func (s *Secrets) scanRange(found map[string]Finds, mem io.ReaderAt, mapping string, begin, end int64) error {
	const page = 4096
	buf := make([]byte, 256*page)
	zeros := make([]byte, page)
	for ; begin < end; begin += int64(len(buf)) - pieceSize + 1 {
		p := buf[:min(int64(len(buf)), end-begin)]
		if _, err := mem.ReadAt(p, begin); err != nil {
			return err
		}
		for i := 0; i+pieceSize <= len(p); i++ {
			if i%page == 0 && i+page <= len(p) && bytes.Equal(p[i:][:page], zeros) {
				i += page - pieceSize // a piece may begin in the last bytes of this page
				continue
			}
			if s.filter[filterOf(p[i:])] {
				if x, ok := s.pieces[[pieceSize]byte(p[i:])]; ok {
					found[x.kind] = append(found[x.kind], find{x.of, uint64(begin) + uint64(i), mapping})
				}
			}
		}
	}
	return nil
}
