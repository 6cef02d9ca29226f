// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

// Package interop has only tests. They answer two questions: do x/crypto/ssh with the
// MACs of sshmac and other SSH programs understand each other, with every MAC and kind
// of cipher, and on which releases of x/crypto does sshmac work?
package interop

import (
	"bufio"
	"bytes"
	"crypto/fips140"
	"crypto/sha256"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"text/tabwriter"
	"time"

	"example.com/fastmac/internal/mactest"
	"example.com/fastmac/sshmac"
	"example.com/fastmac/sshmac/sshtest"
	"golang.org/x/crypto/ssh"
)

// macs are those that sshmac.Register adds or replaces.
var macs = []string{
	sshmac.UMAC64, sshmac.UMAC128, sshmac.UMAC64ETM, sshmac.UMAC128ETM,
	ssh.HMACSHA256, ssh.HMACSHA256ETM, ssh.HMACSHA512, ssh.HMACSHA512ETM,
}

// rows returns the rows of the matrix: each of macs with every kind of cipher that needs one.
func rows() []sshtest.Algorithms {
	var all []sshtest.Algorithms
	for _, mac := range macs {
		for _, cipher := range []string{"aes128-ctr", "aes256-ctr", "aes128-cbc"} {
			all = append(all, sshtest.Algorithms{Cipher: cipher, MAC: mac})
		}
	}
	return all
}

// A content is what is sent in each direction. x/crypto asks for new keys after rekey
// bytes.
type content struct {
	size  int64
	rekey uint64
	file  string
	sum   string // SHA-256
}

// newContents writes the contents of the matrix.
func newContents(t *testing.T) []content {
	t.Helper()
	all := []content{
		{size: 300_000, rekey: 16 << 10},
		{size: 64 << 20, rekey: 1 << 20},
	}
	switch {
	case testing.Short():
		all = all[:1]
	case *sample:
		all[1].size = 8 << 20
	}
	dir := t.TempDir()
	for i := range all {
		c := &all[i]
		b := make([]byte, c.size)
		rand.NewChaCha8([32]byte([]byte("TestMatrix.     seed of 32 bytes"))).Read(b)
		c.file = filepath.Join(dir, fmt.Sprint(c.size))
		if err := os.WriteFile(c.file, b, 0o600); err != nil {
			t.Fatal(err)
		}
		c.sum = fmt.Sprintf("%x", sha256.Sum256(b))
	}
	return all
}

// selected reports whether the matrix sends the content with these algorithms: the
// large one under each MAC with one cipher, and with all where long cases run.
func (c content) selected(a sshtest.Algorithms) bool {
	return c.size < 1<<20 || a.Cipher == "aes128-ctr" || mactest.Long()
}

// A peer is a column of the matrix. need skips the test if it is not installed.
type peer struct {
	name string
	need func(t *testing.T)
	run  func(t *testing.T, c *cell)
}

var peers = []peer{
	{"ssh", needSSH, client(checkOutputFile, sshCommand)},
	{"scp", needSSH, client(checkBothFiles, scpUp, scpDown)},
	{"sftp", needSFTP, client(checkBothFiles, sftpCommand)},
	{"asyncssh", needAsyncSSH, client(checkOutputFile, asyncSSHCommand)},
	{"sshd", needSSHD, server(sshdCommand)},
	{"asyncssh server", needAsyncSSH, server(asyncSSHDCommand)},
}

// A cell is one transfer in both directions.
type cell struct {
	sshtest.Algorithms
	*sshtest.Dir // its file content is a link
	content
	rekeyed atomic.Int64 // key exchanges, as x/crypto's side counts them
}

// newCell makes keys and links the content, if it has one, into their folder.
func newCell(t *testing.T, a sshtest.Algorithms, content content) *cell {
	t.Helper()
	if fips140.Enabled() {
		t.Skip("FIPS 140 mode has no UMAC")
	}
	if err := sshmac.Register(); err != nil {
		t.Fatal(err)
	}
	c := &cell{Algorithms: a, Dir: sshtest.NewDir(t), content: content}
	if content.file != "" {
		if err := os.Symlink(content.file, c.File("content")); err != nil {
			t.Fatal(err)
		}
	}
	return c
}

// remoteCommand prints the SHA-256 of its standard input and then the content.
func (c *cell) remoteCommand() string { return "sha256sum; cat '" + c.file + "'" }

// config is x/crypto's.
func (c *cell) config() ssh.Config {
	config := c.Config()
	config.RekeyThreshold = c.rekey
	return config
}

