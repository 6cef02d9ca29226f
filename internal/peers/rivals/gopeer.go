// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package rivals

import (
	"bytes"
	"encoding/binary"
	"hash"
	"maps"
	"runtime"
	"runtime/debug"
	"strings"
	"sync"

	"github.com/dchest/siphash"
	"github.com/minio/highwayhash"
	"github.com/zeebo/blake3"
	"golang.org/x/crypto/poly1305" //lint:ignore SA1019 measured, not used

	"example.com/fastmac"
	"example.com/fastmac/internal/peers/serve"
)

// GoOps returns the ops of this program as a peer: fastmac's, and those of rivals
// written in Go. Their names are those of contenders.
func GoOps() map[string]serve.Op {
	streams := newStreams()
	inPlace := new(fastmac.UMACKey)
	ops := map[string]serve.Op{
		"fastmac:umac64:init": keySetup(func() *fastmac.UMACKey {
			return must(inPlace, inPlace.Init(serve.Key[:16], 8))
		}, umacTag),
		"fastmac:umac64:inturn":   streams.umac(false),
		"fastmac:umac64:shuffled": streams.umac(true),
		"fastmac:umac64:onecore":  umacCores(1),
		"fastmac:umac64:allcores": umacCores(runtime.GOMAXPROCS(0)),

		"x/crypto:poly1305:oneshot":    poly1305Tag,
		"zeebo:blake3:stream":          hashStream(newBLAKE3()),
		"zeebo:blake3:new":             keySetup(newBLAKE3, hashTag),
		"minio:highwayhash128:oneshot": highwayhash128,
		"minio:highwayhash256:oneshot": highwayhash256,
		"dchest:siphash:oneshot":       siphash64,
	}
	for name, size := range map[string]int{"umac32": 4, "umac64": 8, "umac96": 12, "umac128": 16} {
		k := newUMACKey(size)
		ops["fastmac:"+name+":stream"] = umacStream(k)
		ops["fastmac:"+name+":oneshot"] = umacOneShot(k)
		ops["fastmac:"+name+":new"] = keySetup(func() *fastmac.UMACKey { return newUMACKey(size) }, umacTag)
	}
	maps.Copy(ops, gcmOps(streams))
	maps.Copy(ops, hmacOps())
	maps.Copy(ops, sshOps("ssh", serve.SSH))
	return ops
}

// GoVersions returns the versions of the modules that GoOps measures.
func GoVersions() map[string]string {
	versions := make(map[string]string)
	if info, ok := debug.ReadBuildInfo(); ok {
		for _, m := range info.Deps {
			switch name := strings.TrimPrefix(m.Path, "github.com/"); name {
			case "zeebo/blake3", "minio/highwayhash", "dchest/siphash", "golang.org/x/crypto":
				versions[name] = m.Version
			}
		}
	}
	return versions
}

// must is for keys, whose sizes are known to be right.
func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}

func newUMACKey(tagSize int) *fastmac.UMACKey {
	return must(fastmac.NewUMACKey(serve.Key[:16], tagSize))
}

func umacStream(k *fastmac.UMACKey) serve.Op {
	u := k.New()
	return func(msg []byte, n int) []byte {
		nonce, tag := make([]byte, 8), make([]byte, 0, 16)
		for c := serve.FirstNonce(n); c <= serve.LastNonce; c++ {
			binary.BigEndian.PutUint64(nonce, c)
			u.Reset()
			u.Write(msg)
			tag = u.Tag(tag[:0], nonce)
		}
		return tag
	}
}

func umacOneShot(k *fastmac.UMACKey) serve.Op {
	return func(msg []byte, n int) []byte {
		nonce, tag := make([]byte, 8), make([]byte, 0, 16)
		for c := serve.FirstNonce(n); c <= serve.LastNonce; c++ {
			binary.BigEndian.PutUint64(nonce, c)
			tag = k.Tag(tag[:0], nonce, msg)
		}
		return tag
	}
}

// keySetup sets up the key n times. The one tag at the end shows that the key is
// right; its time is negligible.
func keySetup[T any](set func() T, tag func(T, []byte) []byte) serve.Op {
	return func(msg []byte, n int) []byte {
		var keyed T
		for range n {
			keyed = set()
		}
		return tag(keyed, msg)
	}
}

func umacTag(k *fastmac.UMACKey, msg []byte) []byte { return umacOneShot(k)(msg, 1) }

func hashTag(h hash.Hash, msg []byte) []byte {
	h.Write(msg)
	return h.Sum(nil)
}

// umacCores divides the messages among goroutines, which have a stream each of one
// key.
func umacCores(cores int) serve.Op {
	k := newUMACKey(8)
	streams := make([]serve.Op, cores)
	for i := range streams {
		streams[i] = umacStream(k)
	}
	return func(msg []byte, n int) []byte {
		tags := make([][]byte, cores)
		var wg sync.WaitGroup
		for i := range tags {
			wg.Go(func() { tags[i] = streams[i](msg, (n+i)/cores) })
		}
		wg.Wait()
		last := tags[cores-1] // never without messages
		for _, tag := range tags {
			if len(tag) > 0 && !bytes.Equal(tag, last) {
				return tag
			}
		}
		return last
	}
}

func hashStream(h hash.Hash) serve.Op {
	return func(msg []byte, n int) []byte {
		tag := make([]byte, 0, h.Size())
		for range n {
			h.Reset()
			h.Write(msg)
			tag = h.Sum(tag[:0])
		}
		return tag
	}
}

func newBLAKE3() hash.Hash { return must(blake3.NewKeyed(serve.Key[:32])) }

func poly1305Tag(msg []byte, n int) []byte {
	var tag [16]byte
	k := (*[32]byte)(serve.Key[:])
	for range n {
		poly1305.Sum(&tag, msg, k)
	}
	return tag[:]
}

func highwayhash128(msg []byte, n int) []byte {
	var tag [highwayhash.Size128]byte
	for range n {
		tag = highwayhash.Sum128(msg, serve.Key[:32])
	}
	return tag[:]
}

func highwayhash256(msg []byte, n int) []byte {
	var tag [highwayhash.Size]byte
	for range n {
		tag = highwayhash.Sum(msg, serve.Key[:32])
	}
	return tag[:]
}

func siphash64(msg []byte, n int) []byte {
	k0, k1 := binary.LittleEndian.Uint64(serve.Key[:]), binary.LittleEndian.Uint64(serve.Key[8:])
	var tag uint64
	for range n {
		tag = siphash.Hash(k0, k1, msg)
	}
	return binary.LittleEndian.AppendUint64(nil, tag)
}
