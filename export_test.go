// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package fastmac

// ForAllKernels is for the tests of package fastmac_test.
var ForAllKernels = forAllKernels
