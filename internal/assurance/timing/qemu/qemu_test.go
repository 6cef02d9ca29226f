// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

//go:build linux

// Package qemu has tests that trace the machine code of linux/arm64 in qemu's user mode: how many
// instructions a message takes, and whether instructions and addresses depend on secrets. A plugin
// of qemu, testdata/plugin.c, writes what the program probe executes.
//
// Qemu does not show how long an instruction takes: nothing about cycles, about divisions and
// multiplications whose time depends on their operands, or about caches. Nor does it show the
// memory that DC ZVA clears, which runtime.memclrNoHeapPointers uses for more than 128 bytes.
package qemu

import (
	"bytes"
	"context"
	"debug/buildinfo"
	"debug/elf"
	"debug/gosym"
	"encoding/binary"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"example.com/fastmac/internal/mactest"
)

// module is the beginning of the names of files in this module, in a build with -trimpath.
const module = "example.com/fastmac"

// An emulator has the probe and the plugin.
type emulator struct {
	dir       string
	goVersion string // that built the probe
	table     *gosym.Table
	base      uint64      // of the code
	code      []*function // of each instruction
	end       uint64      // of the variables
}

type function struct {
	*gosym.Func
	file string
}

// newEmulator skips the test unless this is the long run, and if a tool is missing.
func newEmulator(t *testing.T) *emulator {
	t.Helper()
	mactest.NeedGo(t)
	if !mactest.Long() {
		t.Skip("for the long run: half a minute in qemu")
	}
	for program, pkgs := range map[string]string{"qemu-aarch64": "qemu-user", "gcc": "gcc libc6-dev"} {
		if _, err := exec.LookPath(program); err != nil {
			t.Skipf("no %s: apt-get install %s", program, pkgs)
		}
	}
	e := &emulator{dir: t.TempDir()}
	probe := filepath.Join(e.dir, "probe")
	build := exec.Command("go", "build", "-trimpath", "-buildvcs=false", "-o", probe, "./probe")
	build.Env = append(mactest.HostEnv(), "GOOS=linux", "GOARCH=arm64", "GOARM64=v8.0", "CGO_ENABLED=0", "GOFLAGS=", "GOEXPERIMENT=", "GOFIPS140=off")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("fastmac: the probe: %v\n%s", err, out)
	}
	if err := e.readProbe(probe); err != nil {
		t.Fatalf("fastmac: the probe: %v", err)
	}
	// Version 1 of the API is that of qemu up to version 8, version 2 that of later ones.
	e.buildPlugin(t, 1)
	if _, err := e.run("max", "", 0, 1); err != nil {
		e.buildPlugin(t, 2)
		if _, err2 := e.run("max", "", 0, 1); err2 != nil {
			t.Fatalf("fastmac: this qemu-aarch64 does not load the plugin: it is too old, or was built without plugins:\n%v\n%v", err, err2)
		}
	}
	return e
}

func (e *emulator) buildPlugin(t *testing.T, api int) {
	t.Helper()
	cc := exec.Command("gcc", "-O2", "-Wall", "-Wextra", "-Werror", "-shared", "-fPIC", fmt.Sprintf("-DAPI=%d", api),
		"-o", filepath.Join(e.dir, "plugin.so"), "testdata/plugin.c")
	if out, err := cc.CombinedOutput(); err != nil {
		t.Fatalf("fastmac: the plugin: %v\n%s", err, out)
	}
}

// readProbe finds out to which function each instruction belongs.
func (e *emulator) readProbe(name string) error {
	info, err := buildinfo.ReadFile(name)
	if err != nil {
		return err
	}
	e.goVersion, _, _ = strings.Cut(info.GoVersion, " ")
	file, err := elf.Open(name)
	if err != nil {
		return err
	}
	defer file.Close()
	for _, s := range file.Progs {
		if s.Type == elf.PT_LOAD {
			e.end = max(e.end, s.Vaddr+s.Memsz)
		}
	}
	text, lines := file.Section(".text"), file.Section(".gopclntab")
	if text == nil || lines == nil {
		return fmt.Errorf("no section .text or no .gopclntab")
	}
	data, err := lines.Data()
	if err != nil {
		return err
	}
	if e.table, err = gosym.NewTable(nil, gosym.NewLineTable(data, text.Addr)); err != nil {
		return err
	}
	e.base, e.code = text.Addr, make([]*function, text.Size/4)
	for i := range e.table.Funcs {
		f := &function{Func: &e.table.Funcs[i]}
		f.file, _, _ = e.table.PCToLine(f.Entry)
		for pc := f.Entry; pc < f.End && pc-e.base < text.Size; pc += 4 {
			e.code[(pc-e.base)/4] = f
		}
	}
	for _, name := range []string{"main.start", "main.stop"} {
		if e.table.LookupFunc(name) == nil {
			return fmt.Errorf("no function %s", name)
		}
	}
	return nil
}

