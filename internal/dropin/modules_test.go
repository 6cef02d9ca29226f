// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package dropin

import "testing"

// A module is one that other people wrote.
type module struct {
	path, version, sum string
	lines              int      // import lines that change; without any it is used as it is
	with               []string // paths of other modules that it uses, which move too
	packages           []string // what is tested
	skip               string   // what is not tested, a pattern
	serial             bool     // side by side its tests disturb each other
	raised             bool     // a raised go line alone changes results: after the change it has a godebug line
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
		path: "filippo.io/hpke", version: "v0.4.0", sum: "h1:p575VVQ6ted4pL+it6M00V/f2qTZITO0zgmdKCkd5+A=",
		lines: 1, packages: all, tests: 3, sample: all,
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
		lines: 8, tests: 668,
		packages:   []string{"./mac/...", "./prf/...", "./jwt/...", "./streamingaead/...", "./aead/aesctrhmac/...", "./internal/mac/...", "./internal/signature/slhdsa/..."},
		benchmarks: map[string]string{"./mac": "Mac/HMAC_SHA256", "./jwt": "MAC/JWT_HS256"},
	},
	{
		// Its test servers need http.ServeMux as before Go 1.22, and those that are skipped panic otherwise.
		path: "github.com/google/go-github/v68", version: "v68.0.0", sum: "h1:ZW57zeNZiXTdQ16qrDiZ0k6XucrxZ2CGmoTvcCyQG6s=",
		lines: 1, packages: []string{"./github"}, serial: true, raised: true, tests: 5409, skip: "DirectoryWith(Spaces|PlusChars)$|_CompareCommits",
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
	{
		path: "github.com/Azure/azure-sdk-for-go/sdk/storage/azblob", version: "v1.8.3", sum: "h1:zoPQ7KXGgzqeUmNWl+b6IwVAqsb5lROEJhqAmqXQtm0=",
		lines: 2, packages: []string{"./internal/exported", "./sas"}, tests: 43,
	},
	{
		path: "github.com/adshao/go-binance/v2", version: "v2.8.7", sum: "h1:n7jkhwIHMdtd/9ZU2gTqFV15XVSbUCjyFlOUAtTd8uU=",
		lines: 1, packages: []string{"./common", "./futures"}, tests: 46,
	},
	{
		path: "github.com/bougou/go-ipmi", version: "v0.9.1", sum: "h1:dI/ihmEnJ/tIKjCsx85Rm8XPh2yiJll8CVFlYlFgY5c=",
		lines: 1, packages: all, tests: 270,
	},
	{
		path: "github.com/containers/ocicrypt", version: "v1.3.2", sum: "h1:MuqHSfiPpGzoAQdgDSX85FgixSgIm9mSDXTLTgugY5E=",
		lines: 1, packages: []string{"./blockcipher"}, tests: 9,
	},
	{
		path: "github.com/cosmos/go-bip39", version: "v1.0.0", sum: "h1:pcomnQdrdH22njcAatO0yWojsUnCO3y2tNoV1cb6hHY=",
		lines: 1, packages: all, tests: 5,
	},
	{
		path: "github.com/dghubble/oauth1", version: "v0.7.3", sum: "h1:EkEM/zMDMp3zOsX2DC/ZQ2vnEX3ELK0/l9kb+vs4ptE=",
		lines: 1, packages: all, tests: 48,
	},
	{
		path: "github.com/fernet/fernet-go", version: "v0.0.0-20240119011108-303da6aec611", sum: "h1:JwYtKJ/DVEoIA5dH45OEU7uoryZY/gjd/BQiwwAOImM=",
		lines: 1, packages: all, tests: 8,
	},
	{
		path: "github.com/flynn/noise", version: "v1.1.0", sum: "h1:KjPQoQCEFdZDiP03phOvGi11+SVVhBG2wOWAorLsstg=",
		lines: 1, packages: all, tests: 1,
	},
	{
		path: "github.com/go-jose/go-jose/v3", version: "v3.0.5", sum: "h1:BLLJWbC4nMZOfuPVxoZIxeYsn6Nl2r1fITaJ78UQlVQ=",
		lines: 3, packages: all, tests: 240,
	},
	{
		path: "github.com/go-playground/webhooks/v6", version: "v6.4.0", sum: "h1:KLa6y7bD19N48rxJDHM0DpE3T4grV7GxMy1b/aHMWPY=",
		lines: 4, packages: all, tests: 18,
	},
	{
		path: "github.com/golang-jwt/jwt/v4", version: "v4.5.2", sum: "h1:YtQM7lnr8iZ+j5q71MGKkNw9Mn7AjHM68uc9g5fXeUI=",
		lines: 1, packages: all, tests: 42,
	},
	{
		path: "github.com/jcmturner/gokrb5/v8", version: "v8.4.4", sum: "h1:x1Sv4HaTpepFkXbt2IkL29DXRf8sOfZXo8eRKh687T8=",
		lines: 15, packages: all, tests: 180,
	},
	{
		path: "github.com/kataras/jwt", version: "v0.1.12", sum: "h1:FHPgTTj5UqjlBye4PA4/oxknCY+kQ9K34XAi8d37glA=",
		lines: 1, packages: all, tests: 33,
	},
	{
		path: "github.com/lestrrat-go/jwx/v2", version: "v2.1.7", sum: "h1:bnYeET+S8IOyAw6W4LTc6SEeK7Xs58SKKZkR7scb3Ko=",
		lines: 4, packages: []string{"./jws/...", "./jwe/..."}, tests: 62,
	},
	{
		path: "github.com/line/line-bot-sdk-go/v8", version: "v8.14.0", sum: "h1:hjKD3IkB/4YXxTQHOtW+10k+8AN8ID7wZSIj0Xbbga8=",
		lines: 2, packages: []string{"./linebot/..."}, tests: 159,
	},
	{
		path: "github.com/mailgun/mailgun-go/v4", version: "v4.23.0", sum: "h1:jPEMJzzin2s7lvehcfv/0UkyBu18GvcURPr2+xtZRbk=",
		lines: 1, packages: []string{"."}, tests: 90,
	},
	{
		path: "github.com/markbates/goth", version: "v1.82.0", sum: "h1:8j/c34AjBSTNzO7zTsOyP5IYCQCMBTRBHAbBt/PI0bQ=",
		lines: 2, packages: []string{"./providers/shopify", "./providers/facebook"}, tests: 17,
	},
	{
		path: "github.com/microsoft/go-mssqldb", version: "v1.11.2", sum: "h1:FCgeBIK8um2+X4tbun6Q71N1KsfyCDPKY41e1yGVjSE=",
		lines: 2, packages: []string{"./internal/...", "./aecmk/..."}, tests: 80,
	},
	{
		path: "github.com/ory/fosite", version: "v0.49.0", sum: "h1:KNqO7RVt/1X8F08/UI0Y+GRvcpscCWgjqvpLBQPRovo=",
		lines: 1, packages: []string{"./token/hmac", "./handler/oauth2"}, tests: 32,
	},
	{
		path: "github.com/pion/dtls/v3", version: "v3.1.15", sum: "h1:okWk5LNwU21DfhvG8z4wm45knHVSPEdkihwp6BxfQcc=",
		lines: 3, packages: []string{"./pkg/crypto/..."}, tests: 52,
	},
	{
		path: "github.com/pion/srtp/v3", version: "v3.1.3", sum: "h1:O3sfbfWfq/OyEaXRbX02Z0SNQRijS9nDdc/DEb8jxlU=",
		lines: 1, packages: all, tests: 98,
	},
	{
		// That test asks a server outside.
		path: "github.com/pion/turn/v4", version: "v4.1.4", sum: "h1:EU11yMXKIsK43FhcUnjLlrhE4nboHZq+TXBIi3QpcxQ=",
		lines: 3, packages: all, skip: "^TestClientWithSTUN$", tests: 54,
	},
	{
		path: "github.com/silenceper/wechat/v2", version: "v2.1.10", sum: "h1:jMg0//CZBIuogEvuXgxJQuJ47SsPPAqFrrbOtro2pko=",
		lines: 2, packages: []string{"./util", "./miniprogram/..."}, tests: 11,
	},
	{
		path: "github.com/standard-webhooks/standard-webhooks/libraries", version: "v0.0.1", sum: "h1:uOfcYT+3QungH6tIGSVCR/Y3KJmgJiHcojJbMTPDZAI=",
		lines: 1, packages: all, tests: 4,
	},
	{
		path: "github.com/svix/svix-webhooks", version: "v1.44.0", sum: "h1:qo6xoKJo7jnahFffRHjS9sS5x2XqwlKNodNldmMbYDU=",
		lines: 1, packages: []string{"./go"}, tests: 7,
	},
	{
		path: "github.com/youmark/pkcs8", version: "v0.0.0-20240726163527-a2c0da244d78", sum: "h1:ilQV1hzziu+LLM3zUTJ0trRztfwgjqKnBWNtSRkbmwM=",
		lines: 1, packages: all, tests: 6,
	},
	{
		path: "go.mongodb.org/mongo-driver/v2", version: "v2.10.0", sum: "h1:BYJLuVSu3/xDvToG+VQyoTPS+jxq9tuQDf+1nAlFKSE=",
		lines: 1, packages: []string{"./internal/aws/..."}, tests: 17,
	},
	{
		path: "golang.org/x/oauth2", version: "v0.38.0", sum: "h1:uW7XQbcu1eoiQS7uMJvLOjPMl04bTbmY1VeRPxvbspI=",
		lines: 2, packages: []string{"./google/externalaccount"}, tests: 69,
	},
	{
		path: "mellium.im/sasl", version: "v0.3.2", sum: "h1:PT6Xp7ccn9XaXAnJ03FcEjmAn7kK1x7aoXV6F+Vmrl0=",
		lines: 4, packages: []string{"."}, tests: 16,
	},
	{
		path: "software.sslmate.com/src/go-pkcs12", version: "v0.7.4", sum: "h1:OvJ7g/OB9RuVAOzahlFLns6HeIcP+SJotsDqmLfhd8w=",
		lines: 3, packages: all, tests: 30,
	},
	{
		// A test needs rand.Seed as before Go 1.24, and the one that is skipped asks a server outside.
		path: "github.com/Masterminds/sprig/v3", version: "v3.3.0", sum: "h1:mQh0Yrg1XPo6vjYXgtf5OtijNAKJRNcTdOOGZe3tPhs=",
		lines: 1, packages: all, raised: true, skip: "^TestGetHostByName$", tests: 167,
	},
	{
		path: "github.com/dvsekhvalnov/jose2go", version: "v1.11.0", sum: "h1:9pnsV1/CLWFYSxMilqtiY1Fb4JZOxfDk/q0/CQiUMYw=",
		lines: 5, packages: all, tests: 10,
	},
	{
		path: "github.com/google/go-tpm", version: "v0.9.8", sum: "h1:slArAR9Ft+1ybZu0lBwpSmpwhRXaa85hWtMinMyRAWo=",
		lines: 5, packages: []string{"./tpm2/...", "./tpm", "./legacy/tpm2/credactivation"}, tests: 76,
	},
	{
		path: "github.com/keybase/saltpack", version: "v0.0.0-20260909171118-5bef7952e563", sum: "h1:OZv+z4WQikwWTHn9wqfWL4lD93X8nrnZM6Nr5aSpDCk=",
		lines: 5, packages: all, tests: 125,
	},
	{
		// Its test servers need http.ServeMux as before Go 1.22.
		path: "github.com/tencentyun/cos-go-sdk-v5", version: "v0.7.70", sum: "h1:gkBkSfrDvUg4ZIjwYAfjbNCCclen9LCRNHhBNz+yjEQ=",
		lines: 1, packages: []string{"."}, raised: true, tests: 396,
	},
	{
		path: "github.com/twilio/twilio-go", version: "v1.31.0", sum: "h1:ZPcCq1Tqj+mGGh2zXKuabBUh60+OOuNvY1/P/rAFC3w=",
		lines: 1, packages: []string{"./client/..."}, tests: 113,
	},
	{
		path: "github.com/SAP/go-hdb", version: "v1.22.1", sum: "h1:PyFFK+vegP0LiE5BkBwaoES5SkoHY7mtvESkWw0uWAM=",
		lines: 2, packages: []string{"./driver/internal/..."}, tests: 9,
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
