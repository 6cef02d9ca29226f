// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

use orion::hazardous::mac::hmac::{sha256, sha512};

macro_rules! mac {
    ($name:ident, $module:ident, $hmac:ident, $size:literal) => {
        struct $name($module::$hmac);

        impl peers::Mac for $name {
            type Tag = [u8; $size];

            fn new(key: &[u8]) -> Self {
                $name($module::$hmac::new(
                    &$module::SecretKey::from_slice(key).unwrap(),
                ))
            }

            fn tag(&mut self, msg: &[u8]) -> [u8; $size] {
                self.0.reset();
                self.0.update(msg).unwrap();
                let tag = self.0.finalize().unwrap();
                tag.unprotected_as_bytes().try_into().unwrap()
            }

            fn sum(key: &[u8], msg: &[u8]) -> [u8; $size] {
                let key = $module::SecretKey::from_slice(key).unwrap();
                let tag = $module::$hmac::hmac(&key, msg).unwrap();
                tag.unprotected_as_bytes().try_into().unwrap()
            }
        }
    };
}

mac!(Mac256, sha256, HmacSha256, 32);
mac!(Mac512, sha512, HmacSha512, 64);

fn main() {
    peers::serve("orion", peers::hmac::<Mac256, Mac512>())
}
