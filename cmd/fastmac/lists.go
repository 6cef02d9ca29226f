// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package main

import "github.com/spf13/cobra"

// listsTopic is a help text without a command: what the helps of tag and verify have no room for.
func listsTopic() *cobra.Command {
	return &cobra.Command{
		Use:   "lists",
		Short: "What the lists of tag and verify have",
		Long: `What the lists of "fastmac tag" and "fastmac verify" have.

LINES

  fastmac list 2::  ALGORITHM                            the first line
  ALGORITHM:NONCE:TAG:SIZE:MTIME:CTIME:INODE  PATH       for each file
  folder:  FOLDER                                        of -r
  exclude:  PATTERN                                      left out there
  option:  OPTION                                        of --exclude-caches
                                                         and --one-file-system
  unread:  FILE                                          with --keep-going
  label:  TEXT                                           with --label
  serial:  N                                             an update adds 1
  time:  2026-11-29T05:43:34Z                            when it was written
  end2:ALGORITHM:KEY:LINES:TAG                           the end line

Nonces and tags are in hex. Each file gets a fresh random nonce, so the lines of
two runs differ. HMAC has no nonce, so its lines have two colons in that place.
KEY is the identifier of the key, which reveals only whether two keys are equal.
LINES is the number of lines before. docs/list-format.md has all of this.

The tag of a file covers its content and nothing else. The tag in the end line
covers all of the list before it: all lines and paths, in order. It is an
HMAC-SHA-512 under another key, which is derived from the one in KEYFILE, so no
list has the tag of a file, and no file the tag of a list. Lists cannot be
joined: tag all files in one run, or verify each list.

Anyone who can write to the files and to the list can restore an old state of
all files, with its list. Keep the list where others cannot write, or verify it
with --at-least and --label. Tags are compared in constant time.

KEYS

KEYFILE has a line with an algorithm and a key, as "fastmac keygen" writes it.
With -a a key in hex alone is enough. UMAC and GMAC take keys of 16, 24 and 32
bytes, HMAC takes keys of at least 32. Use a UMAC key for at most 2^48 files,
and a GMAC key, whose nonces have only 12 bytes, for at most 2^32. Nonces are
random bytes from the system. A virtual machine may repeat them after it has
gone back to a snapshot.

PATHS

A path with a backslash, a newline or a carriage return is escaped as in the
output of sha512sum. Also escaped, as \xHH, are characters that cannot be seen,
bytes that are not UTF-8, and spaces at either end of the path or after another
space. With -z nothing is escaped, and lines end with a NUL: verify needs -z
too. --json has paths unescaped, and if they are not UTF-8 their bytes as
path_base64. Paths have slashes, on Windows too, so a list can be verified on
other systems.

-C is the folder in which the paths of files begin. KEYFILE, the list and files
with names or patterns are where they were without it.

tag reads pipes, devices and standard input only if they are arguments, and
verify only with --special. A folder without files is an error, and the file to
which the output goes is left out. In the folders that tag -r has tagged verify
follows no links to folders.

PATTERNS

Patterns mean what they mean in gitignore(5); --exclude-from reads them from a
file such as .gitignore, before those of --exclude. Paths are relative to the
folder, so /a is FOLDER/a. A pattern with a slash before its end matches from
FOLDER on, others match a name at any depth; ** stands for folders, a slash at
the end means folders only, ! takes a pattern back, and of several patterns the
last one decides. What is in a folder that is left out is not looked at.

A cache folder has a CACHEDIR.TAG with the signature of bford.info/cachedir.
That file stays in the list, as in an archive of tar --exclude-caches: so nobody
hides a file by adding one. Links to files on other file systems are tagged with
--one-file-system too.

UPDATES

An update keeps the folders, patterns, options and label of the list, searches
the folders, and adds what its own arguments say. The size, the times of the
last change of content and of status, in nanoseconds since 1970, and the inode
tell it which files to read. A line has none of them where a file was changed
less than two seconds before it was read, and no inode where the file is on
another file system than the folder: an update reads such a file. With
--keep-going a file that cannot be read keeps its line.

With --at-least an update refuses an old list, as verify does, and raises the
number in a file. It waits for another update of the same list that runs, and
for verify. On Windows there is no time of the last change of status, and the
time of a file may change only when the program that writes to it closes it.

--minimal-stat is for file systems whose inode numbers, or times of folders,
change at each look: files and folders are then compared without these.`,
	}
}
