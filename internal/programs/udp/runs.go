// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package main

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/netip"
	"os"
	"os/exec"
	"slices"
	"text/tabwriter"
	"time"

	"example.com/fastmac"
)

// Setup is what both sides are told, by a pipe: it has the master secret.
type Setup struct {
	MAC                         string
	Peers, Packets, Size, Batch int
	GSO                         bool
	Faults
	Master  master
	Session [32]byte // of the flow messages, for this run only
	Server  Address  // for the client
}

// Address is where the server is, and how many datagrams its buffer has room for.
type Address struct {
	Addr   netip.AddrPort
	Window int
}

// measured is a run: what the two sides say of it.
type measured struct{ client, server Report }

// nanos returns the CPU time of each side for a packet.
func (m measured) nanos() (client, server float64) {
	return float64(m.client.CPU) / float64(m.client.Packets), float64(m.server.CPU) / float64(m.server.Packets)
}

// measure starts both sides. It returns an error if the server did not count what it should.
func measure(c Setup) (m measured, err error) {
	rand.Read(c.Master[:])
	rand.Read(c.Session[:])
	// Hellos take less than maxTime, with any number of peers.
	ctx, cancel := context.WithTimeout(context.Background(), 2*maxTime+10*time.Second)
	defer cancel()
	s, err := startSide(ctx, "server", c)
	if err != nil {
		return m, err
	}
	defer s.stop()
	if err := s.decoder.Decode(&c.Server); err != nil {
		return m, fmt.Errorf("udp: the server has not started: %w", err)
	}
	k, err := startSide(ctx, "client", c)
	if err != nil {
		return m, err
	}
	defer k.stop()
	if err := k.decoder.Decode(&m.client); err != nil {
		return m, fmt.Errorf("udp: no report of the client: %w", err)
	}
	if m.client.Error != "" {
		return m, errors.New(m.client.Error)
	}
	if err := s.decoder.Decode(&m.server); err != nil {
		return m, fmt.Errorf("udp: no report of the server: %w", err)
	}
	return m, m.check()
}

// check compares what was sent with what arrived.
func (m measured) check() error {
	if m.server.Lost != 0 {
		return fmt.Errorf("udp: the kernel lost %d of %d datagrams, so the counts say nothing", m.server.Lost, m.client.Written)
	}
	if m.server.Counts != m.client.Counts {
		return fmt.Errorf("udp: wrong counts:\nthe server has %v\nit should have %v", m.server.Counts, m.client.Counts)
	}
	return nil
}

// side is a process.
type side struct {
	cmd     *exec.Cmd
	stdin   io.WriteCloser
	decoder *json.Decoder
}

func startSide(ctx context.Context, name string, c Setup) (*side, error) {
	program, err := os.Executable()
	if err != nil {
		return nil, fmt.Errorf("udp: %w", err)
	}
	cmd := exec.CommandContext(ctx, program, name)
	cmd.Stderr = os.Stderr
	in, err := cmd.StdinPipe()
	if err != nil {
		return nil, fmt.Errorf("udp: %w", err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		return nil, fmt.Errorf("udp: %w", err)
	}
	if err := cmd.Start(); err != nil {
		return nil, fmt.Errorf("udp: %w", err)
	}
	s := &side{cmd, in, json.NewDecoder(out)}
	if err := json.NewEncoder(in).Encode(c); err != nil {
		s.stop()
		return nil, fmt.Errorf("udp: %s: %w", name, err)
	}
	return s, nil
}

// stop ends a process by the end of its input.
func (s *side) stop() {
	s.stdin.Close()
	s.cmd.Wait()
}

// single runs one MAC.
func single(c Setup, out io.Writer) error {
	m, err := measure(c)
	if m.client.Written == 0 {
		return err
	}
	client, server := m.nanos()
	fmt.Fprintf(out, "%s: %d peers, %d bytes, batches of %d, GSO %v\n", c.MAC, c.Peers, c.Size, c.Batch, m.client.GSO)
	fmt.Fprintf(out, "%d hellos and sessions in %.1f s\n", c.Peers, m.client.Hellos.Seconds())
	fmt.Fprintf(out, "%d packets sealed, %d datagrams written, %d received, %d lost by the kernel\n",
		m.client.Packets, m.client.Written, m.server.Packets, m.server.Lost)
	fmt.Fprintf(out, "%.0f packets a second; CPU a packet: client %.0f ns, server %.0f ns\n",
		float64(m.server.Packets)/m.server.Wall.Seconds(), client, server)
	fmt.Fprintf(out, "server: %v\n", m.server.Counts)
	return err
}

const rounds = 5

// compare runs all MACs in turn, so that what else the machine does meets all of them.
func compare(c Setup, out io.Writer) error {
	compared := macs
	if err := fastmac.RequireGCM(); err != nil {
		fmt.Fprintf(out, "without aesgcm and gmac: %v\n", err)
		compared = []string{"none", "umac64", "umac128"}
	}
	client, server, rate := map[string][]float64{}, map[string][]float64{}, map[string][]float64{}
	for range rounds {
		for _, mac := range compared {
			c.MAC = mac
			m, err := measure(c)
			if err != nil {
				return fmt.Errorf("%w (-mac %s)", err, mac)
			}
			if c.GSO && !m.client.GSO {
				return errors.New("udp: this system refuses UDP_SEGMENT: compare without -gso")
			}
			a, b := m.nanos()
			client[mac], server[mac] = append(client[mac], a), append(server[mac], b)
			rate[mac] = append(rate[mac], float64(m.server.Packets)/m.server.Wall.Seconds())
		}
	}
	fmt.Fprintf(out, "CPU for a packet in ns, the least of %d rounds and the most; %d peers, %d bytes, batches of %d, GSO %v\n",
		rounds, c.Peers, c.Size, c.Batch, c.GSO)
	t := tabwriter.NewWriter(out, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(t, "\tclient\tmost\t÷ none\t÷ aesgcm\tserver\tmost\t÷ none\t÷ aesgcm\tpackets/s\t")
	for _, mac := range compared {
		fmt.Fprintf(t, "%s\t", mac)
		for _, all := range []map[string][]float64{client, server} {
			least := slices.Min(all[mac])
			fmt.Fprintf(t, "%.0f\t%.0f\t%.2f\t", least, slices.Max(all[mac]), least/slices.Min(all["none"]))
			if all["aesgcm"] == nil {
				fmt.Fprint(t, "-\t")
				continue
			}
			fmt.Fprintf(t, "%.2f\t", least/slices.Min(all["aesgcm"]))
		}
		fmt.Fprintf(t, "%.0f\t\n", slices.Max(rate[mac]))
	}
	return t.Flush()
}
