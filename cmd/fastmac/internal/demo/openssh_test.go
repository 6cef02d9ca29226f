// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package demo

import (
	"fmt"
	"strings"
	"testing"
)

func TestSSHLog(t *testing.T) {
	const kex = "debug1: kex: %s cipher: %s MAC: %s compression: none\r\n"
	up := fmt.Sprintf(kex, "client->server", "aes128-ctr", "umac-64@openssh.com")
	down := fmt.Sprintf(kex, "server->client", "aes128-ctr", "umac-64@openssh.com")
	good := algorithms{"aes128-ctr", "umac-64@openssh.com"}
	for _, tt := range []struct {
		name, in   string
		want       *negotiated
		complaints string
	}{
		{"nothing", "", nil, ""},
		{"both directions", "OpenSSH_9.2p1\r\n" + down + up, &negotiated{good, good}, `, output "OpenSSH_9.2p1"`},
		{"one direction", up, &negotiated{good, algorithms{}}, ""},
		{"the same again", down + up + down + up, &negotiated{good, good}, ""},
		{"another one later", down + up + fmt.Sprintf(kex, "server->client", "aes128-ctr", "hmac-sha1"),
			&negotiated{good, algorithms{"aes128-ctr", "umac-64@openssh.com,hmac-sha1"}}, ""},
		{"AEAD", fmt.Sprintf(kex, "client->server", "aes128-gcm@openssh.com", "<implicit>"),
			&negotiated{algorithms{"aes128-gcm@openssh.com", ""}, algorithms{}}, ""},
		{"not from ssh's log", "kex: client->server cipher: aes128-ctr MAC: umac-64@openssh.com\n", nil,
			`, output "kex: client->server cipher: aes128-ctr MAC: umac-64@openssh.com"`},
		{"last words", "debug1: x\r\n1\n2\n3\n4\n\nCorrupted MAC\x07 on input.", nil, `, output "1; 2; 3; 4; Corrupted MAC\a on input."`},
		{"only the last lines", "1\n2\n3\n4\n5\n6\n", nil, `, output "3; 4; 5; 6"`},
	} {
		for _, step := range []int{1, 1 << 20} {
			var log sshLog
			for in := tt.in; in != ""; {
				n, _ := log.Write([]byte(in[:min(step, len(in))]))
				in = in[n:]
			}
			got := log.negotiated()
			if got.String() != tt.want.String() || log.complaints() != tt.complaints {
				t.Errorf("%s: %v, %s", tt.name, got, log.complaints())
			}
		}
	}
}

func TestSSHLogBounds(t *testing.T) {
	var log sshLog
	endless := strings.Repeat("x", 1<<20)
	for range 4 {
		log.Write([]byte(endless))
	}
	if n := len(log.complaints()); n > 2000 {
		t.Errorf("%d bytes kept", n)
	}
}
