// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package wipe

import (
	"crypto/aes"
	"crypto/sha512"
	"fmt"
	"reflect"
	"testing"
)

// TestValue overwrites states of the standard library. Printing them shows their contents.
func TestValue(t *testing.T) {
	block, err := aes.NewCipher([]byte("0123456789abcdef"))
	if err != nil {
		t.Fatal(err)
	}
	h := sha512.New()
	h.Write([]byte("message"))
	for _, v := range []any{block, h, &[]byte{1, 2}} {
		before := fmt.Sprintf("%#v", v)
		Value(v)
		if after := fmt.Sprintf("%#v", v); after == before || !reflect.ValueOf(v).Elem().IsZero() {
			t.Errorf("%s, before %s", after, before)
		}
	}
	// These have nothing to overwrite, and do not panic.
	Value(nil)
	Value((*int)(nil))
	Value(7)
}
