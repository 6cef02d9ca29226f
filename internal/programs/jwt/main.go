// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

// Command jwt verifies tokens of github.com/golang-jwt/jwt that are signed with HMAC, RFC 7518
// section 3.2: the signatures of each method in one batch, and then the claims of each token.
//
//	jwt [-hs256 KEY_FILE] [-hs384 KEY_FILE] [-hs512 KEY_FILE] < TOKENS
//
// It reads the tokens, one a line, and prints a line for each that is wrong, with the number of its
// line. The exit status is 0 if all are right, 1 if one is wrong or something cannot be read, and 2
// after wrong usage.
//
// The options say which methods are accepted, each with a key of its own. A token chooses one of
// these by its header, and nothing else. A key is all bytes of its file: a newline at the end is a
// part of it, so write a key in text form with printf, not with echo. It must be at least as long as
// the hash: 32, 48 or 64 bytes.
package main

import (
	"bufio"
	"flag"
	"fmt"
	"io"
	"os"
	"strings"

	"example.com/fastmac"
	"github.com/golang-jwt/jwt/v5"
)

func main() { os.Exit(run(os.Args[1:], os.Stdin, os.Stdout, os.Stderr)) }

// run runs the command line args and returns the exit status.
func run(args []string, stdin io.Reader, stdout, stderr io.Writer) int {
	flags := flag.NewFlagSet("jwt", flag.ContinueOnError)
	flags.SetOutput(stderr)
	files := make([]string, len(methods))
	for i, m := range methods {
		flags.StringVar(&files[i], strings.ToLower(m.Name), "", "accept "+m.Name+" with the key in this `KEY_FILE`")
	}
	if err := flags.Parse(args); err == flag.ErrHelp {
		return 0
	} else if err != nil {
		return 2 // flags has printed it
	}
	keys := make(keys)
	defer keys.destroy()
	for i, m := range methods {
		if files[i] == "" {
			continue
		}
		if err := keys.read(m, files[i]); err != nil {
			fmt.Fprintf(stderr, "jwt: %v\n", err)
			return 1
		}
	}
	if flags.NArg() > 0 || len(keys) == 0 {
		flags.Usage()
		return 2
	}

	in, status := bufio.NewReader(stdin), 0
	for first := 1; ; {
		tokens, readErr := readLines(in, batchSize)
		_, errs := keys.verify(tokens)
		for i, err := range errs {
			if err != nil {
				status = 1
				fmt.Fprintf(stdout, "line %d: %v\n", first+i, err)
			}
		}
		first += len(tokens)
		switch {
		case readErr == io.EOF:
			return status
		case readErr != nil:
			fmt.Fprintf(stderr, "jwt: after line %d: %v\n", first-1, readErr)
			return 1
		}
	}
}

// batchSize is how many tokens are verified at a time, and maxLine more than any of them has, in
// bytes: input without end must not need memory without end, nor a line of it.
const (
	batchSize = 1024
	maxLine   = 4 << 20
)

// readLines returns the next lines, at most n, without \n or \r\n, and stops after maxLine bytes. A
// line that is too long is an empty one, and so no token. If there are no more, the error is
// io.EOF. What stands before another error is no line if it has no newline.
func readLines(r *bufio.Reader, n int) (lines []string, err error) {
	for total := 0; len(lines) < n && total < maxLine; {
		line, err := readLine(r)
		if err == nil || err == io.EOF && line != "" {
			total += len(line)
			lines = append(lines, strings.TrimSuffix(strings.TrimSuffix(line, "\n"), "\r"))
		}
		if err != nil {
			return lines, err
		}
	}
	return lines, nil
}

// readLine returns the next line, or only its newline if it is too long.
func readLine(r *bufio.Reader) (string, error) {
	var line []byte
	for {
		part, err := r.ReadSlice('\n')
		if len(line) <= maxLine {
			line = append(line, part...)
		}
		if err == bufio.ErrBufferFull {
			continue
		}
		if len(line) > maxLine {
			return "\n", err
		}
		return string(line), err
	}
}

// methods are those of HMAC.
var methods = []*jwt.SigningMethodHMAC{jwt.SigningMethodHS256, jwt.SigningMethodHS384, jwt.SigningMethodHS512}

// keys has the key of each method that is accepted.
type keys map[*jwt.SigningMethodHMAC]*fastmac.HMACKey

// read sets the key of a method to the content of a file.
func (k keys) read(m *jwt.SigningMethodHMAC, path string) error {
	secret, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	defer clear(secret)
	if err := k.set(m, secret); err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	return nil
}

// set sets the key of a method. It returns an error if secret is shorter than the hash, which RFC
// 7518 section 3.2 forbids: anybody has the empty one.
func (k keys) set(m *jwt.SigningMethodHMAC, secret []byte) error {
	if size := m.Hash.Size(); len(secret) < size {
		return fmt.Errorf("a key of %d bytes for %s: want at least %d", len(secret), m.Name, size)
	}
	key, err := fastmac.NewHMACKey(m.Hash, secret)
	if err != nil {
		return err
	}
	k[m] = key
	return nil
}

func (k keys) destroy() {
	for _, key := range k {
		key.Destroy()
	}
}

// verify returns the claims of each token, or why it is refused.
func (k keys) verify(tokens []string) ([]jwt.MapClaims, []error) {
	claims, errs := make([]jwt.MapClaims, len(tokens)), make([]error, len(tokens))
	parser := jwt.NewParser(jwt.WithStrictDecoding(), jwt.WithJSONNumber())
	index := make(map[*fastmac.HMACKey][]int) // of the messages in the batch of each key
	batches := make(map[*fastmac.HMACKey][]fastmac.Message)
	for i, s := range tokens {
		c := make(jwt.MapClaims)
		token, _, err := parser.ParseUnverified(s, c)
		if err == nil {
			err = check(token)
		}
		if err != nil {
			errs[i] = err
			continue
		}
		method, _ := token.Method.(*jwt.SigningMethodHMAC) // nil for RS256, none and others
		key := k[method]
		if key == nil {
			errs[i] = fmt.Errorf("%w: there is no key for %q", jwt.ErrTokenUnverifiable, token.Method.Alg())
			continue
		}
		claims[i] = c
		index[key] = append(index[key], i)
		batches[key] = append(batches[key], fastmac.Message{Data: []byte(s[:strings.LastIndexByte(s, '.')]), Tag: token.Signature})
	}
	validator := jwt.NewValidator()
	for key, batch := range batches {
		key.VerifyBatch(batch)
		for j, i := range index[key] {
			if !batch[j].OK {
				errs[i] = jwt.ErrTokenSignatureInvalid
			} else {
				errs[i] = validator.Validate(claims[i]) // the times
			}
			if errs[i] != nil {
				claims[i] = nil
			}
		}
	}
	return claims, errs
}

// check refuses what golang-jwt accepts against RFC 7515: a header that must be understood, section
// 4.1.11, and a line break inside the token, section 2.
func check(token *jwt.Token) error {
	if _, ok := token.Header["crit"]; ok {
		return fmt.Errorf("%w: its header has crit", jwt.ErrTokenUnverifiable)
	}
	if strings.ContainsAny(token.Raw, "\r\n") {
		return fmt.Errorf("%w: it has a line break", jwt.ErrTokenMalformed)
	}
	return nil
}
