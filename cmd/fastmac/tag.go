// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"example.com/fastmac/cmd/fastmac/internal/list"
	"example.com/fastmac/cmd/fastmac/internal/sums"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	"golang.org/x/term"
)

func tagCommand() *cobra.Command {
	var options sums.Options
	var atLeast string
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "tag -k KEYFILE FILE...",
		Short: "Print a list with the tags of files",
		Long: `Prints a list for "fastmac verify": a line with a tag for each file, and an end
line with a tag of all lines. "fastmac help lists" has more: lines and keys,
patterns, and what an update sees.

  fastmac tag -k KEYFILE -r FOLDER -o SUMS
  fastmac tag -k KEYFILE --update SUMS

KEYFILE has a key from "fastmac keygen". If it is -, the key comes from standard
input. If FILE is -, tag reads standard input.

With -r a folder stands for the files in it and in all folders below, sorted by
name: regular files and links to them. Links to folders and to nothing, pipes,
sockets and devices are left out, and named on standard error unless --quiet is
given. --exclude leaves out what a pattern of gitignore(5) matches, and a
warning names a pattern that matches nothing. --one-file-system leaves out
folders on other file systems than the folder above, and --exclude-caches all
files in cache folders except for their CACHEDIR.TAG. The list has patterns and
options, so that "fastmac verify --complete" knows them. FILE itself is never
left out by a pattern. If it is a link, pipe or device, tag follows or reads it.

--files-from and --files0-from read the names of files from a file, or from
standard input if it is -, as in:

  find . -type f -print0 | fastmac tag -k KEYFILE --files0-from - -o SUMS

With -o the list goes to a file, all at once when it is complete, and a list
that is there is not replaced unless --force is given. If a file cannot be read
or changes meanwhile, tag exits with 1 and writes no list, or without -o one
that has no end line. With --keep-going the list says which files these are.

--update LIST tags new files, and names them and those that are gone. If the
content of a file has changed, or if all files are new, the list stays as it
was, unless --accept-changes is given. Files with the size, the times and the
inode that they had are read only with --verify-all, or with --old-key, which
verifies all of them with the key that the list has. --label puts a text into
the list, which "fastmac verify --label" requires.

Exit status: 0 all files are tagged, 1 failure, 2 wrong usage, 130 interrupted.`,
		Args: func(cmd *cobra.Command, args []string) error {
			switch names := len(options.FilesFrom)+len(options.Files0From) > 0; {
			case len(args) > 0 && names:
				return usageErrorf(cmd, `tag: "%s" and names from a file: want one of them`, args[0])
			case len(args) == 0 && !names && options.Update == "":
				return usageErrorf(cmd, "tag: no files: want at least one, or - for standard input")
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := checkTagOptions(cmd, &options, asJSON); err != nil {
				return err
			}
			files := []*string{&options.Output, &options.Update, &options.OldKeyFile}
			if err := addFloor(cmd, &options, atLeast, &files); err != nil {
				return err
			}
			stop, err := finish(cmd, &options, args, files...)
			if err != nil {
				return err
			}
			defer stop()
			out, ok := options.Stdout.(*os.File)
			if ok && options.Zero && (options.Output == "" || options.Output == "-") && term.IsTerminal(int(out.Fd())) {
				return usageErrorf(cmd, "tag: -z escapes nothing, and standard output is a terminal: want -o FILE, a file or a pipe")
			}
			if asJSON {
				options.Changes = new(sums.Changes)
			}
			err = keyError(cmd, sums.Tag(cmd.Context(), options, args))
			if asJSON && options.Changes.Files != nil {
				if err := printJSON(cmd, options.Changes); err != nil {
					return err
				}
			}
			return err
		},
	}
	addSumsOptions(cmd, &options)
	flags := cmd.Flags()
	flags.StringVar(&atLeast, "at-least", "", "update no list with a serial number below `NUMBER`")
	flags.BoolVar(&options.AcceptChanges, "accept-changes", false, "update a list in which files have changed")
	flags.StringArrayVar(&options.FilesFrom, "files-from", nil, "read names of files from this `FILE`, a line each")
	flags.StringArrayVar(&options.Files0From, "files0-from", nil, "read names that end with a NUL from this `FILE`")
	flags.BoolVar(&options.Force, "force", false, "replace the list that is in the file of -o")
	flags.BoolVar(&options.KeepGoing, "keep-going", false, "write a list also if files cannot be read")
	flags.StringVar(&options.Label, "label", "", "what the list is of, for verify --label `TEXT`")
	flags.StringVar(&options.OldKeyFile, "old-key", "", "the `KEYFILE` of the list that is updated")
	flags.StringVarP(&options.Output, "out", "o", "", "write the list to this `FILE` when it is complete")
	flags.BoolVarP(&options.Quiet, "quiet", "q", false, "do not name what is left out")
	flags.BoolVarP(&options.Recursive, "recursive", "r", false, "tag the files in folders")
	flags.StringVar(&options.Update, "update", "", "bring this `LIST` up to date")
	flags.BoolVar(&options.VerifyAll, "verify-all", false, "also read files that seem to be unchanged")
	flags.BoolVarP(&options.Zero, "zero", "z", false, "end lines with NUL, and escape nothing")
	addJSON(cmd, &asJSON)
	return cmd
}

