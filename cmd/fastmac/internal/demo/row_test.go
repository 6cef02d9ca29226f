// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package demo

import (
	"context"
	"net"
	"testing"
	"time"

	"example.com/fastmac/sshmac"
)

// TestRowNegotiated has one side report other algorithms than the row asks for.
func TestRowNegotiated(t *testing.T) {
	chosen := suite{cipher: "aes128-ctr", mac: sshmac.UMAC64}
	want := algorithms{chosen.cipher, chosen.mac}
	r := &row{suite: chosen}
	for _, n := range []*negotiated{
		nil,
		{},
		{want, algorithms{}},
		{algorithms{"aes128-ctr", sshmac.UMAC128}, want},
		{want, algorithms{"aes256-ctr", sshmac.UMAC64}},
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
	liar.run = func(ctx context.Context, j *job, moved func(int)) (clientResult, error) {
		result, err := honest.run(ctx, j, moved)
		result.negotiated.ServerToClient.MAC = "hmac-sha1"
		return result, err
	}
	got := runRow(t.Context(), s, &liar, newJob(chosen, 1000), time.Minute, func(int) {})
	const reason = "the client reports aes128-ctr umac-64 up and aes128-ctr hmac-sha1 down, not aes128-ctr umac-64"
	if got.Result != resultFailed || got.Error != reason {
		t.Errorf("%s %q", got.Result, got.Error)
	}
}
