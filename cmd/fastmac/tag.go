// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package main

import (
	"errors"

	"example.com/fastmac/cmd/fastmac/internal/sums"
	"github.com/spf13/cobra"
)

func tagCommand() *cobra.Command {
	var options sums.Options
	cmd := &cobra.Command{
		Use:   "tag -k KEYFILE FILE...",
		Short: "Print the tags of files",
		Long: `Prints a line for each file, for "fastmac verify":

  ALGORITHM:NONCE:TAG  PATH

The nonce and the tag are in hex. The nonce is random and fresh for each file,
so the lines of two runs differ. HMAC-SHA-512 has no nonce. A path with a
backslash, a newline or a carriage return is escaped as in the output of
sha512sum.

KEYFILE has a line with an algorithm and a key, as "fastmac keygen" writes it.
With -a it can also be a key in hex alone. UMAC and GMAC take keys of 16, 24 and
32 bytes, HMAC-SHA-512 takes keys of at least 32.

FILE - is standard input. With -r a folder stands for the files in it and in its
folders, sorted by name: regular files and links to them. Links to folders,
pipes, sockets and devices in a folder are left out. So is the file to which the
output goes. As arguments, links are followed, and pipes and devices are read.

All cores work on the files, and with UMAC also on one large file. A file that
cannot be read, or whose size, time or place changes while it is read, gets an
error and no line, and the others are tagged.

A tag is for the content of a file only. Whoever can write to the files and to
the lines can exchange two files together with their tags, bring an old file
back with its old tag, or remove both. Keep the lines where others cannot write.

Use a UMAC key for at most 2^48 files, and a GMAC key, whose nonces have only 12
bytes, for at most 2^32.

Exit status: 0 all files are tagged, 1 failure, 2 wrong usage, 130 interrupted.`,
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) == 0 {
				return usageErrorf(cmd, "tag: no files: want at least one, or - for standard input")
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := finish(cmd, &options); err != nil {
				return err
			}
			return keyError(cmd, sums.Tag(cmd.Context(), options, args))
		},
	}
	addSumsOptions(cmd, &options)
	cmd.Flags().BoolVarP(&options.Recursive, "recursive", "r", false, "tag the files in folders")
	return cmd
}

// addSumsOptions adds the options that tag and verify have.
func addSumsOptions(cmd *cobra.Command, options *sums.Options) {
	cmd.Flags().StringVarP(&options.KeyFile, "key", "k", "", "the file with the key")
	addAlgorithm(cmd, &options.Algorithm, "")
	cmd.Flags().IntVarP(&options.Jobs, "jobs", "j", 0, "how many cores to use; 0 is all")
}

// finish checks the options of tag and verify, and adds the standard streams.
func finish(cmd *cobra.Command, options *sums.Options) error {
	if options.KeyFile == "" {
		return usageErrorf(cmd, "%s: -k KEYFILE is missing: make a key with fastmac keygen", cmd.Name())
	}
	if options.Jobs < 0 {
		return usageErrorf(cmd, "%s: --jobs %d: want 0 or more", cmd.Name(), options.Jobs)
	}
	if options.Algorithm != "" {
		if err := checkAlgorithm(cmd, options.Algorithm); err != nil {
			return err
		}
	}
	options.Stdin, options.Stdout, options.Stderr = cmd.InOrStdin(), cmd.OutOrStdout(), cmd.ErrOrStderr()
	if out, ok := options.Stdout.(*output); ok {
		options.Stdout = out.Writer // tag has to know the file
	}
	return nil
}

// keyError makes a usage error of the error for a key that needs -a.
func keyError(cmd *cobra.Command, err error) error {
	if _, ok := errors.AsType[sums.NoAlgorithmError](err); ok {
		return usageErrorf(cmd, "%s: %w", cmd.Name(), err)
	}
	return err
}
