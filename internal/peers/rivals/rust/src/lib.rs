// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

//! The Rust side of the protocol of package serve: key, message, requests.

use std::hint::black_box;
use std::process::exit;
use std::time::Instant;

/// HMAC, in the fastest way that a library offers.
pub trait Mac {
    type Tag: AsRef<[u8]>;

    fn new(key: &[u8]) -> Self;

    /// Returns the tag of msg. The key is reused for the next one.
    fn tag(&mut self, msg: &[u8]) -> Self::Tag;

    /// Returns the tag of msg under a key that is used once.
    fn sum(key: &[u8], msg: &[u8]) -> Self::Tag;
}

/// AES-GCM, in the fastest way that a library offers.
pub trait Gcm {
    fn new(key: &[u8]) -> Self;

    /// Encrypts in_out in place and returns the tag.
    fn seal(&self, nonce: [u8; 12], data: &[u8], in_out: &mut [u8]) -> [u8; 16];

    /// Decrypts buffer[from..], ciphertext and tag, to the start of buffer. from is at
    /// least the size of the ciphertext. Returns whether the tag is right.
    fn open(&self, nonce: [u8; 12], data: &[u8], buffer: &mut [u8], from: usize) -> bool;
}

/// The name of an op, without the library, and what runs it: key, message, number of
/// messages. The result is empty if something failed.
pub type Op = (&'static str, fn(&[u8], &[u8], u64) -> Vec<u8>);

/// The ops of HMAC with SHA-256 and SHA-512.
pub fn hmac<M256: Mac, M512: Mac>() -> Vec<Op> {
    vec![
        (":hmac-sha256:stream", stream::<M256>),
        (":hmac-sha256:sum", sum::<M256>),
        (":hmac-sha512:stream", stream::<M512>),
        (":hmac-sha512:sum", sum::<M512>),
    ]
}

/// The number of iterations of PBKDF2.
pub const PBKDF2_ITERATIONS: u32 = 1000;

/// PBKDF2 of password and salt.
pub trait Pbkdf2 {
    fn derive(password: &[u8], salt: &[u8], key: &mut [u8]);
}

/// The ops of PBKDF2 with HMAC-SHA-256 and HMAC-SHA-512.
pub fn pbkdf2<P256: Pbkdf2, P512: Pbkdf2>() -> Vec<Op> {
    vec![
        (":pbkdf2-sha256:derive", derive::<P256, 32>),
        (":pbkdf2-sha512:derive", derive::<P512, 64>),
    ]
}

/// How many bytes of the key are the salt of HKDF. The others are the secret.
pub const HKDF_SALT_SIZE: usize = 32;

/// HKDF of a secret, a salt and info.
pub trait Hkdf {
    fn derive(secret: &[u8], salt: &[u8], info: &[u8], key: &mut [u8]);
}

/// The ops of HKDF with HMAC-SHA-256 and HMAC-SHA-512.
pub fn hkdf<H256: Hkdf, H512: Hkdf>() -> Vec<Op> {
    vec![
        (":hkdf-sha256:derive", expand::<H256, 32>),
        (":hkdf-sha512:derive", expand::<H512, 64>),
    ]
}

/// The ops of AES-128-GCM and AES-256-GCM.
pub fn gcm<G128: Gcm, G256: Gcm>() -> Vec<Op> {
    vec![
        (":gmac:stream", gmac::<G128>),
        (":aes256-gcm:seal", seal::<G256>),
        (":aes256-gcm:open", open::<G256>),
    ]
}

// black_box keeps the compiler from merging the iterations.

fn stream<M: Mac>(key: &[u8], msg: &[u8], n: u64) -> Vec<u8> {
    let mut mac = M::new(key);
    for _ in 1..n {
        black_box(mac.tag(black_box(msg)));
    }
    mac.tag(msg).as_ref().to_vec()
}

fn sum<M: Mac>(key: &[u8], msg: &[u8], n: u64) -> Vec<u8> {
    for _ in 1..n {
        black_box(M::sum(black_box(key), black_box(msg)));
    }
    M::sum(key, msg).as_ref().to_vec()
}

/// Derives a key from a password, with the message as salt.
fn derive<P: Pbkdf2, const SIZE: usize>(password: &[u8], salt: &[u8], n: u64) -> Vec<u8> {
    let mut key = [0; SIZE];
    for _ in 0..n {
        P::derive(black_box(password), black_box(salt), &mut key);
        black_box(&key);
    }
    key.to_vec()
}

/// Derives a key from a secret and a salt, with the message as info.
fn expand<H: Hkdf, const SIZE: usize>(secret: &[u8], info: &[u8], n: u64) -> Vec<u8> {
    let mut key = [0; SIZE];
    let (salt, secret) = secret.split_at(HKDF_SALT_SIZE);
    for _ in 0..n {
        H::derive(black_box(secret), black_box(salt), black_box(info), &mut key);
        black_box(&key);
    }
    key.to_vec()
}

/// The nonce of the last message of every run.
const LAST_NONCE: u64 = 1 << 40;

/// What is authenticated with each message, but not encrypted: as many bytes as in TLS.
const DATA: [u8; 13] = [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12];

fn put_nonce(count: u64) -> [u8; 12] {
    let mut nonce = [0; 12];
    nonce[4..].copy_from_slice(&count.to_be_bytes());
    nonce
}

fn gmac<G: Gcm>(key: &[u8], msg: &[u8], n: u64) -> Vec<u8> {
    let gcm = G::new(&key[..16]);
    let mut tag = [0; 16];
    for count in LAST_NONCE - n + 1..=LAST_NONCE {
        tag = black_box(gcm.seal(put_nonce(count), black_box(msg), &mut []));
    }
    tag.to_vec()
}

/// Encrypts a buffer in place again and again. The last time it has the message.
fn seal<G: Gcm>(key: &[u8], msg: &[u8], n: u64) -> Vec<u8> {
    let gcm = G::new(&key[..32]);
    let mut memory = vec![0; msg.len() + PAGE];
    let buffer = &mut from_page(&mut memory)[..msg.len()];
    let mut tag = [0; 16];
    for count in LAST_NONCE - n + 1..=LAST_NONCE {
        if count == LAST_NONCE {
            buffer.copy_from_slice(msg);
        }
        tag = black_box(gcm.seal(put_nonce(count), &DATA, black_box(buffer)));
    }
    tag.to_vec()
}

/// Decrypts a message again and again. The tag at the end is of the plaintext.
fn open<G: Gcm>(key: &[u8], msg: &[u8], n: u64) -> Vec<u8> {
    let gcm = G::new(&key[..32]);
    let from = msg.len().next_multiple_of(PAGE);
    let mut memory = vec![0; from + msg.len() + 16 + PAGE];
    let buffer = &mut from_page(&mut memory)[..from + msg.len() + 16];
    let nonce = put_nonce(LAST_NONCE);
    let (ciphertext, tag) = buffer[from..].split_at_mut(msg.len());
    ciphertext.copy_from_slice(msg);
    tag.copy_from_slice(&gcm.seal(nonce, &DATA, ciphertext));
    for _ in 0..n {
        if !black_box(gcm.open(nonce, &DATA, black_box(buffer), from)) {
            return Vec::new();
        }
    }
    let tag = gcm.seal(nonce, &DATA, &mut buffer[..msg.len()]);
    buffer[from + msg.len()] ^= 1;
    if gcm.open(nonce, &DATA, buffer, from) {
        return Vec::new(); // a wrong tag was accepted
    }
    tag.to_vec()
}

const PAGE: usize = 4096;

/// Returns memory from its first page on: the buffers of the peers in Go and C start on a
/// page too.
fn from_page(memory: &mut [u8]) -> &mut [u8] {
    let start = memory.as_ptr().align_offset(PAGE);
    &mut memory[start..]
}

fn new_message(size: usize) -> Vec<u8> {
    let mut memory = vec![0; size + PAGE];
    for (i, b) in from_page(&mut memory).iter_mut().enumerate() {
        *b = (i % 251) as u8;
    }
    memory
}

/// Answers requests for the ops of this peer until there are no more.
pub fn serve(name: &str, ops: Vec<Op>) {
    let key: Vec<u8> = (0..64).collect();
    let mut capacity = 1 << 20;
    let mut memory = new_message(capacity);
    println!("ready");
    for line in std::io::stdin().lines() {
        let line = line.expect("fastmac: request");
        let (op, size, n) = parse(&line).unwrap_or_else(|| {
            eprintln!("fastmac: request {line:?}: want op, size and n");
            exit(1);
        });
        let of_op = |&&(suffix, _): &&Op| op.strip_prefix(name) == Some(suffix);
        let Some((_, run)) = ops.iter().find(of_op) else {
            eprintln!("fastmac: no op {op}");
            exit(1);
        };
        if size > capacity {
            capacity = size;
            memory = new_message(capacity);
        }
        let msg = &from_page(&mut memory)[..size];
        let start = Instant::now();
        let tag = run(&key, msg, n);
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
