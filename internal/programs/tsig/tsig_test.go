// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package tsig

import (
	"bytes"
	"errors"
	"net"
	"testing"
	"time"

	"github.com/miekg/dns"
)

const (
	secret = "c2VjcmV0IG9mIDMyIGJ5dGVzLCBhcyBtYW55IGhhdmU="
	other  = "YW5vdGhlciBzZWNyZXQsIHdoaWNoIGlzIG5vdCB0aGU="
)

// newKeys returns a provider with the key "key.".
func newKeys(tb testing.TB, algorithm, secret string) Keys {
	tb.Helper()
	keys := Keys{}
	if err := keys.Add("key.", algorithm, secret); err != nil {
		tb.Fatal(err)
	}
	return keys
}

// question returns a message that is to be signed.
func question(name, algorithm string) *dns.Msg {
	m := new(dns.Msg).SetQuestion("example.org.", dns.TypeTXT)
	return m.SetTsig(name, algorithm, 300, time.Now().Unix())
}

// TestServer has a server and clients, each with Keys and with the secrets of package dns.
func TestServer(t *testing.T) {
	for _, algorithm := range []string{dns.HmacSHA224, dns.HmacSHA256, dns.HmacSHA384, dns.HmacSHA512} {
		for _, ours := range []bool{false, true} {
			conn, err := net.ListenPacket("udp", "127.0.0.1:0")
			if err != nil {
				t.Fatal(err)
			}
			started := make(chan bool)
			server := &dns.Server{
				PacketConn: conn, NotifyStartedFunc: func() { close(started) },
				Handler: dns.HandlerFunc(func(w dns.ResponseWriter, r *dns.Msg) {
					m := new(dns.Msg).SetReply(r)
					if r.IsTsig() == nil || w.TsigStatus() != nil {
						m.Rcode = dns.RcodeRefused
					} else {
						m.SetTsig("key.", algorithm, 300, time.Now().Unix())
					}
					w.WriteMsg(m)
				}),
			}
			if ours {
				server.TsigProvider = newKeys(t, algorithm, secret)
			} else {
				server.TsigSecret = map[string]string{"key.": secret}
			}
			ended := make(chan error)
			go func() { ended <- server.ActivateAndServe() }()
			<-started
			for name, client := range map[string]*dns.Client{
				"package dns":    {TsigSecret: map[string]string{"key.": secret}},
				"Keys":           {TsigProvider: newKeys(t, algorithm, secret)},
				"another secret": {TsigProvider: newKeys(t, algorithm, other)},
			} {
				reply, _, err := client.Exchange(question("key.", algorithm), conn.LocalAddr().String())
				if err != nil {
					t.Fatalf("%s, %s: %v", algorithm, name, err)
				}
				if refused := reply.Rcode == dns.RcodeRefused; refused != (name == "another secret") || refused == (reply.IsTsig() != nil) {
					t.Errorf("%s, server with Keys: %t, client with %s: %s", algorithm, ours, name, dns.RcodeToString[reply.Rcode])
				}
			}
			if err := server.Shutdown(); err != nil {
				t.Error(err)
			}
			if err := <-ended; err != nil {
				t.Error(err)
			}
		}
	}
}

// TestWrong has keys that Add refuses, and messages that are not signed with a key.
func TestWrong(t *testing.T) {
	for _, k := range [][]string{{"hmac-sha1.", secret}, {"hmac-sha256.", ""}, {"hmac-sha256.", "?"}, {"", secret}} {
		if err := (Keys{}).Add("key.", k[0], k[1]); err == nil {
			t.Errorf("the key %q is added", k)
		}
	}
	keys := newKeys(t, dns.HmacSHA256, secret)
	for _, test := range []struct {
		name, algorithm string
		want            error
	}{
		{"key.", dns.HmacSHA256, nil},
		{"KEY.", "HMAC-sha256.", nil},
		{"unknown.", dns.HmacSHA256, dns.ErrSecret},
		{"key.", dns.HmacSHA512, dns.ErrKeyAlg},
	} {
		if _, _, err := dns.TsigGenerateWithProvider(question(test.name, test.algorithm), keys, "", false); !errors.Is(err, test.want) {
			t.Errorf("%s, %s: error %v", test.name, test.algorithm, err)
		}
		signed, _, err := dns.TsigGenerate(question(test.name, test.algorithm), secret, "", false)
		if err == nil {
			err = dns.TsigVerifyWithProvider(signed, keys, "", false)
		}
		if !errors.Is(err, test.want) {
			t.Errorf("%s, %s, verified: %v", test.name, test.algorithm, err)
		}
	}
	t1 := &dns.TSIG{Hdr: dns.RR_Header{Name: "key."}, Algorithm: dns.HmacSHA256}
	for _, mac := range []string{"", "00", "?"} {
		if t1.MAC = mac; keys.Verify(nil, t1) == nil {
			t.Errorf("the MAC %q is accepted", mac)
		}
	}
}

// BenchmarkVerify verifies a message, a copy each time because package dns changes it, with a secret of package dns and with Keys.
func BenchmarkVerify(b *testing.B) {
	signed, _, err := dns.TsigGenerate(question("key.", dns.HmacSHA256), secret, "", false)
	if err != nil {
		b.Fatal(err)
	}
	keys := newKeys(b, dns.HmacSHA256, secret)
	for name, verify := range map[string]func() error{
		"dns":  func() error { return dns.TsigVerify(bytes.Clone(signed), secret, "", false) },
		"Keys": func() error { return dns.TsigVerifyWithProvider(bytes.Clone(signed), keys, "", false) },
	} {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				if err := verify(); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
