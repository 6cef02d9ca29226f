// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

// Package interop has tests only: x/crypto/ssh with the MACs of sshmac against
// other SSH programs, and sshmac on other releases of x/crypto.
package interop

import (
	"bufio"
	"bytes"
	"crypto/ed25519"
	"crypto/fips140"
	"crypto/rand"
	"crypto/sha256"
	"encoding/pem"
	"fmt"
	"io"
	mathrand "math/rand/v2"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync/atomic"
	"testing"
	"text/tabwriter"
	"time"

	"example.com/fastmac/sshmac"
	"golang.org/x/crypto/ssh"
)

// A row of the matrix.
type row struct{ mac, cipher string }

// rows returns every MAC of sshmac with every kind of cipher that takes one.
func rows() []row {
	var all []row
	for _, m := range sshmac.Modes() {
		for _, cipher := range []string{"aes128-ctr", "aes256-ctr", "aes128-cbc"} {
			all = append(all, row{m.Name, cipher})
		}
	}
	return all
}

// sizes are those of the content sent in each direction. x/crypto asks for new keys
// after rekey bytes.
var sizes = []struct {
	bytes int64
	rekey uint64
}{
	{300_000, 16 << 10},
	{64 << 20, 1 << 20},
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
	row
	*site
	size    int64
	sum     string // SHA-256 of the file content
	rekey   uint64
	rekeyed atomic.Int64 // key exchanges, as x/crypto's side counts them
}

// remoteCommand prints the SHA-256 of its standard input and then the content.
func (c *cell) remoteCommand() string { return "sha256sum; cat '" + c.file("content") + "'" }

// config is x/crypto's.
func (c *cell) config() ssh.Config {
	return ssh.Config{MACs: []string{c.mac}, Ciphers: []string{c.cipher}, RekeyThreshold: c.rekey}
}

// checkOutput reads what remoteCommand printed after having been given the content.
func (c *cell) checkOutput(t *testing.T, output io.Reader) {
	t.Helper()
	r := bufio.NewReader(output)
	line, err := r.ReadString('\n')
	if up, _, _ := strings.Cut(line, " "); up != c.sum {
		t.Errorf("up: SHA-256 %q, want %s; %v", up, c.sum, err)
	}
	h := sha256.New()
	n, err := io.Copy(h, r)
	if down := fmt.Sprintf("%x", h.Sum(nil)); down != c.sum {
		t.Errorf("down: SHA-256 %s of %d bytes, want %s of %d; %v", down, n, c.sum, c.size, err)
	}
}

// checkFile compares a file that a peer made with the content.
func (c *cell) checkFile(t *testing.T, name string) {
	t.Helper()
	if sum, n := c.sumFile(t, name); sum != c.sum {
		t.Errorf("%s: SHA-256 %s of %d bytes, want %s of %d", name, sum, n, c.sum, c.size)
	}
}

// stallLimit is for connections on which nothing comes any more.
const stallLimit = 20 * time.Second

// A wire is a network connection that ends when it stalls. With a CBC cipher and a
// wrong MAC both ends wait for more, to not tell where the packet was wrong.
type wire struct{ net.Conn }

func (w wire) Read(p []byte) (int, error) {
	if err := w.SetReadDeadline(time.Now().Add(stallLimit)); err != nil {
		return 0, err
	}
	return w.Conn.Read(p)
}

// checkConn compares what x/crypto's end of a connection reports.
func (c *cell) checkConn(t *testing.T, conn ssh.Conn) {
	t.Helper()
	algorithms := conn.(ssh.AlgorithmsConnMetadata).Algorithms()
	for _, d := range []ssh.DirectionAlgorithms{algorithms.Read, algorithms.Write} {
		if d.Cipher != c.cipher || d.MAC != c.mac {
			t.Errorf("x/crypto reports %s with %s, want %s with %s", d.Cipher, d.MAC, c.cipher, c.mac)
		}
	}
}

// What ssh -v and sshd print for each direction of each key exchange; the script
// for AsyncSSH prints the same.
var negotiated = regexp.MustCompile(`kex: (client->server|server->client) cipher: (\S+) MAC: (\S+)`)

// checkLog compares what the peer reports.
func (c *cell) checkLog(t *testing.T, log string) {
	t.Helper()
	directions := make(map[string]int)
	for _, m := range negotiated.FindAllStringSubmatch(log, -1) {
		directions[m[1]]++
		if m[2] != c.cipher || m[3] != c.mac {
			t.Errorf("the peer reports %s with %s, want %s with %s", m[2], m[3], c.cipher, c.mac)
		}
	}
	if len(directions) != 2 {
		t.Errorf("what was negotiated is not in the peer's log: %v", directions)
	}
}

