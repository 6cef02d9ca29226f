// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

// Command dudect measures whether the time of a call of this module depends on keys, messages or
// tags, with the method of Reparaz, Balasch and Verbauwhede, "Dude, is my code constant time?"
// (2017): it times each call on two classes of inputs, which alternate at random, and compares
// the two distributions of times with Welch's t-test. Run it on an otherwise idle machine:
//
//	go run -C internal/assurance ./timing/dudect
//
// # Why a pass is a pass
//
// Most tests compare one fixed input with random ones. There are also fixed inputs of zeros or
// ones only, tags that are right or wrong in the first byte, and messages that take a rare branch
// of RFC 4418. The test knows nothing about the code. If both classes have the same distribution
// of times, t is about normal with variance 1. If their means differ, |t| grows with the square
// root of the number of samples.
//
// Interrupts add long times, which hide small differences. So t is computed 101 times: for all
// times, and for the fastest 6.7 % to 99.9 % of them (crops 1 to 100; 1-2^(-i/10) of the samples
// of both classes together). A test passes if every |t| is below 4.5. This is stricter than the
// program of the authors, dudect.h, which reports a leak if |t| is above 10.
//
// The largest of 101 values exceeds 4.5 by chance with a probability of at most 7 in 10,000, and
// there are hundreds of tests. A test that exceeds it is therefore repeated in a new process, with
// new inputs and four times as many samples, which doubles the t of a leak. It is a leak if |t| is
// again 4.5 or more in the same crop and with the same class slower, which without a leak has a
// probability of 3 in a million, or if |t| is above 10 in any crop. Both runs are printed.
//
// A fixed input shows only what it happens to differ in. So the times of the second class, which has
// random inputs in most tests, are also compared with each byte of these: the means for its 256
// values, by chi-squared, as a number z that is about normal with variance 1 if they do not depend on
// the byte. A test is repeated too if its largest z is 6 or more, which one of a thousand million bytes
// has by chance, and is a leak if that of the second run is. This takes 60,000 samples or more.
//
// A test without power would pass too. So each process that runs the tests first measures
// controls, which leak on purpose: each must have a |t| above 10. And each line shows the smallest
// difference of the means that would have been seen, which is the one with a |t| of 4.5.
//
// Some tests compare inputs that do not differ. If one of these is reported as a leak, the
// measurement is at fault.
//
// # Differences of less than a cycle
//
// A branch, a load from another level of the caches or an instruction with another latency costs
// whole cycles, 0.25 ns or more each, if it always occurs in one class. Each line has the
// difference of the means in ns; in a crop it is smaller than over all times. On an AMD EPYC
// (Zen 4), tests of HMAC-SHA-512 with AVX-512, and one of UMAC-128 with AVX2, show differences of
// 0.05 to 0.3 ns in 200 to 1,800 ns, with a |t| of up to 55 in a crop and below 2 over all times.
// For some messages they persist in new processes; which tests show them changes with the build.
// The command reports them as leaks if the second run confirms them.
//
// For HMAC-SHA-512 of 16 bytes they depend on where in a cache line the stack lies. Of 18 fixed
// messages, 11 had a |t| above 4.5, up to 21, with 6 million samples. With the stack pointer 16
// bytes lower, at a multiple of 64 in the assembly, none of the 18 did: the largest was 3.5. The
// instructions and the data were the same, whereas an instruction whose time depends on its
// operands should show in both places. Why the data matter is not known. The tests for reference
// are crypto/hmac, the compression alone, and one of these messages with the stack in four places,
// each 16 bytes lower than the last.
//
// On an AMD EPYC (Zen 5) HMAC-SHA-512 of 1,500 zeros takes about 0.1 ns less than that of random
// bytes, of 1,310 to 1,430: in eight processes |t| was 4.2 to 7.8 with 4 million samples. So does
// that of crypto/hmac, of 1,700 ns: 0.08 to 0.15 ns less, with a |t| of 4.5 to 7.9 in five processes.
//
// # Differences that have ended
//
// On the same CPU a stream of UMAC-96 took 1 to 2 ns less, of 205 to 218, for one message of
// poly64-marker, and one of UMAC-128 0.1 ns. It was not the marker: with random bytes in the place
// of all except the second half of the second block there is none, and the difference stayed. So
// the times of 3 million calls were compared with each byte of their random messages. Of some words
// of 32 bits, which nhAddAVX512 and nhNextAVX512 load, bits 1 to 6 mattered, and no others: where
// these bits, as a number, were 32 or 48, a call took 0.5 to 1.5 ns less.
//
// These kernels load the number of bytes before, shift it right by one bit, add the address of the
// key, and load from there. It seems that Zen 5 begins with a guess in the place of this number, as
// AMD's Predictive Store Forwarding does, and that the guess can be a word of the message: shifted,
// its bits 1 to 6 say where in a line of the cache it leads. Whether this happened depended on the
// build, and on the pages of memory that the program was in: of 16 copies of one program, 5 had the
// difference, 1 had a third of it, and 10 had a tenth or none; of another, 10 of 12.
//
// An ANDQ between the shift and the addition ended it: with 60,000 samples, none of 24 copies had a
// difference of 0.5 ns, and with 2 million no byte of the messages mattered in 5. Of 12 copies with
// a NOP there instead, all had it; with a MOVQ, 9; with a LEAQ after the addition, 8. Other
// kernels load, shift and add too, and did not show a difference.
//
// # What it does not show
//
// It sees only differences between the classes that it has, on one machine, in the time of a
// call. What another process could see in the caches is another question. Nonces are the same in
// both classes, because they are public.
//
// # The clock
//
// Times are from time.Since: one clock_gettime, which reads the counter of RDTSC. The first lines
// of the output say how far apart two readings are, which shows the step of the clock. On AMD EPYC
// (Zen 4) the counter itself has steps of 10 ns, so assembly would do no better. A step of 10 ns
// does not hide a difference of 0.1 ns: calls begin at any time within a step, so the mean over
// many calls is exact.
package main

