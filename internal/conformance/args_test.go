// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package conformance

import (
	"context"
	"crypto"
	_ "crypto/sha256"
	_ "crypto/sha512"
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"example.com/fastmac"
	"example.com/fastmac/aesgcm"
	"example.com/fastmac/hkdf"
	"example.com/fastmac/hmac"
	"example.com/fastmac/hwrand"
	"example.com/fastmac/internal/kernel"
	"example.com/fastmac/internal/mactest"
	"example.com/fastmac/pbkdf2"
)

// argSizes are the sizes of messages: none, those next to blocks, and more than a group of any kernel.
var argSizes = []int{0, 1, 15, 17, 63, 65, 127, 129, 300, 1023, 1025, 2100}

// argCalls has the functions and methods that get slices, except for constructors that only call Init. Each calls
// one, with a message of n bytes.
var argCalls = map[string]func(a *mactest.Args, n int){
	"UMACKey.Init": func(a *mactest.Args, n int) { must(new(fastmac.UMACKey).Init(a.In(16+8*(n%3)), 8)) },
	"UMACKey.Tag": func(a *mactest.Args, n int) {
		k := umacKey(a, n)
		k.Tag(a.Room(n%9, k.Size()), a.In(1+n%16), a.In(n))
	},
	"UMACKey.Verify": func(a *mactest.Args, n int) {
		k, nonce, msg := umacKey(a, n), a.In(1+n%16), a.In(n)
		k.Verify(a.Copy(k.Tag(nil, nonce, msg)), nonce, msg)
		k.Verify(a.In(k.Size()), nonce, msg)
		k.Verify(a.In(k.Size()-1), nonce, msg)
	},
	"UMACKey.TagBatch": func(a *mactest.Args, n int) {
		k := umacKey(a, n)
		k.TagBatch(argBatch(a, 19, n, k.Size(), 8))
	},
	"UMACKey.VerifyBatch": func(a *mactest.Args, n int) {
		k := umacKey(a, n)
		k.VerifyBatch(inBatch(a, 19, n, k.Size(), 8))
	},
	"UMACKey.Sign": func(a *mactest.Args, n int) {
		k := umacKey(a, n)
		k.Sign(a.Room(n%9, 16+k.Size()), a.In(n))
	},
	"UMACKey.VerifySigned": func(a *mactest.Args, n int) {
		k, msg := umacKey(a, n), a.In(n)
		k.VerifySigned(a.Copy(k.Sign(nil, msg)), msg)
		k.VerifySigned(a.In(16+k.Size()), msg)
	},
	"UMAC.Write":         func(a *mactest.Args, n int) { u := umac(a, n); u.Write(a.In(n)); u.Write(a.In(n)) },
	"UMAC.WriteParallel": func(a *mactest.Args, n int) { umac(a, n).WriteParallel(a.In(n), 2) },
	"UMAC.Tag": func(a *mactest.Args, n int) {
		u := umac(a, n)
		u.Tag(a.Room(n%9, u.Size()), a.In(1+n%16))
	},
	"UMAC.Sum": func(a *mactest.Args, n int) {
		u := umac(a, n)
		u.Sum(a.Out(max(8, u.Size()))[:8])
	},
	"UMAC.Verify": func(a *mactest.Args, n int) {
		u, nonce := umac(a, n), a.In(8)
		u.Verify(a.Copy(u.Tag(nil, nonce)), nonce)
		u.Verify(a.In(u.Size()), nonce)
	},
	"UMAC.Bind": func(a *mactest.Args, n int) {
		u := umac(a, n)
		h := u.Bind(a.In(8))
		h.Write(a.In(n))
		h.Sum(a.Room(n%9, u.Size()))
	},
	"UMAC.Sign": func(a *mactest.Args, n int) {
		u := umac(a, n)
		u.Sign(a.Room(n%9, 16+u.Size()))
	},
	"UMAC.VerifySigned": func(a *mactest.Args, n int) {
		u := umac(a, n)
		u.VerifySigned(a.Copy(u.Sign(nil)))
		u.VerifySigned(a.In(16 + u.Size()))
	},
	"NonceSequence.Next": func(a *mactest.Args, n int) {
		size := 12 + n%5
		fastmac.NewNonceSequence(size).Next(a.Room(n%9, size))
	},

	"GMACKey.Init": func(a *mactest.Args, n int) { must(new(fastmac.GMACKey).Init(a.In(16 + 8*(n%3)))) },
	"GMACKey.Tag":  func(a *mactest.Args, n int) { gmacKey(a).Tag(a.Room(n%9, 16), a.In(12), a.In(n)) },
	"GMACKey.Verify": func(a *mactest.Args, n int) {
		k, nonce, msg := gmacKey(a), a.In(12), a.In(n)
		k.Verify(a.Copy(k.Tag(nil, nonce, msg)), nonce, msg)
		k.Verify(a.In(16), nonce, msg)
	},
	"GMACKey.TagBatch":    func(a *mactest.Args, n int) { gmacKey(a).TagBatch(argBatch(a, 5, n, 16, 12)) },
	"GMACKey.VerifyBatch": func(a *mactest.Args, n int) { gmacKey(a).VerifyBatch(inBatch(a, 5, n, 16, 12)) },
	"GMAC.Write":          func(a *mactest.Args, n int) { m := gmac(a, n); m.Write(a.In(n)); m.Write(a.In(n)) },
	"GMAC.Tag":            func(a *mactest.Args, n int) { gmac(a, n).Tag(a.Room(n%9, 16), a.In(12)) },
	"GMAC.Sum":            func(a *mactest.Args, n int) { gmac(a, n).Sum(a.Out(16)[:12]) },
	"GMAC.Verify": func(a *mactest.Args, n int) {
		m, nonce := gmac(a, n), a.In(12)
		m.Verify(a.Copy(m.Tag(nil, nonce)), nonce)
		m.Verify(a.In(16), nonce)
	},
	"GMAC.Bind": func(a *mactest.Args, n int) {
		h := gmac(a, n).Bind(a.In(12))
		h.Write(a.In(n))
		h.Sum(a.Room(n%9, 16))
	},

	"HMACKey.Init": func(a *mactest.Args, n int) { must(new(fastmac.HMACKey).Init(argHash(n), a.In(n))) },
	"HMACKey.Tag": func(a *mactest.Args, n int) {
		k := hmacKey(a, n)
		k.Tag(a.Room(n%9, k.Size()), a.In(n))
	},
	"HMACKey.Verify": func(a *mactest.Args, n int) {
		k, msg := hmacKey(a, n), a.In(n)
		k.Verify(a.Copy(k.Tag(nil, msg)), msg)
		k.Verify(a.In(k.Size()), msg)
	},
	"HMACKey.TagBatch": func(a *mactest.Args, n int) {
		k := hmacKey(a, n)
		k.TagBatch(argBatch(a, 19, n, k.Size(), 0))
	},
	"HMACKey.VerifyBatch": func(a *mactest.Args, n int) {
		k := hmacKey(a, n)
		k.VerifyBatch(inBatch(a, 19, n, k.Size(), 0))
	},
	"HMAC.Write": func(a *mactest.Args, n int) { m := hmacStream(a, n); m.Write(a.In(n)); m.Write(a.In(n)) },
	"HMAC.Sum": func(a *mactest.Args, n int) {
		m := hmacStream(a, n)
		m.Sum(a.Room(n%9, m.Size()))
	},
	"HMAC.Verify": func(a *mactest.Args, n int) {
		m := hmacStream(a, n)
		m.Verify(a.Copy(m.Sum(nil)))
		m.Verify(a.In(m.Size()))
	},
	"SumHMAC": func(a *mactest.Args, n int) {
		h := argHash(n)
		fastmac.SumHMAC(h, a.Room(n%9, h.Size()), a.In(n%200), a.In(n))
	},
	"SumHMACBatch": func(a *mactest.Args, n int) {
		h, keys := argHash(n), make([][]byte, 19)
		for i := range keys {
			keys[i] = a.In((n + 20*i) % 200)
		}
		fastmac.SumHMACBatch(h, keys, argBatch(a, len(keys), n, h.Size(), 0))
	},
	"TagBatch": func(a *mactest.Args, n int) {
		u := umacKey(a, n)
		fastmac.TagBatch(slices.Repeat([]*fastmac.UMACKey{u}, 19), argBatch(a, 19, n, u.Size(), 8))
		h := hmacKey(a, n)
		fastmac.TagBatch(slices.Repeat([]*fastmac.HMACKey{h}, 19), argBatch(a, 19, n, h.Size(), 0))
		if fastmac.RequireGCM() == nil {
			fastmac.TagBatch(slices.Repeat([]*fastmac.GMACKey{gmacKey(a)}, 5), argBatch(a, 5, n, 16, 12))
		}
	},
	"VerifyBatch": func(a *mactest.Args, n int) {
		u := umacKey(a, n)
		fastmac.VerifyBatch(slices.Repeat([]*fastmac.UMACKey{u}, 19), inBatch(a, 19, n, u.Size(), 8))
		h := hmacKey(a, n)
		fastmac.VerifyBatch(slices.Repeat([]*fastmac.HMACKey{h}, 19), inBatch(a, 19, n, h.Size(), 0))
		if fastmac.RequireGCM() == nil {
			fastmac.VerifyBatch(slices.Repeat([]*fastmac.GMACKey{gmacKey(a)}, 5), inBatch(a, 5, n, 16, 12))
		}
	},

	"aesgcm.Key.Init": func(a *mactest.Args, n int) { must(new(aesgcm.Key).Init(a.In(16 + 8*(n%3)))) },
	"aesgcm.Key.Seal": func(a *mactest.Args, n int) {
		k := gcmKey(a)
		k.Seal(a.Room(n%9, n+16), a.In(12), a.In(n), a.In(n%200))
		k.Seal(a.Out(n + 16)[:0], a.In(12), a.In(n), nil)
		p := a.Out(n + 16)[:n]
		k.Seal(p[:0], a.In(12), p, a.In(n%200))
	},
	"aesgcm.Key.Open": func(a *mactest.Args, n int) {
		k, nonce, data := gcmKey(a), a.In(12), a.In(n%200)
		c := k.Seal(nil, nonce, a.In(n), data)
		mactest.Must(k.Open(a.Room(n%9, n), nonce, a.Copy(c), data))
		k.Open(a.Room(n%9, n), nonce, a.In(n+16), data)
		k.Open(a.Room(n%9, 0), nonce, a.In(n%16), data)
	},
	"aesgcm.Sealer.Seal": func(a *mactest.Args, n int) {
		gcmKey(a).NewSealer().Seal(a.Room(n%9, 12+n+16), nil, a.In(n), a.In(n%200))
	},
	"aesgcm.Sealer.Open": func(a *mactest.Args, n int) {
		s, data := gcmKey(a).NewSealer(), a.In(n%200)
		c := s.Seal(nil, nil, a.In(n), data)
		mactest.Must(s.Open(a.Room(n%9, n), nil, a.Copy(c), data))
		s.Open(a.Room(n%9, n), nil, a.In(12+n+16), data)
	},

	"hmac.New": func(a *mactest.Args, n int) {
		for _, h := range []crypto.Hash{argHash(n), crypto.SHA1} {
			m := hmac.New(h.New, a.In(n%200))
			m.Write(a.In(n))
			m.Sum(a.Room(n%9, m.Size()))
		}
	},
	"hmac.Equal":   func(a *mactest.Args, n int) { hmac.Equal(a.In(n), a.In(n)) },
	"hkdf.Extract": func(a *mactest.Args, n int) { mactest.Must(hkdf.Extract(argHash(n).New, a.In(n), a.In(n%200))) },
	"hkdf.Expand":  func(a *mactest.Args, n int) { mactest.Must(hkdf.Expand(argHash(n).New, a.In(n), "info", n)) },
	"hkdf.Key":     func(a *mactest.Args, n int) { mactest.Must(hkdf.Key(argHash(n).New, a.In(n), a.In(n%200), "info", n)) },
	"hwrand.Reader.Read": func(a *mactest.Args, n int) {
		r, err := hwrand.New()
		if errors.Is(err, errors.ErrUnsupported) {
			return
		}
		must(err)
		mactest.Must(r.Read(a.Out(n)))
		mactest.Must(r.Read(a.Out(n)))
	},
	"pbkdf2.Key": func(a *mactest.Args, n int) {
		mactest.Must(pbkdf2.Key(argHash(n).New, "password", a.In(n), 3, 1+n%200))
		mactest.Must(pbkdf2.Key(crypto.SHA1.New, "password", a.In(n), 3, 1+n%200))
	},
	"pbkdf2.KeyBatch": func(a *mactest.Args, n int) {
		for _, h := range []crypto.Hash{argHash(n), crypto.SHA1} {
			batch := make([]pbkdf2.Derivation, 19)
			for i := range batch {
				batch[i] = pbkdf2.Derivation{Password: "password", Salt: a.In(n % 200), Iter: 1 + i%3, Key: a.Out(1 + (n+7*i)%100)}
			}
			must(pbkdf2.KeyBatch(context.Background(), h.New, batch))
			batch[18].Iter = 0
			if pbkdf2.KeyBatch(context.Background(), h.New, batch) == nil {
				panic("no iteration is no error")
			}
		}
	},
}

