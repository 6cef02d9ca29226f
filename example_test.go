// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package fastmac_test

import (
	"bytes"
	"crypto/rand"
	"encoding/base64"
	"encoding/binary"
	"fmt"
	"io"
	"log"
	"slices"
	"strings"

	"example.com/fastmac"
)

// A sender numbers its messages. The number is the nonce, so none is used twice, and
// the receiver, who counts too, need not be sent it.
func Example() {
	key := make([]byte, 16)
	rand.Read(key) // shared with the receiver

	k, err := fastmac.NewUMACKey(key, 8)
	if err != nil {
		log.Fatal(err)
	}
	defer k.Destroy()
	for number, msg := range []string{"attack at dawn", "bring coffee"} {
		nonce := binary.BigEndian.AppendUint64(nil, uint64(number))
		tag := k.Tag(nil, nonce, []byte(msg))

		fmt.Println(k.Verify(tag, nonce, []byte(msg)))
		fmt.Println(k.Verify(tag, nonce, []byte(strings.ToUpper(msg))))
	}
	// Output:
	// true
	// false
	// true
	// false
}

func ExampleNewUMACKey() {
	_, err := fastmac.NewUMACKey([]byte("too short"), 8)
	fmt.Println(err)
	k, err := fastmac.NewUMACKey([]byte("0123456789abcdef"), 16)
	fmt.Println(k, err)
	// Output:
	// fastmac: key of 9 bytes: want 16, 24 or 32
	// fastmac.UMACKey(128-bit tag) <nil>
}

func ExampleUMACKey_Init() {
	// A connection holds its keys in place.
	var conn struct{ in, out fastmac.UMACKey }
	if err := conn.in.Init([]byte("0123456789abcdef"), 8); err != nil {
		log.Fatal(err)
	}
	if err := conn.out.Init([]byte("fedcba9876543210"), 8); err != nil {
		log.Fatal(err)
	}
	fmt.Println(conn.in.Size(), conn.out.Size())
	// Output: 8 8
}

func ExampleUMACKey_Tag() {
	k, err := fastmac.NewUMACKey([]byte("abcdefghijklmnop"), 8) // the key of RFC 4418's vectors
	if err != nil {
		log.Fatal(err)
	}
	packet := make([]byte, 0, 64) // has room for the tag, so nothing is allocated
	packet = append(packet, "aaa"...)
	packet = k.Tag(packet, []byte("bcdefghi"), packet)
	fmt.Printf("%q %x\n", packet[:3], packet[3:])
	// Output: "aaa" 44b5cb542f220104
}

func ExampleUMACKey_Verify() {
	k, err := fastmac.NewUMACKey([]byte("abcdefghijklmnop"), 8)
	if err != nil {
		log.Fatal(err)
	}
	tag := []byte("\x44\xb5\xcb\x54\x2f\x22\x01\x04")
	fmt.Println(k.Verify(tag, []byte("bcdefghi"), []byte("aaa")))
	fmt.Println(k.Verify(tag[:4], []byte("bcdefghi"), []byte("aaa")))
	// Output:
	// true
	// false
}

// A server sends several packets at once, as with sendmmsg. Each has a number, which is its
// nonce, a payload, and room for the tag.
func ExampleUMACKey_TagBatch() {
	k, err := fastmac.NewUMACKey([]byte("abcdefghijklmnop"), 8)
	if err != nil {
		log.Fatal(err)
	}
	defer k.Destroy()
	var tags, nonces, msgs [][]byte
	for i, payload := range []string{"first", "second", "third"} {
		packet := binary.BigEndian.AppendUint64(nil, uint64(i))
		packet = append(packet, payload...)
		packet = append(packet, make([]byte, 8)...)
		n := len(packet) - 8
		tags, nonces, msgs = append(tags, packet[n:]), append(nonces, packet[:8]), append(msgs, packet[:n])
	}
	k.TagBatch(tags, nonces, msgs)
	fmt.Printf("%x\n", tags[1])

	// The receiver. On the way the third packet has been changed.
	msgs[2][8] ^= 1
	ok := make([]bool, len(msgs))
	fmt.Println(k.VerifyBatch(ok, tags, nonces, msgs), ok)
	// Output:
	// a3abafa1990cf7e6
	// false [true true false]
}

// VerifyBatch refuses tags and nonces of wrong lengths, which a sender may have chosen.
func ExampleUMACKey_VerifyBatch() {
	k, err := fastmac.NewUMACKey([]byte("abcdefghijklmnop"), 8)
	if err != nil {
		log.Fatal(err)
	}
	nonce, msg, tag := []byte("bcdefghi"), []byte("aaa"), []byte("\x44\xb5\xcb\x54\x2f\x22\x01\x04")
	ok := make([]bool, 3)
	all := k.VerifyBatch(ok, [][]byte{tag, tag[:4], tag}, [][]byte{nonce, nonce, nil}, [][]byte{msg, msg, msg})
	fmt.Println(all, ok)
	// Output: false [true false false]
}

