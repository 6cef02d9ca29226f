// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package main

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
)

// patchProgram negotiates all MACs of UMAC with itself and, if its argument is the
// path of ssh, with OpenSSH.
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
	server.Ciphers, server.MACs = ciphers, sshmac.MACs()
	server.AddHostKey(signer)
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	check(err)

	for _, m := range sshmac.Modes() {
		err := ssh.RegisterMAC(m.Name, m.KeySize, m.ETM, m.New)
		if isUMAC := strings.HasPrefix(m.Name, "umac-"); isUMAC != (err == nil) {
			log.Fatalf("RegisterMAC(%s): %v", m.Name, err)
		}
	}
	go serve(listener, server)

	sent := make([]byte, 100_000)
	rand.Read(sent)
	for _, m := range sshmac.Modes() {
		client, err := ssh.Dial("tcp", listener.Addr().String(), &ssh.ClientConfig{
			Config:          ssh.Config{Ciphers: ciphers, MACs: []string{m.Name}},
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
		if !bytes.Equal(received, sent) || a.Read.MAC != m.Name || a.Write.MAC != m.Name {
			log.Fatalf("%s: %d bytes returned of %d, negotiated %+v", m.Name, len(received), len(sent), a)
		}
		client.Close()
		fmt.Println("Go", m.Name)

		if len(os.Args) < 2 {
			continue
		}
		host, port, err := net.SplitHostPort(listener.Addr().String())
		check(err)
		cmd := exec.Command(os.Args[1], "-F", "none", "-T", "-v", "-o", "StrictHostKeyChecking=no",
			"-o", "UserKnownHostsFile="+os.DevNull, "-o", "GlobalKnownHostsFile="+os.DevNull,
			"-o", "IdentityAgent=none", "-o", "IdentityFile=none", "-o", "BatchMode=yes", "-o", "ProxyCommand=none",
			"-o", "Ciphers="+ciphers[0], "-o", "MACs="+m.Name, "-p", port, "-l", "test", host, "echo")
		var stderr strings.Builder
		cmd.Stdin, cmd.Stderr = bytes.NewReader(sent), &stderr
		received, err = cmd.Output()
		if n := strings.Count(stderr.String(), "MAC: "+m.Name+" "); err != nil || !bytes.Equal(received, sent) || n != 2 {
			log.Fatalf("ssh with %s: %v, %d bytes returned of %d\n%s", m.Name, err, len(received), len(sent), &stderr)
		}
		fmt.Println("OpenSSH", m.Name)
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

// patchModule makes a module with a program that uses fastmac and x/crypto/ssh,
// needs no network, and returns its folder.
func patchModule(t *testing.T) string {
	t.Helper()
	t.Setenv("GOFLAGS", "-mod=mod")
	t.Setenv("GOPROXY", "off")
	t.Setenv("GOWORK", "")
	dir := filepath.Join(t.TempDir(), "a program")
	root, err := filepath.Abs("../..")
	if err != nil {
		t.Fatal(err)
	}
	write(t, filepath.Join(dir, "main.go"), patchProgram)
	mod := strings.Replace(read(t, "../../go.mod"), "module example.com/fastmac\n", "module example.com/program\n", 1)
	write(t, filepath.Join(dir, "go.mod"), mod)
	write(t, filepath.Join(dir, "go.sum"), read(t, "../../go.sum"))
	goTool(t, dir, "mod", "edit", "-require=example.com/fastmac@v0.0.0", "-replace=example.com/fastmac="+root)
	goTool(t, dir, "mod", "tidy")
	return dir
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

// snapshot returns the content of all files under dir, and the folders.
func snapshot(t *testing.T, dir string) map[string]string {
	t.Helper()
	files := make(map[string]string)
	err := filepath.WalkDir(dir, func(path string, entry fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case entry.IsDir():
			files[path] = "a folder"
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

// patchSSHIn runs the command and checks its exit status and that each of want is
// in its output.
func patchSSHIn(t *testing.T, dir string, code int, args []string, want ...string) {
	t.Helper()
	var stdout, stderr bytes.Buffer
	args = append([]string{"patch-ssh", "-C", dir}, args...)
	if got := run(t.Context(), args, &stdout, &stderr); got != code {
		t.Fatalf("%q: exit status %d, want %d\n%s%s", args, got, code, &stdout, &stderr)
	}
	out, silent := stdout.String(), stderr.String()
	if code != exitOK {
		out, silent = silent, out
		if !strings.HasPrefix(out, "fastmac: ") {
			t.Errorf("%q: %q does not begin with fastmac:", args, out)
		}
	}
	if silent != "" {
		t.Errorf("%q: unexpected output %q", args, silent)
	}
	for _, w := range want {
		if !strings.Contains(out, w) {
			t.Errorf("%q: %q is not in %q", args, w, out)
		}
	}
}

// checkProgram runs the program.
func checkProgram(t *testing.T, dir string) {
	t.Helper()
	ssh, _ := exec.LookPath("ssh")
	args := []string{"run", "."}
	if ssh != "" {
		args = append(args, ssh)
	}
	out := goTool(t, dir, args...)
	for _, name := range macNames {
		if !strings.Contains(out, "Go "+name+"\n") || ssh != "" && !strings.Contains(out, "OpenSSH "+name+"\n") {
			t.Errorf("%s is missing in %q", name, out)
		}
	}
}

var (
	check  = []string{"--check"}
	revert = []string{"--revert"}
)

func TestPatchSSH(t *testing.T) {
	dir := patchModule(t)
	target := filepath.Join(dir, "third_party", "golang.org", "x", "crypto")
	before := snapshot(t, dir)
	patchSSHIn(t, dir, exitFailed, check, "not in place: go.mod does not replace golang.org/x/crypto; run fastmac patch-ssh")
	patchSSHIn(t, dir, exitOK, revert, "nothing to revert")
	checkUnchanged(t, dir, before)

	patchSSHIn(t, dir, exitOK, nil, filepath.Join("third_party", "golang.org", "x", "crypto")+" is a copy", "built and tested", registerLines)
	checkProgram(t, dir)
	patched := snapshot(t, dir)
	for _, name := range []string{"LICENSE", "PATENTS", "go.mod", "bcrypt/bcrypt.go", "ssh/" + sshpatch.Name, "ssh/" + sshpatch.TestName} {
		info, err := os.Stat(filepath.Join(target, name))
		if err != nil || info.Mode()&0o200 == 0 {
			t.Errorf("%s cannot be written: %v, %v", name, info, err)
		}
	}
	if got := read(t, filepath.Join(dir, "go.mod")); !regexp.MustCompile(`\nreplace golang.org/x/crypto v\S+ => ./third_party/golang.org/x/crypto\n`).MatchString(got) {
		t.Errorf("go.mod without the replace line:\n%s", got)
	}

	inPlace := "is in place, in " + filepath.Join("third_party", "golang.org", "x", "crypto")
	patchSSHIn(t, dir, exitOK, nil, inPlace, "nothing to do")
	patchSSHIn(t, dir, exitOK, check, inPlace)
	patchSSHIn(t, dir, exitFailed, []string{"-o", "elsewhere"}, "-o asks for", "--revert")
	checkUnchanged(t, dir, patched)

	// Changes in the copy are left alone.
	license := filepath.Join(target, "LICENSE")
	original := read(t, license)
	write(t, license, "mine")
	write(t, filepath.Join(target, "ssh", "mine.go"), "package ssh")
	if err := os.Remove(filepath.Join(target, "ssh", "mac.go")); err != nil {
		t.Fatal(err)
	}
	changed := snapshot(t, dir)
	for _, args := range [][]string{nil, check, revert} {
		patchSSHIn(t, dir, exitFailed, args, "these differ: LICENSE, "+filepath.Join("ssh", "mac.go")+", "+filepath.Join("ssh", "mine.go"))
	}
	checkUnchanged(t, dir, changed)
	write(t, license, original)
	write(t, filepath.Join(target, "ssh", "mac.go"), patched[filepath.Join(target, "ssh", "mac.go")])
	if err := os.Remove(filepath.Join(target, "ssh", "mine.go")); err != nil {
		t.Fatal(err)
	}

	// Without its folder the replace line stops every build.
	if err := os.RemoveAll(filepath.Join(dir, "third_party")); err != nil {
		t.Fatal(err)
	}
	patchSSHIn(t, dir, exitFailed, check, "which does not exist; run fastmac patch-ssh")
	patchSSHIn(t, dir, exitOK, nil, "built and tested")
	checkUnchanged(t, dir, patched)

	patchSSHIn(t, dir, exitOK, revert, filepath.Join("third_party", "golang.org", "x", "crypto")+" is removed", "removed from go.mod")
	checkUnchanged(t, dir, before)
}

func TestPatchSSHVendor(t *testing.T) {
	dir := patchModule(t)
	t.Setenv("GOFLAGS", "")
	goTool(t, dir, "mod", "vendor")
	before := snapshot(t, dir)
	file := filepath.Join("vendor", "golang.org", "x", "crypto", "ssh", sshpatch.Name)
	patchSSHIn(t, dir, exitFailed, check, file+" does not exist: run fastmac patch-ssh")
	patchSSHIn(t, dir, exitFailed, []string{"-o", "x"}, "-o ", "has no effect")
	patchSSHIn(t, dir, exitOK, revert, "nothing to revert")
	checkUnchanged(t, dir, before)

	patchSSHIn(t, dir, exitOK, nil, file+" is added", "built and tested", registerLines)
	checkProgram(t, dir)
	patched := snapshot(t, dir)
	if len(patched) != len(before)+1 {
		t.Errorf("%d files and folders more than before", len(patched)-len(before))
	}
	patchSSHIn(t, dir, exitOK, nil, "is in place, in "+filepath.Dir(file), "nothing to do")
	patchSSHIn(t, dir, exitOK, check, "is in place, in "+filepath.Dir(file))
	checkUnchanged(t, dir, patched)

	write(t, filepath.Join(dir, file), sshpatch.Source+"// mine\n")
	for _, args := range [][]string{nil, check, revert} {
		patchSSHIn(t, dir, exitFailed, args, file+" is not the file of patch-ssh, or was changed")
	}
	write(t, filepath.Join(dir, file), sshpatch.Source)
	patchSSHIn(t, dir, exitOK, revert, file+" is removed")
	checkUnchanged(t, dir, before)
}

// TestPatchSSHUpgrade takes a patched module to another x/crypto, in a module cache
// of its own, with a release that there is not.
func TestPatchSSHUpgrade(t *testing.T) {
	dir := patchModule(t)
	version := strings.TrimSpace(goTool(t, dir, "list", "-m", "-f", "{{.Version}}", cryptoPath))
	cache := strings.TrimSpace(goTool(t, dir, "env", "GOMODCACHE"))
	proxy := t.TempDir()
	next := version[:strings.LastIndexByte(version, '.')] + ".999"
	fakeRelease(t, filepath.Join(cache, "cache", "download"), proxy, version, next)
	t.Setenv("GOMODCACHE", t.TempDir())
	t.Setenv("GOFLAGS", "-mod=mod -modcacherw")
	t.Setenv("GONOSUMDB", "*")
	for _, path := range []string{proxy, filepath.Join(cache, "cache", "download")} {
		path = filepath.ToSlash(path)
		if !strings.HasPrefix(path, "/") { // a Windows drive
			path = "/" + path
		}
		t.Setenv("GOPROXY", strings.TrimPrefix(os.Getenv("GOPROXY")+",file://"+path, "off,"))
	}

	place := filepath.Join("third party", "crypto")
	patchSSHIn(t, dir, exitOK, []string{"-o", place}, place+" is a copy of golang.org/x/crypto "+version+" ")
	goTool(t, dir, "get", cryptoPath+"@"+next)
	patchSSHIn(t, dir, exitFailed, check, place+" is a copy of golang.org/x/crypto "+version+", and go.mod has "+next)
	cmd := exec.Command("go", "build", "-o", os.DevNull, ".")
	cmd.Dir = dir
	if out, err := cmd.CombinedOutput(); err == nil || !strings.Contains(string(out), "undefined: ssh.RegisterMAC") {
		t.Errorf("the program with an unpatched x/crypto: %v, %s", err, out)
	}

	patchSSHIn(t, dir, exitOK, nil, place+" is a copy of golang.org/x/crypto "+next+" ")
	if read(t, filepath.Join(dir, place, "ssh", "next.go")) == "" || strings.Contains(read(t, filepath.Join(dir, "go.mod")), "golang.org/x/crypto "+version+" =>") {
		t.Error("the old copy or its replace line is still there")
	}
	patchSSHIn(t, dir, exitOK, check, next)
	patchSSHIn(t, dir, exitOK, revert, place+" is removed")
	if _, err := os.Lstat(filepath.Join(dir, "third party")); err == nil {
		t.Error("the empty folder of the copy is still there")
	}
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

func TestPatchSSHRefusals(t *testing.T) {
	for _, tt := range []struct {
		name   string
		change func(t *testing.T, dir string)
		args   []string
		want   []string
	}{
		{"no go.mod", func(t *testing.T, dir string) { os.Remove(filepath.Join(dir, "go.mod")) }, nil,
			[]string{"there is no go.mod in ", "-C"}},
		{"no go command", func(t *testing.T, dir string) { t.Setenv("PATH", t.TempDir()) }, nil,
			[]string{"there is no go command in PATH", "install Go"}},
		{"no folder", func(t *testing.T, dir string) {}, []string{"-C", "missing"},
			[]string{"missing is no folder", "-C"}},
		{"workspace", func(t *testing.T, dir string) { write(t, filepath.Join(dir, "go.work"), "go 1.26.0\n\nuse .\n") }, nil,
			[]string{"go.work is in use", "GOWORK=off"}},
		{"no x/crypto", func(t *testing.T, dir string) {
			write(t, filepath.Join(dir, "go.mod"), "module example.com/program\n\ngo 1.26.0\n")
		}, nil, []string{"go.mod has no golang.org/x/crypto", "go mod tidy"}},
		{"broken go.mod", func(t *testing.T, dir string) { write(t, filepath.Join(dir, "go.mod"), "module") }, nil,
			[]string{"go mod edit -json: exit status 1\n", "go.mod:1"}},
		{"x/crypto itself", func(t *testing.T, dir string) {
			write(t, filepath.Join(dir, "go.mod"), "module golang.org/x/crypto\n\ngo 1.26.0\n")
		}, nil, []string{"is golang.org/x/crypto itself"}},
		{"replaced", func(t *testing.T, dir string) {
			write(t, filepath.Join(dir, "fork", "go.mod"), "module golang.org/x/crypto\n\ngo 1.26.0\n")
			goTool(t, dir, "mod", "edit", "-replace=golang.org/x/crypto=./fork")
		}, nil, []string{"go.mod replaces golang.org/x/crypto already (golang.org/x/crypto => ./fork)", "remove the replace line"}},
		{"replaced for another version", func(t *testing.T, dir string) {
			goTool(t, dir, "mod", "edit", "-replace=golang.org/x/crypto@v0.1.0=golang.org/x/crypto@v0.2.0")
		}, nil, []string{"already (golang.org/x/crypto v0.1.0 => golang.org/x/crypto v0.2.0)"}},
		{"replaced twice", func(t *testing.T, dir string) {
			goTool(t, dir, "mod", "edit", "-replace=golang.org/x/crypto@v0.1.0=./a", "-replace=golang.org/x/crypto@v0.2.0=./b")
		}, nil, []string{"two replace lines"}},
		{"older copy that is not in the cache", func(t *testing.T, dir string) {
			write(t, filepath.Join(dir, "third_party/golang.org/x/crypto/go.mod"), "module golang.org/x/crypto\n")
			goTool(t, dir, "mod", "edit", "-replace=golang.org/x/crypto@v0.0.1=./third_party/golang.org/x/crypto")
		}, nil, []string{"golang.org/x/crypto@v0.0.1", "GOPROXY=off"}},
		{"target of somebody else", func(t *testing.T, dir string) {
			write(t, filepath.Join(dir, "third_party/golang.org/x/crypto/mine"), "mine")
		}, nil, []string{"third_party", "is not what patch-ssh makes of golang.org/x/crypto v", "these differ: .gitattributes, ", " more\n", "remove it"}},
		{"target is a file", func(t *testing.T, dir string) { write(t, filepath.Join(dir, "copy"), "mine") }, []string{"-o", "copy"},
			[]string{"copy is not what patch-ssh makes", "no folder"}},
		{"target is the module", func(t *testing.T, dir string) {}, []string{"-o", "."},
			[]string{"is not what patch-ssh makes"}},
		{"revert of somebody else's", func(t *testing.T, dir string) {
			write(t, filepath.Join(dir, "third_party/golang.org/x/crypto/mine"), "mine")
		}, revert, []string{"is not what patch-ssh makes", "Nothing was reverted"}},
		{"revert of somebody else's replace line", func(t *testing.T, dir string) {
			write(t, filepath.Join(dir, "third_party/golang.org/x/crypto/go.mod"), "module golang.org/x/crypto\n")
			goTool(t, dir, "mod", "edit", "-replace=golang.org/x/crypto=./third_party/golang.org/x/crypto")
		}, revert, []string{"go.mod replaces golang.org/x/crypto already"}},
		{"vendor without x/crypto/ssh", func(t *testing.T, dir string) {
			t.Setenv("GOFLAGS", "")
			write(t, filepath.Join(dir, "main.go"), "package main\n\nimport _ \"golang.org/x/crypto/blowfish\"\n\nfunc main() {}\n")
			goTool(t, dir, "mod", "tidy")
			goTool(t, dir, "mod", "vendor")
		}, nil, []string{"vendor is in use and has no golang.org/x/crypto/ssh", "go mod vendor"}},
		{"vendor without x/crypto", func(t *testing.T, dir string) {
			t.Setenv("GOFLAGS", "")
			write(t, filepath.Join(dir, "main.go"), "package main\n\nimport _ \"example.com/fastmac\"\n\nfunc main() {}\n")
			goTool(t, dir, "mod", "tidy")
			goTool(t, dir, "mod", "vendor")
		}, nil, []string{"go.mod has no golang.org/x/crypto"}},
		{"the patch does not compile in vendor", func(t *testing.T, dir string) {
			t.Setenv("GOFLAGS", "")
			goTool(t, dir, "mod", "vendor")
			mac := filepath.Join(dir, "vendor/golang.org/x/crypto/ssh/mac.go")
			write(t, mac, strings.ReplaceAll(read(t, mac), "macModes", "renamed"))
		}, nil, []string{"go build golang.org/x/crypto/ssh: exit status 1", "undefined: macModes"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			dir := patchModule(t)
			tt.change(t, dir)
			before := snapshot(t, dir)
			patchSSHIn(t, dir, exitFailed, tt.args, tt.want...)
			checkUnchanged(t, dir, before)
		})
	}
}
