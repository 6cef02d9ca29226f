// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package rivals

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

func newTestBuilt(t *testing.T) *Built {
	t.Helper()
	b, err := newBuilt(t.Context(), t.TempDir(), Groups)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// TestLeftOut builds with compilers that are missing, or fail.
func TestLeftOut(t *testing.T) {
	// As without a header, and without a network.
	const badCC = "#!/bin/sh\necho 'nettle.c:5:10: fatal error: nettle/umac.h: No such file or directory'\nexit 1\n"
	const badCargo = "#!/bin/sh\necho '    Updating index'\necho 'error: failed to get `ring` as a dependency'\nexit 101\n"
	const nettle, rust = "(Debian packages gcc libc6-dev nettle-dev)", "(Debian packages cargo gcc libc6-dev, or rustup; Rust 1.85 or newer)"
	// Contenders that this machine cannot run follow the peers.
	var missing []string
	for _, g := range Groups {
		for _, c := range g.Contenders {
			if err := c.Missing(); err != nil {
				line := c.Title() + " left out: " + strings.TrimPrefix(err.Error(), "fastmac: ")
				if !slices.Contains(missing, line) {
					missing = append(missing, line)
				}
			}
		}
	}
	for path, want := range map[string][]string{
		"": {
			"nettle left out: cc not found " + nettle,
			"OpenSSL left out: cc not found (Debian packages gcc libc6-dev libssl-dev)",
			"ipsec-mb left out: cc not found (Debian packages gcc libc6-dev libipsec-mb-dev)",
			"reading left out: cc not found (Debian packages gcc libc6-dev)",
			"RustCrypto left out: cargo not found " + rust,
			"ring left out: cargo not found " + rust,
			"orion left out: cargo not found " + rust,
			"aws-lc-rs left out: cargo not found " + rust,
			"BoringSSL left out: no -boringssl",
			"OpenSSH left out: no -openssh",
			"fakeboboliu left out: no -fakeboboliu",
		},
		writeFiles(t, map[string]string{"cc": badCC, "cargo": badCargo}): {
			"nettle left out: cc: nettle.c:5:10: fatal error: nettle/umac.h: No such file or directory " + nettle,
			"OpenSSL left out: cc: ", "ipsec-mb left out: cc: ", "reading left out: cc: ",
			"RustCrypto left out: cargo: error: failed to get `ring` as a dependency " + rust,
			"ring left out: cargo: ", "orion left out: cargo: ", "aws-lc-rs left out: cargo: ", "BoringSSL left out: cargo: error: failed to get `ring` as a dependency (Debian packages cargo gcc libc6-dev cmake g++ libclang-dev,",
			"OpenSSH left out: open ", "fakeboboliu left out: no Go files in ",
		},
	} {
		t.Setenv("PATH", path)
		var from string
		if path != "" {
			from = t.TempDir()
		}
		b, err := Build(t.Context(), t.TempDir(), Groups, from, from, from != "")
		if err != nil {
			t.Fatal(err)
		}
		want = append(want, missing...)
		if len(b.LeftOut) != len(want) || len(b.Peers) != 0 {
			t.Fatalf("left out %q, peers %v", b.LeftOut, b.Peers)
		}
		for i, line := range b.LeftOut {
			if !strings.HasPrefix(line, want[i]) {
				t.Errorf("%q, want %q", line, want[i])
			}
		}
	}
}

// TestNeeded builds for a group that needs one peer.
func TestNeeded(t *testing.T) {
	t.Setenv("PATH", "")
	b, err := Build(t.Context(), t.TempDir(), []Group{{Contenders: contenders("crypto/cipher,ring:aes256-gcm:seal")}}, "", "", false)
	if err != nil {
		t.Fatal(err)
	}
	if len(b.LeftOut) != 1 || !strings.HasPrefix(b.LeftOut[0], "ring left out: cargo not found") {
		t.Errorf("left out %q, want ring", b.LeftOut)
	}
}

// TestCPeers builds what this machine can build and checks its tags.
func TestCPeers(t *testing.T) {
	b := newTestBuilt(t)
	b.buildC()
	for _, line := range b.LeftOut {
		t.Log(line)
	}
	checkTags(t, b, nil)
}

// TestRustPeers builds the first peer in Rust, if its crates are on this machine,
// and checks its tags. The others take too long for a test.
func TestRustPeers(t *testing.T) {
	t.Setenv("CARGO_NET_OFFLINE", "true")
	b := newTestBuilt(t)
	b.buildRust("", nil, "RustCrypto")
	if len(b.LeftOut) > 0 {
		t.Skip(b.LeftOut)
	}
	for _, name := range []string{"crate hkdf", "crate hmac", "crate pbkdf2", "crate sha2", "crate aes-gcm", "crate aes", "crate polyval", "Rust compiler"} {
		if b.Versions[name] == "" {
			t.Errorf("no version of %s in %v", name, b.Versions)
		}
	}
	checkTags(t, b, nil)
}

// TestCargoFile checks that the crate requires the Rust that messages name, and one
// version of each peer.
func TestCargoFile(t *testing.T) {
	crate, err := os.ReadFile("rust/Cargo.toml")
	if err != nil {
		t.Fatal(err)
	}
	version := regexp.MustCompile(`Rust (\S+) or newer`).FindStringSubmatch(needsRust)[1]
	for _, want := range []string{"rust-version = \"" + version + "\"\n", "hkdf = { version = \"=", "hmac = { version = \"=", "pbkdf2 = { version = \"=", "sha2 = { version = \"=",
		"aes-gcm = { version = \"=", "aes = { version = \"=", "polyval = { version = \"=",
		"ring = { version = \"=", "orion = { version = \"=", "aws-lc-rs = { version = \"=",
		"boring-sys = { version = \"="} {
		if !strings.Contains(string(crate), "\n"+want) {
			t.Errorf("rust/Cargo.toml has no %q", want)
		}
	}
}

// writeFiles returns a new directory with these files, which can be run.
func writeFiles(t *testing.T, files map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	for name, text := range files {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o777); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// checkTags checks the tags of all contenders of b's peers. Those of the peers in
// wrong must fail with the text there.
func checkTags(t *testing.T, b *Built, wrong map[string]string) {
	t.Helper()
	for _, g := range Groups {
		for _, c := range g.Contenders {
			p, ok := b.Peers[c.Peer()]
			if !ok {
				continue
			}
			r, err := p.Start(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			err = c.Check(r, g.Sizes)
			r.Stop()
			switch want := wrong[p.Name]; {
			case want == "" && err != nil:
				t.Errorf("%s: %v", c, err)
			case want != "" && (err == nil || !strings.Contains(err.Error(), want)):
				t.Errorf("%s: error %v, want %q", c, err, want)
			}
		}
	}
}

// TestFakeboboliu builds a module of that name whose tags are wrong. Code from
// outside is measured only if its tags are right, even in SSH, where both ends are
// wrong in the same way and agree.
func TestFakeboboliu(t *testing.T) {
	if _, err := exec.LookPath("go"); err != nil {
		t.Skip(err)
	}
	dir := writeFiles(t, map[string]string{
		"go.mod": "module github.com/fakeboboliu/umac\n\ngo 1.20\n",
		"umac.go": `package umac

import (
	"crypto/md5"
	"hash"
)

type mac struct {
	hash.Hash
	size int
}

func (m mac) Sum(nonce []byte) []byte { return append(nonce[:0], m.Hash.Sum(nil)[:m.size]...) }
func (m mac) Size() int               { return m.size }

func New8(key []byte) hash.Hash  { return mac{md5.New(), 8} }
func New16(key []byte) hash.Hash { return mac{md5.New(), 16} }
`,
	})
	b := newTestBuilt(t)
	b.buildFakeboboliu(dir)
	if len(b.LeftOut) > 0 {
		t.Fatal(b.LeftOut)
	}
	if !strings.HasPrefix(b.Versions["fakeboboliu/umac"], "copy with SHA-256 ") {
		t.Errorf("versions %v", b.Versions)
	}
	checkTags(t, b, map[string]string{"fakeboboliu": "wrong tag"})

	// The error is the compiler's first.
	if err := os.WriteFile(filepath.Join(dir, "umac.go"), []byte("package umac\n\nfunc New8() {}\n"), 0o666); err != nil {
		t.Fatal(err)
	}
	b = newTestBuilt(t)
	b.buildFakeboboliu(dir)
	if len(b.LeftOut) != 1 || !strings.Contains(b.LeftOut[0], "New8") {
		t.Errorf("left out %q", b.LeftOut)
	}
}

// TestOpenSSH compiles a umac.c that includes and calls what OpenSSH's does and
// whose tags are wrong.
func TestOpenSSH(t *testing.T) {
	if _, err := exec.LookPath("cc"); err != nil {
		t.Skip(err)
	}
	dir := writeFiles(t, map[string]string{
		"umac.h": `struct umac_ctx *umac_new(const u_char key[]);
int umac_update(struct umac_ctx *ctx, const u_char *input, long len);
int umac_final(struct umac_ctx *ctx, u_char tag[], const u_char nonce[8]);
int umac_delete(struct umac_ctx *ctx);
struct umac_ctx *umac128_new(const u_char key[]);
int umac128_update(struct umac_ctx *ctx, const u_char *input, long len);
int umac128_final(struct umac_ctx *ctx, u_char tag[], const u_char nonce[8]);
int umac128_delete(struct umac_ctx *ctx);
`,
		"umac.c": `/* $OpenBSD: umac.c,v 1.99 2026/01/02 03:04:05 nobody Exp $ */
#include "includes.h"
#include "xmalloc.h"
#include "umac.h"
#include "misc.h"
#ifdef WITH_OPENSSL
#include "openbsd-compat/openssl-compat.h"
#include <openssl/aes.h>
#endif
struct umac_ctx { AES_KEY key; };
struct umac_ctx *umac_new(const u_char key[])
{
	struct umac_ctx *ctx = xcalloc(1, sizeof *ctx);
	AES_set_encrypt_key(key, 128, &ctx->key);
	return ctx;
}
int umac_update(struct umac_ctx *ctx, const u_char *input, long len) { return ctx && input && len; }
int umac_final(struct umac_ctx *ctx, u_char tag[], const u_char nonce[8])
{
	put_u32(tag, get_u32(nonce));
	put_u32_le(tag + 4, get_u32_le(nonce + 4));
	return ctx != NULL;
}
int umac_delete(struct umac_ctx *ctx) { freezero(ctx, sizeof *ctx); return 1; }
`,
		"umac128.c": `#define umac_new umac128_new
#define umac_update umac128_update
#define umac_final umac128_final
#define umac_delete umac128_delete
#include "umac.c"
`,
	})
	b := newTestBuilt(t)
	b.buildOpenSSH(dir)
	if b.Peers["OpenSSH"].Name == "" {
		t.Skip(b.LeftOut) // no libssl-dev
	}
	if got := b.Versions["OpenSSH umac.c"]; got != "1.99 (2026/01/02)" {
		t.Errorf("version %q", got)
	}
	checkTags(t, b, map[string]string{"OpenSSH": " bytes: 0000010000000000"})
}
