// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	goversion "go/version"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"example.com/fastmac"
	"example.com/fastmac/cmd/fastmac/internal/demo"
	"example.com/fastmac/cmd/fastmac/internal/hardware"
	"example.com/fastmac/internal/kernel"
)

// command runs a command line and returns what it prints.
func command(t *testing.T, wantCode int, line string) (stdout, stderr string) {
	t.Helper()
	var out, err bytes.Buffer
	if code := run(t.Context(), strings.Fields(line), &out, &err); code != wantCode {
		t.Errorf("%s: exit status %d, want %d\n%s", line, code, wantCode, &err)
	}
	return out.String(), err.String()
}

func TestHelp(t *testing.T) {
	for _, tt := range []struct {
		lines []string
		want  []string
	}{
		{[]string{"", "help", "-h", "--help"}, []string{"fastmac [command]", "demo ", "bench ", "hardware ", "patch-ssh ", "install-docs ", "version ", "completion ", "fastmac lists ", "Exit status: "}},
		{[]string{"help lists", "lists", "lists --help"}, []string{"ALGORITHM:NONCE:TAG:SIZE:MTIME:CTIME:INODE  PATH", "end2:ALGORITHM:KEY:LINES:TAG", "2^32", "2^48", "CACHEDIR.TAG"}},
		{[]string{"demo --help", "demo -h", "help demo"}, []string{"fastmac demo [flags]", "--size SIZE", "umac-64-etm", "chacha20-poly1305", "512KiB", "(default 64 MiB)", "--port", "--json", "Exit status: "}},
		{[]string{"bench --help", "help bench"}, []string{"fastmac bench [flags]", "--quick", "15 %", "--json", "Exit status: "}},
		{[]string{"hardware --help", "help hardware"}, []string{"fastmac hardware [flags]", "VAES and VPCLMULQDQ", "256 bits", "--require NAMES", "--require best", "--json", "Exit status: "}},
		{[]string{"patch-ssh --help", "help patch-ssh"}, []string{"fastmac patch-ssh [flags]", "-C, --dir", "-o, --out", "--check", "--revert", "GOWORK=off", "Exit status: "}},
		{[]string{"install-docs --help", "help install-docs"}, []string{"fastmac install-docs [flags]", "--prefix FOLDER", "share/man/man1", "Exit status: "}},
	} {
		for _, line := range tt.lines {
			stdout, stderr := command(t, exitOK, line)
			for _, want := range tt.want {
				if !strings.Contains(stdout, want) {
					t.Errorf("%q: %q is not in %q", line, want, stdout)
				}
			}
			for out := range strings.Lines(stdout) {
				if len(out) > 81 {
					t.Errorf("%q: too wide: %q", line, out)
				}
			}
			if stderr != "" {
				t.Errorf("%q: standard error %q", line, stderr)
			}
		}
	}
}

func TestVersion(t *testing.T) {
	option, _ := command(t, exitOK, "--version")
	if got, _ := command(t, exitOK, "version"); got != option || !strings.HasPrefix(got, "fastmac ") || !strings.Contains(got, "(go1.") {
		t.Errorf("%q and %q", got, option)
	}
}

func TestCompletion(t *testing.T) {
	for _, shell := range []string{"bash", "zsh", "fish", "powershell"} {
		if stdout, _ := command(t, exitOK, "completion "+shell); !strings.Contains(stdout, "fastmac") {
			t.Errorf("%s: %q", shell, stdout)
		}
	}
	const folders = "\n:16\n" // cobra's ShellCompDirectiveFilterDirs
	for before, want := range map[string]string{
		"demo --cipher ": "\naes128-gcm\n", "demo --mac none,": "\nnone,umac-128-etm\n", "hardware --require umac,": "\numac,gcm\n", "hardware --require umac,gcm,": "\numac,gcm,best\n",
		"keygen -a ": "\nhmac-sha512\n", "tag -a ": "\nhmac-sha512\n", "verify -a ": "\nhmac-sha512\n",
		"help l": "\nlists\t", "help ta": "\ntag\t",
		"verify --complete ": folders, "install-docs --prefix ": folders,
	} {
		var out, err bytes.Buffer
		args := append([]string{"__complete"}, strings.Split(before, " ")...)
		if code := run(t.Context(), args, &out, &err); code != exitOK || !strings.Contains("\n"+out.String(), want) {
			t.Errorf("completion of %q: %d, %s%s", before, code, &out, &err)
		}
	}
	var nothing bytes.Buffer
	if run(t.Context(), []string{"__complete", "help", "tag", ""}, &nothing, io.Discard); nothing.String() != ":4\n" {
		t.Errorf("help tag is followed by %q", &nothing)
	}
	if stdout, _ := command(t, exitOK, "completion"); !strings.Contains(stdout, "fastmac completion [command]") {
		t.Errorf("%q", stdout)
	}
	if stdout, _ := command(t, exitOK, "help completion bash"); !strings.Contains(stdout, "source <(fastmac completion bash)") {
		t.Errorf("%q", stdout)
	}
}

