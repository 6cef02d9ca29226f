// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

// Command fastmac tags and verifies files with the MACs of package fastmac, tries them in SSH, and
// measures them on this machine. Its help lists all commands.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"os/signal"
	"runtime"
	"runtime/debug"
	"strings"

	"example.com/fastmac/cmd/fastmac/internal/demo"
	"example.com/fastmac/cmd/fastmac/internal/hardware"
	"example.com/fastmac/cmd/fastmac/internal/patchssh"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

const (
	exitOK          = 0
	exitFailed      = 1
	exitUsage       = 2
	exitInterrupted = 130 // 128 + SIGINT, as shells report it
)

const exitStatus = "Exit status: 0 success, 1 failure, 2 wrong usage, 130 interrupted."

// memoryLimit is more than lists of ten million files need, in bytes. Below it the garbage collector
// lets the heap have twice what is in use.
const memoryLimit = 1536 << 20

func main() {
	if debug.SetMemoryLimit(-1) == math.MaxInt64 { // no GOMEMLIMIT
		debug.SetMemoryLimit(memoryLimit)
	}
	ctx, stop := signal.NotifyContext(context.Background(), endingSignals()...)
	code := run(ctx, os.Args[1:], os.Stdout, os.Stderr)
	stop()
	os.Exit(code)
}

// run runs the command line args and returns the exit status.
func run(ctx context.Context, args []string, stdout, stderr io.Writer) int {
	out := &output{Writer: stdout}
	root := rootCommand()
	root.SetArgs(args)
	root.SetOut(out)
	root.SetErr(stderr)
	checkBuiltIn(root)
	err := root.ExecuteContext(ctx)
	if out.err != nil {
		err = out.err
	}
	switch {
	case err == nil:
		return exitOK
	case ctx.Err() != nil:
		fmt.Fprintln(stderr, "fastmac: interrupted")
		return exitInterrupted
	}
	if err != errSilent {
		fmt.Fprintln(stderr, errorLine(err))
	}
	if _, ok := errors.AsType[usageError](err); ok {
		return exitUsage
	}
	return exitFailed
}

// An output keeps the first error of a Writer: cobra ignores it.
type output struct {
	io.Writer
	err error
}

func (o *output) Write(p []byte) (int, error) {
	n, err := o.Writer.Write(p)
	if o.err == nil {
		o.err = err
	}
	return n, err
}

// errSilent is the error of a command that is to print none.
var errSilent = errors.New("failed")

// A usageError is a command line that is wrong.
type usageError struct{ error }

func usageErrorf(cmd *cobra.Command, format string, args ...any) error {
	return usageError{fmt.Errorf("%w; see %s --help", fmt.Errorf(format, args...), cmd.CommandPath())}
}

func rootCommand() *cobra.Command {
	root := &cobra.Command{
		Use:   "fastmac",
		Short: "Tag and verify files, and try the MACs of package fastmac",
		Long:  "fastmac tags and verifies files with the MACs of package fastmac, tries them in\nSSH, and measures them on this machine.\n\n" + exitStatus,
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) == 0 {
				return nil
			}
			hint := ""
			if names := cmd.SuggestionsFor(args[0]); len(names) > 0 {
				hint = " (did you mean " + strings.Join(names, " or ") + "?)"
			}
			return usageErrorf(cmd, "unknown command %q%s", args[0], hint)
		},
		RunE:                       func(cmd *cobra.Command, args []string) error { return cmd.Help() },
		Version:                    version(),
		SilenceErrors:              true,
		SilenceUsage:               true,
		SuggestionsMinimumDistance: 2,
	}
	root.SetVersionTemplate("fastmac {{.Version}}\n")
	root.SetFlagErrorFunc(func(cmd *cobra.Command, err error) error {
		return usageErrorf(cmd, "%s: %w", cmd.Name(), err)
	})
	root.AddCommand(keygenCommand(), tagCommand(), verifyCommand(), demoCommand(), benchCommand(runBench),
		hardwareCommand(), patchSSHCommand(), installDocsCommand(), versionCommand(), listsTopic())
	for _, cmd := range root.Commands() {
		cmd.Flags().VisitAll(func(f *pflag.Flag) {
			if _, many := f.Value.(pflag.SliceValue); !many && f.Value.Type() != "bool" {
				f.Value = &once{Value: f.Value}
			}
		})
	}
	return root
}

