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
	j := newJob(suite{}, n)
	end := make(chan struct{})
	go func() {
		defer close(end)
		server, serverErr = j.serverTransfer(tamper(duplex{upR, downW}))
		upR.Close()
		downW.Close()
	}()
	client, clientErr = j.clientTransfer(upW, downR, func(int) {})
	upW.Close()
	downR.Close()
	<-end
	return
}

func untouched(rw io.ReadWriter) io.ReadWriter { return rw }

func TestTransfer(t *testing.T) {
	for _, n := range []int64{1, 2, chunkSize - 1, chunkSize, chunkSize + 1, 5*chunkSize + 7, 2*period + 1} {
		client, server, clientErr, serverErr := exchange(n, untouched)
		if clientErr != nil || serverErr != nil {
			t.Errorf("%d bytes: client %v, server %v", n, clientErr, serverErr)
		}
		for _, got := range []int64{client.upBytes, client.downBytes, server.upBytes, server.downBytes} {
			if got != n {
				t.Errorf("%d bytes: client %+v, server %+v", n, client, server)
			}
		}
	}
}

// TestTransferDamage proves that the comparison can fail, wherever the damage is.
func TestTransferDamage(t *testing.T) {
	const (
		n    = 2*chunkSize + 5
		down = int64(len(ready) + len(received)) // where the download starts in what the server writes
	)
	read := func(at int64) *tamperer { return &tamperer{read: &damage{at: at}} }
	write := func(at int64) *tamperer { return &tamperer{write: &damage{at: at}} }
	for _, tt := range []struct {
		name           string
		tamper         *tamperer
		client, server string // in the errors; empty for none
	}{
		{"first byte up", read(0), "upload: ", "upload: the server: received other content than was sent, first at byte 0"},
		{"byte in a chunk up", read(chunkSize + 77), "upload: ", "upload: the server: received other content than was sent, first at byte 32845"},
		{"last byte up", read(n - 1), "upload: the server's answer: ", "upload: the server: received other content than was sent, first at byte 65540"},
		{"greeting", write(3), "no greeting from the server: \"fasdmac", "upload"},
		{"answer", write(down - 1), "upload: the server's answer: ", "download: "},
		{"first byte down", write(down), "download: the client: received other content than was sent, first at byte 0", ""},
		{"last byte down", write(down + n - 1), "download: the client: received other content than was sent, first at byte 65540", ""},
	} {
		_, _, clientErr, serverErr := exchange(n, func(rw io.ReadWriter) io.ReadWriter {
			tt.tamper.ReadWriter = rw
			return tt.tamper
		})
		if !matches(clientErr, tt.client) || !matches(serverErr, tt.server) && tt.name != "first byte down" {
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

// TestContent has content in a wrong place, from the other direction and from another row.
func TestContent(t *testing.T) {
	up, down := newContents()
	for _, position := range []int64{0, 1, chunkSize, period - 1, period, 5 * period / 2, maxSize} {
		for _, n := range []int{1, 100, chunkSize} {
			if err := up.check(position, up.at(position, n)); err != nil {
				t.Errorf("%d bytes at %d: %v", n, position, err)
			}
		}
		other, _ := newContents()
		for name, wrong := range map[string][]byte{
			"the next packet":     up.at(position+chunkSize, chunkSize),
			"one byte later":      up.at(position+1, chunkSize),
			"the other direction": down.at(position, chunkSize),
			"another row":         other.at(position, chunkSize),
		} {
			if up.check(position, wrong) == nil {
				t.Errorf("%s is accepted at %d", name, position)
			}
		}
	}
}

func TestReceiveLength(t *testing.T) {
	const n = 100
	c, _ := newContents()
	whole := string(c.at(0, n))
	for _, tt := range []struct{ name, in, want string }{
		{"nothing", "", "0 of 100 bytes received: unexpected EOF"},
		{"short", whole[:n-1], "99 of 100 bytes received: unexpected EOF"},
		{"exact", whole, ""},
		{"long", whole + "x", "more than 100 bytes received"},
	} {
		if _, err := receive(strings.NewReader(tt.in), c, n, func(int) {}); !matches(err, tt.want) {
			t.Errorf("%s: %v, want %q", tt.name, err, tt.want)
		}
	}
}
