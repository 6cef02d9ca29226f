// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package docs

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// A listed phrase of a document has figures that results give: the numbers in it, in their order.
type listed struct {
	document, phrase string
	values           []float64
}

// times are the results, by machine and "group contender size".
type times map[string]map[string]float64

func readTimes(t *testing.T) times {
	files, err := filepath.Glob("internal/peers/results/*.json")
	if err != nil || len(files) == 0 {
		t.Fatalf("%d results, error %v", len(files), err)
	}
	of := make(times)
	for _, file := range files {
		var results struct {
			Rows []struct {
				Group, Impl, Alg, Mode string
				Size                   int
				NS                     float64
			}
		}
		if err := json.Unmarshal([]byte(readText(t, file)), &results); err != nil {
			t.Fatal(err)
		}
		machine := make(map[string]float64)
		for _, r := range results.Rows {
			machine[fmt.Sprintf("%s %s:%s:%s %d", r.Group, r.Impl, r.Alg, r.Mode, r.Size)] = r.NS
		}
		of[strings.TrimSuffix(filepath.Base(file), ".json")] = machine
	}
	return of
}

// share returns the least and the largest quotient of the times of two contenders, in percent,
// over machines and sizes. Each is "group contender". Without machines it is all of them.
func (of times) share(a, b string, sizes []int, machines ...string) (least, largest float64) {
	least = math.Inf(1)
	for name, row := range of {
		for _, size := range sizes {
			x, y := row[fmt.Sprintf("%s %d", a, size)], row[fmt.Sprintf("%s %d", b, size)]
			if x > 0 && y > 0 && (len(machines) == 0 || slices.Contains(machines, name)) {
				least, largest = min(least, 100*x/y), max(largest, 100*x/y)
			}
		}
	}
	return least, largest
}