// TestMatrix moves a file up and down between x/crypto and each peer with every MAC.
func TestMatrix(t *testing.T) {
	s := newSite(t)
	if testing.Short() {
		sizes = sizes[:1]
	}
	results := make(map[string]string) // by peer and row
	for _, p := range peers {
		t.Run(p.name, func(t *testing.T) {
			p.need(t)
			for _, size := range sizes {
				sum := s.newContent(t, size.bytes)
				for _, r := range rows() {
					c := &cell{row: r, site: s, size: size.bytes, sum: sum, rekey: size.rekey}
					ok := t.Run(fmt.Sprintf("%d/%s/%s", size.bytes, r.mac, r.cipher), func(t *testing.T) {
						p.run(t, c)
						// A peer sends up to 2 MiB, which is the window,
						// before it answers a request for new keys.
						if n, want := c.rekeyed.Load(), size.bytes>>21+2; n < want {
							t.Errorf("%d key exchanges, want %d at least", n, want)
						}
					})
					result := "FAILED"
					if n := c.rekeyed.Load(); ok && n > 0 {
						result = fmt.Sprintf("ok %d", n)
					} else if ok {
						result = "-" // not selected by -run
					}
					name := p.name + r.mac + r.cipher
					results[name] = strings.TrimPrefix(results[name]+", "+result, ", ")
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
	for _, r := range rows() {
		fmt.Fprintf(w, "\n%s\t%s", r.mac, r.cipher)
		for _, p := range peers {
			result := results[p.name+r.mac+r.cipher]
			if result == "" {
				result = "-"
			}
			fmt.Fprint(w, "\t", result)
		}
	}
	w.Flush()
	t.Logf("result and number of key exchanges, for each {size, bytes between key exchanges} in %v:\n%s", sizes, &table)
}

// A site is what all connections share: keys, and a folder with their files and the
// content.
type site struct {
	dir        string
	host, user ssh.Signer
}

func newSite(t *testing.T) *site {
	t.Helper()
	if fips140.Enabled() {
		t.Skip("FIPS 140 mode has no UMAC")
	}
	if err := sshmac.Register(); err != nil {
		t.Fatal(err)
	}
	s := &site{dir: t.TempDir()}
	newKey := func(name string) ssh.Signer {
		_, key, err := ed25519.GenerateKey(rand.Reader)
		if err != nil {
			t.Fatal(err)
		}
		signer, err := ssh.NewSignerFromKey(key)
		if err != nil {
			t.Fatal(err)
		}
		block, err := ssh.MarshalPrivateKey(key, "")
		if err != nil {
			t.Fatal(err)
		}
		s.write(t, name, pem.EncodeToMemory(block))
		return signer
	}
	s.host, s.user = newKey("host"), newKey("identity")
	s.write(t, "authorized", ssh.MarshalAuthorizedKey(s.user.PublicKey()))
	s.write(t, "batch", []byte("put content up\nget content down\n"))
	s.write(t, "known_hosts", append([]byte("* "), ssh.MarshalAuthorizedKey(s.host.PublicKey())...))
	return s
}

func (s *site) file(name string) string { return filepath.Join(s.dir, name) }

func (s *site) write(t *testing.T, name string, content []byte) {
	t.Helper()
	if err := os.WriteFile(s.file(name), content, 0o600); err != nil {
		t.Fatal(err)
	}
}

// newContent fills the file content with random bytes and returns their SHA-256.
func (s *site) newContent(t *testing.T, size int64) string {
	t.Helper()
	var seed [32]byte
	rand.Read(seed[:])
	content := make([]byte, size)
	mathrand.NewChaCha8(seed).Read(content)
	s.write(t, "content", content)
	return fmt.Sprintf("%x", sha256.Sum256(content))
}

func (s *site) sumFile(t *testing.T, name string) (sum string, size int64) {
	t.Helper()
	f, err := os.Open(s.file(name))
	if err != nil {
		t.Error(err)
		return "", 0
	}
	defer f.Close()
	h := sha256.New()
	size, err = io.Copy(h, f)
	if err != nil {
		t.Error(err)
	}
	return fmt.Sprintf("%x", h.Sum(nil)), size
}

// find returns the first of names that is a program, or skips the test.
func find(t *testing.T, debianPackage string, names ...string) string {
	t.Helper()
	for _, name := range names {
		if path, err := exec.LookPath(name); err == nil {
			return path
		}
	}
	t.Skipf("needs %s: install the package %s", names[0], debianPackage)
	return ""
}

func needAsyncSSH(t *testing.T) {
	python := find(t, "python3", "python3")
	const probe = "import asyncssh, asyncssh.mac; asyncssh.run_server; assert b'umac-64@openssh.com' in asyncssh.mac.get_mac_algs()"
	if out, err := exec.Command(python, "-c", probe).CombinedOutput(); err != nil {
		t.Skipf("needs AsyncSSH, newer than Debian 12's, with UMAC: install the packages python3-venv and libnettle8, and asyncssh with pip into an environment whose python3 is the first in PATH\n%s", out)
	}
}

// asyncSSH returns the command that runs AsyncSSH as a client, or as a server on
// the connection that is its standard input.
func asyncSSH(role string, c *cell, args ...string) *exec.Cmd {
	script, err := filepath.Abs("testdata/asyncssh_peer.py")
	if err != nil {
		panic(err)
	}
	return exec.Command("python3", append([]string{script, role, c.cipher, c.mac}, args...)...)
}