// Sign and VerifySigned need no bookkeeping of nonces.
func ExampleUMACKey_Sign() {
	k, err := fastmac.NewUMACKey([]byte("0123456789abcdef"), 16)
	if err != nil {
		log.Fatal(err)
	}
	record := []byte("a record in a file")
	sig := k.Sign(nil, record)
	fmt.Println(len(sig), k.VerifySigned(sig, record), k.VerifySigned(sig, record[1:]))
	// Output: 32 true false
}

// A program signs a file, and later verifies it before use, without reading all of it into
// memory.
func ExampleUMACKey_SignReader() {
	k, err := fastmac.NewUMACKey([]byte("0123456789abcdef"), 16)
	if err != nil {
		log.Fatal(err)
	}
	file := strings.NewReader("the content of a large file") // or an *os.File
	sig, err := k.SignReader(nil, file)
	if err != nil {
		log.Fatal(err)
	}

	file.Seek(0, io.SeekStart)
	ok, err := k.VerifySignedReader(sig, file)
	fmt.Println(len(sig), ok, err)
	// Output: 32 true <nil>
}

// The goroutines of a server share a key and its Nonces. After a restart the server makes
// a new Nonces, and needs nothing from before.
func ExampleNonces() {
	k, err := fastmac.NewUMACKey([]byte("0123456789abcdef"), 8)
	if err != nil {
		log.Fatal(err)
	}
	nonces, err := fastmac.NewNonces(16)
	if err != nil {
		log.Fatal(err)
	}
	msg := []byte("a message")
	packet := nonces.Next(nil)
	packet = k.Tag(packet, packet, msg)
	packet = append(packet, msg...)

	nonce, tag, msg := packet[:16], packet[16:24], packet[24:]
	fmt.Println(len(packet), k.Verify(tag, nonce, msg))
	// Output: 33 true
}

// A program receives numbered packets, which the network may delay, repeat or reorder. The
// number is the nonce, so the tag authenticates it.
func ExampleReplayWindow() {
	k, err := fastmac.NewUMACKey([]byte("0123456789abcdef"), 8)
	if err != nil {
		log.Fatal(err)
	}
	window, err := fastmac.NewReplayWindow(1024)
	if err != nil {
		log.Fatal(err)
	}
	receive := func(nonce, tag, msg []byte) {
		switch {
		case len(nonce) != 8 || !k.Verify(tag, nonce, msg):
			fmt.Printf("%q is forged\n", msg)
		case !window.Accept(binary.BigEndian.Uint64(nonce)): // only after Verify
			fmt.Printf("%q is a repetition or too late\n", msg)
		default:
			fmt.Printf("%q\n", msg)
		}
	}

	first, second := []byte("\x00\x00\x00\x00\x00\x00\x00\x01"), []byte("\x00\x00\x00\x00\x00\x00\x00\x02")
	pay, thanks := []byte("pay 5"), []byte("thanks")
	receive(second, k.Tag(nil, second, thanks), thanks)
	receive(first, k.Tag(nil, first, pay), pay)
	receive(first, k.Tag(nil, first, pay), pay) // an attacker sends it again
	receive(first, k.Tag(nil, second, thanks), thanks)
	// Output:
	// "thanks"
	// "pay 5"
	// "pay 5" is a repetition or too late
	// "thanks" is forged
}

func ExampleUMAC() {
	u, err := fastmac.NewUMAC128([]byte("abcdefghijklmnop"))
	if err != nil {
		log.Fatal(err)
	}
	defer u.Destroy()
	for range 3 {
		io.WriteString(u, "a")
	}
	nonce := []byte("bcdefghi")
	fmt.Printf("%x\n", u.AppendTag(nil, nonce))
	// Sum puts the tag where the nonce was, if it fits.
	fmt.Printf("%x\n", u.Sum(nonce))
	// Output:
	// 185e4fe905cba7bd85e4c2dc3d117d8d
	// 185e4fe905cba7bd85e4c2dc3d117d8d
}

// Bind gives code that knows nothing of nonces an ordinary hash.Hash.
func ExampleUMAC_Bind() {
	u, err := fastmac.NewUMAC64([]byte("abcdefghijklmnop"))
	if err != nil {
		log.Fatal(err)
	}
	h, err := u.Bind([]byte("bcdefghi"))
	if err != nil {
		log.Fatal(err)
	}
	io.Copy(h, strings.NewReader("aaa"))
	fmt.Printf("%x\n", h.Sum(nil))
	// Output: 44b5cb542f220104
}

// A common beginning is hashed once.
func ExampleUMAC_Clone() {
	u, err := fastmac.NewUMAC64([]byte("abcdefghijklmnop"))
	if err != nil {
		log.Fatal(err)
	}
	io.WriteString(u, "a")
	c, err := u.Clone()
	if err != nil {
		log.Fatal(err)
	}
	io.WriteString(c, "aa")
	fmt.Printf("%x\n", c.(*fastmac.UMAC).Sum([]byte("bcdefghi")))
	// Output: 44b5cb542f220104
}

