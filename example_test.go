// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package fastmac_test

import (
	"crypto"
	"crypto/rand"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"log"
	"os"
	"strings"

	"example.com/fastmac"
)

// A sender numbers its messages and uses the number as the nonce, so no nonce is used twice. The
// receiver counts too, so the sender need not send the number.
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

// A program that reads a key from a file explains what is wrong with it.
func ExampleKeySizeError() {
	key := []byte("fifteen bytes..")
	_, err := fastmac.NewUMACKey(key, fastmac.UMAC64Size)
	var size fastmac.KeySizeError
	if errors.As(err, &size) {
		fmt.Printf("the key file has %d bytes, want 16\n", size)
	}
	// Output: the key file has 15 bytes, want 16
}

func ExampleUMACKey_Init() {
	// A connection holds its keys by value.
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
	fmt.Println(k.Verify(tag[:fastmac.UMAC32Size], []byte("bcdefghi"), []byte("aaa"))) // a tag of another size
	// Output:
	// true
	// false
}

// A server sends several packets at once, for example with sendmmsg. Each packet has a number,
// which is its nonce, a payload, and room for the tag.
func ExampleUMACKey_TagBatch() {
	k, err := fastmac.NewUMACKey([]byte("abcdefghijklmnop"), 8)
	if err != nil {
		log.Fatal(err)
	}
	defer k.Destroy()
	var batch []fastmac.Message
	for i, payload := range []string{"first", "second", "third"} {
		packet := binary.BigEndian.AppendUint64(nil, uint64(i))
		packet = append(packet, payload...)
		packet = append(packet, make([]byte, 8)...)
		n := len(packet) - 8
		batch = append(batch, fastmac.Message{Nonce: packet[:8], Data: packet[:n], Tag: packet[n:]})
	}
	k.TagBatch(batch)
	fmt.Printf("%x\n", batch[1].Tag)

	// The receiver. The third packet was changed on the way.
	batch[2].Data[8] ^= 1
	fmt.Println(k.VerifyBatch(batch), batch[0].OK, batch[1].OK, batch[2].OK)
	// Output:
	// a3abafa1990cf7e6
	// false true true false
}

// VerifyBatch refuses tags and nonces of wrong lengths, which a sender may send.
func ExampleUMACKey_VerifyBatch() {
	k, err := fastmac.NewUMACKey([]byte("abcdefghijklmnop"), 8)
	if err != nil {
		log.Fatal(err)
	}
	nonce, msg, tag := []byte("bcdefghi"), []byte("aaa"), []byte("\x44\xb5\xcb\x54\x2f\x22\x01\x04")
	batch := []fastmac.Message{
		{Nonce: nonce, Data: msg, Tag: tag},
		{Nonce: nonce, Data: msg, Tag: tag[:4]},
		{Nonce: nil, Data: msg, Tag: tag},
	}
	fmt.Println(k.VerifyBatch(batch), batch[0].OK, batch[1].OK, batch[2].OK)
	// Output: false true false false
}

func ExampleUMAC() {
	u, err := fastmac.NewUMAC([]byte("abcdefghijklmnop"), fastmac.UMAC128Size)
	if err != nil {
		log.Fatal(err)
	}
	defer u.Destroy()
	for range 3 {
		u.WriteString("a")
	}
	nonce := []byte("bcdefghi")
	fmt.Printf("%x\n", u.Tag(nil, nonce))
	// Sum puts the tag where the nonce was, if it fits.
	fmt.Printf("%x\n", u.Sum(nonce))
	// Output:
	// 185e4fe905cba7bd85e4c2dc3d117d8d
	// 185e4fe905cba7bd85e4c2dc3d117d8d
}

