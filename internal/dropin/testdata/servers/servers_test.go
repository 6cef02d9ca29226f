// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

// Package servers has clients of servers that check signatures and passwords. The servers use crypto/hmac
// and crypto/pbkdf2, whatever the clients use.
package servers

import (
	"bytes"
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	v4 "github.com/aws/aws-sdk-go-v2/aws/signer/v4"
	"github.com/minio/minio-go/v7"
	"github.com/minio/minio-go/v7/pkg/credentials"
	"github.com/rclone/gofakes3"
	"github.com/rclone/gofakes3/s3mem"
	"github.com/twmb/franz-go/pkg/kfake"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/sasl"
	"github.com/twmb/franz-go/pkg/sasl/scram"
)

const user, secret, region = "user", "the secret of the user", "us-east-1"

// newS3 starts an S3 server that has a bucket and checks signatures, version 4.
func newS3(t *testing.T) *httptest.Server {
	store := s3mem.New()
	if err := store.CreateBucket(t.Context(), "bucket"); err != nil {
		t.Fatal(err)
	}
	server := httptest.NewServer(gofakes3.New(store, gofakes3.WithV4Auth(map[string]string{user: secret})).Server())
	t.Cleanup(server.Close)
	return server
}

// TestMinio stores an object with minio-go, reads it, and has a URL signed for somebody else.
func TestMinio(t *testing.T) {
	endpoint := strings.TrimPrefix(newS3(t).URL, "http://")
	content := bytes.Repeat([]byte("content "), 1<<17)
	for _, password := range []string{secret, "wrong"} {
		client, err := minio.New(endpoint, &minio.Options{Creds: credentials.NewStaticV4(user, password, ""), Region: region})
		if err != nil {
			t.Fatal(err)
		}
		_, err = client.PutObject(t.Context(), "bucket", "object", bytes.NewReader(content), int64(len(content)), minio.PutObjectOptions{})
		if password != secret {
			if minio.ToErrorResponse(err).Code != "SignatureDoesNotMatch" {
				t.Errorf("with a wrong secret: %v", err)
			}
			continue
		}
		if err != nil {
			t.Fatal(err)
		}
		object, err := client.GetObject(t.Context(), "bucket", "object", minio.GetObjectOptions{})
		if err != nil {
			t.Fatal(err)
		}
		if got, err := io.ReadAll(object); err != nil || !bytes.Equal(got, content) {
			t.Errorf("%d bytes, error %v", len(got), err)
		}
		link, err := client.PresignedGetObject(t.Context(), "bucket", "object", time.Hour, nil)
		if err != nil {
			t.Fatal(err)
		}
		get(t, link.String(), http.StatusOK)
		get(t, strings.Replace(link.String(), "/object?", "/other?", 1), http.StatusForbidden)
	}
}

func get(t *testing.T, url string, want int) {
	t.Helper()
	response, err := http.Get(url)
	if err != nil {
		t.Fatal(err)
	}
	response.Body.Close()
	if response.StatusCode != want {
		t.Errorf("%s: %s, want %d", url, response.Status, want)
	}
}

// TestAWS signs requests with the signer of aws-sdk-go-v2.
func TestAWS(t *testing.T) {
	url := newS3(t).URL
	for _, password := range []string{secret, "wrong"} {
		want := http.StatusOK
		if password != secret {
			want = http.StatusForbidden
		}
		for _, method := range []string{http.MethodPut, http.MethodGet} {
			request, err := http.NewRequest(method, url+"/bucket/object", strings.NewReader("content"))
			if err != nil {
				t.Fatal(err)
			}
			const hash = "ed7002b439e9ac845f22357d822bac1444730fbdb6016d3ec9432297b9ec9f73" // SHA-256 of the content
			request.Header.Set("X-Amz-Content-Sha256", hash)
			who := aws.Credentials{AccessKeyID: user, SecretAccessKey: password}
			if err := v4.NewSigner().SignHTTP(t.Context(), who, request, hash, "s3", region, time.Now()); err != nil {
				t.Fatal(err)
			}
			response, err := http.DefaultClient.Do(request)
			if err != nil {
				t.Fatal(err)
			}
			body, err := io.ReadAll(response.Body)
			response.Body.Close()
			if response.StatusCode != want || want == http.StatusOK && method == http.MethodGet && string(body) != "content" {
				t.Errorf("%s: %s %q, error %v, want %d", method, response.Status, body, err, want)
			}
		}
	}
}

// TestKafka authenticates franz-go by SCRAM.
func TestKafka(t *testing.T) {
	cluster, err := kfake.NewCluster(kfake.NumBrokers(1), kfake.EnableSASL(),
		kfake.Superuser("SCRAM-SHA-256", user, secret), kfake.Superuser("SCRAM-SHA-512", user, secret))
	if err != nil {
		t.Fatal(err)
	}
	defer cluster.Close()
	for _, password := range []string{secret, "wrong"} {
		auth := scram.Auth{User: user, Pass: password}
		for _, mechanism := range []sasl.Mechanism{auth.AsSha256Mechanism(), auth.AsSha512Mechanism()} {
			client, err := kgo.NewClient(kgo.SeedBrokers(cluster.ListenAddrs()...), kgo.SASL(mechanism), kgo.RequestRetries(0))
			if err != nil {
				t.Fatal(err)
			}
			ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
			if err := client.Ping(ctx); (err == nil) != (password == secret) {
				t.Errorf("%s, %q: %v", mechanism.Name(), password, err)
			}
			cancel()
			client.Close()
		}
	}
}
