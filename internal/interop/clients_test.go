// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

//go:build unix

package interop

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/fips140"
	"crypto/rand"
	"errors"
	"flag"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"example.com/fastmac"
	"example.com/fastmac/sshmac"
	"example.com/fastmac/sshmac/sshtest"
	"golang.org/x/crypto/ssh"
)

var (
	mib    = flag.Int64("mib", 1, "what TestClients moves each way, in `MiB`; it prints CPU times from 64 on")
	rounds = flag.Int("rounds", 1, "how often it does; it prints the least CPU time")
	sample = flag.Bool("sample", false, "leave out the clients that take long to install or to run, all releases of x/crypto except for the oldest, the required and the newest one, and most of the large file")
)

// A defaultClient is an SSH client with the algorithms that it offers if nothing is
// configured.
type defaultClient struct {
	name string
	find func(t *testing.T) string // returns the program, or skips the test

	// args are the arguments with which the program connects to a server at the port of the
	// loopback address, as the user "interop" and without authentication, and runs a command
	// of serveSession there. If sftp is set it copies its file content to the server's file up
	// in place of receive, and the server's to its own file down in place of send.
	args func(t *testing.T, dir *sshtest.Dir, port, command string) []string
	sftp bool
	slow bool // moves 1 MiB only
	rare bool // not in a sample

	// What is negotiated with a server of ConfigureServer, if that does not depend on the
	// release that is installed.
	want sshtest.Algorithms
}

// openSSH returns OpenSSH's client with the lists of a release, from its myproposal.h, or of
// a distribution.
func openSSH(name, ciphers, macs string, want sshtest.Algorithms) defaultClient {
	return defaultClient{
		name: "OpenSSH " + name,
		find: debian("openssh-client", "ssh"),
		args: func(t *testing.T, dir *sshtest.Dir, port, command string) []string {
			return dir.Client(t, "ssh", port, sshtest.Algorithms{Cipher: ciphers, MAC: macs}, "127.0.0.1", command).Args[1:]
		},
		want: want,
	}
}

const (
	openSSHMACs = "umac-64-etm@openssh.com,umac-128-etm@openssh.com,hmac-sha2-256-etm@openssh.com,hmac-sha2-512-etm@openssh.com,hmac-sha1-etm@openssh.com,umac-64@openssh.com,umac-128@openssh.com,hmac-sha2-256,hmac-sha2-512,hmac-sha1"
	ctrFirst    = "chacha20-poly1305@openssh.com,aes128-ctr,aes192-ctr,aes256-ctr,aes128-gcm@openssh.com,aes256-gcm@openssh.com"
	policyMACs  = "hmac-sha2-256-etm@openssh.com,hmac-sha1-etm@openssh.com,umac-128-etm@openssh.com,hmac-sha2-512-etm@openssh.com,hmac-sha2-256,hmac-sha1,umac-128@openssh.com,hmac-sha2-512"
	gcmFirst    = "chacha20-poly1305@openssh.com,aes128-gcm@openssh.com,aes256-gcm@openssh.com,aes128-ctr,aes192-ctr,aes256-ctr"
)

var (
	ctrUMAC64 = sshtest.Algorithms{Cipher: "aes128-ctr", MAC: sshmac.UMAC64ETM}
	gcm128    = sshtest.Algorithms{Cipher: "aes128-gcm@openssh.com"}
	gcm256    = sshtest.Algorithms{Cipher: "aes256-gcm@openssh.com"}
)

