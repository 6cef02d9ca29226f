// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package fastmac

import (
	"bytes"
	"encoding/binary"
	"testing"
)

// TestPadsWiped checks that a stream keeps no block of pads whose last nonce has
// been used, and that nonces in order make it compute several blocks at once.
func TestPadsWiped(t *testing.T) {
	if !useAESNI {
		t.Skip("needs AES instructions")
	}
	for _, size := range []int{4, 8, 12, 16} {
		k, err := NewUMACKey(make([]byte, 16), size)
		if err != nil {
			t.Fatal(err)
		}
		u := k.New()
		most := 0
		for counter := range uint64(100) {
			u.Sum(binary.BigEndian.AppendUint64(make([]byte, 0, 16), counter))
			s := &u.pads
			most = max(most, s.count)
			for i := 0; i < len(s.blocks); i += 16 {
				used := i/16 < s.first || i/16 >= s.first+s.count
				if wiped := bytes.Equal(s.blocks[i:][:16], make([]byte, 16)); wiped != used {
					t.Fatalf("%d bytes, nonce %d: block %d of %d from %d: wiped %v, used %v", size, counter, i/16, s.count, s.first, wiped, used)
				}
			}
			if last := counter%uint64(max(1, 16/size)) == uint64(max(1, 16/size)-1); size != 12 && last && s.number != (counter+1)*uint64(size)/16 {
				t.Errorf("%d bytes, after nonce %d the next block is %d", size, counter, s.number)
			}
		}
		if most < 7 {
			t.Errorf("%d bytes: at most %d blocks in store", size, most)
		}
	}
}
