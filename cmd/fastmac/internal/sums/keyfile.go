// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package sums

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"runtime"

	"example.com/fastmac/cmd/fastmac/internal/list"
)

// WriteKey writes a new random key for the algorithm of this name to a new file, or to stdout
// if path is "-": one line, the name, the key in hex and its identifier. It leaves no file if
// it fails.
func WriteKey(path, name string, stdout io.Writer) error {
	line, err := list.NewKey(name)
	if err != nil {
		return err
	}
	defer clear(line)
	if path == "-" {
		_, err := stdout.Write(line)
		return err
	}
	f, err := createPrivate(path)
	if errors.Is(err, os.ErrExist) {
		return fmt.Errorf("%s exists: a key is never overwritten", shown(path))
	}
	if err != nil {
		return about(path, err)
	}
	// In one write: if the process is killed, the file is complete or empty, and an empty one
	// is not accepted.
	_, err = f.Write(line)
	if err == nil {
		err = f.Sync()
	}
	if closed := f.Close(); err == nil {
		err = closed
	}
	if err != nil {
		os.Remove(path)
		return about(path, err)
	}
	return nil
}

// maxKeyFile is more than any key file has, in bytes.
const maxKeyFile = 4096

// ReadKey reads a key from a file, or from stdin if path is "-": a line with the name of an
// algorithm, the key in hex and its identifier, which may be missing, or only with the key. If
// name is not empty, it is the algorithm that the key must be for. ReadKey prints a warning to
// stderr if other users can access the file.
func ReadKey(ctx context.Context, path, name string, stdin io.Reader, stderr io.Writer) (*list.Key, error) {
	return readKey(ctx, path, name, "", stdin, stderr)
}

// readKey is ReadKey, where other is the algorithm of a key whose file names none.
func readKey(ctx context.Context, path, name, other string, stdin io.Reader, stderr io.Writer) (*list.Key, error) {
	text, err := readKeyFile(ctx, path, stdin, stderr)
	defer clear(text)
	if err != nil {
		return nil, about(path, err)
	}
	k, err := list.ParseKey(text, name)
	if _, ok := errors.AsType[list.NoAlgorithmError](err); ok && other != "" {
		k, err = list.ParseKey(text, other)
	}
	if _, ok := errors.AsType[list.NoAlgorithmError](err); ok {
		return nil, list.NoAlgorithmError(shown(path))
	}
	if err != nil {
		return nil, about(path, err)
	}
	return k, nil
}

// readKeyFile returns the text of a key file. A terminal or a FIFO can make it wait, so another
// goroutine reads, which ends with the process if ctx is done first.
func readKeyFile(ctx context.Context, path string, stdin io.Reader, stderr io.Writer) ([]byte, error) {
	type result struct {
		text []byte
		err  error
		mode os.FileMode
	}
	done := make(chan result, 1)
	go func() {
		in, mode := stdin, os.FileMode(0)
		if path != "-" {
			f, err := os.Open(path)
			if err != nil {
				done <- result{err: err}
				return
			}
			defer f.Close()
			if info, err := f.Stat(); err == nil && info.Mode().IsRegular() {
				mode = info.Mode()
			}
			in = f
		}
		text := make([]byte, maxKeyFile+1)
		n, err := io.ReadFull(in, text)
		switch {
		case err == nil:
			err = fmt.Errorf("no key: it has more than %d bytes", maxKeyFile)
		case err == io.EOF || err == io.ErrUnexpectedEOF:
			err = nil
		}
		done <- result{text[:n], err, mode}
	}()
	select {
	case <-ctx.Done():
		return nil, ctx.Err()
	case r := <-done:
		// On Windows the permission bits say nothing about other users.
		if mode := r.mode.Perm(); mode&0o077 != 0 && runtime.GOOS != "windows" {
			fmt.Fprintf(stderr, "fastmac: warning: other users can access the key in %s, mode %04o: want 0600\n", list.Escape(path), mode)
		}
		return r.text, r.err
	}
}
