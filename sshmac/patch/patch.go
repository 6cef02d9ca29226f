// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

// Package patch holds the file that gives golang.org/x/crypto/ssh a public
// RegisterMAC, for the command "fastmac patch-ssh". Programs have no use for it.
//
// The file is written for x/crypto from v0.17.0 on. It does not end in .go here, as
// it compiles only there. The compiler finds out whether it fits an x/crypto, where
// sshmac.Register has to when the program runs.
package patch

import _ "embed"

// The names of the files in the directory of x/crypto/ssh.
const (
	Name     = "registermac.go"
	TestName = "registermac_test.go"
)

// Source is the file, and Test its test.
var (
	//go:embed registermac.go.txt
	Source string

	//go:embed registermac_test.go.txt
	Test string
)
