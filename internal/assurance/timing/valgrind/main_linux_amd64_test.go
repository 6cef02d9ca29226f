// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

//go:build !purego && !race

package main

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"example.com/fastmac/internal/mactest"
	"golang.org/x/sys/cpu"
)

// needTools skips the test unless this is the long run and memcheck and what builds the probe are
// there.
func needTools(t *testing.T) {
	t.Helper()
	if !mactest.Long() {
		t.Skip("for the long run: half a minute in valgrind")
	}
	for program, pkgs := range map[string]string{"valgrind": "valgrind", "gcc": "gcc libc6-dev"} {
		if _, err := exec.LookPath(program); err != nil {
			t.Skipf("no %s: apt-get install %s", program, pkgs)
		}
	}
	if !cpu.X86.HasAVX2 || !cpu.X86.HasAES || !cpu.X86.HasPCLMULQDQ {
		t.Skip("the CPU lacks AVX2, AES or PCLMULQDQ")
	}
}

// TestCheck is the command for the first variant.
func TestCheck(t *testing.T) {
	needTools(t)
	var out bytes.Buffer
	err := check(&out, variants[:1])
	t.Logf("\n%s", &out)
	if err != nil {
		t.Error(err)
	}
}

// leaks are changes to the module that make it leak secrets without changing what it computes. Most
// are what one might write carelessly.
var leaks = []struct{ file, from, to string }{
	{"poly.go", "&isMarked // k < 2^57: less than m, if m is marked\n", "&isMarked\n\tif isMarked != 0 {\n\t\tpanic(m)\n\t}\n"},
	{"poly.go", "hi := m.hi - b - c", "if isMarked != 0 {\n\t\tpanic(m)\n\t}\n\thi := m.hi - b - c"},
	{"poly.go", "k.k128.hi = binary.", "if k.k64 == 0 {\n\t\tpanic(k)\n\t}\n\tk.k128.hi = binary."},
	{"l3.go", "return r + p36&-(r>>63)", "return r + [2]uint64{0, p36}[r>>63]"},
	{"pad.go", "\t\treturn pad{first, second}", "\t\tif first == 0 {\n\t\t\tpanic(second)\n\t\t}\n\t\treturn pad{first, second}"},
	{"parallel.go", "l2.write(k.l2[:k.n], run[:])", "l2.write(k.l2[:k.n], run[:])\n\t\tif run[0][0] == 1 {\n\t\t\tpanic(k)\n\t\t}"},
	{"parallel.go", "\t\tt := mul128(y, k)\n", "\t\tif n > 1<<(powerBits-1) {\n\t\t\tpanic(n)\n\t\t}\n\t\tt := mul128(y, k)\n"},
	{"umac.go", "k.Tag(want[:0], nonce, msg)) == int(size) && size.equal(tag, &want)",
		"k.Tag(want[:0], nonce, msg)) == int(size) && string(tag) == string(want[:size])"},
	{"pad.go", "return diff == 0", "for i := range tag {\n\t\tif tag[i] != want[i] {\n\t\t\treturn false\n\t\t}\n\t}\n\treturn diff == 0"},
	{"hmac.go", "if form == 0 {", "if form == 0 || k.states[0][0] == 0 {"},
	{"internal/sha2/batch.go", "case len(want) == Size512:", "case len(want) == Size512 && tag[0] != want[0]:\n\t\treturn false\n\tcase len(want) == Size512:"},
	{"internal/sha2/sha2.go", "tail = tail<<8 | W(p[i])", "tail = tail<<8 | W(p[i])&^1 | [2]W{0, 1}[p[i]&1]"},
	{"internal/sha2/sha2.go", "s[i] = W(binary.BigEndian.Uint64(hash[8*i:]))", "if s[i] == 0 {\n\t\t\t\ts[0]++\n\t\t\t\ts[0]--\n\t\t\t}\n\t\t\ts[i] = W(binary.BigEndian.Uint64(hash[8*i:]))"},
	{"internal/sha2/iterate.go", "it.T[i] ^= it.U[i]", "if it.U[i] == 0 {\n\t\t\t\tcontinue\n\t\t\t}\n\t\t\tit.T[i] ^= it.U[i]"},
	{"internal/gcm/gcm_asm.go", "if !Equal(", "if got[0] != b.tag[0] || !Equal("},
	{"hwrand/hwrand.go", "\tclear(left[:n])", "\tif n > 0 && left[0] == 0 {\n\t\tclear(left[:1])\n\t}\n\tclear(left[:n])"},
	{"many.go", "badTag(\"TagBatch\", i, len(m.Tag), size))\n\t\t\t}\n\t\t\tk.Tag(m.Tag[:0:len(m.Tag)], m.Nonce, m.Data)",
		"badTag(\"TagBatch\", i, len(m.Tag), size))\n\t\t\t}\n\t\t\tk.Tag(m.Tag[:0:len(m.Tag)], m.Nonce, m.Data)\n\t\t\tif string(m.Tag) == \"a tag of 16 byte\" {\n\t\t\t\tpanic(m)\n\t\t\t}"},
	{"packet/config.go", "\tcopy(okm[:], out[:])", "\tif string(out[:8]) == \"8 bytes.\" {\n\t\tpanic(out)\n\t}\n\tcopy(okm[:], out[:])"},
	{"packet/hello.go", "\tcopy(b[:], k[:block])", "\tif k[0] == k[1] {\n\t\tb[0]++\n\t}\n\tcopy(b[:], k[:block])"},
	{"packet/umac.go", "s.key.Tag(packet[:n+numberSize], nonce[:], hashed)",
		"s.key.Tag(packet[:n+numberSize], nonce[:], hashed)\n\tif string(packet[n+numberSize:]) == \"a tag of 16 byte\" {\n\t\tpanic(n)\n\t}"},
	{"sshmac/sshmac.go", "p.u.Write(body)", "if len(body) > 0 && body[0] == 0 && p.number == 1 {\n\t\tp.number = 1\n\t}\n\tp.u.Write(body)"},
}

