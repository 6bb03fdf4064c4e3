//! SHA-256, which keys and checks what is kept on disk.

use crate::argument::text;
use crate::entry::routines;
use crate::failure::Failure;
use crate::value::Value;
use crate::vector::bytes;

routines! {
    // The digest of a string or a raw vector, in hexadecimal digits.
    fn digest(data) {
        let data = match text(data) {
            Some(text) => text.as_bytes(),
            None => bytes(data).ok_or_else(|| {
                Failure::argument("data", "`data` must be one string or a raw vector")
            })?,
        };
        let words = sha256(data);
        Ok(Value::from(words.map(|word| format!("{word:08x}")).concat()))
    }
}

/// The first 32 bits of the fractional parts of the square roots of the first 8 primes.
const START: [u32; 8] = fractions();
/// The same of the cube roots of the first 64.
const ROUNDS: [u32; 64] = cube_fractions();

/// FIPS 180-4, section 6.2.
fn sha256(data: &[u8]) -> [u32; 8] {
    let mut state = START;
    let mut blocks = data.chunks_exact(64);
    for block in &mut blocks {
        compress(&mut state, block);
    }
    let rest = blocks.remainder();
    let mut last = [0; 128];
    last[..rest.len()].copy_from_slice(rest);
    last[rest.len()] = 0x80;
    let end = if rest.len() < 56 { 64 } else { 128 };
    last[end - 8..end].copy_from_slice(&(data.len() as u64 * 8).to_be_bytes());
    for block in last[..end].chunks_exact(64) {
        compress(&mut state, block);
    }
    state
}

fn compress(state: &mut [u32; 8], block: &[u8]) {
    let mut w = [0_u32; 64];
    for (word, bytes) in w.iter_mut().zip(block.chunks_exact(4)) {
        *word = bytes
            .iter()
            .fold(0, |word, &byte| word << 8 | u32::from(byte));
    }
    for t in 16..64 {
        let (a, b) = (w[t - 15], w[t - 2]);
        let small = a.rotate_right(7) ^ a.rotate_right(18) ^ (a >> 3);
        let large = b.rotate_right(17) ^ b.rotate_right(19) ^ (b >> 10);
        w[t] = w[t - 16]
            .wrapping_add(small)
            .wrapping_add(w[t - 7])
            .wrapping_add(large);
    }
    let [mut a, mut b, mut c, mut d, mut e, mut f, mut g, mut h] = *state;
    for (&round, &word) in ROUNDS.iter().zip(&w) {
        let mix = e.rotate_right(6) ^ e.rotate_right(11) ^ e.rotate_right(25);
        let choice = (e & f) ^ (!e & g);
        let first = h
            .wrapping_add(mix)
            .wrapping_add(choice)
            .wrapping_add(round)
            .wrapping_add(word);
        let mix = a.rotate_right(2) ^ a.rotate_right(13) ^ a.rotate_right(22);
        let majority = (a & b) ^ (a & c) ^ (b & c);
        (h, g, f, e) = (g, f, e, d.wrapping_add(first));
        (d, c, b, a) = (c, b, a, first.wrapping_add(mix).wrapping_add(majority));
    }
    for (sum, word) in state.iter_mut().zip([a, b, c, d, e, f, g, h]) {
        *sum = sum.wrapping_add(word);
    }
}

/// The `n`th prime, from 0.
const fn prime(n: usize) -> u128 {
    let (mut found, mut candidate) = (0, 1);
    loop {
        candidate += 1;
        let mut divisor = 2;
        while candidate % divisor != 0 {
            divisor += 1;
        }
        if divisor == candidate {
            if found == n {
                return candidate;
            }
            found += 1;
        }
    }
}

/// The first 32 bits behind the point of the root of that degree: the largest `root` whose power is at most
/// `number * 2^(32 degree)`.
const fn fraction(number: u128, degree: u32) -> u32 {
    let (mut root, mut bit) = (0_u128, 1_u128 << 37);
    while bit > 0 {
        let next = root + bit;
        if next.pow(degree) <= number << (32 * degree) {
            root = next;
        }
        bit >>= 1;
    }
    root as u32
}

const fn fractions() -> [u32; 8] {
    let (mut all, mut n) = ([0; 8], 0);
    while n < 8 {
        all[n] = fraction(prime(n), 2);
        n += 1;
    }
    all
}

const fn cube_fractions() -> [u32; 64] {
    let (mut all, mut n) = ([0; 64], 0);
    while n < 64 {
        all[n] = fraction(prime(n), 3);
        n += 1;
    }
    all
}