func ExampleNewHMACSHA512() {
	h := fastmac.NewHMACSHA512([]byte("Jefe")) // RFC 4231, test case 2
	defer h.Destroy()
	io.WriteString(h, "what do ya want ")
	io.WriteString(h, "for nothing?")
	fmt.Printf("%x\n", h.Sum(nil)[:16])
	// Output: 164b7a7bfcf819e2e395fbe73b56e0a3
}

func ExampleNewHMACSHA512Key() {
	k := fastmac.NewHMACSHA512Key([]byte("Jefe"))
	defer k.Destroy()
	msg := []byte("what do ya want for nothing?")
	tag := k.Tag(nil, msg)
	fmt.Printf("%x %v\n", tag[:16], k.Verify(tag, msg))
	// Output: 164b7a7bfcf819e2e395fbe73b56e0a3 true
}

func ExampleHMACSHA512Key_TagBatch() {
	k := fastmac.NewHMACSHA512Key([]byte("Jefe"))
	msgs := [][]byte{[]byte("first"), []byte("what do ya want for nothing?")}
	tags := make([][64]byte, len(msgs))
	k.TagBatch(tags, msgs)
	fmt.Printf("%x\n", tags[1][:16])
	// Output: 164b7a7bfcf819e2e395fbe73b56e0a3
}

func ExampleHMACSHA512Key_VerifyBatch() {
	k := fastmac.NewHMACSHA512Key([]byte("Jefe"))
	msgs := [][]byte{[]byte("first"), []byte("second"), []byte("third")}
	tags := make([][64]byte, len(msgs))
	k.TagBatch(tags, msgs)
	tags[1][0] ^= 1
	ok := make([]bool, len(msgs))
	fmt.Println(k.VerifyBatch(ok, tags, msgs), ok)
	// Output: false [true false true]
}

func ExampleSumHMACSHA512() {
	tag := fastmac.SumHMACSHA512([]byte("Jefe"), []byte("what do ya want for nothing?"))
	fmt.Printf("%x\n", tag[:16])
	// Output: 164b7a7bfcf819e2e395fbe73b56e0a3
}

func ExampleSumHMACSHA512Batch() {
	keys := [][]byte{[]byte("another key"), []byte("Jefe")}
	msgs := [][]byte{[]byte("first"), []byte("what do ya want for nothing?")}
	tags := make([][64]byte, len(msgs))
	fastmac.SumHMACSHA512Batch(tags, keys, msgs)
	fmt.Printf("%x\n", tags[1][:16])
	// Output: 164b7a7bfcf819e2e395fbe73b56e0a3
}

// A token service verifies a thousand tokens signed with HS512 (RFC 7518 section
// 3.2) in one call.
func Example_tokens() {
	k := fastmac.NewHMACSHA512Key([]byte("the key of the token service, 64 bytes of it as the RFC advises!"))
	defer k.Destroy()

	// What arrives: header, claims and signature, of which number 500 is forged.
	var tokens [][]byte
	encoding := base64.RawURLEncoding.Strict()
	header := encoding.EncodeToString([]byte(`{"alg":"HS512"}`))
	for i := range 1000 {
		token := []byte(header + "." + encoding.EncodeToString(fmt.Appendf(nil, `{"sub":"user %d"}`, i)))
		tag := k.Tag(nil, token)
		if i == 500 {
			tag[0] ^= 1
		}
		tokens = append(tokens, encoding.AppendEncode(append(token, '.'), tag))
	}

	var signed [][]byte
	var tags [][fastmac.HMACSHA512Size]byte
	for _, token := range tokens {
		dot := bytes.LastIndexByte(token, '.')
		tag, err := encoding.AppendDecode(nil, token[dot+1:])
		if dot < 0 || err != nil || len(tag) != fastmac.HMACSHA512Size {
			continue // not a token
		}
		signed, tags = append(signed, token[:dot]), append(tags, [fastmac.HMACSHA512Size]byte(tag))
	}
	ok := make([]bool, len(signed))
	if !k.VerifyBatch(ok, tags, signed) {
		fmt.Println("forged:", slices.Index(ok, false))
	}
	// Output: forged: 500
}

func ExampleHardware() {
	if hw := fastmac.Hardware(); hw.NHLacks != "" {
		log.Printf("UMAC could be faster: NH is %s, this machine lacks %s", hw.NH, hw.NHLacks)
	}
}

// A program that can choose its MAC uses UMAC only where AES runs on AES instructions.
func ExampleRequireHardware() {
	if err := fastmac.RequireHardware(); err != nil {
		log.Print(err, "; using HMAC-SHA-512")
	}
}

// A program that must not run AES from tables refuses to start without AES
// instructions.
func ExampleMustHardware() {
	fastmac.MustHardware()
}
