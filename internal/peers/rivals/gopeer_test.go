// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package rivals

import (
	"bytes"
	"crypto/cipher"
	"crypto/fips140"
	"fmt"
	"reflect"
	"regexp"
	"testing"

	"golang.org/x/crypto/ssh"

	"example.com/fastmac"
	"example.com/fastmac/internal/peers/serve"
)

// TestGoOps runs each op of the Go peer for several numbers of messages: all end
// in the tag known beforehand.
func TestGoOps(t *testing.T) {
	ops := GoOps()
	tested := make(map[string]bool)
	for _, g := range Groups {
		for _, c := range g.Contenders {
			if c.Peer() != GoPeer {
				continue
			}
			run, ok := ops[string(c)]
			if err := c.Missing(); err != nil {
				t.Logf("%s: %v", c, err)
				if ok {
					t.Errorf("op %s in spite of it", c)
				}
				continue
			}
			if !ok {
				t.Errorf("no op %s", c)
				continue
			}
			tested[string(c)] = true
			for _, size := range g.Sizes {
				if size > 4*mib {
					continue
				}
				msg := serve.Message(size)
				for _, n := range []int{1, 2, 5} {
					if err := c.CheckTag(size, fmt.Sprintf("%x", run(msg, n))); err != nil {
						t.Errorf("%s, %d messages: %v", c, n, err)
					}
				}
			}
		}
	}
	for name := range ops {
		if !tested[name] {
			t.Errorf("op %s belongs to no contender", name)
		}
	}
}

// TestBatches runs batches of which the first is short, full, or the only one, and
// the same size again, where the copies of the message exist already.
func TestBatches(t *testing.T) {
	ops := GoOps()
	for _, c := range []Contender{"fastmac:hmac-sha512:batch", "fastmac:hmac-sha512:apart", "fastmac:hmac-sha512:sumbatch"} {
		for _, n := range []int{1, BatchSize - 1, BatchSize, BatchSize + 1, 3 * BatchSize} {
			if err := c.CheckTag(hmacSumSize, fmt.Sprintf("%x", ops[string(c)](serve.Message(hmacSumSize), n))); err != nil {
				t.Errorf("%s, %d messages: %v", c, n, err)
			}
		}
	}
	msg, tag := serve.Message(1500), ops["fastmac:hmac-sha512:batch"]
	tag(msg, 1)
	if allocs := testing.AllocsPerRun(3, func() { tag(msg, BatchSize) }); allocs >= BatchSize && !fips140.Enabled() {
		t.Errorf("a second run allocates %v times: are messages copied within it?", allocs)
	}
	keys := newBatch(nil, 32, 0).keys
	seen := make(map[string]bool)
	for _, k := range keys {
		seen[string(k)] = true
	}
	if len(seen) != BatchSize || !bytes.Equal(keys[BatchSize-1], serve.Key[:]) {
		t.Errorf("%d keys, the last %x", len(seen), keys[BatchSize-1])
	}
}

// brokenGCM is a cipher.AEAD with a fault.
type brokenGCM struct {
	cipher.AEAD
	fault string
}

func (g brokenGCM) Seal(dst, nonce, plaintext, data []byte) []byte {
	if g.fault == "seals nothing" {
		return dst[:len(plaintext)+16]
	}
	return g.AEAD.Seal(dst, nonce, plaintext, data)
}

func (g brokenGCM) Open(dst, nonce, ciphertext, data []byte) ([]byte, error) {
	plaintext, err := g.AEAD.Open(nil, nonce, ciphertext, data)
	switch g.fault {
	case "opens nothing":
		return dst, err
	case "does not decrypt":
		return append(dst, ciphertext[:len(ciphertext)-16]...), err
	case "opens what is forged":
		return append(dst, plaintext...), nil
	}
	return append(dst, plaintext...), err
}

// TestBrokenGCM checks that peers fail that do not do what is timed.
func TestBrokenGCM(t *testing.T) {
	for _, test := range []struct {
		op    func(cipher.AEAD) serve.Op
		fault string
		ok    bool
	}{
		{seal, "", true},
		{seal, "seals nothing", false},
		{open, "", true},
		{open, "opens nothing", false},
		{open, "does not decrypt", false},
		{open, "opens what is forged", false},
	} {
		run := test.op(brokenGCM{newGCM(serve.Key[:32]), test.fault})
		for _, n := range []int{1, 3} {
			err := Seal.CheckTag(1500, fmt.Sprintf("%x", run(serve.Message(1500), n)))
			if (err == nil) != test.ok {
				t.Errorf("%q, %d messages: error %v", test.fault, n, err)
			}
		}
	}
}

func TestOnly(t *testing.T) {
	for pattern, want := range map[string]string{
		"^seal:(ring|OpenSSL):": "[seal[ring:aes256-gcm:seal OpenSSL:aes256-gcm:seal]]",
		":dchest:|^read:r":      "[message[dchest:siphash:oneshot] read[reading:memory:loop]]",
		"nobody":                "[]",
	} {
		var got []string
		for _, g := range Only(Groups, regexp.MustCompile(pattern)) {
			got = append(got, fmt.Sprint(g.Name, g.Contenders))
		}
		if fmt.Sprint(got) != want {
			t.Errorf("%s: %v, want %s", pattern, got, want)
		}
	}
	if all := Only(Groups, regexp.MustCompile("")); !reflect.DeepEqual(all, Groups) {
		t.Errorf("everything: %v", all)
	}
}

func TestStreams(t *testing.T) {
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
	if len(seen) != StreamCount || same > 20 {
		t.Errorf("%d streams after shuffling, %d of them where they were", len(seen), same)
	}
	for _, test := range [][3]int{{1, 10, 9}, {9, 10, 1}, {10, 10, 0}, {11, 10, 9}, {25, 10, 5}} {
		if got := firstTurn(test[0], test[1]); got != test[2] {
			t.Errorf("firstTurn(%d, %d) = %d, want %d", test[0], test[1], got, test[2])
		}
	}
	msg := serve.Message(64)
	one := s.gmac(true)(msg, 1)
	if lap := s.gmac(true)(msg, StreamCount+1); !bytes.Equal(one, lap) {
		t.Errorf("more than a lap ends in %x, want %x", lap, one)
	}
}

// TestSSHMACs checks whose HMAC-SHA-512 is measured under which name.
func TestSSHMACs(t *testing.T) {
	sshModes()
	for name, want := range map[string]bool{ssh.HMACSHA512ETM: false, fastmacSSH + ssh.HMACSHA512ETM: true} {
		if _, got := serve.NewSSHMAC(name).(*fastmac.HMAC); got != want {
			t.Errorf("%s is fastmac's: %v, want %v", name, got, want)
		}
	}
}
