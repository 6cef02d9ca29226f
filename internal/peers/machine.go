// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package main

import (
	"cmp"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"runtime/debug"
	"strings"
	"time"

	"al.essio.dev/pkg/shellescape"
	"github.com/klauspost/cpuid/v2"

	"example.com/fastmac"
	"example.com/fastmac/internal/kernel"
	"example.com/fastmac/internal/origin"
	"example.com/fastmac/internal/peers/report"
)

// newResults returns results without rows: the machine, and how it is measured.
func newResults(o options) *report.Results {
	fastmac.Hardware() // chooses all kernels
	r := &report.Results{
		CPU:      cpuName(),
		OS:       osName(),
		Platform: runtime.GOOS + "/" + runtime.GOARCH,
		Cores:    runtime.GOMAXPROCS(0),
		Go:       runtime.Version(),
		Kernels:  kernel.NewReport(),
		Commit:   origin.Commit(),
		Command:  command(o),
		Date:     time.Now().UTC().Format(time.DateTime) + " UTC",
	}
	if o.out != "" {
		r.Name = strings.TrimSuffix(filepath.Base(o.out), ".json")
	}
	return r
}

// cpuName has family and model because some virtual machines report only the brand.
func cpuName() string {
	if cpuid.CPU.BrandName == "" { // arm64, except for macOS; Windows has a variable
		return cmp.Or(os.Getenv("PROCESSOR_IDENTIFIER"), origin.CPU())
	}
	name := strings.Join(strings.Fields(cpuid.CPU.BrandName), " ")
	if cpuid.CPU.Family == 0 {
		return name
	}
	return fmt.Sprintf("%s (family %d, model %d)", name, cpuid.CPU.Family, cpuid.CPU.Model)
}

// osName returns the name of the system with its version, or "" if it does not tell.
func osName() string {
	switch runtime.GOOS {
	case "darwin":
		version, _ := exec.Command("sw_vers", "-productVersion").Output()
		return strings.TrimSpace("macOS " + string(version))
	case "windows":
		version, _ := exec.Command("cmd", "/c", "ver").Output()
		return strings.TrimSpace(string(version))
	}
	release, _ := os.ReadFile("/etc/os-release")
	name := regexp.MustCompile(`(?m)^PRETTY_NAME="?([^"\n]*)`).FindSubmatch(release)
	if name == nil {
		return ""
	}
	return string(name[1])
}

// command returns the command line that repeats a run, with the variables that change
// what is measured. Directories outside the tree are DIR.
func command(o options) string {
	var b strings.Builder
	for _, name := range []string{"GODEBUG", "GOAMD64", "GOFLAGS", "GOMAXPROCS", "RUSTFLAGS"} {
		if v := os.Getenv(name); v != "" {
			fmt.Fprintf(&b, "%s=%s ", name, shellescape.Quote(v))
		}
	}
	b.WriteString("go run -C internal/peers")
	if info, ok := debug.ReadBuildInfo(); ok {
		for _, s := range info.Settings {
			if s.Key == "-tags" && s.Value != "" {
				b.WriteString(" -tags " + shellescape.Quote(s.Value))
			}
		}
	}
	b.WriteString(" .")
	if o.check {
		b.WriteString(" -check")
	}
	if o.quick {
		b.WriteString(" -quick")
	}
	if o.only != nil {
		b.WriteString(" -only " + shellescape.Quote(o.only.String()))
	}
	if o.out != "" {
		b.WriteString(" -o " + shellescape.Quote(o.out))
	}
	if o.boringssl {
		b.WriteString(" -boringssl")
	}
	if o.openssh != "" {
		b.WriteString(" -openssh DIR")
	}
	if o.fakeboboliu != "" {
		b.WriteString(" -fakeboboliu DIR")
	}
	return b.String()
}
