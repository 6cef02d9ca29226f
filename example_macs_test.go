// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package fastmac_test

import (
	"bytes"
	"crypto"
	"encoding/base64"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"log"
	"runtime"
	"slices"
	"strings"
	"testing"

	"example.com/fastmac"
	"example.com/fastmac/internal/kernel"
	"example.com/fastmac/internal/mactest"
)

// TestMain skips examples of GMAC where it cannot be used, of its streams where there are
// none, and of HMAC's Clone where crypto/hmac has none.
func TestMain(m *testing.M) {
	fastmac.Hardware() // chooses all kernels, for package mactest
	if fastmac.RequireGCM() != nil {
		mactest.SkipExamples("^Example.*GMAC")
	}
	if runtime.GOARCH == "amd64" && fastmac.RequireAES() == nil && kernel.NewReport().AES == "stdlib" {
		mactest.SkipExamples("^Example_placedState$") // FASTMAC_TEST_KERNELS chose what it cannot see
	}
	if _, err := mactest.Must(fastmac.NewHMAC(crypto.SHA256, make([]byte, 64))).Clone(); mactest.CannotClone(err) {
		mactest.SkipExamples("^ExampleHMAC_Clone$")
	}
	m.Run()
}

func ExampleNewGMACKey() {
	_, err := fastmac.NewGMACKey([]byte("too short"))
	fmt.Println(err)
	k, err := fastmac.NewGMACKey([]byte("0123456789abcdef"))
	fmt.Println(k, err)
	// Output:
	// fastmac: key of 9 bytes: want 16, 24 or 32
	// fastmac.GMACKey(128-bit tag) <nil>
}

// A sender numbers its packets. The number is in the nonce, so none is used twice.
func ExampleGMACKey_Tag() {
	k, err := fastmac.NewGMACKey([]byte("0123456789abcdef"))
	if err != nil {
		log.Fatal(err) // for example, the CPU lacks the instructions
	}
	defer k.Destroy()
	nonce := make([]byte, fastmac.GMACNonceSize)
	packet := make([]byte, 0, 64) // has room for the tag, so nothing is allocated
	for number, msg := range []string{"attack at dawn", "bring coffee"} {
		binary.BigEndian.PutUint64(nonce[4:], uint64(number))
		packet = append(packet[:0], msg...)
		packet = k.Tag(packet, nonce, packet)

		msg, tag := packet[:len(msg)], packet[len(msg):]
		fmt.Printf("%s %v\n", msg, k.Verify(tag, nonce, msg))
	}
	// Output:
	// attack at dawn true
	// bring coffee true
}

func ExampleGMACKey_Init() {
	// A connection holds its keys by value.
	var conn struct{ in, out fastmac.GMACKey }
	if err := conn.in.Init([]byte("0123456789abcdef")); err != nil {
		log.Fatal(err)
	}
	if err := conn.out.Init([]byte("fedcba9876543210")); err != nil {
		log.Fatal(err)
	}
	fmt.Println(conn.in.Size(), conn.out.Size())
	// Output: 16 16
}

// A stream tags a message that does not fit in memory.
func ExampleNewGMAC() {
	m, err := fastmac.NewGMAC([]byte("0123456789abcdef"))
	if err != nil {
		log.Fatal(err)
	}
	defer m.Destroy()
	if _, err := io.Copy(m, strings.NewReader("attack at dawn")); err != nil {
		log.Fatal(err)
	}
	nonce := []byte("twelve bytes") // never use it for another message under this key
	tag := m.Tag(nil, nonce)
	fmt.Println(len(tag), m.Verify(tag, nonce))
	// Output: 16 true
}

// A program resets a stream for each message. Sum puts the tag where the nonce was.
func ExampleGMAC() {
	m, err := fastmac.NewGMAC([]byte("0123456789abcdef"))
	if err != nil {
		log.Fatal(err)
	}
	defer m.Destroy()
	fmt.Println(m.Size(), m.BlockSize())
	for number, msg := range []string{"attack at dawn", "bring coffee"} {
		nonce := binary.BigEndian.AppendUint64(make([]byte, 4, fastmac.GMACSize), uint64(number))
		m.Reset()
		m.Write([]byte(msg))
		tag := m.Sum(nonce)
		fmt.Println(len(tag), &tag[0] == &nonce[0])
	}
	// Output:
	// 16 16
	// 16 true
	// 16 true
}

