// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package main

import (
	"bytes"
	"crypto/hkdf"
	"crypto/hmac"
	"crypto/sha256"
	"crypto/sha512"
	"encoding/binary"
	"flag"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"testing"

	"example.com/fastmac/cmd/fastmac/internal/list"
)

// docsFolder is absolute, because tests change the current folder.
var docsFolder, _ = filepath.Abs(filepath.Join("..", "..", "docs"))

// python runs Python 3 with these arguments, and returns what it prints and its exit status.
func python(t *testing.T, stdin []byte, args ...string) (stdout string, code int) {
	t.Helper()
	program, err := exec.LookPath("python3")
	if err != nil {
		t.Skip("needs python3 (Debian package python3)")
	}
	cmd := exec.Command(program, append([]string{"-B"}, args...)...)
	cmd.Stdin = bytes.NewReader(stdin)
	var errs bytes.Buffer
	cmd.Stderr = &errs
	out, err := cmd.Output()
	if code = cmd.ProcessState.ExitCode(); code > 1 || strings.Contains(errs.String(), "Traceback") {
		t.Fatalf("%q: %v\n%s", args, err, &errs)
	}
	return string(out), code
}

// sign returns a list of these lines, and an end line of a format that is right for them.
func sign(t *testing.T, lines []string, format int, zero bool) string {
	t.Helper()
	text, err := os.ReadFile("key")
	if err != nil {
		t.Fatal(err)
	}
	key := strings.Fields(string(text))
	listKey, err := hkdf.Key(sha512.New, mustHex(t, key[1]), []byte("fastmac list 1"), "list tag "+key[0], 64)
	if err != nil {
		t.Fatal(err)
	}
	end := map[bool]string{false: "\n", true: "\x00"}[zero]
	covered := strings.Join(lines, end) + end + fmt.Sprintf("%s:%s:%s:%d:", []string{"end", "end2"}[format-1], key[0], key[2], len(lines))
	mac := hmac.New(sha512.New, listKey)
	mac.Write([]byte(covered))
	return fmt.Sprintf("%s%x%s", covered, mac.Sum(nil), end)
}

// formatOne returns a list in format 1.
func formatOne(t *testing.T, list string, zero bool) string {
	t.Helper()
	var lines []string
	for _, line := range strings.FieldsFunc(list, func(r rune) bool { return r == '\n' && !zero || r == 0 }) {
		if regexp.MustCompile(`^(fastmac list|\\?(label|serial|time|end2):)`).MatchString(line) {
			continue
		}
		if sums, path, ok := strings.Cut(line, "  "); strings.Count(sums, ":") == 6 && ok {
			line = strings.TrimSuffix(sums[:strings.LastIndexByte(sums, ':')], ":::") + "  " + path
		}
		lines = append(lines, line)
	}
	return sign(t, lines, 1, zero)
}

