// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

#include <openssl/core_names.h>
#include <openssl/crypto.h>
#include <openssl/evp.h>
#include <openssl/kdf.h>

#include "peer.h"

static EVP_MAC *fetch(const char *name)
{
	EVP_MAC *mac = EVP_MAC_fetch(NULL, name, NULL);

	if (mac == NULL) {
		fprintf(stderr, "fastmac: OpenSSL has no %s\n", name);
		exit(1);
	}
	return mac;
}

// GCM's nonces have 12 bytes. The last 8 are a counter.
static uint8_t iv[12];

static EVP_MAC_CTX *new_gmac(void)
{
	static EVP_MAC *mac; // looked up once, as programs do
	EVP_MAC_CTX *ctx;
	OSSL_PARAM params[] = {
		OSSL_PARAM_construct_utf8_string(OSSL_MAC_PARAM_CIPHER, "AES-128-GCM", 0),
		OSSL_PARAM_construct_octet_string(OSSL_MAC_PARAM_IV, iv, sizeof iv),
		OSSL_PARAM_construct_end(),
	};

	if (mac == NULL)
		mac = fetch("GMAC");
	ctx = EVP_MAC_CTX_new(mac);
	if (ctx == NULL || !EVP_MAC_init(ctx, key, 16, params)) {
		fprintf(stderr, "fastmac: OpenSSL: GMAC refuses its key\n");
		exit(1);
	}
	return ctx;
}

static size_t gmac(const uint8_t *msg, size_t size, uint64_t n, uint8_t tag[64])
{
	static EVP_MAC_CTX *ctx;
	OSSL_PARAM params[] = {
		OSSL_PARAM_construct_octet_string(OSSL_MAC_PARAM_IV, iv, sizeof iv),
		OSSL_PARAM_construct_end(),
	};
	size_t tag_size = 0;

	if (ctx == NULL)
		ctx = new_gmac();
	for (uint64_t nonce = FIRST_NONCE(n); nonce <= LAST_NONCE; nonce++) {
		put_nonce(iv + 4, nonce);
		if (!EVP_MAC_init(ctx, NULL, 0, params) || !EVP_MAC_update(ctx, msg, size) ||
		    !EVP_MAC_final(ctx, tag, &tag_size, 64))
			return 0;
	}
	return tag_size;
}

static size_t gmac_new(const uint8_t *msg, size_t size, uint64_t n, uint8_t tag[64])
{
	EVP_MAC_CTX *ctx = NULL;
	size_t tag_size = 0;

	put_nonce(iv + 4, LAST_NONCE);
	while (n-- > 0) {
		EVP_MAC_CTX_free(ctx);
		ctx = new_gmac();
	}
	if (!EVP_MAC_update(ctx, msg, size) || !EVP_MAC_final(ctx, tag, &tag_size, 64))
		tag_size = 0;
	EVP_MAC_CTX_free(ctx);
	return tag_size;
}

static size_t kmac(EVP_MAC_CTX *ctx, const uint8_t *msg, size_t size, uint64_t n, uint8_t tag[64])
{
	size_t tag_size = 0;

	if (ctx == NULL || !EVP_MAC_init(ctx, key, 32, NULL))
		return 0;
	while (n-- > 0) {
		if (!EVP_MAC_init(ctx, NULL, 0, NULL) || !EVP_MAC_update(ctx, msg, size) ||
		    !EVP_MAC_final(ctx, tag, &tag_size, 64))
			return 0;
	}
	return tag_size;
}

static size_t kmac128(const uint8_t *msg, size_t size, uint64_t n, uint8_t tag[64])
{
	static EVP_MAC_CTX *ctx;

	if (ctx == NULL)
		ctx = EVP_MAC_CTX_new(fetch("KMAC-128"));
	return kmac(ctx, msg, size, n, tag);
}

static size_t kmac256(const uint8_t *msg, size_t size, uint64_t n, uint8_t tag[64])
{
	static EVP_MAC_CTX *ctx;

	if (ctx == NULL)
		ctx = EVP_MAC_CTX_new(fetch("KMAC-256"));
	return kmac(ctx, msg, size, n, tag);
}

