// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package mactest

import (
	"bytes"
	"encoding/json"
	"fmt"
	"log/slog"
	"reflect"
	"strings"
	"testing"
)

// Printing checks that what p points to prints as its name, want, and nothing else, by
// pointer and by value.
func Printing(t *testing.T, want string, p any) {
	t.Helper()
	for _, v := range []any{p, reflect.ValueOf(p).Elem().Interface()} {
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
		if got, err := json.Marshal(v); string(got) != "{}" || err != nil {
			t.Errorf("JSON of %T: %s, %v; want {}", v, got, err)
		}
		var text, object bytes.Buffer
		slog.New(slog.NewTextHandler(&text, nil)).Info("m", "v", v)
		slog.New(slog.NewJSONHandler(&object, nil)).Info("m", "v", v)
		for want, log := range map[string]string{want: text.String(), `"v":{}`: object.String()} {
			if !strings.Contains(log, want) || len(log) > len(want)+90 {
				t.Errorf("log of %T: %q, want %q in it", v, log, want)
			}
		}
	}
}
