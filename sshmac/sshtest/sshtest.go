// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

// Package sshtest provides what tests of SSH share: keys, OpenSSH's programs, which
// read no file and use no agent of the user, and checks of what was negotiated. It is for the tests of
// this project only, and may change at any time.
package sshtest

import (
	"bytes"
	"context"
	"crypto/ed25519"
	"encoding/pem"
	"errors"
	"net"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"reflect"
	"regexp"
	"sync"
	"testing"
	"time"

	"golang.org/x/crypto/ssh"
	"golang.org/x/crypto/ssh/knownhosts"
)

// limit ends a program that hangs.
const limit = 2 * time.Minute

// Find returns the path of the first of programs that is installed. If there is none
// it skips the test and names the Debian package that has it.
func Find(t testing.TB, debianPackage string, programs ...string) string {
	t.Helper()
	for _, name := range programs {
		if path, err := exec.LookPath(name); err == nil {
			return path
		}
	}
	t.Skipf("needs %s: install the package %s", programs[0], debianPackage)
	return ""
}

// Algorithms are the cipher and the MAC of a connection, in both directions. MAC is empty with
// an AEAD cipher.
type Algorithms struct{ Cipher, MAC string }

// Config returns a configuration of x/crypto that negotiates nothing else.
func (a Algorithms) Config() ssh.Config {
	return ssh.Config{Ciphers: []string{a.Cipher}, MACs: []string{a.MAC}}
}

// CheckConn fails the test if conn reports other algorithms. Releases of x/crypto
// before v0.39.0 do not report any; reflection lets the tests build with them.
func (a Algorithms) CheckConn(t testing.TB, conn ssh.Conn) {
	t.Helper()
	method := reflect.ValueOf(conn).MethodByName("Algorithms")
	if !method.IsValid() {
		return
	}
	all := method.Call(nil)[0]
	for _, direction := range []string{"Read", "Write"} {
		d := all.FieldByName(direction)
		if got := (Algorithms{d.FieldByName("Cipher").String(), d.FieldByName("MAC").String()}); got != a {
			t.Errorf("%s: x/crypto negotiated %v, want %v", direction, got, a)
		}
	}
}

// kexLine is what ssh -v, and sshd with LogLevel DEBUG, log for each direction of
// each key exchange.
var kexLine = regexp.MustCompile(`kex: (client->server|server->client) cipher: (\S+) MAC: (\S+)`)

// CheckLog fails the test unless the log of OpenSSH's client or server has key
// exchanges for both directions, all of them with these algorithms.
func (a Algorithms) CheckLog(t testing.TB, log []byte) {
	t.Helper()
	if a.MAC == "" {
		a.MAC = "<implicit>"
	}
	directions := make(map[string]bool)
	for _, line := range kexLine.FindAllSubmatch(log, -1) {
		directions[string(line[1])] = true
		if got := (Algorithms{string(line[2]), string(line[3])}); got != a {
			t.Errorf("the peer negotiated %v, want %v", got, a)
		}
	}
	if len(directions) != 2 {
		t.Errorf("no key exchange for both directions in the peer's log:\n%s", log)
	}
}

// A Dir is a folder with the keys of a server and of a user, in these files:
//
//	host_key, identity            private keys
//	authorized_keys               the user's public key
//	known_hosts                   the server's public key, for all addresses
type Dir struct {
	Path  string
	Host  ssh.Signer // the server's key
	User  ssh.Signer // the user's key
	Login string     // the name of the user that runs the test: sshd accepts no other
}

// NewDir makes keys in a folder that is removed when the test ends.
func NewDir(t testing.TB) *Dir {
	t.Helper()
	me, err := user.Current()
	if err != nil {
		t.Fatal(err)
	}
	d := &Dir{Path: t.TempDir(), Login: me.Username}
	newKey := func(name string) ssh.Signer {
		_, key, err := ed25519.GenerateKey(nil)
		if err != nil {
			t.Fatal(err)
		}
		signer, err := ssh.NewSignerFromKey(key)
		if err != nil {
			t.Fatal(err)
		}
		block, err := ssh.MarshalPrivateKey(key, name)
		if err != nil {
			t.Fatal(err)
		}
		d.Write(t, name, pem.EncodeToMemory(block))
		return signer
	}
	d.Host, d.User = newKey("host_key"), newKey("identity")
	d.Write(t, "authorized_keys", ssh.MarshalAuthorizedKey(d.User.PublicKey()))
	d.Write(t, "known_hosts", append([]byte("* "), ssh.MarshalAuthorizedKey(d.Host.PublicKey())...))
	return d
}