func must(err error) {
	if err != nil {
		panic(err)
	}
}

// argHash returns one of the hashes, by turns.
func argHash(n int) crypto.Hash {
	all := [...]crypto.Hash{crypto.SHA256, crypto.SHA512, crypto.SHA224, crypto.SHA384, crypto.SHA512_224, crypto.SHA512_256}
	return all[n%len(all)]
}

func umacKey(a *mactest.Args, n int) *fastmac.UMACKey {
	return mactest.Must(fastmac.NewUMACKey(a.In(16), 4*(1+n%4)))
}
func gmacKey(a *mactest.Args) *fastmac.GMACKey { return mactest.Must(fastmac.NewGMACKey(a.In(16))) }
func gcmKey(a *mactest.Args) *aesgcm.Key       { return mactest.Must(aesgcm.NewKey(a.In(16))) }
func hmacKey(a *mactest.Args, n int) *fastmac.HMACKey {
	return mactest.Must(fastmac.NewHMACKey(argHash(n), a.In(n%200)))
}

// umac returns a stream with a message of n bytes, as the next two do.
func umac(a *mactest.Args, n int) *fastmac.UMAC {
	u := mactest.Must(fastmac.NewUMAC(a.In(16), 4*(1+n%4)))
	u.Write(a.In(n))
	return u
}

