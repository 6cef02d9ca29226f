// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package sums

import (
	"errors"
	"strings"
)

// withSlash returns the path of a folder so that a name can follow.
func withSlash(folder string) string {
	if strings.HasSuffix(folder, "/") {
		return folder
	}
	return folder + "/"
}

// withSlashes returns the paths of folders so that names can follow.
func withSlashes(folders []string) (all []string) {
	for _, folder := range folders {
		all = append(all, withSlash(folder))
	}
	return all
}

// above returns which of the folders, with their slashes, a path is below. If there are several it is the
// innermost one: it may be an argument that leads through a link, below another argument. If there
// is none it returns an empty string.
func above(folders []string, path string) (found string) {
	for _, folder := range folders {
		if len(folder) > len(found) && strings.HasPrefix(path, folder) {
			found = folder
		}
	}
	return found
}

// errLink returns the error for a link that has taken the place of a folder.
func errLink(path string) error { return errors.New(Escape(path) + " is now a link, not a folder") }
