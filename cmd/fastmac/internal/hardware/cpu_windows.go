// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package hardware

import (
	"os"

	"golang.org/x/sys/windows/registry"
)

// cpuName returns the name that Windows has for the CPU, and its family and model, which some
// virtual machines leave out of the name.
func cpuName() string {
	name := "unknown CPU"
	if key, err := registry.OpenKey(registry.LOCAL_MACHINE, `HARDWARE\DESCRIPTION\System\CentralProcessor\0`, registry.QUERY_VALUE); err == nil {
		defer key.Close()
		if value, _, err := key.GetStringValue("ProcessorNameString"); err == nil {
			name = value
		}
	}
	return tidy(name) + " (" + os.Getenv("PROCESSOR_IDENTIFIER") + ")"
}
