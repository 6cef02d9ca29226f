// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package patchssh

import (
	"archive/zip"
	"bytes"
	"io/fs"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"example.com/fastmac/internal/sshpatch"
	"example.com/fastmac/sshmac"
	_ "golang.org/x/term" // go mod tidy in TestRunTidied needs it in the module cache
)

// patchProgram negotiates each of sshmac.MACs with itself and, if its argument is the path of
// ssh, with OpenSSH.
const patchProgram = `package main

import (
	"bytes"
	"crypto/ed25519"
	"crypto/rand"
	"fmt"
	"io"
	"log"
	"net"
	"os"
	"os/exec"
	"strings"

	"example.com/fastmac/sshmac"
	"golang.org/x/crypto/ssh"
)

var ciphers = []string{"aes128-ctr"}

func main() {
	_, key, err := ed25519.GenerateKey(rand.Reader)
	check(err)
	signer, err := ssh.NewSignerFromKey(key)
	check(err)
	server := &ssh.ServerConfig{NoClientAuth: true}
	server.Ciphers, server.MACs = sshmac.ServerCiphers(), sshmac.MACs()
	server.AddHostKey(signer)
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	check(err)

	for _, m := range sshmac.Modes() {
		check(ssh.RegisterMAC(m.Name, m.KeySize, m.ETM, m.New))
	}
	for _, mac := range sshmac.MACs() {
		if ssh.RegisterMAC(mac, 16, true, sshmac.Modes()[0].New) == nil {
			log.Fatalf("RegisterMAC(%s) twice", mac)
		}
	}
	go serve(listener, server)

	sent := make([]byte, 100_000)
	rand.Read(sent)
	// The server lets in a client that has an AEAD cipher only.
	client, err := ssh.Dial("tcp", listener.Addr().String(), &ssh.ClientConfig{
		Config:          ssh.Config{Ciphers: []string{"aes256-gcm@openssh.com"}},
		User:            "test",
		HostKeyCallback: ssh.FixedHostKey(signer.PublicKey()),
	})
	check(err)
	client.Close()
	for _, mac := range sshmac.MACs() {
		client, err := ssh.Dial("tcp", listener.Addr().String(), &ssh.ClientConfig{
			Config:          ssh.Config{Ciphers: ciphers, MACs: []string{mac}},
			User:            "test",
			HostKeyCallback: ssh.FixedHostKey(signer.PublicKey()),
		})
		check(err)
		a := client.Conn.(ssh.AlgorithmsConnMetadata).Algorithms()
		session, err := client.NewSession()
		check(err)
		session.Stdin = bytes.NewReader(sent)
		received, err := session.Output("echo")
		check(err)
		if !bytes.Equal(received, sent) || a.Read.MAC != mac || a.Write.MAC != mac {
			log.Fatalf("%s: %d bytes returned of %d, negotiated %+v", mac, len(received), len(sent), a)
		}
		client.Close()
		fmt.Println("Go", mac)

		if len(os.Args) < 2 {
			continue
		}
		host, port, err := net.SplitHostPort(listener.Addr().String())
		check(err)
		cmd := exec.Command(os.Args[1], "-F", "none", "-T", "-v", "-o", "StrictHostKeyChecking=no",
			"-o", "UserKnownHostsFile="+os.DevNull, "-o", "GlobalKnownHostsFile="+os.DevNull,
			"-o", "IdentityAgent=none", "-o", "IdentityFile=none", "-o", "BatchMode=yes", "-o", "ProxyCommand=none",
			"-o", "Ciphers="+ciphers[0], "-o", "MACs="+mac, "-p", port, "-l", "test", host, "echo")
		var stderr strings.Builder
		cmd.Stdin, cmd.Stderr = bytes.NewReader(sent), &stderr
		received, err = cmd.Output()
		if n := strings.Count(stderr.String(), "MAC: "+mac+" "); err != nil || !bytes.Equal(received, sent) || n != 2 {
			log.Fatalf("ssh with %s: %v, %d bytes returned of %d\n%s", mac, err, len(received), len(sent), &stderr)
		}
		fmt.Println("OpenSSH", mac)
	}
}

func check(err error) {
	if err != nil {
		log.Fatal(err)
	}
}

// serve echoes what sessions send.
func serve(listener net.Listener, config *ssh.ServerConfig) {
	for {
		raw, err := listener.Accept()
		check(err)
		_, channels, requests, err := ssh.NewServerConn(raw, config)
		check(err)
		go ssh.DiscardRequests(requests)
		go func() {
			for newChannel := range channels {
				channel, requests, err := newChannel.Accept()
				check(err)
				go func() {
					for r := range requests {
						r.Reply(r.Type == "exec", nil)
						if r.Type != "exec" {
							continue
						}
						go func() {
							io.Copy(channel, channel)
							channel.CloseWrite()
							channel.SendRequest("exit-status", false, make([]byte, 4))
							channel.Close()
						}()
					}
				}()
			}
		}()
	}
}
`

