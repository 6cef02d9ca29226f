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
		Long: `Prints a list for "fastmac verify", a line for each file and an end line:

  ALGORITHM:NONCE:TAG  PATH
  end:ALGORITHM:KEY:LINES:TAG

Nonces and tags are in hex. The nonce is random and fresh for each file, so the
lines of two runs differ. HMAC-SHA-512 has no nonce, so its lines have two
colons there: hmac-sha512::TAG  PATH. KEY is the identifier of the key, which
tells only whether two keys are equal, and LINES the number of lines before.

A file's tag covers its content and nothing else. The end line's tag covers
every byte of the list up to the colon before it, so all lines and paths, in
order. It is HMAC-SHA-512 under another key, which HKDF with SHA-512 derives
from the one in KEYFILE (salt "fastmac list 1", info "list tag ALGORITHM"). No
file's tag is made with that key or reveals it, so a file with the content of a
list does not have the tag of that list, and a list has the tag of no file.

A path with a backslash, a newline or a carriage return is escaped as in the
output of sha512sum. So is a byte, as \xHH, of a character that is not seen or
that is not UTF-8, and a space at an end of the path or after another space.
With -z nothing is escaped, and lines end with a NUL.

KEYFILE has a line with an algorithm and a key, as "fastmac keygen" writes it,
and - is standard input. With -a it can also be a key in hex alone. UMAC and
GMAC take keys of 16, 24 and 32 bytes, HMAC-SHA-512 takes keys of at least 32.

FILE - is standard input. With -r a folder stands for the files in it and in its
folders, sorted by name: regular files and links to them. Links to folders,
pipes, sockets and devices in a folder are left out. So is the file to which the
output goes. A folder without files is an error. As arguments, links are
followed, and pipes and devices are read. Lists cannot be joined: tag all files
in one run, or verify each list.

All cores work on the files, and with UMAC also on one large file, except on
Windows. A file that cannot be read, or whose size, time or place changes while
it is read, gets an error and no line, and the others are tagged. The list then
has no end line, because files are missing from it. Windows may give a file
another time only when the program that writes it closes it. Paths have slashes,
on Windows too, so a list can be verified on other systems.

With -o the list appears in its file at once, when it has its end line. Until
then, and if tag fails or is interrupted, the file stays as it was. Use it where
> of the shell writes UTF-16, as in Windows PowerShell.

Whoever can write to the files and to the list can bring an old state of all
files back, with its list. Keep the list where others cannot write.

Use a UMAC key for at most 2^48 files, and a GMAC key, whose nonces have only 12
bytes, for at most 2^32. The nonces are the system's random bytes, which a
virtual machine may repeat when it goes back to a snapshot.

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
	cmd.Flags().StringVarP(&options.Output, "out", "o", "", "write the list to this `FILE`, at once and complete")
	cmd.Flags().BoolVarP(&options.Recursive, "recursive", "r", false, "tag the files in folders")
	cmd.Flags().BoolVarP(&options.Zero, "zero", "z", false, "end lines with NUL, and escape nothing")
	return cmd
}

// addSumsOptions adds the options that tag and verify have.
func addSumsOptions(cmd *cobra.Command, options *sums.Options) {
	cmd.Flags().StringVarP(&options.KeyFile, "key", "k", "", "the file with the key")
	addAlgorithm(cmd, &options.Algorithm, "")
	cmd.Flags().IntVarP(&options.Jobs, "jobs", "j", 0, "how many cores to use; 0 is all")
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
