// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package demo

import (
	"context"
	"encoding/pem"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"time"

	"example.com/fastmac/cmd/fastmac/internal/child"
	"golang.org/x/crypto/ssh"
)

const (
	userName  = "fastmac"
	hostAlias = "fastmac-demo" // the server's name in known_hosts, whatever its port
)

var errNoOpenSSH = errors.New("no ssh in PATH, so no rows for OpenSSH's client; its package is openssh-client")

// nothingConfigured ends the name of the client that has its default algorithms.
const nothingConfigured = ", nothing configured"

// openSSH is the OpenSSH client in PATH.
type openSSH struct {
	path   string
	server *net.TCPAddr
	dir    string // holds its keys; ssh runs in it, so that no option has to quote its name
}

// newOpenSSH finds the ssh in PATH and makes the files that it needs. It returns
// errNoOpenSSH if there is none, and another error if it does not work. There are two
// clients: the second has its default algorithms.
func newOpenSSH(ctx context.Context, limit time.Duration, server *net.TCPAddr, ids *identities) (*openSSH, []*client, error) {
	path, err := exec.LookPath("ssh")
	if errors.Is(err, exec.ErrNotFound) {
		return nil, nil, errNoOpenSSH
	}
	version := ""
	if err == nil {
		version, err = probe(ctx, path, limit)
	}
	if err != nil {
		return nil, nil, fmt.Errorf("the ssh in PATH does not work: %w", err)
	}
	c := &openSSH{path: path, server: server}
	if err := c.prepare(ids); err != nil {
		c.cleanUp()
		return nil, nil, err
	}
	// "OpenSSH_9.2p1 Debian-2, OpenSSL 3.0.19 27 Jan 2026"
	name, _, _ := strings.Cut(version, " ")
	name = strings.TrimSuffix(name, ",")
	return c, []*client{{
		name:    name,
		version: version,
		skips:   func(s suite) bool { return s.mac == noMAC || s.server != "" },
		run:     c.run,
	}, {
		name:    name + nothingConfigured,
		version: version,
		skips:   func(s suite) bool { return s.server == "" },
		run:     c.run,
	}}, nil
}

// probe returns what ssh -V prints.
func probe(ctx context.Context, path string, limit time.Duration) (string, error) {
	limited, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	var out child.Head
	cmd := child.Command(limited, path, "-V")
	cmd.Stdout, cmd.Stderr = &out, &out
	err := cmd.Run()
	line, _, _ := strings.Cut(strings.TrimSpace(out.String()), "\n")
	line = strings.TrimSpace(line)
	switch {
	case ctx.Err() != nil:
		return "", ctx.Err()
	case limited.Err() != nil:
		return "", fmt.Errorf("%s -V did not end within %v", path, limit)
	case err != nil:
		return "", fmt.Errorf("%s -V: %w, output %q", path, err, line)
	case !strings.HasPrefix(line, "OpenSSH_"):
		return "", fmt.Errorf("%s is not OpenSSH: -V printed %q", path, line)
	}
	return line, nil
}

// prepare makes the folder with the user's key and the known host.
func (c *openSSH) prepare(ids *identities) (err error) {
	if c.dir, err = os.MkdirTemp("", "fastmac-demo-"); err != nil {
		return fmt.Errorf("no temporary folder for the keys of ssh: %w", err)
	}
	block, err := ssh.MarshalPrivateKey(ids.userKey, hostAlias)
	if err != nil {
		return err
	}
	if err := os.WriteFile(filepath.Join(c.dir, "identity"), pem.EncodeToMemory(block), 0o600); err != nil {
		return err
	}
	known := append([]byte(hostAlias+" "), ssh.MarshalAuthorizedKey(ids.host.PublicKey())...)
	return os.WriteFile(filepath.Join(c.dir, "known_hosts"), known, 0o600)
}

func (c *openSSH) cleanUp() error {
	if c.dir == "" {
		return nil
	}
	return os.RemoveAll(c.dir)
}

