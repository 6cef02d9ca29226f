// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package dropin

import "testing"

// A module is one that other people wrote.
type module struct {
	path, version, sum string
	lines              int      // import lines that change; without any it is used as it is
	with               []string // paths of modules in the same workspace
	packages           []string // what is tested
	serial             bool     // side by side its tests disturb each other
	tests              int      // how many tests pass, without subtests
	sample             []string // what is tested in the sample, if anything
	// server starts what the tests need, for the module in dir, and returns variables that say where.
	server func(t *testing.T, dir string) []string
	// benchmarks are theirs, by package, as patterns.
	benchmarks map[string]string
}

var all = []string{"./..."}

var modules = []module{
	{
		path: "github.com/golang-jwt/jwt/v5", version: "v5.3.1", sum: "h1:kYf81DTWFe7t+1VvL7eS+jKFVWaUnK9cB1qbwn63YCY=",
		lines: 1, packages: all, tests: 55, sample: all, benchmarks: map[string]string{".": "^BenchmarkHS"},
	},
	{
		path: "github.com/go-jose/go-jose/v4", version: "v4.1.9", sum: "h1:pKfeQkig1NmgK4hJrZYXLEYURXfoJB61Larw0uIW4gY=",
		lines: 3, packages: all, tests: 299, benchmarks: map[string]string{"./jwt": "SignedSerializeSHA", "./cipher": "cryptAES128_CBCHMAC_1k"},
	},
	{
		// The signatures of jwx.
		path: "github.com/lestrrat-go/dsig", version: "v1.4.0", sum: "h1:g7LUjK8cT74A5DzBXJI5HzsJuLhoYN0Wzj4nuOMIrH8=",
		lines: 1, packages: all, tests: 28,
	},
	{
		path: "github.com/lestrrat-go/jwx/v3", version: "v3.4.0", sum: "h1:2YSO4sfAj+M90XUuEJZsMibRNpoh1KXP1iL+C/tFebg=",
		lines: 5, with: []string{"github.com/lestrrat-go/dsig"}, packages: all, tests: 450,
	},
	{
		path: "github.com/gorilla/securecookie", version: "v1.1.2", sum: "h1:YCIWL56dvtr73r6715mJs5ZvhtnY73hBvEF8kXD8ePA=",
		lines: 1, packages: all, tests: 14, sample: all,
	},
	{
		path: "github.com/pquerna/otp", version: "v1.5.0", sum: "h1:NMMR+WrmaqXU4EzdGJEE1aUUI0AMRzsp96fFFWNPwxs=",
		lines: 1, packages: all, tests: 17, sample: all,
	},
	{
		path: "github.com/xdg-go/scram", version: "v1.4.0", sum: "h1:3/wY9vMc786lAsuowR1CGxl0oVQDUWnCliDnWKhiZJs=",
		lines: 5, packages: all, tests: 31, sample: all,
	},
	{
		path: "github.com/xdg-go/pbkdf2", version: "v1.0.0", sum: "h1:Su7DPu48wXMwC3bs7MCNG+z4FhcyEuz5dlvchbq0B0c=",
		lines: 1, packages: all, tests: 1,
	},
	{
		path: "github.com/tyler-smith/go-bip39", version: "v1.1.0", sum: "h1:5eUemwrMargf3BSLRRCalXT93Ns6pQJIjYQN2nyfOP8=",
		lines: 1, packages: all, tests: 21, sample: all,
	},
	{
		path: "github.com/tyler-smith/go-bip32", version: "v1.0.0", sum: "h1:sDR9juArbUgX+bO/iblgZnMPeWY1KZMUC2AFUJdv5KE=",
		lines: 1, packages: all, tests: 6,
	},
	{
		path: "github.com/btcsuite/btcd/btcutil", version: "v1.2.0", sum: "h1:p3+S2g3Q+7G5NOh4Ji+2UrBOrg5Z0Q4ykzShWG1Dhgs=",
		lines: 1, packages: []string{"./hdkeychain"}, tests: 14, benchmarks: map[string]string{"./hdkeychain": "Derive"},
	},
	{
		path: "github.com/miekg/dns", version: "v1.1.73", sum: "h1:uhT8nJxmTrPJYClxVxTCX+CVn6qnzSiybRk72Z6DgrE=",
		lines: 1, packages: all, tests: 298,
	},
	{
		path: "github.com/tink-crypto/tink-go/v2", version: "v2.9.0", sum: "h1:uvjgS1IYDB4zhDK0Zow8ZFB73IjzMAoSqW0JkFnvkrc=",
		lines: 4, tests: 668,
		packages:   []string{"./mac/...", "./prf/...", "./jwt/...", "./streamingaead/...", "./aead/aesctrhmac/...", "./internal/mac/...", "./internal/signature/slhdsa/..."},
		benchmarks: map[string]string{"./mac": "Mac/HMAC_SHA256", "./jwt": "MAC/JWT_HS256"},
	},
	{
		path: "github.com/google/go-github/v68", version: "v68.0.0", sum: "h1:ZW57zeNZiXTdQ16qrDiZ0k6XucrxZ2CGmoTvcCyQG6s=",
		lines: 1, packages: []string{"./github"}, serial: true, tests: 5415,
	},
	{
		path: "github.com/stripe/stripe-go/v82", version: "v82.5.1", sum: "h1:05q6ZDKoe8PLMpQV072obF74HCgP4XJeJYoNuRSX2+8=",
		lines: 2, packages: []string{".", "./webhook"}, tests: 231, server: stripeMock,
	},
	{
		path: "github.com/slack-go/slack", version: "v0.35.0", sum: "h1:lxUmPzkYYlSHLMNdmgvtdzGFnKAJiApA5gZiMcGEYiw=",
		lines: 1, packages: []string{"."}, tests: 666,
	},
	{
		path: "github.com/aws/aws-sdk-go-v2", version: "v1.48.0", sum: "h1:tFU7EJVm7MfyaXLsXdYTZ0Vd6vwt9OljCyqq0gqk0Mc=",
		lines: 1, packages: []string{"./aws/..."}, tests: 134, benchmarks: map[string]string{"./aws/signer/v4": "SignRequest"},
	},
	{
		path: "github.com/minio/minio-go/v7", version: "v7.4.1", sum: "h1:PtU/zIOfQRWZ+QydXAZysc+xZYHdG+BBR4Z6TUvy73w=",
		lines: 2, packages: []string{"./pkg/signer", "./pkg/credentials"}, tests: 57,
	},
	{
		path: "github.com/jackc/pgx/v5", version: "v5.12.0", sum: "h1:hWwax8YiGT0YiN50U1oIDn5kgR7KC2tG3rmavwpPkxY=",
		lines: 2, packages: all, tests: 1021, sample: []string{"./pgconn"}, server: postgreSQL, benchmarks: map[string]string{"./pgconn": "^BenchmarkConnect$"},
	},
	{
		// It has no tests of SASL. Those of servers.invalid use it.
		path: "github.com/twmb/franz-go", version: "v1.22.3", sum: "h1:RHe35s34pKefMLyL+ZYJ6mQVtfFZz4zHDHVkTyACur0=",
		lines: 3, packages: []string{"./pkg/sasl/..."},
	},
	{
		path: "github.com/gosnmp/gosnmp", version: "v1.47.0", sum: "h1:nQ0H9erruu03QP0lviAJ6vB6iiIGE0R5u73MKFr6QPs=",
		lines: 1, packages: all, tests: 7,
	},
	// Servers that stay as they are, and our clients of them.
	{path: "github.com/rclone/gofakes3", version: "v0.0.12", sum: "h1:x8MyrIQ9U88JvG8XMBZHNBpKhKJwZEacWlrG/aW+PWk="},
	{path: "github.com/twmb/franz-go/pkg/kfake", version: "v0.0.0-20260918054303-01f206a7e32c", sum: "h1:+VhoCwJ6sXP2wjfeoVlPkj68NQ4rzdcqH6pXlr+FY5E="},
	{
		path: "servers.invalid", packages: all, tests: 3, sample: all,
		with: []string{
			"github.com/minio/minio-go/v7", "github.com/aws/aws-sdk-go-v2", "github.com/twmb/franz-go",
			"github.com/rclone/gofakes3", "github.com/twmb/franz-go/pkg/kfake",
		},
	},
	{path: "measure.invalid", benchmarks: map[string]string{".": "."}},
}

// named returns the module with a path.
func named(t *testing.T, path string) module {
	t.Helper()
	for _, m := range modules {
		if m.path == path {
			return m
		}
	}
	t.Fatalf("no version of %s", path)
	return module{}
}
