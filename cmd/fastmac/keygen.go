// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package main

import (
	"example.com/fastmac/cmd/fastmac/internal/list"
	"example.com/fastmac/cmd/fastmac/internal/sums"
	"github.com/spf13/cobra"
)

func keygenCommand() *cobra.Command {
	var algorithm, path string
	cmd := &cobra.Command{
		Use:   "keygen -o KEYFILE",
		Short: "Make a random key for tag and verify",
		Long: `Writes a new random key to KEYFILE, or to standard output if KEYFILE is -. Only
you can read the file (mode 0600; on Windows an access list). keygen never
overwrites a file. tag and verify warn if others can read the key, except on
Windows, where they do not check.

The file has one line with the algorithm, the key in hex, and its identifier:

  umac128 1a5cb34e0c0d4f2a8f6b7d9c3e2f1a0b 5bb1a3ba03b0cd21

Lists have the identifier too, so verify can say which key it needs. It is
derived from the key, and reveals only whether two keys are equal.

A key has 16 bytes for UMAC and GMAC, 32 for HMAC-SHA-256, and 64 for
HMAC-SHA-512. Never use a key with two algorithms: tag and verify check that.

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
	cmd.Flags().StringVarP(&path, "out", "o", "", "write the key to this new file")
	addAlgorithm(cmd, &algorithm, "umac128")
	return cmd
}

// addAlgorithm adds the option -a.
func addAlgorithm(cmd *cobra.Command, algorithm *string, value string) {
	cmd.Flags().StringVarP(algorithm, "algorithm", "a", value, "umac32, umac64, umac96, umac128, gmac,\nhmac-sha256 or hmac-sha512")
	complete(cmd, "algorithm", list.Names())
}

// checkAlgorithm returns an error if the value of -a is no algorithm.
func checkAlgorithm(cmd *cobra.Command, algorithm string) error {
	if err := list.CheckName(algorithm); err != nil {
		return usageErrorf(cmd, "%s: -a: %w", cmd.Name(), err)
	}
	return nil
}