// File returns the path of the file of this name.
func (d *Dir) File(name string) string { return filepath.Join(d.Path, name) }

// Write writes a file and returns its path.
func (d *Dir) Write(t testing.TB, name string, content []byte) string {
	t.Helper()
	if err := os.WriteFile(d.File(name), content, 0o600); err != nil {
		t.Fatal(err)
	}
	return d.File(name)
}

// KnownHosts returns a file with the server's public key for one address only, for
// x/crypto's knownhosts, which has no pattern for all ports.
func (d *Dir) KnownHosts(t testing.TB, address string) string {
	t.Helper()
	_, port, err := net.SplitHostPort(address)
	if err != nil {
		t.Fatal(err)
	}
	return d.Write(t, "known_hosts_"+port, []byte(knownhosts.Line([]string{address}, d.Host.PublicKey())+"\n"))
}

// ClientConfig returns a configuration for the user, who accepts the server only.
func (d *Dir) ClientConfig(config ssh.Config) *ssh.ClientConfig {
	return &ssh.ClientConfig{
		Config:          config,
		User:            d.Login,
		Auth:            []ssh.AuthMethod{ssh.PublicKeys(d.User)},
		HostKeyCallback: ssh.FixedHostKey(d.Host.PublicKey()),
	}
}

// ServerConfig returns a configuration for the server, which accepts the user's key
// only, under any name.
func (d *Dir) ServerConfig(config ssh.Config) *ssh.ServerConfig {
	c := &ssh.ServerConfig{
		Config: config,
		PublicKeyCallback: func(_ ssh.ConnMetadata, key ssh.PublicKey) (*ssh.Permissions, error) {
			if !bytes.Equal(key.Marshal(), d.User.PublicKey().Marshal()) {
				return nil, errors.New("unknown key")
			}
			return nil, nil
		},
	}
	c.AddHostKey(d.Host)
	return c
}

// options returns command-line options from lines of a configuration file.
func options(lines ...string) []string {
	var args []string
	for _, line := range lines {
		args = append(args, "-o", line)
	}
	return args
}

// command returns a command that is run in d and ends at limit at the latest.
func (d *Dir) command(t testing.TB, path string, args []string) *exec.Cmd {
	ctx, cancel := context.WithTimeout(t.Context(), limit)
	t.Cleanup(cancel)
	cmd := exec.CommandContext(ctx, path, args...)
	cmd.Dir = d.Path
	return cmd
}

// Client returns the command that runs OpenSSH's ssh, scp or sftp for a server at the
// port of the loopback address, with the defaults of ssh for what a lacks. Its standard error
// has what CheckLog checks.
func (d *Dir) Client(t testing.TB, program string, port string, a Algorithms, args ...string) *exec.Cmd {
	t.Helper()
	all := append([]string{"-v", "-F", "none"}, options(
		"Port "+port,
		"User "+d.Login,
		"UserKnownHostsFile known_hosts",
		"GlobalKnownHostsFile "+os.DevNull,
		"StrictHostKeyChecking yes",
		"UpdateHostKeys no",
		"IdentityFile identity",
		"IdentitiesOnly yes",
		"IdentityAgent none",
		"PreferredAuthentications publickey",
		"BatchMode yes",
		"ControlPath none",
		"ProxyCommand none",
		"Compression no",
		"RequestTTY no",
		"EscapeChar none",
	)...)
	if a.Cipher != "" {
		all = append(all, options("Ciphers "+a.Cipher)...)
	}
	if a.MAC != "" {
		all = append(all, options("MACs "+a.MAC)...)
	}
	return d.command(t, Find(t, "openssh-client", program), append(all, args...))
}

// Run runs ssh or sftp for the server at address and returns its output. It fails the
// test unless the connection had these algorithms.
func (d *Dir) Run(t testing.TB, program, address string, a Algorithms, stdin []byte, args ...string) []byte {
	t.Helper()
	host, port, err := net.SplitHostPort(address)
	if err != nil {
		t.Fatal(err)
	}
	cmd := d.Client(t, program, port, a, append(args, host)...)
	cmd.Stdin = bytes.NewReader(stdin)
	var log bytes.Buffer
	cmd.Stderr = &log
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("%s: %v\n%s", program, err, log.Bytes())
	}
	a.CheckLog(t, log.Bytes())
	return out
}