// Messages with a common beginning: a clone saves hashing it again.
func ExampleGMAC_Clone() {
	m, err := fastmac.NewGMAC([]byte("0123456789abcdef"))
	if err != nil {
		log.Fatal(err)
	}
	m.WriteString("attack ")
	c, err := m.Clone()
	if err != nil {
		log.Fatal(err)
	}
	m.WriteString("at dawn")
	io.WriteString(c, "at dawn")
	nonce := []byte("twelve bytes") // never use it for another message under this key
	fmt.Println(m.Verify(c.(*fastmac.GMAC).Tag(nil, nonce), nonce))
	// Output: true
}

// A stream tags a message that arrives in parts.
func ExampleGMACKey_New() {
	k, err := fastmac.NewGMACKey([]byte("0123456789abcdef"))
	if err != nil {
		log.Fatal(err)
	}
	nonce := []byte("twelve bytes") // never use it for another message under this key
	m := k.New()
	io.WriteString(m, "attack at dawn")
	tag := m.Tag(nil, nonce)
	fmt.Println(k.Verify(tag, nonce, []byte("attack at dawn")))
	// Output: true
}

// Sum of the hash that Bind returns appends, like Sum of other hashes.
func ExampleGMAC_Bind() {
	k, err := fastmac.NewGMACKey([]byte("0123456789abcdef"))
	if err != nil {
		log.Fatal(err)
	}
	m := k.New()
	nonce := []byte("twelve bytes") // never use it for another message under this key
	h := m.Bind(nonce)
	h.Write([]byte("attack at dawn"))
	packet := h.Sum([]byte("attack at dawn"))
	fmt.Println(k.Verify(packet[14:], nonce, packet[:14]))
	// Output: true
}

// A program that can choose its MAC uses GMAC only where it can be used.
func ExampleRequireGCM() {
	if err := fastmac.RequireGCM(); err != nil {
		log.Print("no GMAC: ", err)
	}
}

func ExampleGMACKey_TagBatch() {
	k, err := fastmac.NewGMACKey([]byte("0123456789abcdef"))
	if err != nil {
		log.Fatal(err)
	}
	batch := make([]fastmac.Message, 2)
	for i := range batch {
		nonce := binary.BigEndian.AppendUint64(make([]byte, 4), uint64(i)) // never used before with this key
		batch[i] = fastmac.Message{Nonce: nonce, Data: []byte("a message"), Tag: make([]byte, k.Size())}
	}
	k.TagBatch(batch)
	batch[1].Data[0] = 'A'
	fmt.Println(k.VerifyBatch(batch), batch[0].OK, batch[1].OK)
	// Output: false true false
}

func ExampleNewHMAC() {
	h, err := fastmac.NewHMAC(crypto.SHA256, []byte("Jefe")) // RFC 4231, test case 2
	if err != nil {
		log.Fatal(err)
	}
	defer h.Destroy()
	h.WriteString("what do ya want ")
	h.WriteString("for nothing?")
	fmt.Printf("%x\n", h.Sum(nil)[:16])
	// Output: 5bdcc146bf60754e6a042426089575c7
}

// A program resets a stream for each message. The stream keeps its key.
func ExampleHMAC() {
	h, err := fastmac.NewHMAC(crypto.SHA256, []byte("Jefe"))
	if err != nil {
		log.Fatal(err)
	}
	defer h.Destroy()
	var tags [][]byte
	for _, msg := range []string{"what do ya want for nothing?", "another message"} {
		h.Reset()
		h.WriteString(msg)
		tags = append(tags, h.Sum(nil))
	}
	fmt.Println(h.Verify(tags[1]), h.Verify(tags[0]), h.Size(), h.BlockSize())
	// Output: true false 32 64
}

// Messages with a common beginning: a clone saves hashing it again.
func ExampleHMAC_Clone() {
	h, err := fastmac.NewHMAC(crypto.SHA256, []byte("Jefe"))
	if err != nil {
		log.Fatal(err)
	}
	h.WriteString("what do ya want ")
	c, err := h.Clone()
	if err != nil {
		log.Fatal(err)
	}
	io.WriteString(c, "for nothing?")
	fmt.Printf("%x\n", c.Sum(nil)[:16])
	// Output: 5bdcc146bf60754e6a042426089575c7
}

// Goroutines share a key. Each has its own stream.
func ExampleHMACKey_New() {
	k, err := fastmac.NewHMACKey(crypto.SHA256, []byte("Jefe"))
	if err != nil {
		log.Fatal(err)
	}
	defer k.Destroy()
	tags := make(chan []byte)
	for range 2 {
		go func() {
			h := k.New()
			io.Copy(h, strings.NewReader("what do ya want for nothing?"))
			tags <- h.Sum(make([]byte, 0, k.Size()))
		}()
	}
	fmt.Println(bytes.Equal(<-tags, <-tags))
	// Output: true
}

