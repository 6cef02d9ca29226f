// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package serve

import (
	"bytes"
	"strings"
	"testing"
	"time"
)

func TestServe(t *testing.T) {
	var out bytes.Buffer
	ops := map[string]Op{"len": func(msg []byte, n int) []byte { return []byte{byte(len(msg)), byte(n)} }}
	err := Serve(strings.NewReader("len 3 7\nlen 0 1\n"), &out, map[string]string{"b": "2", "a": "1 x"}, ops)
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(out.String(), "\n")
	if got := strings.Join(lines[:3], "|"); got != "version a 1 x|version b 2|ready" {
		t.Errorf("said %q", got)
	}
	if !strings.HasSuffix(lines[3], " 0307") || !strings.HasSuffix(lines[4], " 0001") {
		t.Errorf("answered %q", lines[3:])
	}
	out.Reset()
	var clock time.Duration
	if err := ServeClock(strings.NewReader("len 3 7\n"), &out, nil, ops, func() time.Duration { clock += 5; return clock * clock }); err != nil {
		t.Fatal(err)
	}
	if got := out.String(); got != "ready\n75 0307\n" { // 10*10 - 5*5
		t.Errorf("with another clock: %q", got)
	}
	for _, bad := range []string{"len", "len 1", "len x 1", "len 1 0", "len -1 1", "other 1 1", "len 1 1 1"} {
		if err := Serve(strings.NewReader(bad), &out, nil, ops); err == nil || !strings.HasPrefix(err.Error(), "fastmac: request") {
			t.Errorf("request %q: error %v", bad, err)
		}
	}
}
