// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package hardware

import (
	"encoding/json"
	"errors"
	"reflect"
	"slices"
	"strings"
	"testing"

	"example.com/fastmac"
	"example.com/fastmac/aesgcm"
)

func TestReport(t *testing.T) {
	want, wantErr := fastmac.Hardware(), fastmac.RequireHardware()
	r := New()
	got := fastmac.Features{
		NH: r.NH, NHLacks: r.NHLacks,
		AES: r.AES, AESLacks: r.AESLacks,
		SHA512: r.SHA512, SHA512Lacks: r.SHA512Lacks,
		GCM: r.GCM, GCMLacks: r.GCMLacks,
	}
	if got != want || r.Required != (wantErr == nil) || (r.Err() == nil) != (wantErr == nil) {
		t.Errorf("%+v, want %+v, %v", r, want, wantErr)
	}
	var cpu *fastmac.UnsupportedCPUError
	if errors.As(wantErr, &cpu) && !slices.Equal(r.Missing, cpu.Missing) {
		t.Errorf("missing %q, want %q", r.Missing, cpu.Missing)
	}
	var sizes []Size
	for _, typ := range []reflect.Type{
		reflect.TypeFor[fastmac.UMACKey](), reflect.TypeFor[fastmac.UMAC](),
		reflect.TypeFor[fastmac.HMACSHA512Key](), reflect.TypeFor[fastmac.HMACSHA512](),
		reflect.TypeFor[fastmac.GMACKey](), reflect.TypeFor[fastmac.GMAC](), reflect.TypeFor[aesgcm.Key](),
	} {
		sizes = append(sizes, Size{strings.TrimPrefix(typ.String(), "fastmac."), typ.Size()})
	}
	if !slices.Equal(r.Sizes, sizes) {
		t.Errorf("sizes %v, want %v", r.Sizes, sizes)
	}
	if err := r.Err(); err != nil && err.Error() != wantErr.Error() {
		t.Errorf("%v, want %v", err, wantErr)
	}
}

// TestText checks the text and the JSON of a report for a machine without AES.
func TestText(t *testing.T) {
	r := &Report{
		Platform: "plan9/amd64",
		NH:       "avx512",
		AES:      "stdlib", AESLacks: "AES, VAES",
		SHA512: "avx2", SHA512Lacks: "AVX512F",
		GCM: "none", GCMLacks: "AES",
		Missing: []string{"AES"}, Error: "the reason",
		Sizes: []Size{{"UMACKey", 12345}, {"HMACSHA512Key", 136}},
	}
	const text = `platform  plan9/amd64
NH        avx512   lacks nothing
AES       stdlib   lacks AES, VAES
SHA-512   avx2     lacks AVX512F
AES-GCM   none     lacks AES
AES does not run on AES instructions

type           bytes
UMACKey        12345
HMACSHA512Key    136
`
	if got := r.String(); got != text {
		t.Errorf("%s, want %s", got, text)
	}
	const inJSON = `{"platform":"plan9/amd64","nh":"avx512","aes":"stdlib","aes_lacks":"AES, VAES",` +
		`"sha512":"avx2","sha512_lacks":"AVX512F","gcm":"none","gcm_lacks":"AES","required_hardware":false,"missing":["AES"],"error":"the reason",` +
		`"sizes":[{"type":"UMACKey","bytes":12345},{"type":"HMACSHA512Key","bytes":136}]}`
	if got, err := json.Marshal(r); err != nil || string(got) != inJSON {
		t.Errorf("%s, %v, want %s", got, err, inJSON)
	}
	if err := r.Err(); err == nil || err.Error() != "the reason" {
		t.Errorf("error %v", err)
	}
	r.Required = true
	if got := r.String(); !strings.Contains(got, "\nAES runs on AES instructions\n") || r.Err() != nil {
		t.Errorf("%s, %v", got, r.Err())
	}
}
