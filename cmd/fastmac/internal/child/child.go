// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

// Package child makes commands that end when their context does.
package child

import (
	"bytes"
	"context"
	"os/exec"
	"time"
)

// KillDelay is how long the pipes of a killed process may stay open: another
// process may have inherited them.
const KillDelay = 2 * time.Second

// Command is like [exec.CommandContext]. On Unix, the end of ctx also kills what
// the process has started: an ssh in PATH may be a script that runs the real one.
func Command(ctx context.Context, name string, args ...string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, name, args...)
	cmd.WaitDelay = KillDelay
	killTree(cmd)
	return cmd
}

// A Head keeps the first bytes that are written to it, for error messages.
type Head struct{ bytes.Buffer }

func (h *Head) Write(p []byte) (int, error) {
	const limit = 4 << 10
	if room := limit - h.Len(); room > 0 {
		h.Buffer.Write(p[:min(len(p), room)])
	}
	return len(p), nil
}