// noSSHMAC is a program that has yet to import package sshmac.
const noSSHMAC = `package main

import "golang.org/x/crypto/ssh"

func main() { println(ssh.KeyAlgoED25519) }
`

// newModule makes a module with patchProgram and the x/crypto of this module, and
// returns its folder. Without network, it has what is in the module cache.
func newModule(t *testing.T) string {
	t.Helper()
	dir := newModuleWith(t, usedRelease(t), noSSHMAC)
	importSSHMAC(t, dir)
	return dir
}

// newModuleWith makes a module with a release of x/crypto. It does without go mod
// tidy, which needs modules that may not be in the module cache.
func newModuleWith(t *testing.T, version, program string) string {
	t.Helper()
	t.Setenv("GOFLAGS", "-mod=mod")
	t.Setenv("GOPROXY", "off")
	t.Setenv("GOSUMDB", "off")
	t.Setenv("GOWORK", "")
	t.Setenv("TMPDIR", t.TempDir())
	dir := filepath.Join(t.TempDir(), "a program")
	write(t, filepath.Join(dir, "main.go"), program)
	write(t, filepath.Join(dir, "go.mod"), "module example.com/program\n\ngo 1.26.0\n\nrequire golang.org/x/crypto "+version+
		"\n\nrequire golang.org/x/sys "+required(t, "golang.org/x/sys")+" // indirect\n")
	write(t, filepath.Join(dir, "go.sum"), read(t, "../../go.sum")+read(t, "../../../../go.sum"))
	return dir
}

// importSSHMAC makes the program of the module patchProgram.
func importSSHMAC(t *testing.T, dir string) {
	t.Helper()
	root, err := filepath.Abs("../../../..")
	if err != nil {
		t.Fatal(err)
	}
	write(t, filepath.Join(dir, "main.go"), patchProgram)
	goTool(t, dir, "mod", "edit", "-require=example.com/fastmac@v0.0.0", "-replace=example.com/fastmac="+root,
		"-require=example.com/fastmac/sshmac@v0.0.0", "-replace=example.com/fastmac/sshmac="+filepath.Join(root, "sshmac"))
	goTool(t, dir, "list", "./...") // may put go.mod in order
}

// usedRelease is the release of x/crypto that this module requires.
func usedRelease(t *testing.T) string {
	t.Helper()
	return required(t, cryptoPath)
}

// required returns the version of a module that this module requires.
func required(t *testing.T, path string) string {
	t.Helper()
	line := regexp.MustCompile(`(?m)^(?:require)?\s+` + regexp.QuoteMeta(path) + ` (v\S+)`)
	if m := line.FindStringSubmatch(read(t, "../../go.mod")); m != nil {
		return m[1]
	}
	t.Fatal("go.mod does not require " + path)
	return ""
}

