// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

// Package sums makes keys, tags files and verifies their tags.
package sums

import (
	"bytes"
	"context"
	"crypto"
	"crypto/rand"
	"crypto/sha256"
	"crypto/sha512"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"runtime"
	"slices"
	"strings"

	"example.com/fastmac"
)

// An algorithm is a MAC, with sizes in bytes.
type algorithm struct {
	name                string
	key, nonce, tagSize int
	hash                crypto.Hash // of HMAC
}

// A nonce of UMAC has 16 bytes because it is random, as in [fastmac.UMACKey.Sign].
var algorithms = []*algorithm{
	{"umac32", 16, fastmac.UMACMaxNonceSize, fastmac.UMAC32Size, 0},
	{"umac64", 16, fastmac.UMACMaxNonceSize, fastmac.UMAC64Size, 0},
	{"umac96", 16, fastmac.UMACMaxNonceSize, fastmac.UMAC96Size, 0},
	{"umac128", 16, fastmac.UMACMaxNonceSize, fastmac.UMAC128Size, 0},
	{"gmac", 16, fastmac.GMACNonceSize, fastmac.GMACSize, 0},
	{"hmac-sha256", 32, 0, sha256.Size, crypto.SHA256},
	{"hmac-sha512", 64, 0, sha512.Size, crypto.SHA512},
}

// Names returns the names of the algorithms.
func Names() (names []string) {
	for _, a := range algorithms {
		names = append(names, a.name)
	}
	return names
}

func byName(name string) *algorithm {
	for _, a := range algorithms {
		if a.name == name {
			return a
		}
	}
	return nil
}

// CheckName returns an error if no algorithm has this name.
func CheckName(name string) error {
	if byName(name) == nil {
		return fmt.Errorf("no algorithm %q: want one of %s", name, strings.Join(Names(), ", "))
	}
	return nil
}

// checkKeySize returns an error if a key in a file cannot have this size.
func (a *algorithm) checkKeySize(size int) error {
	switch {
	case a.nonce > 0 && size != 16 && size != 24 && size != 32:
		return fmt.Errorf("a key of %d bytes: want 16, 24 or 32 for %s", size, a.name)
	case a.nonce == 0 && size < 32:
		return fmt.Errorf("a key of %d bytes: want at least 32 for %s", size, a.name)
	}
	return nil
}

// WriteKey writes a new random key for the algorithm of this name to a new file, or to stdout
// if path is "-": one line, the name, the key in hex and its identifier. It leaves no file if
// it fails.
func WriteKey(path, name string, stdout io.Writer) error {
	k := &Key{algorithm: byName(name)}
	key := make([]byte, k.key)
	defer clear(key)
	rand.Read(key)
	if err := k.derive(key); err != nil {
		return err
	}
	defer k.list.Destroy()
	// In one write: if the process is killed, the file is complete or empty, and an empty one
	// is not accepted.
	line := fmt.Appendf(nil, "%s %x %s\n", name, key, k.id)
	defer clear(line)
	if path == "-" {
		_, err := stdout.Write(line)
		return err
	}
	f, err := createPrivate(path)
	if errors.Is(err, os.ErrExist) {
		return fmt.Errorf("%s exists: a key is never overwritten", Escape(path))
	}
	if err != nil {
		return about(path, err)
	}
	_, err = f.Write(line)
	if err == nil {
		err = f.Sync()
	}
	if closed := f.Close(); err == nil {
		err = closed
	}
	if err != nil {
		os.Remove(path)
		return about(path, err)
	}
	return nil
}

// A Key is a key and its algorithm. It is safe for concurrent use until Destroy.
type Key struct {
	*algorithm
	umac *fastmac.UMACKey // one of these
	gmac *fastmac.GMACKey
	hmac *fastmac.HMACKey

	id    string           // the identifier, in hex
	named bool             // its file has the identifier
	list  *fastmac.HMACKey // of the tags of lists

	previous *Key // whose tags streams compute too, or nil
}

// A NoAlgorithmError is the error for a key in hex for which no algorithm was named.
type NoAlgorithmError string

func (e NoAlgorithmError) Error() string {
	return fmt.Sprintf("%s has a key without an algorithm: name it with -a", string(e))
}

// maxKeyFile is more than any key file has, in bytes.
const maxKeyFile = 4096

// ReadKey reads a key from a file, or from stdin if path is "-": a line with the name of an
// algorithm, the key in hex and its identifier, which may be missing, or only with the key. If
// name is not empty, it is the algorithm that the key must be for. ReadKey prints a warning to
// stderr if other users can access the file.
func ReadKey(ctx context.Context, path, name string, stdin io.Reader, stderr io.Writer) (*Key, error) {
	text, err := readKeyFile(ctx, path, stdin, stderr)
	defer clear(text)
	if err != nil {
		return nil, about(path, err)
	}
	k, err := parseKey(text, name)
	if _, ok := errors.AsType[NoAlgorithmError](err); ok {
		return nil, NoAlgorithmError(Escape(path))
	}
	if err != nil {
		return nil, about(path, err)
	}
	return k, nil
}

