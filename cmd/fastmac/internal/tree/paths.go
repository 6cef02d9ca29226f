// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package tree

import (
	"slices"
	"strings"
)

// WithSlash returns the path of a folder so that a name can follow.
func WithSlash(folder string) string {
	if strings.HasSuffix(folder, "/") {
		return folder
	}
	return folder + "/"
}

// WithSlashes returns the paths of folders so that names can follow, sorted.
func WithSlashes(folders []string) (sorted []string) {
	for _, folder := range folders {
		sorted = append(sorted, WithSlash(folder))
	}
	slices.Sort(sorted)
	return sorted
}

// Above returns which of the folders, from WithSlashes, a path is below. If there are several it is
// the innermost one: it may be an argument that leads through a link, below another argument. If
// there is none it returns an empty string.
func Above(folders []string, path string) string {
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