// once is the value of an option that is given once: of two, one would be taken for both.
type once struct {
	pflag.Value
	set bool
}

func (o *once) Set(text string) error {
	if o.set {
		return fmt.Errorf("it was given before, as %q", o.Value)
	}
	o.set = true
	return o.Value.Set(text)
}

// noArguments is the Args of commands that have options only.
func noArguments(cmd *cobra.Command, args []string) error {
	if len(args) > 0 {
		return usageErrorf(cmd, `%s: unexpected argument "%s"`, cmd.Name(), args[0])
	}
	return nil
}

func demoCommand() *cobra.Command {
	var asJSON bool
	options := demo.Options{Size: 64 << 20}
	cmd := &cobra.Command{
		Use:   "demo",
		Short: "Send data through SSH with each MAC of package sshmac",
		Long: `Starts an SSH server on 127.0.0.1 and sends data to it and back with each MAC of
package sshmac: with Go's SSH client and, if it is in PATH, with OpenSSH's,
which reads none of your files. Nothing leaves this machine. Compares the
content, and checks which algorithms both sides report. Other rows are for
comparison: aes128-gcm, which needs no MAC, and "no MAC", a MAC that does
nothing, which only this command has.

In the last rows OpenSSH's ssh uses its default algorithms, and the server has
those of x/crypto or of sshmac.ConfigureServer. Sentences below the table say
what ConfigureServer changes, and how much more CPU time each MAC takes than
none. They leave out rows with less than 50 ms of CPU time.

--mac and --cipher choose other rows instead. With --mac alone the cipher is
aes128-ctr.
MACs:    ` + wrapped(demo.MACs()) + `
ciphers: ` + wrapped(demo.Ciphers()) + `

Exit status: 0 every row passed, 1 a row failed or the ssh in PATH does not
work, 2 wrong usage, 130 interrupted.`,
		Args: noArguments,
		RunE: func(cmd *cobra.Command, args []string) error {
			if options.Port < 0 || options.Port > 65535 {
				return usageErrorf(cmd, "demo: --port %d: want 0 to 65535", options.Port)
			}
			given(cmd, "mac", &options.MACs)
			given(cmd, "cipher", &options.Ciphers)
			if err := options.Check(); err != nil {
				return usageErrorf(cmd, "demo: %w", err)
			}
			options.Style = styleOf(cmd)
			r, err := demo.Run(cmd.Context(), options, cmd.ErrOrStderr())
			if err != nil {
				return err
			}
			return show(cmd, r, asJSON)
		},
	}
	cmd.Flags().Var(&options.Size, "size", "bytes each way, such as 1000 or 512KiB")
	cmd.Flags().IntVar(&options.Port, "port", 0, "port of the server; 0 means any free port")
	cmd.Flags().StringSliceVar(&options.MACs, "mac", nil, "use only these `MACs`, such as umac-64-etm,none")
	cmd.Flags().StringSliceVar(&options.Ciphers, "cipher", nil, "use only these `ciphers`, such as aes256-ctr")
	complete(cmd, "mac", demo.MACs())
	complete(cmd, "cipher", demo.Ciphers())
	addJSON(cmd, &asJSON)
	return cmd
}

func hardwareCommand() *cobra.Command {
	var (
		asJSON   bool
		required []string
	)
	cmd := &cobra.Command{
		Use:   "hardware",
		Short: "Report which implementations run on this machine",
		Long: `Reports which implementation computes each part of a MAC on this machine, what
is missing for the best one, and what would be faster with it. Also reports
whether AES runs on AES instructions, without which UMAC is not constant time,
whether GMAC and package aesgcm can be used, and the sizes of keys and streams.

Implementations are named after their instructions. VAES and VPCLMULQDQ are the
forms for vectors of 256 bits, which the avx2 of AES-GCM uses. Its avx512 uses
the forms for 512 bits, which a CPU has if it also has AVX512F.

For scripts: --require umac, the default, tests for AES instructions, and
--require gcm for what GMAC and aesgcm need. --require best tests that each part
runs on the best implementation that there is for this architecture. Otherwise
the error names the parts that do not, and what they lack, such as instructions
that a hypervisor or GODEBUG has switched off.

Exit status: 0 all that is required is there, 1 something is not, 2 wrong usage.`,
		Args: noArguments,
		RunE: func(cmd *cobra.Command, args []string) error {
			r := hardware.New()
			given(cmd, "require", &required)
			if err := r.Require(required); err != nil {
				return usageErrorf(cmd, "hardware: %w", err)
			}
			r.Style = styleOf(cmd)
			return show(cmd, r, asJSON)
		},
	}
	cmd.Flags().StringSliceVar(&required, "require", hardware.Requirements[:1], "fail unless all these `NAMES` can be used")
	complete(cmd, "require", hardware.Requirements)
	addJSON(cmd, &asJSON)
	return cmd
}

