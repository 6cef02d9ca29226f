// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

// Package prefetch asks the CPU to load objects into its cache before they are needed. It is for
// batches over many keys, which the cache does not have.
package prefetch

import "unsafe"

//go:generate go run -C ../asm ./prefetch -out ../../internal/prefetch/prefetch_amd64.s
//go:generate go run -C ../asm ./neon -out ../../internal/prefetch/prefetch_arm64.s

// Group is the number of objects of a call of Lines. The generators have it too.
const Group = 4

// InUse says that Lines does something.
const InUse = inUse

// Lines asks the CPU to load the cache lines of each object that contain its bytes at the offsets,
// of which there is at least one. It reads nothing of the objects: they may be nil, and the
// offsets may be outside.
func Lines(objects *[Group]*byte, offsets []uint64) { lines(objects, offsets) }

// All calls Lines for all objects.
func All[T any](objects []*T, offsets []uint64) {
	for len(objects) > 0 && InUse {
		var group [Group]*byte
		for i := range group {
			group[i] = (*byte)(unsafe.Pointer(objects[min(i, len(objects)-1)]))
		}
		Lines(&group, offsets)
		objects = objects[min(Group, len(objects)):]
	}
}