func ExampleNewHMACKey() {
	k, err := fastmac.NewHMACKey(crypto.SHA256, []byte("Jefe"))
	if err != nil {
		log.Fatal(err)
	}
	defer k.Destroy()
	msg := []byte("what do ya want for nothing?")
	tag := k.Tag(nil, msg)
	fmt.Printf("%x %v\n", tag[:16], k.Verify(tag, msg))
	// Output: 5bdcc146bf60754e6a042426089575c7 true
}

func ExampleHMACKey_TagBatch() {
	k, err := fastmac.NewHMACKey(crypto.SHA256, []byte("Jefe"))
	if err != nil {
		log.Fatal(err)
	}
	batch := []fastmac.Message{
		{Data: []byte("first"), Tag: make([]byte, crypto.SHA256.Size())},
		{Data: []byte("what do ya want for nothing?"), Tag: make([]byte, crypto.SHA256.Size())},
	}
	k.TagBatch(batch)
	fmt.Printf("%x\n", batch[1].Tag[:16])
	// Output: 5bdcc146bf60754e6a042426089575c7
}

func ExampleHMACKey_VerifyBatch() {
	k, err := fastmac.NewHMACKey(crypto.SHA256, []byte("Jefe"))
	if err != nil {
		log.Fatal(err)
	}
	first, second := []byte("first"), []byte("second")
	batch := []fastmac.Message{
		{Data: first, Tag: k.Tag(nil, first)},
		{Data: second, Tag: k.Tag(nil, first)},
	}
	fmt.Println(k.VerifyBatch(batch), batch[0].OK, batch[1].OK)
	// Output: false true false
}

func ExampleSumHMAC() {
	tag := fastmac.SumHMAC(crypto.SHA256, nil, []byte("Jefe"), []byte("what do ya want for nothing?"))
	fmt.Printf("%x\n", tag[:16])
	// Output: 5bdcc146bf60754e6a042426089575c7
}

func ExampleSumHMACBatch() {
	keys := [][]byte{[]byte("another key"), []byte("Jefe")}
	batch := []fastmac.Message{
		{Data: []byte("first"), Tag: make([]byte, crypto.SHA256.Size())},
		{Data: []byte("what do ya want for nothing?"), Tag: make([]byte, crypto.SHA256.Size())},
	}
	fastmac.SumHMACBatch(crypto.SHA256, keys, batch)
	fmt.Printf("%x\n", batch[1].Tag[:16])
	// Output: 5bdcc146bf60754e6a042426089575c7
}

// A token service verifies a thousand tokens signed with HS512 (RFC 7518 section
// 3.2) in one call.
func Example_tokens() {
	k, err := fastmac.NewHMACKey(crypto.SHA512, []byte("the key of the token service, 64 bytes of it as the RFC advises!"))
	if err != nil {
		log.Fatal(err)
	}
	defer k.Destroy()

	// What arrives: header, claims and signature. Number 500 is forged.
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

	batch := make([]fastmac.Message, len(tokens))
	for i, token := range tokens {
		dot := bytes.LastIndexByte(token, '.')
		tag, err := encoding.AppendDecode(nil, token[dot+1:])
		if dot < 0 || err != nil {
			continue // a Message without a tag is not right
		}
		batch[i] = fastmac.Message{Data: token[:dot], Tag: tag}
	}
	if !k.VerifyBatch(batch) {
		fmt.Println("forged:", slices.IndexFunc(batch, func(m fastmac.Message) bool { return !m.OK }))
	}
	// Output: forged: 500
}

// Before: crypto/hmac.
//
//	h := hmac.New(sha256.New, key)
//	h.Write(msg)
//	ok := hmac.Equal(tag, h.Sum(nil))
//
// Code that takes a hash.Hash needs no other change. For many messages under one key, an
// HMACKey is faster than a stream that is reset.
func Example_fromCryptoHMAC() {
	key, msg := []byte("Jefe"), []byte("what do ya want for nothing?")
	h, err := fastmac.NewHMAC(crypto.SHA256, key) // a hash.Hash
	if err != nil {
		log.Fatal(err)
	}
	h.Write(msg)
	tag := h.Sum(nil)

	k, err := fastmac.NewHMACKey(crypto.SHA256, key)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(k.Verify(tag, msg))
	// Output: true
}

