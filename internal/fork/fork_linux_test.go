// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package fork_test

import (
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"testing"

	"example.com/fastmac/internal/mactest"
)

// TestForks runs a program whose C code forks 1,000 times, and whose children fork again. Nothing
// that hwrand, aesgcm and the sequences of nonces return may come twice. A program that does not
// notice forks must be found out.
func TestForks(t *testing.T) {
	mactest.NeedGo(t)
	if _, err := exec.LookPath("gcc"); err != nil {
		t.Skipf("needs a C compiler, package gcc: %v", err)
	}
	program := filepath.Join(t.TempDir(), "forks")
	build := exec.Command("go", "build", "-o", program, "./testdata/forks")
	build.Env = append(mactest.HostEnv(), "CGO_ENABLED=1")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("go build: %v\n%s", err, out)
	}
	for _, ignore := range []bool{false, true} {
		out, err := exec.Command(program, "-ignore="+strconv.FormatBool(ignore)).CombinedOutput()
		if err != nil {
			t.Fatalf("%v\n%s", err, out)
		}
		lines := regexp.MustCompile(`(?m)^(.*): (\d+) repeated$`).FindAllSubmatch(out, -1)
		if len(lines) < 2 {
			t.Errorf("the program prints %s", out)
		}
		for _, line := range lines {
			repeated, _ := strconv.Atoi(string(line[2]))
			if ignore && repeated < 1000 {
				t.Errorf("forks are not noticed, and %s", line[0])
			} else if !ignore && repeated > 0 {
				t.Error(string(line[0]))
			}
		}
		t.Logf("ignore=%v:\n%s", ignore, out)
	}
}
