// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

// Command dit looks at DIT, the bit of arm64 while which is set the time of instructions does not depend
// on data. It prints as JSON whether crypto/subtle sets it, and what a tag takes then:
//
//	go run -C internal/assurance ./timing/dit
//
// It fails if the bit is not set where it should be.
package main

import (
	"crypto/subtle"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"os"
	"time"

	"example.com/fastmac"
	"example.com/fastmac/internal/mactest"
)

// A result is what is printed. Times are nanoseconds for a UMAC-64 tag of 64 bytes: the least of some
// rounds.
type result struct {
	Missing string `json:"missing,omitempty"` // why nothing could be looked at

	// Whether the bit is set outside WithDataIndependentTiming of crypto/subtle, inside, and in a
	// goroutine that starts inside.
	Outside   bool `json:"outside"`
	Inside    bool `json:"inside"`
	Goroutine bool `json:"goroutine"`

	NSOutside float64 `json:"ns_outside,omitempty"`
	NSInside  float64 `json:"ns_inside,omitempty"` // many tags inside one call
	NSEach    float64 `json:"ns_each,omitempty"`   // a call for each tag
}

func main() {
	r, err := look()
	if err == nil {
		err = errors.Join(json.NewEncoder(os.Stdout).Encode(r), r.check())
	}
	if err != nil {
		fmt.Fprintf(os.Stderr, "fastmac: %v\n", err)
		os.Exit(1)
	}
}

// look looks at the bit where the CPU has it, and measures.
func look() (r result, err error) {
	isSet, missing, err := reader()
	if err != nil || missing != "" {
		return result{Missing: missing}, err
	}
	r.Outside = isSet()
	subtle.WithDataIndependentTiming(func() {
		r.Inside = isSet()
		done := make(chan bool)
		go func() { done <- isSet() }()
		r.Goroutine = <-done
	})
	r.Outside = r.Outside || isSet()

	const tags = 2000
	k := mactest.Must(fastmac.NewUMACKey(make([]byte, 16), fastmac.UMAC64Size))
	var nonce [8]byte
	var message [64]byte
	var room [fastmac.UMAC64Size]byte
	tag := func() { k.Tag(room[:0], nonce[:], message[:]) }
	many := func() {
		for range tags {
			tag()
		}
	}
	r.NSOutside, r.NSInside, r.NSEach = math.Inf(1), math.Inf(1), math.Inf(1)
	least := func(ns *float64, f func()) {
		start := time.Now()
		f()
		*ns = min(*ns, math.Round(100*float64(time.Since(start))/tags)/100)
	}
	for range 200 {
		least(&r.NSOutside, many)
		least(&r.NSInside, func() { subtle.WithDataIndependentTiming(many) })
		least(&r.NSEach, func() {
			for range tags {
				subtle.WithDataIndependentTiming(tag)
			}
		})
	}
	return r, nil
}

// check returns an error if the bit is not where it should be. GODEBUG may set it everywhere.
func (r result) check() error {
	switch {
	case r.Missing != "":
		return nil
	case !r.Inside || !r.Goroutine:
		return fmt.Errorf("DIT is not set inside WithDataIndependentTiming: %t, in a goroutine %t", r.Inside, r.Goroutine)
	case r.Outside:
		return errors.New("DIT is set outside WithDataIndependentTiming")
	}
	return nil
}
