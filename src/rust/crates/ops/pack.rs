//! Packs text that is read once, if ever, so that it takes little room in the package:
//! `src/platform/cuda/packed.rs` unpacks it.
//!
//! Packed text is a sequence of: how many bytes to take as they are, these bytes, how many bytes to
//! repeat, how far back they begin. Numbers have 7 bits to a byte, the lowest first; the eighth says
//! that more follow. The text may end after the bytes.

use std::collections::HashMap;

/// Shorter repetitions are not worth their numbers.
const LEAST: usize = 5;

/// Earlier places that are compared with each.
const TRIED: usize = 64;

pub fn pack(text: &[u8]) -> Vec<u8> {
    let mut out = Vec::new();
    let mut seen: HashMap<&[u8], Vec<usize>> = HashMap::new();
    let (mut at, mut plain) = (0, 0);
    while at < text.len() {
        let key = &text[at..text.len().min(at + LEAST)];
        let places = seen.get(key).map_or(&[][..], Vec::as_slice);
        let found = places
            .iter()
            .rev()
            .take(TRIED)
            .map(|&place| (common(&text[place..], &text[at..]), place))
            .max();
        let len = match found {
            Some((len, place)) if len >= LEAST => {
                bytes(&mut out, &text[plain..at]);
                number(&mut out, len);
                number(&mut out, at - place);
                plain = at + len;
                len
            }
            _ => 1,
        };
        for start in at..at + len {
            let key = &text[start..text.len().min(start + LEAST)];
            seen.entry(key).or_default().push(start);
        }
        at += len;
    }
    bytes(&mut out, &text[plain..]);
    out
}

/// How many bytes are the same.
fn common(a: &[u8], b: &[u8]) -> usize {
    a.iter().zip(b).take_while(|(a, b)| a == b).count()
}

fn bytes(out: &mut Vec<u8>, bytes: &[u8]) {
    number(out, bytes.len());
    out.extend_from_slice(bytes);
}

fn number(out: &mut Vec<u8>, mut number: usize) {
    while number > 127 {
        out.push(number as u8 | 128);
        number >>= 7;
    }
    out.push(number as u8);
}
