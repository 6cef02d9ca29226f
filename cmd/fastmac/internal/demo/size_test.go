// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package demo

import (
	"math"
	"math/big"
	"strings"
	"testing"

	"example.com/fastmac/internal/mactest"
)

func TestSize(t *testing.T) {
	for _, tt := range []struct {
		in   string
		want int64
		out  string
	}{
		{"1", 1, "1 bytes"},
		{"1000", 1000, "1000 bytes"},
		{"2048", 2048, "2 KiB"},
		{"3KiB", 3 << 10, "3 KiB"},
		{"64MiB", 64 << 20, "64 MiB"},
		{"1024MiB", 1 << 30, "1 GiB"},
		{"10GiB", 10 << 30, "10 GiB"},
		{"10 GiB", 10 << 30, "10 GiB"},
		{"4611686018427387903", math.MaxInt64 / 2, "4611686018427387903 bytes"},
	} {
		var s Size
		if err := s.Set(tt.in); err != nil || int64(s) != tt.want || s.String() != tt.out {
			t.Errorf("%q: %d, %q, %v; want %d, %q", tt.in, int64(s), &s, err, tt.want, tt.out)
		}
	}
}

func TestSizeErrors(t *testing.T) {
	const atMost, atLeast, whole = "want at most 4611686018427387903 bytes", "want at least 1 byte", "want whole bytes"
	for in, want := range map[string]string{
		"0": atLeast, "-5": atLeast, "-99999999999999999999": atLeast, "0GiB": atLeast,
		"64MB": whole, "1.5GiB": whole, "MiB": whole, "": whole,
		"4611686018427387904": atMost, "4294967296GiB": atMost, "99999999999999999999": atMost,
	} {
		s := Size(7)
		if err := s.Set(in); err == nil || !strings.HasPrefix(err.Error(), want) || s != 7 {
			t.Errorf("%q: %v, %v, want %q", in, s, err, want)
		}
	}
}

// FuzzSize compares with numbers of any size, and reads what String writes.
func FuzzSize(f *testing.F) {
	mactest.Seeds(f)
	for _, text := range []string{"1", "10 GiB", "+5KiB", "4611686018427387903", "4503599627370496 KiB", "-1", "1.5MiB", "00\t7MiB"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		var s, again Size
		digits, unit := text, int64(1)
		for _, u := range units {
			if rest, ok := strings.CutSuffix(text, u.suffix); ok {
				digits, unit = strings.TrimSpace(rest), u.bytes
			}
		}
		n, ok := new(big.Int).SetString(digits, 10)
		if ok {
			n.Mul(n, big.NewInt(unit))
			ok = n.Sign() > 0 && n.Cmp(big.NewInt(maxSize)) <= 0
		}
		err := s.Set(text)
		if (err == nil) != ok || ok && n.Int64() != int64(s) {
			t.Fatalf("%q: %d, %v, want %d, %v", text, int64(s), err, n, ok)
		}
		if ok && (again.Set(strings.TrimSuffix(s.String(), " bytes")) != nil || again != s) {
			t.Errorf("%q: %q, which is %d", text, &s, int64(again))
		}
	})
}