// TestPython verifies lists of all kinds with docs/verify.py, which was written from docs/list-format.md.
func TestPython(t *testing.T) {
	files := map[string]string{"d/a": "1", "d/b c": "2", "d/e/é": "3", "d/x.o": "4", "g": "5", "-": "5"}
	if runtime.GOOS != "windows" {
		for _, name := range []string{"back\\slash", "new\nline", "re\rturn", "\xff\x1b", " edge ", "two  spaces", "end2:", "d/\\x41"} {
			files["d/"+strings.ReplaceAll(name, "/", "")] = name
		}
	}
	inFolder(t, files)
	os.WriteFile("names", []byte("d/a\ng\n"), 0o600)
	for _, algorithm := range []string{"hmac-sha256", "hmac-sha512"} {
		os.Remove("key")
		command(t, exitOK, "keygen -o key -a "+algorithm)
		lists := make(map[string]string)
		for _, line := range []string{"-r d g", "-z -r d", "--label x\\y\u202e d/a", "-r d --exclude *.o --exclude /e/ --label \xff --exclude-caches --one-file-system", "--keep-going d/a missing", "--files-from names", "d/a missing", "-"} {
			options := "-o sums --force "
			switch line {
			case "--keep-going d/a missing":
				command(t, exitFailed, "tag -k key "+options+line)
			case "d/a missing": // without its end
				text, _ := command(t, exitFailed, "tag -k key "+line)
				os.WriteFile("sums", []byte(text), 0o600)
			case "-":
				withStdin(t, "g")
				fallthrough
			default:
				command(t, exitOK, "tag -k key "+options+line)
			}
			text, err := os.ReadFile("sums")
			if err != nil {
				t.Fatal(err)
			}
			lists[line] = string(text)
			zero := strings.HasPrefix(line, "-z ")
			lists[line+", format 1"] = formatOne(t, string(text), zero)
			if !zero {
				lists[line+", CRLF"] = strings.ReplaceAll(string(text), "\n", "\r\n")
			}
		}
		os.WriteFile("sums", []byte(lists["-r d g"]), 0o600)
		os.WriteFile("new", nil, 0o600)
		command(t, exitOK, "tag -k key --update sums --label later new")
		text, _ := os.ReadFile("sums")
		lists["updated"] = string(text)
		lists["updated and changed"] = strings.Replace(string(text), "serial:  2", "serial:  3", 1)
		line, _, _ := strings.Cut(lists["-r d g, format 1"], "\n")
		tag, _, _ := strings.Cut(strings.TrimPrefix(line, algorithm+"::"), ":")
		digits := strings.Repeat("0", 5000)
		lists["a NUL in a path"] = sign(t, []string{`\` + algorithm + "::" + tag + `  a\x00b`}, 1, false)
		lists["long numbers"] = sign(t, []string{algorithm + "::" + tag + ":+" + digits + "1:-" + digits + ":" + digits + "  d/a"}, 1, false)
		lists["a longer number"] = sign(t, []string{algorithm + "::" + tag + ":1" + digits + ":1:1  d/a"}, 1, false)
		const driver = `
import sys
sys.path.insert(0, sys.argv[1])
import verify
for args in sys.argv[2:]:
    print("exit status %d\n" % verify.main(args.split()), end="\0")
`
		results := regexp.MustCompile(`(?m): (OK|FAILED|FAILED open or read|NOT TAGGED)$`)
		compare := func() (right int) {
			t.Helper()
			names := slices.Sorted(maps.Keys(lists))
			args := []string{"-c", driver, docsFolder}
			for i, name := range names {
				file := fmt.Sprint("sums", i)
				os.WriteFile(file, []byte(lists[name]), 0o600)
				args = append(args, map[bool]string{true: "-z "}[strings.HasPrefix(name, "-z ")]+"key "+file)
			}
			all, _ := python(t, nil, args...)
			answers := strings.Split(all, "\x00")
			for i, name := range names {
				os.WriteFile("sums", []byte(lists[name]), 0o600)
				var out, errs bytes.Buffer
				args := []string{"verify", "-k", "key", "sums"}
				if strings.HasPrefix(name, "-z ") {
					args = append(args, "-z")
				}
				code := run(t.Context(), args, &out, &errs)
				got, end, _ := strings.Cut(answers[i], "exit status ")
				if end != fmt.Sprintln(code) || !slices.Equal(results.FindAllString(got, -1), results.FindAllString(out.String(), -1)) || strings.Count(got, "\n") != strings.Count(out.String(), "\n") {
					t.Errorf("%s: Python has %q; fastmac %d, %q, %q", name, answers[i], code, &out, &errs)
				}
				if code == exitOK {
					right++
				}
			}
			return right
		}
		if right := compare(); right < 12 {
			t.Errorf("%d of %d lists are right", right, len(lists))
		}
		// The program, as its users start it.
		for line, want := range map[string]int{"key sums": 0, "-z key sums": 1} {
			os.WriteFile("sums", []byte(lists["-r d g"]), 0o600)
			args := append([]string{filepath.Join(docsFolder, "verify.py")}, strings.Fields(line)...)
			if out, code := python(t, nil, args...); code != want {
				t.Errorf("%s: %d, %q", line, code, out)
			}
		}
		os.WriteFile("d/a", []byte("2"), 0o600)
		os.Remove("d/b c")
		compare()
		os.WriteFile("d/a", []byte("1"), 0o600)
		os.WriteFile("d/b c", []byte("2"), 0o600)
	}
}

// alter changes a list of several lines, in which each of others could take part.
func alter(r *rand.Rand, text, end string, others []string) string {
	lines := strings.SplitAfter(text, end)
	lines = lines[:len(lines)-1]
	i, j := r.IntN(len(lines)), r.IntN(len(lines))
	line := lines[i]
	switch r.IntN(14) {
	case 0:
		lines[i], lines[j] = lines[j], lines[i]
	case 1:
		lines = slices.Delete(lines, i, i+1)
	case 2:
		lines = slices.Insert(lines, j, line)
	case 3:
		other := strings.SplitAfter(others[r.IntN(len(others))], end)
		lines[i] = other[r.IntN(len(other)-1)]
	case 4:
		lines[i] = strings.TrimSuffix(line, end) + "\r" + end
	case 5: // a field of another line
		from, to := strings.Split(lines[j], ":"), strings.Split(line, ":")
		to[r.IntN(len(to))] = from[r.IntN(len(from))]
		lines[i] = strings.Join(to, ":")
	case 6, 7: // a field
		fields := strings.Split(line, ":")
		values := []string{"", "0", "00", "1", "-1", "+1", "-0", "01", " 1", "1 ", "1_0", "9223372036854775807", "9223372036854775808", "-9223372036854775808", "-9223372036854775809",
			"18446744073709551615", "18446744073709551616", "0x1", "x", "umac64", "hmac-sha256", "hmac-sha512", "end", "end2", "0:0:0", "0:0::", "::"}
		n := r.IntN(len(fields))
		last, path, ok := strings.Cut(fields[n], "  ")
		if fields[n] = values[r.IntN(len(values))]; ok && last != "" || n+1 == len(fields) {
			fields[n] += "  " + path
		}
		lines[i] = strings.Join(fields, ":")
	case 8: // a line
		values := []string{"", "x", "folder:  e", "folder: e", "folder:  ", "exclude:  *", "unread:  u", "option:  exclude-caches", "option:  exclude", `\unread:  \n`, `\unread:  \q`, `\unread:  \x4`, `\unread:  \x\\41`, "unread:  \x00", "label:  l", `\label:  \\`, "label:  ",
			"serial:  1", "serial:  0", "serial:  01", "serial:  18446744073709551615", "serial:  18446744073709551616", "time:  2024-02-29T00:00:00Z", "time:  2023-02-29T00:00:00Z", "time:  2024-02-28T24:00:00Z",
			"time:  2024-02-28T23:59:60Z", "time:  1969-12-31T23:59:59Z", "time:  9999-12-31T23:59:59Z", "time:  2024-02-28t00:00:00Z", "time:  2024-02-28T00:00:00.5Z", "fastmac list 2::  hmac-sha512", "fastmac list 2::  hmac-sha256",
			"fastmac list 2::  x", "fastmac list 3::  hmac-sha512", "fastmac list 2:  hmac-sha512", strings.Repeat("y", 524286), strings.Repeat("y", 524287), strings.Repeat("y", 524288), "end:", "end2:", "\\end2:x"}
		lines = slices.Insert(lines, i, values[r.IntN(len(values))]+end)
	case 9:
		lines[i] = strings.ToUpper(line)
	case 10:
		lines[i] = `\` + line
	default:
		at := r.IntN(len(line))
		chars := "\x00\n\r \t:\\09afAFx\x7f\xff+-:: 0nrx"
		c := chars[r.IntN(len(chars)):][:1]
		lines[i] = line[:at] + c + line[at+r.IntN(2):]
	}
	return strings.Join(lines, "")
}

var changes = flag.Int("changes", 4000, "let TestPythonAltered compare so many altered lists")

// TestPythonAltered has fastmac and docs/verify.py read altered lists: both accept the same ones, all of which
// were signed again, and find the same in them.
func TestPythonAltered(t *testing.T) {
	inFolder(t, map[string]string{"d/a": "1", "d/b  c": "2", "d/e/é": "3", "g": "5"})
	command(t, exitOK, "keygen -o key -a hmac-sha512")
	var bases [2][]string // without and with -z
	for zero, option := range []string{"", "-z "} {
		for _, line := range []string{"-r d g", "--label x --keep-going g missing missing2 -r d --one-file-system --exclude *.o --exclude \\\\*"} {
			command(t, map[bool]int{false: exitOK, true: exitFailed}[strings.Contains(line, "missing")], "tag -k key -o sums --force "+option+line)
			text, _ := os.ReadFile("sums")
			bases[zero] = append(bases[zero], string(text), formatOne(t, string(text), zero == 1))
		}
	}
	keyText, _ := os.ReadFile("key")
	key, err := list.ParseKey(keyText, "")
	if err != nil {
		t.Fatal(err)
	}
	defer key.Destroy()
	r := rand.New(rand.NewPCG(1, 2))
	var input bytes.Buffer
	var want, texts []string
	accepted := 0
	for range *changes {
		zero := r.IntN(2)
		end := "\n\x00"[zero : zero+1]
		base := bases[zero][r.IntN(len(bases[zero]))]
		text := base
		for range 1 + r.IntN(3) {
			if altered := alter(r, text, end, bases[zero]); strings.Count(altered, end) > 1 {
				text = altered
			}
		}
		signed := r.IntN(3) > 0
		if signed { // and its last line goes
			lines := strings.Split(text, end)
			text = sign(t, lines[:len(lines)-2], 1+r.IntN(2), zero == 1)
		}
		if r.IntN(8) == 0 && zero == 0 {
			text = strings.ReplaceAll(text, "\n", "\r\n")
		}
		l, err := list.Read(strings.NewReader(text), key, zero == 1)
		answer := "refused"
		if err == nil {
			complete := l.Check(key)
			if complete == nil {
				complete = l.Complete()
			}
			if complete == nil && !signed && strings.ReplaceAll(text, "\r\n", "\n") != base {
				t.Fatalf("accepted: %q", text)
			}
			switch {
			case complete == nil:
				accepted++
				answer = fmt.Sprintf("accepted %d %s", l.Bad, digest(l))
			case !strings.Contains(complete.Error(), "lines follow it"):
				answer = fmt.Sprintf("refused %d", l.Bad)
			}
		}
		want, texts = append(want, answer), append(texts, text)
		input.WriteByte(byte(zero))
		binary.Write(&input, binary.BigEndian, uint32(len(text)))
		input.WriteString(text)
	}
	const driver = `
import hashlib, re, sys
sys.path.insert(0, sys.argv[1])
import verify
with open("key", "rb") as f:
    key = verify.Key(f.read())
while head := sys.stdin.buffer.read(5):
    l = verify.List(sys.stdin.buffer.read(int.from_bytes(head[1:], "big")), key, head[0] == 1)
    if l.error:
        print("refused" if re.search("follow|not known|encoding", l.error) else "refused %d" % l.malformed)
        continue
    h = hashlib.sha256()
    parts = [part for path, tag in l.files for part in (path, tag)]
    for word in ("folder", "exclude", "option", "unread", "label", "serial", "time"):
        parts += l.notes[word] + [b"."]
    for part in parts:
        h.update(b"%d:" % len(part) + part)
    print("accepted %d %s" % (l.malformed, h.hexdigest()))
`
	out, _ := python(t, input.Bytes(), "-c", driver, docsFolder)
	got := strings.Split(strings.TrimSuffix(out, "\n"), "\n")
	if len(got) != len(want) {
		t.Fatalf("%d answers, want %d", len(got), len(want))
	}
	bad := 0
	for i := range got {
		// Of two end lines, the first by another key, each program has its own reason.
		alike := strings.HasPrefix(got[i], "refused") && strings.HasPrefix(want[i], "refused") && (got[i] == "refused" || want[i] == "refused")
		if got[i] != want[i] && !alike && bad < 10 {
			bad++
			t.Errorf("Python: %s; fastmac: %s: %.3000q", got[i], want[i], texts[i])
		}
	}
	t.Logf("%d of %d accepted", accepted, len(want))
	if accepted < *changes/10 || accepted > *changes*9/10 {
		t.Errorf("%d of %d accepted", accepted, len(want))
	}
}

// digest returns a hash of what a list says.
func digest(l *list.List) string {
	h := sha256.New()
	add := func(parts ...string) {
		for _, part := range parts {
			fmt.Fprintf(h, "%d:%s", len(part), part)
		}
	}
	for line := range l.Lines.All() {
		add(line.Path, string(line.Tag))
	}
	for _, texts := range [][]string{l.Folders, l.Patterns, l.Options, l.Unread} {
		add(texts...)
		add(".")
	}
	about := l.About
	for _, text := range []struct {
		has  bool
		text string
	}{
		{about.Label != "", about.Label}, {about.Serial > 0, fmt.Sprint(about.Serial)}, {!about.Time.IsZero(), about.Time.Format("2006-01-02T15:04:05Z")},
	} {
		if text.has {
			add(text.text)
		}
		add(".")
	}
	return fmt.Sprintf("%x", h.Sum(nil))
}
