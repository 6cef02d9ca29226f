// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

//go:build arm64 && (darwin || linux)

package native

import (
	"encoding/binary"
	"fmt"
	"syscall"
)

// Executable returns memory with code, which cannot be written any more. It is never both: macOS
// refuses that. When Linux or macOS makes a page executable for the first time, the CPU's instruction
// cache forgets what it has of it.
func Executable(code []uint32) ([]byte, error) {
	memory, err := syscall.Mmap(-1, 0, 4*len(code), syscall.PROT_READ|syscall.PROT_WRITE, syscall.MAP_PRIVATE|syscall.MAP_ANON)
	if err != nil {
		return nil, fmt.Errorf("memory for code: %w", err)
	}
	for k, w := range code {
		binary.LittleEndian.PutUint32(memory[4*k:], w)
	}
	if err := syscall.Mprotect(memory, syscall.PROT_READ|syscall.PROT_EXEC); err != nil {
		return nil, fmt.Errorf("executable memory: %w", err)
	}
	return memory, nil
}
