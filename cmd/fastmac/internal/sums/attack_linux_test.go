// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package sums

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

const attackFolders = 8

// exchange gives each of two names what the other one had, at once.
func exchange(a, b string) error {
	return unix.Renameat2(unix.AT_FDCWD, a, unix.AT_FDCWD, b, unix.RENAME_EXCHANGE)
}

// attack moves a file that is in no list through the folder d, so that it is there at each moment, and
// puts links, FIFOs and copies in the places of folders and files for a while. It ends with its standard
// input.
func attack() error {
	ended := make(chan struct{})
	go func() {
		io.Copy(io.Discard, os.Stdin)
		close(ended)
	}()
	pause := func() {
		switch n := rand.IntN(100); {
		case n < 80:
		case n < 97:
			for until := time.Now().Add(time.Duration(rand.IntN(200)) * time.Microsecond); time.Now().Before(until); {
			}
		case n < 99:
			time.Sleep(time.Duration(rand.IntN(8)) * time.Millisecond)
		default:
			time.Sleep(time.Duration(rand.IntN(40)) * time.Millisecond)
		}
	}
	at := 0 // where the file is
	for {
		select {
		case <-ended:
			return nil
		default:
		}
		n := rand.IntN(attackFolders)
		here, there, folder := fmt.Sprintf("d/%d/foreign", at), fmt.Sprintf("d/%d/foreign", n), fmt.Sprintf("d/%d", n)
		// An exchange for a while, in which the file stays.
		a, b := "", ""
		switch kind := rand.IntN(40); {
		case n == at:
			continue
		case kind < 36:
			if err := os.Rename(here, there); err != nil {
				return err
			}
			at = n
		case kind == 36:
			a, b = folder, "out/copy"
		case kind == 37:
			a, b = folder, "out/link"
		case kind == 38:
			a, b = folder+"/file", "out/fifo"
		case kind == 39:
			a, b = "d/list", here
		}
		if a != "" {
			if err := exchange(a, b); err != nil {
				return err
			}
			pause()
			if err := exchange(a, b); err != nil {
				return err
			}
		}
		pause()
	}
}

// TestAttack verifies a folder again and again while another process moves a file through it that the
// list does not have, and exchanges what is in it. No run says that all is right, and each ends.
func TestAttack(t *testing.T) {
	if os.Getenv("FASTMAC_ATTACK") != "" {
		if err := attack(); err != nil {
			t.Fatal(err)
		}
		return
	}
	f := newFolder(t, "umac64")
	for i := range attackFolders {
		f.write(fmt.Sprintf("d/%d/file", i), 10)
		f.write(fmt.Sprintf("d/%d/more/file", i), 10)
	}
	f.Recursive, f.Output = true, "d/list"
	f.must(Tag(t.Context(), f.Options, []string{"d"}))
	f.write("out/copy/file", 10)
	f.write("out/copy/more/file", 10)
	f.must(os.Symlink("../out/copy", "out/link"))
	f.must(syscall.Mkfifo("out/fifo", 0o600))
	if err := exchange("out/copy", "out/link"); err != nil {
		t.Skip(err)
	}
	f.must(exchange("out/copy", "out/link"))
	o := f.Options
	o.Complete, o.Status = []string{"d"}, true
	verify := func(ctx context.Context) (*Report, error) {
		r, err := Verify(ctx, o, "d/list", true)
		if err == nil {
			err = r.Err()
		}
		return r, err
	}
	if _, err := verify(t.Context()); err != nil {
		t.Fatal(err)
	}
	f.write("d/0/foreign", 10)

	program, err := os.Executable()
	f.must(err)
	cmd := exec.Command(program, "-test.run=^TestAttack$")
	cmd.Env = append(os.Environ(), "FASTMAC_ATTACK=1")
	stdin, err := cmd.StdinPipe()
	f.must(err)
	var out strings.Builder
	cmd.Stdout, cmd.Stderr = &out, &out
	f.must(cmd.Start())
	rounds, length := 200, time.Hour
	if os.Getenv("FASTMAC_TEST_LONG") != "" {
		rounds, length = 1<<30, time.Minute
	}
	results := make(map[string]int)
	begin := time.Now()
	for i := 0; i < rounds && time.Since(begin) < length; i++ {
		ctx, cancel := context.WithCancel(t.Context())
		interrupt := i%10 == 9
		if interrupt {
			time.AfterFunc(time.Duration(rand.IntN(2000))*time.Microsecond, cancel)
		}
		ended := make(chan struct{})
		var r *Report
		var err error
		go func() {
			r, err = verify(ctx)
			close(ended)
		}()
		select {
		case <-ended:
		case <-time.After(10 * time.Second):
			t.Fatalf("round %d, interrupted %v, does not end", i, interrupt)
		}
		cancel()
		switch {
		case err == nil:
			t.Fatalf("round %d: all is right: %+v", i, r)
		case errors.Is(err, context.Canceled):
			results["interrupted"]++
		case r == nil:
			results["no list"]++
		case r.NotListed > 0:
			results["found"]++
		case r.Unreadable > 0:
			results["changed only"]++
		default:
			results["else"]++
		}
	}
	stdin.Close()
	if err := cmd.Wait(); err != nil {
		t.Fatalf("%v: %s", err, &out)
	}
	t.Logf("%v in %v", results, time.Since(begin))
}
