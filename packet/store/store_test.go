// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package store

import (
	"bytes"
	"encoding/binary"
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
	"strings"
	"sync"
	"testing"

	"example.com/fastmac/internal/fork"
)

var (
	id      = [16]byte{1, 2, 3}
	otherID = [16]byte{1, 2, 4}
)

// The steps of a write, of one that replaces the file first, of Open and of Create, in their order.
var (
	steps        = []string{"write", "sync", "close", "write lock", "sync lock", "return"}
	replaceSteps = slices.Concat([]string{"remove", "create", "write new", "sync new", "close new", "rename", "sync folder"}, steps)
	openSteps    = []string{"sync", "sync lock", "sync folder"}
	createSteps  = slices.Concat([]string{"write lock", "sync lock"}, replaceSteps[:7])
)

var errFull = errors.New("no space left")

// newStore returns the path of a new store.
func newStore(t *testing.T) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "store")
	if err := Create(path); err != nil {
		t.Fatal(err)
	}
	return path
}

func mustOpen(t *testing.T, path string) *File {
	t.Helper()
	f, err := Open(path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { f.Close() })
	return f
}

func mustReserve(t *testing.T, f *File, n, want uint64) {
	t.Helper()
	if first, err := f.Reserve(id, n); err != nil || first != want {
		t.Fatalf("Reserve(%d) = %d, %v; want %d", n, first, err, want)
	}
}

func mustRelease(t *testing.T, f *File, next uint64) {
	t.Helper()
	if err := f.Release(id, f.end, next); err != nil {
		t.Fatal(err)
	}
}