func patchSSHCommand() *cobra.Command {
	var options patchssh.Options
	cmd := &cobra.Command{
		Use:   "patch-ssh",
		Short: "Give golang.org/x/crypto/ssh a public RegisterMAC",
		Long: `Gives golang.org/x/crypto/ssh a public RegisterMAC, for programs that cannot use
sshmac.Register. Copies the golang.org/x/crypto that go.mod selects, adds one
file, tests it, and adds a replace line for that version to go.mod. If a vendor
folder is in use, adds the file there instead.

The copy has about 200 files: all packages, because a replace line is for a
whole module and your program may import any package of it. It has no tests.

Run patch-ssh again after each upgrade of golang.org/x/crypto and each "go mod
vendor": until then the program does not compile. If two run in one module, one
waits for the other and says so. The next run cleans up after one that was
killed. patch-ssh follows no symbolic links in the module. It writes nothing
outside the module, except for a lock in your cache folder (below XDG_CACHE_HOME
or HOME on Linux).

In a workspace, --check also reports whether the builds in the workspace use the
patch. Everything else is for a single module: set GOWORK=off.

Exit status: 0 done, or in place; 1 failed, or not in place; 2 wrong usage; 130
interrupted, and nothing is changed.`,
		Args: noArguments,
		RunE: func(cmd *cobra.Command, args []string) error {
			if options.Check && options.Revert {
				return usageErrorf(cmd, "patch-ssh: --check and --revert cannot be combined")
			}
			text, err := patchssh.Run(cmd.Context(), options, cmd.ErrOrStderr())
			if err == nil {
				fmt.Fprint(cmd.OutOrStdout(), text)
			}
			return err
		},
	}
	cmd.Flags().StringVarP(&options.Dir, "dir", "C", ".", "the folder of your module")
	cmd.Flags().StringVarP(&options.Out, "out", "o", "", "the folder for the copy, in your module\n(default third_party/golang.org/x/crypto)")
	cmd.Flags().BoolVar(&options.Check, "check", false, "only report whether the patch is in place and fits go.mod")
	cmd.Flags().BoolVar(&options.Revert, "revert", false, "remove the patch, if the copy is unchanged")
	return cmd
}

func versionCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "version",
		Short: "Print the version",
		Long: `Prints the version of this command and the version of Go. The first one names
the commit if "go build" or "go install" made the command from a checkout. With
"go run" it does not.`,
		Args: noArguments,
		RunE: func(cmd *cobra.Command, args []string) error {
			fmt.Fprintln(cmd.OutOrStdout(), "fastmac", version())
			return nil
		},
	}
}

// version returns the versions of the module and of Go.
func version() string {
	module := "of unknown version"
	if info, ok := debug.ReadBuildInfo(); ok && info.Main.Version != "" {
		module = info.Main.Version
	}
	return fmt.Sprintf("%s (%s %s/%s)", module, runtime.Version(), runtime.GOOS, runtime.GOARCH)
}

func addJSON(cmd *cobra.Command, asJSON *bool) {
	cmd.Flags().BoolVar(asJSON, "json", false, "print the result as JSON")
}

// A report is what a command prints, and its failure.
type report interface {
	fmt.Stringer
	Err() error
}

// show prints r on standard output, as text or as JSON, and returns its error.
func show(cmd *cobra.Command, r report, asJSON bool) error {
	if !asJSON {
		fmt.Fprint(cmd.OutOrStdout(), r)
		return r.Err()
	}
	if err := printJSON(cmd, r); err != nil {
		return err
	}
	return r.Err()
}
