// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package main

import (
	"bytes"
	"context"
	"encoding/pem"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"time"

	"golang.org/x/crypto/ssh"
	"golang.org/x/crypto/ssh/knownhosts"
)

const (
	userName  = "fastmac"
	hostAlias = "fastmac-demo" // the server's name in known_hosts, whatever its port

	// killDelay is how long an ssh whose pipes are closed may take to end,
	// and a killed one to let go of them.
	killDelay = 2 * time.Second
)

var errNoOpenSSH = errors.New("there is no ssh in PATH, so there are no OpenSSH rows; the package to install is openssh-client")

// openSSH is the OpenSSH client in PATH.
type openSSH struct {
	path   string
	server *net.TCPAddr
	dir    string // holds its keys; ssh runs in it, so that no option has to quote its name
}

// findOpenSSH asks the ssh in PATH for its version. It returns errNoOpenSSH if
// there is none. Any other error stands in the peer, too, as what breaks it.
func findOpenSSH(ctx context.Context, limit time.Duration) (*openSSH, *peer, error) {
	path, err := exec.LookPath("ssh")
	if errors.Is(err, exec.ErrNotFound) {
		return nil, nil, errNoOpenSSH
	}
	c := &openSSH{path: path}
	p := &peer{name: "ssh", version: "ssh of unknown version", run: c.run}
	if err == nil {
		p.version, err = probe(ctx, path, limit)
	}
	if err != nil {
		p.broken = fmt.Errorf("the ssh in PATH does not work: %w", err)
		return c, p, p.broken
	}
	// "OpenSSH_9.2p1 Debian-2, OpenSSL 3.0.19 27 Jan 2026"
	p.name, _, _ = strings.Cut(p.version, " ")
	p.name = strings.TrimSuffix(p.name, ",")
	return c, p, nil
}

// probe returns what ssh -V prints.
func probe(ctx context.Context, path string, limit time.Duration) (string, error) {
	limited, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	var out headBuffer
	cmd := exec.CommandContext(limited, path, "-V")
	cmd.Stdout, cmd.Stderr = &out, &out
	cmd.WaitDelay = killDelay
	killTree(cmd)
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
		return "", fmt.Errorf("%s is no OpenSSH: -V printed %q", path, line)
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
	known := knownhosts.Line([]string{hostAlias}, ids.host.PublicKey()) + "\n"
	return os.WriteFile(filepath.Join(c.dir, "known_hosts"), []byte(known), 0o600)
}

func (c *openSSH) cleanUp() error {
	if c.dir == "" {
		return nil
	}
	return os.RemoveAll(c.dir)
}

// args keeps ssh from all files, agents and sockets of the user.
func (c *openSSH) args(j job) []string {
	return []string{
		"-F", "none", "-T", "-v", "-e", "none",
		"-o", "MACs=" + j.mac,
		"-o", "Ciphers=" + testCipher,
		"-o", "HostKeyAlgorithms=" + ssh.KeyAlgoED25519,
		"-o", "HostKeyAlias=" + hostAlias,
		"-o", "UserKnownHostsFile=known_hosts",
		"-o", "GlobalKnownHostsFile=" + os.DevNull,
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
	}
}

func (c *openSSH) run(ctx context.Context, j job) (done, error) {
	var d done
	var log sshLog
	ctx, kill := context.WithCancel(ctx)
	defer kill()
	cmd := exec.CommandContext(ctx, c.path, c.args(j)...)
	cmd.Dir = c.dir
	cmd.Stderr = &log
	cmd.WaitDelay = killDelay
	killTree(cmd)
	w, err := cmd.StdinPipe()
	if err != nil {
		return d, err
	}
	r, err := cmd.StdoutPipe()
	if err != nil {
		return d, err
	}
	if err := cmd.Start(); err != nil {
		return d, err
	}
	// Wait would do so, but it is called only after the transfer.
	stop := context.AfterFunc(ctx, func() { closeBoth(w, r) })
	defer stop()

	var transferErr error
	if d.transfer, transferErr = clientTransfer(w, r, j.size, j.moved); transferErr != nil {
		// This ends most of them, and leaves time for an error of their own.
		closeBoth(w, r)
		defer time.AfterFunc(killDelay, kill).Stop()
	}
	exitErr := cmd.Wait()
	d.negotiated = log.negotiated()
	if exitErr != nil {
		// What ssh says comes first: it is the cause of most other errors.
		exitErr = fmt.Errorf("ssh: %w%s", exitErr, log.complaints())
	}
	return d, errors.Join(exitErr, transferErr)
}

func closeBoth(w io.Closer, r io.Closer) {
	w.Close()
	r.Close()
}

// A headBuffer keeps the first bytes that are written to it.
type headBuffer struct{ bytes.Buffer }

func (b *headBuffer) Write(p []byte) (int, error) {
	const limit = 4 << 10
	if room := limit - b.Len(); room > 0 {
		b.Buffer.Write(p[:min(len(p), room)])
	}
	return len(p), nil
}

// An sshLog takes the output of ssh -v: what was negotiated and the last lines
// that are not for debugging.
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
			l.take(strings.TrimSpace(string(l.line)))
			l.line = l.line[:0]
		case len(l.line) < maxLine:
			l.line = append(l.line, b)
		}
	}
	return len(p), nil
}

func (l *sshLog) take(line string) {
	if m := kexLine.FindStringSubmatch(line); m != nil {
		a := &l.up
		if m[1] == "server->client" {
			a = &l.down
		}
		// A second key exchange must not hide what the first one chose.
		a.Cipher, a.MAC = both(a.Cipher, m[2]), both(a.MAC, m[3])
		return
	}
	const keep = 4
	if line != "" && !strings.HasPrefix(line, "debug") {
		l.tail = append(l.tail, line)
		l.tail = l.tail[max(0, len(l.tail)-keep):]
	}
}

func both(before, now string) string {
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

// complaints quotes the tail: what ssh prints need not be fit for a terminal.
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