func mustRead(t *testing.T, path string) []byte {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func mustWrite(t *testing.T, path string, b []byte) {
	t.Helper()
	if err := os.WriteFile(path, b, 0o600); err != nil {
		t.Fatal(err)
	}
}

// stored returns what is on the disk, as Open would find it.
func stored(t *testing.T, path string) state {
	t.Helper()
	last, _, ok := lastMark(mustRead(t, path+".lock"))
	j, good := parse(mustRead(t, path), last)
	if !ok || !good || !j.whole {
		t.Errorf("the lock is good: %v, the file too: %v, with the mark of the lock: %v", ok, good, j.whole)
	}
	return j.states[keyOf("")]
}

// keep returns a function that restores the file and its lock.
func keep(t *testing.T, path string) (restore func()) {
	t.Helper()
	file, lock := mustRead(t, path), mustRead(t, path+".lock")
	return func() {
		t.Helper()
		mustWrite(t, path, file)
		mustWrite(t, path+".lock", lock)
	}
}

// small lets a file be replaced after two writes.
func small(t *testing.T) {
	old := spare
	spare = 1 // and one for the store
	t.Cleanup(func() { spare = old })
}

// fill writes until the next write replaces the file, and returns the end.
func fill(t *testing.T, f *File) (end uint64) {
	t.Helper()
	for f.set.used < f.set.size {
		mustReserve(t, f, 10, f.end)
	}
	return f.end
}

// wantError checks that an error begins as all do, has the path, and says what it should.
func wantError(t *testing.T, err error, path, text string) {
	t.Helper()
	if err == nil || !strings.HasPrefix(err.Error(), "store: ") || !strings.Contains(err.Error(), path) || !strings.Contains(err.Error(), text) {
		t.Errorf("error %v: want one of %s with %q", err, path, text)
	}
}

func TestReserve(t *testing.T) {
	path := newStore(t)
	f := mustOpen(t, path)
	mustReserve(t, f, 100, 0)
	mustReserve(t, f, 1, 100)
	mustReserve(t, f, 1<<32, 101)
	// A crash: all of them are skipped.
	f.Close()
	f = mustOpen(t, path)
	mustReserve(t, f, 10, 1<<32+101)
	// An orderly end: those that were not used are not.
	mustRelease(t, f, 1<<32+103)
	f.Close()
	mustReserve(t, mustOpen(t, path), 10, 1<<32+103)
}

// TestReserveNothing reserves no counters: that stores the id, and the second time nothing.
func TestReserveNothing(t *testing.T) {
	path := newStore(t)
	f := mustOpen(t, path)
	mustReserve(t, f, 0, 0)
	_, err := f.Reserve(otherID, 0)
	wantError(t, err, path, "another secret")
	f.Close()
	f = mustOpen(t, path)
	f.set.before = func(step string) error { return errors.New("a write") }
	mustReserve(t, f, 0, 0)
	f.set.before = nil
	_, err = f.Reserve(otherID, 1)
	wantError(t, err, path, "another secret")
	mustReserve(t, f, 10, 0)
	mustReserve(t, f, 0, 10)
	mustReserve(t, f, 1, 10)
}

// TestArguments has numbers and ids that are refused. The file stays as it is.
func TestArguments(t *testing.T) {
	path := newStore(t)
	f := mustOpen(t, path)
	refused := func(text string, err error) {
		t.Helper()
		wantError(t, err, path, text)
	}
	reserve := func(id [16]byte, n uint64) error {
		first, err := f.Reserve(id, n)
		if err != nil && first != 0 {
			t.Errorf("the first counter is %d, with an error", first)
		}
		return err
	}
	before := mustRead(t, path)
	refused("are left", reserve(otherID, 1<<56+1))
	refused("are left", reserve(id, math.MaxUint64))
	refused("want 0 to 0", f.Release(id, f.end, 1))
	if !bytes.Equal(before, mustRead(t, path)) {
		t.Error("the file has changed")
	}
	mustReserve(t, f, 0, 0)
	refused("another secret", reserve(otherID, 0)) // it is bound
	mustReserve(t, f, 100, 0)
	before = mustRead(t, path)
	for i := range id { // each byte of it counts
		other := id
		other[i] ^= 1
		refused("another secret", reserve(other, 1))
	}
	mustReserve(t, f, 0, 100)
	refused("another secret", f.Release(otherID, f.end, 50))
	refused("want 0 to 100", f.Release(id, f.end, 101))
	refused("somebody else", f.Release(id, 99, 50))
	refused("somebody else", f.Release(id, 101, 50))
	refused("want 0 to 100", f.Release(id, f.end, math.MaxUint64))
	refused("are left", reserve(id, 1<<56-99))
	refused("are left", reserve(id, math.MaxUint64-99))
	if !bytes.Equal(before, mustRead(t, path)) {
		t.Error("the file has changed")
	}
	f.Close()

	f = mustOpen(t, path)
	refused("another secret", reserve(otherID, 1))
	refused("want 100 to 100", f.Release(id, f.end, 99))
	mustReserve(t, f, 100, 100)
	refused("want 100 to 200", f.Release(id, f.end, 99))
	mustRelease(t, f, 150)
	refused("Release has been called", reserve(id, 1))
	refused("Release has been called", reserve(id, 0))
	refused("want 150 to 150", f.Release(id, f.end, 149))
	refused("want 150 to 150", f.Release(id, f.end, 151))
	mustRelease(t, f, 150)
	f.Close()
	refused("closed", reserve(id, 1))
	refused("closed", reserve(id, 0))
	refused("closed", f.Release(id, f.end, 150))
	if err := f.Close(); err != nil {
		t.Error(err)
	}
	mustReserve(t, mustOpen(t, path), 1, 150)
}

// TestReleaseNothing releases what was not used, or not even reserved.
func TestReleaseNothing(t *testing.T) {
	path := newStore(t)
	f := mustOpen(t, path)
	if err := f.Release(otherID, f.end, 0); err != nil { // it does not bind the store
		t.Error(err)
	}
	f.Close()
	f = mustOpen(t, path)
	mustReserve(t, f, 10, 0)
	mustRelease(t, f, 0)
	f.Close()
	mustReserve(t, mustOpen(t, path), 10, 0)
}

func TestLastCounters(t *testing.T) {
	path := newStore(t)
	f := mustOpen(t, path)
	mustReserve(t, f, maxEnd-10, 0)
	if _, err := f.Reserve(id, 11); err == nil {
		t.Error("counters beyond 2^56")
	}
	mustReserve(t, f, 10, maxEnd-10)
	if _, err := f.Reserve(id, 1); err == nil {
		t.Error("counters beyond 2^56")
	}
	f.Close()
	_, err := mustOpen(t, path).Reserve(id, 1)
	wantError(t, err, path, "0 are left")

	path = newStore(t)
	mustReserve(t, mustOpen(t, path), maxEnd, 0)
}

// TestConcurrent reserves from many goroutines. No counter is given twice.
func TestConcurrent(t *testing.T) {
	path := newStore(t)
	f := mustOpen(t, path)
	var mu sync.Mutex
	var wg sync.WaitGroup
	given := map[uint64]bool{}
	for g := range 8 {
		wg.Go(func() {
			for i := range 10 {
				n := uint64(1 + (g+i)%5)
				first, err := f.Reserve(id, n)
				if err != nil {
					t.Error(err)
					return
				}
				mu.Lock()
				for c := first; c < first+n; c++ {
					if given[c] {
						t.Errorf("%d is given twice", c)
					}
					given[c] = true
				}
				mu.Unlock()
			}
		})
	}
	wg.Wait()
	if len(given) != 240 || f.end != 240 {
		t.Errorf("%d counters, end %d; want 240", len(given), f.end)
	}
	// Of Reserve, Release and Close at once, each is done or gives an error.
	errs := make([]error, 3)
	wg.Go(func() { _, errs[0] = f.Reserve(id, 10) })
	wg.Go(func() {
		if errs[1] = f.Release(id, 240, 240); errs[1] != nil { // after Reserve, or after Close
			errs[1] = f.Release(id, 250, 240)
		}
	})
	wg.Go(func() { errs[2] = f.Close() })
	wg.Wait()
	want := uint64(240)
	if errs[0] == nil && errs[1] != nil {
		want = 250
	}
	if f = mustOpen(t, path); f.end != want || errs[2] != nil {
		t.Errorf("%d is stored, want %d; errors %v", f.end, want, errs)
	}
}

func TestOrder(t *testing.T) {
	small(t)
	var log []string
	before := func(step string) error {
		log = append(log, step)
		return nil
	}
	path := filepath.Join(t.TempDir(), "store")
	if err := createSet(path, before, ""); err != nil {
		t.Fatal(err)
	}
	set, err := openSet(path, before)
	if err != nil {
		t.Fatal(err)
	}
	defer set.Close()
	f := mustOpenIn(t, set, "")
	mustReserve(t, f, 10, 0)
	mustReserve(t, f, 0, 10) // writes nothing
	mustReserve(t, f, 10, 10)
	mustRelease(t, f, 5)
	if want := slices.Concat(createSteps, openSteps, steps, steps, replaceSteps); !slices.Equal(log, want) {
		t.Errorf("steps %q, want %q", log, want)
	}
}

// failAt returns a function that lets a step of a write fail.
func failAt(step string) func(string) error {
	return func(now string) error {
		if now == step {
			return errFull
		}
		return nil
	}
}

// written is whether the file has changed when a step begins.
func written(step string) bool { return slices.Index(steps, step) > 0 }

// TestFailedStep lets each step of a write fail. Then nothing is reserved, and the file has the end that
// was there or a later one. After a second failure a third try has the end that was there, too.
func TestFailedStep(t *testing.T) {
	for _, step := range steps {
		for _, second := range steps {
			path := newStore(t)
			f := mustOpen(t, path)
			mustReserve(t, f, 10, 0)
			want := uint64(10)
			for i, step := range []string{step, second} {
				n := uint64(10 + i)
				f.set.before = failAt(step)
				_, err := f.Reserve(id, n)
				if !errors.Is(err, errFull) {
					t.Errorf("failure before %q: error %v", step, err)
				}
				wantError(t, err, path, "not stored")
				if written(step) {
					want = 10 + n
				}
				if s := stored(t, path); s.end != want {
					t.Errorf("failure before %q: %v is stored, want the end %d", step, s, want)
				}
			}
			// A crash now.
			restore := keep(t, path)
			f.Close()
			f = mustOpen(t, path)
			mustReserve(t, f, 10, want)
			f.Close()

			// No crash, but another try.
			restore()
			f = mustOpen(t, path)
			for i, step := range []string{step, second} {
				f.set.before = failAt(step)
				if _, err := f.Reserve(id, uint64(7+i)); !errors.Is(err, errFull) {
					t.Errorf("failure before %q: error %v", step, err)
				}
			}
			f.set.before = nil
			mustReserve(t, f, 20, want)
			if s := stored(t, path); s.end != want+20 {
				t.Errorf("%v is stored, want the end %d", s, want+20)
			}
			mustRelease(t, f, want+1)
		}
	}
}

// TestReplaceFails lets each step fail of a write that replaces the file, when the mark of the last record
// is in the lock, and when it is not.
func TestReplaceFails(t *testing.T) {
	small(t)
	for _, stale := range []bool{false, true} {
		for _, step := range replaceSteps {
			path := newStore(t)
			f := mustOpen(t, path)
			mustReserve(t, f, 10, 0)
			if stale {
				f.set.before = failAt("write lock")
			}
			if _, err := f.Reserve(id, 10); (err != nil) != stale || f.set.used < f.set.size {
				t.Fatalf("%v, and there is room", err)
			}
			end := f.end
			f.set.before = failAt(step)
			_, err := f.Reserve(id, 20)
			wantError(t, err, path, "not stored")
			f.set.before = nil
			want := uint64(20)
			if written(step) && (!stale || !strings.HasSuffix(step, " lock")) { // it fails earlier then
				want = end + 20
			}
			restore := keep(t, path)
			mustReserve(t, f, 5, end)
			f.Close()
			f = mustOpen(t, path)
			mustReserve(t, f, 1, end+5)
			f.Close()
			restore() // a crash instead
			mustReserve(t, mustOpen(t, path), 1, want)
		}
	}
}

// TestReleaseFails lets each step of a Release fail. The file has the end of the range or the next
// counter, and both are above all counters that were used. Nothing can be reserved then.
func TestReleaseFails(t *testing.T) {
	for _, step := range steps {
		path := newStore(t)
		f := mustOpen(t, path)
		mustReserve(t, f, 100, 0)
		f.set.before = failAt(step)
		if err := f.Release(id, f.end, 50); !errors.Is(err, errFull) {
			t.Errorf("failure before %q: error %v", step, err)
		}
		want := uint64(100)
		if written(step) {
			want = 50
		}
		if s := stored(t, path); s.end != want {
			t.Errorf("failure before %q: %v is stored, want the end %d", step, s, want)
		}
		f.set.before = nil
		if _, err := f.Reserve(id, 1); err == nil {
			t.Error("Reserve after a Release that failed")
		}
		wantError(t, f.Release(id, f.end, 49), path, "want 50 to 100")
		mustRelease(t, f, 50)
		f.Close()
		mustReserve(t, mustOpen(t, path), 1, 50)
	}
}

// TestCreateFails lets each step of Create fail. Then it can be called again.
func TestCreateFails(t *testing.T) {
	for _, step := range createSteps {
		folder := t.TempDir()
		path := filepath.Join(folder, "store")
		err := createSet(path, failAt(step), "")
		if !errors.Is(err, errFull) {
			t.Errorf("failure before %q: error %v", step, err)
		}
		wantError(t, err, path, "not stored")
		if runtime.GOOS == "windows" {
			wantError(t, Create(path), path, ".lock is there")
			if err := os.Remove(path + ".lock"); err != nil {
				t.Fatal(err)
			}
		}
		if left, err := os.ReadDir(folder); err != nil || len(left) > 0 {
			t.Errorf("failure before %q: %v is left, %v", step, left, err)
		}
		if err := Create(path); err != nil {
			t.Error(err)
		}
		mustReserve(t, mustOpen(t, path), 1, 0)
	}
}

// TestNoRoom has failures of the system itself: there is a folder where a file should be.
func TestNoRoom(t *testing.T) {
	small(t)
	path := newStore(t)
	f := mustOpen(t, path)
	end := fill(t, f)
	before := mustRead(t, path)
	if err := os.MkdirAll(filepath.Join(path+".new", "full"), 0o700); err != nil {
		t.Fatal(err)
	}
	_, err := f.Reserve(id, 10)
	wantError(t, err, path, "not stored")
	if !bytes.Equal(before, mustRead(t, path)) {
		t.Error("the file has changed")
	}
	if err := os.RemoveAll(path + ".new"); err != nil {
		t.Fatal(err)
	}
	mustReserve(t, f, 10, end)
	if err := Create(filepath.Join(path, "no", "folder")); err == nil {
		t.Error("there is no such folder, and no error")
	}
}

// TestLeftover has a temporary file of a write that was cut short, which everybody may read.
func TestLeftover(t *testing.T) {
	small(t)
	path := newStore(t)
	mustWrite(t, path+".new", []byte("cut short"))
	if err := os.Chmod(path+".new", 0o644); err != nil {
		t.Fatal(err)
	}
	f := mustOpen(t, path)
	mustReserve(t, f, 10, fill(t, f))
	for _, name := range []string{path, path + ".lock"} {
		info, err := os.Stat(name)
		if err != nil {
			t.Fatal(err)
		}
		if mode := info.Mode(); mode != 0o600 && runtime.GOOS != "windows" {
			t.Errorf("%s has the mode %v", name, mode)
		}
	}
	if _, err := os.Stat(path + ".new"); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("the temporary file is left: %v", err)
	}
}

