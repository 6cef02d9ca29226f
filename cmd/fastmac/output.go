// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"unicode"
	"unicode/utf16"

	"example.com/fastmac/cmd/fastmac/internal/list"
	"example.com/fastmac/cmd/fastmac/internal/terminal"
	"github.com/spf13/cobra"
)

// styleOf returns the style for the standard output of a command.
func styleOf(cmd *cobra.Command) terminal.Style {
	w := cmd.OutOrStdout()
	if out, ok := w.(*output); ok {
		w = out.Writer
	}
	return terminal.StyleOf(w)
}

// errorLine returns the line about an error. It has the name once: the errors of package fastmac
// begin with it too.
func errorLine(err error) string {
	return list.Printable(strings.ReplaceAll("fastmac: "+oneLine(err.Error()), ": fastmac: ", ": "))
}

// oneLine puts the lines of an error, such as one of the go command, into one. What a line that
// ends with a colon announces follows it.
func oneLine(text string) string {
	var b strings.Builder
	for line := range strings.Lines(text) {
		line = strings.TrimSpace(line)
		switch before := b.String(); {
		case line == "" || before == "":
		case strings.HasSuffix(before, ":"):
			b.WriteByte(' ')
		default:
			b.WriteString("; ")
		}
		b.WriteString(line)
	}
	return b.String()
}

// wrapped returns names for a help text, in lines of 80 columns that begin after 9.
func wrapped(names []string) string {
	const indent = "         "
	text := terminal.Plain.Wrap(indent, strings.Join(names, ", "))
	return strings.TrimSpace(text)
}

// complete makes the shell complete the values of an option that is a list of names.
func complete(cmd *cobra.Command, option string, names []string) {
	err := cmd.RegisterFlagCompletionFunc(option, func(_ *cobra.Command, _ []string, typed string) ([]string, cobra.ShellCompDirective) {
		before := typed[:strings.LastIndexByte(typed, ',')+1]
		var values []string
		for _, name := range names {
			values = append(values, before+name)
		}
		return values, cobra.ShellCompDirectiveNoFileComp
	})
	if err != nil {
		panic(err) // there is no such option
	}
}

// given makes an option that is given without a name an error of whoever checks the names.
func given(cmd *cobra.Command, option string, names *[]string) {
	if cmd.Flags().Changed(option) && len(*names) == 0 {
		*names = []string{""}
	}
}

// checkBuiltIn makes wrong arguments of cobra's own commands usage errors: by default
// help and completion print a help text for them and succeed. The output of root must be
// set before.
func checkBuiltIn(root *cobra.Command) {
	root.InitDefaultHelpCmd()
	root.InitDefaultCompletionCmd()
	for _, cmd := range root.Commands() {
		switch cmd.Name() {
		case "help":
			cmd.Args = func(cmd *cobra.Command, args []string) error {
				if _, rest, err := root.Find(args); err != nil || len(rest) > 0 {
					return usageErrorf(root, "help: unknown command %q", strings.Join(args, " "))
				}
				return nil
			}
			commands := cmd.ValidArgsFunction
			cmd.ValidArgsFunction = func(cmd *cobra.Command, args []string, typed string) ([]string, cobra.ShellCompDirective) {
				names, directive := commands(cmd, args, typed)
				for _, topic := range root.Commands() {
					if len(args) == 0 && topic.IsAdditionalHelpTopicCommand() && strings.HasPrefix(topic.Name(), typed) {
						names = append(names, topic.Name()+"\t"+topic.Short)
					}
				}
				return names, directive
			}
		case "completion":
			cmd.Args = func(cmd *cobra.Command, args []string) error {
				if len(args) > 0 {
					return usageErrorf(cmd, "completion: unknown shell %q", args[0])
				}
				return nil
			}
			cmd.RunE = func(cmd *cobra.Command, args []string) error { return cmd.Help() }
			for _, shell := range cmd.Commands() {
				shell.Args = noArguments
			}
		}
	}
}

// printJSON prints v on standard output, in characters that a terminal shows.
func printJSON(cmd *cobra.Command, v any) error {
	var text bytes.Buffer
	enc := json.NewEncoder(&text)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	if err := enc.Encode(v); err != nil {
		return err
	}
	_, err := io.WriteString(cmd.OutOrStdout(), escapeJSON(text.String()))
	return err
}

// escapeJSON returns JSON with escapes for the characters that list.Escape does not leave as
// they are. They are in strings only.
func escapeJSON(text string) string {
	var b strings.Builder
	for _, r := range text {
		switch {
		case r < 0x7f || list.Seen(r) && !unicode.IsMark(r):
			b.WriteRune(r)
		default:
			for _, unit := range utf16.AppendRune(nil, r) {
				fmt.Fprintf(&b, `\u%04x`, unit)
			}
		}
	}
	return b.String()
}
