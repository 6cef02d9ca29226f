// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package fastmac_test

import (
	"crypto/fips140"
	"encoding/binary"
	"errors"
	"fmt"
	"hash"
	"io"
	"maps"
	"math/rand/v2"
	"os"
	"os/exec"
	"runtime"
	"slices"
	"sync"
	"testing"

	"example.com/fastmac"
	"example.com/fastmac/internal/mactest"
	"example.com/fastmac/sshmac"
	"golang.org/x/sys/unix"
)

// These tests check that no secret is left in the memory of a process after Destroy. They
// start processes that make keys, streams and tags, destroy all of them, and then wait
// while their memory is scanned. Control processes destroy nothing, and secrets of all
// kinds must be found in them.

// scanEnv is the environment variable that is set in the scanned processes, to scanDestroy
// or scanControl.
const (
	scanEnv     = "FASTMAC_TEST_SCANNED"
	scanDestroy = "destroy"
	scanControl = "control"
)

// scanSecrets is the input of a process. Each byte is sent xor scanMask.
type scanSecrets struct {
	umacKeys [4][32]byte // one for each tag size, because pads do not depend on the size
	hmacKey  [200]byte
	sshKey   [64]byte
	msg      [5000]byte
	seed     [32]byte // not secret
}

const scanMask = 0xa5

var (
	scanUMACKeySizes = []int{16, 24, 32}
	scanHMACKeySizes = []int{20, 64, 128, 200}
	scanSizes        = []int{0, 1, 20, 64, 200, 1000, 1024, 1500, 5000} // of messages
)

// scanDebug switches off the copies of the Go runtime, which Destroy does not reach: of the
// registers when a signal preempts a goroutine, and of a stack that the garbage collector
// shrinks. TestDestroyScanRuntime reports what these copies leave.
const scanDebug = "GODEBUG=asyncpreemptoff=1,gcshrinkstackoff=1,"

// secretDo calls f. In a build with GOEXPERIMENT=runtimesecret it is secret.Do.
var secretDo = func(f func()) { f() }

// TestDestroyScan checks for several sets of kernels that no secret is found after Destroy.
func TestDestroyScan(t *testing.T) {
	for godebug, kernels := range map[string]string{
		"":                         "", // the best that the machine has
		"cpu.avx512f=off":          "avx2/aesni/avx2",
		"cpu.avx2=off":             "generic/aesni/stdlib",
		"cpu.avx2=off,cpu.aes=off": "generic/stdlib/stdlib",
	} {
		if kernels != "" && (runtime.GOARCH != "amd64" || fastmac.Hardware().NH == "generic" || fastmac.Hardware().AES == "stdlib") {
			continue
		}
		t.Run("kernels="+kernels, func(t *testing.T) {
			env := []string{scanDebug + godebug, "FASTMAC_TEST_KERNELS=" + kernels}
			runs := 2
			if mactest.Long() {
				runs = 100
			}
			for seed := range runs {
				found, _ := scan(t, seed, append(env, scanEnv+"="+scanDestroy))
				for _, kind := range slices.Sorted(maps.Keys(found)) {
					t.Errorf("seed %d: %s found %d times after Destroy", seed, kind, found[kind])
				}
			}
			found, kinds := scan(t, 0, append(env, scanEnv+"="+scanControl))
			for _, kind := range kinds {
				if kind == "pads ahead" && kernels == "generic/stdlib/stdlib" {
					continue // crypto/aes computes no pads ahead
				}
				if found[kind] == 0 {
					t.Errorf("%s not found without Destroy", kind)
				}
			}
			want := 16
			if fastmac.Hardware().AES == "stdlib" {
				want = 13 // the schedules of crypto/aes are unknown, and there are no pads ahead
			}
			if len(kinds) != want {
				t.Errorf("%d kinds of secrets, want %d; kinds %q", len(kinds), want, kinds)
			}
		})
	}
}