// TestFormat has the bytes of a file and of a lock. They change only together with the number in the title.
func TestFormat(t *testing.T) {
	j := journal{mark: mark{7, sum{1}}, states: map[sum]state{keyOf(""): {id, true, 1 << 32}}}
	b := j.format()
	const begin = "fastmac counters 3\nDo not edit, copy or restore this file: counters would repeat.\n"
	if len(b) != 4096 || !bytes.HasPrefix(b, []byte(begin)) || bytes.Trim(b[len(begin):headSize], " ")[0] != '\n' || strings.Trim(string(b[j.used:]), "\x00") != "" {
		t.Errorf("%d bytes, %q", len(b), b[:headSize])
	}
	for i, want := range []string{
		"01000000000000000000000000000000" + "00000000000000000000000000000000" + "0000000000000008" + "0000000000000003" + "7976a83260f7d065e649680b4215b66f",
		"e3b0c44298fc1c149afbf4c8996fb924" + "01020300000000000000000000000000" + "0000000000000009" + "0000000200000001" + "cba9acab6fa3a5eba4b1aaf1ebd4d9a7",
	} {
		if got := hex.EncodeToString(b[headSize+i*recordSize:][:recordSize]); got != want {
			t.Errorf("record %d is\n%s\nwant\n%s", i, got, want)
		}
	}
	// The next record, which continues the marks.
	if got, want := hex.EncodeToString(record{keyOf("b"), state{}}.append(nil, &j.mark)), "3e23e8160039594a33894f6564e1b1340000000000000000000000000000000000000000000000080000000000000000f77aee584106a7759c8eaf65077589e4"; got != want {
		t.Errorf("a record is\n%s\nwant\n%s", got, want)
	}
	if got, want := hex.EncodeToString(j.mark.format()), "f77aee584106a7759c8eaf65077589e40000000000000000000000000000000000000000000000010000000000000011b8d7f7582b7956483d691e8b17d9b97d"; got != want {
		t.Errorf("a lock is\n%s\nwant\n%s", got, want)
	}

	// All that a state can be, also an id of zeros, which is not the same as none.
	j.states = map[sum]state{{1}: {}, {2}: {bound: true, end: 5}, {3}: {[16]byte(bytes.Repeat([]byte{0xff}, 16)), true, maxEnd}}
	if got, ok := parse(j.format(), j.mark); !ok || !got.whole || got.mark != j.mark || !maps.Equal(got.states, j.states) {
		t.Errorf("%v, %v", got, ok)
	}
}