// Sets the key up once if it is reused, else for each tag. Initializing the same
// context each time, without a key if it is reused, is OpenSSL's fastest way for
// both: EVP_MAC_CTX_dup allocates.
static size_t hmac(EVP_MAC_CTX **ctx, char *digest, const uint8_t *msg, size_t size, uint64_t n, uint8_t tag[64], int reused)
{
	OSSL_PARAM params[] = {
		OSSL_PARAM_construct_utf8_string(OSSL_MAC_PARAM_DIGEST, digest, 0),
		OSSL_PARAM_construct_end(),
	};
	size_t tag_size = 0;

	if (*ctx == NULL)
		*ctx = EVP_MAC_CTX_new(fetch("HMAC"));
	if (*ctx == NULL || !EVP_MAC_init(*ctx, key, sizeof key, params))
		return 0;
	while (n-- > 0) {
		if (!EVP_MAC_init(*ctx, reused ? NULL : key, reused ? 0 : sizeof key, NULL) ||
		    !EVP_MAC_update(*ctx, msg, size) || !EVP_MAC_final(*ctx, tag, &tag_size, 64))
			return 0;
	}
	return tag_size;
}

#define HMAC(bits)                                                              \
	static EVP_MAC_CTX *hmac##bits##_ctx;                                   \
                                                                                \
	static size_t hmac##bits(const uint8_t *msg, size_t size, uint64_t n, uint8_t tag[64]) \
	{                                                                       \
		return hmac(&hmac##bits##_ctx, "SHA" #bits, msg, size, n, tag, 1); \
	}                                                                       \
                                                                                \
	static size_t hmac##bits##_sum(const uint8_t *msg, size_t size, uint64_t n, uint8_t tag[64]) \
	{                                                                       \
		return hmac(&hmac##bits##_ctx, "SHA" #bits, msg, size, n, tag, 0); \
	}

HMAC(256)
HMAC(512)

// Derives a key from a password, with the message as salt.
static size_t pbkdf2(const EVP_MD *digest, const uint8_t *salt, size_t size, uint64_t n, uint8_t derived[64])
{
	int ok = 1;

	while (ok && n-- > 0)
		ok = PKCS5_PBKDF2_HMAC((const char *)key, sizeof key, salt, size, PBKDF2_ITERATIONS, digest,
				       EVP_MD_get_size(digest), derived);
	return ok ? EVP_MD_get_size(digest) : 0;
}

static size_t pbkdf2_256(const uint8_t *salt, size_t size, uint64_t n, uint8_t derived[64])
{
	return pbkdf2(EVP_sha256(), salt, size, n, derived);
}

static size_t pbkdf2_512(const uint8_t *salt, size_t size, uint64_t n, uint8_t derived[64])
{
	return pbkdf2(EVP_sha512(), salt, size, n, derived);
}

// Derives a key from a secret and a salt, with the message as info.
static size_t hkdf(char *digest, size_t derived_size, const uint8_t *info, size_t size, uint64_t n, uint8_t derived[64])
{
	static EVP_KDF *kdf; // looked up once, as programs do
	EVP_KDF_CTX *ctx;
	int ok;
	OSSL_PARAM params[] = {
		OSSL_PARAM_construct_utf8_string(OSSL_KDF_PARAM_DIGEST, digest, 0),
		OSSL_PARAM_construct_octet_string(OSSL_KDF_PARAM_SALT, (void *)key, HKDF_SALT_SIZE),
		OSSL_PARAM_construct_octet_string(OSSL_KDF_PARAM_KEY, (void *)(key + HKDF_SALT_SIZE), sizeof key - HKDF_SALT_SIZE),
		OSSL_PARAM_construct_octet_string(OSSL_KDF_PARAM_INFO, (void *)info, size),
		OSSL_PARAM_construct_end(),
	};

	if (kdf == NULL)
		kdf = EVP_KDF_fetch(NULL, "HKDF", NULL);
	ctx = EVP_KDF_CTX_new(kdf);
	ok = ctx != NULL;
	while (ok && n-- > 0)
		ok = EVP_KDF_derive(ctx, derived, derived_size, params);
	EVP_KDF_CTX_free(ctx);
	return ok ? derived_size : 0;
}

static size_t hkdf_256(const uint8_t *info, size_t size, uint64_t n, uint8_t derived[64])
{
	return hkdf("SHA256", 32, info, size, n, derived);
}

static size_t hkdf_512(const uint8_t *info, size_t size, uint64_t n, uint8_t derived[64])
{
	return hkdf("SHA512", 64, info, size, n, derived);
}

// What is authenticated with each message, but not encrypted: as many bytes as in TLS.
static const uint8_t data[13] = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12};

// Returns a context with the key of AES-256-GCM, for encryption or decryption.
static EVP_CIPHER_CTX *new_gcm(int encrypt)
{
	EVP_CIPHER *cipher = EVP_CIPHER_fetch(NULL, "AES-256-GCM", NULL);
	EVP_CIPHER_CTX *ctx = EVP_CIPHER_CTX_new();

	if (cipher == NULL || ctx == NULL || !EVP_CipherInit_ex2(ctx, cipher, key, NULL, encrypt, NULL)) {
		fprintf(stderr, "fastmac: OpenSSL: AES-256-GCM refuses its key\n");
		exit(1);
	}
	return ctx;
}

// Encrypts size bytes to out, which may be in, and returns whether it could.
static int seal(const uint8_t *in, uint8_t *out, size_t size, uint8_t tag[16])
{
	static EVP_CIPHER_CTX *ctx;
	int n;

	if (ctx == NULL)
		ctx = new_gcm(1);
	return EVP_EncryptInit_ex2(ctx, NULL, NULL, iv, NULL) &&
	       EVP_EncryptUpdate(ctx, NULL, &n, data, sizeof data) &&
	       EVP_EncryptUpdate(ctx, out, &n, in, size) && EVP_EncryptFinal_ex(ctx, out + n, &n) &&
	       EVP_CIPHER_CTX_ctrl(ctx, EVP_CTRL_AEAD_GET_TAG, 16, tag);
}

// Decrypts size bytes to out and returns whether the tag is right.
static int open_sealed(const uint8_t *in, uint8_t *out, size_t size, uint8_t tag[16])
{
	static EVP_CIPHER_CTX *ctx;
	int n;

	if (ctx == NULL)
		ctx = new_gcm(0);
	return EVP_DecryptInit_ex2(ctx, NULL, NULL, iv, NULL) &&
	       EVP_DecryptUpdate(ctx, NULL, &n, data, sizeof data) &&
	       EVP_DecryptUpdate(ctx, out, &n, in, size) &&
	       EVP_CIPHER_CTX_ctrl(ctx, EVP_CTRL_AEAD_SET_TAG, 16, tag) &&
	       EVP_DecryptFinal_ex(ctx, out + n, &n);
}

// Encrypts a buffer in place again and again. The last time it has the message.
static size_t gcm_seal(const uint8_t *msg, size_t size, uint64_t n, uint8_t tag[64])
{
	uint8_t *buffer = new_message(size);
	int ok = 1;

	for (uint64_t nonce = FIRST_NONCE(n); ok && nonce <= LAST_NONCE; nonce++) {
		if (nonce == LAST_NONCE)
			memcpy(buffer, msg, size);
		put_nonce(iv + 4, nonce);
		ok = seal(buffer, buffer, size, tag);
	}
	free(buffer);
	return ok ? 16 : 0;
}

// Decrypts a message again and again. The tag at the end is of the plaintext.
static size_t gcm_open(const uint8_t *msg, size_t size, uint64_t n, uint8_t tag[64])
{
	uint8_t *sealed = new_message(size), *plaintext = new_message(size);
	uint8_t sealed_tag[16];
	int ok;

	memset(plaintext, 0, size);
	put_nonce(iv + 4, LAST_NONCE);
	ok = seal(msg, sealed, size, sealed_tag);
	while (ok && n-- > 0)
		ok = open_sealed(sealed, plaintext, size, sealed_tag);
	ok = ok && seal(plaintext, plaintext, size, tag);
	sealed_tag[0] ^= 1;
	if (ok && open_sealed(sealed, plaintext, size, sealed_tag))
		ok = 0; // a wrong tag was accepted
	free(sealed);
	free(plaintext);
	return ok ? 16 : 0;
}

static const struct op ops[] = {
	{"OpenSSL:gmac:stream", gmac},
	{"OpenSSL:gmac:new", gmac_new},
	{"OpenSSL:aes256-gcm:seal", gcm_seal},
	{"OpenSSL:aes256-gcm:open", gcm_open},
	{"OpenSSL:kmac128:stream", kmac128},
	{"OpenSSL:kmac256:stream", kmac256},
	{"OpenSSL:hmac-sha256:stream", hmac256},
	{"OpenSSL:hmac-sha256:sum", hmac256_sum},
	{"OpenSSL:hmac-sha512:stream", hmac512},
	{"OpenSSL:hmac-sha512:sum", hmac512_sum},
	{"OpenSSL:pbkdf2-sha256:derive", pbkdf2_256},
	{"OpenSSL:pbkdf2-sha512:derive", pbkdf2_512},
	{"OpenSSL:hkdf-sha256:derive", hkdf_256},
	{"OpenSSL:hkdf-sha512:derive", hkdf_512},
};

int main(void)
{
	printf("version OpenSSL %s\n", OpenSSL_version(OPENSSL_VERSION_STRING));
	return serve(ops, sizeof ops / sizeof ops[0]);
}
