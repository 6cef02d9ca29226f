// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package dropin

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
)

// pgHBA lets everybody in by SCRAM-SHA-256 only, except who sets up the database.
const pgHBA = `local all postgres trust
local all all scram-sha-256
host all all localhost scram-sha-256
`

// postgreSQL starts a server for the suite of pgx, as its testsetup says, and returns the variables that
// the suite reads. The test fails if no connection was authenticated by SCRAM-SHA-256.
func postgreSQL(t *testing.T, pgx string) []string {
	t.Helper()
	found, _ := filepath.Glob("/usr/lib/postgresql/*/bin/postgres")
	if len(found) == 0 {
		t.Skip("needs a PostgreSQL server: install the package postgresql")
	}
	// The user postgres cannot reach t.TempDir, and the path of a socket has at most 107 bytes.
	dir, err := os.MkdirTemp("", "pg")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	// The server refuses to run as root, and ends with the test.
	as := []string{"--pdeathsig", "INT"}
	chown := func(name string) error { return nil }
	if os.Getuid() == 0 {
		owner, err := user.Lookup("postgres")
		if err != nil {
			t.Fatal(err)
		}
		as = append(as, "--reuid", owner.Uid, "--regid", owner.Gid, "--clear-groups")
		uid, _ := strconv.Atoi(owner.Uid)
		gid, _ := strconv.Atoi(owner.Gid)
		chown = func(name string) error { return os.Chown(name, uid, gid) }
	}
	command := func(name string, args ...string) *exec.Cmd {
		program := filepath.Join(filepath.Dir(found[len(found)-1]), name)
		cmd := exec.Command("setpriv", append(append(as, program), args...)...)
		cmd.Dir = dir
		return cmd
	}
	run := func(cmd *exec.Cmd) {
		t.Helper()
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("%v: %v\n%s", cmd, err, out)
		}
	}
	certificates := exec.Command("go", "run", filepath.Join(pgx, "testsetup", "generate_certs.go"))
	certificates.Dir = dir
	run(certificates)
	sql, err := os.ReadFile(filepath.Join(pgx, "testsetup", "postgresql_setup.sql"))
	if err != nil {
		t.Fatal(err)
	}
	for name, content := range map[string][]byte{"hba": []byte(pgHBA), "setup.sql": sql} {
		if err := os.WriteFile(filepath.Join(dir, name), content, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	for _, name := range []string{"", "localhost.key"} {
		if err := chown(filepath.Join(dir, name)); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Chmod(filepath.Join(dir, "localhost.key"), 0o600); err != nil {
		t.Fatal(err)
	}
	run(command("initdb", "--pgdata=data", "--username=postgres", "--auth=trust", "--encoding=UTF8", "--locale=C", "--no-sync"))

	// As late as can be, so that no other program gets the port.
	listener, err := net.Listen("tcp4", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	_, port, _ := net.SplitHostPort(listener.Addr().String())
	listener.Close()
	server := command("postgres", "-D", "data", "-k", dir, "-p", port, "-F")
	for _, setting := range []string{
		"listen_addresses=localhost", "hba_file=" + dir + "/hba", "log_connections=on", "max_connections=200",
		"ssl=on", "ssl_cert_file=" + dir + "/localhost.crt", "ssl_key_file=" + dir + "/localhost.key",
	} {
		server.Args = append(server.Args, "-c", setting)
	}
	log, err := server.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := server.Start(); err != nil {
		t.Fatal(err)
	}
	ready, ended := make(chan bool, 1), make(chan int)
	go func() {
		scram, said := 0, ""
		for lines := bufio.NewScanner(log); lines.Scan(); {
			if strings.Contains(lines.Text(), "database system is ready to accept connections") {
				ready <- true
			}
			if strings.Contains(lines.Text(), "method=scram-sha-256") {
				scram++
			}
			said += lines.Text() + "\n"
		}
		if scram == 0 {
			t.Logf("PostgreSQL: %s", said)
		}
		close(ready)
		ended <- scram
	}()
	t.Cleanup(func() {
		server.Process.Signal(os.Interrupt)
		n := <-ended
		server.Wait()
		if n == 0 {
			t.Error("no connection was authenticated by SCRAM-SHA-256")
		}
		t.Logf("PostgreSQL authenticated %d connections by SCRAM-SHA-256", n)
	})
	if !<-ready {
		t.Fatal("the server did not start")
	}
	run(command("createdb", "-h", dir, "-p", port, "-U", "postgres", "pgx_test"))
	run(command("psql", "-h", dir, "-p", port, "-U", "postgres", "-v", "ON_ERROR_STOP=1", "-f", "setup.sql", "pgx_test"))

	connect := func(host, user, more string) string {
		return fmt.Sprintf("host=%s port=%s user=%s password=secret dbname=pgx_test %s", host, port, user, more)
	}
	tls := "sslmode=verify-full sslrootcert=" + dir + "/ca.pem channel_binding="
	return []string{
		"PGX_TEST_DATABASE=" + connect("127.0.0.1", "pgx_scram", ""),
		"PGX_TEST_TCP_CONN_STRING=" + connect("127.0.0.1", "pgx_scram", ""),
		"PGX_TEST_UNIX_SOCKET_CONN_STRING=" + connect(dir, "pgx_scram", ""),
		"PGX_TEST_SCRAM_PASSWORD_CONN_STRING=" + connect("127.0.0.1", "pgx_scram", "channel_binding=disable"),
		"PGX_TEST_SCRAM_PLUS_CONN_STRING=" + connect("localhost", "pgx_ssl", tls+"require"),
		"PGX_TEST_TLS_CONN_STRING=" + connect("localhost", "pgx_ssl", tls+"disable"),
	}
}

// stripeMock starts the server without which the tests of stripe-go do not run.
func stripeMock(t *testing.T, _ string) []string {
	t.Helper()
	dir := t.TempDir()
	goRun(t, dir, []string{"GOBIN=" + dir}, "install", "github.com/stripe/stripe-mock@v0.203.0")
	server := exec.Command(filepath.Join(dir, "stripe-mock"), "-http-addr", "127.0.0.1:0", "-https-addr", "127.0.0.1:0")
	log, err := server.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := server.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		server.Process.Kill()
		server.Wait()
	})
	for lines := bufio.NewScanner(log); lines.Scan(); {
		if _, port, ok := strings.Cut(lines.Text(), "Listening for HTTPS at address: 127.0.0.1:"); ok {
			go io.Copy(io.Discard, log)
			return []string{"STRIPE_MOCK_PORT=" + port}
		}
	}
	t.Fatal("stripe-mock did not start")
	return nil
}
