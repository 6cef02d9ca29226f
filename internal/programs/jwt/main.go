// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

// Command jwt verifies tokens of github.com/golang-jwt/jwt that are signed with HS512, RFC
// 7518 section 3.2: all signatures in one batch, and then the claims of each token. It
// reads the tokens from its standard input, one a line, and reports those that are wrong.
package main

import (
	"bufio"
	"bytes"
	"crypto"
	"errors"
	"fmt"
	"log"
	"os"
	"strings"

	"example.com/fastmac"
	"github.com/golang-jwt/jwt/v5"
)

func main() {
	if len(os.Args) != 2 {
		log.Fatal("usage: jwt KEY_FILE < TOKENS")
	}
	secret, err := os.ReadFile(os.Args[1])
	if err != nil {
		log.Fatal(err)
	}
	key, err := fastmac.NewHMACKey(crypto.SHA512, bytes.TrimSpace(secret))
	if err != nil {
		log.Fatal(err)
	}
	defer key.Destroy()
	var tokens []string
	for lines := bufio.NewScanner(os.Stdin); lines.Scan(); {
		tokens = append(tokens, lines.Text())
	}
	_, errs := verify(key, tokens)
	for i, err := range errs {
		if err != nil {
			fmt.Printf("line %d: %v\n", i+1, err)
		}
	}
}

// verify returns the claims of each token, or why it is refused.
func verify(key *fastmac.HMACKey, tokens []string) ([]jwt.MapClaims, []error) {
	claims, errs := make([]jwt.MapClaims, len(tokens)), make([]error, len(tokens))
	parser := jwt.NewParser(jwt.WithStrictDecoding(), jwt.WithJSONNumber())
	var index []int
	var batch []fastmac.Message
	for i, s := range tokens {
		claims[i] = make(jwt.MapClaims)
		token, parts, err := parser.ParseUnverified(s, claims[i])
		switch {
		case err != nil:
			errs[i] = err
			continue
		case token.Method != jwt.SigningMethodHS512: // not what the token asks for
			errs[i] = fmt.Errorf("%w: %v: want HS512", jwt.ErrTokenUnverifiable, token.Header["alg"])
			continue
		}
		tag, err := parser.DecodeSegment(parts[2])
		if err != nil {
			errs[i] = errors.Join(jwt.ErrTokenSignatureInvalid, err)
			continue
		}
		index = append(index, i)
		batch = append(batch, fastmac.Message{Data: []byte(s[:strings.LastIndexByte(s, '.')]), Tag: tag})
	}
	key.VerifyBatch(batch)
	validator := jwt.NewValidator()
	for j, i := range index {
		if !batch[j].OK {
			errs[i] = jwt.ErrTokenSignatureInvalid
		} else {
			errs[i] = validator.Validate(claims[i]) // the times
		}
	}
	for i, err := range errs {
		if err != nil {
			claims[i] = nil
		}
	}
	return claims, errs
}
