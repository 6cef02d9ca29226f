// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package mactest

import "os"

// Long reports whether the long cases run: FASTMAC_TEST_LONG is set, as in .ci/run.
func Long() bool { return os.Getenv("FASTMAC_TEST_LONG") != "" }