// A message from the RFC's appendix has tags of all sizes. A program uses only one size with a key:
// a shorter tag is not always the beginning of a longer one.
func ExampleNewUMAC() {
	key, nonce := []byte("abcdefghijklmnop"), []byte("bcdefghi")
	for _, size := range []int{fastmac.UMAC32Size, fastmac.UMAC64Size, fastmac.UMAC96Size, fastmac.UMAC128Size} {
		u, err := fastmac.NewUMAC(key, size)
		if err != nil {
			log.Fatal(err)
		}
		u.Write([]byte("aaa"))
		fmt.Printf("%d bytes: %x\n", u.Size(), u.Tag(nil, nonce))
	}
	// Output:
	// 4 bytes: 3b91d102
	// 8 bytes: 44b5cb542f220104
	// 12 bytes: 185e4fe905cba7bd85e4c2dc
	// 16 bytes: 185e4fe905cba7bd85e4c2dc3d117d8d
}

// A connection has a stream for each direction, under one key, and resets it for each message.
func ExampleUMACKey_New() {
	k, err := fastmac.NewUMACKey([]byte("0123456789abcdef"), fastmac.UMAC128Size)
	if err != nil {
		log.Fatal(err)
	}
	defer k.Destroy()
	sender, receiver := k.New(), k.New()
	for number, msg := range []string{"attack at dawn", "bring coffee"} {
		nonce := binary.BigEndian.AppendUint64(nil, uint64(number))
		sender.Reset()
		io.WriteString(sender, msg)
		tag := sender.Tag(nil, nonce)

		receiver.Reset()
		for part := range strings.SplitAfterSeq(msg, " ") {
			receiver.Write([]byte(part))
		}
		fmt.Println(receiver.Verify(tag, nonce))
	}
	// Output:
	// true
	// true
}

// A program tags a file while it reads it, in parts of any size. With multiples of BlockSize nothing
// is copied.
func ExampleUMAC_Write() {
	file, err := os.CreateTemp("", "")
	if err != nil {
		log.Fatal(err)
	}
	defer os.Remove(file.Name())
	defer file.Close()
	fmt.Fprint(file, strings.Repeat("a line\n", 1000))
	file.Seek(0, io.SeekStart)

	u, err := fastmac.NewUMAC([]byte("0123456789abcdef"), fastmac.UMAC128Size)
	if err != nil {
		log.Fatal(err)
	}
	defer u.Destroy()
	n, err := io.CopyBuffer(u, file, make([]byte, 64*u.BlockSize()))
	fmt.Println(n, err, len(u.Tag(nil, []byte("file 1"))))
	// Output: 7000 <nil> 16
}

// Bind returns an ordinary hash.Hash, for code that knows nothing of nonces.
func ExampleUMAC_Bind() {
	u, err := fastmac.NewUMAC([]byte("abcdefghijklmnop"), fastmac.UMAC64Size)
	if err != nil {
		log.Fatal(err)
	}
	h := u.Bind([]byte("bcdefghi"))
	io.Copy(h, strings.NewReader("aaa"))
	fmt.Printf("%x\n", h.Sum(nil))
	// Output: 44b5cb542f220104
}

