// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package hardware

import (
	"encoding/json"
	"reflect"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"testing"

	"example.com/fastmac"
	"example.com/fastmac/aesgcm"
	"example.com/fastmac/cmd/fastmac/internal/terminal"
	"example.com/fastmac/internal/kernel"
)

func TestReport(t *testing.T) {
	r := New()
	want, wantErr := kernel.NewReport(), fastmac.RequireAES()
	got := kernel.Report{
		NH: r.NH, NHLacks: r.NHLacks,
		AES: r.AES, AESLacks: r.AESLacks,
		SHA256: r.SHA256, SHA256Lacks: r.SHA256Lacks,
		SHA512: r.SHA512, SHA512Lacks: r.SHA512Lacks,
		GCM: r.GCM, GCMLacks: r.GCMLacks,
		Wrong: r.Wrong,
	}
	if got != want || r.Required != (wantErr == nil) || (r.Err() == nil) != (wantErr == nil) {
		t.Errorf("%+v, want %+v, %v", r, want, wantErr)
	}
	for _, name := range r.Missing {
		if wantErr == nil || !strings.Contains(wantErr.Error(), name) {
			t.Errorf("missing %q, RequireAES() = %v", r.Missing, wantErr)
		}
	}
	var sizes []Size
	for _, typ := range []reflect.Type{
		reflect.TypeFor[fastmac.UMACKey](), reflect.TypeFor[fastmac.UMAC](),
		reflect.TypeFor[fastmac.HMACKey](),
		reflect.TypeFor[fastmac.GMACKey](), reflect.TypeFor[fastmac.GMAC](), reflect.TypeFor[aesgcm.Key](),
	} {
		sizes = append(sizes, Size{strings.TrimPrefix(typ.String(), "fastmac."), typ.Size()})
	}
	if !slices.Equal(r.Sizes, sizes) {
		t.Errorf("sizes %v, want %v", r.Sizes, sizes)
	}
	if gcmErr := fastmac.RequireGCM(); (r.GCMError == "") != (gcmErr == nil) || gcmErr != nil && r.GCMError != gcmErr.Error() {
		t.Errorf("GCM: %q, want %v", r.GCMError, gcmErr)
	}
	if nothing := want.NHLacks+want.AESLacks+want.SHA256Lacks+want.SHA512Lacks+want.GCMLacks == ""; nothing != (len(r.Gains) == 0) {
		t.Errorf("gains %v of %+v", r.Gains, want)
	}
	if err := r.Err(); err != nil && err.Error() != wantErr.Error() {
		t.Errorf("%v, want %v", err, wantErr)
	}
	if err := r.best(); (err == nil) != (r.BestError == "") || err != nil && err.Error() != r.BestError {
		t.Errorf("best: %q, want %v", r.BestError, err)
	}
}

// TestBest checks which parts do not run on the best implementation.
func TestBest(t *testing.T) {
	for _, tt := range []struct {
		r    Report
		want string // the parts, or "" if all do
	}{
		{Report{NH: "avx512", AES: "aesni", SHA256: "avx512", SHA512: "avx512", GCM: "avx512"}, ""},
		{Report{NH: "generic", SHA256: "stdlib", SHA256Lacks: "assembly for riscv64"}, ""},
		{Report{NH: "generic", NHLacks: "AVX2", SHA256: "avx512lanes", SHA256Lacks: "SHA, AVX512F"}, "NH runs generic (lacks AVX2), SHA-256 runs avx512lanes (lacks SHA, AVX512F)"},
		{Report{NH: "generic", NHLacks: "assembly (tag purego)"}, "NH runs generic (lacks assembly (tag purego))"},
		{Report{SHA512: "stdlib", SHA512Lacks: "validation (FIPS 140 mode)"}, "SHA-512 runs stdlib (lacks validation (FIPS 140 mode))"},
		{Report{AES: "aesni", GCM: "aesni", Wrong: "AES vaes256, GCM avx512, GCM avx2"}, "AES runs aesni (vaes256 computes wrongly), AES-GCM runs aesni (avx512 computes wrongly; avx2 computes wrongly)"},
		{Report{SHA256: "stdlib", SHA256Lacks: "AVX512F", Wrong: "SHA-256 sha"}, "SHA-256 runs stdlib (lacks AVX512F; sha computes wrongly)"},
	} {
		err := tt.r.best()
		if tt.want == "" && err != nil || tt.want != "" && (err == nil || err.Error() != "fastmac: not the best implementation: "+tt.want) {
			t.Errorf("%v, want %q", err, tt.want)
		}
	}
}