var defaultClients = []defaultClient{
	openSSH("as installed", "", "", sshtest.Algorithms{}),
	openSSH("7.4", ctrFirst+",aes128-cbc,aes192-cbc,aes256-cbc", openSSHMACs, ctrUMAC64),
	openSSH("8.0 to 9.9", ctrFirst, openSSHMACs, ctrUMAC64),
	openSSH("10.0", gcmFirst, openSSHMACs, gcm128),
	openSSH("of RHEL 8",
		"aes256-gcm@openssh.com,chacha20-poly1305@openssh.com,aes256-ctr,aes256-cbc,aes128-gcm@openssh.com,aes128-ctr,aes128-cbc",
		policyMACs, gcm256),
	openSSH("of RHEL 9 and Fedora",
		"aes256-gcm@openssh.com,chacha20-poly1305@openssh.com,aes256-ctr,aes128-gcm@openssh.com,aes128-ctr",
		policyMACs, gcm256),
	{name: "PuTTY plink", find: debian("putty-tools", "plink"), args: func(t *testing.T, dir *sshtest.Dir, port, command string) []string {
		return []string{"-batch", "-hostkey", ssh.FingerprintSHA256(dir.Host.PublicKey()), "-P", port, "interop@127.0.0.1", command}
	}},
	{name: "PuTTY psftp", sftp: true, slow: true, rare: true, find: debian("putty-tools", "psftp"), args: func(t *testing.T, dir *sshtest.Dir, port, command string) []string {
		batch := "get content down\n"
		if command == "receive" {
			batch = "put content up\n"
		}
		return []string{"-batch", "-hostkey", ssh.FingerprintSHA256(dir.Host.PublicKey()), "-P", port, "-b", dir.Write(t, "batch", []byte(batch)), "interop@127.0.0.1"}
	}},
	{name: "Dropbear", find: debian("dropbear-bin", "dbclient"), args: func(t *testing.T, dir *sshtest.Dir, port, command string) []string {
		return []string{"-y", "-y", "-p", port, "interop@127.0.0.1", command}
	}},
	{name: "libssh2 (curl)", sftp: true, find: debian("curl", "curl"), args: func(t *testing.T, dir *sshtest.Dir, port, command string) []string {
		url := "sftp://interop@127.0.0.1:" + port + dir.Path
		if command == "receive" {
			return []string{"-q", "-sSk", "-T", "content", url + "/up"}
		}
		return []string{"-q", "-sSk", "-o", "down", url + "/content"}
	}},
	{name: "libssh", find: findLibssh, args: portAndCommand},
	{name: "JSch", rare: true, find: findJava, args: func(t *testing.T, dir *sshtest.Dir, port, command string) []string {
		return []string{"-cp", jschJar, testdata(t, "JSchClient.java"), port, command}
	}},
	{name: "Paramiko", find: findParamiko, args: func(t *testing.T, dir *sshtest.Dir, port, command string) []string {
		return []string{testdata(t, "paramiko_client.py"), port, command}
	}},
	{name: "AsyncSSH", find: func(t *testing.T) string {
		needAsyncSSH(t)
		return "python3"
	}, args: func(t *testing.T, dir *sshtest.Dir, port, command string) []string {
		return []string{testdata(t, "asyncssh_peer.py"), "client", "-", "-", port, command}
	}},
	{name: "russh", rare: true, find: findRussh, args: portAndCommand},
	{name: "x/crypto", find: func(*testing.T) string { return os.Args[0] }, args: portAndCommand},
}

func portAndCommand(t *testing.T, dir *sshtest.Dir, port, command string) []string {
	return []string{port, command}
}

// testdata returns the path of a file for a program that runs in another folder.
func testdata(t *testing.T, name string) string {
	path, err := filepath.Abs(filepath.Join("testdata", name))
	if err != nil {
		t.Fatal(err)
	}
	return path
}

// debian returns a find for a program of a Debian package.
func debian(debianPackage, program string) func(*testing.T) string {
	return func(t *testing.T) string { return sshtest.Find(t, debianPackage, program) }
}

// needFile skips the test if there is no such file of a Debian package.
func needFile(t *testing.T, debianPackage, name string) {
	if _, err := os.Stat(name); err != nil {
		t.Skipf("needs %s: install the package %s", name, debianPackage)
	}
}

// findLibssh builds a client of libssh.
func findLibssh(t *testing.T) string {
	gcc := sshtest.Find(t, "gcc", "gcc")
	needFile(t, "libssh-dev", "/usr/include/libssh/libssh.h")
	client := filepath.Join(t.TempDir(), "client")
	if out, err := exec.Command(gcc, "-O2", "-Wall", "-o", client, "testdata/libssh_client.c", "-lssh").CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	return client
}

const jschJar = "/usr/share/java/jsch.jar"

