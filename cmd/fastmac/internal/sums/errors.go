// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package sums

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"example.com/fastmac/cmd/fastmac/internal/list"
	"example.com/fastmac/cmd/fastmac/internal/tree"
)

// about returns an error about a file, whose name it has once.
func about(path string, err error) error {
	if errors.Is(err, context.Canceled) {
		return err
	}
	return fmt.Errorf("%s: %s", list.Escape(path), strings.TrimPrefix(reason(err).Error(), "fastmac: "))
}

// reason returns what an error says about a file, without its name.
func reason(err error) error {
	err = tree.Reason(err)
	if link, ok := err.(tree.LinkError); ok {
		return tree.LinkError(list.Escape(string(link)))
	}
	return err
}
