// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

use ring::{aead, hmac, pbkdf2};

struct Mac<const BITS: usize>(hmac::Key);

impl<const BITS: usize> peers::Mac for Mac<BITS> {
    type Tag = hmac::Tag;

    fn new(key: &[u8]) -> Self {
        let algorithm = match BITS {
            256 => hmac::HMAC_SHA256,
            _ => hmac::HMAC_SHA512,
        };
        Mac(hmac::Key::new(algorithm, key))
    }

    fn tag(&mut self, msg: &[u8]) -> hmac::Tag {
        hmac::sign(&self.0, msg)
    }

    fn sum(key: &[u8], msg: &[u8]) -> hmac::Tag {
        Self::new(key).tag(msg)
    }
}

struct Pbkdf2<const BITS: usize>;

impl<const BITS: usize> peers::Pbkdf2 for Pbkdf2<BITS> {
    fn derive(password: &[u8], salt: &[u8], key: &mut [u8]) {
        let algorithm = match BITS {
            256 => pbkdf2::PBKDF2_HMAC_SHA256,
            _ => pbkdf2::PBKDF2_HMAC_SHA512,
        };
        let iterations = peers::PBKDF2_ITERATIONS.try_into().unwrap();
        pbkdf2::derive(algorithm, iterations, salt, password, key);
    }
}

struct Gcm(aead::LessSafeKey);

impl peers::Gcm for Gcm {
    fn new(key: &[u8]) -> Self {
        let algorithm = match key.len() {
            16 => &aead::AES_128_GCM,
            _ => &aead::AES_256_GCM,
        };
        Gcm(aead::LessSafeKey::new(
            aead::UnboundKey::new(algorithm, key).unwrap(),
        ))
    }

    fn seal(&self, nonce: [u8; 12], data: &[u8], in_out: &mut [u8]) -> [u8; 16] {
        let nonce = aead::Nonce::assume_unique_for_key(nonce);
        let tag = (self.0).seal_in_place_separate_tag(nonce, aead::Aad::from(data), in_out);
        tag.unwrap().as_ref().try_into().unwrap()
    }

    fn open(&self, nonce: [u8; 12], data: &[u8], buffer: &mut [u8], from: usize) -> bool {
        let nonce = aead::Nonce::assume_unique_for_key(nonce);
        let data = aead::Aad::from(data);
        self.0.open_within(nonce, data, buffer, from..).is_ok()
    }
}

fn main() {
    peers::serve(
        "ring",
        [
            peers::hmac::<Mac<256>, Mac<512>>(),
            peers::pbkdf2::<Pbkdf2<256>, Pbkdf2<512>>(),
            peers::gcm::<Gcm, Gcm>(),
        ]
        .concat(),
    )
}
