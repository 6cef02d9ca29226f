// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

// Package origin tells where results come from: from which CPU and which commit.
package origin

import (
	"fmt"
	"os"
	"os/exec"
	"regexp"
	"strings"
)

// CPU returns the name of the CPU with its family and model, where Linux has them. Some
// virtual machines report only the brand as the name. CPUs of arm64 have two numbers instead.
func CPU() string {
	info, _ := os.ReadFile("/proc/cpuinfo")
	return name(info)
}

func name(info []byte) string {
	field := func(key string) string {
		if m := regexp.MustCompile(`(?m)^` + key + `\s*: (.*)$`).FindSubmatch(info); m != nil {
			return string(m[1])
		}
		return "unknown"
	}
	if part := field("CPU part"); part != "unknown" {
		return fmt.Sprintf("Arm CPU (implementer %s, part %s)", field("CPU implementer"), part)
	}
	return fmt.Sprintf("%s (family %s, model %s)", field("model name"), field("cpu family"), field("model"))
}

// Commit returns the commit of the tree that contains the working directory, with "-dirty" if a
// file that is built differs from it, or "unknown" if there is no git or no tree.
func Commit() string {
	head, err := exec.Command("git", "rev-parse", "--short=12", "HEAD").Output()
	if err != nil {
		return "unknown"
	}
	hash := strings.TrimSpace(string(head))
	// The slash makes the patterns relative to the root of the tree.
	changed, err := exec.Command("git", "status", "--porcelain", "--untracked-files=all", "--",
		":/*.go", ":/*.go.txt", ":/*.s", ":/*.c", ":/*.h", ":/*.rs", ":/*go.mod", ":/*go.sum",
		":/*Cargo.toml", ":/*known.json").Output()
	if err != nil || len(changed) > 0 {
		return hash + "-dirty"
	}
	return hash
}