func write(t *testing.T, name, content string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(name), 0o777); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(name, []byte(content), 0o666); err != nil {
		t.Fatal(err)
	}
}

func read(t *testing.T, name string) string {
	t.Helper()
	content, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	return string(content)
}

func goTool(t *testing.T, dir string, args ...string) string {
	t.Helper()
	cmd := exec.Command("go", args...)
	cmd.Dir = dir
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("go %q: %v\n%s", args, err, out)
	}
	return string(out)
}

// snapshot returns the content of all files under dir, the links and the folders.
func snapshot(t *testing.T, dir string) map[string]string {
	t.Helper()
	files := make(map[string]string)
	err := filepath.WalkDir(dir, func(path string, entry fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case entry.IsDir():
			files[path] = "a folder"
		case entry.Type()&fs.ModeSymlink != 0:
			files[path], err = os.Readlink(path)
			return err
		default:
			files[path] = read(t, path)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return files
}

func checkUnchanged(t *testing.T, dir string, before map[string]string) {
	t.Helper()
	after := snapshot(t, dir)
	names := maps.Clone(before)
	maps.Copy(names, after)
	wrong := 0
	for _, name := range slices.Sorted(maps.Keys(names)) {
		was, existed := before[name]
		is, exists := after[name]
		if existed == exists && was == is {
			continue
		}
		if wrong++; wrong <= 5 {
			t.Errorf("%s: existed %v, exists %v, same content %v", name, existed, exists, was == is)
		}
	}
	if wrong > 5 {
		t.Errorf("%d more differ", wrong-5)
	}
}

// succeed runs the command and checks that each of want is in what it returns.
func succeed(t *testing.T, o Options, want ...string) {
	t.Helper()
	text, err := Run(t.Context(), o, t.Output())
	if err != nil {
		t.Fatalf("%+v: %v", o, err)
	}
	for _, w := range want {
		if !strings.Contains(text, w) {
			t.Errorf("%+v: %q is not in %q", o, w, text)
		}
	}
}

// fail runs the command and checks that each of want is in its error.
func fail(t *testing.T, o Options, want ...string) {
	t.Helper()
	text, err := Run(t.Context(), o, t.Output())
	if err == nil {
		t.Fatalf("%+v: no error, but %q", o, text)
	}
	for _, w := range want {
		if !strings.Contains(err.Error(), w) {
			t.Errorf("%+v: %q is not in %q", o, w, err)
		}
	}
}

// A mode makes the options for one of the modes of the command.
type mode func(dir string) Options

func apply(dir string) Options  { return Options{Dir: dir} }
func check(dir string) Options  { return Options{Dir: dir, Check: true} }
func revert(dir string) Options { return Options{Dir: dir, Revert: true} }

var modes = []mode{apply, check, revert}

// checkProgram runs the program, with OpenSSH if it is installed.
func checkProgram(t *testing.T, dir string) {
	t.Helper()
	ssh, _ := exec.LookPath("ssh")
	args := []string{"run", "."}
	if ssh != "" {
		args = append(args, ssh)
	}
	out := goTool(t, dir, args...)
	for _, mac := range sshmac.MACs() {
		if !strings.Contains(out, "Go "+mac+"\n") || ssh != "" && !strings.Contains(out, "OpenSSH "+mac+"\n") {
			t.Errorf("%s is missing in %q", mac, out)
		}
	}
}

// addRelease adds a release of x/crypto that does not exist, and starts an empty
// module cache. The release has one more file, ssh/next.go.
func addRelease(t *testing.T, version string) {
	t.Helper()
	cache := filepath.Join(strings.TrimSpace(goTool(t, ".", "env", "GOMODCACHE")), "cache", "download")
	proxy := t.TempDir()
	fakeRelease(t, cache, proxy, usedRelease(t), version)
	t.Setenv("GOMODCACHE", t.TempDir())
	t.Setenv("GOFLAGS", "-mod=mod -modcacherw")
	var urls []string
	for _, path := range []string{proxy, cache} {
		path = filepath.ToSlash(path)
		if !strings.HasPrefix(path, "/") { // a Windows drive
			path = "/" + path
		}
		urls = append(urls, "file://"+path)
	}
	t.Setenv("GOPROXY", strings.Join(urls, ","))
}

// fakeRelease makes a version of x/crypto, in a file system proxy, from another that
// is in the module cache, and one more file.
func fakeRelease(t *testing.T, cache, proxy, from, to string) {
	t.Helper()
	base := filepath.Join("golang.org", "x", "crypto", "@v")
	write(t, filepath.Join(proxy, base, to+".mod"), read(t, filepath.Join(cache, base, from+".mod")))
	write(t, filepath.Join(proxy, base, to+".info"), `{"Version":"`+to+`"}`)
	in, err := zip.OpenReader(filepath.Join(cache, base, from+".zip"))
	if err != nil {
		t.Fatal(err)
	}
	defer in.Close()
	var content bytes.Buffer
	out := zip.NewWriter(&content)
	for _, f := range in.File {
		f.Name = strings.Replace(f.Name, "@"+from+"/", "@"+to+"/", 1)
		if err := out.Copy(f); err != nil {
			t.Fatal(err)
		}
	}
	w, err := out.Create(cryptoPath + "@" + to + "/ssh/next.go")
	if err != nil {
		t.Fatal(err)
	}
	w.Write([]byte("package ssh\n"))
	if err := out.Close(); err != nil {
		t.Fatal(err)
	}
	write(t, filepath.Join(proxy, base, to+".zip"), content.String())
}

// TestRun applies the patch before and after the import of sshmac, to the oldest
// x/crypto that sshmac works with and to the one of this module.
func TestRun(t *testing.T) {
	for _, version := range []string{sshpatch.Oldest, usedRelease(t)} {
		t.Run(version, func(t *testing.T) {
			cache := strings.TrimSpace(goTool(t, ".", "env", "GOMODCACHE"))
			if !exists(filepath.Join(cache, "cache", "download", "golang.org", "x", "crypto", "@v", version+".zip")) {
				t.Skip("not in the module cache: run the tests of example.com/fastmac/sshmac before")
			}
			dir := newModuleWith(t, version, noSSHMAC)
			succeed(t, apply(dir), "is a copy of golang.org/x/crypto "+version+" ")
			importSSHMAC(t, dir)
			checkProgram(t, dir)
			succeed(t, check(dir), "is in place for golang.org/x/crypto "+version)

			succeed(t, revert(dir))
			succeed(t, apply(dir), "is a copy of golang.org/x/crypto "+version+" ")
			checkProgram(t, dir)
		})
	}
}

// TestRunTooOld has an x/crypto that the import of sshmac would upgrade.
func TestRunTooOld(t *testing.T) {
	dir := newModuleWith(t, usedRelease(t), noSSHMAC)
	addRelease(t, "v0.16.999")
	goTool(t, dir, "get", cryptoPath+"@v0.16.999")
	before := snapshot(t, dir)
	fail(t, apply(dir), "v0.16.999: want "+sshpatch.Oldest+" or newer")
	checkUnchanged(t, dir, before)
}

// TestRunTidied has a go.sum without x/crypto, as go mod tidy leaves it when there is
// a replace line.
func TestRunTidied(t *testing.T) {
	dir := newModule(t)
	goTool(t, dir, "mod", "tidy")
	before := snapshot(t, dir)
	succeed(t, apply(dir))
	goTool(t, dir, "mod", "tidy")
	succeed(t, revert(dir), "is removed", "run go mod tidy")
	succeed(t, revert(dir), "nothing to revert")
	goTool(t, dir, "mod", "tidy")
	checkUnchanged(t, dir, before)
}