func findJava(t *testing.T) string {
	needFile(t, "libjsch-java", jschJar)
	sshtest.Find(t, "default-jdk-headless", "javac") // java alone cannot run a source file
	return sshtest.Find(t, "default-jdk-headless", "java")
}

// findParamiko returns a python3 that has Paramiko.
func findParamiko(t *testing.T) string {
	for _, python := range []string{"python3", "/usr/bin/python3"} {
		if exec.Command(python, "-c", "import paramiko").Run() == nil {
			return python
		}
	}
	t.Skip("needs Paramiko: install the package python3-paramiko")
	return ""
}

// findRussh builds a client of russh, in a copy of its sources because cargo writes there.
func findRussh(t *testing.T) string {
	if testing.Short() {
		t.Skip("builds more than 100 crates")
	}
	cargo := sshtest.Find(t, "cargo, Rust 1.89 or newer", "cargo")
	dir := t.TempDir()
	if err := os.CopyFS(dir, os.DirFS("testdata/russh")); err != nil {
		t.Fatal(err)
	}
	for _, command := range []string{"fetch", "build"} {
		cmd := exec.Command(cargo, command)
		cmd.Dir = dir
		out, err := cmd.CombinedOutput()
		switch {
		case err != nil && command == "fetch":
			t.Skipf("needs the crates of russh: %v\n%s", err, out)
		case err != nil:
			t.Fatalf("%v\n%s", err, out)
		}
	}
	return filepath.Join(dir, "target/debug/russh-client")
}

// A serverKind is a server of x/crypto, by the call that sets its algorithms.
type serverKind struct {
	name string
	set  func(*ssh.Config) error
}

// The first two are those of the table. OpenSSH's client, as installed, meets the others too.
var serverKinds = []serverKind{
	{"x/crypto's defaults", func(*ssh.Config) error { return nil }},
	{"ConfigureServer", func(c *ssh.Config) error {
		_, err := sshmac.ConfigureServer(c)
		return err
	}},
	{"x/crypto's defaults without chacha20-poly1305", func(c *ssh.Config) error {
		c.Ciphers = sshmac.ServerCiphers()
		return nil
	}},
	{"aes128-gcm only", func(c *ssh.Config) error {
		c.Ciphers = []string{gcm128.Cipher}
		return nil
	}},
}

// A visit is what a server saw of a client.
type visit struct {
	client string // its identification, without SSH-2.0-
	sshtest.Algorithms
	up, down time.Duration // the least CPU time of the server
}

// negotiated returns the names without their domain.
func (v visit) negotiated() string {
	cipher, _, _ := strings.Cut(v.Cipher, "@")
	if v.MAC == "" {
		return cipher
	}
	mac, _, _ := strings.Cut(v.MAC, "@")
	return cipher + ", " + mac
}

// TestClients has clients, with nothing configured, move a file up and down, to and from a
// server of x/crypto's defaults and one of ConfigureServer. Whom the first lets in the second
// must let in too, and under another cipher than chacha20-poly1305. What they negotiate must
// be what docs/ssh.md says, if it has a row for this release of the client.
//
// It prints that table, with -mib also the CPU seconds of the server for each GiB.
func TestClients(t *testing.T) {
	if fips140.Enabled() {
		t.Skip("FIPS 140 mode has no UMAC")
	}
	if err := fastmac.RequireGCM(); err != nil {
		t.Skip(err)
	}
	if err := sshmac.Register(); err != nil {
		t.Fatal(err)
	}
	documented := documentedClients(t)
	var table, reference strings.Builder
	for i, client := range defaultClients {
		if client.rare && *sample {
			continue
		}
		t.Run(client.name, func(t *testing.T) {
			program := client.find(t)
			kinds := serverKinds
			if i > 0 {
				kinds = kinds[:2]
			}
			size := *mib << 20
			if client.slow {
				size = 1 << 20
			}
			visits := make([]visit, len(kinds))
			for range *rounds { // in turn: a machine is not equally fast at all times
				for k := range kinds {
					client.visit(t, program, size, kinds[k], &visits[k])
				}
			}
			if got := visits[1].Algorithms; got.Cipher == chaCha20 || client.want.Cipher != "" && got != client.want {
				t.Errorf("ConfigureServer: %v, want %v", got, client.want)
			}

			name := client.name
			if client.want.Cipher == "" {
				name += ", " + visits[0].client
			}
			pairs := [2]string{visits[0].negotiated(), visits[1].negotiated()}
			switch want, ok := documented[name]; {
			case !ok && client.want.Cipher == "":
				t.Logf("docs/ssh.md has another release than %s", visits[0].client)
			case pairs != want:
				t.Errorf("%s: %q, and docs/ssh.md has %q", name, pairs, want)
			}
			perGiB := func(v visit) string {
				if size < 64<<20 {
					return "–"
				}
				gib := float64(size) / (1 << 30)
				return fmt.Sprintf("%.2f / %.2f", v.up.Seconds()/gib, v.down.Seconds()/gib)
			}
			fmt.Fprintf(&table, "| %s | %s | %s | %s | %s |\n", name, pairs[0], perGiB(visits[0]), pairs[1], perGiB(visits[1]))
			for k, v := range visits[2:] {
				fmt.Fprintf(&reference, "%s, %s: %s, %s\n", kinds[2+k].name, v.client, v.negotiated(), perGiB(v))
			}
		})
	}
	t.Logf("CPU seconds of the server for each GiB, up / down:\n%s%s", &table, &reference)
}