import (
	"bytes"
	"crypto"
	crand "crypto/rand"
	"crypto/sha256"
	"crypto/sha512"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"runtime/debug"
	"slices"
	"strconv"
	"strings"
	"time"

	"example.com/fastmac"
	"example.com/fastmac/internal/assurance/timing/macs"
	"example.com/fastmac/internal/kernel"
	"example.com/fastmac/internal/mactest"
	"example.com/fastmac/packet"
)

// A set is the kernels of some CPU. Each set runs in a process of its own.
type set struct {
	name   string
	off    string // what GODEBUG disables
	lean   bool   // with what CPUs without AVX-VNNI take for SHA-512, and only tests of that
	purego bool   // a build without assembly
}

var sets = []set{
	{name: "best"},
	{name: "lean", lean: true},
	{name: "avx2", off: "cpu.avx512f=off,cpu.sha=off"},
	{name: "generic", off: "cpu.avx2=off"},
	{name: "purego", purego: true},
}

type options struct {
	samples int
	only    *regexp.Regexp
	kernels []string
	out     string

	// For the processes that the command starts.
	child, lean bool
	again       string // the only test to run
}

func parseOptions(args []string, stderr io.Writer) (options, error) {
	o := options{only: regexp.MustCompile("")}
	f := flag.NewFlagSet("dudect", flag.ContinueOnError)
	f.SetOutput(stderr)
	f.IntVar(&o.samples, "samples", 1e6, "`NUMBER` of samples of each test")
	f.Func("only", "run only the controls and the tests whose names match `REGEXP`", func(s string) (err error) {
		o.only, err = regexp.Compile(s)
		return err
	})
	f.Func("kernels", "run only these sets of kernels, of best,lean,avx2,generic,purego (`LIST`)", func(s string) error {
		o.kernels = strings.Split(s, ",")
		for _, name := range o.kernels {
			if !slices.ContainsFunc(sets, func(s set) bool { return s.name == name }) {
				return fmt.Errorf("no set of kernels %q", name)
			}
		}
		return nil
	})
	f.StringVar(&o.out, "o", "", "also write the output to `FILE`")
	f.BoolVar(&o.child, "child", false, "internal: measure in this process and print JSON")
	f.BoolVar(&o.lean, "lean", false, "internal, with -child: see set")
	f.StringVar(&o.again, "again", "", "internal, with -child: run only the test `NAME`")
	if err := f.Parse(args); err != nil {
		return o, err
	}
	if f.NArg() > 0 {
		return o, fmt.Errorf("fastmac: unexpected argument %q", f.Arg(0))
	}
	if o.samples < 4*enough {
		return o, fmt.Errorf("fastmac: %d samples: want at least %d", o.samples, 4*enough)
	}
	return o, nil
}