// maxLabel is how long a label is at most, in bytes: its line must not be too long with all escapes.
const maxLabel = 4096

// checkTagOptions returns an error if options of tag do not fit together.
func checkTagOptions(cmd *cobra.Command, o *sums.Options, asJSON bool) error {
	given := func(names ...string) (found []string) {
		for _, name := range names {
			if cmd.Flags().Changed(name) {
				found = append(found, name)
			}
		}
		return found
	}
	for _, name := range given("out", "update", "old-key", "files-from", "files0-from") {
		if slices.Contains(valuesOf(cmd.Flag(name)), "") {
			want := "a file"
			if name == "out" {
				want = "a file for the list, or - for standard output"
			}
			return usageErrorf(cmd, `tag: --%s "": want %s`, name, want)
		}
	}
	switch {
	case len(given("label")) > 0 && o.Label == "":
		return usageErrorf(cmd, `tag: --label "": want a text`)
	case len(o.Label) > maxLabel:
		return usageErrorf(cmd, "tag: --label: %d bytes, want at most %d", len(o.Label), maxLabel)
	}
	for _, pair := range [][]string{{"out", "update"}, {"force", "update"}, {"files-from", "files0-from"}} {
		if both := given(pair...); len(both) == 2 {
			return usageErrorf(cmd, "tag: --%s and --%s cannot be combined", both[0], both[1])
		}
	}
	needs := func(ok bool, need string, names ...string) error {
		if found := given(names...); !ok && len(found) > 0 {
			return usageErrorf(cmd, "tag: --%s needs %s", found[0], need)
		}
		return nil
	}
	toFile := o.Update != "" || o.Output != "" && o.Output != "-"
	switch {
	case o.KeyFile == "":
		return usageErrorf(cmd, "tag: -k KEYFILE is missing: make a key with fastmac keygen")
	case o.Update == "-":
		return usageErrorf(cmd, "tag: --update -: want a file with a list")
	case o.OldKeyFile != "" && o.KeepGoing:
		return usageErrorf(cmd, "tag: --old-key and --keep-going cannot be combined: a file that cannot be read would lose its tag")
	}
	return cmp.Or(
		needs(o.Update != "", "--update", "accept-changes", "at-least", "old-key", "verify-all"),
		needs(o.Output != "" && o.Output != "-", "-o FILE", "force"),
		needs(o.Recursive || o.Update != "", "-r", "exclude", "exclude-from", "exclude-caches", "one-file-system"),
		needs(toFile, "-o FILE or --update", "json"),
	)
}

// addFloor sets AtLeast to what --at-least has, and adds its file to the files, if the option is given.
func addFloor(cmd *cobra.Command, options *sums.Options, text string, files *[]*string) (err error) {
	if !cmd.Flags().Changed("at-least") {
		return nil
	}
	if options.AtLeast, err = sums.ParseFloor(text); err != nil {
		return usageErrorf(cmd, "%s: --at-least: %w", cmd.Name(), err)
	}
	*files = append(*files, &options.AtLeast.File)
	return nil
}

// addSumsOptions adds the options that tag and verify have.
func addSumsOptions(cmd *cobra.Command, options *sums.Options) {
	flags := cmd.Flags()
	flags.StringVarP(&options.KeyFile, "key", "k", "", "the file with the key")
	addAlgorithm(cmd, &options.Algorithm, "")
	flags.IntVarP(&options.Jobs, "jobs", "j", 0, "how many cores to use; 0 means all")
	flags.StringArrayVar(&options.Exclude, "exclude", nil, "leave out what this `PATTERN` matches in folders")
	flags.StringArrayVar(&options.ExcludeFrom, "exclude-from", nil, "leave out what the patterns in this `FILE` match")
	flags.BoolVar(&options.ExcludeCaches, "exclude-caches", false, "leave out files in folders with a CACHEDIR.TAG")
	flags.BoolVar(&options.OneFileSystem, "one-file-system", false, "leave out folders on other file systems")
	flags.BoolVar(&options.MinimalStat, "minimal-stat", false, "where inode numbers change at each look")
	flags.StringP("directory", "C", "", "the `FOLDER` in which the paths of files begin")
	cmd.MarkFlagDirname("directory")
}

