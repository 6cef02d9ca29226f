// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package main

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"runtime/debug"
	"strings"
	"time"

	"github.com/klauspost/cpuid/v2"

	"example.com/fastmac"
)

// newResults returns results without rows: where and how they come about. args
// are the program's arguments.
func newResults(ctx context.Context, args []string) *results {
	return &results{
		CPU:      cpuName(),
		Platform: runtime.GOOS + "/" + runtime.GOARCH,
		Cores:    runtime.GOMAXPROCS(0),
		Go:       runtime.Version(),
		Kernels:  fastmac.Hardware(),
		Commit:   commit(ctx),
		Command:  command(args),
		Date:     time.Now().UTC().Format(time.DateTime) + " UTC",
	}
}

// cpuName has the family and model because some machines give nothing but the
// brand away.
func cpuName() string {
	if cpuid.CPU.BrandName == "" {
		return runtime.GOARCH + " CPU that does not tell its name"
	}
	name := strings.Join(strings.Fields(cpuid.CPU.BrandName), " ")
	if cpuid.CPU.Family == 0 {
		return name
	}
	return fmt.Sprintf("%s (family %d, model %d)", name, cpuid.CPU.Family, cpuid.CPU.Model)
}

// commit returns that of the tree, with "-dirty" if a file that is built differs
// from it. Results and charts may differ: this program writes them.
func commit(ctx context.Context) string {
	head, err := exec.CommandContext(ctx, "git", "rev-parse", "--short=12", "HEAD").Output()
	if err != nil {
		return "unknown"
	}
	hash := strings.TrimSpace(string(head))
	// The paths are those of the whole tree, wherever this runs.
	changed, err := exec.CommandContext(ctx, "git", "status", "--porcelain", "--",
		":/*.go", ":/*.s", ":/*.c", ":/*.h", ":/*.rs", ":/*go.mod", ":/*go.sum",
		":/*Cargo.toml", ":/*known.json").Output()
	if err != nil || len(changed) > 0 {
		return hash + "-dirty"
	}
	return hash
}

// command returns the command line that started this program, with the variables
// that change what it measures.
func command(args []string) string {
	var b strings.Builder
	for _, name := range []string{"GODEBUG", "GOAMD64", "GOFLAGS", "GOMAXPROCS", "RUSTFLAGS"} {
		if v := os.Getenv(name); v != "" {
			fmt.Fprintf(&b, "%s=%s ", name, quote(v))
		}
	}
	b.WriteString("go run -C internal/peers")
	if info, ok := debug.ReadBuildInfo(); ok {
		for _, s := range info.Settings {
			if s.Key == "-tags" && s.Value != "" {
				b.WriteString(" -tags " + quote(s.Value))
			}
		}
	}
	b.WriteString(" .")
	for _, arg := range args {
		b.WriteString(" " + quote(arg))
	}
	return b.String()
}

// quote quotes for a shell what is not plain.
func quote(s string) string {
	plain := strings.IndexFunc(s, func(r rune) bool {
		return !strings.ContainsRune("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_=+.,/:@%", r)
	}) < 0
	if plain && s != "" {
		return s
	}
	return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'"
}