// TestDamaged changes the file. It is refused, and left as it is.
func TestDamaged(t *testing.T) {
	path := newStore(t)
	f := mustOpen(t, path)
	mustReserve(t, f, 5, 0)
	mustReserve(t, f, 5, 5)
	used := f.set.used
	f.Close()
	good := mustRead(t, path)
	last, _, _ := lastMark(mustRead(t, path+".lock"))
	with := func(s state) []byte {
		j := journal{mark: last, states: map[sum]state{keyOf(""): s}}
		return j.format()
	}
	zeroed := slices.Clone(good)
	clear(zeroed[used-recordSize:])
	bad := map[string][]byte{
		"empty":                 {},
		"longer":                append(slices.Clone(good), '\n'),
		"much longer":           append(slices.Clone(good), make([]byte, 1<<20)...),
		"above 2^56":            with(state{id, true, maxEnd + 1}),
		"an end without an id":  with(state{end: 1}),
		"an id that is none":    with(state{id: id}),
		"text":                  []byte("text"),
		"zeros after a loss":    make([]byte, len(good)),
		"zeros at the end":      zeroed,
		"of an earlier version": []byte("fastmac counters 2\nDo not edit, copy or restore this file: counters would repeat.\nid none\nend 0\nsum e24e882a7978118d\n"),
	}
	for n := range 100 {
		bad[fmt.Sprint(n*41, " bytes")] = good[:n*41]
	}
	for name, b := range bad {
		mustWrite(t, path, b)
		f, err := Open(path)
		if err == nil {
			f.Close()
		}
		text := "damaged"
		if strings.HasPrefix(name, "of an") {
			text = "earlier version"
		}
		wantError(t, err, path, text)
		if !bytes.Equal(mustRead(t, path), b) {
			t.Errorf("%s: the file has changed", name)
		}
	}
	// Each bit. What is after the last record may be of a write that was cut short.
	for i := range 8 * len(good) {
		b := slices.Clone(good)
		b[i/8] ^= 1 << (i % 8)
		if j, ok := parse(b, last); (ok && j.whole) != (i/8 >= used) {
			t.Errorf("bit %d is changed: %v, %v", i, ok, j)
		}
	}
	mustWrite(t, path, good)
	mustReserve(t, mustOpen(t, path), 1, 10)
}

