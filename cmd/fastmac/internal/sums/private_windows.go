// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package sums

import (
	"fmt"
	"io/fs"
	"os"
	"unsafe"

	"golang.org/x/sys/windows"
)

// createPrivate makes a new file that other users cannot read: its access list has this user
// only, and takes nothing from that of the folder.
func createPrivate(path string) (*os.File, error) {
	failed := func(err error) (*os.File, error) {
		return nil, &fs.PathError{Op: "open", Path: path, Err: err}
	}
	user, err := windows.GetCurrentProcessToken().GetTokenUser()
	if err != nil {
		return failed(err)
	}
	// D is the list of those who have access, P protects it from the folder's, FA is all access.
	access, err := windows.SecurityDescriptorFromString(fmt.Sprintf("D:P(A;;FA;;;%v)", user.User.Sid))
	if err != nil {
		return failed(err)
	}
	name, err := windows.UTF16PtrFromString(path)
	if err != nil {
		return failed(err)
	}
	attributes := windows.SecurityAttributes{SecurityDescriptor: access}
	attributes.Length = uint32(unsafe.Sizeof(attributes))
	h, err := windows.CreateFile(name, windows.GENERIC_WRITE, 0, &attributes, windows.CREATE_NEW, windows.FILE_ATTRIBUTE_NORMAL, 0)
	if err != nil {
		return failed(err)
	}
	return os.NewFile(uintptr(h), path), nil
}
