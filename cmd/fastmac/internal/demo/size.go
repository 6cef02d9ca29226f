// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package demo

import (
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"
)

var units = []struct {
	suffix string
	bytes  int64
}{
	{"GiB", 1 << 30},
	{"MiB", 1 << 20},
	{"KiB", 1 << 10},
}

// A Size is a positive number of bytes, and a flag.
type Size int64

// maxSize keeps the sum of both directions within int64.
const maxSize = math.MaxInt64 / 2

func (s *Size) Set(text string) error {
	digits, unit := text, int64(1)
	for _, u := range units {
		if rest, ok := strings.CutSuffix(text, u.suffix); ok {
			digits, unit = strings.TrimSpace(rest), u.bytes
			break
		}
	}
	n, err := strconv.ParseInt(digits, 10, 64)
	switch {
	case errors.Is(err, strconv.ErrRange) && n > 0, err == nil && n > maxSize/unit:
		return fmt.Errorf("want at most %d bytes", int64(maxSize))
	case errors.Is(err, strconv.ErrRange), err == nil && n <= 0:
		return errors.New("want at least 1 byte")
	case err != nil:
		return errors.New("want whole bytes, such as 1000000, or a number with KiB, MiB or GiB, such as 64MiB")
	}
	*s = Size(n * unit)
	return nil
}

// String returns the size in the largest unit that divides it.
func (s *Size) String() string {
	for _, u := range units {
		if n := int64(*s); n > 0 && n%u.bytes == 0 {
			return fmt.Sprintf("%d %s", n/u.bytes, u.suffix)
		}
	}
	return fmt.Sprintf("%d bytes", int64(*s))
}

// Type is what the help calls the value.
func (s *Size) Type() string { return "SIZE" }