// TestFirstRecord reads files with the most stores and with one more, and files without stores in which a bit
// of the first record is changed.
func TestFirstRecord(t *testing.T) {
	path := filepath.Join(t.TempDir(), "store")
	j := journal{states: make(map[sum]state)}
	for n := range maxStores + 1 {
		j.states[sum(binary.BigEndian.AppendUint64(make([]byte, 8), uint64(n)))] = state{}
	}
	if _, ok := parse(j.format(), mark{}); ok {
		t.Errorf("a file has %d stores", len(j.states))
	}
	delete(j.states, sum{})
	mustWrite(t, path, j.format())
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if got, err := read(f, mark{}); err != nil || len(got.states) != maxStores {
		t.Errorf("%d stores: %v", len(got.states), err)
	}

	good := new(journal).format()
	if j, ok := parse(good, mark{}); !ok || len(j.states) > 0 {
		t.Errorf("a file without stores: %v, %v", ok, j)
	}
	for i := range 8 * recordSize {
		b := slices.Clone(good)
		b[headSize+i/8] ^= 1 << (i % 8)
		if j, ok := parse(b, mark{}); ok {
			t.Errorf("bit %d of the first record is changed: %v", i, j)
		}
	}
}

// TestDamagedLock changes the lock. Either half may be of a write that was cut short.
func TestDamagedLock(t *testing.T) {
	path := newStore(t)
	f := mustOpen(t, path)
	mustReserve(t, f, 5, 0)
	mustReserve(t, f, 5, 5)
	f.Close()
	good := mustRead(t, path+".lock")
	for i := range 8 * len(good) {
		b := slices.Clone(good)
		b[i/8] ^= 1 << (i % 8)
		if _, _, ok := lastMark(b); !ok {
			t.Errorf("bit %d is changed: there is no mark", i)
		}
	}
	for i, half := range []int{0, sectorSize, 0} {
		b := slices.Clone(good)
		b[half+i] ^= 1
		mustWrite(t, path+".lock", b)
		f := mustOpen(t, path)
		mustReserve(t, f, 5, uint64(10+5*i))
		f.Close()
		good = mustRead(t, path+".lock") // with two good halves again, or one
		if _, _, ok := lastMark(good); !ok {
			t.Error("no mark")
		}
	}
	for _, b := range [][]byte{nil, make([]byte, len(good)), good[:recordSize-1], []byte("text")} {
		mustWrite(t, path+".lock", b)
		_, err := Open(path)
		wantError(t, err, path, ".lock is damaged")
	}
}

