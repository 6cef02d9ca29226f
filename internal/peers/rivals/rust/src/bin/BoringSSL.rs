// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

use boring_sys::*;
use std::ptr::{null, null_mut};

fn digest(size: usize) -> *const EVP_MD {
    match size {
        32 => unsafe { EVP_sha256() },
        _ => unsafe { EVP_sha512() },
    }
}

struct Mac<const SIZE: usize>(*mut HMAC_CTX);

impl<const SIZE: usize> Drop for Mac<SIZE> {
    fn drop(&mut self) {
        unsafe { HMAC_CTX_free(self.0) }
    }
}

impl<const SIZE: usize> peers::Mac for Mac<SIZE> {
    type Tag = [u8; SIZE];

    fn new(key: &[u8]) -> Self {
        unsafe {
            let ctx = HMAC_CTX_new();
            let (key, size, digest) = (key.as_ptr().cast(), key.len(), digest(SIZE));
            assert_eq!(HMAC_Init_ex(ctx, key, size, digest, null_mut()), 1);
            Mac(ctx)
        }
    }

    fn tag(&mut self, msg: &[u8]) -> [u8; SIZE] {
        let mut tag = [0; SIZE];
        unsafe {
            // Without a key, the context has that of before.
            assert_eq!(HMAC_Init_ex(self.0, null(), 0, null(), null_mut()), 1);
            assert_eq!(HMAC_Update(self.0, msg.as_ptr(), msg.len()), 1);
            assert_eq!(HMAC_Final(self.0, tag.as_mut_ptr(), null_mut()), 1);
        }
        tag
    }

    fn sum(key: &[u8], msg: &[u8]) -> [u8; SIZE] {
        let (mut tag, mut tag_size) = ([0; SIZE], 0);
        let (key, size, out) = (key.as_ptr().cast(), key.len(), tag.as_mut_ptr());
        let (msg, msg_size) = (msg.as_ptr(), msg.len());
        unsafe { HMAC(digest(SIZE), key, size, msg, msg_size, out, &mut tag_size) };
        tag
    }
}

struct Pbkdf2<const SIZE: usize>;

impl<const SIZE: usize> peers::Pbkdf2 for Pbkdf2<SIZE> {
    fn derive(password: &[u8], salt: &[u8], key: &mut [u8]) {
        let ok = unsafe {
            PKCS5_PBKDF2_HMAC(
                password.as_ptr().cast(),
                password.len(),
                salt.as_ptr(),
                salt.len(),
                peers::PBKDF2_ITERATIONS,
                digest(SIZE),
                key.len(),
                key.as_mut_ptr(),
            )
        };
        assert_eq!(ok, 1);
    }
}

struct Gcm(*mut EVP_AEAD_CTX);

impl Drop for Gcm {
    fn drop(&mut self) {
        unsafe { EVP_AEAD_CTX_free(self.0) }
    }
}

impl peers::Gcm for Gcm {
    fn new(key: &[u8]) -> Self {
        unsafe {
            let aead = match key.len() {
                16 => EVP_aead_aes_128_gcm(),
                _ => EVP_aead_aes_256_gcm(),
            };
            let ctx = EVP_AEAD_CTX_new(aead, key.as_ptr(), key.len(), 16);
            assert!(!ctx.is_null());
            Gcm(ctx)
        }
    }

    fn seal(&self, nonce: [u8; 12], data: &[u8], in_out: &mut [u8]) -> [u8; 16] {
        let (mut tag, mut tag_size) = ([0; 16], 0);
        let (buffer, size) = (in_out.as_mut_ptr(), in_out.len());
        let ok = unsafe {
            EVP_AEAD_CTX_seal_scatter(
                self.0,
                buffer,
                tag.as_mut_ptr(),
                &mut tag_size,
                16,
                nonce.as_ptr(),
                12,
                buffer,
                size,
                null(),
                0,
                data.as_ptr(),
                data.len(),
            )
        };
        assert_eq!(ok, 1);
        tag
    }

    fn open(&self, nonce: [u8; 12], data: &[u8], buffer: &mut [u8], from: usize) -> bool {
        let (plaintext, sealed) = buffer.split_at_mut(from);
        let (ciphertext, tag) = sealed.split_at(sealed.len() - 16);
        unsafe {
            EVP_AEAD_CTX_open_gather(
                self.0,
                plaintext.as_mut_ptr(),
                nonce.as_ptr(),
                12,
                ciphertext.as_ptr(),
                ciphertext.len(),
                tag.as_ptr(),
                16,
                data.as_ptr(),
                data.len(),
            ) == 1
        }
    }
}

fn main() {
    peers::serve(
        "BoringSSL",
        [
            peers::hmac::<Mac<32>, Mac<64>>(),
            peers::pbkdf2::<Pbkdf2<32>, Pbkdf2<64>>(),
            peers::gcm::<Gcm, Gcm>(),
        ]
        .concat(),
    )
}