// phrases are those of documents that results files give. A phrase has no code, and is in its
// document once.
func phrases(t *testing.T, of times) []listed {
	t.Helper()
	const (
		umac64, umac128 = "message fastmac:umac64:oneshot", "message fastmac:umac128:oneshot"
		gmac, theirGMAC = "message fastmac:gmac:oneshot", "message crypto/cipher:gmac:stream"
		hmac, theirHMAC = "message fastmac:hmac-sha512:oneshot", "message crypto/hmac:hmac-sha512:stream"
		sha256          = "message crypto/hmac:hmac-sha256:stream"
		single, batches = "hmac fastmac:hmac-sha512:oneshot", "hmac fastmac:hmac-sha512:batch"
		hmac256         = "message fastmac:hmac-sha256:oneshot"
		stream256       = "message fastmac:hmac-sha256:stream"
		single256       = "hmac fastmac:hmac-sha256:oneshot"
		batches256      = "hmac fastmac:hmac-sha256:batch"
		theirs256       = "hmac crypto/hmac:hmac-sha256:stream"
		reading, read   = "read reading:memory:loop", "read fastmac:umac64:stream"
		speed, mib      = "docs/speed.md", 1 << 20
	)
	hmacSizes := []int{16, 28, 32, 1024, 1500, 16384}
	large, batched := []int{1024, 1500, 4096, 16384, mib}, []int{32, 1024, 1500, 16384}
	sizes := append([]int{16, 32, 64, 256}, large...)
	wide, narrow := []string{"amd-zen5", "amd-zen4", "intel-xeon207", "intel-xeon207-16", "intel-amx"}, []string{"amd-zen5-avx2", "intel-xeon207-avx2", "amd-zen3"}
	noSHA := []string{"amd-zen5-nosha", "amd-zen5-nosha-avx2"}
	withSHA := slices.Concat(wide, narrow)
	const hmacOnly = "intel-xeon207-16-avx2"
	shaWide := []string{"amd-zen5", "amd-zen4", "intel-xeon207-16", "intel-amx"} // with kernels of SHA-256
	sha := append(slices.Clone(shaWide), hmacOnly)
	if got, want := slices.Sorted(maps.Keys(of)), slices.Sorted(slices.Values(append(slices.Concat(withSHA, noSHA), hmacOnly))); !slices.Equal(got, want) {
		t.Fatalf("the results are of %q, and phrases know %q", got, want)
	}
	all := func(least, largest float64) []float64 { return []float64{least, largest} }
	most := func(_, largest float64) []float64 { return []float64{math.Ceil(largest)} }
	one := func(_, only float64) []float64 { return []float64{only} }
	ns := func(machine, contender string) []float64 { return []float64{of[machine][contender]} }
	return []listed{
		{"README.md", "tags 1 KiB in 54 ns", ns("amd-zen3", umac64+" 1024")},
		{"README.md", "with SHA-256 takes 841 ns", ns("amd-zen3", sha256+" 1024")},
		{"docs/passwords.md", "take 44 ms instead of 96 ms", []float64{ // results are of 1,000 iterations
			600e-6 * of["amd-zen4"]["pbkdf2 fastmac:pbkdf2-sha256:derive 16"], 600e-6 * of["amd-zen4"]["pbkdf2 crypto/pbkdf2:pbkdf2-sha256:derive 16"]}},
		{speed, "takes 41 to 51 % of the time there", all(of.share("hmac-sum fastmac:hmac-sha256:sumstream", "hmac-sum crypto/hmac:hmac-sha256:sum", []int{28}, sha...))},
		{speed, "PBKDF2 takes 45 to 49 %", all(of.share("pbkdf2 fastmac:pbkdf2-sha256:derive", "pbkdf2 crypto/pbkdf2:pbkdf2-sha256:derive", []int{16}, sha...))},
		{speed, "one UMAC-64 tag takes at most 16 %", most(of.share(umac64, sha256, sizes))},
		{speed, "From a kilobyte on it takes at most 8 %", most(of.share(umac64, sha256, large))},
		{speed, "UMAC-128 takes at most 17 %, and from a kilobyte on 12 %",
			append(most(of.share(umac128, sha256, sizes)), most(of.share(umac128, sha256, large))...)},
		{speed, "takes 24 to 74 %", all(of.share(gmac, theirGMAC, sizes))},
		{speed, "takes 67 to 92 %", all(of.share(hmac, theirHMAC, sizes))},
		{speed, "takes 44 to 92 %", all(of.share(hmac256, sha256, sizes[:6], sha...))},
		{speed, "1,500 bytes, and 95 to 101 % for more", all(of.share(hmac256, sha256, sizes[6:], sha...))},
		{speed, "In batches of 64 it takes 21 to 52 % with AVX-512, and 43 to 77 % without",
			append(all(of.share(batches256, theirs256, hmacSizes, shaWide...)), all(of.share(batches256, theirs256, hmacSizes, hmacOnly))...)},
		{speed, "a batch then takes 75 to 84 %", all(of.share(batches256, single256, batched, hmacOnly))},
		{speed, "Batches take 9 to 12 % with AVX-512, and 28 to 31 % with AVX2",
			append(all(of.share(batches256, theirs256, hmacSizes, noSHA[0])), all(of.share(batches256, theirs256, hmacSizes, noSHA[1]))...)},
		{speed, "HMAC-SHA-256 takes 28 to 75 %", all(of.share(batches256, single256, batched, shaWide...))},
		{speed, "takes 35 % with SHA-256 and 47 % with SHA-512", append(
			one(of.share("hkdf fastmac:hkdf-sha256:derive", "hkdf crypto/hkdf:hkdf-sha256:derive", []int{16}, "amd-zen5")),
			one(of.share("hkdf fastmac:hkdf-sha512:derive", "hkdf crypto/hkdf:hkdf-sha512:derive", []int{16}, "amd-zen5"))...)},
		{speed, "HMAC-SHA-512 takes 138 to 248 %", all(of.share(hmac, sha256, sizes, withSHA...))},
		{speed, "takes 22 to 34 % of the time of single calls with AVX-512, and 57 to 73 %",
			append(all(of.share(batches, single, batched, wide...)), all(of.share(batches, single, batched, narrow...))...)},
		{speed, "reaches 66 % of the speed of reading alone on Zen 5, and 70 % on Zen 3",
			append(one(of.share(reading, read, []int{64 * mib}, "amd-zen5")), one(of.share(reading, read, []int{64 * mib}, "amd-zen3"))...)},
	}
}

