// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

use orion::hazardous::mac::hmac::sha512::{HmacSha512, SecretKey};

struct Mac(HmacSha512);

impl peers::Mac for Mac {
    fn new(key: &[u8]) -> Self {
        Mac(HmacSha512::new(&SecretKey::from_slice(key).unwrap()))
    }

    fn tag(&mut self, msg: &[u8]) -> [u8; 64] {
        self.0.reset();
        self.0.update(msg).unwrap();
        let tag = self.0.finalize().unwrap();
        tag.unprotected_as_bytes().try_into().unwrap()
    }

    fn sum(key: &[u8], msg: &[u8]) -> [u8; 64] {
        let tag = HmacSha512::hmac(&SecretKey::from_slice(key).unwrap(), msg).unwrap();
        tag.unprotected_as_bytes().try_into().unwrap()
    }
}

fn main() {
    peers::serve("orion", peers::hmac::<Mac>())
}
