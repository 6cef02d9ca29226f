// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"math"
	"strings"
	"testing"

	"example.com/fastmac"
)

func TestUsage(t *testing.T) {
	for _, args := range [][]string{nil, {"help"}, {"-h"}, {"--help"}, {"demo", "--help"}, {"hardware", "-h"}, {"patch-ssh", "-help"}} {
		var stdout, stderr bytes.Buffer
		if code := run(t.Context(), args, &stdout, &stderr); code != exitOK {
			t.Errorf("%q: exit status %d", args, code)
		}
		if stdout.String() != usage || stderr.Len() > 0 {
			t.Errorf("%q: standard output %q, standard error %q", args, &stdout, &stderr)
		}
	}
}

func TestUsageErrors(t *testing.T) {
	for _, tt := range []struct{ args, want string }{
		{"dmeo", `unknown command "dmeo"`},
		{"bench", `unknown command "bench"`},
		{"demo extra", `demo: unexpected argument "extra"`},
		{"demo --bogus", "flag provided but not defined: -bogus"},
		{"demo --size 0", "at least 1 byte"},
		{"demo --size -5", "at least 1 byte"},
		{"demo --size -99999999999999999999", "at least 1 byte"},
		{"demo --size 0GiB", "at least 1 byte"},
		{"demo --size 64MB", "whole bytes"},
		{"demo --size 1.5GiB", "whole bytes"},
		{"demo --size MiB", "whole bytes"},
		{"demo --size 4611686018427387904", "at most 4611686018427387903"},
		{"demo --size 4294967296GiB", "at most 4611686018427387903"},
		{"demo --size 99999999999999999999", "at most 4611686018427387903"},
		{"demo --size", "flag needs an argument: -size"},
		{"demo --port -1", "--port is -1, and has to be from 0 to 65535"},
		{"demo --port 65536", "--port is 65536"},
		{"demo --port ssh", `invalid value "ssh" for flag -port`},
		{"hardware --size 1", "flag provided but not defined: -size"},
		{"patch-ssh --check --revert", "--check and --revert do not go together"},
		{"patch-ssh v0.58.0", `patch-ssh: unexpected argument "v0.58.0"`},
		{"hardware now", `hardware: unexpected argument "now"`},
	} {
		var stdout, stderr bytes.Buffer
		if code := run(t.Context(), strings.Fields(tt.args), &stdout, &stderr); code != exitUsage {
			t.Errorf("%s: exit status %d", tt.args, code)
		}
		first, _, _ := strings.Cut(stderr.String(), "\n")
		if !strings.HasPrefix(first, "fastmac: ") || !strings.Contains(first, tt.want) {
			t.Errorf("%s: %q, want %q in it", tt.args, first, tt.want)
		}
		if stdout.Len() > 0 {
			t.Errorf("%s: standard output %q", tt.args, &stdout)
		}
	}
}

func TestByteSize(t *testing.T) {
	for _, tt := range []struct {
		in   string
		want int64
		out  string
	}{
		{"1", 1, "1 bytes"},
		{"1000", 1000, "1000 bytes"},
		{"2048", 2048, "2 KiB"},
		{"3KiB", 3 << 10, "3 KiB"},
		{"64MiB", 64 << 20, "64 MiB"},
		{"1024MiB", 1 << 30, "1 GiB"},
		{"10GiB", 10 << 30, "10 GiB"},
		{"10 GiB", 10 << 30, "10 GiB"},
		{"4611686018427387903", math.MaxInt64 / 2, "4611686018427387903 bytes"},
	} {
		var s byteSize
		if err := s.Set(tt.in); err != nil || int64(s) != tt.want || s.String() != tt.out {
			t.Errorf("%q: %d, %q, %v; want %d, %q", tt.in, int64(s), &s, err, tt.want, tt.out)
		}
	}
}

func TestHardware(t *testing.T) {
	want := fastmac.Hardware()
	wantErr := fastmac.RequireHardware()

	var stdout, stderr bytes.Buffer
	if code := run(t.Context(), []string{"hardware", "--json"}, &stdout, &stderr); code != exitOK {
		t.Fatalf("exit status %d: %s", code, &stderr)
	}
	var r hardwareReport
	if err := json.Unmarshal(stdout.Bytes(), &r); err != nil {
		t.Fatal(err)
	}
	if r.NH != want.NH || r.AES != want.AES || r.SHA512 != want.SHA512 || r.Required != (wantErr == nil) {
		t.Errorf("%+v, want %+v, %v", r, want, wantErr)
	}

	stdout.Reset()
	if code := run(t.Context(), []string{"hardware"}, &stdout, &stderr); code != exitOK {
		t.Fatalf("exit status %d: %s", code, &stderr)
	}
	verdict := "RequireHardware is content"
	if wantErr != nil {
		verdict = wantErr.Error()
	}
	for _, s := range []string{want.NH, want.AES, want.SHA512, verdict} {
		if !strings.Contains(stdout.String(), s) {
			t.Errorf("%q is not in %q", s, &stdout)
		}
	}
}

type brokenWriter struct{}

func (brokenWriter) Write([]byte) (int, error) { return 0, errors.New("disk full") }

func TestBrokenOutput(t *testing.T) {
	t.Setenv("PATH", "")
	for _, args := range []string{"help", "hardware", "hardware --json", "demo --size 1", "demo --size 1 --json"} {
		var stderr bytes.Buffer
		code := run(t.Context(), strings.Fields(args), brokenWriter{}, &stderr)
		if code != exitFailed || !strings.Contains(stderr.String(), "disk full") {
			t.Errorf("%s: exit status %d, %q", args, code, &stderr)
		}
	}
}
