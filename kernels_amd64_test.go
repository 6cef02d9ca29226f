// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

//go:build !purego

package fastmac

// kernelFlags has a row for each set of kernels that a CPU may lack, best first: the
// flags that are then off. A new kernel gets a row here.
var kernelFlags = [][]*bool{
	{&useAVX512, &useVAES},
	{&useAVX2},
	{&useAES, &useVAES},
}
