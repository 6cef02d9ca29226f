// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package tree

import (
	"os"

	"golang.org/x/sys/windows"
)

// place returns the serial number of the volume of i, at path, and the number of the file there, or 0. Volumes
// on which files can be opened by their numbers keep these: NTFS and ReFS do, and FAT and exFAT do not.
func (i Info) place(path string) (device, inode uint64) {
	f, err := os.Open(path)
	if err != nil {
		return 0, 0
	}
	defer f.Close()
	if there, err := f.Stat(); err != nil || i.identity.info == nil || !os.SameFile(there, i.identity.info) {
		return 0, 0 // path names another one now
	}
	var info windows.ByHandleFileInformation
	if windows.GetFileInformationByHandle(windows.Handle(f.Fd()), &info) != nil {
		return 0, 0
	}
	var flags uint32
	if windows.GetVolumeInformationByHandle(windows.Handle(f.Fd()), nil, 0, nil, nil, &flags, nil, 0) == nil && flags&windows.FILE_SUPPORTS_OPEN_BY_FILE_ID != 0 {
		inode = uint64(info.FileIndexHigh)<<32 | uint64(info.FileIndexLow)
	}
	return uint64(info.VolumeSerialNumber), inode
}
