// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

use ring::{aead, hmac};

struct Mac(hmac::Key);

impl peers::Mac for Mac {
    fn new(key: &[u8]) -> Self {
        Mac(hmac::Key::new(hmac::HMAC_SHA512, key))
    }

    fn tag(&mut self, msg: &[u8]) -> [u8; 64] {
        hmac::sign(&self.0, msg).as_ref().try_into().unwrap()
    }

    fn sum(key: &[u8], msg: &[u8]) -> [u8; 64] {
        Self::new(key).tag(msg)
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
        [peers::hmac::<Mac>(), peers::gcm::<Gcm, Gcm>()].concat(),
    )
}