// TestDestroyScanRuntime logs which secrets are found after Destroy in processes whose
// runtime copies registers and stacks.
func TestDestroyScanRuntime(t *testing.T) {
	if !mactest.Long() {
		t.Skip("only reports a figure, and only if FASTMAC_TEST_LONG is set")
	}
	const runs = 100
	all, processes := make(map[string]int), 0
	for seed := range runs {
		found, _ := scan(t, seed, []string{scanEnv + "=" + scanDestroy, "FASTMAC_TEST_KERNELS="})
		for kind := range found {
			all[kind]++
		}
		if len(found) > 0 {
			processes++
		}
	}
	t.Logf("secrets found in %d of %d processes; processes by kind %v", processes, runs, all)
}

// scan starts a process. It returns how many pieces of each kind of secret are in the
// memory of that process, and the names of all kinds.
func scan(t *testing.T, seed int, env []string) (found map[string]int, kinds []string) {
	t.Helper()
	if fips140.Enabled() {
		t.Skip("FIPS 140 mode: crypto/hmac keeps copies of the key")
	}
	if mactest.Race {
		t.Skip("the memory of the race detector is too large to be scanned")
	}
	in := new(scanSecrets)
	rand.NewChaCha8([32]byte{byte(seed), byte(seed >> 8), 1}).Read(storage(in))
	secrets, kinds := scanFor(t, in)

	cmd := exec.Command(os.Args[0], "-test.run=^TestHardware$|^TestScanned$")
	cmd.Env = append(os.Environ(), "GOGC=10")
	cmd.Env = append(cmd.Env, env...)
	stdin, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); errors.Is(err, unix.ENOEXEC) {
		t.Skip("needs a CPU of this architecture, not an emulator:", err)
	} else if err != nil {
		t.Fatal(err)
	}
	defer cmd.Wait()
	defer stdin.Close()
	for i := range storage(in) {
		storage(in)[i] ^= scanMask
	}
	if _, err := stdin.Write(storage(in)); err != nil {
		t.Fatal(err)
	}
	line := make([]byte, len(scanReady))
	if n, err := io.ReadFull(stdout, line); err != nil || string(line) != scanReady {
		rest, _ := io.ReadAll(stdout)
		t.Fatalf("the process is not ready: %v: %s%s", err, line[:n], rest)
	}
	found, err = secrets.Scan(cmd.Process.Pid)
	if errors.Is(err, unix.EACCES) || errors.Is(err, unix.EPERM) {
		t.Skip("may not read the memory of a child process:", err)
	}
	if err != nil {
		t.Fatal(err)
	}
	return found, kinds
}

const scanReady = "ready\n"

// scanFor returns the secrets that a process with this input has, and their kinds.
func scanFor(t *testing.T, in *scanSecrets) (*mactest.Secrets, []string) {
	secrets := new(mactest.Secrets)
	kinds := make(map[string]bool)
	add := func(kind string, secret []byte) {
		if secrets.Add(kind, secret) > 0 {
			kinds[kind] = true
		}
	}
	add("message", in.msg[:])
	add("HMAC key", in.hmacKey[:])
	add("SSH key", in.sshKey[:])
	for i, tagSize := range umacTagSizes {
		add("UMAC key", in.umacKeys[i][:])
		for _, size := range scanUMACKeySizes {
			key := in.umacKeys[i][:size]
			u := newUMACKey(t, key, tagSize).New()
			scanUMAC(u, in)
			fastmac.Secrets(u, add)
			fastmac.Secrets(fastmac.NewSetupUMAC(key), add)
		}
	}
	for _, size := range scanHMACKeySizes {
		key := in.hmacKey[:size]
		m := fastmac.NewHMACSHA512(key)
		m.Write(in.msg[:2500])
		fastmac.Secrets(m, add)
		fastmac.Secrets(fastmac.NewSetupHMAC(key), add)
	}
	for _, tagSize := range []int{8, 16} {
		fastmac.Secrets(newUMACKey(t, in.sshKey[:16], tagSize).New(), add)
	}
	fastmac.Secrets(fastmac.NewHMACSHA512(in.sshKey[:]), add)
	return secrets, slices.Sorted(maps.Keys(kinds))
}

