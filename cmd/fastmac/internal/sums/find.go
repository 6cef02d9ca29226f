// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package sums

import (
	"errors"
	"slices"
	"strings"
)

// withSlash returns the path of a folder so that a name can follow.
func withSlash(folder string) string {
	if strings.HasSuffix(folder, "/") {
		return folder
	}
	return folder + "/"
}

// withSlashes returns the paths of folders so that names can follow, sorted.
func withSlashes(folders []string) (sorted []string) {
	for _, folder := range folders {
		sorted = append(sorted, withSlash(folder))
	}
	slices.Sort(sorted)
	return sorted
}

// above returns which of the folders, from withSlashes, a path is below. If there are several it is
// the innermost one: it may be an argument that leads through a link, below another argument. If
// there is none it returns an empty string.
func above(folders []string, path string) string {
	for slash := strings.LastIndexByte(path, '/'); slash >= 0; slash = strings.LastIndexByte(path[:slash], '/') {
		if folder := path[:slash+1]; contains(folders, folder) {
			return folder
		}
	}
	return ""
}

func contains(sorted []string, s string) bool {
	_, found := slices.BinarySearch(sorted, s)
	return found
}

// errLink returns the error for a link that has taken the place of a folder.
func errLink(path string) error {
	return errors.New(Escape(path) + " is a link, and tag -r follows no links to folders")
}