// Messages with a common beginning: a clone saves hashing it again.
func ExampleUMAC_Clone() {
	u, err := fastmac.NewUMAC([]byte("abcdefghijklmnop"), fastmac.UMAC64Size)
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

// Before: github.com/fakeboboliu/umac.
//
//	h := umac.New8(key)
//	h.Write(msg)
//	tag := h.Sum(buf) // the nonce is buf[:8]
//
// Here the nonce is the whole slice, so pass exactly 8 bytes.
func Example_fromFakeboboliu() {
	h, err := fastmac.NewUMAC([]byte("abcdefghijklmnop"), fastmac.UMAC64Size)
	if err != nil {
		log.Fatal(err)
	}
	buf := []byte("bcdefghi and what follows")
	h.Write([]byte("aaa"))
	tag := h.Tag(nil, buf[:8])
	fmt.Printf("%x\n", tag)
	// Output: 44b5cb542f220104
}

// Keys and streams print as their names, so logs do not reveal them.
func Example_printing() {
	k, err := fastmac.NewUMACKey([]byte("0123456789abcdef"), fastmac.UMAC96Size)
	if err != nil {
		log.Fatal(err)
	}
	h, err := fastmac.NewHMAC(crypto.SHA256, []byte("key"))
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(k, k.New(), h)
	fmt.Printf("%+v\n", k)
	// Output:
	// fastmac.UMACKey(96-bit tag) fastmac.UMAC(96-bit tag) fastmac.HMAC(SHA-256)
	// fastmac.UMACKey(96-bit tag)
}

func ExampleHardware() {
	log.Print("fastmac on ", fastmac.Hardware())
}

// A program that can choose its MAC uses UMAC only where AES runs on AES instructions.
func ExampleRequireAES() {
	if err := fastmac.RequireAES(); err != nil {
		log.Print(err, "; using HMAC-SHA-256")
	}
}

// WriteParallel hashes a large message on all cores.
func ExampleUMAC_WriteParallel() {
	key, err := fastmac.NewUMACKey([]byte("0123456789abcdef"), fastmac.UMAC128Size)
	if err != nil {
		panic(err)
	}
	defer key.Destroy()
	message := make([]byte, 32<<20)

	u := key.New()
	defer u.Destroy()
	u.WriteParallel(message, 0)
	nonce := []byte("nonce 01") // never used before with this key
	tag := u.Tag(nil, nonce)
	fmt.Println(key.Verify(tag, nonce, message))
	// Output: true
}

// With Sign and VerifySigned a program does not handle nonces.
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

// A program signs a file, and later verifies it before it uses it. It never has the whole file in
// memory.
func ExampleUMAC_Sign() {
	u, err := fastmac.NewUMAC([]byte("0123456789abcdef"), 16)
	if err != nil {
		log.Fatal(err)
	}
	defer u.Destroy()
	file := strings.NewReader("the content of a large file") // or an *os.File
	if _, err := io.Copy(u, file); err != nil {
		log.Fatal(err)
	}
	sig := u.Sign(nil)

	u.Reset()
	file.Seek(0, io.SeekStart)
	if _, err := io.Copy(u, file); err != nil {
		log.Fatal(err)
	}
	fmt.Println(len(sig), u.VerifySigned(sig))
	// Output: 32 true
}

// The goroutines of a server share a key and its nonces. After a restart the server makes
// a new sequence, and needs nothing from before.
func ExampleNonceSequence() {
	k, err := fastmac.NewUMACKey([]byte("0123456789abcdef"), 8)
	if err != nil {
		log.Fatal(err)
	}
	nonces := fastmac.NewNonceSequence(fastmac.UMACMaxNonceSize)
	msg := []byte("a message")
	packet := nonces.Next(nil)
	packet = k.Tag(packet, packet, msg)
	packet = append(packet, msg...)

	nonce, tag, msg := packet[:16], packet[16:24], packet[24:]
	fmt.Println(len(packet), k.Verify(tag, nonce, msg))
	// Output: 33 true
}

// A program receives numbered packets, which the network may delay, repeat or reorder. The number is
// the nonce, so the tag authenticates it too.
func ExampleReplayWindow() {
	k, err := fastmac.NewUMACKey([]byte("0123456789abcdef"), 8)
	if err != nil {
		log.Fatal(err)
	}
	window := fastmac.NewReplayWindow(1024)
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

// A receiver has stored 1000 before it used a message with the number 999, and starts again.
func ExampleNewReplayWindowFrom() {
	window := fastmac.NewReplayWindowFrom(1000, 64)
	for _, counter := range []uint64{999, 990, 1001, 1000, 1000} {
		fmt.Println(counter, window.Accept(counter))
	}
	// Output:
	// 999 false
	// 990 false
	// 1001 true
	// 1000 true
	// 1000 false
}
