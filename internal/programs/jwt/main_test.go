// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package main

import (
	"bufio"
	"bytes"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/golang-jwt/jwt/v5"
)

// secretOf returns a key of a method. It has bytes of no text, and ends in newlines.
func secretOf(m *jwt.SigningMethodHMAC) []byte {
	return append(bytes.Repeat([]byte{0xff, 0, byte(m.Hash), ' '}, m.Hash.Size()/4-1), " \r\n\n"...)
}

func sign(t *testing.T, method jwt.SigningMethod, secret any, claims jwt.MapClaims) string {
	t.Helper()
	s, err := jwt.NewWithClaims(method, claims).SignedString(secret)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// wrongTokens returns tokens that verifiers with the keys of secretOf refuse, each in another way.
func wrongTokens(t *testing.T) map[string]string {
	const alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_"
	encode := base64.RawURLEncoding.EncodeToString
	user := jwt.MapClaims{"sub": "mallory"}
	wrong := map[string]string{
		"empty":          "",
		"no token":       "token",
		"header of junk": "a." + encode([]byte(`{}`)) + ".c",
		"none":           sign(t, jwt.SigningMethodNone, jwt.UnsafeAllowNoneSignatureType, user),
		"unknown":        encode([]byte(`{"alg":"HS1024"}`)) + "." + encode([]byte(`{}`)) + ".AAAA",
		"no algorithm":   encode([]byte(`{}`)) + "." + encode([]byte(`{}`)) + ".AAAA",
		"RS256":          encode([]byte(`{"alg":"RS256"}`)) + "." + encode([]byte(`{}`)) + "." + encode(make([]byte, 256)),
	}
	for i, m := range methods {
		secret := secretOf(m)
		other := methods[(i+1)%len(methods)]
		good := sign(t, m, secret, user)
		dot := strings.LastIndexByte(good, '.')
		changed := []byte(good)
		changed[dot+1] ^= 1
		spare := good + "?" // HS384 has no bits to spare
		if m.Hash.Size()%3 != 0 {
			last := strings.IndexByte(alphabet, good[len(good)-1])
			spare = good[:len(good)-1] + alphabet[last+1:last+2]
		}
		for name, s := range map[string]string{
			"signed by nobody":     sign(t, m, bytes.ToUpper(bytes.Repeat([]byte("k"), 64)), user),
			"without newline":      sign(t, m, bytes.TrimSuffix(secret, []byte("\n")), user),
			"another method's key": sign(t, m, secretOf(other), user),
			"another method":       sign(t, other, secret, user),
			"expired":              sign(t, m, secret, jwt.MapClaims{"exp": 1}),
			"not yet valid":        sign(t, m, secret, jwt.MapClaims{"nbf": int64(1) << 40}),
			"another's tag":        sign(t, m, secret, jwt.MapClaims{"sub": "alice"})[:dot-2] + good[dot-2:],
			"changed tag":          string(changed),
			"no tag":               good[:dot],
			"empty tag":            good[:dot+1],
			"short tag":            good[:len(good)-4],
			"long tag":             good + "AA",
			"malformed base64":     good[:len(good)-1] + "!",
			"padding":              good + "=",
			"spare bits":           spare,
			"spaces":               " " + good,
			"two tokens":           good + "." + good,
		} {
			wrong[m.Name+" "+name] = s
		}
	}
	return wrong
}

// TestVerify compares what verify says of tokens with what golang-jwt says.
func TestVerify(t *testing.T) {
	keys := make(keys)
	defer keys.destroy()
	var tokens []string
	for _, m := range methods {
		if err := keys.set(m, secretOf(m)); err != nil {
			t.Fatal(err)
		}
		for i := range 40 {
			tokens = append(tokens, sign(t, m, secretOf(m), jwt.MapClaims{"sub": fmt.Sprint("user ", i)}))
		}
	}
	good := len(tokens)
	for _, s := range wrongTokens(t) {
		tokens = append(tokens, s)
	}
	claims, errs := keys.verify(tokens)
	parser := jwt.NewParser(jwt.WithStrictDecoding(), jwt.WithJSONNumber(), jwt.WithValidMethods([]string{"HS256", "HS384", "HS512"}))
	for i, s := range tokens {
		_, err := parser.Parse(s, func(token *jwt.Token) (any, error) { return secretOf(token.Method.(*jwt.SigningMethodHMAC)), nil })
		if (err == nil) != (errs[i] == nil) || (i < good) != (errs[i] == nil) || (claims[i] == nil) != (errs[i] != nil) {
			t.Errorf("token %d, %s: %v, %v; golang-jwt: %v", i, s, claims[i], errs[i], err)
		}
		for _, cause := range []error{jwt.ErrTokenExpired, jwt.ErrTokenNotValidYet, jwt.ErrTokenSignatureInvalid} {
			if errors.Is(err, cause) && !errors.Is(errs[i], cause) && !errors.Is(errs[i], jwt.ErrTokenUnverifiable) {
				t.Errorf("token %d, %s: %v; golang-jwt: %v", i, s, errs[i], err)
			}
		}
	}
	if claims[47]["sub"] != "user 7" {
		t.Errorf("claims %v", claims[47])
	}
}

// laxTokens returns tokens that golang-jwt accepts, and RFC 7515 does not.
func laxTokens(t *testing.T, m *jwt.SigningMethodHMAC) map[string]string {
	signed := func(crit any) string {
		token := jwt.NewWithClaims(m, jwt.MapClaims{"sub": "alice"})
		token.Header["crit"], token.Header["x"] = crit, 1
		s, err := token.SignedString(secretOf(m))
		if err != nil {
			t.Fatal(err)
		}
		return s
	}
	good := sign(t, m, secretOf(m), jwt.MapClaims{"sub": "alice"})
	dot := strings.LastIndexByte(good, '.')
	return map[string]string{
		"crit":        signed([]string{"x"}),
		"empty crit":  signed([]string{}),
		"crit, null":  signed(nil),
		"CR in tag":   good[:len(good)-3] + "\r" + good[len(good)-3:],
		"CR before":   good[:dot+1] + "\r" + good[dot+1:],
		"LF in tag":   good[:len(good)-3] + "\n" + good[len(good)-3:],
		"LF after":    good + "\n",
		"CR LF after": good + "\r\n",
	}
}

// TestLax has those tokens.
func TestLax(t *testing.T) {
	for _, m := range methods {
		keys := make(keys)
		defer keys.destroy()
		if err := keys.set(m, secretOf(m)); err != nil {
			t.Fatal(err)
		}
		parser := jwt.NewParser(jwt.WithStrictDecoding())
		for name, s := range laxTokens(t, m) {
			if _, err := parser.Parse(s, func(*jwt.Token) (any, error) { return secretOf(m), nil }); err != nil {
				t.Errorf("%s, %s: golang-jwt: %v", m.Name, name, err)
			}
			if claims, errs := keys.verify([]string{s}); claims[0] != nil || errs[0] == nil {
				t.Errorf("%s, %s: %v is accepted", m.Name, name, claims[0])
			}
		}
	}
}

// keyFile writes a key to a file and returns its path.
func keyFile(t *testing.T, secret []byte) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "key")
	if err := os.WriteFile(path, secret, 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// arguments has the keys of secretOf.
func arguments(t *testing.T) (args []string) {
	for _, m := range methods {
		args = append(args, "-"+strings.ToLower(m.Name), keyFile(t, secretOf(m)))
	}
	return args
}

// TestRun has each wrong token between others, right and wrong, short and of a MiB.
func TestRun(t *testing.T) {
	args := arguments(t)
	good := sign(t, jwt.SigningMethodHS256, secretOf(jwt.SigningMethodHS256), jwt.MapClaims{"sub": "alice"})
	long := sign(t, jwt.SigningMethodHS512, secretOf(jwt.SigningMethodHS512), jwt.MapClaims{"sub": strings.Repeat("a", 1<<20)})
	check := func(what string, lines []string, wrong []int) {
		t.Helper()
		var stdout, stderr bytes.Buffer
		status := run(args, strings.NewReader(strings.Join(lines, "\n")), &stdout, &stderr)
		var reported []int
		for line := range strings.Lines(stdout.String()) {
			var number int
			if n, err := fmt.Sscanf(line, "line %d: ", &number); n != 1 {
				t.Errorf("%s: %q: %v", what, line, err)
			}
			reported = append(reported, number)
		}
		if want := min(1, len(wrong)); !slices.Equal(reported, wrong) || stderr.Len() > 0 || status != want {
			t.Errorf("%s: %q, %q, status %d; want lines %d, status %d", what, &stdout, &stderr, status, wrong, want)
		}
	}
	check("nothing", nil, nil)
	check("right", []string{good, long, good + "\r", long, good, ""}, nil)
	wrongs := slices.Collect(maps.Values(wrongTokens(t)))
	for name, s := range laxTokens(t, jwt.SigningMethodHS512) {
		if !strings.Contains(name, "LF") { // these would be two lines
			wrongs = append(wrongs, s)
		}
	}
	for _, s := range wrongs {
		check(s, []string{good, s, good, s, good, ""}, []int{2, 4})
	}
	for _, before := range []string{good, "", long, strings.Repeat("x", 1<<20), long[:len(long)-1], good + strings.Repeat(" ", maxLine), strings.Repeat(good+".", maxLine/len(good))} {
		lines, wrong := append([]string{before}, wrongs...), []int{}
		for i := range lines {
			if i > 0 || before != good && before != long {
				wrong = append(wrong, i+1)
			}
		}
		check(fmt.Sprintf("after a line of %d bytes", len(before)), append(lines, good), wrong)
	}
	var lines []string
	var wrong []int
	for i := range 3*batchSize + 1 {
		lines = append(lines, good)
		if i%(batchSize-1) < 2 {
			lines[i] = good[1:]
			wrong = append(wrong, i+1)
		}
	}
	check("several batches", lines, wrong)
}

// TestEndless has a line that is longer than what is kept of it.
func TestEndless(t *testing.T) {
	const size = 64 * maxLine
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	lines, err := readLines(bufio.NewReader(io.LimitReader(endless{}, size)), 2)
	runtime.ReadMemStats(&after)
	if len(lines) != 1 || lines[0] != "" || err != io.EOF || after.TotalAlloc-before.TotalAlloc > size/2 {
		t.Errorf("%d lines, %v, %d bytes allocated", len(lines), err, after.TotalAlloc-before.TotalAlloc)
	}
}

// endless is input without a newline and without an end.
type endless struct{}

func (endless) Read(p []byte) (int, error) {
	for i := range p {
		p[i] = 'x'
	}
	return len(p), nil
}

// TestKeys has keys that are accepted, and others. A key of a newline too much or too few is another
// key: TestVerify has them.
func TestKeys(t *testing.T) {
	for _, m := range methods {
		option, size := "-"+strings.ToLower(m.Name), m.Hash.Size()
		for _, secret := range [][]byte{{}, []byte("\n"), make([]byte, size-1), append(make([]byte, size-2), '\n')} {
			var stderr bytes.Buffer
			status := run([]string{option, keyFile(t, secret)}, strings.NewReader(sign(t, m, secret, nil)), io.Discard, &stderr)
			if want := fmt.Sprintf("a key of %d bytes for %s: want at least %d", len(secret), m.Name, size); status != 1 || !strings.Contains(stderr.String(), want) {
				t.Errorf("status %d, %q, want %q", status, &stderr, want)
			}
		}
		for _, secret := range [][]byte{make([]byte, size), append(make([]byte, size-1), '\n'), bytes.Repeat([]byte("\n"), 200)} {
			var stdout, stderr bytes.Buffer
			if status := run([]string{option, keyFile(t, secret)}, strings.NewReader(sign(t, m, secret, nil)), &stdout, &stderr); status != 0 || stdout.Len()+stderr.Len() > 0 {
				t.Errorf("%s, a key of %d bytes: status %d, %q, %q", m.Name, len(secret), status, &stdout, &stderr)
			}
		}
	}
}

// TestMethods gives the program one key. Tokens with that key and another method are refused.
func TestMethods(t *testing.T) {
	secret := bytes.Repeat([]byte("k"), 64)
	for _, m := range methods {
		args := []string{"-" + strings.ToLower(m.Name), keyFile(t, secret)}
		for _, other := range methods {
			var stdout bytes.Buffer
			status := run(args, strings.NewReader(sign(t, other, secret, nil)), &stdout, io.Discard)
			if want := fmt.Sprintf("line 1: token is unverifiable: there is no key for %q\n", other.Name); m == other && status+stdout.Len() != 0 || m != other && (status != 1 || stdout.String() != want) {
				t.Errorf("%s, a token with %s: status %d, %q", m.Name, other.Name, status, &stdout)
			}
		}
	}
}

// TestFailures has input and files that cannot be read, and wrong usage.
func TestFailures(t *testing.T) {
	args := arguments(t)
	broken := io.MultiReader(strings.NewReader("token\ntok"), iotest.ErrReader(errors.New("the disk is gone")))
	for _, tt := range []struct {
		args   []string
		stdin  io.Reader
		status int
		stdout string
		stderr string // a regular expression
	}{
		{args, broken, 1, "line 1: token is malformed: token contains an invalid number of segments\n", "^jwt: after line 1: the disk is gone\n$"},
		{[]string{"-hs256", filepath.Join(t.TempDir(), "none")}, nil, 1, "", "^jwt: .*none: "},
		{[]string{"-hs256", t.TempDir()}, nil, 1, "", "^jwt: "},
		{nil, nil, 2, "", "KEY_FILE"},
		{append(args[:6:6], "tokens"), nil, 2, "", "KEY_FILE"},
		{[]string{"-hs1024", "x"}, nil, 2, "", "not defined: -hs1024"},
		{[]string{"-help"}, nil, 0, "", "KEY_FILE"},
	} {
		var stdout, stderr bytes.Buffer
		status := run(tt.args, tt.stdin, &stdout, &stderr)
		if status != tt.status || stdout.String() != tt.stdout || !regexp.MustCompile(tt.stderr).MatchString(stderr.String()) {
			t.Errorf("%q: status %d, %q, %q; want status %d, %q, %q", tt.args, status, &stdout, &stderr, tt.status, tt.stdout, tt.stderr)
		}
	}
}
