// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package sha1

import (
	"crypto/sha1"
	"encoding/binary"
)

func iterate1SHA(it *iteration, n int) {
	m := HMAC{hash: sha1.New().(resumable)}
	m.key = m.room[:]
	for i, w := range []*words{&it.inner, &it.outer} {
		s := &m.key[i]
		copy(s[:], magic)
		w.encode(s.value())
		binary.BigEndian.PutUint64(s[len(s)-8:], BlockSize)
	}
	m.iterate(it, n)
}

func iteratePair1SHA(its *[2]iteration, n int) {
	iterate1SHA(&its[0], n)
	iterate1SHA(&its[1], n)
}
