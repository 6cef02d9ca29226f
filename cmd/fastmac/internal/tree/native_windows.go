// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package tree

import (
	"path/filepath"
	"strings"

	"golang.org/x/sys/windows"
)

// absoluteWindows is Absolute. Windows takes ".." away before it looks at links. A path that checkPath refuses stays
// as it is, and so is that of no other file.
func absoluteWindows(file string) string {
	if checkPath(file) != nil {
		return file
	}
	if !strings.HasPrefix(file, verbatim) {
		if abs, err := filepath.Abs(native(file)); err == nil {
			file = filepath.ToSlash(abs)
		}
	}
	return longNames(uniform(file))
}

// longNames returns a path with the whole names of what has short ones, such as PROGRA~1.
func longNames(path string) string {
	for end := len(path); strings.Contains(path[:max(end, 0)], "~"); end = strings.LastIndexByte(path[:end], '/') {
		if long, err := longPath(path[:end]); err == nil {
			return filepath.ToSlash(long) + path[end:]
		}
	}
	return path
}

// longPath returns the path of a file that exists, with long names.
func longPath(path string) (string, error) {
	short, err := windows.UTF16PtrFromString(path)
	if err != nil {
		return "", err
	}
	for buf := make([]uint16, windows.MAX_PATH); ; {
		n, err := windows.GetLongPathName(short, &buf[0], uint32(len(buf)))
		if err != nil {
			return "", err
		}
		if int(n) < len(buf) {
			return windows.UTF16ToString(buf[:n]), nil
		}
		buf = make([]uint16, n+1)
	}
}