func gmac(a *mactest.Args, n int) *fastmac.GMAC {
	m := mactest.Must(fastmac.NewGMAC(a.In(16)))
	m.Write(a.In(n))
	return m
}

func hmacStream(a *mactest.Args, n int) *fastmac.HMAC {
	m := mactest.Must(fastmac.NewHMAC(argHash(n), a.In(n%200)))
	m.Write(a.In(n))
	return m
}

// argBatch returns messages of n bytes and less, whose tags are to be written.
func argBatch(a *mactest.Args, messages, n, tag, nonce int) []fastmac.Message {
	return batchOf(a, messages, n, nonce, func() []byte { return a.Out(tag) })
}

// inBatch returns messages with wrong tags.
func inBatch(a *mactest.Args, messages, n, tag, nonce int) []fastmac.Message {
	return batchOf(a, messages, n, nonce, func() []byte { return a.In(tag) })
}

func batchOf(a *mactest.Args, messages, n, nonce int, tag func() []byte) []fastmac.Message {
	batch := make([]fastmac.Message, messages)
	for i := range batch {
		batch[i] = fastmac.Message{Nonce: a.In(nonce), Data: a.In(max(0, n-i%4*(n/8))), Tag: tag()}
	}
	return batch
}

// TestArgs calls all functions and methods that get slices, with every kernel. They must write only to what they
// return or set: not to their other arguments, and not behind these, where there may be something of the caller.
func TestArgs(t *testing.T) {
	fastmac.Hardware()
	layers := slices.Concat(mactest.UMAC, mactest.HMAC)
	noGCM := fastmac.RequireGCM() != nil
	if !noGCM {
		layers = append(layers, kernel.GCM)
	}
	a := mactest.NewArgs(rand.NewChaCha8([32]byte([]byte("TestArgs, a seed with 32 bytes.."))))
	mactest.ForAllKernels(t, layers, func(t *testing.T) {
		for name, call := range argCalls {
			if noGCM && (strings.HasPrefix(name, "GMAC") || strings.HasPrefix(name, "aesgcm")) {
				continue
			}
			for _, n := range argSizes {
				call(a, n)
				a.Check(t, fmt.Sprintf("%s with %d bytes", name, n))
			}
		}
	})
}

