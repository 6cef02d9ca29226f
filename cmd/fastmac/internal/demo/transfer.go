// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package demo

import (
	"crypto/rand"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	mathrand "math/rand/v2"
	"time"
)

// The exchange on the one channel of a row, n being the row's size:
//
//	server  ready
//	client  n bytes, their SHA-256, end of file
//	server  SHA-256 of the n bytes it received, n bytes, their SHA-256, end of file
//
// Both sides compare, so that damage is found in either direction. The clock starts
// at ready, after the handshake and the start of ssh.
const ready = "fastmac demo: ready\n"

// transferCommand is the command that a client runs to begin.
func transferCommand(n int64) string { return fmt.Sprintf("transfer %d", n) }

// chunkSize is what x/crypto/ssh and OpenSSH put into one packet.
const chunkSize = 32 << 10

type digest [sha256.Size]byte

func (d digest) String() string { return fmt.Sprintf("%x", d[:]) }

// A transfer is what one side of an exchange saw.
type transfer struct {
	upBytes, downBytes int64
	upSum, downSum     digest
	upTime, downTime   time.Duration // only the client has a clock
}

// clientTransfer is the client's part. It sends on w and closes it, and reads
// from r to its end. moved is called with the size of each step.
func clientTransfer(w io.WriteCloser, r io.Reader, n int64, moved func(int)) (transfer, error) {
	var t transfer
	greeting := make([]byte, len(ready))
	if k, err := io.ReadFull(r, greeting); err != nil {
		return t, fmt.Errorf("no greeting from the server, %d bytes %q: %w", k, greeting[:k], err)
	} else if string(greeting) != ready {
		return t, fmt.Errorf("the first bytes are %q, not the server's greeting", greeting)
	}

	start := time.Now()
	var err error
	if t.upBytes, t.upSum, err = send(w, n, moved); err != nil {
		return t, fmt.Errorf("upload: %w", err)
	}
	if err := w.Close(); err != nil {
		return t, fmt.Errorf("upload: end of file: %w", err)
	}
	var received digest
	if _, err := io.ReadFull(r, received[:]); err != nil {
		return t, fmt.Errorf("upload: the server's hash: %w", err)
	}
	t.upTime = time.Since(start)

	start = time.Now()
	claimed, err := t.receiveDown(r, n, moved)
	if err != nil {
		return t, fmt.Errorf("download: %w", err)
	}
	t.downTime = time.Since(start)
	return t, errors.Join(
		compare("upload: the server received", received, t.upSum),
		compare("download: the client received", t.downSum, claimed))
}

// serverTransfer is the server's part.
func serverTransfer(rw io.ReadWriter, n int64) (transfer, error) {
	var t transfer
	if _, err := io.WriteString(rw, ready); err != nil {
		return t, fmt.Errorf("greeting: %w", err)
	}
	claimed, err := t.receiveUp(rw, n)
	if err != nil {
		return t, fmt.Errorf("upload: %w", err)
	}
	if _, err := rw.Write(t.upSum[:]); err != nil {
		return t, fmt.Errorf("download: %w", err)
	}
	if t.downBytes, t.downSum, err = send(rw, n, func(int) {}); err != nil {
		return t, fmt.Errorf("download: %w", err)
	}
	return t, compare("upload: the server received", t.upSum, claimed)
}

func (t *transfer) receiveUp(r io.Reader, n int64) (claimed digest, err error) {
	t.upBytes, t.upSum, claimed, err = receive(r, n, func(int) {})
	return claimed, err
}

func (t *transfer) receiveDown(r io.Reader, n int64, moved func(int)) (claimed digest, err error) {
	t.downBytes, t.downSum, claimed, err = receive(r, n, moved)
	return claimed, err
}

// send writes n fresh pseudo-random bytes and then their SHA-256. The content
// never repeats: a block in the wrong place has the wrong hash.
func send(w io.Writer, n int64, moved func(int)) (sent int64, sum digest, err error) {
	var seed [32]byte
	rand.Read(seed[:])
	src := mathrand.NewChaCha8(seed)
	h := sha256.New()
	buf := make([]byte, chunkSize)
	for sent < n {
		p := buf[:min(n-sent, chunkSize)]
		src.Read(p)
		h.Write(p)
		k, err := w.Write(p)
		sent += int64(k)
		moved(k)
		if err != nil {
			return sent, sum, fmt.Errorf("%d of %d bytes sent: %w", sent, n, err)
		}
	}
	h.Sum(sum[:0])
	if _, err := w.Write(sum[:]); err != nil {
		return sent, sum, fmt.Errorf("hash: %w", err)
	}
	return sent, sum, nil
}

// receive reads what send wrote, up to the end of file. sum is the hash of the
// bytes that arrived, and claimed is the sender's.
func receive(r io.Reader, n int64, moved func(int)) (received int64, sum, claimed digest, err error) {
	h := sha256.New()
	buf := make([]byte, chunkSize)
	for received < n {
		k, err := r.Read(buf[:min(n-received, chunkSize)])
		h.Write(buf[:k])
		received += int64(k)
		moved(k)
		if err == io.EOF && received < n {
			err = io.ErrUnexpectedEOF
		}
		if err != nil && err != io.EOF {
			return received, sum, claimed, fmt.Errorf("%d of %d bytes received: %w", received, n, err)
		}
	}
	h.Sum(sum[:0])
	if _, err := io.ReadFull(r, claimed[:]); err != nil {
		return received, sum, claimed, fmt.Errorf("hash: %w", err)
	}
	switch k, err := io.ReadFull(r, buf[:1]); {
	case k > 0:
		return received, sum, claimed, fmt.Errorf("more than %d bytes received", n)
	case err != io.EOF:
		return received, sum, claimed, fmt.Errorf("end of file: %w", err)
	}
	return received, sum, claimed, nil
}

func compare(what string, got, want digest) error {
	if got == want {
		return nil
	}
	return fmt.Errorf("%s other content than was sent: SHA-256 %s, want %s", what, got, want)
}
