// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package sums

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"strings"

	"example.com/fastmac/cmd/fastmac/internal/list"
	"example.com/fastmac/cmd/fastmac/internal/tree"
)

// shown returns a path for a message: as in a list, and on Windows with the backslashes that were typed, so that it
// can be pasted. No name has one there.
func shown(path string) string {
	if runtime.GOOS == "windows" {
		return list.Printable(path)
	}
	return list.Escape(path)
}

// about returns an error about a file, whose name it has once.
func about(path string, err error) error {
	if errors.Is(err, context.Canceled) {
		return err
	}
	return fmt.Errorf("%s: %s", shown(path), strings.TrimPrefix(reason(err).Error(), "fastmac: "))
}

// reason returns what an error says about a file, without its name.
func reason(err error) error {
	err = tree.Reason(err)
	if link, ok := err.(tree.LinkError); ok {
		return tree.LinkError(shown(string(link)))
	}
	return err
}
