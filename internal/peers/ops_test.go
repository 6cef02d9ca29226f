// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package main

import (
	"bytes"
	"fmt"
	"strings"
	"testing"
)

// TestGoOps runs each op of the Go peer for several numbers of messages: all end
// in the tag known beforehand.
func TestGoOps(t *testing.T) {
	known, err := loadKnown(knownJSON)
	if err != nil {
		t.Fatal(err)
	}
	ops := goOps()
	tested := make(map[string]bool)
	for _, g := range groups {
		for _, c := range g.contenders {
			if c.peer() != goPeer {
				continue
			}
			run, ok := ops[string(c)]
			if !ok {
				t.Errorf("no op %s", c)
				continue
			}
			tested[string(c)] = true
			for _, size := range g.sizes {
				if size > 4*mib {
					continue
				}
				msg := newMessage(size)
				for _, n := range []int{1, 2, 5} {
					if err := known.check(c, size, fmt.Sprintf("%x", run(msg, n))); err != nil {
						t.Errorf("%s, %d messages: %v", c, n, err)
					}
				}
			}
		}
	}
	for name := range ops {
		if !tested[name] {
			t.Errorf("op %s is nobody's", name)
		}
	}
}

// TestBatches runs batches of which the first is short, full, or the only one.
func TestBatches(t *testing.T) {
	known, err := loadKnown(knownJSON)
	if err != nil {
		t.Fatal(err)
	}
	ops := goOps()
	for _, c := range []contender{"fastmac:hmac-sha512:batch", "fastmac:hmac-sha512:sumbatch"} {
		for _, n := range []int{1, batchSize - 1, batchSize, batchSize + 1, 3 * batchSize} {
			if err := known.check(c, hmacSumSize, fmt.Sprintf("%x", ops[string(c)](newMessage(hmacSumSize), n))); err != nil {
				t.Errorf("%s, %d messages: %v", c, n, err)
			}
		}
	}
	_, keys, _ := newBatch(nil)
	seen := make(map[string]bool)
	for _, k := range keys {
		seen[string(k)] = true
	}
	if len(seen) != batchSize || !bytes.Equal(keys[batchSize-1], key[:]) {
		t.Errorf("%d keys, the last %x", len(seen), keys[batchSize-1])
	}
}

func TestCrowd(t *testing.T) {
	s := newStreams()
	all, shuffled := s.umacs(), inOrder(s.umacs(), true)
	if all[len(all)-1] != shuffled[len(all)-1] {
		t.Error("the last stream is not the last after shuffling")
	}
	same, seen := 0, make(map[any]bool)
	for i := range all {
		seen[shuffled[i]] = true
		if all[i] == shuffled[i] {
			same++
		}
	}
	if len(seen) != streamCount || same > 20 {
		t.Errorf("%d streams after shuffling, %d of them where they were", len(seen), same)
	}
	for _, test := range [][3]int{{1, 10, 9}, {9, 10, 1}, {10, 10, 0}, {11, 10, 9}, {25, 10, 5}} {
		if got := start(test[0], test[1]); got != test[2] {
			t.Errorf("start(%d, %d) = %d, want %d", test[0], test[1], got, test[2])
		}
	}
	msg := newMessage(streamSize)
	one := s.gmac(true)(msg, 1)
	if lap := s.gmac(true)(msg, streamCount+1); !bytes.Equal(one, lap) {
		t.Errorf("more than a lap ends in %x, want %x", lap, one)
	}
}

func TestServe(t *testing.T) {
	var out bytes.Buffer
	ops := map[string]op{"len": func(msg []byte, n int) []byte { return []byte{byte(len(msg)), byte(n)} }}
	err := serve(strings.NewReader("len 3 7\nlen 0 1\n"), &out, map[string]string{"b": "2", "a": "1 x"}, ops)
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
	for _, bad := range []string{"len", "len 1", "len x 1", "len 1 0", "len -1 1", "other 1 1", "len 1 1 1"} {
		if err := serve(strings.NewReader(bad), &out, nil, ops); err == nil || !strings.HasPrefix(err.Error(), "fastmac: request") {
			t.Errorf("request %q: error %v", bad, err)
		}
	}
}