// scanUMAC leaves a stream with blocks, groups, part of a group, and pads ahead.
func scanUMAC(u *fastmac.UMAC, in *scanSecrets) {
	var buf [16]byte
	for i := range uint64(20) {
		u.Sum(binary.BigEndian.AppendUint64(buf[:0], i))
	}
	u.Write(in.msg[:2500])
	for i := range uint64(5) {
		u.Sum(binary.BigEndian.AppendUint64(buf[:0], 20+i))
	}
}

// TestScanned is the process that is scanned.
func TestScanned(t *testing.T) {
	mode := os.Getenv(scanEnv)
	if mode == "" {
		t.Skip("runs in the processes of TestDestroyScan")
	}
	in := new(scanSecrets)
	if _, err := io.ReadFull(os.Stdin, storage(in)); err != nil {
		t.Fatal(err)
	}
	for i := range storage(in) {
		storage(in)[i] ^= scanMask
	}
	s := &scanned{in: in, rng: rand.New(rand.NewChaCha8(in.seed))}
	s.use()
	if mode == scanDestroy {
		s.destroy()
		clear(storage(in))
	} else {
		s.setups = []any{fastmac.NewSetupUMAC(in.umacKeys[0][:16]), fastmac.NewSetupHMAC(in.hmacKey[:])}
	}
	fmt.Print(scanReady)
	io.Copy(io.Discard, os.Stdin)
	runtime.KeepAlive(s)
}

type destroyer interface{ Destroy() }

// scanned uses the package in many goroutines, whose stacks grow at different calls.
type scanned struct {
	in     *scanSecrets
	group  sync.WaitGroup
	setups []any

	mu   sync.Mutex
	rng  *rand.Rand
	kept []destroyer
	ssh  []hash.Hash
}

// keep adds d to the values that destroy destroys.
func (s *scanned) keep(d any) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.kept = append(s.kept, d.(destroyer))
}

// destroy destroys everything except the hashes of sshmac. It drops these, as x/crypto
// does, and waits until their finalizers have run.
func (s *scanned) destroy() {
	for _, d := range s.kept {
		s.do(d.Destroy)
	}
	s.group.Wait()
	s.ssh = nil
	for range 2 { // at the second collection all finalizers of the first have run
		collected := make(chan bool)
		runtime.SetFinalizer(new([64]byte), func(*[64]byte) { close(collected) })
		runtime.GC()
		<-collected
	}
}

// do calls f in a new goroutine, at a random depth of its stack.
func (s *scanned) do(f func()) {
	s.mu.Lock()
	depth := s.rng.IntN(120)
	s.mu.Unlock()
	s.group.Go(func() { deep(depth, f) })
}

func deep(n int, f func()) byte {
	var frame [64]byte
	if n == 0 {
		secretDo(f)
		return 0
	}
	return deep(n-1, f) + frame[n%len(frame)]
}

func (s *scanned) use() {
	for range 4 {
		for i, tagSize := range umacTagSizes {
			for _, size := range scanUMACKeySizes {
				key := s.in.umacKeys[i][:size]
				s.do(func() { s.umacInit(key, tagSize) })
				s.do(func() { s.umacKey(key, tagSize) })
				s.do(func() { s.umac(key, tagSize) })
			}
		}
		for _, size := range scanHMACKeySizes {
			key := s.in.hmacKey[:size]
			s.do(func() { s.keep(fastmac.NewHMACSHA512Key(key)) })
			s.do(func() { s.hmacKey(key) })
			s.do(func() { s.hmac(key) })
			s.do(func() { s.hmacBatch(key) })
		}
		for _, m := range sshmac.Modes() {
			s.do(func() { s.sshMAC(m) })
		}
		runtime.GC()
	}
	s.group.Wait()
}

var scanNonce = []byte("nonce of 16 byte")

