// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package tree

import (
	"errors"
	"fmt"
	"path/filepath"
	"runtime"
	"strings"
)

// Windows has several paths for one file, and for some paths another file than their names say. This file knows
// which, so that its rules can be tested everywhere.

// verbatim is what a path begins with in which Windows changes nothing.
const verbatim = "//?/"

// native returns a path, which has slashes, as the system takes it: one with backslashes can be verbatim.
func native(path string) string { return filepath.FromSlash(path) }

// checkPath returns an error if the system has another file at a path than its names say.
func checkPath(path string) error {
	if runtime.GOOS != "windows" {
		return nil
	}
	return checkWindows(filepath.ToSlash(path))
}

// checkWindows returns why Windows has another file at a path, which has slashes, than its names say.
func checkWindows(path string) error {
	if strings.HasPrefix(path, verbatim) {
		return nil
	}
	if rest, ok := strings.CutPrefix(path, "//./"); ok {
		if !isUNC(rest) && (!hasDrive(rest) || len(rest) == 2) {
			return nil // a device
		}
		path = rest
	}
	if hasDrive(path) {
		if drive := path[:2]; len(path) == 2 || path[2] != '/' {
			return fmt.Errorf(`begins in the current folder of that drive: want %s\ for the drive, or a path without %[1]s`, drive)
		}
		path = path[2:]
	} else if !strings.Contains(path, "/") && !filepath.IsLocal(path) && !strings.Contains(path, ":") {
		return nil // NUL and the like, which are meant
	}
	for name := range strings.SplitSeq(path, "/") {
		switch {
		case name == "" || name == "." || name == "..":
		case strings.Contains(name, ":"):
			return errors.New("a name with a colon, at which Windows has a stream of another file")
		case strings.HasSuffix(name, "."), strings.HasSuffix(name, " "):
			return errors.New(`a name with a dot or a space at its end, which Windows leaves out, except in an absolute path after \\?\`)
		case !filepath.IsLocal(name):
			return errors.New(`the name of a device on Windows, except in an absolute path after \\?\`)
		}
	}
	return nil
}

// hasDrive reports whether a path begins with the letter of a drive.
func hasDrive(path string) bool {
	return len(path) >= 2 && path[1] == ':' && ('a' <= path[0]|0x20 && path[0]|0x20 <= 'z')
}

// isUNC reports whether a path begins as that of a share after \\?\ or \\.\.
func isUNC(path string) bool { return len(path) > 4 && strings.EqualFold(path[:4], "UNC/") }

// uniform returns one path for the absolute paths of Windows, with slashes, that differ only in how they name
// the drive or the share. Those are the same in each case, on every system.
func uniform(path string) string {
	if rest, ok := strings.CutPrefix(path, verbatim); ok && checkWindows(rest) == nil || strings.HasPrefix(path, "//./") {
		if !ok {
			rest = path[len("//./"):]
		}
		switch {
		case hasDrive(rest) && len(rest) > 2 && rest[2] == '/':
			path = rest
		case isUNC(rest):
			path = "//" + rest[4:]
		}
	}
	volume := 0
	if hasDrive(path) {
		volume = 2
	} else if rest, ok := strings.CutPrefix(path, "//"); ok && !strings.HasPrefix(rest, "?/") && !strings.HasPrefix(rest, "./") {
		server := nameEnd(path, 2)
		volume = nameEnd(path, min(server+1, len(path)))
	}
	path = strings.ToUpper(path[:volume]) + path[volume:]
	if len(path) > 3 {
		path = strings.TrimRight(path, "/")
	}
	return path
}
