// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package sums

import (
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"golang.org/x/sys/windows"
)

// TestPrivate asks the system who has access to a new key file.
func TestPrivate(t *testing.T) {
	path := filepath.Join(t.TempDir(), "key")
	if err := WriteKey(path, "umac64", nil); err != nil {
		t.Fatal(err)
	}
	user, err := windows.GetCurrentProcessToken().GetTokenUser()
	if err != nil {
		t.Fatal(err)
	}
	access, err := windows.GetNamedSecurityInfo(path, windows.SE_FILE_OBJECT, windows.DACL_SECURITY_INFORMATION)
	if err != nil {
		t.Fatal(err)
	}
	// Wine adds the system, SY, which Windows lets in anyhow.
	entries := regexp.MustCompile(`\(A;[^)]*;([^;)]*)\)`).FindAllStringSubmatch(access.String(), -1)
	if len(entries) == 0 || strings.Count(access.String(), "(") != len(entries) {
		t.Errorf("the access list is %v", access)
	}
	for _, entry := range entries {
		if who := entry[1]; who != user.User.Sid.String() && who != "SY" {
			t.Errorf("%s has access, want only %v: %v", who, user.User.Sid, access)
		}
	}
	if err := WriteKey(path, "umac64", nil); err == nil || !strings.Contains(err.Error(), "exists") {
		t.Errorf("a key over a key: %v", err)
	}
}
