// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"example.com/fastmac/internal/peers/rivals"
	"example.com/fastmac/internal/peers/serve"
)

// The test binary is the Go peer. With these arguments it is a bad one.
const (
	wrongArg = "-serve-wrong" // its tags are wrong
	lateArg  = "-serve-late"  // its tags are wrong in long runs
	crashArg = "-serve-crash" // it ends at the first request
	noiseArg = "-serve-noise" // it does not speak the protocol
)

func TestMain(m *testing.M) {
	if len(os.Args) != 2 || !strings.HasPrefix(os.Args[1], serveArg) {
		os.Exit(m.Run())
	}
	ops := rivals.GoOps()
	right := ops[string(rivals.GMAC)]
	switch os.Args[1] {
	case serveArg:
		main()
		return
	case wrongArg:
		ops[string(rivals.GMAC)] = func([]byte, int) []byte { return make([]byte, 16) }
	case lateArg:
		ops[string(rivals.GMAC)] = func(msg []byte, n int) []byte {
			tag := right(msg, n)
			if n > 3 {
				tag[0] ^= 1
			}
			return tag
		}
	case crashArg:
		ops[string(rivals.GMAC)] = func([]byte, int) []byte { os.Exit(3); return nil }
	case noiseArg:
		fmt.Println("hello")
	}
	if err := serve.Serve(os.Stdin, os.Stdout, nil, ops); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// newTestBench returns a bench whose Go peer is this program with arg.
func newTestBench(t *testing.T, arg string) *bench {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	p := serve.Peer{Name: rivals.GoPeer, Argv: []string{self, arg}}
	return &bench{
		peers: map[string]serve.Peer{rivals.GoPeer: p}, versions: make(map[string]string),
		rounds: 2, minTime: 100 * time.Microsecond, stderr: io.Discard,
	}
}

var testGroup = rivals.Group{
	Name:       "message",
	Sizes:      []int{16, 1500},
	Contenders: []rivals.Contender{rivals.GMAC, "nettle:umac64:stream", "fastmac:umac64:stream"},
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
		got = append(got, fmt.Sprint(r.Contender(), " ", r.Size))
		if !(0 < r.Q1 && r.Q1 <= r.NS && r.NS <= r.Q3) {
			t.Errorf("%s: quartiles %v, median %v, %v", got[len(got)-1], r.Q1, r.NS, r.Q3)
		}
	}
	// Without nettle, which this bench does not have.
	want := "[crypto/cipher:gmac:stream 16 fastmac:umac64:stream 16 crypto/cipher:gmac:stream 1500 fastmac:umac64:stream 1500]"
	if fmt.Sprint(got) != want {
		t.Errorf("rows %v, want %v", got, want)
	}
	if b.versions["golang.org/x/crypto"] == "" && len(rivals.GoVersions()) > 0 {
		t.Errorf("no version of golang.org/x/crypto in %v", b.versions)
	}
}

// TestMeasureMissing checks that contenders that this machine lacks something for are
// left out, and do not end the peer.
func TestMeasureMissing(t *testing.T) {
	g := rivals.Group{Name: "message", Sizes: []int{64}, Contenders: []rivals.Contender{
		"fastmac:gmac:stream", "fastmac:gmac:oneshot", "fastmac:aes256-gcm:seal", rivals.GMAC,
	}}
	b := newTestBench(t, serveArg)
	rows, err := b.measure(t.Context(), g)
	if err != nil || len(b.refused) > 0 {
		t.Fatalf("refused %q, error %v", b.refused, err)
	}
	var got, want []rivals.Contender
	for _, r := range rows {
		got = append(got, r.Contender())
	}
	for _, c := range g.Contenders {
		if c.Missing() == nil {
			want = append(want, c)
		}
	}
	if !slices.Equal(got, want) {
		t.Errorf("rows of %v, want %v", got, want)
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
			t.Errorf("timed in spite of its wrong tag: %v", r)
		}
	}
	if len(rows) != 2 {
		t.Errorf("%d rows, want those of fastmac", len(rows))
	}
}

func TestMeasureFails(t *testing.T) {
	for arg, want := range map[string]string{
		lateArg:  "wrong tag for 16 bytes",
		noiseArg: `fastmac: peer Go printed "hello", want versions or ready`,
	} {
		_, err := newTestBench(t, arg).measure(t.Context(), testGroup)
		if err == nil || !strings.HasPrefix(err.Error(), "fastmac: ") || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: error %v, want %q", arg, err, want)
		}
	}

	// A peer that ends loses its other contenders too, and nothing else is lost.
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

// TestCalibrate checks that batches are whole, and that runs have their least size.
func TestCalibrate(t *testing.T) {
	p, err := newTestBench(t, serveArg).peers[rivals.GoPeer].Start(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer p.Stop()
	for _, test := range []struct {
		rivals.Contender
		minRun, least, multiple int
	}{
		{"fastmac:hmac-sha512:batch", 0, rivals.BatchSize, rivals.BatchSize},
		{"fastmac:hmac-sha512:stream", 0, 1, 1},
		{"fastmac:hmac-sha512:stream", 1000, 1000, 1},
	} {
		c := cell{Contender: test.Contender, size: 16384, p: p}
		if err := c.calibrate(test.minRun, time.Microsecond); err != nil {
			t.Fatal(err)
		}
		if c.n < test.least || c.n%test.multiple != 0 {
			t.Errorf("%s, at least %d: runs of %d messages, want at least %d, and a multiple of %d", c.Title(), test.minRun, c.n, test.least, test.multiple)
		}
	}
}