// CheckRefused fails the test unless ssh, with these algorithms, has no cipher in common with
// the server at address.
func (d *Dir) CheckRefused(t testing.TB, address string, a Algorithms) {
	t.Helper()
	host, port, err := net.SplitHostPort(address)
	if err != nil {
		t.Fatal(err)
	}
	log, err := d.Client(t, "ssh", port, a, host).CombinedOutput()
	if err == nil || !bytes.Contains(log, []byte("no matching cipher found")) {
		t.Errorf("%v: %v, and no refusal of the cipher in the log of ssh:\n%s", a, err, log)
	}
}

// SSHD returns the command that runs OpenSSH's sshd for one connection, which is its
// standard input and output: see [Start]. So it needs no port. The lines are added to
// its configuration. Its standard error has what CheckLog checks.
func (d *Dir) SSHD(t testing.TB, a Algorithms, lines ...string) *exec.Cmd {
	t.Helper()
	sshd := Find(t, "openssh-server", "sshd", "/usr/sbin/sshd") // often not in the PATH of users
	args := append([]string{"-f", os.DevNull}, options(append([]string{
		"HostKey " + d.File("host_key"),
		"AuthorizedKeysFile " + d.File("authorized_keys"),
		"StrictModes no",
		"UsePAM no",
		"PasswordAuthentication no",
		"PermitRootLogin yes",
		"Ciphers " + a.Cipher,
		"MACs " + a.MAC,
		"LogLevel DEBUG",
	}, lines...)...)...)
	out, err := exec.Command(sshd, append(args, "-t")...).CombinedOutput()
	if bytes.Contains(out, []byte("Missing privilege separation directory")) {
		t.Skipf("needs the folder that the service of openssh-server makes when it starts: %s", out)
	} else if err != nil {
		t.Fatalf("sshd -t: %v\n%s", err, out)
	}
	return d.command(t, sshd, append(args, "-i", "-e"))
}

// Start starts cmd with one end of a loopback connection as its standard input and
// output, as inetd does, and returns the other end.
func Start(t testing.TB, cmd *exec.Cmd) net.Conn {
	t.Helper()
	listener, err := net.Listen("tcp4", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	conn, err := net.Dial("tcp4", listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close() })
	accepted, err := listener.Accept()
	if err != nil {
		t.Fatal(err)
	}
	if err := start(cmd, accepted); err != nil {
		t.Fatal(err)
	}
	return conn
}

// start starts cmd with conn as its standard input and output, and closes conn.
func start(cmd *exec.Cmd, conn net.Conn) error {
	socket, err := conn.(*net.TCPConn).File()
	conn.Close()
	if err != nil {
		return err
	}
	defer socket.Close()
	cmd.Stdin, cmd.Stdout = socket, socket
	return cmd.Start()
}

// A Server is an sshd that serves any number of connections.
type Server struct {
	Address string
	log     string
}

// Log returns what the server has logged so far.
func (s *Server) Log(t testing.TB) []byte {
	t.Helper()
	log, err := os.ReadFile(s.log)
	if err != nil {
		t.Fatal(err)
	}
	return log
}

// Serve runs sshd as SSHD does, for all connections to an address. It stops when the
// test ends.
func (d *Dir) Serve(t testing.TB, a Algorithms, lines ...string) *Server {
	t.Helper()
	sshd := d.SSHD(t, a, lines...)
	s := &Server{log: d.Write(t, "sshd.log", nil)}
	log, err := os.OpenFile(s.log, os.O_WRONLY|os.O_APPEND, 0)
	if err != nil {
		t.Fatal(err)
	}
	listener, err := net.Listen("tcp4", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	s.Address = listener.Addr().String()
	var running sync.WaitGroup
	t.Cleanup(func() {
		listener.Close()
		running.Wait()
		log.Close()
		if t.Failed() {
			t.Logf("sshd: %s", s.Log(t))
		}
	})
	running.Go(func() {
		for {
			conn, err := listener.Accept()
			if err != nil {
				return
			}
			cmd := exec.CommandContext(t.Context(), sshd.Path, sshd.Args[1:]...)
			cmd.Stderr = log
			if err := start(cmd, conn); err != nil {
				t.Error(err)
				return
			}
			running.Go(func() { cmd.Wait() }) // fails when a client just closes the connection
		}
	})
	return s
}
