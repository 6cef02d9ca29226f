// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

// Mutation tests the mutants that gremlins lists, and prints what became of each. Run it in
// the root of the module:
//
//	gremlins unleash --dry-run --config internal/assurance/mutants/golang/gremlins.yaml -o mutants.json .
//	go run ./internal/assurance/mutants/golang -files '^pad.go$' mutants.json '. -test.short' | tee pad.txt
//
// Gremlins builds the tests again for each mutant, which takes longer than to run them. This
// command builds all mutants of a package at once: each is a copy of its function, and the
// function calls the copy whose number is in the environment.
//
// The first argument is a list of mutants, from gremlins or from this command; of the latter
// only those that lived are tested again. With -statements it may be a folder with Go files.
// The others are steps: a package, and flags for its test binary. A step that fails kills a
// mutant, and those that live go on to the next step. With -alone each mutant is built on its
// own, as gremlins does it. go.txt has the results.
package main

import (
	"flag"
	"fmt"
	"log"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

func main() {
	log.SetFlags(0)
	log.SetPrefix("fastmac: ")
	files := flag.String("files", ".", "only files whose names match this regular expression")
	tags := flag.String("tags", "", "build tags")
	alone := flag.Bool("alone", false, "build each mutant on its own")
	statements := flag.Bool("statements", false, "not the mutants of gremlins: leave out statements")
	uncovered := flag.Bool("uncovered", false, "those that gremlins takes for not covered: in constants, variables, and files with other build tags")
	flag.Parse()
	if flag.NArg() < 2 {
		log.Fatal("want a list of mutants, and steps")
	}
	list, err := readMutants(flag.Arg(0), regexp.MustCompile(*files), *statements)
	if err != nil {
		log.Fatal(err)
	}
	if *uncovered {
		list = slices.DeleteFunc(list, func(m *mutant) bool { return m.status != notCovered })
		for _, m := range list {
			m.status = covered
		}
	}
	temp, err := os.MkdirTemp("", "mutation")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(temp)
	r := runner{tags: *tags, alone: *alone, temp: temp}
	for _, arg := range flag.Args()[1:] {
		words := strings.Fields(arg)
		r.steps = append(r.steps, step{dir: words[0], flags: words[1:]})
	}
	total := map[string]int{}
	for len(list) > 0 {
		n := 0
		for n < len(list) && filepath.Dir(list[n].file) == filepath.Dir(list[0].file) {
			n++
		}
		if err := r.run(list[:n]); err != nil {
			os.RemoveAll(temp)
			log.Fatal(err)
		}
		for _, m := range list[:n] {
			total[m.status]++
		}
		list = list[n:]
	}
	dead := total[killed] + total[timedOut]
	fmt.Printf("# %d killed, %d timed out, %d lived, %d not covered, %d not viable: %.1f %%\n",
		total[killed], total[timedOut], total[lived], total[notCovered], total[notViable],
		100*float64(dead)/float64(max(dead+total[lived], 1)))
}
