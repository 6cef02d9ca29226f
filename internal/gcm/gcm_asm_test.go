// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

//go:build (amd64 || arm64) && !purego

package gcm

import (
	"testing"

	"example.com/fastmac/internal/mactest"
)

// TestInitAgain checks that a key has nothing of the one before, which was longer.
func TestInitAgain(t *testing.T) {
	mactest.ForAllKernels(t, mactest.GCM, func(t *testing.T) {
		var again, once Key
		for _, key := range []string{"an AES key of thirty-two bytes..", "one of sixteen.."} {
			if err := again.Init([]byte(key)); err != nil {
				t.Fatal(err)
			}
			once = Key{}
			if err := once.Init([]byte(key)); err != nil {
				t.Fatal(err)
			}
		}
		if again != once {
			t.Errorf("%+v, want %+v", again, once)
		}
	})
}
