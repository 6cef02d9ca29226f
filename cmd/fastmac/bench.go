// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package main

import (
	"time"

	"example.com/fastmac/cmd/fastmac/internal/bench"
	"github.com/spf13/cobra"
)

// benchCommand returns the command that calls run with its options.
func benchCommand(run func(*cobra.Command, bench.Options, bool) error) *cobra.Command {
	var asJSON, quick bool
	options := bench.Options{Duration: time.Minute}
	cmd := &cobra.Command{
		Use:   "bench",
		Short: "Compare the speed of MACs on this machine",
		Long: `Compares the speed of package fastmac's MACs on this machine with
crypto/cipher's GMAC, x/crypto's Poly1305, and crypto/hmac, which x/crypto/ssh
uses too. Messages have 32 bytes, 1 KiB, 16 KiB and 1 MiB. First checks that
equal MACs have equal tags, and then measures for a minute.

All cases take turns of 150 microseconds, so they meet the same quiet moments of
the machine, and the times shown are from quiet moments. If even these differ by
more than 10 %, a figure has a tilde and fewer digits. With --quick a figure is
left out if they differ by more than 15 %, because a busy machine may have no
quiet moment in ten seconds.

Exit status: 0 done, 1 failed, 2 wrong usage, 130 interrupted.`,
		Args: noArguments,
		RunE: func(cmd *cobra.Command, args []string) error {
			if quick {
				options.Duration, options.LeaveOut = 10*time.Second, true
			}
			options.Style = styleOf(cmd)
			return run(cmd, options, asJSON)
		},
	}
	cmd.Flags().BoolVar(&quick, "quick", false, "measure for 10 seconds instead of a minute")
	addJSON(cmd, &asJSON)
	return cmd
}

// runBench measures and prints the report.
func runBench(cmd *cobra.Command, options bench.Options, asJSON bool) error {
	r, err := bench.Run(cmd.Context(), options, cmd.ErrOrStderr())
	if err != nil {
		return err
	}
	return show(cmd, r, asJSON)
}