func main() { os.Exit(run(os.Args[1:], os.Stdout, os.Stderr)) }

// run returns the exit status: 1 if there is a leak, or if a control is not caught.
func run(args []string, stdout, stderr io.Writer) int {
	o, err := parseOptions(args, stderr)
	switch {
	case errors.Is(err, flag.ErrHelp):
		return 0
	case err != nil:
	case o.child:
		err = child(o, stdout)
	default:
		err = parent(o, args, stdout, stderr)
	}
	if err != nil {
		fmt.Fprintln(stderr, err)
		return 1
	}
	return 0
}

// A process is what a child prints before its results.
type process struct {
	Kernels kernel.Report
	Clock   string // see distances
	Missing string // algorithms that are not available
}

// child measures in this process.
func child(o options, stdout io.Writer) error {
	edges, err := readEdges()
	if err != nil {
		return err
	}
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	defer debug.SetGCPercent(debug.SetGCPercent(-1))
	fastmac.Hardware() // chooses all kernels
	if lean := slices.Index(kernel.List(kernel.SHA512), "avx512lean"); o.lean && lean >= 0 {
		kernel.Select(kernel.SHA512, lean)
	}
	p := process{Kernels: kernel.NewReport(), Clock: distances(nanotime)}
	p.Kernels.SHA512 = kernel.Active(kernel.SHA512) // of which a report has no lean one
	if fastmac.RequireGCM() != nil {
		p.Missing = "GMAC, AES-GCM"
	}
	var seed [32]byte
	crand.Read(seed[:])
	m := meter{now: nanotime, rand: rand.NewChaCha8(seed), samples: make([]sample, 0, o.samples)}
	e := json.NewEncoder(stdout)
	if err := e.Encode(p); err != nil {
		return err
	}
	for _, s := range allSubjects(edges) {
		chosen := s.control || o.only.MatchString(s.name) && (!o.lean || ofSHA512.MatchString(s.name))
		if o.again != "" {
			chosen = s.name == o.again
		}
		if !chosen {
			continue
		}
		if err := e.Encode(m.test(&s, o.samples)); err != nil {
			return err
		}
	}
	return nil
}

var ofSHA512 = regexp.MustCompile("^([A-Z0-9]+-)?SHA-(384|512)|^hmac-sha2-512")

func allSubjects(edges []edge) []subject {
	subjects := slices.Concat(controlSubjects(edges), nullSubjects())
	for _, m := range macs.Available() {
		subjects = append(subjects, macSubjects(m)...)
	}
	umacKey := func(key []byte) *fastmac.UMACKey {
		return mactest.Must(fastmac.NewUMACKey(key[:16], fastmac.UMAC64Size))
	}
	hmacKey := func(h crypto.Hash) func(key []byte) *fastmac.HMACKey {
		return func(key []byte) *fastmac.HMACKey { return mactest.Must(fastmac.NewHMACKey(h, key)) }
	}
	subjects = slices.Concat(subjects, edgeSubjects(edges), referenceSubjects(), sshSubjects(),
		manySubjects("UMAC-64", umacKey, fastmac.UMAC64Size, 8),
		manySubjects("HMAC-SHA-256", hmacKey(crypto.SHA256), sha256.Size, 0),
		manySubjects("HMAC-SHA-512", hmacKey(crypto.SHA512), sha512.Size, 0),
		pbkdf2Subjects[uint32]("PBKDF2-SHA-256"),
		pbkdf2Subjects[uint64]("PBKDF2-SHA-512"),
		pbkdf2SHA1Subjects())
	if fastmac.RequireAES() == nil { // or else tables derive the keys
		subjects = slices.Concat(subjects,
			packetSubjects("UMAC-64", fastmac.UMAC64Size, new(packet.UMACSender), new(packet.UMACReceiver)),
			packetSubjects("UMAC-128", fastmac.UMAC128Size, new(packet.UMACSender), new(packet.UMACReceiver)))
	}
	if fastmac.RequireGCM() == nil {
		gmacKey := func(key []byte) *fastmac.GMACKey { return mactest.Must(fastmac.NewGMACKey(key[:16])) }
		subjects = slices.Concat(subjects, sealSubjects(),
			manySubjects("GMAC", gmacKey, fastmac.GMACSize, fastmac.GMACNonceSize),
			packetSubjects("GMAC", fastmac.GMACSize, new(packet.GMACSender), new(packet.GMACReceiver)))
	}
	return subjects
}