// TestMissing has files that are lost, or there already. No error is fs.ErrNotExist or fs.ErrExist: a program
// might make a new store then. If it does so anyway, Create refuses.
func TestMissing(t *testing.T) {
	path := newStore(t)
	refused := func(text string, err error) {
		t.Helper()
		wantError(t, err, path, text)
		if errors.Is(err, fs.ErrNotExist) || errors.Is(err, fs.ErrExist) {
			t.Errorf("%v says more than it should", err)
		}
	}
	open := func(path string) error {
		f, err := Open(path)
		if err == nil {
			f.Close()
		}
		return err
	}
	remove := func(path string) {
		t.Helper()
		if err := os.Remove(path); err != nil {
			t.Fatal(err)
		}
	}
	good := mustRead(t, path)
	refused("is there already", Create(path))
	remove(path + ".lock")
	refused("copied or restored", open(path))
	refused("is there already", Create(path))
	refused("copied or restored", open(path)) // Create has not made a lock

	path = newStore(t)
	remove(path)
	refused(".lock is there", Create(path))
	refused("is missing", open(path))
	refused("was missing when", Create(path))
	if err := os.Mkdir(path, 0o700); err != nil {
		t.Fatal(err)
	}
	refused("not a regular file", open(path))

	path = newStore(t)
	remove(path)
	remove(path + ".lock")
	refused("is missing", open(path))
	refused("was missing when", Create(path))
	refused("was missing when", CreateSet(path, "a"))
	clear(missing.stores) // another process
	if err := Create(path); err != nil {
		t.Error(err)
	}
	refused("is there already", Create(path))
	remove(path)
	f := mustOpen(t, newStore(t))
	remove(f.path)
	_, err := f.Reserve(id, 1)
	wantError(t, err, f.path, "is missing")

	path = filepath.Join(t.TempDir(), "no", "folder")
	refused("is missing", open(path))
	path = filepath.Join(t.TempDir(), "store")
	for i := range maxMissing + 1 { // not all are kept
		open(path + fmt.Sprint(i))
	}
	if n := len(missing.stores); n > maxMissing {
		t.Errorf("%d missing files are kept", n)
	}
	mustWrite(t, path, good)
	refused("copied or restored", open(path))
}

