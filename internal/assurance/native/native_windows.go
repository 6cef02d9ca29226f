// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

//go:build arm64

package native

import (
	"encoding/binary"
	"fmt"
	"unsafe"

	"golang.org/x/sys/windows"
)

var flushInstructionCache = windows.NewLazySystemDLL("kernel32.dll").NewProc("FlushInstructionCache")

// Executable returns memory with code, which cannot be written any more.
func Executable(code []uint32) ([]byte, error) {
	size := uintptr(4 * len(code))
	address, err := windows.VirtualAlloc(0, size, windows.MEM_COMMIT|windows.MEM_RESERVE, windows.PAGE_READWRITE)
	if err != nil {
		return nil, fmt.Errorf("memory for code: %w", err)
	}
	// The garbage collector does not move or free it.
	memory := unsafe.Slice(*(**byte)(unsafe.Pointer(&address)), size)
	for k, w := range code {
		binary.LittleEndian.PutUint32(memory[4*k:], w)
	}
	var before uint32
	if err := windows.VirtualProtect(address, size, windows.PAGE_EXECUTE_READ, &before); err != nil {
		return nil, fmt.Errorf("executable memory: %w", err)
	}
	if ok, _, err := flushInstructionCache.Call(uintptr(windows.CurrentProcess()), address, size); ok == 0 {
		return nil, fmt.Errorf("instruction cache: %w", err)
	}
	return memory, nil
}