// parent starts a process for each set of kernels, and prints their results.
func parent(o options, args []string, stdout, stderr io.Writer) error {
	var printed bytes.Buffer
	p := printer{w: io.MultiWriter(stdout, &printed)}
	begin := time.Now()
	p.header(begin, args)
	for _, s := range sets {
		if len(o.kernels) > 0 && !slices.Contains(o.kernels, s.name) {
			continue
		}
		if err := s.measure(o, &p, stderr); err != nil {
			return fmt.Errorf("fastmac: kernels %s: %w", s.name, err)
		}
	}
	err := p.summary(time.Since(begin))
	if o.out != "" {
		err = errors.Join(err, os.WriteFile(o.out, printed.Bytes(), 0o666))
	}
	return err
}

// measure runs all tests on the kernels of a set, and then repeats those that need it.
func (s *set) measure(o options, p *printer, stderr io.Writer) error {
	program, err := os.Executable()
	if err != nil {
		return err
	}
	if s.purego {
		dir, err := os.MkdirTemp("", "fastmac-dudect-")
		if err != nil {
			return err
		}
		defer os.RemoveAll(dir)
		program = filepath.Join(dir, "dudect.exe")
		build := exec.Command("go", "build", "-tags", "purego", "-o", program, "example.com/fastmac/internal/assurance/timing/dudect")
		if out, err := build.CombinedOutput(); err != nil {
			return fmt.Errorf("%w\n%s", err, out)
		}
	}
	var repeat []result
	first := func(d *json.Decoder) (err error) {
		repeat, err = p.read(s.name, d)
		return err
	}
	err = s.start(program, first, stderr, "-samples", fmt.Sprint(o.samples), "-only", o.only.String())
	if err == errSame {
		return nil
	}
	for _, r := range repeat {
		if err != nil {
			return err
		}
		second := func(d *json.Decoder) error { return p.readAgain(&r, d) }
		err = s.start(program, second, stderr, "-samples", fmt.Sprint(again*o.samples), "-again", r.Test)
	}
	return err
}

// start runs a process on the kernels of a set, and reads what it prints.
func (s *set) start(program string, read func(d *json.Decoder) error, stderr io.Writer, args ...string) error {
	cmd := exec.Command(program, append([]string{"-child", "-lean=" + strconv.FormatBool(s.lean)}, args...)...)
	// What GODEBUG switches off for this process stays off. A goroutine that runs for more than
	// 10 ms is not interrupted by a signal.
	cmd.Env = append(os.Environ(), "GODEBUG="+strings.Join([]string{os.Getenv("GODEBUG"), s.off, "asyncpreemptoff=1"}, ","))
	cmd.Stderr = stderr
	out, err := cmd.StdoutPipe()
	if err != nil {
		return err
	}
	if err := cmd.Start(); err != nil {
		return err
	}
	err = read(json.NewDecoder(out))
	if err != nil {
		cmd.Process.Kill()
	}
	if waited := cmd.Wait(); err == nil {
		err = waited
	}
	return err
}
