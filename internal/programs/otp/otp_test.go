// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package otp

import (
	"errors"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// rfcKey is that of RFC 4226 appendix D and of RFC 6238 appendix B.
const rfcKey = "12345678901234567890"

// TestRFC has the passwords of both appendices, the second ones without their first two digits.
func TestRFC(t *testing.T) {
	for counter, want := range []string{"755224", "287082", "359152", "969429", "338314", "254676", "287922", "162583", "399871", "520489"} {
		if got := hotp([]byte(rfcKey), uint64(counter)); string(got[:]) != want {
			t.Errorf("counter %d: %s, want %s", counter, got, want)
		}
	}
	for seconds, want := range map[int64]string{59: "287082", 1111111109: "081804", 1111111111: "050471", 1234567890: "005924", 2000000000: "279037", 20000000000: "353130"} {
		if err := Verify(new(Memory), "alice", encoding.EncodeToString([]byte(rfcKey)), want, time.Unix(seconds, 0)); err != nil {
			t.Errorf("%d seconds: %v", seconds, err)
		}
	}
}

func at(step int64) time.Time { return time.Unix(period*step, 0) }

func password(step int64) string {
	code := hotp([]byte(rfcKey), uint64(step))
	return string(code[:])
}

func TestWindow(t *testing.T) {
	const now = 50_000_000
	key := encoding.EncodeToString([]byte(rfcKey))
	for step := int64(-3); step <= 3; step++ {
		err := Verify(new(Memory), "alice", key, password(now+step), at(now))
		if want := step >= -window && step <= window; (err == nil) != want {
			t.Errorf("a password of %d steps later: %v", step, err)
		}
	}
	for _, wrong := range []string{"", " ", password(now)[1:], password(now) + " ", " " + password(now), strings.Repeat("0", 100)} {
		if err := Verify(new(Memory), "alice", key, wrong, at(now)); !errors.Is(err, ErrWrong) {
			t.Errorf("%q: %v", wrong, err)
		}
	}
	for _, wrong := range []string{"", "ABC", key[:20], key[:len(key)-1] + "1", strings.ToLower(key)} {
		if err := Verify(new(Memory), "alice", wrong, password(now), at(now)); err == nil || errors.Is(err, ErrWrong) {
			t.Errorf("key %q: %v", wrong, err)
		}
	}
}

// TestUsed checks that no password is accepted twice, nor one before it, whoever comes first.
func TestUsed(t *testing.T) {
	const now = 50_000_000
	key, m := encoding.EncodeToString([]byte(rfcKey)), new(Memory)
	var accepted atomic.Int32
	var wait sync.WaitGroup
	for range maxAttempts {
		wait.Go(func() {
			if Verify(m, "alice", key, password(now), at(now)) == nil {
				accepted.Add(1)
			}
		})
	}
	wait.Wait()
	if accepted.Load() != 1 {
		t.Errorf("accepted %d times", accepted.Load())
	}
	if err := Verify(m, "bob", key, password(now), at(now)); err != nil {
		t.Errorf("another user: %v", err)
	}
	m = new(Memory)
	for _, test := range []struct {
		step int64
		want error
	}{{now, nil}, {now, ErrUsed}, {now - 1, ErrUsed}, {now + 1, nil}, {now, ErrUsed}} {
		if err := Verify(m, "alice", key, password(test.step), at(now)); !errors.Is(err, test.want) {
			t.Errorf("step %d: %v, want %v", test.step-now, err, test.want)
		}
	}
}

// TestAttempts checks how often a user may be wrong, and that right passwords do not count.
func TestAttempts(t *testing.T) {
	key, m := encoding.EncodeToString([]byte(rfcKey)), new(Memory)
	now := int64(50_000_000)
	for range 3 * maxAttempts {
		if err := Verify(m, "alice", key, password(now), at(now)); err != nil {
			t.Fatal(err)
		}
		now++
	}
	first := at(now)
	for range maxAttempts {
		if err := Verify(m, "alice", key, "wrong", first); !errors.Is(err, ErrWrong) {
			t.Fatal(err)
		}
	}
	for _, late := range []time.Duration{0, time.Hour, attemptTime - time.Hour} {
		when := first.Add(late)
		if err := Verify(m, "alice", key, password(when.Unix()/period), when); !errors.Is(err, ErrTooMany) {
			t.Errorf("after %v: %v", late, err)
		}
	}
	for i := range time.Duration(100) { // a clock that goes back
		if err := Verify(m, "alice", key, "wrong", first.Add(-i*time.Hour)); !errors.Is(err, ErrTooMany) {
			t.Fatalf("%d hours before: %v", i, err)
		}
	}
	when := first.Add(attemptTime)
	if err := Verify(m, "alice", key, password(when.Unix()/period), when); err != nil {
		t.Errorf("a day later: %v", err)
	}
}

type broken struct{ Store }

func (broken) Use(string, int64) (bool, error) { return true, errors.New("no database") }

func TestStoreFails(t *testing.T) {
	key := encoding.EncodeToString([]byte(rfcKey))
	if err := Verify(broken{new(Memory)}, "alice", key, password(1000), at(1000)); err == nil {
		t.Error("accepted")
	}
}

func TestNew(t *testing.T) {
	key := NewKey()
	if again := NewKey(); key == again || len(key) != 32 {
		t.Errorf("keys %q and %q", key, again)
	}
	if got, want := URI("Example Ltd", "alice@example.com", "ABC"), "otpauth://totp/Example%20Ltd:alice%40example.com?secret=ABC&issuer=Example%20Ltd"; got != want {
		t.Errorf("%s, want %s", got, want)
	}
	if got, want := URI("A&T", "b:c", "ABC"), "otpauth://totp/A%26T:b%3Ac?secret=ABC&issuer=A%26T"; got != want {
		t.Errorf("%s, want %s", got, want)
	}
}
