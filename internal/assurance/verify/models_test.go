// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package main

import (
	"fmt"
	"strings"
	"testing"

	"example.com/fastmac/internal/assurance/arm64"
	"example.com/fastmac/internal/assurance/program"
	"example.com/fastmac/internal/assurance/x86"
)

// TestModels checks that models.txt has all models: without one the command fails on CPUs that lack its
// instructions.
func TestModels(t *testing.T) {
	for _, a := range program.Architectures {
		p, err := program.Linked(a)
		if err != nil {
			t.Fatal(err)
		}
		all := x86.Forms(p.Functions)
		if a == arm64.Architecture {
			all = arm64.Forms(p.Functions)
		}
		for _, f := range all {
			if line := fmt.Sprintf("\n%s %s: %s: ", a.Name, fmt.Sprint(f.Classes), f.Name); !strings.Contains(models, line) {
				t.Errorf("verify/models.txt lacks %q: go run -C internal/assurance ./verify -models verify/models.txt, on a CPU that has it", strings.TrimSpace(line))
			}
		}
	}
}
