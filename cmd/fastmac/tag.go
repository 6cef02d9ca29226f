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
	var asJSON bool
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
Links to folders and to nothing, pipes, sockets and devices in a folder are left
out, named on standard error unless --quiet is given, and counted. The file to
which the output goes is left out too. A folder without files is an error. If
FILE itself is a link, pipe or device, tag follows or reads it. Lists cannot be
joined: tag all files in one run, or verify each list.

--files-from and --files0-from read the names of files from a file, or from
standard input if it is -, as in:

  find . -type f -print0 | fastmac tag -k KEYFILE --files0-from - -o SUMS

--exclude leaves out what a pattern of gitignore(5) matches in the folders of
-r; --exclude-from reads patterns from a file such as .gitignore. Paths are
relative to the folder. A pattern with a slash before its end matches from there
on, others match a name at any depth; ** stands for folders, ! takes a pattern
back, and of several patterns the last one decides. Files that are arguments are
never left out. The list has a line "folder:  FOLDER" for each folder and a line
"exclude:  PATTERN" for each pattern, and the tag in its end line covers them.

tag uses all cores. With UMAC, except on Windows, it also uses them for a single
large file. If tag cannot read a file, or if the size, time or place of a file
changes meanwhile, tag reports an error, leaves this file out and goes on. The
list then has no end line, because files are missing from it. With --keep-going
it has one, and a line "unread:  FILE" for each such file, which verify reports;
the exit status is 1. On Windows the time of a file may change only when the
program that writes to it closes it. Paths have slashes, on Windows too, so a
list can be verified on other systems.

With -o the list goes to a file, all at once when it has its end line. Until
then, and if tag fails or is interrupted, the file stays as it was. A list that
is there is not replaced, unless --force is given. Use -o where redirection with
> writes UTF-16, as in Windows PowerShell. tag refuses a standard output that
appends to a file (>>). If it is a file that has something in it, tag says so,
writes the list, which verify will refuse, and exits with 1.

--update LIST brings a list up to date, which must be as it was written. Files
whose size and times are as they were keep their lines, and are read only with
--verify-all. The folders of the list are searched for new files; FILE adds a
file, and with -r a folder. New files are named and tagged, and those that are
gone are named, which the new list does not have. Files whose content has
changed are named too, and then the list stays as it was, unless
--accept-changes is given, as it does if none of its files is there. With
--keep-going a file that cannot be read keeps its line. The patterns of the list
stay, and --exclude adds some. With --old-key the list has that key: all files
are read, verified with it, and tagged with the one in KEYFILE.

For an update a line of the list has the size of the file, and the times of its
last change of content and of status in nanoseconds since 1970, as in
ALGORITHM:NONCE:TAG:SIZE:MTIME:CTIME. They are missing where a file was changed
less than two seconds before it was read, as another change could leave them as
they are: an update reads such a file. verify does not look at them.

-C is the folder in which the paths of files begin. KEYFILE, the list and files
with names or patterns are where they were without it.

--json prints an object about a list that goes to a file: how many files are in
it, and those that are not as they were in the list of before.

Anyone who can write to the files and to the list can restore an old state of
all files, with its list. Keep the list where others cannot write.

Use a UMAC key for at most 2^48 files, and a GMAC key, whose nonces have only 12
bytes, for at most 2^32. Nonces are random bytes from the system. A virtual
machine may repeat them after it has gone back to a snapshot.

Exit status: 0 all files are tagged, 1 failure, 2 wrong usage, 130 interrupted.`,
		Args: func(cmd *cobra.Command, args []string) error {
			switch names := options.FilesFrom != "" || options.Files0From != ""; {
			case len(args) > 0 && names:
				return usageErrorf(cmd, "tag: %q and names from a file: want one of them", args[0])
			case len(args) == 0 && !names && options.Update == "":
				return usageErrorf(cmd, "tag: no files: want at least one, or - for standard input")
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := checkTagOptions(cmd, &options, asJSON); err != nil {
				return err
			}
			stop, err := finish(cmd, &options, args, &options.Output, &options.Update, &options.OldKeyFile, &options.FilesFrom, &options.Files0From)
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
	flags.BoolVar(&options.AcceptChanges, "accept-changes", false, "update a list in which files have changed")
	flags.StringVar(&options.FilesFrom, "files-from", "", "read names of files from this `FILE`, a line each")
	flags.StringVar(&options.Files0From, "files0-from", "", "read names that end with a NUL from this `FILE`")
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
		if cmd.Flag(name).Value.String() == "" {
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
		needs(o.Update != "", "--update", "accept-changes", "old-key", "verify-all"),
		needs(o.Output != "" && o.Output != "-", "-o FILE", "force"),
		needs(o.Recursive || o.Update != "", "-r", "exclude", "exclude-from"),
		needs(toFile, "-o FILE or --update", "json"),
	)
}

// addSumsOptions adds the options that tag and verify have.
func addSumsOptions(cmd *cobra.Command, options *sums.Options) {
	flags := cmd.Flags()
	flags.StringVarP(&options.KeyFile, "key", "k", "", "the file with the key")
	addAlgorithm(cmd, &options.Algorithm, "")
	flags.IntVarP(&options.Jobs, "jobs", "j", 0, "how many cores to use; 0 means all")
	flags.StringArrayVar(&options.Exclude, "exclude", nil, "leave out what this `PATTERN` matches in folders")
	flags.StringArrayVar(&options.ExcludeFrom, "exclude-from", nil, "leave out what the patterns in this `FILE` match")
	flags.BoolVar(&options.MinimalStat, "minimal-stat", false, "for file systems whose inode numbers change")
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
	for i := range options.ExcludeFrom {
		files = append(files, &options.ExcludeFrom[i])
	}
	for _, file := range files {
		if *file != "" && *file != "-" && !filepath.IsAbs(*file) {
			*file = filepath.Join(before, *file)
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
	cmd.Flags().Visit(func(f *pflag.Flag) {
		if f.Name != "out" && f.Value.String() == "-" {
			stdin = append(stdin, "--"+f.Name+" -")
		}
	})
	for _, path := range options.ExcludeFrom {
		if path == "-" {
			stdin = append(stdin, "--exclude-from -")
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

// keyError makes a usage error of the error for a key that needs -a.
func keyError(cmd *cobra.Command, err error) error {
	if _, ok := errors.AsType[list.NoAlgorithmError](err); ok {
		return usageErrorf(cmd, "%s: %w", cmd.Name(), err)
	}
	return err
}
