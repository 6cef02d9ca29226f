// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package demo

import (
	"io"
	"strings"
	"testing"
)

// A tamperer changes the stream that goes through it: the byte at offset at, in
// the direction that it is made for.
type tamperer struct {
	io.ReadWriter
	read, write *damage
}

type damage struct {
	at   int64
	seen int64
}

func (d *damage) apply(p []byte) {
	if d == nil {
		return
	}
	if i := d.at - d.seen; i >= 0 && i < int64(len(p)) {
		p[i] ^= 0x10
	}
	d.seen += int64(len(p))
}

func (t *tamperer) Read(p []byte) (int, error) {
	n, err := t.ReadWriter.Read(p)
	t.read.apply(p[:n])
	return n, err
}

func (t *tamperer) Write(p []byte) (int, error) {
	q := append([]byte(nil), p...)
	t.write.apply(q)
	return t.ReadWriter.Write(q)
}

type duplex struct {
	io.Reader
	io.Writer
}

// exchange runs both ends in memory. tamper works on the server's channel.
func exchange(n int64, tamper func(io.ReadWriter) io.ReadWriter) (client, server transfer, clientErr, serverErr error) {
	upR, upW := io.Pipe()
	downR, downW := io.Pipe()
	end := make(chan struct{})
	go func() {
		defer close(end)
		server, serverErr = serverTransfer(tamper(duplex{upR, downW}), n)
		upR.Close()
		downW.Close()
	}()
	client, clientErr = clientTransfer(upW, downR, n, func(int) {})
	upW.Close()
	downR.Close()
	<-end
	return
}

func untouched(rw io.ReadWriter) io.ReadWriter { return rw }

func TestTransfer(t *testing.T) {
	for _, n := range []int64{1, 2, chunkSize - 1, chunkSize, chunkSize + 1, 5*chunkSize + 7} {
		client, server, clientErr, serverErr := exchange(n, untouched)
		if clientErr != nil || serverErr != nil {
			t.Errorf("%d bytes: client %v, server %v", n, clientErr, serverErr)
		}
		if client.upSum != server.upSum || client.downSum != server.downSum || client.upSum == client.downSum {
			t.Errorf("%d bytes: client %+v, server %+v", n, client, server)
		}
		for _, got := range []int64{client.upBytes, client.downBytes, server.upBytes, server.downBytes} {
			if got != n {
				t.Errorf("%d bytes: client %+v, server %+v", n, client, server)
			}
		}
	}
}

// TestTransferDamage proves that the check can fail, wherever the damage is.
func TestTransferDamage(t *testing.T) {
	const (
		n    = 2*chunkSize + 5
		hash = int64(len(digest{}))
		down = int64(len(ready)) + hash // where the download starts in what the server writes
	)
	read := func(at int64) *tamperer { return &tamperer{read: &damage{at: at}} }
	write := func(at int64) *tamperer { return &tamperer{write: &damage{at: at}} }
	for _, tt := range []struct {
		name           string
		tamper         *tamperer
		client, server string // in the errors; empty for none
	}{
		{"first byte up", read(0), "upload: the server received other content", "upload: the server received other content"},
		{"last byte up", read(n - 1), "upload: the server received other content", "upload: the server received other content"},
		{"the client's hash", read(n), "", "upload: the server received other content"},
		{"greeting", write(3), "not the server's greeting", "upload"},
		{"the hash that the server received", write(down - 1), "upload: the server received other content", ""},
		{"first byte down", write(down), "download: the client received other content", ""},
		{"last byte down", write(down + n - 1), "download: the client received other content", ""},
		{"the server's hash", write(down + n + hash - 1), "download: the client received other content", ""},
	} {
		_, _, clientErr, serverErr := exchange(n, func(rw io.ReadWriter) io.ReadWriter {
			tt.tamper.ReadWriter = rw
			return tt.tamper
		})
		if !matches(clientErr, tt.client) || !matches(serverErr, tt.server) {
			t.Errorf("%s: client %v, server %v", tt.name, clientErr, serverErr)
		}
	}
}

func matches(err error, want string) bool {
	if want == "" || err == nil {
		return want == "" && err == nil
	}
	return strings.Contains(err.Error(), want)
}

func TestReceiveLength(t *testing.T) {
	const n = 100
	hash := strings.Repeat("h", len(digest{}))
	for _, tt := range []struct{ name, in, want string }{
		{"nothing", "", "0 of 100 bytes received: unexpected EOF"},
		{"short", strings.Repeat("x", n-1), "99 of 100 bytes received: unexpected EOF"},
		{"no hash", strings.Repeat("x", n), "hash: EOF"},
		{"half a hash", strings.Repeat("x", n) + hash[1:], "hash: unexpected EOF"},
		{"exact", strings.Repeat("x", n) + hash, ""},
		{"long", strings.Repeat("x", n) + hash + "x", "more than 100 bytes received"},
	} {
		if _, _, _, err := receive(strings.NewReader(tt.in), n, func(int) {}); !matches(err, tt.want) {
			t.Errorf("%s: %v, want %q", tt.name, err, tt.want)
		}
	}
}
