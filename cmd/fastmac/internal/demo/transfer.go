// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package demo

import (
	"errors"
	"fmt"
	"io"
	"time"
)

// A job is what the two ends of a row have to do.
type job struct {
	suite
	size     int64 // in each direction
	up, down content
}

func newJob(s suite, size int64) *job {
	up, down := newContents()
	return &job{s, size, up, down}
}

// command is what a client runs to begin.
func (j *job) command() string { return fmt.Sprintf("transfer %d", j.size) }

// The exchange on the one channel of a row:
//
//	server  ready
//	client  the content that goes up, end of file
//	server  received, the content that goes down, end of file
//
// Both sides know both contents and compare each byte. The clock starts at ready, after
// the handshake and the start of ssh.
const (
	ready    = "fastmac demo: ready\n"
	received = "fastmac demo: received\n"
)

// A transfer is what one side of an exchange saw.
type transfer struct {
	upBytes, downBytes int64

	// Only the client has a clock.
	upTime, downTime time.Duration
	cpuTime          time.Duration // of this process
}

// clientTransfer is the client's part. It sends on w and closes it, and reads
// from r to its end. moved is called with the size of each step.
func (j *job) clientTransfer(w io.WriteCloser, r io.Reader, moved func(int)) (transfer, error) {
	var t transfer
	if err := expect(r, ready); err != nil {
		return t, fmt.Errorf("no greeting from the server: %w", err)
	}
	start, cpuStart := time.Now(), cpuTime()
	var err error
	if t.upBytes, err = send(w, j.up, j.size, moved); err != nil {
		return t, fmt.Errorf("upload: %w", err)
	}
	if err := w.Close(); err != nil {
		return t, fmt.Errorf("upload: end of file: %w", err)
	}
	if err := expect(r, received); err != nil {
		return t, fmt.Errorf("upload: the server's answer: %w", err)
	}
	t.upTime = time.Since(start)

	start = time.Now()
	if t.downBytes, err = receive(r, j.down, j.size, moved); err != nil {
		return t, fmt.Errorf("download: the client: %w", err)
	}
	t.downTime = time.Since(start)
	t.cpuTime = cpuTime() - cpuStart
	return t, nil
}

// serverTransfer is the server's part.
func (j *job) serverTransfer(rw io.ReadWriter) (transfer, error) {
	var t transfer
	if _, err := io.WriteString(rw, ready); err != nil {
		return t, fmt.Errorf("greeting: %w", err)
	}
	var err error
	if t.upBytes, err = receive(rw, j.up, j.size, func(int) {}); err != nil {
		return t, fmt.Errorf("upload: the server: %w", err)
	}
	if _, err := io.WriteString(rw, received); err != nil {
		return t, fmt.Errorf("upload: the server's answer: %w", err)
	}
	if t.downBytes, err = send(rw, j.down, j.size, func(int) {}); err != nil {
		return t, fmt.Errorf("download: %w", err)
	}
	return t, nil
}

// expect reads text.
func expect(r io.Reader, text string) error {
	got := make([]byte, len(text))
	if n, err := io.ReadFull(r, got); err != nil {
		return fmt.Errorf("%d bytes %q: %w", n, got[:n], err)
	} else if string(got) != text {
		return fmt.Errorf("%q, want %q", got, text)
	}
	return nil
}

// send writes the first n bytes of c.
func send(w io.Writer, c content, n int64, moved func(int)) (sent int64, err error) {
	for sent < n {
		k, err := w.Write(c.at(sent, int(min(n-sent, chunkSize))))
		sent += int64(k)
		moved(k)
		if err != nil {
			return sent, fmt.Errorf("%d of %d bytes sent: %w", sent, n, err)
		}
	}
	return sent, nil
}

// receive reads the first n bytes of c, and the end of file.
func receive(r io.Reader, c content, n int64, moved func(int)) (got int64, err error) {
	buf := make([]byte, chunkSize)
	for got < n {
		k, err := r.Read(buf[:min(n-got, chunkSize)])
		if err := c.check(got, buf[:k]); err != nil {
			return got, err
		}
		got += int64(k)
		moved(k)
		if err == io.EOF && got < n {
			err = io.ErrUnexpectedEOF
		}
		if err != nil && err != io.EOF {
			return got, fmt.Errorf("%d of %d bytes received: %w", got, n, err)
		}
	}
	switch k, err := io.ReadFull(r, buf[:1]); {
	case k > 0:
		return got, fmt.Errorf("more than %d bytes received", n)
	case !errors.Is(err, io.EOF):
		return got, fmt.Errorf("end of file: %w", err)
	}
	return got, nil
}