// checkOutput reads the output of remoteCommand, whose input was the content.
func (c *cell) checkOutput(t *testing.T, output io.Reader) {
	t.Helper()
	r := bufio.NewReader(output)
	line, err := r.ReadString('\n')
	if up, _, _ := strings.Cut(line, " "); up != c.sum {
		t.Errorf("up: SHA-256 %q, want %s; %v", up, c.sum, err)
	}
	c.checkContent(t, "down", r)
}

// checkFile compares a file that a peer made with the content.
func (c *cell) checkFile(t *testing.T, name string) {
	t.Helper()
	f, err := os.Open(c.File(name))
	if err != nil {
		t.Error(err)
		return
	}
	defer f.Close()
	c.checkContent(t, name, f)
}

func (c *cell) checkContent(t *testing.T, name string, r io.Reader) {
	t.Helper()
	h := sha256.New()
	n, err := io.Copy(h, r)
	if sum := fmt.Sprintf("%x", h.Sum(nil)); sum != c.sum {
		t.Errorf("%s: SHA-256 %s of %d bytes, want %s of %d; %v", name, sum, n, c.sum, c.size, err)
	}
}

// checkConn compares what x/crypto's end of a connection reports.
func (c *cell) checkConn(t *testing.T, conn ssh.Conn) {
	t.Helper()
	if _, ok := conn.(ssh.AlgorithmsConnMetadata); !ok {
		t.Error("x/crypto does not report what was negotiated")
	}
	c.CheckConn(t, conn)
}

// stallLimit ends connections that stall.
const stallLimit = time.Minute

// A wire is a network connection that ends when nothing is received. With a CBC cipher
// and a wrong MAC both ends wait for more data, so as not to reveal which part of the
// packet was wrong.
type wire struct{ net.Conn }

func (w wire) Read(p []byte) (int, error) {
	if err := w.SetReadDeadline(time.Now().Add(stallLimit)); err != nil {
		return 0, err
	}
	return w.Conn.Read(p)
}

// TestMatrix moves a file up and down between x/crypto and each peer with every MAC.
func TestMatrix(t *testing.T) {
	contents := newContents(t)
	var mu sync.Mutex
	results := make(map[string][]string) // by peer and row
	for _, p := range peers {
		t.Run(p.name, func(t *testing.T) {
			p.need(t)
			for _, content := range contents {
				for _, a := range rows() {
					if !content.selected(a) {
						continue
					}
					t.Run(fmt.Sprintf("%d/%s/%s", content.size, a.MAC, a.Cipher), func(t *testing.T) {
						t.Parallel()
						c := newCell(t, a, content)
						p.run(t, c)
						// A peer sends up to 2 MiB, which is the window,
						// before it answers a request for new keys.
						n := c.rekeyed.Load()
						if want := content.size>>21 + 2; n < want {
							t.Errorf("%d key exchanges, want at least %d", n, want)
						}
						if !t.Failed() {
							mu.Lock()
							defer mu.Unlock()
							name := p.name + a.MAC + a.Cipher
							results[name] = append(results[name], fmt.Sprintf("%d: %d", content.size, n))
						}
					})
				}
			}
		})
	}

	var table bytes.Buffer
	w := tabwriter.NewWriter(&table, 0, 0, 2, ' ', 0)
	fmt.Fprint(w, "MAC\tcipher")
	for _, p := range peers {
		fmt.Fprint(w, "\t", p.name)
	}
	for _, a := range rows() {
		fmt.Fprintf(w, "\n%s\t%s", a.MAC, a.Cipher)
		for _, p := range peers {
			cell := results[p.name+a.MAC+a.Cipher]
			slices.Sort(cell) // parallel transfers end in any order
			fmt.Fprint(w, "\t", strings.Join(cell, ", "))
		}
	}
	w.Flush()
	t.Logf("bytes that were sent in each direction without an error, and the number of key exchanges:\n%s", &table)
}

func needAsyncSSH(t *testing.T) {
	python := sshtest.Find(t, "python3", "python3")
	const probe = "import asyncssh, asyncssh.mac; asyncssh.run_server; assert b'umac-64@openssh.com' in asyncssh.mac.get_mac_algs()"
	if out, err := exec.Command(python, "-c", probe).CombinedOutput(); err != nil {
		t.Skipf("needs AsyncSSH, newer than Debian 12's, with UMAC: install the packages python3-venv and libnettle8, and asyncssh with pip into an environment whose python3 is the first in PATH\n%s", out)
	}
}

// asyncSSH returns the command that runs AsyncSSH as a client, or as a server on
// the connection that is its standard input.
func asyncSSH(t *testing.T, role string, c *cell, args ...string) *exec.Cmd {
	script, err := filepath.Abs("testdata/asyncssh_peer.py")
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), "python3", append([]string{script, role, c.Cipher, c.MAC}, args...)...)
	cmd.Dir = c.Path
	return cmd
}
