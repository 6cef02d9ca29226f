// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

// Command receiver makes keys for devices that run the example sensor, and prints their
// readings, which it verifies. The README of the sensor describes both.
package main

import (
	"flag"
	"fmt"
	"io"
	"os"
)

const usage = `receiver makes keys for sensors, and prints their readings, which it verifies.

usage:
  receiver [-dir DIR] -new ID HEADER   make a key for a new device, and the header of its sketch
  receiver [-dir DIR] [PORT]           print the readings that arrive at a serial port

ID is a number, 0 to 4294967295. HEADER is a new file, which only you may read. PORT is a file;
without it, or if it is -, the receiver reads standard input. Set the speed of the port first, on Linux with
  stty -F PORT 38400 raw clocal -hupcl -echo

Readings go to standard output, and the reason of each refused frame to standard error.
Only one receiver may use a directory at a time.

`

func main() { os.Exit(run(os.Args[1:], os.Stdin, os.Stdout, os.Stderr)) }

// run runs the command line args and returns the exit status: 0 success, 1 failure, 2
// wrong usage.
func run(args []string, stdin io.Reader, stdout, stderr io.Writer) int {
	flags := flag.NewFlagSet("receiver", flag.ContinueOnError)
	flags.SetOutput(stderr)
	flags.Usage = func() {
		fmt.Fprint(stderr, usage)
		flags.PrintDefaults()
	}
	dir := flags.String("dir", ".", "directory of the files keys and counters")
	created := flags.Uint64("new", 0, "make a key for the device with this number")
	if err := flags.Parse(args); err == flag.ErrHelp {
		return 0
	} else if err != nil {
		return 2
	}
	isNew := false
	flags.Visit(func(f *flag.Flag) { isNew = isNew || f.Name == "new" })
	var err error
	switch {
	case isNew && flags.NArg() == 1:
		err = makeKey(*dir, *created, flags.Arg(0))
	case !isNew && flags.NArg() <= 1:
		err = listen(*dir, flags.Arg(0), stdin, stdout, stderr)
	default:
		flags.Usage()
		return 2
	}
	if err != nil {
		fmt.Fprintf(stderr, "receiver: %v\n", err)
		return 1
	}
	return 0
}

// listen prints the readings that arrive at the port.
func listen(dir, port string, stdin io.Reader, stdout, stderr io.Writer) error {
	s, err := openStore(dir)
	if err != nil {
		return err
	}
	in := stdin
	if port != "" && port != "-" {
		f, err := os.Open(port)
		if err != nil {
			return err
		}
		defer f.Close()
		in = f
	}
	return receive(in, s.devices, func(r reading) error {
		// First the counter: if the receiver stops between the two, a reading is lost.
		// In the other order it could be used twice.
		if err := s.save(r.device, r.counter); err != nil {
			return err
		}
		_, err := fmt.Fprintf(stdout, "device %d counter %d value %d\n", r.device, r.counter, r.value)
		return err
	}, func(err error) {
		fmt.Fprintf(stderr, "refused: %v\n", err)
	})
}