// args returns arguments that keep ssh away from all files, agents and sockets of the
// user.
func (c *openSSH) args(j *job) []string {
	args := []string{"-F", "none", "-T", "-v", "-e", "none"}
	if j.server == "" {
		mac := j.mac
		if mac == "" {
			mac = ssh.HMACSHA256ETM // ssh wants one, and does not use it
		}
		args = append(args, "-o", "MACs="+mac, "-o", "Ciphers="+j.cipher)
	}
	return append(args,
		"-o", "HostKeyAlgorithms="+ssh.KeyAlgoED25519,
		"-o", "HostKeyAlias="+hostAlias,
		"-o", "UserKnownHostsFile=known_hosts",
		"-o", "GlobalKnownHostsFile="+os.DevNull,
		"-o", "StrictHostKeyChecking=yes",
		"-o", "UpdateHostKeys=no",
		"-o", "IdentityFile=identity",
		"-o", "IdentitiesOnly=yes",
		"-o", "IdentityAgent=none",
		"-o", "PreferredAuthentications=publickey",
		"-o", "BatchMode=yes",
		"-o", "ControlMaster=no",
		"-o", "ControlPath=none",
		"-o", "ProxyCommand=none",
		"-o", "Compression=no",
		"-o", "ConnectTimeout=10",
		"-p", fmt.Sprint(c.server.Port),
		"-l", userName,
		c.server.IP.String(), j.command(),
	)
}

func (c *openSSH) run(ctx context.Context, j *job, moved func(int)) (clientResult, error) {
	var result clientResult
	var log sshLog
	ctx, kill := context.WithCancel(ctx)
	defer kill()
	cmd := child.Command(ctx, c.path, c.args(j)...)
	cmd.Dir = c.dir
	cmd.Stderr = &log
	w, err := cmd.StdinPipe()
	if err != nil {
		return result, err
	}
	r, err := cmd.StdoutPipe()
	if err != nil {
		return result, err
	}
	if err := cmd.Start(); err != nil {
		return result, err
	}
	// Wait would close them, but is called only after the transfer.
	closePipes := func() { w.Close(); r.Close() }
	stop := context.AfterFunc(ctx, closePipes)
	defer stop()

	var transferErr error
	if result.transfer, transferErr = j.clientTransfer(w, r, moved); transferErr != nil {
		// This ends most programs, which then have time to print an error.
		closePipes()
		defer time.AfterFunc(child.KillDelay, kill).Stop()
	}
	exitErr := cmd.Wait()
	if result.transfer.cpuTime > 0 { // else it is not known
		result.transfer.cpuTime += cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()
	}
	result.negotiated = log.negotiated()
	if exitErr != nil {
		// ssh's own error comes first: it is the cause of most others.
		exitErr = fmt.Errorf("ssh: %w%s", exitErr, log.complaints())
	}
	return result, errors.Join(exitErr, transferErr)
}

// An sshLog reads the output of ssh -v. It keeps what was negotiated, and the last
// lines that are not debug messages.
type sshLog struct {
	line     []byte
	up, down algorithms
	tail     []string
}

var kexLine = regexp.MustCompile(`^debug1: kex: (client->server|server->client) cipher: (\S+) MAC: (\S+)`)

func (l *sshLog) Write(p []byte) (int, error) {
	const maxLine = 1 << 10
	for _, b := range p {
		switch {
		case b == '\n':
			l.readLine(strings.TrimSpace(string(l.line)))
			l.line = l.line[:0]
		case len(l.line) < maxLine:
			l.line = append(l.line, b)
		}
	}
	return len(p), nil
}

func (l *sshLog) readLine(line string) {
	if m := kexLine.FindStringSubmatch(line); m != nil {
		a := &l.up
		if m[1] == "server->client" {
			a = &l.down
		}
		// A second key exchange must not hide what the first one chose.
		mac := m[3]
		if mac == "<implicit>" { // of an AEAD
			mac = ""
		}
		a.Cipher, a.MAC = distinct(a.Cipher, m[2]), distinct(a.MAC, mac)
		return
	}
	const keep = 4
	if line != "" && !strings.HasPrefix(line, "debug") {
		l.tail = append(l.tail, line)
		l.tail = l.tail[max(0, len(l.tail)-keep):]
	}
}

// distinct returns both names, or one if they are equal.
func distinct(before, now string) string {
	if before == "" || before == now {
		return now
	}
	return before + "," + now
}

func (l *sshLog) negotiated() *negotiated {
	if l.up == (algorithms{}) && l.down == (algorithms{}) {
		return nil
	}
	return &negotiated{l.up, l.down}
}

// complaints returns the tail, quoted: it may hold control characters.
func (l *sshLog) complaints() string {
	tail := l.tail
	if len(l.line) > 0 {
		tail = append(tail[:len(tail):len(tail)], string(l.line))
	}
	if len(tail) == 0 {
		return ""
	}
	return fmt.Sprintf(", output %q", strings.Join(tail, "; "))
}