// dividing are leaks that memcheck cannot report.
var dividing = []struct{ file, from, to string }{
	{"uhash_generic.go", "words[i] = sum + 8*length", "words[i] = sum + 8*length + sum%(length|3)>>63"},
	{"parallel.go", "steps[i] += 1 + (run", "steps[i] += steps[i]%(run[b][i]|3)>>32 + 1 + (run"},
}

// TestLeaks puts leaks into a copy of the module. Memcheck must report each, and the
// disassembly the divisions.
func TestLeaks(t *testing.T) {
	needTools(t)
	copied := copyModule(t)
	files := make(map[string]string)
	for _, l := range slices.Concat(leaks, dividing) {
		if files[l.file] == "" {
			files[l.file] = read(t, filepath.Join(copied, l.file))
		}
		if n := strings.Count(files[l.file], l.from); n != 1 {
			t.Fatalf("%s has %q %d times, want once", l.file, l.from, n)
		}
		files[l.file] = strings.Replace(files[l.file], l.from, l.to, 1)
	}
	for name, content := range files {
		if err := os.WriteFile(filepath.Join(copied, name), []byte(content), 0o644); err != nil {
			t.Fatal(err)
		}
	}

	v := variants[0]
	program := filepath.Join(t.TempDir(), "probe")
	if err := v.build(filepath.Join(copied, nested), program); err != nil {
		t.Fatal(err)
	}
	var found []report
	for _, godebug := range []string{"", "cpu.avx2=off"} {
		v.godebug = godebug
		run, err := v.run(program)
		if err != nil {
			t.Fatal(err)
		}
		found = append(found, run.reports...)
		if j := judge(run.reports, v); len(j.findings) == 0 {
			t.Errorf("GODEBUG %q: no findings", godebug)
		}
	}
	for _, l := range leaks {
		content := files[l.file]
		start := strings.Index(content, l.to)
		first := 1 + strings.Count(content[:start], "\n")
		last := first + strings.Count(strings.TrimSuffix(l.to, "\n"), "\n")
		here := func(f frame) bool {
			return f.file == filepath.Join(copied, l.file) && first <= f.line && f.line <= last
		}
		// The comparison of strings is a function of assembly.
		if !slices.ContainsFunc(found, func(r report) bool { return slices.ContainsFunc(r.stack[:min(3, len(r.stack))], here) }) {
			t.Errorf("%s, lines %d to %d: a leak was not reported:\n%s", l.file, first, last, l.to)
		}
	}
	_, divided, err := divisions(program)
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{`\.lastWordsGeneric, uhash_generic\.go: divisions in lines \[\d+\], want 0`, `\.sumOnStack, parallel\.go: divisions in lines \[\d+\], want 0`} {
		if !regexp.MustCompile(want).MatchString(strings.Join(divided, "\n")) {
			t.Errorf("findings %q, want %s", divided, want)
		}
	}
	t.Logf("%d leaks and %d divisions, %d reports", len(leaks), len(dividing), len(found))
}

// nested is the folder of the module of the probe, whose go.mod refers to the root by "../..".
const nested = "internal/assurance"

// copyModule copies what the probe is built from to a new folder, and returns it.
func copyModule(t *testing.T) string {
	t.Helper()
	root := strings.TrimSpace(command(t, "go", "list", "-m", "-f", "{{.Dir}}", "example.com/fastmac"))
	folders := strings.Fields(command(t, "go", "list", "-deps", "-f", `{{with .Module}}{{if or .Main .Replace}}{{$.Dir}}{{end}}{{end}}`, probePath))
	copied, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	var files []string
	for _, module := range []string{root, filepath.Join(root, nested), filepath.Join(root, "packet"), filepath.Join(root, "sshmac")} {
		files = append(files, filepath.Join(module, "go.mod"), filepath.Join(module, "go.sum"))
	}
	for _, folder := range folders {
		for _, pattern := range []string{"*.go", "*.s"} {
			names, _ := filepath.Glob(filepath.Join(folder, pattern))
			files = append(files, names...)
		}
	}
	for _, name := range files {
		if strings.HasSuffix(name, "_test.go") {
			continue
		}
		relative, err := filepath.Rel(root, name)
		if err != nil {
			t.Fatal(err)
		}
		to := filepath.Join(copied, relative)
		if err := os.MkdirAll(filepath.Dir(to), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(to, []byte(read(t, name)), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return copied
}

// command returns what a command prints.
func command(t *testing.T, name string, args ...string) string {
	t.Helper()
	out, err := exec.Command(name, args...).Output()
	if err != nil {
		t.Fatalf("%s %q: %v", name, args, err)
	}
	return string(out)
}

func read(t *testing.T, name string) string {
	t.Helper()
	content, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	return string(content)
}
