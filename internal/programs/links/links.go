// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

// Package links signs links that end at a time.
package links

import (
	"encoding/base64"
	"encoding/binary"
	"maps"
	"net/url"
	"strconv"
	"strings"
	"time"

	"example.com/fastmac"
)

// message puts the length of each field before it: "ab" and "c" are not "a" and "bc". The purpose, here
// "link", tells its tags from those of other uses of the key.
func message(fields ...string) (msg []byte) {
	for _, field := range fields {
		msg = binary.AppendUvarint(msg, uint64(len(field)))
		msg = append(msg, field...)
	}
	return msg
}

// Sign returns a link to a path, which is escaped as in a request, with a time and parameters, of which none is
// called tag.
func Sign(k *fastmac.HMACKey, path string, parameters url.Values, until time.Time) string {
	all := url.Values{}
	maps.Copy(all, parameters)
	all.Set("until", strconv.FormatInt(until.Unix(), 10))
	query := all.Encode()
	tag := k.Tag(nil, message("link", path, query))
	return path + "?" + query + "&tag=" + base64.RawURLEncoding.EncodeToString(tag)
}

// Verify reports whether u, the URL of a request, is a link of Sign whose time is not over. It takes the path as
// it was sent: decoded, /files/a/b and /files/a%2Fb are the same, and http.ServeMux may have a handler for each.
func Verify(k *fastmac.HMACKey, u *url.URL, now time.Time) bool {
	query, text, _ := strings.Cut(u.RawQuery, "&tag=")
	tag, err := base64.RawURLEncoding.DecodeString(text)
	if err != nil || !k.Verify(tag, message("link", u.EscapedPath(), query)) {
		return false
	}
	until, err := strconv.ParseInt(u.Query().Get("until"), 10, 64)
	return err == nil && now.Unix() < until
}
