// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package main

import (
	"example.com/fastmac/cmd/fastmac/internal/sums"
	"github.com/spf13/cobra"
)

func keygenCommand() *cobra.Command {
	var algorithm, path string
	cmd := &cobra.Command{
		Use:   "keygen -o KEYFILE",
		Short: "Make a random key for tag and verify",
		Long: `Writes a new random key to KEYFILE, which only you can read (mode 0600, and on
Windows an access list), or to standard output if KEYFILE is -. A file that
exists is never overwritten. Later tag and verify warn if others can read it,
but not on Windows, where they do not look.

The file has one line, the algorithm, the key in hex, and its identifier:

  umac128 1a5cb34e0c0d4f2a8f6b7d9c3e2f1a0b 5bb1a3ba03b0cd21

The identifier is also in lists, so that verify can say which key it needs. It
is derived from the key, and tells others only whether two keys are equal. With
it in the key file, verify refuses lists without an end line.

UMAC and GMAC have keys of 16 bytes, HMAC-SHA-512 has one of 64. Use no key with
two algorithms: tag and verify check that.

Exit status: 0 success, 1 failure, 2 wrong usage.`,
		Args: noArguments,
		RunE: func(cmd *cobra.Command, args []string) error {
			if path == "" {
				return usageErrorf(cmd, "keygen: -o KEYFILE is missing: want a file for the key, or - for standard output")
			}
			if err := checkAlgorithm(cmd, algorithm); err != nil {
				return err
			}
			return sums.WriteKey(path, algorithm, cmd.OutOrStdout())
		},
	}
	cmd.Flags().StringVarP(&path, "out", "o", "", "the file for the key, which must not exist")
	addAlgorithm(cmd, &algorithm, "umac128")
	return cmd
}

// addAlgorithm adds the option -a.
func addAlgorithm(cmd *cobra.Command, algorithm *string, value string) {
	cmd.Flags().StringVarP(algorithm, "algorithm", "a", value, "umac32, umac64, umac96, umac128, gmac or\nhmac-sha512")
	complete(cmd, "algorithm", sums.Names())
}

// checkAlgorithm returns an error if the value of -a is no algorithm.
func checkAlgorithm(cmd *cobra.Command, algorithm string) error {
	if err := sums.CheckName(algorithm); err != nil {
		return usageErrorf(cmd, "%s: -a: %w", cmd.Name(), err)
	}
	return nil
}