// TestLink has other names of a store. Under each there would be another lock.
func TestLink(t *testing.T) {
	small(t)
	path := newStore(t)
	link := path + " link"
	if err := os.Symlink(path, link); err != nil {
		t.Skip(err) // no package helps: Windows allows it to few users
	}
	refused := func(text string) {
		t.Helper()
		f, err := Open(link)
		if err == nil {
			f.Close()
		}
		wantError(t, err, link, text)
		wantError(t, Create(link), link, "is there already")
	}
	refused("not a regular file")
	mustWrite(t, link+".lock", mustRead(t, path+".lock"))
	refused("not a regular file")
	if err := os.Remove(link + ".lock"); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(path+".lock", link+".lock"); err != nil {
		t.Fatal(err)
	}
	refused(".lock is not a regular file")
	for _, name := range []string{link, link + ".lock"} {
		if err := os.Remove(name); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Link(path, link); err != nil {
		t.Fatal(err)
	}
	refused("copied or restored")
	if err := os.Remove(link); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("nowhere", link); err != nil {
		t.Fatal(err)
	}
	refused("not a regular file")

	// A temporary file that is a link is not followed.
	if err := os.Symlink(link+" target", path+".new"); err != nil {
		t.Fatal(err)
	}
	f := mustOpen(t, path)
	mustReserve(t, f, 1, fill(t, f))
	if _, err := os.Lstat(link + " target"); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("the link of the temporary file was followed: %v", err)
	}
}

// TestLock has the second user in this process: the lock is of the open file.
func TestLock(t *testing.T) {
	path := newStore(t)
	f := mustOpen(t, path)
	_, err := Open(path)
	if !errors.Is(err, ErrLocked) {
		t.Errorf("a second user: %v", err)
	}
	wantError(t, err, path, "has the lock")
	mustReserve(t, f, 1, 0)
	if _, err := Open(path); !errors.Is(err, ErrLocked) {
		t.Errorf("a second user: %v", err)
	}
	f.Close()
	f = mustOpen(t, path)
	f.Close()

	// Nobody opens a store that is being made.
	path = filepath.Join(t.TempDir(), "store")
	err = createSet(path, func(string) error {
		if _, err := Open(path); !errors.Is(err, ErrLocked) {
			t.Errorf("while it is made: %v", err)
		}
		return nil
	}, "")
	if err != nil {
		t.Error(err)
	}
}

// TestCreateOnce makes a store from many goroutines.
func TestCreateOnce(t *testing.T) {
	path := filepath.Join(t.TempDir(), "store")
	var wg sync.WaitGroup
	errs := make([]error, 8)
	for i := range errs {
		wg.Go(func() { errs[i] = Create(path) })
	}
	wg.Wait()
	made := 0
	for _, err := range errs {
		if err == nil {
			made++
		}
	}
	if made != 1 {
		t.Errorf("%d calls make the store, want 1: %v", made, errs)
	}
	mustReserve(t, mustOpen(t, path), 1, 0)
}