func TestUsageErrors(t *testing.T) {
	for _, tt := range []struct{ line, want, see string }{
		{"dmeo", `unknown command "dmeo" (did you mean demo?)`, "fastmac"},
		{"forge", `unknown command "forge"; see `, "fastmac"},
		{"--bogus", "unknown flag: --bogus", "fastmac"},
		{"tag -k k -k l x", `tag: invalid argument "l" for "-k, --key" flag: it was given before, as "k"`, "fastmac tag"},
		{"tag -k k -o k -o l x", `tag: invalid argument "l" for "-o, --out" flag: it was given before, as "k"`, "fastmac tag"},
		{"tag -k k --update l --update= x", `tag: invalid argument "" for "--update" flag: it was given before, as "l"`, "fastmac tag"},
		{"verify -C . -k k -C . x", `verify: invalid argument "." for "-C, --directory" flag: it was given before, as "."`, "fastmac verify"},
		{"verify -j 1 -j 1 x", `verify: invalid argument "1" for "-j, --jobs" flag: it was given before, as "1"`, "fastmac verify"},
		{"keygen -a gmac -a gmac -o x", `keygen: invalid argument "gmac" for "-a, --algorithm" flag: it was given before, as "gmac"`, "fastmac keygen"},
		{"demo extra", `demo: unexpected argument "extra"`, "fastmac demo"},
		{"demo --bogus", "demo: unknown flag: --bogus", "fastmac demo"},
		{"demo --size 0", `demo: invalid argument "0" for "--size" flag: want at least 1 byte`, "fastmac demo"},
		{"demo --size 64MB", "want whole bytes", "fastmac demo"},
		{"demo --size", "demo: flag needs an argument: --size", "fastmac demo"},
		{"demo --port -1", "demo: --port -1: want 0 to 65535", "fastmac demo"},
		{"demo --port 65536", "demo: --port 65536: want 0 to 65535", "fastmac demo"},
		{"demo --mac umac", `demo: --mac "umac": want one or more of none, umac-64-etm, `, "fastmac demo"},
		{"demo --cipher aes128-ctr,rot13", `demo: --cipher "rot13": want one or more of aes128-ctr, `, "fastmac demo"},
		{"demo --cipher aes128-gcm --mac umac-64", "demo: --mac: aes128-gcm needs no MAC: want a --cipher that does, such as aes128-ctr", "fastmac demo"},
		{"demo --port ssh", `demo: invalid argument "ssh" for "--port" flag`, "fastmac demo"},
		{"bench now", `bench: unexpected argument "now"`, "fastmac bench"},
		{"bench --chart out.svg", "bench: unknown flag: --chart", "fastmac bench"},
		{"hardware --size 1", "hardware: unknown flag: --size", "fastmac hardware"},
		{"hardware --require umac,aes", `hardware: --require "aes": want one or more of umac, gcm, best`, "fastmac hardware"},
		{"hardware now", `hardware: unexpected argument "now"`, "fastmac hardware"},
		{"patch-ssh --check --revert", "patch-ssh: --check and --revert cannot be combined", "fastmac patch-ssh"},
		{"patch-ssh -C", "patch-ssh: flag needs an argument: 'C' in -C", "fastmac patch-ssh"},
		{"patch-ssh v0.58.0", `patch-ssh: unexpected argument "v0.58.0"`, "fastmac patch-ssh"},
		{"help dmeo", `help: unknown command "dmeo"`, "fastmac"},
		{"help demo now", `help: unknown command "demo now"`, "fastmac"},
		{"completion ksh", `completion: unknown shell "ksh"`, "fastmac completion"},
		{"completion bash now", `bash: unexpected argument "now"`, "fastmac completion bash"},
		{"demo --mac=", `demo: --mac "": want one or more of none, `, "fastmac demo"},
		{"hardware --require=", `hardware: --require "": want one or more of umac, gcm, best`, "fastmac hardware"},
		{"install-docs now", `install-docs: unexpected argument "now"`, "fastmac install-docs"},
		{"install-docs --prefix=", `install-docs: --prefix "": want a folder`, "fastmac install-docs"},
		{"version 1", `version: unexpected argument "1"`, "fastmac version"},
	} {
		stdout, stderr := command(t, exitUsage, tt.line)
		if !strings.HasPrefix(stderr, "fastmac: "+tt.want) && !strings.Contains(stderr, tt.want) ||
			!strings.HasPrefix(stderr, "fastmac: ") || !strings.HasSuffix(stderr, "; see "+tt.see+" --help\n") || strings.Count(stderr, "\n") != 1 {
			t.Errorf("%s: %q, want %q and %q in one line", tt.line, stderr, tt.want, tt.see)
		}
		if stdout != "" {
			t.Errorf("%s: standard output %q", tt.line, stdout)
		}
	}
}

