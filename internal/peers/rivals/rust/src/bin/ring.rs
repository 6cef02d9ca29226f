// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

use ring::hmac;

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

fn main() {
    peers::serve::<Mac>("ring")
}
