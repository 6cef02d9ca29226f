// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package main

import (
	"example.com/fastmac/cmd/fastmac/internal/sums"
	"github.com/spf13/cobra"
)

func verifyCommand() *cobra.Command {
	var options sums.Options
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "verify -k KEYFILE SUMS",
		Short: "Verify the tags of files",
		Long: `Verifies the tags in SUMS, which "fastmac tag" has printed, or in standard input
if SUMS is -. Prints a line for each file:

  PATH: OK
  PATH: FAILED               the content or the line has changed, or the key is
                             another one
  PATH: FAILED open or read  standard error has the reason

If something is not right, a last line on standard error says how much. A line
that is malformed, or is for another algorithm than the key, counts as a
failure. So does a file that changes while it is read.

Help for tag says what KEYFILE may have, and against which changes tags do not
protect. Tags are compared in constant time.

Exit status: 0 all tags are right, 1 some are not or a file cannot be read, 2
wrong usage, 130 interrupted.`,
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) != 1 {
				return usageErrorf(cmd, "verify: %d files: want one with the lines of tag, or - for standard input", len(args))
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := finish(cmd, &options); err != nil {
				return err
			}
			r, err := sums.Verify(cmd.Context(), options, args[0], !asJSON)
			if err != nil {
				return keyError(cmd, err)
			}
			if asJSON {
				if err := printJSON(cmd, r); err != nil {
					return err
				}
			}
			return r.Err()
		},
	}
	addSumsOptions(cmd, &options)
	cmd.Flags().BoolVarP(&options.Quiet, "quiet", "q", false, "print no line for a file that is OK")
	addJSON(cmd, &asJSON)
	return cmd
}