func TestDemo(t *testing.T) {
	t.Setenv("PATH", t.TempDir())
	stdout, _ := command(t, exitOK, "demo --size 1KiB --json")
	var r demo.Report
	if err := json.Unmarshal([]byte(stdout), &r); err != nil {
		t.Fatal(err)
	}
	if len(r.Rows) != 10 || !strings.HasPrefix(r.Rows[0].Client, "Go x/crypto v") || !r.Passed || !strings.HasPrefix(r.Address, "127.0.0.1:") || r.Size != 1024 || r.Rows[0].Bytes != 2048 {
		t.Errorf("%s", stdout)
	}
	for _, key := range []string{"server", "address", "openssh", "hardware", "go_version", "cipher", "mac", "client_version", "client_id",
		"client_report", "server_report", "negotiated", "client_to_server", "bytes_up", "seconds", "mb_per_s_down", "result"} {
		if !strings.Contains(stdout, `"`+key+`": `) {
			t.Errorf("no %s in %s", key, stdout)
		}
	}
	if stdout, _ := command(t, exitOK, "demo --size 1KiB"); !strings.HasSuffix(stdout, "\n10 of 10 rows passed\n") {
		t.Errorf("%s", stdout)
	}
}

func TestDemoOptions(t *testing.T) {
	t.Setenv("PATH", t.TempDir())
	t.Setenv("COLUMNS", "40")
	stdout, _ := command(t, exitOK, "demo --size 1KiB --mac umac-64,none --cipher aes192-ctr --cipher aes256-gcm")
	for _, want := range []string{"\naes192-ctr umac-64\n  ", "\naes192-ctr no MAC\n  ", "\naes256-gcm\n  ", "\n3 of 3 rows passed\n"} {
		if !strings.Contains(stdout, want) {
			t.Errorf("%q is not in %s", want, stdout)
		}
	}
}

