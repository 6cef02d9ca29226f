// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package fastmac

import "encoding/binary"

func tagEachAVX512(tags [][maxUMACTagSize]byte, k *uhashKey, batch []Message) {
	for i, m := range batch {
		x := pad{binary.LittleEndian.Uint64(tags[i][:]), binary.LittleEndian.Uint64(tags[i][8:])}
		tagOnlyAVX2(&tags[i], k, &noGroups, m.Data, uint64(len(m.Data)), x)
	}
}

func padEachVAES256(tags *umacTags, k *aesKey, batch []Message) { padEachGeneric(tags, k, batch) }
func padEachVAES(tags *umacTags, k *aesKey, batch []Message)    { padEachGeneric(tags, k, batch) }
