// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package main

import (
	"fmt"
	"slices"

	"example.com/fastmac/cmd/fastmac/internal/sums"
	"github.com/spf13/cobra"
)

func verifyCommand() *cobra.Command {
	var options sums.Options
	var asJSON bool
	var atLeast string
	cmd := &cobra.Command{
		Use:   "verify -k KEYFILE SUMS",
		Short: "Verify a list with the tags of files",
		Long: `Verifies the list SUMS, which "fastmac tag" has written, and the files that it
names. If SUMS is -, the list comes from standard input. Prints a line for each
file:

  PATH: OK
  PATH: FAILED               the content or the line has changed
  PATH: FAILED open or read  standard error has the reason
  PATH: NOT IN THE LIST      with --complete
  PATH: NOT TAGGED           tag --keep-going could not read it

A summary follows on standard error, except if all is right and --quiet is
given.

The list FAILED if lines or paths were cut, added, edited, moved or exchanged,
or if lists were joined. An error says so before the first file. verify still
verifies the files, and the exit status is 1. Then trust no path. A list without
an end line FAILED too: it was cut, a program such as grep made it, or tag could
not read all files. --partial accepts that, and files that are NOT TAGGED. If
the list was made with another key, verify says so and verifies no file.

With --complete verify also looks in a folder for files that the list does not
have. It leaves out the file of the list, and what tag -r has left out: links to
folders and the like, which it names, and what the patterns and options of the
list exclude. --exclude, --exclude-from, --exclude-caches and --one-file-system
exclude more. Success means that at one moment while verify ran the folder had
these files and no others.

With --label the list must have this label, and with --at-least this serial
number or a higher one, as old lists have lower ones. If NUMBER names a file,
the number is in that file, and after a success verify raises it there to the
one of the list. Begin with: echo 0 > FILE.

A line that is malformed or too long counts as a failure, and so does a file
that changes while it is read, or that is behind a link which has taken the
place of a folder below that of tag -r. -c is accepted because sha512sum has it.
"fastmac help lists" says what lists, keys and paths have.

Exit status: 0 the list and all tags are right, 1 something is not or a file
cannot be read, 2 wrong usage, 130 interrupted.`,
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) != 1 {
				return usageErrorf(cmd, "verify: %d files: want one list from fastmac tag, or - for standard input", len(args))
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			switch {
			case options.KeyFile == "":
				return usageErrorf(cmd, "verify: -k KEYFILE is missing: want the key of the list")
			case options.Partial && (options.Wanted != "" || atLeast != ""):
				return usageErrorf(cmd, "verify: --partial accepts a list that does not say which it is: no --label and --at-least")
			case cmd.Flags().Changed("label") && options.Wanted == "":
				return usageErrorf(cmd, `verify: --label "": want a text`)
			case options.Status && asJSON:
				return usageErrorf(cmd, "verify: --status and --json cannot be combined")
			case len(options.Exclude)+len(options.ExcludeFrom) > 0 && len(options.Complete) == 0:
				return usageErrorf(cmd, "verify: --exclude is for --complete")
			case options.ExcludeCaches && len(options.Complete) == 0:
				return usageErrorf(cmd, "verify: --exclude-caches is for --complete")
			case options.OneFileSystem && len(options.Complete) == 0:
				return usageErrorf(cmd, "verify: --one-file-system is for --complete")
			case slices.Contains(options.Complete, ""):
				return usageErrorf(cmd, `verify: --complete "": want a folder`)
			}
			files := []*string{&args[0]}
			if err := addFloor(cmd, &options, atLeast, &files); err != nil {
				return err
			}
			stop, err := finish(cmd, &options, args, files...)
			if err != nil {
				return err
			}
			defer stop()
			r, err := sums.Verify(cmd.Context(), options, args[0], !asJSON)
			if err != nil {
				return keyError(cmd, err)
			}
			if asJSON {
				if err := printJSON(cmd, r); err != nil {
					return err
				}
			}
			err = r.Err()
			switch {
			case err != nil && options.Status:
				return errSilent
			case err == nil && !options.Status && !options.Quiet && !asJSON:
				fmt.Fprintf(cmd.ErrOrStderr(), "fastmac: %s\n", r.Summary())
			}
			return err
		},
	}
	addSumsOptions(cmd, &options)
	flags := cmd.Flags()
	flags.BoolP("check", "c", false, "does nothing: verify always checks")
	flags.StringArrayVar(&options.Complete, "complete", nil, "also report files in this `FOLDER` that the list lacks")
	cmd.MarkFlagDirname("complete")
	flags.StringVar(&atLeast, "at-least", "", "fail if the serial number of the list is lower than\nthis `NUMBER`, or than that in a file, which is\nraised if all is right")
	flags.StringVar(&options.Wanted, "label", "", "fail if the label of the list is not this `TEXT`")
	flags.BoolVar(&options.IgnoreMissing, "ignore-missing", false, "do not fail if a file does not exist")
	flags.BoolVar(&options.Partial, "partial", false, "accept a list without an end line")
	flags.BoolVarP(&options.Quiet, "quiet", "q", false, "print only what is not right")
	flags.BoolVar(&options.Special, "special", false, "also read pipes, devices and standard input")
	flags.BoolVar(&options.Status, "status", false, "print no results, only set the exit status")
	flags.BoolVarP(&options.Zero, "zero", "z", false, "the list was made with tag -z")
	addJSON(cmd, &asJSON)
	return cmd
}
