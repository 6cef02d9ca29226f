// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package conformance

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"example.com/fastmac/internal/mactest"
)

// faults are mistakes in the branches of L2 and L3 that random messages almost never reach.
// Each replaces code of the portable layers by code that compiles and is wrong.
var faults = []struct {
	name, file string
	from, to   string
}{
	{"POLY-64 without a marker", "poly.go", "isMarked := -((m>>32 + 1) >> 32)", "isMarked := uint64(0)"},
	{"POLY-64 marks from 2^64-2^32+1", "poly.go", "-((m>>32 + 1) >> 32)", "-(((m-1)>>32 + 1) >> 32) & -(m >> 63)"},
	{"POLY-64 marks from 2^64-59", "poly.go", "-((m>>32 + 1) >> 32)", "-((m>>32 + 1) >> 32) & -((m&0xffffffff + offset64) >> 32)"},
	{"POLY-64 marker without its coefficient", "poly.go", "m-offset64-k)", "m-offset64)"},
	{"POLY-64 marker without the offset", "poly.go", "m-offset64-k)", "m-k)"},
	{"POLY-64 not reduced", "poly.go", "return y ^ (y^r)&-c", "_, _ = r, c\n\treturn y"},
	{"POLY-128 without a marker", "poly.go", "isMarked := -((m.hi>>32 + 1) >> 32)", "isMarked := uint64(0)"},
	{"POLY-128 marker without the offset", "poly.go", "bits.Sub64(m.lo, offset128&isMarked, 0)", "bits.Sub64(m.lo, 0, 0)"},
	{"POLY-128 not reduced", "poly.go", "return uint128{y.hi ^ (y.hi^hi)&-c, y.lo ^ (y.lo^lo)&-c}", "_, _ = hi, lo\n\treturn y"},
	{"POLY-128 one word late", "poly.go", "poly64Words = 1 << 14", "poly64Words = 1<<14 + 2"},
	{"POLY-128 without the byte 0x80", "poly.go", "last = uint128{s.pending[i], 0x80 << 56}", "last = uint128{s.pending[i], 0}"},
	{"L3 not reduced", "l3.go", "return r + p36&-(r>>63)", "_ = r\n\treturn y"},
	{"L3 keys modulo 2^36", "l3.go", "k.l3.low[j][i] = reduce36(binary.BigEndian.Uint64(k1[8*j+32:]))", "k.l3.low[j][i] = binary.BigEndian.Uint64(k1[8*j+32:]) & (1<<36 - 1)"},
	{"L3 keys of POLY-128 modulo 2^36", "l3.go", "k.l3High[j][i] = reduce36(binary.BigEndian.Uint64(k1[8*j:]))", "k.l3High[j][i] = binary.BigEndian.Uint64(k1[8*j:]) & (1<<36 - 1)"},
	{"L3 modulo 2^36-5, except for the sum", "l3.go", "y = y&(1<<36-1) + 5*(y>>36)", "y = y & (1<<36 - 1)"},
}

// TestFaults builds a copy of the portable package with each fault, and checks that the
// vectors refuse it. It also checks that they accept the copy without a fault. The short
// run checks only that the code to replace is there.
func TestFaults(t *testing.T) {
	root, err := filepath.Abs("../..")
	if err != nil {
		t.Fatal(err)
	}
	faulty := make([]string, len(faults)) // the files
	for i, fault := range faults {
		content, err := os.ReadFile(filepath.Join(root, fault.file))
		if err != nil {
			t.Fatal(err)
		}
		if n := strings.Count(string(content), fault.from); n != 1 {
			t.Errorf("%s has %q %d times, want once", fault.file, fault.from, n)
		}
		faulty[i] = strings.Replace(string(content), fault.from, fault.to, 1)
	}
	if t.Failed() {
		return
	}
	mactest.NeedGo(t)
	if !mactest.Long() {
		t.Skip("for the long run: builds the package many times")
	}
	vectors := func(t *testing.T, overlay string) (string, error) {
		args := []string{"test", "-vet=off", "-tags", "purego", "-overlay", overlay, "-run", "^TestUMACVectors$", "."}
		if !strings.Contains(t.Name(), "POLY-128") {
			args = slices.Insert(args, 1, "-short")
		}
		cmd := exec.Command("go", args...)
		cmd.Env = append(mactest.HostEnv(), "FASTMAC_TEST_LONG=", "FASTMAC_TEST_KERNELS=")
		out, err := cmd.CombinedOutput()
		return string(out), err
	}
	write := func(t *testing.T, name string, content []byte) string {
		path := filepath.Join(t.TempDir(), name)
		if err := os.WriteFile(path, content, 0o666); err != nil {
			t.Fatal(err)
		}
		return path
	}
	t.Run("none", func(t *testing.T) {
		if out, err := vectors(t, write(t, "overlay", []byte("{}"))); err != nil {
			t.Errorf("%v\n%s", err, out)
		}
	})
	refused := 0
	defer func() { t.Logf("%d of %d faults refused", refused, len(faults)) }()
	for i, fault := range faults {
		t.Run(fault.name, func(t *testing.T) {
			path := write(t, fault.file, []byte(faulty[i]))
			overlay, err := json.Marshal(map[string]map[string]string{"Replace": {filepath.Join(root, fault.file): path}})
			if err != nil {
				t.Fatal(err)
			}
			if out, err := vectors(t, write(t, "overlay", overlay)); err == nil {
				t.Error("the vectors accept it")
			} else if !strings.Contains(out, "--- FAIL: TestUMACVectors") {
				t.Errorf("the vectors did not run:\n%s", out)
			} else {
				refused++
			}
		})
	}
}
