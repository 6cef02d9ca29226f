// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// TestEmulated verifies what has been tagged in QEMU, with its default CPU, and the other way round. QEMU 7.2
// computes an instruction wrongly: see "Emulators" in docs/platforms.md.
func TestEmulated(t *testing.T) {
	const emulator = "qemu-x86_64"
	if _, err := exec.LookPath(emulator); err != nil {
		t.Skip("needs Debian's package qemu-user")
	}
	program := filepath.Join(t.TempDir(), "fastmac")
	build := exec.Command("go", "build", "-o", program, ".")
	build.Env = append(os.Environ(), "GOARCH=amd64", "CGO_ENABLED=0")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	emulated := func(t *testing.T, line string) {
		out, err := exec.Command(emulator, append([]string{program}, strings.Fields(line)...)...).CombinedOutput()
		if err != nil {
			t.Errorf("%s in %s: %v: %s", line, emulator, err, out)
		}
	}
	for _, algorithm := range []string{"umac32", "umac64", "umac96", "umac128", "gmac", "hmac-sha256", "hmac-sha512"} {
		t.Run(algorithm, func(t *testing.T) {
			files := map[string]string{"empty": ""}
			for i, name := range strings.Fields("short block blocks long") {
				files[name] = strings.Repeat("A message. ", 1<<(5*i))
			}
			inFolder(t, files)
			const names = " empty short block blocks long"
			command(t, 0, "keygen -o key -a "+algorithm)
			emulated(t, "tag -k key -o there"+names)
			command(t, 0, "verify -k key there")
			command(t, 0, "tag -k key -o here"+names)
			emulated(t, "verify -k key here")
		})
	}
}
