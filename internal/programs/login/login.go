// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

// Package login stores passwords as Django does, and verifies them: with PBKDF2, HMAC-SHA-256, and
// a number of iterations that may grow.
package login

import (
	"crypto/rand"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/base64"
	"fmt"
	"strconv"
	"strings"

	"example.com/fastmac/pbkdf2"
)

const (
	iterations = 600_000    // for new passwords
	most       = 10_000_000 // that Verify computes
)

// Hash returns what to store for a password.
func Hash(password string) (string, error) {
	return hash(password, rand.Text(), iterations)
}

func hash(password, salt string, iter int) (string, error) {
	key, err := pbkdf2.Key(sha256.New, password, []byte(salt), iter, sha256.Size)
	if err != nil {
		return "", err
	}
	return fmt.Sprintf("pbkdf2_sha256$%d$%s$%s", iter, salt, base64.StdEncoding.EncodeToString(key)), nil
}

// Verify reports whether stored is the hash of this password, and whether it has fewer iterations
// than a new one. If so, store Hash(password) instead.
func Verify(password, stored string) (ok, old bool, err error) {
	fields := strings.Split(stored, "$")
	if len(fields) != 4 {
		return false, false, fmt.Errorf("login: a hash of %d fields: want 4", len(fields))
	}
	if fields[0] != "pbkdf2_sha256" {
		return false, false, fmt.Errorf("login: algorithm %q: want pbkdf2_sha256", fields[0])
	}
	iter, err := strconv.Atoi(fields[1])
	if err != nil || iter < 1 || iter > most {
		return false, false, fmt.Errorf("login: %q iterations: want 1 to %d", fields[1], most)
	}
	want, err := hash(password, fields[2], iter)
	if err != nil {
		return false, false, err
	}
	ok = subtle.ConstantTimeCompare([]byte(stored), []byte(want)) == 1
	return ok, ok && iter < iterations, nil
}
