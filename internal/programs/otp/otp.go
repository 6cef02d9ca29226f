// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

// Package otp verifies the time-based one-time passwords of RFC 6238 that authenticator apps show: six
// digits of HMAC-SHA-1, a new one every 30 seconds.
package otp

import (
	"crypto/rand"
	"crypto/sha1"
	"crypto/subtle"
	"encoding/base32"
	"encoding/binary"
	"errors"
	"fmt"
	"net/url"
	"strings"
	"sync"
	"time"

	"example.com/fastmac"
	"example.com/fastmac/hmac"
)

const (
	digits  = 6
	modulus = 1_000_000 // 10^digits
	period  = 30        // seconds of a step
	window  = 1         // steps before and after the present one, RFC 6238 section 5.2

	keySize    = sha1.Size // of new keys in bytes, RFC 4226 section 4
	minKeySize = 16
)

var encoding = base32.StdEncoding.WithPadding(base32.NoPadding)

// NewKey returns a key for a user, in base32. Store it where passwords are, encrypted.
func NewKey() string {
	key := make([]byte, keySize)
	rand.Read(key)
	return encoding.EncodeToString(key)
}

// URI returns what an app reads from a QR code.
func URI(issuer, user, key string) string {
	escaped := func(s string) string { return strings.ReplaceAll(url.QueryEscape(s), "+", "%20") }
	return "otpauth://totp/" + escaped(issuer) + ":" + escaped(user) + "?secret=" + escaped(key) + "&issuer=" + escaped(issuer)
}

// A Store remembers what users did. Its methods are atomic, for all servers together: in SQL,
// UPDATE ... SET step = $2 WHERE name = $1 AND step < $2.
type Store interface {
	// Try counts an attempt, and reports whether the user may have it. Use takes it back.
	Try(user string, now time.Time) (bool, error)

	// Use reports whether step is later than those that were used before, and remembers it.
	Use(user string, step int64) (bool, error)
}

var (
	ErrWrong   = errors.New("otp: wrong password")
	ErrUsed    = errors.New("otp: the password, or a later one, was used before")
	ErrTooMany = errors.New("otp: too many attempts")
)

// Verify returns nil if password is the present one of the user with that key, the one before or the one
// after, and was not used. To somebody who is not logged in, all errors look the same.
func Verify(s Store, user, key, password string, now time.Time) error {
	secret, err := encoding.DecodeString(key)
	defer clear(secret)
	if err != nil || len(secret) < minKeySize {
		return fmt.Errorf("otp: the key of %q is not base32 of at least %d bytes", user, minKeySize)
	}
	if ok, err := s.Try(user, now); err != nil {
		return err
	} else if !ok {
		return ErrTooMany
	}
	present, found := now.Unix()/period, -1
	for i := range 2*window + 1 {
		code := hotp(secret, uint64(present-window+int64(i)))
		equal := subtle.ConstantTimeCompare(code[:], []byte(password))
		found = subtle.ConstantTimeSelect(equal, i, found)
	}
	if found < 0 {
		return ErrWrong
	}
	if ok, err := s.Use(user, present-window+int64(found)); err != nil {
		return err
	} else if !ok {
		return ErrUsed
	}
	return nil
}

// hotp returns the one-time password for a counter, RFC 4226 section 5.3. Nothing of the tag is an address.
func hotp(key []byte, counter uint64) (code [digits]byte) {
	h := hmac.New(sha1.New, key)
	if h, ok := h.(*fastmac.HMAC); ok {
		defer h.Destroy()
	}
	h.Write(binary.BigEndian.AppendUint64(nil, counter))
	tag := h.Sum(nil)
	var number uint32
	for i := range 16 {
		at := subtle.ConstantTimeByteEq(byte(i), tag[len(tag)-1]&15)
		number |= binary.BigEndian.Uint32(tag[i:]) & -uint32(at)
	}
	number = number & (1<<31 - 1) % modulus
	for i := range code {
		code[digits-1-i] = '0' + byte(number%10)
		number /= 10
	}
	return code
}

// Memory is a Store for one server. It forgets at a restart: then a password can be used once more.
type Memory struct {
	mu    sync.Mutex
	users map[string]*state
}

type state struct {
	step     int64     // the last that was used
	attempts int       // that were wrong
	since    time.Time // when the count began
}

// A user may be wrong so often in this time. Three passwords of a million are right, so whoever guesses for a
// year is right with a probability of 1 in 90. Ask for the one-time password after the other one: nobody else
// can then lock the user out.
const (
	maxAttempts = 10
	attemptTime = 24 * time.Hour
)

func (m *Memory) of(user string) *state {
	if m.users == nil {
		m.users = make(map[string]*state)
	}
	if m.users[user] == nil {
		m.users[user] = new(state)
	}
	return m.users[user]
}

func (m *Memory) Try(user string, now time.Time) (bool, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	s := m.of(user)
	if now.Sub(s.since) >= attemptTime {
		s.since, s.attempts = now, 0
	}
	s.attempts++
	return s.attempts <= maxAttempts, nil
}

func (m *Memory) Use(user string, step int64) (bool, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	s := m.of(user)
	if step <= s.step {
		return false, nil
	}
	s.step = step
	s.attempts-- // it was right
	return true, nil
}
