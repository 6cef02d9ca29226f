package main

import (
	"fmt"
	"os"
	"time"
)

func main() {
	t := time.Now()
	p, err := load()
	if err != nil {
		fmt.Fprintf(os.Stderr, "fastmac: %v\n", err)
		os.Exit(1)
	}
	fmt.Println(time.Since(t))
	t = time.Now()
	sigs, err := declarations()
	if err != nil {
		fmt.Fprintf(os.Stderr, "fastmac: %v\n", err)
		os.Exit(1)
	}
	fmt.Println(time.Since(t))
	t = time.Now()
	n := 0
	for _, f := range p.functions {
		l := leaks(f, newSignature(sigs[f.pkg+"."+f.name]))
		n += len(l)
		for i, x := range l {
			if i < 8 {
				fmt.Println(x)
			}
		}
	}
	if s, err := newSilicon(); err == nil && s != nil {
		all := forms(p)
		t := time.Now()
		i, c, err := compareForms(s, asTheyAre, all, 1000)
		fmt.Println(len(all), i, c, err, time.Since(t))
	}
	fmt.Println(n, time.Since(t))
	t = time.Now()
}