const number = `\d+(?:,\d{3})*(?:\.\d+)?`

var (
	numbers = regexp.MustCompile(number)

	// figures are numbers with a unit: one, a list or a range.
	figures = regexp.MustCompile(`(?m)(?:^|[^-^.\w])((?:` + number + `(?:, | to | and | or |–|; ))*` + number +
		` ?(?:%|(?:ns|µs|ms|s|[GM]B/s|CPU seconds|seconds|times|of the time|instructions|cycles)\b))`)

	// notProse are tables that are made, and code. Its place is kept.
	notProse = regexp.MustCompile("(?ms)<!-- table: .*?<!-- end -->|^```.*?^```|^(?:    |\t)[^\n]*|`[^`\n]+`")

	anchor = regexp.MustCompile(`\]\(#([\w-]+)\)`)

	// A section with these, or one that links to it, says how its figures are measured.
	ofCPU     = regexp.MustCompile(`Zen \d|Xeon|qemu|simavr`)
	ofGo      = regexp.MustCompile(`Go 1\.\d+`)
	ofCommand = regexp.MustCompile("(?m)(?:^    |`)(?:[A-Z0-9_]+=\\S+ )*(?:go|fastmac|bash|ssh) ")
)

// checkFigures returns what is wrong with the figures of a document, and all of them.
func checkFigures(document, text string, phrases []listed) (wrong, found []string) {
	blank := func(s string) string { return strings.Repeat(" ", len(s)) }
	prose := notProse.ReplaceAllStringFunc(text, blank)
	for _, p := range phrases {
		if p.document != document {
			continue
		}
		if n := strings.Count(prose, p.phrase); n != 1 {
			wrong = append(wrong, fmt.Sprintf("%s has the phrase %q %d times, want once", document, p.phrase, n))
		}
		var printed, want []string
		for _, figure := range figures.FindAllStringSubmatch(p.phrase, -1) {
			found = append(found, figure[1])
			printed = append(printed, numbers.FindAllString(strings.ReplaceAll(figure[1], ",", ""), -1)...)
		}
		for i, v := range p.values {
			_, decimals, _ := strings.Cut(printed[min(i, len(printed)-1)], ".")
			want = append(want, strconv.FormatFloat(v, 'f', len(decimals), 64))
		}
		if !slices.Equal(printed, want) {
			wrong = append(wrong, fmt.Sprintf("%s: %q: results say %s", document, p.phrase, strings.Join(want, ", ")))
		}
		prose = strings.ReplaceAll(prose, p.phrase, blank(p.phrase))
	}
	measured := make(map[string]bool) // by the names that links have
	has := func(s string) bool { return ofCPU.MatchString(s) && ofGo.MatchString(s) && ofCommand.MatchString(s) }
	starts := append(heading.FindAllStringIndex(prose, -1), []int{len(text), len(text)})
	for i := range starts[1:] {
		for name := range anchors(text[starts[i][0]:starts[i][1]]) {
			measured[name] = has(text[starts[i][0]:starts[i+1][0]])
		}
	}
	for i := range starts[1:] {
		section := text[starts[i][0]:starts[i+1][0]]
		ok := has(section)
		for _, link := range anchor.FindAllStringSubmatch(section, -1) {
			ok = ok || measured[link[1]]
		}
		for _, figure := range figures.FindAllStringSubmatch(prose[starts[i][0]:starts[i+1][0]], -1) {
			if found = append(found, figure[1]); !ok {
				wrong = append(wrong, fmt.Sprintf("%s, %.40q: %q is neither of results nor in a section with a CPU, a Go version and a command, or a link to one", document, section, figure[1]))
			}
		}
	}
	return wrong, found
}

