// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package main

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"
)

// The test's own program is the Go peer, and with these arguments a bad one.
const (
	wrongArg = "-serve-wrong" // its tags are wrong
	lateArg  = "-serve-late"  // its tags are wrong in long runs
	crashArg = "-serve-crash" // it ends at the first request
	noiseArg = "-serve-noise" // it does not keep to the protocol
)

func TestMain(m *testing.M) {
	if len(os.Args) != 2 || !strings.HasPrefix(os.Args[1], serveArg) {
		os.Exit(m.Run())
	}
	ops := goOps()
	right := ops[string(gmacContender)]
	switch os.Args[1] {
	case serveArg:
		main()
		return
	case wrongArg:
		ops[string(gmacContender)] = func([]byte, int) []byte { return make([]byte, 16) }
	case lateArg:
		ops[string(gmacContender)] = func(msg []byte, n int) []byte {
			tag := right(msg, n)
			if n > 3 {
				tag[0] ^= 1
			}
			return tag
		}
	case crashArg:
		ops[string(gmacContender)] = func([]byte, int) []byte { os.Exit(3); return nil }
	case noiseArg:
		fmt.Println("hello")
	}
	if err := serve(os.Stdin, os.Stdout, nil, ops); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// newTestBench returns a bench whose Go peer is this program with arg.
func newTestBench(t *testing.T, arg string) *bench {
	t.Helper()
	known, err := loadKnown(knownJSON)
	if err != nil {
		t.Fatal(err)
	}
	p, err := self()
	if err != nil {
		t.Fatal(err)
	}
	p.argv[1] = arg
	return &bench{
		peers: map[string]peer{goPeer: p}, known: known, versions: make(map[string]string),
		rounds: 2, minTime: 100 * time.Microsecond, stderr: &lockedWriter{w: new(bytes.Buffer)},
	}
}

var testGroup = group{
	name:       "message",
	sizes:      []int{16, 1500},
	contenders: []contender{gmacContender, "nettle:umac64:stream", "fastmac:umac64:stream"},
}

func TestMeasure(t *testing.T) {
	b := newTestBench(t, serveArg)
	rows, err := b.measure(t.Context(), testGroup)
	if err != nil {
		t.Fatal(err)
	}
	if len(b.refused) > 0 {
		t.Error(b.refused)
	}
	var got []string
	for _, r := range rows {
		got = append(got, fmt.Sprint(r.contender(), " ", r.Size))
		if !(0 < r.Q1 && r.Q1 <= r.NS && r.NS <= r.Q3) {
			t.Errorf("%s: quartiles %v, median %v, %v", got[len(got)-1], r.Q1, r.NS, r.Q3)
		}
	}
	// Without nettle, which this bench does not have.
	want := "[crypto/cipher:gmac:stream 16 fastmac:umac64:stream 16 crypto/cipher:gmac:stream 1500 fastmac:umac64:stream 1500]"
	if fmt.Sprint(got) != want {
		t.Errorf("rows %v, want %v", got, want)
	}
	if b.versions["golang.org/x/crypto"] == "" && len(goVersions()) > 0 {
		t.Errorf("no version of golang.org/x/crypto in %v", b.versions)
	}
}

func TestMeasureRefuses(t *testing.T) {
	b := newTestBench(t, wrongArg)
	rows, err := b.measure(t.Context(), testGroup)
	if err != nil {
		t.Fatal(err)
	}
	if len(b.refused) != 1 || !strings.Contains(b.refused[0], "crypto/cipher GMAC refused: wrong tag for 16 bytes: 00000000000000000000000000000000, want 6254e6") {
		t.Errorf("refused: %q", b.refused)
	}
	for _, r := range rows {
		if r.Alg == "gmac" {
			t.Errorf("timed although its tag is wrong: %v", r)
		}
	}
	if len(rows) != 2 {
		t.Errorf("%d rows, want those of fastmac", len(rows))
	}
}

func TestMeasureFails(t *testing.T) {
	for arg, want := range map[string]string{
		lateArg:  "wrong tag for 16 bytes",
		noiseArg: `fastmac: peer Go: said "hello", want versions or ready`,
	} {
		_, err := newTestBench(t, arg).measure(t.Context(), testGroup)
		if err == nil || !strings.HasPrefix(err.Error(), "fastmac: ") || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: error %v, want %q", arg, err, want)
		}
	}

	// A peer that ends takes its other contenders with it, and no more.
	b := newTestBench(t, crashArg)
	rows, err := b.measure(t.Context(), testGroup)
	if err != nil || len(rows) > 0 || len(b.refused) != 2 || !strings.Contains(b.refused[0], "exit status 3") {
		t.Errorf("crash: %d rows, refused %q, error %v", len(rows), b.refused, err)
	}

	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := newTestBench(t, serveArg).measure(ctx, testGroup); err == nil {
		t.Error("no error after an interrupt")
	}
}
