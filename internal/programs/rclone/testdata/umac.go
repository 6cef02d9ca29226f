// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package main

import (
	"log"

	"example.com/fastmac/sshmac"
)

// With this file beside the one with rclone's main, --sftp-macs accepts UMAC.
func init() {
	if err := sshmac.Register(); err != nil {
		log.Fatal(err)
	}
}
