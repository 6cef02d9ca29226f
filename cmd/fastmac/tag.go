// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package main

import (
	"errors"
	"os"
	"slices"

	"example.com/fastmac/cmd/fastmac/internal/sums"
	"github.com/spf13/cobra"
	"golang.org/x/term"
)

func tagCommand() *cobra.Command {
	var options sums.Options
	cmd := &cobra.Command{
		Use:   "tag -k KEYFILE FILE...",
		Short: "Print a list with the tags of files",
		Long: `Prints a list for "fastmac verify": a line for each file, and an end line.

  ALGORITHM:NONCE:TAG  PATH
  end:ALGORITHM:KEY:LINES:TAG

Nonces and tags are in hex. Each file gets a fresh random nonce, so the lines of
two runs differ. HMAC has no nonce, so its lines have two colons in that place:
hmac-sha256::TAG  PATH. KEY is the identifier of the key, which reveals only
whether two keys are equal. LINES is the number of lines before.

The tag of a file covers its content and nothing else. The tag in the end line
covers all of the list before it: all lines and paths, in order. Whatever
ALGORITHM is, it is an HMAC-SHA-512 under another key, which HKDF with SHA-512
derives from the one in KEYFILE (salt "fastmac list 1", info "list tag
ALGORITHM"). Files are not tagged with that key, and their tags do not reveal
it. So no list has the tag of a file, and no file the tag of a list.

A path with a backslash, a newline or a carriage return is escaped as in the
output of sha512sum. Also escaped, as \xHH, are characters that cannot be seen,
bytes that are not UTF-8, and spaces at either end of the path or after another
space. With -z nothing is escaped, and lines end with a NUL.

KEYFILE has a line with an algorithm and a key, as "fastmac keygen" writes it.
If it is -, the key comes from standard input. With -a a key in hex alone is
enough. UMAC and GMAC take keys of 16, 24 and 32 bytes, HMAC takes keys of at
least 32.

If FILE is -, tag reads standard input. With -r a folder stands for the files in
it and in all folders below, sorted by name: regular files and links to them.
Links to folders, pipes, sockets and devices in a folder are left out, and so is
the file to which the output goes. A folder without files is an error. If FILE
itself is a link, pipe or device, tag follows or reads it. Lists cannot be
joined: tag all files in one run, or verify each list.

tag uses all cores. With UMAC, except on Windows, it also uses them for a single
large file. If tag cannot read a file, or if the size, time or place of a file
changes meanwhile, tag reports an error, leaves this file out and goes on. The
list then has no end line, because files are missing from it. On Windows the
time of a file may change only when the program that writes to it closes it.
Paths have slashes, on Windows too, so a list can be verified on other systems.

With -o the list goes to a file, all at once when it has its end line. Until
then, and if tag fails or is interrupted, the file stays as it was. Use -o where
redirection with > writes UTF-16, as in Windows PowerShell.

Anyone who can write to the files and to the list can restore an old state of
all files, with its list. Keep the list where others cannot write.

Use a UMAC key for at most 2^48 files, and a GMAC key, whose nonces have only 12
bytes, for at most 2^32. Nonces are random bytes from the system. A virtual
machine may repeat them after it has gone back to a snapshot.

Exit status: 0 all files are tagged, 1 failure, 2 wrong usage, 130 interrupted.`,
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) == 0 {
				return usageErrorf(cmd, "tag: no files: want at least one, or - for standard input")
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			if options.KeyFile == "" {
				return usageErrorf(cmd, "tag: -k KEYFILE is missing: make a key with fastmac keygen")
			}
			if err := finish(cmd, &options, args); err != nil {
				return err
			}
			if cmd.Flags().Changed("out") && options.Output == "" {
				return usageErrorf(cmd, `tag: --out "": want a file for the list, or - for standard output`)
			}
			out, ok := options.Stdout.(*os.File)
			if ok && options.Zero && (options.Output == "" || options.Output == "-") && term.IsTerminal(int(out.Fd())) {
				return usageErrorf(cmd, "tag: -z escapes nothing, and standard output is a terminal: want -o FILE, a file or a pipe")
			}
			return keyError(cmd, sums.Tag(cmd.Context(), options, args))
		},
	}
	addSumsOptions(cmd, &options)
	cmd.Flags().StringVarP(&options.Output, "out", "o", "", "write the list to this `FILE` when it is complete")
	cmd.Flags().BoolVarP(&options.Recursive, "recursive", "r", false, "tag the files in folders")
	cmd.Flags().BoolVarP(&options.Zero, "zero", "z", false, "end lines with NUL, and escape nothing")
	return cmd
}

// addSumsOptions adds the options that tag and verify have.
func addSumsOptions(cmd *cobra.Command, options *sums.Options) {
	cmd.Flags().StringVarP(&options.KeyFile, "key", "k", "", "the file with the key")
	addAlgorithm(cmd, &options.Algorithm, "")
	cmd.Flags().IntVarP(&options.Jobs, "jobs", "j", 0, "how many cores to use; 0 means all")
}

// finish checks the options of tag and verify, and adds the standard streams.
func finish(cmd *cobra.Command, options *sums.Options, args []string) error {
	if options.Jobs < 0 {
		return usageErrorf(cmd, "%s: --jobs %d: want 0 or more", cmd.Name(), options.Jobs)
	}
	if options.Algorithm != "" {
		if err := checkAlgorithm(cmd, options.Algorithm); err != nil {
			return err
		}
	}
	if options.KeyFile == "-" && slices.Contains(args, "-") {
		return usageErrorf(cmd, "%s: -k - and the argument -: standard input can be one of them", cmd.Name())
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