// A program that chooses its MAC when it starts declares the interface that it needs. The interface
// has a nonce. HMAC has none: the type numbered makes it a part of the message.
type packetMAC interface {
	Size() int
	Tag(dst, nonce, msg []byte) []byte
	Verify(tag, nonce, msg []byte) bool
	Destroy()
}

type numbered struct{ *fastmac.HMACKey }

func (n numbered) Tag(dst, nonce, msg []byte) []byte {
	h := n.New()
	defer h.Destroy()
	h.Write(nonce) // always of the same length, so no other nonce and message look the same
	h.Write(msg)
	return h.Sum(dst)
}

func (n numbered) Verify(tag, nonce, msg []byte) bool {
	h := n.New()
	defer h.Destroy()
	h.Write(nonce)
	h.Write(msg)
	return h.Verify(tag)
}

// newPacketMAC returns the MAC that a configuration names.
func newPacketMAC(name string, key []byte) (packetMAC, error) {
	switch name {
	case "umac":
		if err := fastmac.RequireAES(); err != nil {
			return nil, err // AES would not be constant time
		}
		return fastmac.NewUMACKey(key, fastmac.UMAC128Size)
	case "gmac":
		return fastmac.NewGMACKey(key)
	case "hmac":
		k, err := fastmac.NewHMACKey(crypto.SHA256, key)
		return numbered{k}, err
	}
	return nil, fmt.Errorf("MAC %q: want umac, gmac or hmac", name)
}

func Example_choice() {
	for _, name := range []string{"umac", "gmac", "hmac", "md5"} {
		mac, err := newPacketMAC(name, []byte("0123456789abcdef"))
		if errors.Is(err, errors.ErrUnsupported) {
			log.Print(err, "; using HMAC-SHA-256")
			mac, err = newPacketMAC("hmac", []byte("0123456789abcdef"))
		}
		if err != nil {
			fmt.Println(err)
			continue
		}
		defer mac.Destroy()
		nonce, msg := make([]byte, fastmac.GMACNonceSize), []byte("a message") // nonce 0
		tag := mac.Tag(nil, nonce, msg)
		fmt.Println(mac.Verify(tag, nonce, msg), mac.Verify(tag, nonce, msg[1:]))
	}
	// Output:
	// true false
	// true false
	// true false
	// MAC "md5": want umac, gmac or hmac
}

// A server has a key for each client, and receives packets from several clients at once. It looks up
// the key by the client's number, which is in the packet. For an unknown client the key is nil.
func ExampleVerifyBatch() {
	clients := map[byte]*fastmac.UMACKey{}
	for number := range byte(2) {
		k, err := fastmac.NewUMACKey([]byte{15: number}, 8) // in a program, random keys
		if err != nil {
			log.Fatal(err)
		}
		defer k.Destroy()
		clients[number] = k
	}
	packet := func(number byte, k *fastmac.UMACKey, payload string) []byte {
		p := append([]byte{number, 0, 0, 0, 0, 0, 0, 1}, payload...) // the first 8 bytes are the nonce
		return k.Tag(p, p[:8], p)
	}
	packets := [][]byte{
		packet(1, clients[1], "good morning"), packet(0, clients[0], "hello"), packet(1, clients[0], "hello"), packet(7, clients[0], "hello"),
	}

	var keys []*fastmac.UMACKey
	var batch []fastmac.Message
	for _, p := range packets {
		n := len(p) - 8
		keys = append(keys, clients[p[0]])
		batch = append(batch, fastmac.Message{Nonce: p[:8], Data: p[:n], Tag: p[n:]})
	}
	fmt.Println(fastmac.VerifyBatch(keys, batch))
	for i := range batch {
		fmt.Println(packets[i][0], batch[i].OK)
	}
	// Output:
	// false
	// 1 true
	// 0 true
	// 1 false
	// 7 false
}

// TagBatch tags messages under different keys in one call.
func ExampleTagBatch() {
	var keys []*fastmac.HMACKey
	for _, key := range []string{"Jefe", "another key"} {
		k, err := fastmac.NewHMACKey(crypto.SHA256, []byte(key))
		if err != nil {
			log.Fatal(err)
		}
		defer k.Destroy()
		keys = append(keys, k)
	}
	batch := make([]fastmac.Message, len(keys))
	for i := range batch {
		batch[i] = fastmac.Message{Data: []byte("what do ya want for nothing?"), Tag: make([]byte, crypto.SHA256.Size())}
	}
	fastmac.TagBatch(keys, batch)
	fmt.Printf("%x\n", batch[0].Tag[:16])
	fmt.Println(fastmac.VerifyBatch(keys, batch))
	// Output:
	// 5bdcc146bf60754e6a042426089575c7
	// true
}