// unknown is code that the kernel provides.
var unknown = &function{Func: &gosym.Func{Sym: &gosym.Sym{Name: "unknown"}}}

// function returns the function of an instruction.
func (e *emulator) function(pc record) *function {
	if i := (uint64(pc) - e.base) / 4; i < uint64(len(e.code)) && e.code[i] != nil {
		return e.code[i]
	}
	return unknown
}

// A record is an instruction's address or, after it, an access to memory, as in plugin.c.
type record uint64

func (r record) isAccess() bool  { return r>>63 != 0 }
func (r record) isStore() bool   { return r>>62&1 != 0 }
func (r record) size() int       { return 1 << (r >> 56 & 15) }
func (r record) address() uint64 { return uint64(r) & (1<<56 - 1) }

// run runs the probe on this CPU, and returns the records of each call of each operation.
func (e *emulator) run(cpu, godebug string, secrets, rounds int, operations ...string) ([][][]record, error) {
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Minute)
	defer cancel()
	start, stop := e.table.LookupFunc("main.start"), e.table.LookupFunc("main.stop")
	trace := filepath.Join(e.dir, "trace")
	// With the seed, what the Go runtime draws at random is the same in each run. Relative paths
	// have no comma.
	args := []string{"-cpu", cpu, "-seed", "1", "-plugin", fmt.Sprintf("./plugin.so,start=%x,stop=%x,out=trace", start.Entry, stop.Entry),
		"./probe", fmt.Sprint(secrets), fmt.Sprint(rounds)}
	cmd := exec.CommandContext(ctx, "qemu-aarch64", append(args, operations...)...)
	cmd.Dir = e.dir
	cmd.Env = append(os.Environ(), "GOMAXPROCS=1", "GODEBUG=asyncpreemptoff=1,"+godebug)
	if out, err := cmd.CombinedOutput(); err != nil {
		return nil, fmt.Errorf("qemu-aarch64: %w\n%s", err, out)
	}
	content, err := os.ReadFile(trace)
	if err != nil {
		return nil, fmt.Errorf("the plugin writes no trace: %w", err)
	}
	defer os.Remove(trace)
	records := make([]record, len(content)/8)
	if err := binary.Read(bytes.NewReader(content), binary.NativeEndian, records); err != nil {
		return nil, err
	}
	calls := make([][][]record, 0, len(operations))
	var call []record
	n := 0
	for _, r := range records {
		call = append(call, r)
		if r == record(stop.Entry) {
			if n%rounds == 0 {
				calls = append(calls, nil)
			}
			calls[n/rounds] = append(calls[n/rounds], e.uninterrupted(call))
			call, n = nil, n+1
		}
	}
	if len(calls) != len(operations) || n != len(operations)*rounds || len(call) != 0 {
		return nil, fmt.Errorf("%d calls and %d records in the trace, want %d calls", n, len(call), len(operations)*rounds)
	}
	return calls, nil
}

// uninterrupted drops what happens when the runtime interrupts a goroutine, which it does to one
// that has run for 10 ms: the prologue of the next function calls morestack, and the function begins
// again afterwards. It changes call.
func (e *emulator) uninterrupted(call []record) []record {
	kept := call[:0]
	begin := 0        // of the current function, in kept
	var resume record // its first instruction, which ends an interruption
	for _, r := range call {
		if resume != 0 && r != resume {
			continue
		}
		resume = 0
		switch f := e.function(r); {
		case r.isAccess():
		case f.Name == "runtime.morestack" || f.Name == "runtime.morestack_noctxt":
			resume = kept[begin]
			kept = kept[:begin]
			continue
		case uint64(r) == f.Entry:
			begin = len(kept)
		}
		kept = append(kept, r)
	}
	return kept
}