// readKeyFile returns the text of a key file. A terminal or a FIFO can make it wait, so another
// goroutine reads, which ends with the process if ctx is done first.
func readKeyFile(ctx context.Context, path string, stdin io.Reader, stderr io.Writer) ([]byte, error) {
	type result struct {
		text []byte
		err  error
	}
	done := make(chan result, 1)
	go func() {
		in := stdin
		if path != "-" {
			f, err := os.Open(path)
			if err != nil {
				done <- result{nil, err}
				return
			}
			defer f.Close()
			in = f
		}
		text := make([]byte, maxKeyFile+1)
		n, err := io.ReadFull(in, text)
		switch {
		case err == nil:
			err = fmt.Errorf("no key: it has more than %d bytes", maxKeyFile)
		case err == io.EOF || err == io.ErrUnexpectedEOF:
			err = nil
		}
		done <- result{text[:n], err}
	}()
	select {
	case <-ctx.Done():
		return nil, ctx.Err()
	case r := <-done:
		// On Windows the permission bits say nothing about other users.
		if info, err := os.Stat(path); path != "-" && err == nil && info.Mode().IsRegular() && info.Mode().Perm()&0o077 != 0 && runtime.GOOS != "windows" {
			fmt.Fprintf(stderr, "fastmac: warning: other users can access the key in %s, mode %04o: want 0600\n", Escape(path), info.Mode().Perm())
		}
		return r.text, r.err
	}
}

// about returns an error about a file, whose name it has once.
func about(path string, err error) error {
	if errors.Is(err, context.Canceled) {
		return err
	}
	return fmt.Errorf("%s: %s", Escape(path), strings.TrimPrefix(reason(err).Error(), "fastmac: "))
}

// parseKey returns the key in the text of a key file. Its errors do not have parts of the
// text, which may be those of a key.
func parseKey(text []byte, name string) (*Key, error) {
	if err := checkEncoding(text, "keygen -o FILE"); err != nil {
		return nil, err
	}
	fields := bytes.Fields(text)
	if len(fields) == 0 {
		return nil, errors.New("the key file is empty")
	}
	if bytes.ContainsAny(bytes.TrimSpace(text), "\r\n") || len(fields) > 3 {
		return nil, errors.New("no key: want one line with an algorithm, a key in hex and its identifier, or with a key in hex")
	}
	digits, id := fields[0], ""
	if len(fields) > 1 {
		named := string(fields[0])
		if byName(named) == nil {
			return nil, fmt.Errorf("the key is for an unknown algorithm: want one of %s", strings.Join(Names(), ", "))
		}
		if name != "" && name != named {
			return nil, fmt.Errorf("the key is for %s: never use a key with two algorithms", named)
		}
		name, digits = named, fields[1]
	}
	if len(fields) > 2 {
		id = string(fields[2])
	}
	if name == "" {
		return nil, NoAlgorithmError("")
	}
	raw := make([]byte, hex.DecodedLen(len(digits)))
	defer clear(raw)
	if _, err := hex.Decode(raw, digits); err != nil {
		return nil, errors.New("no key: it has characters that are not hex digits, or an odd number of them")
	}
	k, err := newKey(byName(name), raw)
	if err != nil {
		return nil, err
	}
	if k.named = id != ""; k.named && id != k.id {
		k.Destroy()
		return nil, errors.New("the identifier belongs to another key: the key or the identifier has changed")
	}
	return k, nil
}

func newKey(a *algorithm, raw []byte) (*Key, error) {
	if err := a.checkKeySize(len(raw)); err != nil {
		return nil, err
	}
	k := &Key{algorithm: a}
	var err error
	switch {
	case a.hash != 0:
		k.hmac, err = fastmac.NewHMACKey(a.hash, raw)
	case a.name == "gmac":
		k.gmac, err = fastmac.NewGMACKey(raw)
	default:
		k.umac, err = fastmac.NewUMACKey(raw, a.tagSize)
	}
	if err != nil {
		return nil, err
	}
	if err := k.derive(raw); err != nil {
		return nil, err
	}
	return k, nil
}

// Destroy overwrites the key.
func (k *Key) Destroy() {
	if k.previous != nil {
		k.previous.Destroy()
	}
	k.list.Destroy()
	switch {
	case k.umac != nil:
		k.umac.Destroy()
	case k.gmac != nil:
		k.gmac.Destroy()
	default:
		k.hmac.Destroy()
	}
}

// A stream computes the tag of one file after the other.
type stream interface {
	io.Writer
	Reset()
	Destroy()
	Tag(dst, nonce []byte) []byte
	Verify(tag, nonce []byte) bool
}

// An hmacStream has no nonce.
type hmacStream struct{ *fastmac.HMAC }

func (s hmacStream) Tag(dst, _ []byte) []byte  { return s.Sum(dst) }
func (s hmacStream) Verify(tag, _ []byte) bool { return s.HMAC.Verify(tag) }

func (k *Key) stream() stream {
	if k.previous != nil {
		new := *k
		new.previous = nil
		return &pair{new.stream(), k.previous.stream()}
	}
	switch {
	case k.umac != nil:
		return k.umac.New()
	case k.gmac != nil:
		return k.gmac.New()
	}
	return hmacStream{k.hmac.New()}
}

// sign draws a fresh nonce and returns it and the tag of what s has read. The nonce is drawn
// after that: see [fastmac.UMAC.Sign].
func (k *Key) sign(s stream) (nonce, tag []byte) {
	nonce = make([]byte, k.nonce, k.nonce+k.tagSize)
	rand.Read(nonce)
	return nonce, s.Tag(slices.Clip(nonce), nonce)[k.nonce:]
}
