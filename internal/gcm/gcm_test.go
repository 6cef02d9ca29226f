package gcm

import (
	"bytes"
	"crypto/aes"
	"crypto/cipher"
	"math/rand/v2"
	"testing"
)

func TestQuick(t *testing.T) {
	rng := rand.NewChaCha8([32]byte{1})
	for _, avx2 := range []int{0, 1, 2} {
		Select([]string{"aesni", "avx2", "avx512"}[avx2])
		for n := range 1500 {
			for _, m := range []int{0, 1, 13, 16, 17, 100, 112, 113, 127, 128, 129, 300, n} {
				key := make([]byte, []int{16, 24, 32}[n%3])
				rng.Read(key)
				b, _ := aes.NewCipher(key)
				g, _ := cipher.NewGCM(b)
				nonce, pt, aad := make([]byte, 12), make([]byte, n), make([]byte, m)
				rng.Read(nonce)
				rng.Read(pt)
				rng.Read(aad)
				want := g.Seal(nil, nonce, pt, aad)
				var k Key
				k.Init(key)
				got := make([]byte, n+16)
				k.Seal(got, nonce, pt, aad)
				if !bytes.Equal(got, want) {
					t.Fatalf("seal avx2 %d, %d, %d\n%x\n%x", avx2, n, m, got, want)
				}
				back := make([]byte, n)
				if !k.Open(back, nonce, got, aad) || !bytes.Equal(back, pt) {
					t.Fatalf("open avx2 %d, %d, %d", avx2, n, m)
				}
				var sum [16]byte
				k.Absorb(&sum, aad[:m&^15])
				var tag [16]byte
				k.Finish(&tag, &sum, nonce, aad[m&^15:], uint64(m))
				if want := g.Seal(nil, nonce, nil, aad); !bytes.Equal(tag[:], want) {
					t.Fatalf("stream avx2 %d, %d\n%x\n%x", avx2, m, tag, want)
				}
			}
		}
	}
}
