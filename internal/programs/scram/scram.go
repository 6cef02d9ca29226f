// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

// Package scram derives the key of a client of SCRAM-SHA-256, RFC 7677.
package scram

import (
	"crypto/sha256"
	"fmt"

	"example.com/fastmac/pbkdf2"
)

// Whoever claims to be the server chooses the number of iterations, before it has proved who it is.
const (
	least = 4096    // RFC 7677, section 4; with fewer a false server guesses the password sooner
	most  = 600_000 // more would keep the client busy
)

// SaltedPassword returns the key from which all others are made. The password is normalized.
func SaltedPassword(password string, salt []byte, iterations int) ([]byte, error) {
	if iterations < least || iterations > most {
		return nil, fmt.Errorf("scram: %d iterations: want %d to %d", iterations, least, most)
	}
	return pbkdf2.Key(sha256.New, password, salt, iterations, sha256.Size)
}