// patience is how long tag and verify may go on after an interrupt, to remove a list that is not
// complete. A system call for a file on a server that is down may never return.
const patience = 700 * time.Millisecond

// exitAfter ends the process some time after ctx is done, unless stop is called before.
func exitAfter(ctx context.Context, stderr io.Writer) (stop func()) {
	stopped := make(chan struct{})
	go func() {
		select {
		case <-ctx.Done():
		case <-stopped:
			return
		}
		select {
		case <-time.After(patience):
			fmt.Fprintln(stderr, "fastmac: interrupted")
			os.Exit(exitInterrupted)
		case <-stopped:
		}
	}()
	return func() { close(stopped) }
}

// finish checks the options of tag and verify, adds the standard streams, and goes to the folder of
// -C, where all files except these are. From then on an interrupt ends the process soon. The command
// calls stop at its end.
func finish(cmd *cobra.Command, options *sums.Options, args []string, files ...*string) (stop func(), err error) {
	if options.Jobs < 0 {
		return nil, usageErrorf(cmd, "%s: --jobs %d: want 0 or more", cmd.Name(), options.Jobs)
	}
	if options.Algorithm != "" {
		if err := checkAlgorithm(cmd, options.Algorithm); err != nil {
			return nil, err
		}
	}
	for _, pattern := range options.Exclude {
		if err := sums.CheckPattern(pattern); err != nil {
			return nil, usageErrorf(cmd, "%s: %w", cmd.Name(), err)
		}
	}
	if err := checkStdin(cmd, options, args); err != nil {
		return nil, err
	}
	options.Stdin, options.Stdout, options.Stderr = cmd.InOrStdin(), cmd.OutOrStdout(), cmd.ErrOrStderr()
	if out, ok := options.Stdout.(*output); ok {
		options.Stdout = out.Writer // tag has to know the file
	}
	folder := cmd.Flag("directory")
	if !folder.Changed {
		return exitAfter(cmd.Context(), options.Stderr), nil
	}
	before, err := os.Getwd()
	if err != nil {
		return nil, err
	}
	files = append(files, &options.KeyFile)
	for _, names := range [][]string{options.ExcludeFrom, options.FilesFrom, options.Files0From} {
		for i := range names {
			files = append(files, &names[i])
		}
	}
	for _, file := range files {
		if *file != "" && *file != "-" && !filepath.IsAbs(*file) {
			if *file, err = filepath.Abs(*file); err != nil { // on Windows \x and C:x are not below before
				return nil, err
			}
		}
	}
	if err := os.Chdir(folder.Value.String()); err != nil {
		return nil, fmt.Errorf("-C: %w", err)
	}
	stay := exitAfter(cmd.Context(), options.Stderr)
	return func() {
		stay()
		os.Chdir(before)
	}, nil
}

// checkStdin returns an error if standard input is to be two things.
func checkStdin(cmd *cobra.Command, options *sums.Options, args []string) error {
	var stdin []string // what it is
	for _, name := range []string{"key", "old-key", "exclude-from", "files-from", "files0-from"} {
		if f := cmd.Flag(name); f != nil {
			for _, value := range valuesOf(f) {
				if value == "-" {
					stdin = append(stdin, "--"+name+" -")
				}
			}
		}
	}
	if slices.Contains(args, "-") {
		stdin = append(stdin, "the argument -")
	}
	if len(stdin) > 1 {
		return usageErrorf(cmd, "%s: %s: standard input can be one of them", cmd.Name(), strings.Join(stdin, " and "))
	}
	return nil
}

// valuesOf returns the values of an option, which may be given several times.
func valuesOf(f *pflag.Flag) []string {
	if all, ok := f.Value.(pflag.SliceValue); ok {
		return all.GetSlice()
	}
	return []string{f.Value.String()}
}

// keyError makes a usage error of the error for a key that needs -a.
func keyError(cmd *cobra.Command, err error) error {
	if _, ok := errors.AsType[list.NoAlgorithmError](err); ok {
		return usageErrorf(cmd, "%s: %w", cmd.Name(), err)
	}
	return err
}
