package main

import (
	"fmt"
	"os"
)

func main() {
	p, err := load()
	if err != nil {
		fmt.Fprintf(os.Stderr, "fastmac: %v\n", err)
		os.Exit(1)
	}
	for _, f := range p.functions {
		b, e := f.blocks()
		fmt.Println(f.pkg, f.name, len(f.code), b, e)
	}
}
