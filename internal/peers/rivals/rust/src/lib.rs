// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

//! The Rust side of the protocol of package serve: key, message, requests.

use std::hint::black_box;
use std::process::exit;
use std::time::Instant;

/// HMAC-SHA-512, in the fastest way that a library offers.
pub trait Mac {
    fn new(key: &[u8]) -> Self;

    /// Returns the tag of msg. The key is reused for the next one.
    fn tag(&mut self, msg: &[u8]) -> [u8; 64];

    /// Returns the tag of msg under a key that is used once.
    fn sum(key: &[u8], msg: &[u8]) -> [u8; 64];
}

// black_box keeps the compiler from merging the iterations.

fn stream<M: Mac>(key: &[u8], msg: &[u8], n: u64) -> [u8; 64] {
    let mut mac = M::new(key);
    let mut tag = [0; 64];
    for _ in 0..n {
        tag = black_box(mac.tag(black_box(msg)));
    }
    tag
}

fn sum<M: Mac>(key: &[u8], msg: &[u8], n: u64) -> [u8; 64] {
    let mut tag = [0; 64];
    for _ in 0..n {
        tag = black_box(M::sum(black_box(key), black_box(msg)));
    }
    tag
}

fn new_message(size: usize) -> Vec<u8> {
    (0..size).map(|i| (i % 251) as u8).collect()
}

/// Answers requests for the ops of this peer until there are no more.
pub fn serve<M: Mac>(name: &str) {
    let key: Vec<u8> = (0..64).collect();
    let mut msg = new_message(1 << 20);
    println!("ready");
    for line in std::io::stdin().lines() {
        let line = line.expect("fastmac: request");
        let (op, size, n) = parse(&line).unwrap_or_else(|| {
            eprintln!("fastmac: request {line:?}: want op, size and n");
            exit(1);
        });
        let run = match op.strip_prefix(name) {
            Some(":hmac-sha512:stream") => stream::<M>,
            Some(":hmac-sha512:sum") => sum::<M>,
            _ => {
                eprintln!("fastmac: no op {op}");
                exit(1);
            }
        };
        if size > msg.len() {
            msg = new_message(size);
        }
        let start = Instant::now();
        let tag = run(&key, &msg[..size], n);
        let elapsed = start.elapsed().as_nanos();
        let tag: String = tag.iter().map(|b| format!("{b:02x}")).collect();
        println!("{elapsed} {tag}");
    }
}

fn parse(line: &str) -> Option<(&str, usize, u64)> {
    let (op, numbers) = line.split_once(' ')?;
    let (size, n) = numbers.split_once(' ')?;
    Some((op, size.parse().ok()?, n.parse().ok()?))
}
