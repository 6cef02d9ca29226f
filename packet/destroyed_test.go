// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package packet

import (
	"bytes"
	"errors"
	"testing"

	"example.com/fastmac/internal/mactest"
)

// TestEndsDestroyed checks that a sender and a receiver are destroyed with what they belong to, without the finalizers
// that destroy those of a session in the end.
func TestEndsDestroyed(t *testing.T) {
	c := Config{Secret: pattern(32), TagSize: 16}
	client, server := mactest.Must(NewUMACClient(c, testClient, testServer)), mactest.Must(NewUMACServer(c, testServer, testClient))
	open := func() *session {
		if !client.Answer(mactest.Must(server.Answer(nil, client.Hello(nil)))) {
			t.Fatal("no session")
		}
		return client.session
	}
	dead := func(what string, sender sealer, receiver opener) {
		t.Helper()
		for name, key := range map[string][]byte{"sender": mactest.Field(sender, "key.uhash.l1"), "receiver": mactest.Field(receiver, "key.uhash.l1")} {
			if !bytes.Equal(key, make([]byte, len(key))) {
				t.Errorf("%s: the %s has a key", what, name)
			}
		}
	}
	session := open()
	packet := mactest.Must(client.Seal([]byte("message"), nil))
	packet[0] ^= 1 // the opening is right, and the server tries the session
	if _, _, err := server.Open(packet, nil); !errors.Is(err, ErrForged) || server.tried == nil {
		t.Fatal(err)
	}
	tried := server.tried
	server.Close()
	dead("a session that did not open", tried.sender, tried.receiver)
	client.Destroy()
	dead("a client", session.sender, session.receiver)

	client = mactest.Must(NewUMACClient(c, testClient, testServer))
	answer := mactest.Must(server.Answer(nil, client.Hello(nil)))
	client.config.Window = -1
	if client.Answer(answer) {
		t.Fatal("a session with a wrong window")
	}
	dead("a client without a receiver", client.session.sender, client.session.receiver)

	var sender *UMACSender
	_, _, err := newPair(Config{Secret: pattern(32), TagSize: 16}, "a", "b", SecretIsNew(), func(c Config, n Counters) (*UMACSender, error) {
		sender = mactest.Must(NewUMACSender(c, n))
		return sender, nil
	}, func(Config, Counters) (*UMACReceiver, error) { return nil, ErrEnd })
	if err == nil {
		t.Fatal("no error of a pair")
	}
	dead("a pair without a receiver", sender, new(UMACReceiver))
}
