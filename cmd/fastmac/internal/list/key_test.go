// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package list

import (
	"encoding/hex"
	"strings"
	"testing"

	"example.com/fastmac"
	"example.com/fastmac/internal/mactest"
)

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
		{hex64[2:62] + "0a", "hmac-sha256", "a key of 31 bytes: want at least 32 for hmac-sha256"},
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
		{"umac128 " + hex16 + " 4714C260A7D846E9", "", ""},
		{"umac128 " + hex16 + " x y", "", "no key: want one line with an algorithm, a key in hex and its identifier, or with a key in hex"},
		{"umac128\n" + hex16, "", "no key: want one line with an algorithm, a key in hex and its identifier, or with a key in hex"},
		{hex16 + "\n" + hex16, "umac64", "no key: want one line with an algorithm, a key in hex and its identifier, or with a key in hex"},
	} {
		k, err := ParseKey([]byte(tt.text), tt.name)
		if tt.want == "" {
			if strings.HasPrefix(tt.text, "gmac") && fastmac.RequireGCM() != nil {
				continue
			}
			if err != nil {
				t.Errorf("%q: %v", tt.text, err)
				continue
			}
			k.Destroy()
			for part, use := range map[string]func(){"the key": func() { k.Stream(nil) }, "the key of lists": func() { k.list.New() }} {
				func() {
					defer func() {
						if recover() == nil {
							t.Errorf("%q: %s lives after Destroy", tt.text, part)
						}
					}()
					use()
				}()
			}
		} else if err == nil || err.Error() != tt.want {
			t.Errorf("%q: %v, want %q", tt.text, err, tt.want)
		}
	}
}

// FuzzKey checks that a key that ParseKey accepts is the one in the text, and that its errors
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
		k, err := ParseKey(text, name)
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
		if err != nil || k.name != name || !allowed || len(fields) == 3 && strings.ToLower(fields[2]) != k.ID {
			t.Fatalf("%q: a key of %d bytes for %s, want %s; %v", text, len(raw), k.name, name, err)
		}
		again, err := newKey(byName(name), raw)
		if err != nil {
			t.Fatalf("%q: %v", text, err)
		}
		defer again.Destroy()
		s, nonce := k.Stream(nil), make([]byte, k.nonce)
		s.Write([]byte("message"))
		other := again.Stream(nil)
		other.Write([]byte("message"))
		if tag := s.mac.Tag(nil, nonce); len(tag) != k.tagSize || !other.Verify(&Line{Nonce: nonce, Tag: tag}) {
			t.Errorf("%q: another key than in the text", text)
		}
	})
}
