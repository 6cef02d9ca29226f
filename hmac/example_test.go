// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package hmac_test

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"

	"example.com/fastmac/hmac"
)

// A webhook has the tag of its body in a header. These are the values in GitHub's documentation.
func Example() {
	secret, body := []byte("It's a Secret to Everybody"), "Hello, World!"
	header := "757107ea0eb2509fc211221cce984b8a37570b6d7586c22c46f4379c8b043e17"

	m := hmac.New(sha256.New, secret)
	io.WriteString(m, body)
	tag, err := hex.DecodeString(header)
	fmt.Println(err == nil && hmac.Equal(m.Sum(nil), tag))
	// Output: true
}
