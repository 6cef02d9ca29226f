// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

use aes_gcm::aead::{
    consts::{U12, U16},
    inout::InOutBuf,
    AeadInOut, KeyInit,
};
use aes_gcm::{Aes128Gcm, Aes256Gcm};
use hmac::digest::{FixedOutputReset, Output, OutputSizeUser};
use hmac::{Hmac, Mac as _};
use sha2::{Sha256, Sha512};

struct Mac<H>(H);

impl<H> peers::Mac for Mac<H>
where
    H: hmac::Mac + hmac::digest::KeyInit + FixedOutputReset + OutputSizeUser,
{
    type Tag = Output<H>;

    fn new(key: &[u8]) -> Self {
        Mac(<H as hmac::digest::KeyInit>::new_from_slice(key).unwrap())
    }

    // A clone of the keyed state for each message would be slower.
    fn tag(&mut self, msg: &[u8]) -> Output<H> {
        hmac::Mac::update(&mut self.0, msg);
        self.0.finalize_fixed_reset()
    }

    fn sum(key: &[u8], msg: &[u8]) -> Output<H> {
        let mac = Self::new(key).0.chain_update(msg);
        mac.finalize().into_bytes()
    }
}

macro_rules! pbkdf2 {
    ($name:ident, $hash:ty) => {
        struct $name;

        impl peers::Pbkdf2 for $name {
            fn derive(password: &[u8], salt: &[u8], key: &mut [u8]) {
                pbkdf2::pbkdf2_hmac::<$hash>(password, salt, peers::PBKDF2_ITERATIONS, key);
            }
        }
    };
}

pbkdf2!(Pbkdf2Sha256, Sha256);
pbkdf2!(Pbkdf2Sha512, Sha512);

macro_rules! hkdf {
    ($name:ident, $hash:ty) => {
        struct $name;

        impl peers::Hkdf for $name {
            fn derive(secret: &[u8], salt: &[u8], info: &[u8], key: &mut [u8]) {
                let prk = hkdf::Hkdf::<$hash>::new(Some(salt), secret);
                prk.expand(info, key).unwrap();
            }
        }
    };
}

hkdf!(HkdfSha256, Sha256);
hkdf!(HkdfSha512, Sha512);

struct Gcm<G>(G);

impl<G> peers::Gcm for Gcm<G>
where
    G: KeyInit + AeadInOut<NonceSize = U12, TagSize = U16>,
{
    fn new(key: &[u8]) -> Self {
        Gcm(G::new_from_slice(key).unwrap())
    }

    fn seal(&self, nonce: [u8; 12], data: &[u8], in_out: &mut [u8]) -> [u8; 16] {
        let tag = (self.0).encrypt_inout_detached(&nonce.into(), data, in_out.into());
        tag.unwrap().into()
    }

    fn open(&self, nonce: [u8; 12], data: &[u8], buffer: &mut [u8], from: usize) -> bool {
        let (plaintext, sealed) = buffer.split_at_mut(from);
        let (ciphertext, tag) = sealed.split_at(sealed.len() - 16);
        let in_out = InOutBuf::new(ciphertext, &mut plaintext[..ciphertext.len()]).unwrap();
        let tag: [u8; 16] = tag.try_into().unwrap();
        (self
            .0
            .decrypt_inout_detached(&nonce.into(), data, in_out, &tag.into()))
        .is_ok()
    }
}

fn main() {
    let gcm = peers::gcm::<Gcm<Aes128Gcm>, Gcm<Aes256Gcm>>();
    let hmac = peers::hmac::<Mac<Hmac<Sha256>>, Mac<Hmac<Sha512>>>();
    let pbkdf2 = peers::pbkdf2::<Pbkdf2Sha256, Pbkdf2Sha512>();
    let hkdf = peers::hkdf::<HkdfSha256, HkdfSha512>();
    peers::serve("RustCrypto", [hmac, pbkdf2, hkdf, gcm].concat())
}
