// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

// Command golang tests the mutants of the Go code that gremlins lists, and prints what became of
// each. Run it in the root of the module:
//
//	gremlins unleash --dry-run --config internal/assurance/mutants/golang/gremlins.yaml -o mutants.json .
//	go run -C internal/assurance ./mutants/golang -files '^pad.go$' mutants.json '. -test.short' | tee pad.txt
//
// Gremlins builds the tests again for each mutant, which takes longer than to run them. This
// command builds all mutants of a package at once: each is a copy of its function, and the
// function calls the copy whose number is in the environment.
//
// The first argument is a list of mutants: the output of gremlins, whose name ends in .json, or of
// this command, of which only mutants that lived are tested again. With -statements it is a
// folder, in whose files statements are left out. The other arguments are steps: a package, variables
// such as NAME=value, and flags for its test binary. A step that fails kills a mutant; mutants that
// live go on to the next step. Names of files, folders and packages are relative to the root of the
// module. With -alone each mutant is built on its own, as by gremlins. results.txt has the results.
package main

import (
	"flag"
	"fmt"
	"log"
	"os"
	"regexp"
	"slices"

	"example.com/fastmac/internal/assurance/program"
)

func main() {
	log.SetFlags(0)
	log.SetPrefix("fastmac: ")
	files := flag.String("files", ".", "only files whose names match `REGEXP`")
	tags := flag.String("tags", "", "build `TAGS`")
	alone := flag.Bool("alone", false, "build each mutant on its own")
	statements := flag.Bool("statements", false, "leave out statements of a folder, instead of the mutants of a list")
	wipes := flag.Bool("wipes", false, "leave out what overwrites secrets in folders, instead of the mutants of a list")
	uncovered := flag.Bool("uncovered", false, "only mutants that gremlins considers not covered: in constants, variables, and files with other build tags")
	flag.Parse()
	all := *wipes && flag.NArg() == 0
	if flag.NArg() < 2 && !all {
		log.Fatal("want a list of mutants, and steps")
	}
	if err := enterRoot(); err != nil {
		log.Fatal(err)
	}
	if all {
		list, err := runWipes(regexp.MustCompile(*files))
		if err != nil {
			log.Fatal(err)
		}
		printTotal(list)
		return
	}
	read := readMutants
	if *statements {
		read = readFolder
	}
	if *wipes {
		read = readWipes(*tags)
	}
	list, err := read(flag.Arg(0), regexp.MustCompile(*files))
	if err != nil {
		log.Fatal(err)
	}
	if *uncovered {
		list = slices.DeleteFunc(list, func(m *mutant) bool { return m.status != notCovered })
		for _, m := range list {
			m.status = covered
		}
	}
	r := runner{tags: *tags, alone: *alone}
	r.setSteps(flag.Args()[1:])
	if err := r.runAll(list); err != nil {
		log.Fatal(err)
	}
	printTotal(list)
}

// printTotal prints how many mutants of a list have which end.
func printTotal(list []*mutant) {
	total := map[string]int{}
	for _, m := range list {
		total[m.status]++
	}
	dead := total[killed] + total[timedOut]
	fmt.Printf("# %d killed, %d timed out, %d lived, %d not covered, %d not viable: %.1f %%\n",
		total[killed], total[timedOut], total[lived], total[notCovered], total[notViable],
		100*float64(dead)/float64(max(dead+total[lived], 1)))
}

// enterRoot changes to the root of the module that is mutated.
func enterRoot() error {
	root, err := program.Root()
	if err != nil {
		return fmt.Errorf("run this with -C internal/assurance: %w", err)
	}
	return os.Chdir(root)
}
