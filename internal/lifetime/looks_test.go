// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package lifetime

import (
	"bufio"
	"bytes"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"example.com/fastmac/internal/golden"
	"example.com/fastmac/internal/mactest"
)

// TestLooks reads the code that the compiler makes for arm64, whose CPUs reorder loads: on each path of an
// exported function from a kernel to a return there must be the barrier, and the load of a lifetime after it.
// Behind another look, as those of packets are, there is no kernel: so looks.txt has all barriers. An emulator on
// a CPU that does not reorder loads cannot show that one is left out.
func TestLooks(t *testing.T) {
	if !mactest.Long() {
		t.Skip("compiles for arm64: set FASTMAC_TEST_LONG=1")
	}
	mactest.NeedGo(t)
	free := map[string]bool{
		// These return nothing that depends on the key of anybody else: what they set up is not shared yet.
		"fastmac.(*UMACKey).Init": true, "fastmac.NewUMACKey": true, "fastmac.NewUMAC": true,
		"fastmac.(*GMACKey).Init": true, "fastmac.NewGMACKey": true, "fastmac.NewGMAC": true,
		"fastmac.(*HMACKey).Init": true, "fastmac.NewHMACKey": true, "fastmac.NewHMAC": true,
		"aesgcm.(*Key).Init": true, "aesgcm.NewKey": true,
		"fastmac.SumHMAC": true, "fastmac.SumHMACBatch": true, "packet.NewUMACServer": true, "packet.NewGMACServer": true,
		"packet.NewUMACClient": true, "packet.NewGMACClient": true,
		"packet.(*UMACSender).Init": true, "packet.NewUMACSender": true, "packet.(*UMACReceiver).Init": true, "packet.NewUMACReceiver": true,
		"packet.(*GMACSender).Init": true, "packet.NewGMACSender": true, "packet.(*GMACReceiver).Init": true, "packet.NewGMACReceiver": true,
		// These return nothing of the key.
		"fastmac.(*UMAC).Write": true, "fastmac.(*UMAC).WriteString": true, "fastmac.(*UMAC).WriteParallel": true,
		"fastmac.(*GMAC).Write": true, "fastmac.(*GMAC).WriteString": true,
		"fastmac.(*HMAC).Write": true, "fastmac.(*HMAC).WriteString": true,
		// The state is under a mutex, as the keys of hellos are, which Destroy waits for.
		"hwrand.(*Reader).Read":   true,
		"packet.(*client).Answer": true, "packet.(*UMACClient).Answer": true, "packet.(*GMACClient).Answer": true,
		"packet.(*server).Answer": true, "packet.(*UMACServer).Answer": true, "packet.(*GMACServer).Answer": true,
		"packet.(*server).Open": true, "packet.(*UMACServer).Open": true, "packet.(*GMACServer).Open": true,
	}
	cmd := exec.Command("go", "build", "-gcflags="+module+"/...=-S", ".", module, module+"/aesgcm", module+"/hwrand")
	cmd.Dir = "../../packet"
	cmd.Env = append(os.Environ(), "GOARCH=arm64", "GOOS=linux", "CGO_ENABLED=0")
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	p := parse(out)
	if len(p) < 100 {
		t.Fatalf("%d functions", len(p))
	}
	p.analyze()
	found := make(map[string]bool)
	for _, name := range slices.Sorted(maps.Keys(p)) {
		f := p[name]
		for _, at := range f.blind {
			t.Errorf("%s, %d: no load of a lifetime follows the barrier", name, at)
		}
		short := strings.TrimPrefix(instantiated.ReplaceAllString(strings.TrimPrefix(name, module), ""), "/")
		if strings.HasPrefix(short, ".") {
			short = "fastmac" + short
		}
		if !exported.MatchString(short) || !f.out[0][1] {
			continue
		}
		if !free[short] {
			t.Errorf("%s returns from a kernel without a look at the lifetime of the key", name)
		}
		found[short] = true
	}
	for name := range free {
		if !found[name] {
			t.Errorf("%s needs no exception", name)
		}
	}
	for _, name := range []string{"End", "EndStream"} {
		if f := p[module+"/internal/lifetime.(*Lifetime)."+name]; f == nil || !f.ordersStores() {
			t.Errorf("%s: no barrier follows the store of the number", name)
		}
	}
	var all strings.Builder
	for _, name := range slices.Sorted(maps.Keys(p)) {
		if n := p[name].barriers(); n > 0 {
			fmt.Fprintln(&all, strings.TrimPrefix(strings.TrimPrefix(name, module), "/"), n)
		}
	}
	if err := golden.Check("looks.txt", all.String()); err != nil {
		t.Error(err)
	}
}

// barriers returns how many f has.
func (f *function) barriers() (n int) {
	for _, o := range f.ops {
		if o.name == "CALL" && o.args == module+"/internal/lifetime.loads(SB)" {
			n++
		}
	}
	return n
}

// ordersStores reports whether the barrier for stores follows all atomic stores of f.
func (f *function) ordersStores() bool {
	store, barrier := -1, -1
	for i, o := range f.ops {
		switch {
		case o.name == "CALL" && o.args == module+"/internal/lifetime.stores(SB)":
			barrier = i
		case atomicStore.MatchString(o.name):
			store = i
		}
	}
	return 0 <= store && store < barrier
}

