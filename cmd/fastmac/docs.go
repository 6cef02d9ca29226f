// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package main

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"

	"example.com/fastmac/cmd/fastmac/internal/list"
	"github.com/spf13/cobra"
	"github.com/spf13/cobra/doc"
)

func installDocsCommand() *cobra.Command {
	var prefix string
	cmd := &cobra.Command{
		Use:   "install-docs",
		Short: "Install man pages and shell completion",
		Long: `Writes a man page for each command and help topic, with the text of its help,
and completion for bash, zsh and fish. They go to the folders in PREFIX where
man and the shells look for them:

  share/man/man1
  share/bash-completion/completions
  share/zsh/site-functions
  share/fish/vendor_completions.d

PREFIX is .local in your home folder unless you give --prefix; for all users
give /usr/local. Zsh needs its folder in fpath. Replaces the files of an earlier
version, and prints the names of all files. For PowerShell see "fastmac
completion powershell --help".

Exit status: 0 success, 1 failure, 2 wrong usage.`,
		Args: noArguments,
		RunE: func(cmd *cobra.Command, args []string) error {
			if cmd.Flags().Changed("prefix") && prefix == "" {
				return usageErrorf(cmd, `install-docs: --prefix "": want a folder`)
			}
			if prefix == "" {
				home, err := os.UserHomeDir()
				if err != nil {
					return err
				}
				prefix = filepath.Join(home, ".local")
			}
			return installDocs(cmd, filepath.Join(prefix, "share"))
		},
	}
	cmd.Flags().StringVar(&prefix, "prefix", "", "the `FOLDER` to install to (default .local in your\nhome folder)")
	cmd.MarkFlagDirname("prefix")
	return cmd
}

// installDocs writes all files to folders in share, and prints their names.
func installDocs(cmd *cobra.Command, share string) error {
	write := func(name string, generate func(path string) error) error {
		path := filepath.Join(share, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			return err
		}
		if err := generate(path); err != nil {
			return err
		}
		_, err := fmt.Fprintln(cmd.OutOrStdout(), list.Printable(path))
		return err
	}
	// Another one, because the texts of its commands are changed.
	root := rootCommand()
	for _, c := range append(root.Commands(), root) {
		c.DisableAutoGenTag = true // has the date
		c.Long = markdown(c.Long)
		page := strings.ReplaceAll(c.CommandPath(), " ", "-") + ".1"
		err := write("man/man1/"+page, func(path string) error {
			f, err := os.Create(path)
			if err != nil {
				return err
			}
			defer f.Close()
			header := &doc.GenManHeader{Section: "1", Source: "fastmac", Manual: "Commands"}
			if err := doc.GenMan(c, header, f); err != nil {
				return err
			}
			return f.Close()
		})
		if err != nil {
			return err
		}
	}
	root = cmd.Root()
	for _, shell := range []struct {
		name     string
		generate func(path string) error
	}{
		{"bash-completion/completions/fastmac", func(path string) error { return root.GenBashCompletionFileV2(path, true) }},
		{"zsh/site-functions/_fastmac", root.GenZshCompletionFile},
		{"fish/vendor_completions.d/fastmac.fish", func(path string) error { return root.GenFishCompletionFile(path, true) }},
	} {
		if err := write(shell.name, shell.generate); err != nil {
			return err
		}
	}
	return nil
}

var heading = regexp.MustCompile("^[A-Z]+\n$")

var markdownSpecial = regexp.MustCompile("[\\\\`*_{}\\[\\]<>#|~&]")

// markdown returns a help text for cobra/doc, which reads Markdown: indented lines are tables
// and examples, which stay as they are, lines of capital letters are headings, and no character in others has a
// meaning.
func markdown(text string) string {
	var b strings.Builder
	for line := range strings.Lines(text) {
		switch {
		case strings.HasPrefix(line, "  "):
			b.WriteString("  " + line)
		case heading.MatchString(line):
			b.WriteString("## " + line)
		default:
			b.WriteString(markdownSpecial.ReplaceAllString(line, `\$0`))
		}
	}
	return b.String()
}
