// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

// Package sshpatch holds the file that gives golang.org/x/crypto/ssh a public
// RegisterMAC. The command "fastmac patch-ssh" adds it. PROPOSAL.md is the text that asks the Go
// project for the function.
//
// The file works with x/crypto from v0.17.0 on, has its style and error prefix, and no Go newer than
// 1.18 except where a build tag allows it. Its name does not end in .go here,
// because it compiles only there. The compiler checks whether it fits an x/crypto;
// sshmac.Register has to check that when the program runs.
package sshpatch

import _ "embed"

// Oldest is the x/crypto that module sshmac requires, and so the oldest that a program
// with it can have. In a module with an older one the import of sshmac
// would select another version than the patched one.
const Oldest = "v0.56.0"

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