const module = "example.com/fastmac"

var (
	instantiated = regexp.MustCompile(`\[.*\]`)
	exported     = regexp.MustCompile(`^(fastmac|aesgcm|hwrand|packet)\.(\(\*\w+\)\.)?[A-Z]\w*$`)
	header       = regexp.MustCompile(`^(\S+) STEXT`)
	line         = regexp.MustCompile(`^\t0x[0-9a-f]+ (\d+) \(.*?\)\t(\S+)(?:\t(.*))?$`)
	atomicStore  = regexp.MustCompile(`^(STLRW|STLXRW|CASALW)$`)
	branch       = regexp.MustCompile(`^(JMP|B|CBN?ZW?|TBN?Z|B[A-Z]{2})$`)
)

// An op is an instruction, as the compiler lists it.
type op struct {
	at         int
	name, args string
}

// A function has its instructions. out says whether it can return with a result of a kernel that has not been
// looked at, [1], or without one, [0], if it begins without one, [0], or with one, [1].
type function struct {
	ops   []op
	out   [2][2]bool
	blind []int
}

type program map[string]*function

func parse(listing []byte) program {
	p := make(program)
	var f *function
	lines := bufio.NewScanner(bytes.NewReader(listing))
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		if m := header.FindStringSubmatch(lines.Text()); m != nil {
			f = new(function)
			if p[m[1]] == nil {
				p[m[1]] = f
			}
		} else if m := line.FindStringSubmatch(lines.Text()); m != nil && f != nil && !slices.Contains([]string{"PCDATA", "FUNCDATA", "NOP", "TEXT"}, m[2]) {
			at, _ := strconv.Atoi(m[1])
			f.ops = append(f.ops, op{at, m[2], m[3]})
		}
	}
	return p
}

// analyze sets out of all functions, from nothing upwards.
func (p program) analyze() {
	for changed := true; changed; {
		changed = false
		for _, f := range p {
			for in := range 2 {
				if out := p.returns(f, in); out != f.out[in] {
					f.out[in], changed = out, true
				}
			}
		}
	}
	for _, f := range p {
		for i, o := range f.ops {
			if o.name == "CALL" && o.args == module+"/internal/lifetime.loads(SB)" && !looks(f.ops[i+1:]) {
				f.blind = append(f.blind, o.at)
			}
		}
	}
}

// looks reports whether there is a load-acquire before the next call or return.
func looks(ops []op) bool {
	for _, o := range ops {
		switch {
		case o.name == "LDARW":
			return true
		case o.name == "RET": // Loads, whose callers look
			return true
		case o.name == "CALL":
			return false
		}
	}
	return false
}

// returns follows all paths of f.
func (p program) returns(f *function, in int) (out [2]bool) {
	index := make(map[int]int)
	for i, o := range f.ops {
		if _, ok := index[o.at]; !ok {
			index[o.at] = i
		}
	}
	type place struct{ i, state int }
	seen := make(map[place]bool)
	todo := []place{{0, in}}
	add := func(i, state int) {
		if pl := (place{i, state}); i < len(f.ops) && !seen[pl] {
			seen[pl] = true
			todo = append(todo, pl)
		}
	}
	for len(todo) > 0 {
		pl := todo[len(todo)-1]
		todo = todo[:len(todo)-1]
		if pl.i >= len(f.ops) {
			continue
		}
		o := f.ops[pl.i]
		symbol, direct := strings.CutSuffix(o.args, "(SB)")
		switch {
		case o.name == "RET":
			out[pl.state] = true
		case o.name == "UNDEF":
		case o.name == "CALL" || o.name == "JMP" && direct:
			for state, ok := range p.after(symbol, pl.state) {
				if ok && o.name == "JMP" {
					out[state] = true
				} else if ok {
					add(pl.i+1, state)
				}
			}
		case branch.MatchString(o.name):
			args := strings.Split(o.args, ", ")
			if to, err := strconv.Atoi(args[len(args)-1]); err == nil {
				add(index[to], pl.state)
			}
			if o.name != "JMP" && o.name != "B" {
				add(pl.i+1, pl.state)
			}
		default:
			add(pl.i+1, pl.state)
		}
	}
	return out
}

// after returns in which states a call returns.
func (p program) after(symbol string, state int) (out [2]bool) {
	name, ours := strings.CutPrefix(symbol, module)
	f := p[symbol]
	switch {
	case name == "/internal/lifetime.loads":
		out[0] = true
	case !ours, slices.Contains([]string{"/internal/lifetime.stores", "/internal/prefetch.lines"}, name):
		out[state] = !strings.HasPrefix(symbol, "runtime.panic")
	case f == nil && strings.ContainsAny(symbol, "[("): // of a type of another package that prints
		out[state] = true
	case f == nil || f.isWrapper(symbol): // assembly: a kernel
		out[1] = true
	default:
		out = f.out[state]
	}
	return out
}

// isWrapper reports whether f only calls the function of that name in assembly.
func (f *function) isWrapper(name string) bool {
	return slices.ContainsFunc(f.ops, func(o op) bool { return o.name == "CALL" && o.args == name+"(SB)" }) && len(f.ops) < 60
}
