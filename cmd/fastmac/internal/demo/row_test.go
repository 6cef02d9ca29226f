// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package demo

import (
	"context"
	"net"
	"testing"
	"time"
)

// TestRowNegotiated has one side report other algorithms than the row asks for.
func TestRowNegotiated(t *testing.T) {
	want := algorithms{testCipher, macNames[0]}
	r := &row{MAC: macNames[0]}
	for _, n := range []*negotiated{
		nil,
		{},
		{want, algorithms{}},
		{algorithms{testCipher, macNames[1]}, want},
		{want, algorithms{"aes256-ctr", macNames[0]}},
		{algorithms{"aes128-gcm@openssh.com", ""}, algorithms{"aes128-gcm@openssh.com", ""}},
	} {
		if err := r.checkNegotiated("client", n); err == nil {
			t.Errorf("%v is accepted", n)
		}
	}
	if err := r.checkNegotiated("client", &negotiated{want, want}); err != nil {
		t.Error(err)
	}

	s := newServer(t)
	honest := (&goClient{s.listener.Addr().String(), s.ids, new(net.Dialer).DialContext}).client()
	liar := *honest
	liar.run = func(ctx context.Context, mac string, size int64, moved func(int)) (clientResult, error) {
		result, err := honest.run(ctx, mac, size, moved)
		result.negotiated.ServerToClient.MAC = "hmac-sha1"
		return result, err
	}
	got := runRow(t.Context(), s, &liar, macNames[0], 1000, time.Minute, func(int) {})
	const reason = "the client reports aes128-ctr umac-64@openssh.com up and aes128-ctr hmac-sha1 down, not aes128-ctr umac-64@openssh.com"
	if got.Result != resultFailed || got.Error != reason {
		t.Errorf("%s %q", got.Result, got.Error)
	}
}