// TestText checks the text and the JSON of a report for a machine without AES.
func TestText(t *testing.T) {
	r := &Report{
		CPU:      "A CPU",
		Platform: "plan9/amd64",
		Has:      []string{"AVX", "AVX2"},
		NH:       "avx512",
		AES:      "stdlib", AESLacks: "AES, VAES",
		SHA256: "avx512lanes", SHA256Lacks: "SHA",
		SHA512: "avx2", SHA512Lacks: "AVX512F",
		GCM: "none", GCMLacks: "AES",
		Wrong:   "NH avx2, AES vaes256",
		Missing: []string{"AES"}, Error: "the reason", GCMError: "another reason", BestError: "a third reason",
		Sizes: []Size{{"UMACKey", 12345}, {"HMACKey", 136}},
		Style: terminal.Plain,
	}
	r.Gains = r.gains()
	const text = `CPU       A CPU
platform  plan9/amd64
has       AVX, AVX2
NH        avx512       lacks nothing
AES       stdlib       lacks AES, VAES
SHA-256   avx512lanes  lacks SHA
SHA-512   avx2         lacks AVX512F
AES-GCM   none         lacks AES
wrong     NH avx2, AES vaes256: not used, because they compute wrongly
AES does not run on AES instructions: UMAC is not constant time
GMAC and aesgcm cannot be used
not each part runs on the best implementation for it

missing                     faster with it
AES                         keys and nonces of UMAC, GMAC and AES-GCM
VAES                        keys and nonces of UMAC
SHA                         HMAC-SHA-256
AVX512F                     batches of HMAC-SHA-512

type        bytes
UMACKey     12345
HMACKey       136
`
	if got := r.String(); got != text {
		t.Errorf("%s, want %s", got, text)
	}
	const inJSON = `{"cpu":"A CPU","platform":"plan9/amd64","has":["AVX","AVX2"],"nh":"avx512","aes":"stdlib","aes_lacks":"AES, VAES",` +
		`"sha256":"avx512lanes","sha256_lacks":"SHA","sha512":"avx2","sha512_lacks":"AVX512F","gcm":"none","gcm_lacks":"AES","wrong":"NH avx2, AES vaes256","required_hardware":false,"missing":["AES"],"error":"the reason",` +
		`"gcm_error":"another reason","best_error":"a third reason","gains":[{"missing":"AES","faster":["keys and nonces of UMAC","GMAC and AES-GCM"]},` +
		`{"missing":"VAES","faster":["keys and nonces of UMAC"]},{"missing":"SHA","faster":["HMAC-SHA-256"]},{"missing":"AVX512F","faster":["batches of HMAC-SHA-512"]}],` +
		`"sizes":[{"type":"UMACKey","bytes":12345},{"type":"HMACKey","bytes":136}]}`
	if got, err := json.Marshal(r); err != nil || string(got) != inJSON {
		t.Errorf("%s, %v, want %s", got, err, inJSON)
	}
	for _, tt := range []struct{ require, want string }{
		{"", "the reason"}, {"umac", "the reason"}, {"gcm", "another reason"}, {"gcm umac", "the reason"},
		{"best", "a third reason"}, {"best gcm", "another reason"}, {"best umac gcm", "the reason"},
	} {
		if err := r.Require(strings.Fields(tt.require)); err != nil {
			t.Error(err)
		}
		if err := r.Err(); err == nil || err.Error() != tt.want {
			t.Errorf("required %q: %v, want %q", tt.require, err, tt.want)
		}
	}
	if err := r.Require([]string{"umac", "aes"}); err == nil {
		t.Error("aes can be required")
	}
	r.GCMError = ""
	r.Require([]string{"gcm"})
	if err := r.Err(); err != nil || !strings.Contains(r.String(), "\nGMAC and aesgcm can be used\n") {
		t.Errorf("%v\n%v", err, r)
	}
	r.BestError = ""
	r.Require([]string{"best"})
	if err := r.Err(); err != nil || !strings.Contains(r.String(), "\neach part runs on the best implementation for it\n") {
		t.Errorf("%v\n%v", err, r)
	}
	r.Require(nil)
	r.GCMError, r.BestError = "another reason", "a third reason"
	r.Required = true
	if got := r.String(); !strings.Contains(got, "\nAES runs on AES instructions\n") || r.Err() != nil {
		t.Errorf("%s, %v", got, r.Err())
	}
}

// TestGains checks what a CPU with VAES for 256 bits gains from what it lacks, and one without VAES.
func TestGains(t *testing.T) {
	for _, tt := range []struct {
		aesLacks string
		want     []Gain
	}{
		{"AVX512F", []Gain{{"AVX512F", []string{"UMAC", "hwrand", "batches of HMAC-SHA-256"}}}},
		{"VAES, AVX512F", []Gain{
			{"AVX512F", []string{"UMAC", "new keys and batches of UMAC, and hwrand", "batches of HMAC-SHA-256"}},
			{"VAES", []string{"new keys and batches of UMAC, and hwrand"}},
		}},
	} {
		r := &Report{NHLacks: "AVX512F", AES: "aesni", AESLacks: tt.aesLacks, SHA256: "sha", SHA256Lacks: "AVX512F"}
		if got := r.gains(); !reflect.DeepEqual(got, tt.want) {
			t.Errorf("lacks %s: %v, want %v", tt.aesLacks, got, tt.want)
		}
	}
}

func TestCPUName(t *testing.T) {
	name := cpuName()
	if name == "" || name != tidy(name) || runtime.GOOS == "linux" && runtime.GOARCH == "amd64" && !regexp.MustCompile(`^\S.* \(family \d+, model \d+\)$`).MatchString(name) {
		t.Errorf("%q", name)
	}
	if got := tidy("AMD EPYC  7B13         "); got != "AMD EPYC 7B13" {
		t.Errorf("%q", got)
	}
}