func TestDemoFails(t *testing.T) {
	busy, err := net.Listen("tcp4", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer busy.Close()
	line := fmt.Sprintf("demo --port %d", busy.Addr().(*net.TCPAddr).Port)
	stdout, stderr := command(t, exitFailed, line)
	if stdout != "" || !strings.HasPrefix(stderr, "fastmac: no port for the server: ") || strings.Count(stderr, "\n") != 1 {
		t.Errorf("%q, %q", stdout, stderr)
	}

	// An ssh that does not work.
	dir := t.TempDir()
	for _, name := range []string{"ssh", "ssh.exe"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte("?"), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	t.Setenv("PATH", dir)
	stdout, stderr = command(t, exitFailed, "demo --size 1KiB")
	if !strings.HasSuffix(stdout, "\n10 of 10 rows passed\n") || !strings.HasSuffix(stderr, "\nfastmac: no rows for OpenSSH's client\n") {
		t.Errorf("%q, %q", stdout, stderr)
	}
}

func TestHardware(t *testing.T) {
	code, verdict := exitOK, "AES runs on AES instructions"
	err := fastmac.RequireAES()
	if err != nil {
		code, verdict = exitFailed, "AES does not run on AES instructions: UMAC is not constant time"
	}
	stdout, stderr := command(t, code, "hardware --json")
	var r hardware.Report
	if jsonErr := json.Unmarshal([]byte(stdout), &r); jsonErr != nil || r.NH != kernel.NewReport().NH || len(r.Sizes) != 6 {
		t.Errorf("%v, %s", jsonErr, stdout)
	}
	if err == nil && stderr != "" || err != nil && stderr != err.Error()+"\n" {
		t.Errorf("standard error %q", stderr)
	}
	gcmCode := exitOK
	if fastmac.RequireGCM() != nil {
		gcmCode = exitFailed
	}
	command(t, gcmCode, "hardware --require gcm")
	command(t, max(code, gcmCode), "hardware --require gcm,umac")
	bestCode := exitOK
	if r.BestError != "" {
		bestCode = exitFailed
	}
	if _, stderr := command(t, bestCode, "hardware --require best"); bestCode != exitOK && stderr != r.BestError+"\n" {
		t.Errorf("standard error %q, want %q", stderr, r.BestError)
	}
	command(t, max(code, gcmCode, bestCode), "hardware --require best,gcm,umac --json")
	if stdout, _ := command(t, code, "hardware"); !strings.Contains(stdout, verdict) || !strings.Contains(stdout, "\nUMACKey ") {
		t.Errorf("%q", stdout)
	}
}

func TestPatchSSH(t *testing.T) {
	stdout, stderr := command(t, exitFailed, "patch-ssh -C "+filepath.Join(t.TempDir(), "missing"))
	if stdout != "" || !strings.HasPrefix(stderr, "fastmac: -C: ") {
		t.Errorf("%q, %q", stdout, stderr)
	}
	t.Setenv("XDG_CACHE_HOME", t.TempDir()) // for the lock
	// As the README has it, but without -C.
	before, err := os.ReadFile("go.mod")
	if err != nil {
		t.Fatal(err)
	}
	if _, stderr := command(t, exitFailed, "patch-ssh"); !strings.Contains(stderr, "is the module of this command: want the folder of yours, with -C") {
		t.Errorf("%q", stderr)
	}
	if after, err := os.ReadFile("go.mod"); err != nil || !bytes.Equal(after, before) {
		t.Errorf("%v, go.mod is\n%s", err, after)
	}
	// The errors of the go command in one line.
	dir := t.TempDir()
	for name, content := range map[string]string{"go.mod": "module m\n", "go.work": "use (\n"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	t.Setenv("GOWORK", "")
	if _, stderr := command(t, exitFailed, "patch-ssh -C "+dir); !strings.Contains(stderr, "go.work") || strings.Count(stderr, "\n") != 1 {
		t.Errorf("%q", stderr)
	}
}

func TestInterrupted(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	for _, line := range []string{"demo", "demo --json", "patch-ssh -C " + t.TempDir()} {
		var stdout, stderr bytes.Buffer
		if code := run(ctx, strings.Fields(line), &stdout, &stderr); code != exitInterrupted {
			t.Errorf("%s: exit status %d", line, code)
		}
		if stdout.Len() > 0 || !strings.HasSuffix(stderr.String(), "fastmac: interrupted\n") {
			t.Errorf("%s: %q, %q", line, &stdout, &stderr)
		}
	}
}

// TestPackages counts what the first command of a newcomer builds, who waits for it in silence.
func TestPackages(t *testing.T) {
	limit := 218
	if goversion.Compare(runtime.Version(), "go1.27") >= 0 {
		limit = 228 // its encoding/json and crypto/x509 use more
	}
	out, err := exec.Command("go", "list", "-deps", ".").Output()
	packages := strings.Fields(string(out))
	if err != nil || runtime.GOOS == "linux" && len(packages) > limit { // other systems have others
		t.Errorf("%d packages, %v, want at most %d", len(packages), err, limit)
	}
	// Of a package that draws a line of text, net/http is most of the build.
	out, err = exec.Command("go", "list", "-deps", "./internal/demo", "./internal/bench", "./internal/hardware", "./internal/patchssh").Output()
	if packages := strings.Fields(string(out)); err != nil || slices.Contains(packages, "net/http") || !slices.Contains(packages, "net") {
		t.Errorf("net/http is in %q, %v", packages, err)
	}
}

type brokenWriter struct{}

func (brokenWriter) Write([]byte) (int, error) { return 0, errors.New("disk full") }

func TestBrokenOutput(t *testing.T) {
	t.Setenv("PATH", "")
	for _, line := range []string{"help", "demo --help", "version", "hardware", "hardware --json", "demo --size 1", "demo --size 1 --json"} {
		var stderr bytes.Buffer
		code := run(t.Context(), strings.Fields(line), brokenWriter{}, &stderr)
		if code != exitFailed || !strings.HasSuffix(stderr.String(), "fastmac: disk full\n") {
			t.Errorf("%s: exit status %d, %q", line, code, &stderr)
		}
	}
}