const chaCha20 = "chacha20-poly1305@openssh.com"

// documentedClients returns what the table of clients in docs/ssh.md has for both
// servers, by client.
func documentedClients(t *testing.T) map[string][2]string {
	doc, err := os.ReadFile("../../docs/ssh.md")
	if err != nil {
		t.Fatal(err)
	}
	rows := make(map[string][2]string)
	for line := range strings.Lines(string(doc)) {
		if cells := strings.Split(line, " | "); len(cells) == 5 {
			rows[strings.TrimPrefix(cells[0], "| ")] = [2]string{cells[1], cells[3]}
		}
	}
	return rows
}

// visit has the client move a file up, and one down, each in a connection of its own.
func (c defaultClient) visit(t *testing.T, program string, size int64, kind serverKind, v *visit) {
	t.Helper()
	dir := sshtest.NewDir(t)
	// Zeros take no room and no time to read.
	if err := os.Truncate(dir.Write(t, "content", nil), size); err != nil {
		t.Fatal(err)
	}
	up := c.run(t, program, dir, kind, v, "receive", dir.File("content"))
	output, err := os.ReadFile(dir.File("output"))
	if c.sftp && fileSize(dir.File("up")) != size || !c.sftp && string(output) != fmt.Sprintln(size) {
		t.Fatalf("%s, up: %q; %v", kind.name, output, err)
	}
	down := c.run(t, program, dir, kind, v, fmt.Sprint("send ", size), os.DevNull)
	if c.sftp && fileSize(dir.File("down")) != size || !c.sftp && fileSize(dir.File("output")) != size {
		t.Fatalf("%s, down: not %d bytes", kind.name, size)
	}
	if v.up == 0 || up < v.up {
		v.up = up
	}
	if v.down == 0 || down < v.down {
		v.down = down
	}
	os.RemoveAll(dir.Path) // up to some GiB, before the next ones
}

// fileSize returns the size of a file, and -1 if there is none.
func fileSize(name string) int64 {
	info, err := os.Stat(name)
	if err != nil {
		return -1
	}
	return info.Size()
}

// run has the client run a command, and returns the CPU time of this process, which is the
// server.
func (c defaultClient) run(t *testing.T, program string, dir *sshtest.Dir, kind serverKind, v *visit, command, input string) time.Duration {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute+time.Duration(*mib)*time.Second)
	defer cancel()
	before := cpuTime(t)
	log, err := runWith(t, input, dir.File("output"), func(listener net.Listener) error {
		return v.serve(listener, dir, kind)
	}, func(port string) *exec.Cmd {
		cmd := exec.CommandContext(ctx, program, c.args(t, dir, port, command)...)
		cmd.Dir = dir.Path
		cmd.Env = append(os.Environ(), "HOME="+dir.Path, clientEnv+"=1") // without the user's files
		return cmd
	})
	if err != nil {
		t.Fatalf("%s, %s: %v\n%s", kind.name, command, err, log)
	}
	return cpuTime(t) - before
}