// TestArgCalls checks that argCalls has all functions and methods that get slices of bytes, or of structs or slices
// with such.
func TestArgCalls(t *testing.T) {
	for dir, name := range map[string]string{".": "", "aesgcm": "aesgcm.", "hkdf": "hkdf.", "hmac": "hmac.", "hwrand": "hwrand.", "pbkdf2": "pbkdf2."} {
		for _, f := range argFunctions(t, filepath.Join("../..", dir)) {
			if _, after, _ := strings.Cut("."+f, ".New"); argCalls[name+f] == nil && (after == "" || argCalls[name+after+".Init"] == nil && argCalls[name+after+".Write"] == nil) {
				t.Errorf("argCalls has no %s", name+f)
			}
		}
	}
}

// argFunctions returns the exported functions and methods of a package that get slices.
func argFunctions(t *testing.T, dir string) (names []string) {
	files, err := filepath.Glob(filepath.Join(dir, "*.go"))
	if err != nil || len(files) == 0 {
		t.Fatalf("%s: %d files, %v", dir, len(files), err)
	}
	for _, path := range files {
		if strings.HasSuffix(path, "_test.go") {
			continue
		}
		file, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		for _, d := range file.Decls {
			f, ok := d.(*ast.FuncDecl)
			if !ok || !f.Name.IsExported() || !slices.ContainsFunc(f.Type.Params.List, func(p *ast.Field) bool { _, ok := p.Type.(*ast.ArrayType); return ok }) {
				continue
			}
			name := f.Name.Name
			if f.Recv != nil {
				of, ok := f.Recv.List[0].Type.(*ast.StarExpr)
				if !ok {
					continue
				}
				receiver := of.X.(*ast.Ident)
				if !receiver.IsExported() {
					continue
				}
				name = receiver.Name + "." + name
			}
			names = append(names, name)
		}
	}
	return names
}
