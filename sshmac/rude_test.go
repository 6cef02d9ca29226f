// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package sshmac

import (
	"bytes"
	"errors"
	"io"
	"slices"
	"sync"
	"testing"
	"testing/synctest"

	"example.com/fastmac/internal/mactest"
	"golang.org/x/crypto/ssh"
)

// TestRude has clients of all kinds connected at once: some send single bytes, some renew the keys after each 256
// bytes, and some stop within the handshake and wait. The others must get what was sent to them meanwhile, and
// when those that wait hang up, nothing of them is left. In long runs there are a thousand.
func TestRude(t *testing.T) {
	registered(t)
	connections := 40
	if mactest.Long() {
		connections = 1000
	}
	var heap [2]uint64
	for half := range heap {
		synctest.Test(t, func(t *testing.T) { rudeClients(t, connections) })
		heap[half] = heapInUse()
	}
	checkHeap(t, heap, connections)
}

func rudeClients(t *testing.T, connections int) {
	var done, stopped sync.WaitGroup
	var waiting []*memConn
	for id := range connections {
		clientRaw, serverRaw := newMemConns()
		config := only(MACs()[id/4%len(MACs())])
		packets, write := -1, 3000 // how many packets are sent before the client stops, and the size of a write
		switch id % 4 {
		case 0:
			write = 1
		case 1:
			write, config.RekeyThreshold = 200, 1 // x/crypto raises it to 256 bytes, its minimum
		case 2:
			packets = id / 4 % 7 // from the version to the authentication
		}
		if packets >= 0 {
			waiting = append(waiting, clientRaw, serverRaw)
			clientRaw.out.fault = func(p []byte) ([]byte, bool) {
				if packets == 0 {
					return nil, false
				}
				packets--
				return p, false
			}
			stopped.Go(func() {
				if _, err := dial(clientRaw, clientConfig(config), nil); err == nil {
					t.Errorf("connection %d stops in the handshake, and is open", id)
				}
			})
			stopped.Go(func() {
				if _, _, err := serve(serverRaw, config); err == nil {
					t.Errorf("connection %d stops in the handshake, and is served", id)
				}
			})
			continue
		}
		done.Go(func() {
			if err := echo(clientRaw, serverRaw, config, uint64(id), write); err != nil {
				t.Errorf("connection %d: %v", id, err)
			}
		})
	}
	done.Wait()
	synctest.Wait()
	for _, raw := range waiting {
		raw.Close()
	}
	stopped.Wait()
}

// echo opens a connection, sends bytes to a server that sends them back, and compares.
func echo(clientRaw, serverRaw *memConn, config ssh.Config, id uint64, write int) error {
	served := make(chan error, 1)
	go func() {
		e, _, err := serve(serverRaw, config)
		if err == nil {
			_, err = io.Copy(e.channel, e.channel)
			e.channel.Close()
		}
		served <- err
	}()
	e, err := dial(clientRaw, clientConfig(config), nil)
	if err != nil {
		return errors.Join(err, <-served)
	}
	defer e.conn.Close()
	sent := make([]byte, 500+write)
	content(id).Read(sent)
	go func() {
		for p := range slices.Chunk(sent, write) {
			e.channel.Write(p) // if it fails, less comes back
		}
		e.channel.CloseWrite()
	}()
	got, err := io.ReadAll(e.channel)
	if err == nil && !bytes.Equal(got, sent) {
		err = errors.New("what comes back is not what was sent")
	}
	return errors.Join(err, <-served)
}