// TestFigures checks that each number with a unit in README.md, CHANGELOG.md and the pages of docs
// comes from a results file, or is in a section that says how to measure it, and that none is in two
// of them.
func TestFigures(t *testing.T) {
	pages, err := filepath.Glob("docs/*.md")
	if err != nil {
		t.Fatal(err)
	}
	all := phrases(t, readTimes(t))
	in := make(map[string]string)
	for _, document := range append(pages, "README.md", "CHANGELOG.md") {
		document = filepath.ToSlash(document)
		wrong, found := checkFigures(document, readText(t, document), all)
		for _, w := range wrong {
			t.Error(w)
		}
		for _, figure := range found {
			if other := cmp.Or(in[figure], document); other != document {
				t.Errorf("%q is in %s and in %s", figure, other, document)
			}
			in[figure] = document
		}
	}
	t.Logf("%d figures", len(in))
}

// TestMACs checks the times in the table of docs/choosing.md.
func TestMACs(t *testing.T) {
	of := readTimes(t)
	page := readText(t, "docs/choosing.md")
	for name, contender := range map[string]string{
		"UMAC-64": "fastmac:umac64:oneshot", "UMAC-128": "fastmac:umac128:oneshot", "GMAC": "fastmac:gmac:oneshot",
		"HMAC-SHA-256": "fastmac:hmac-sha256:oneshot", "HMAC-SHA-512": "fastmac:hmac-sha512:oneshot",
		"*BLAKE3, keyed*": "zeebo:blake3:stream", "*Poly1305*": "x/crypto:poly1305:oneshot",
		"*SipHash-2-4*": "dchest:siphash:oneshot", "*KMAC256*": "OpenSSL:kmac256:stream",
	} {
		want := ""
		for i, size := range []int{32, 16384} {
			key, unit := fmt.Sprintf("message %s %d", contender, size), []float64{1, 1000}[i] // ns and µs
			want += fmt.Sprintf(" | %.3g", of["amd-zen5"][key]/unit)
			if without := of["amd-zen5-nosha"][key]; without > 0 {
				want += fmt.Sprintf(" (%.3g)", without/unit)
			}
		}
		want += " |"
		_, row, _ := strings.Cut(page, "\n| "+name+" | ")
		row, _, _ = strings.Cut(row, "\n")
		if !strings.HasSuffix(row, want) {
			t.Errorf("docs/choosing.md, %s: %q, want%s", name, row, want)
		}
	}
}

// TestFiguresRefused checks what checkFigures refuses.
func TestFiguresRefused(t *testing.T) {
	phrases := []listed{{"a.md", "takes 16 to 17.5 % of", []float64{15.6, 17.46}}}
	const good = "# A\n\nIt takes 16 to 17.5 % of it, see `12 ns`.\n\n## B\n\n<!-- table: x -->\n5 ns\n<!-- end -->\n" +
		"In 5 ns and 1,000 to 2,000 cycles on Zen 4, Go 1.26.8, `go test .`: UMAC-64 times, SHA512 instructions.\n\n    9 ns\n"
	if wrong, found := checkFigures("a.md", good, phrases); len(wrong) > 0 || !slices.Equal(found, []string{"16 to 17.5 %", "5 ns", "1,000 to 2,000 cycles"}) {
		t.Errorf("wrong %q, found %q", wrong, found)
	}
	for old, changed := range map[string]string{
		"16 to 17.5": "16 to 17.4", "takes 16": "takes 15", "it, see": "it in 3 µs, see", "Zen 4": "a CPU", "1.26.8": "1", "`go test .`": "test",
		"`12 ns`": "12 ns", "## B": "## B\n\n0.6 of the time, see [C](#d)\n\n## C",
	} {
		if wrong, _ := checkFigures("a.md", strings.Replace(good, old, changed, 1), phrases); len(wrong) == 0 {
			t.Errorf("%q for %q is not refused", changed, old)
		}
	}
}
