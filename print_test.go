// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package fastmac_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"log/slog"
	"reflect"
	"strings"
	"testing"

	"example.com/fastmac"
)

// TestPrinting looks for anything but the name in what keys and streams print as,
// by pointer and by value, and for the name itself.
func TestPrinting(t *testing.T) {
	key := bytes.Repeat([]byte{0xa7}, 32)
	umacKey := newUMACKey(t, key, 8)
	umac := umacKey.New()
	bound, err := umac.Bind([]byte{0xa7})
	if err != nil {
		t.Fatal(err)
	}
	hmacKey := fastmac.NewHMACSHA512Key(key)
	value := func(p any) any { return reflect.ValueOf(p).Elem().Interface() }
	for want, values := range map[string][]any{
		"fastmac.UMACKey(64-bit tag)":        {umacKey, value(umacKey)},
		"fastmac.UMACKey(no key)":            {new(fastmac.UMACKey)},
		"fastmac.UMAC(64-bit tag)":           {umac, value(umac), bound},
		"fastmac.HMACSHA512Key(512-bit tag)": {hmacKey, value(hmacKey)},
		"fastmac.HMACSHA512(512-bit tag)":    {hmacKey.New()},
	} {
		for _, v := range values {
			for _, verb := range strings.Fields("%v %+v %#v %s %+s %#s %q %x %X %#x %d %o %O %b %c %U %e %E %f %g %G %t %z %20v %-20s") {
				if got := fmt.Sprintf(verb, v); got != want {
					t.Errorf("%s of %T: %q, want %q", verb, v, got, want)
				}
			}
			for what, inner := range map[string]any{"slice": []any{v}, "struct": struct{ V any }{v}, "map": map[string]any{"k": v}} {
				if got := fmt.Sprintf("%+v", inner); !strings.Contains(got, want) || len(got) > len(want)+10 {
					t.Errorf("%%+v of a %s with %T: %q, want %q in it", what, v, got, want)
				}
			}
			if got, err := json.Marshal(v); string(got) != `"`+want+`"` || err != nil {
				t.Errorf("JSON of %T: %s, %v; want %q", v, got, err, want)
			}
			for what, handler := range map[string]func(*bytes.Buffer) slog.Handler{
				"text": func(b *bytes.Buffer) slog.Handler { return slog.NewTextHandler(b, nil) },
				"JSON": func(b *bytes.Buffer) slog.Handler { return slog.NewJSONHandler(b, nil) },
			} {
				var log bytes.Buffer
				slog.New(handler(&log)).Info("m", "v", v)
				if got := log.String(); !strings.Contains(got, want) || len(got) > len(want)+90 {
					t.Errorf("%s log of %T: %q, want %q in it", what, v, got, want)
				}
			}
		}
	}
}
