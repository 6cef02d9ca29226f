// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package fastmac

import (
	"errors"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"testing"
)

func TestHardware(t *testing.T) {
	if hw, want := Hardware(), (Features{NH: "generic", AES: "stdlib", SHA512: "stdlib"}); hw != want {
		t.Errorf("Hardware() = %+v, want %+v", hw, want)
	}
}

func TestRequireHardware(t *testing.T) {
	err := RequireHardware()
	var e *UnsupportedCPUError
	if err != nil && (!errors.As(err, &e) || len(e.Missing) == 0 || !strings.Contains(err.Error(), e.Missing[0])) {
		t.Errorf("RequireHardware() = %#v: %v", err, err)
	}
	if purego && err == nil {
		t.Error("RequireHardware() is nil in a build without assembly")
	}
	if want := os.Getenv("FASTMAC_TEST_MISSING"); want != "" && (e == nil || strings.Join(e.Missing, ",") != want) {
		t.Errorf("RequireHardware() = %v, want %q missing", err, want)
	}
}

// TestRequireHardwareOff runs the test above in a process whose CPU features are
// switched off.
func TestRequireHardwareOff(t *testing.T) {
	if runtime.GOARCH != "amd64" || RequireHardware() != nil {
		t.Skip("needs amd64 with AES instructions in use")
	}
	for godebug, missing := range map[string]string{
		"cpu.aes=off":                "AES",
		"cpu.sse41=off,cpu.aes=off":  "AES,SSE4.1",
		"cpu.ssse3=off,cpu.avx2=off": "SSSE3",
	} {
		cmd := exec.Command(os.Args[0], "-test.run=^TestRequireHardware$|^TestUMACSign$")
		cmd.Env = append(os.Environ(), "GODEBUG="+godebug, "FASTMAC_TEST_MISSING="+missing)
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Errorf("GODEBUG=%s: %v\n%s", godebug, err, out)
		}
	}
}
