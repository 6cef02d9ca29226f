// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package sums

import (
	"bytes"
	"context"
	"encoding/hex"
	"errors"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"
	"unicode"

	"example.com/fastmac"
	"example.com/fastmac/internal/mactest"
)

// The paths that need care, and how sha512sum writes them.
var paths = map[string]string{
	"a":          "a",
	"a b c":      "a b c",
	"é日本":        "é日本",
	`a\b`:        `a\\b`,
	"a\nb":       `a\nb`,
	"\r":         `\r`,
	`\n`:         `\\n`,
	"\\\n\\\r\n": `\\\n\\\r\n`,
}

// morePaths are those that sha512sum does not escape.
var morePaths = map[string]string{
	"\xff\x01é":      `\xff\x01é`,
	" a  b ":         `\x20a \x20b\x20`,
	"\x1b[31m":       `\x1b[31m`,
	"\u202efdp":      `\xe2\x80\xaefdp`,
	"\u00a0\u2800":   `\xc2\xa0\xe2\xa0\x80`,
	"e\u0301":        "e\u0301",
	"\u0301":         `\xcc\x81`,
	"\ufffd\xef\xbf": "\ufffd" + `\xef\xbf`,
	`\x41`:           `\\x41`,
}

func TestLine(t *testing.T) {
	all := maps.Clone(paths)
	maps.Copy(all, morePaths)
	for path, escaped := range all {
		for _, a := range algorithms {
			l := line{bytes.Repeat([]byte{0xab}, a.nonce), bytes.Repeat([]byte{0x01}, a.tagSize), path, ""}
			want := a.name + ":" + strings.Repeat("ab", a.nonce) + ":" + strings.Repeat("01", a.tagSize) + "  " + escaped
			if path != escaped {
				want = `\` + want
			}
			got := string(l.format(a, false))
			if got != want {
				t.Errorf("%q: %q, want %q", path, got, want)
			}
			back, err := parseLine(got, a, false)
			if err != nil || !bytes.Equal(back.nonce, l.nonce) || !bytes.Equal(back.tag, l.tag) || back.path != path {
				t.Errorf("%q: %v, %v", got, back, err)
			}
		}
	}
}

// TestEscape has all characters and all bytes: what escape returns is seen, and is the name's.
func TestEscape(t *testing.T) {
	check := func(name string) {
		begin, escaped := escape(name)
		back, ok := escaped, true
		if begin != "" {
			back, ok = unescape(escaped)
		}
		if !ok || back != name || Printable(escaped) != escaped {
			t.Errorf("%q: %q, %q", name, escaped, back)
		}
	}
	for r := rune(0); r <= unicode.MaxRune; r++ {
		if r < 0x30000 || r >= 0xe0000 && r < 0xe0200 { // others have no tables, or are letters
			check(string(r))
		}
	}
	for b := range 256 {
		for _, s := range []string{string([]byte{byte(b)}), "\xe2" + string([]byte{byte(b)}) + "\x80", `\` + string([]byte{byte(b)}), "a " + string([]byte{byte(b)}) + " "} {
			check(s)
		}
	}
}

// TestCoreutils compares the escapes with those of sha512sum.
func TestCoreutils(t *testing.T) {
	version, err := exec.Command("sha512sum", "--version").Output()
	if err != nil || !bytes.Contains(version, []byte("(GNU coreutils) 9.")) {
		t.Skip("needs sha512sum of GNU coreutils 9")
	}
	dir := t.TempDir()
	for path, escaped := range paths {
		file := filepath.Join(dir, path)
		if err := os.WriteFile(file, nil, 0o600); err != nil {
			t.Fatal(err)
		}
		cmd := exec.Command("sha512sum", path)
		cmd.Dir = dir
		out, err := cmd.Output()
		begin, _ := escape(path)
		if _, got, _ := strings.Cut(string(out), "  "); err != nil || got != escaped+"\n" || strings.HasPrefix(string(out), `\`) != (begin == `\`) {
			t.Errorf("%q: sha512sum has %q, %v", path, out, err)
		}
	}
}

func TestMalformed(t *testing.T) {
	nonce, tag := strings.Repeat("00", 16), strings.Repeat("00", 8)
	for text, want := range map[string]string{
		"":                                        "want ALGORITHM:NONCE:TAG  PATH",
		"umac64:" + nonce + ":" + tag:             "want ALGORITHM:NONCE:TAG  PATH",
		"umac64:" + nonce + ":" + tag + "  ":      "want ALGORITHM:NONCE:TAG  PATH",
		"umac64:" + nonce + ":" + tag + " a":      "want ALGORITHM:NONCE:TAG  PATH",
		"umac64:" + tag + "  a":                   "want ALGORITHM:NONCE:TAG  PATH",
		"umac64:" + nonce + ":" + tag + ":  a":    "want ALGORITHM:NONCE:TAG  PATH",
		"md5:" + nonce + ":" + tag + "  a":        `no algorithm "md5"`,
		"umac32:" + nonce + ":" + tag + "  a":     "a tag of umac32, and the key is for umac64",
		"umac64:" + nonce + "00:" + tag + "  a":   "a nonce of 17 bytes: want 16",
		"umac64::" + tag + "  a":                  "a nonce of 0 bytes: want 16",
		"umac64:" + nonce + "0:" + tag + "  a":    "the nonce is not hex",
		"umac64:" + nonce + ":" + tag + "x  a":    "the tag is not hex",
		"umac64:" + nonce + ":" + nonce + "  a":   "a tag of 16 bytes: want 8",
		`\umac64:` + nonce + ":" + tag + `  a\t`:  `a backslash in the path: want \\, \n, \r or \xHH`,
		`\umac64:` + nonce + ":" + tag + `  \x4`:  `a backslash in the path: want \\, \n, \r or \xHH`,
		`\umac64:` + nonce + ":" + tag + `  \xg0`: `a backslash in the path: want \\, \n, \r or \xHH`,
		"umac64:" + nonce + ":" + tag + "  a\x00": "a NUL character: a list of tag -z needs verify -z",
		`\umac64:` + nonce + ":" + tag + `  a\`:   `a backslash in the path: want \\, \n, \r or \xHH`,
	} {
		if l, err := parseLine(text, byName("umac64"), false); err == nil || err.Error() != want {
			t.Errorf("%q: %+v, %v, want %q", text, l, err, want)
		}
	}
}

// FuzzLine checks that what parseLine accepts is what format writes.
func FuzzLine(f *testing.F) {
	mactest.Seeds(f)
	for path := range paths {
		for _, a := range algorithms {
			l := line{make([]byte, a.nonce), make([]byte, a.tagSize), path, ""}
			f.Add(string(l.format(a, false)))
		}
	}
	f.Add(`\umac32:` + strings.Repeat("AB", 16) + ":00000000  a")
	f.Fuzz(func(t *testing.T, text string) {
		accepted := 0
		for _, a := range algorithms {
			l, err := parseLine(text, a, false)
			if err != nil {
				continue
			}
			accepted++
			if len(l.nonce) != a.nonce || len(l.tag) != a.tagSize || l.path == "" {
				t.Errorf("%q: %+v", text, l)
			}
			again, err := parseLine(string(l.format(a, false)), a, false)
			if err != nil || again.path != l.path || !bytes.Equal(again.nonce, l.nonce) || !bytes.Equal(again.tag, l.tag) {
				t.Errorf("%q: %+v, then %+v, %v", text, l, again, err)
			}
		}
		if accepted > 1 {
			t.Errorf("%q is for %d algorithms", text, accepted)
		}
	})
}

func TestParseKey(t *testing.T) {
	hex16, hex64 := strings.Repeat("0a", 16), strings.Repeat("0B", 64)
	for _, tt := range []struct{ text, name, want string }{
		{"umac128 " + hex16 + "\n", "", ""},
		{"umac128 " + hex16, "umac128", ""},
		{"  umac32\t" + hex16 + " \r\n\n", "", ""},
		{hex16 + "\n", "umac64", ""},
		{hex16 + hex16, "umac64", ""},
		{hex64, "hmac-sha256", ""},
		{hex64, "hmac-sha512", ""},
		{"gmac " + hex16, "", ""},
		{"umac128 " + hex16 + "\n", "umac64", "the key is for umac128: never use a key with two algorithms"},
		{"", "umac64", "the key file is empty"},
		{" \n", "umac64", "the key file is empty"},
		{"umac128 " + hex16[2:], "", "a key of 15 bytes: want 16, 24 or 32 for umac128"},
		{"umac128 " + hex64, "", "a key of 64 bytes: want 16, 24 or 32 for umac128"},
		{hex16, "hmac-sha256", "a key of 16 bytes: want at least 32 for hmac-sha256"},
		{hex16, "hmac-sha512", "a key of 16 bytes: want at least 32 for hmac-sha512"},
		{"umac128", "umac128", "no key: it has characters that are not hex digits, or an odd number of them"},
		{hex16[1:], "umac128", "no key: it has characters that are not hex digits, or an odd number of them"},
		{"md5 " + hex16, "", "the key is for an unknown algorithm: want one of " + strings.Join(Names(), ", ")},
		{"umac128 " + hex16 + " 4714c260a7d846e9\n", "", ""},
		{"umac128 " + hex16 + " x", "", "the identifier belongs to another key: the key or the identifier has changed"},
		{"umac64 " + hex16 + " 4714c260a7d846e9", "", "the identifier belongs to another key: the key or the identifier has changed"},
		{"umac128 " + hex16 + " 4714c260a7d846e", "", "the identifier belongs to another key: the key or the identifier has changed"},
		{"umac128 " + hex16 + " 4714c260", "", "the identifier belongs to another key: the key or the identifier has changed"},
		{"umac128 " + hex16 + " 714c260a7d846e9", "", "the identifier belongs to another key: the key or the identifier has changed"},
		{"umac128 " + hex16 + " 4714c260a7d846e900", "", "the identifier belongs to another key: the key or the identifier has changed"},
		{"umac128 " + hex16 + " 4714C260A7D846E9", "", "the identifier belongs to another key: the key or the identifier has changed"},
		{"umac128 " + hex16 + " x y", "", "no key: want one line with an algorithm, a key in hex and its identifier, or with a key in hex"},
		{"umac128\n" + hex16, "", "no key: want one line with an algorithm, a key in hex and its identifier, or with a key in hex"},
		{hex16 + "\n" + hex16, "umac64", "no key: want one line with an algorithm, a key in hex and its identifier, or with a key in hex"},
	} {
		k, err := parseKey([]byte(tt.text), tt.name)
		if tt.want == "" {
			if strings.HasPrefix(tt.text, "gmac") && fastmac.RequireGCM() != nil {
				continue
			}
			if err != nil {
				t.Errorf("%q: %v", tt.text, err)
				continue
			}
			k.Destroy()
			func() {
				defer func() {
					if recover() == nil {
						t.Errorf("%q: the key lives after Destroy", tt.text)
					}
				}()
				k.stream()
			}()
		} else if err == nil || err.Error() != tt.want {
			t.Errorf("%q: %v, want %q", tt.text, err, tt.want)
		}
	}
}

// FuzzKey checks that a key that parseKey accepts is the one in the text, and that its errors
// have no part of the key.
func FuzzKey(f *testing.F) {
	mactest.Seeds(f)
	hex16, hex64 := strings.Repeat("0a", 16), strings.Repeat("0B", 64)
	for _, name := range append(Names(), "md5", "") {
		f.Add([]byte(name+" "+hex16+"\n"), byte(len(name)))
		f.Add([]byte(name+"\t"+hex64), byte(0))
	}
	f.Add([]byte(hex16+hex16+" \r\n"), byte(2))
	f.Add([]byte("umac96 "+hex16+hex16[:16]), byte(6)) // 24 bytes
	f.Add([]byte("umac96 "+hex16+"x"), byte(6))
	f.Add([]byte("umac128 "+hex16+" 4714c260a7d846e9\n"), byte(6))
	f.Add([]byte(hex16+"\n"+hex16), byte(6))
	f.Fuzz(func(t *testing.T, text []byte, number byte) {
		name := append(Names(), "")[int(number)%(len(algorithms)+1)]
		fields := strings.Fields(string(text))
		k, err := parseKey(text, name)
		if err != nil {
			// No word of the messages has 16 bytes.
			for _, field := range fields {
				if len(field) >= 16 && strings.Contains(err.Error(), field) {
					t.Errorf("%q: %v", text, err)
				}
			}
			return
		}
		defer k.Destroy()
		if name == "" {
			name = fields[0]
		}
		digits := fields[min(1, len(fields)-1)]
		raw, err := hex.DecodeString(digits)
		allowed := len(raw) == 16 || len(raw) == 24 || len(raw) == 32
		if strings.HasPrefix(name, "hmac") {
			allowed = len(raw) >= 32
		}
		if err != nil || k.name != name || !allowed || k.named != (len(fields) == 3) || k.named && fields[2] != k.id {
			t.Fatalf("%q: a key of %d bytes for %s, want %s; %v", text, len(raw), k.name, name, err)
		}
		again, err := newKey(byName(name), raw)
		if err != nil {
			t.Fatalf("%q: %v", text, err)
		}
		defer again.Destroy()
		s, nonce := k.stream(), make([]byte, k.nonce)
		s.Write([]byte("message"))
		other := again.stream()
		other.Write([]byte("message"))
		if tag := s.Tag(nil, nonce); len(tag) != k.tagSize || !other.Verify(tag, nonce) {
			t.Errorf("%q: another key than in the text", text)
		}
	})
}

func TestInOrder(t *testing.T) {
	const n = 1000
	for _, workers := range []int{1, 2, 7} {
		var began, ended, did atomic.Int32
		var order []int
		err := inOrder(t.Context(), n, workers,
			func() int { return int(began.Add(1)) },
			func(int) { ended.Add(1) },
			func(_, i int) int { did.Add(1); return i },
			func(_, i int) error { order = append(order, i); return nil },
			func() error { return nil })
		if err != nil || len(order) != n || !slices.IsSorted(order) || did.Load() != n || int(began.Load()) != workers || ended.Load() != began.Load() {
			t.Errorf("%d workers: %v, %d of %d in order", workers, err, len(order), n)
		}
	}
	// A window of items is done before the first of them is emitted, and no more.
	var did atomic.Int32
	release, full := make(chan struct{}), make(chan struct{})
	err := inOrder(t.Context(), 3*window, 2, func() int { return 0 }, func(int) {},
		func(_, i int) int {
			if i == 0 {
				<-release
			}
			if did.Add(1) == window-1 {
				close(full)
			}
			return i
		},
		func(i, result int) error {
			if result != i {
				t.Errorf("item %d has the result of item %d", i, result)
			}
			return nil
		},
		func() error {
			select {
			case <-release:
			default:
				<-full
				time.Sleep(10 * time.Millisecond)
				if n := did.Load(); n != window-1 {
					t.Errorf("%d items are done before the first", n)
				}
				close(release)
			}
			return nil
		})
	if err != nil || did.Load() != 3*window {
		t.Errorf("%v, %d items", err, did.Load())
	}
	// A worker that never comes back does not hold up an interrupt.
	ctx, cancel := context.WithCancel(t.Context())
	stuck := make(chan struct{})
	defer close(stuck)
	err = inOrder(ctx, n, 2, func() int { return 0 }, func(int) {},
		func(_, i int) int {
			if i == 3 {
				cancel()
				<-stuck
			}
			return i
		},
		func(int, int) error { return nil }, func() error { return nil })
	if err != context.Canceled {
		t.Error(err)
	}
	// What is done later is emitted later, and an error of emit ends all.
	broken := errors.New("broken")
	release = make(chan struct{})
	emitted := 0
	err = inOrder(t.Context(), n, 2, func() int { return 0 }, func(int) {},
		func(_, i int) int {
			switch i {
			case 0:
				<-release
			case 1:
				close(release)
			}
			return i
		},
		func(_, i int) error {
			emitted++
			if i == 5 {
				return broken
			}
			return nil
		},
		func() error { return nil })
	if err != broken || emitted != 6 {
		t.Errorf("%v, %d emitted", err, emitted)
	}
}