// cpuTime returns the CPU time of this process, without its children.
func cpuTime(t *testing.T) time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		t.Fatal(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// serve serves one connection of anybody.
func (v *visit) serve(listener net.Listener, dir *sshtest.Dir, kind serverKind) error {
	raw, err := listener.Accept()
	if err != nil {
		return err
	}
	defer raw.Close()
	config := &ssh.ServerConfig{NoClientAuth: true}
	if err := kind.set(&config.Config); err != nil {
		return err
	}
	config.AddHostKey(dir.Host)
	// Some clients do not know Ed25519.
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return err
	}
	signer, err := ssh.NewSignerFromKey(key)
	if err != nil {
		return err
	}
	config.AddHostKey(signer)
	conn, channels, requests, err := ssh.NewServerConn(wire{raw}, config)
	if err != nil {
		return err
	}
	defer conn.Close()
	algorithms := conn.Conn.(ssh.AlgorithmsConnMetadata).Algorithms()
	v.Algorithms = sshtest.Algorithms{Cipher: algorithms.Read.Cipher, MAC: algorithms.Read.MAC}
	if algorithms.Write != algorithms.Read {
		return fmt.Errorf("%v and %v in the other direction", algorithms.Read, algorithms.Write)
	}
	v.client, _, _ = strings.Cut(strings.TrimPrefix(string(conn.ClientVersion()), "SSH-2.0-"), " ")
	go ssh.DiscardRequests(requests)
	for offer := range channels {
		channel, requests, err := offer.Accept()
		if err != nil {
			return err
		}
		if err := serveSession(channel, requests, dir); err != nil {
			return err
		}
	}
	return nil
}

// serveSession runs the command that the client requests: "receive" prints how many bytes it
// has read, "send N" sends so many, and there is OpenSSH's SFTP server.
func serveSession(channel ssh.Channel, requests <-chan *ssh.Request, dir *sshtest.Dir) error {
	defer channel.Close()
	for r := range requests {
		var request struct{ Command string }
		ssh.Unmarshal(r.Payload, &request)
		var size int64
		sending, _ := fmt.Sscanf(request.Command, "send %d", &size)
		switch {
		case r.Type == "exec" && (request.Command == "receive" || sending == 1):
		case r.Type == "subsystem" && request.Command == "sftp":
		default: // such as env
			r.Reply(false, nil)
			continue
		}
		r.Reply(true, nil)
		go ssh.DiscardRequests(requests)
		var err error
		switch request.Command {
		case "receive":
			// Without io.Discard's own buffer, which is smaller than a packet.
			size, err = io.Copy(struct{ io.Writer }{io.Discard}, channel)
			fmt.Fprintln(channel, size)
		case "sftp":
			cmd := exec.Command(sftpServer)
			cmd.Dir, cmd.Stdin, cmd.Stdout = dir.Path, channel, channel
			err = cmd.Run()
		default:
			_, err = io.CopyN(channel, zeros{}, size)
		}
		channel.SendRequest("exit-status", false, ssh.Marshal(struct{ Code uint32 }{0}))
		return err
	}
	return errors.New("a session without a command")
}

// zeros reads as zeros without end. The buffer of io.Copy is new, so it has them.
type zeros struct{}

func (zeros) Read(p []byte) (int, error) { return len(p), nil }

const clientEnv = "FASTMAC_INTEROP_CLIENT" // makes the test program a client: PORT COMMAND

func TestMain(m *testing.M) {
	if os.Getenv(clientEnv) != "" {
		if err := runXCrypto(os.Args[1], os.Args[2]); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		return
	}
	os.Exit(m.Run())
}

// runXCrypto runs a command on the server as a client of x/crypto's defaults.
func runXCrypto(port, command string) error {
	conn, err := ssh.Dial("tcp4", "127.0.0.1:"+port, &ssh.ClientConfig{User: "interop", HostKeyCallback: ssh.InsecureIgnoreHostKey()})
	if err != nil {
		return err
	}
	defer conn.Close()
	session, err := conn.NewSession()
	if err != nil {
		return err
	}
	session.Stdin, session.Stdout = os.Stdin, os.Stdout
	return session.Run(command)
}
