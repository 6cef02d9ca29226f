// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

// Package wiped is what TestWipes leaves wipes out of.
package wiped

type secret[T any] struct {
	a, b [2]T
	m    map[int]T
}

func (s *secret[T]) Destroy() {
	s.m, s.a, s.b = map[int]T{}, [2]T{}, [2]T{}
}

func use(s *secret[int]) {
	defer s.Destroy()
	buf := []int{1}
	clear(buf)
}
