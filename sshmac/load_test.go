// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package sshmac

import (
	"encoding/binary"
	"net"
	"sync"
	"testing"
	"time"

	"example.com/fastmac/internal/mactest"
	"example.com/fastmac/sshmac/sshtest"
)

// TestLoad opens many connections to one server at once, under all MACs, and moves
// data both ways in all of them, with rekeys on the way.
func TestLoad(t *testing.T) {
	registered(t)
	connections, size := 150, 128<<10
	switch {
	case testing.Short():
		connections = 50
	case mactest.Long():
		connections = 500
	}
	config := only(MACs()...)
	config.RekeyThreshold = 64 << 10

	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	guard := time.Now().Add(5 * time.Minute) // a hang becomes an error
	listener.(*net.TCPListener).SetDeadline(guard)

	var all, open sync.WaitGroup
	open.Add(connections) // so that no client sends before all are connected
	client := func(id uint64) error {
		config := config
		config.MACs = MACs()[id%uint64(len(MACs())):][:1]
		raw, err := net.Dial("tcp", listener.Addr().String())
		if err != nil {
			open.Done()
			return err
		}
		raw.SetDeadline(guard)
		e, err := dial(raw, clientConfig(config), binary.BigEndian.AppendUint64(nil, id))
		open.Done()
		if err != nil {
			return err
		}
		defer e.conn.Close()
		sshtest.Algorithms{Cipher: "aes128-ctr", MAC: config.MACs[0]}.CheckConn(t, e.conn)
		open.Wait()
		if err := e.exchange(2*id, 2*id+1, size); err != nil {
			return err
		}
		// The server closes when it has everything too.
		e.conn.Wait()
		return nil
	}
	server := func(raw net.Conn) error {
		raw.SetDeadline(guard)
		e, extra, err := serve(raw, config)
		if err != nil {
			return err
		}
		defer e.conn.Close()
		id := binary.BigEndian.Uint64(extra)
		if err := e.exchange(2*id+1, 2*id, size); err != nil {
			return err
		}
		// The client answers once it has read what is before this in the stream.
		_, err = e.channel.SendRequest("done", true, nil)
		return err
	}
	all.Go(func() {
		for range connections {
			raw, err := listener.Accept()
			if err != nil {
				t.Error(err)
				return
			}
			all.Go(func() {
				if err := server(raw); err != nil {
					t.Errorf("server: %v", err)
				}
			})
		}
	})
	for id := range connections {
		all.Go(func() {
			if err := client(uint64(id)); err != nil {
				t.Errorf("client %d: %v", id, err)
			}
		})
	}
	all.Wait()
}