// TestChanged changes the file while it is open: what a lock prevents, where there is one, or a restored
// backup. Nothing is written then.
func TestChanged(t *testing.T) {
	small(t)
	path := newStore(t)
	f := mustOpen(t, path)
	mustReserve(t, f, 100, 0)
	own := mustRead(t, path)
	restore := keep(t, path)
	f.Close()
	f = mustOpen(t, path)
	mustReserve(t, f, 100, 100)
	other := mustRead(t, path) // of another process
	f.Close()
	restore()
	f = mustOpen(t, path)
	empty := journal{states: map[sum]state{keyOf(""): {}}}
	for _, b := range [][]byte{other, empty.format(), own[:len(own)-1], own[:f.set.used], own[:f.set.used-1], []byte("text"), nil} {
		if b == nil {
			if err := os.Remove(path); err != nil {
				t.Fatal(err)
			}
		} else {
			mustWrite(t, path, b)
		}
		for range 2 {
			_, err := f.Reserve(id, 10)
			wantError(t, err, path, "make a new secret")
		}
		if b != nil && !bytes.Equal(mustRead(t, path), b) {
			t.Errorf("%.20q has changed", b)
		}
	}
	mustWrite(t, path, own)
	mustReserve(t, f, 10, 100)
	mustWrite(t, path, own)
	wantError(t, f.Release(id, f.end, 105), path, "make a new secret")
	if !bytes.Equal(mustRead(t, path), own) {
		t.Error("Release has changed the file")
	}

	// A file of before the last replacement, with as many records.
	path = newStore(t)
	f = mustOpen(t, path)
	mustReserve(t, f, 10, 0)
	older, used := mustRead(t, path), f.set.used
	for end := f.end; f.set.used != used || end == 10; end = f.end {
		mustReserve(t, f, 10, end)
	}
	mustWrite(t, path, older)
	_, err := f.Reserve(id, 10)
	wantError(t, err, path, "make a new secret")
}

// TestTwoLocks has another file in place of the lock, so that two Files have one store.
func TestTwoLocks(t *testing.T) {
	path := newStore(t)
	first := mustOpen(t, path)
	mustReserve(t, first, 100, 0)
	restore := keep(t, path)
	if err := os.Remove(path + ".lock"); err != nil {
		if runtime.GOOS == "windows" {
			return // Windows does not remove it
		}
		t.Fatal(err)
	}
	if _, err := Open(path); err == nil {
		t.Error("Open makes the lock again")
	}
	restore()
	second := mustOpen(t, path)
	mustReserve(t, second, 100, 100)
	_, err := first.Reserve(id, 100)
	wantError(t, err, path, "another one uses it")
	wantError(t, first.Release(id, first.end, 50), path, "another one uses it")
	mustReserve(t, second, 100, 200)
}

// TestFolder changes the folder of the process while the store is open.
func TestFolder(t *testing.T) {
	folder := t.TempDir()
	t.Chdir(folder)
	if err := Create("store"); err != nil {
		t.Fatal(err)
	}
	f := mustOpen(t, "store")
	t.Chdir(t.TempDir())
	mustReserve(t, f, 10, 0)
	f.Close()
	mustReserve(t, mustOpen(t, filepath.Join(folder, "store")), 10, 10)
	for _, call := range []func(string) error{Create, func(path string) error { _, err := Open(path); return err }} {
		if err := call(""); err == nil {
			t.Error("no path is a path")
		}
	}
}

// TestCopied has a child after a fork.
func TestCopied(t *testing.T) {
	path := filepath.Join(t.TempDir(), "store")
	if err := Create(path); err != nil {
		t.Fatal(err)
	}
	f, err := Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	mustReserve(t, f, 10, 0)
	before := mustRead(t, path)
	fork.Pretend()
	_, err = f.Reserve(id, 1)
	wantError(t, err, path, "forked")
	wantError(t, f.Release(id, 10, 5), path, "forked")
	if !bytes.Equal(before, mustRead(t, path)) {
		t.Error("the file has changed")
	}
}