// umacInit sets up a key, and computes a tag in another goroutine.
func (s *scanned) umacInit(key []byte, tagSize int) {
	k := new(fastmac.UMACKey)
	for range 2 {
		must(k.Init(key, tagSize))
	}
	s.keep(k)
	s.do(func() { k.Tag(nil, scanNonce, s.in.msg[:1500]) })
}

func (s *scanned) umacKey(key []byte, tagSize int) {
	k, err := fastmac.NewUMACKey(key, tagSize)
	must(err)
	s.keep(k)
	for _, size := range scanSizes {
		msg := s.in.msg[:size]
		mustBe(k.Verify(k.Tag(nil, scanNonce, msg), scanNonce, msg))
		mustBe(k.VerifySigned(k.Sign(nil, msg), msg))
	}
}

func (s *scanned) umac(key []byte, tagSize int) {
	newUMAC := map[int]func([]byte) (*fastmac.UMAC, error){
		4: fastmac.NewUMAC32, 8: fastmac.NewUMAC64, 12: fastmac.NewUMAC96, 16: fastmac.NewUMAC128,
	}[tagSize]
	u, err := newUMAC(key)
	must(err)
	s.keep(u)
	for _, size := range scanSizes {
		u.Reset()
		u.Write(s.in.msg[:size/3])
		u.Write(s.in.msg[size/3 : size])
		mustBe(u.Verify(u.AppendTag(nil, scanNonce), scanNonce))
	}
	u.Reset()
	scanUMAC(u, s.in)
	c, err := u.Clone()
	must(err)
	s.keep(c)
	b, err := u.Bind(scanNonce)
	must(err)
	s.keep(b)
	b.Write(s.in.msg[:77])
	b.Sum(nil)
}

func (s *scanned) hmacKey(key []byte) {
	k := fastmac.NewHMACSHA512Key(key)
	s.keep(k)
	for _, size := range scanSizes {
		msg := s.in.msg[:size]
		tag := k.Tag(nil, msg)
		mustBe(k.Verify(tag, msg) && fastmac.SumHMACSHA512(key, msg) == [64]byte(tag))
	}
}

func (s *scanned) hmac(key []byte) {
	m := fastmac.NewHMACSHA512(key)
	s.keep(m)
	for _, size := range scanSizes {
		m.Reset()
		m.Write(s.in.msg[:size/3])
		m.Write(s.in.msg[size/3 : size])
		mustBe(m.Verify(m.Sum(nil)))
	}
	m.Reset()
	m.Write(s.in.msg[:2500])
	c, err := m.Clone()
	must(err)
	s.keep(c)
}

func (s *scanned) hmacBatch(key []byte) {
	k := fastmac.NewHMACSHA512Key(key)
	s.keep(k)
	for _, n := range []int{1, 3, 5, 8, 17} {
		var msgs, keys [][]byte
		for i := range n {
			msgs = append(msgs, s.in.msg[:scanSizes[i%len(scanSizes)]])
			keys = append(keys, key)
		}
		tags, ok := make([][64]byte, n), make([]bool, n)
		k.TagBatch(tags, msgs)
		mustBe(k.VerifyBatch(ok, tags, msgs))
		fastmac.SumHMACSHA512Batch(tags, keys, msgs)
		mustBe(k.VerifyBatch(ok, tags, msgs))
	}
}

func (s *scanned) sshMAC(m sshmac.Mode) {
	h := m.New(s.in.sshKey[:m.KeySize])
	s.mu.Lock()
	s.ssh = append(s.ssh, h)
	s.mu.Unlock()
	for i, size := range scanSizes {
		h.Reset()
		h.Write(binary.BigEndian.AppendUint32(nil, uint32(i)))
		h.Write(s.in.msg[:size])
		h.Sum(nil)
	}
	h.Reset()
	h.Write(s.in.msg[:100])
}

func must(err error) {
	if err != nil {
		panic(err)
	}
}

func mustBe(ok bool) {
	if !ok {
		panic("wrong tag")
	}
}
