// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

use hmac::{Hmac, Mac as _};
use sha2::Sha512;

struct Mac(Hmac<Sha512>);

impl peers::Mac for Mac {
    fn new(key: &[u8]) -> Self {
        Mac(Hmac::new_from_slice(key).unwrap())
    }

    // A clone of the keyed state for each message would be slower.
    fn tag(&mut self, msg: &[u8]) -> [u8; 64] {
        self.0.update(msg);
        self.0.finalize_reset().into_bytes().into()
    }

    fn sum(key: &[u8], msg: &[u8]) -> [u8; 64] {
        let mac = Mac::new(key).0.chain_update(msg);
        mac.finalize().into_bytes().into()
    }
}

fn main() {
    peers::serve::<Mac>("RustCrypto")
}
