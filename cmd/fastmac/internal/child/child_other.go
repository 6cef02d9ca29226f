// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

//go:build !unix

package child

import "os/exec"

// killTree leaves cmd as it is: its context kills only the process itself.
func killTree(*exec.Cmd) {}
