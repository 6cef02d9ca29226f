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

	// crashVar is a variable with which the sender of SSH ends before it connects.
	crashVar = "FASTMAC_TEST_CRASH"
)

func TestMain(m *testing.M) {
	if len(os.Args) != 2 || !strings.HasPrefix(os.Args[1], serveArg) {
		os.Exit(m.Run())
	}
	ops := rivals.GoOps()
	right := ops[string(rivals.GMAC)]
	switch os.Args[1] {
	default:
		if os.Getenv(crashVar) != "" && strings.HasPrefix(os.Args[1], sendArg) {
			fmt.Println("ready")
			return
		}
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
		rounds: 2, minTime: 100 * time.Microsecond, stderr: io.Discard, self: self,
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
		if !(0 < r.Low && r.Low <= r.NS && r.NS <= r.High) {
			t.Errorf("%s: figure %v, spread from %v to %v", got[len(got)-1], r.NS, r.Low, r.High)
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

// TestNotStarted checks that a peer that does not start is refused, and the others are measured.
func TestNotStarted(t *testing.T) {
	b := newTestBench(t, serveArg)
	b.peers["nettle"] = serve.Peer{Name: "nettle", Argv: []string{b.self, noiseArg}}
	rows, err := b.measure(t.Context(), testGroup)
	if err != nil || len(rows) != 4 {
		t.Errorf("%d rows, error %v", len(rows), err)
	}
	if len(b.refused) != 1 || !strings.HasPrefix(b.refused[0], "nettle refused: ") {
		t.Errorf("refused %q", b.refused)
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
		lateArg:  "wrong tag for ", // of either size: which is timed first is random
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

// TestRounds checks that groups whose runs are longer have fewer rounds, and that the
// estimate is of everything.
func TestRounds(t *testing.T) {
	b := &bench{rounds: 200, minTime: 2 * time.Millisecond}
	for _, test := range []struct {
		longer, rounds int
		run            time.Duration
	}{{0, 200, 2 * time.Millisecond}, {2, 100, 4 * time.Millisecond}, {100, fewRounds, 200 * time.Millisecond}} {
		rounds, run := b.roundsOf(rivals.Group{Longer: test.longer})
		if rounds != test.rounds || run != test.run {
			t.Errorf("%d times as long: %d rounds of %v, want %d of %v", test.longer, rounds, run, test.rounds, test.run)
		}
	}
	if rounds, _ := (&bench{rounds: 3}).roundsOf(rivals.Group{Longer: 100}); rounds != 3 {
		t.Errorf("%d quick rounds, want 3", rounds)
	}
	group := rivals.Group{Sizes: []int{1, 2, 3}, Contenders: make([]rivals.Contender, 5)}
	least := 2 * 15 * 200 * 2 * time.Millisecond
	if got := b.estimateAll([]rivals.Group{group, group}); got < least || got > 2*least {
		t.Errorf("estimate %v, want %v or somewhat more", got, least)
	}
}

// TestMeasureCPU measures both ends of two connections. A connection whose end fails ends
// the measurement, instead of waiting.
func TestMeasureCPU(t *testing.T) {
	b := newTestBench(t, serveArg)
	if _, err := twoCores(); err != nil {
		t.Skip(err)
	}
	g := rivals.Group{Name: rivals.CPUGroup, Sizes: []int{32768}, MinRun: 64, Contenders: []rivals.Contender{
		"nothing:null-64-etm:receive", "nothing:null-64-etm:send", "fastmac:umac-64-etm:receive", "fastmac:umac-64-etm:send",
	}}
	rows, err := b.measureCPU(t.Context(), g)
	if err != nil || len(rows) != len(g.Contenders) {
		t.Fatalf("%d rows, error %v", len(rows), err)
	}
	for i, r := range rows {
		if r.Contender() != g.Contenders[i] || !(r.NS > 0) {
			t.Errorf("row %d: %+v, want %s", i, r, g.Contenders[i])
		}
	}

	g.Sizes = []int{32767} // has no known tag
	if _, err := b.measureCPU(t.Context(), g); err == nil || !strings.Contains(err.Error(), "a MAC that does nothing, ") || !strings.Contains(err.Error(), "no known tag") {
		t.Errorf("unknown tag: error %v", err)
	}
	t.Setenv(crashVar, "1")
	g.Sizes = []int{32768}
	if _, err := b.measureCPU(t.Context(), g); err == nil || !strings.Contains(err.Error(), "send: fastmac: peer send ended") {
		t.Errorf("a sender that ends: error %v", err)
	}
	t.Setenv(crashVar, "")
	g.Contenders = []rivals.Contender{"nobody:none:receive"}
	if _, err := b.measureCPU(t.Context(), g); err == nil || !strings.HasPrefix(err.Error(), "fastmac: ") {
		t.Errorf("unknown ops: error %v", err)
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
