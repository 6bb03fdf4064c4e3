//! Texts that are nearly signatures: never a panic, and the place is always one of the text.
//! `XLAFFI_FUZZ_SECONDS` goes on for a time, `XLAFFI_FUZZ_SEED` elsewhere.

#[path = "common/rng.rs"]
mod rng;

use std::time::Instant;

use custom_ops::signature::Signature;
use rng::Rng;

const SEEDS: [&str; 6] = [
    "x: T[n], y: T[] -> z: T[n]",
    "a: T[..., m, n] column, w: T[m]?; alpha: f64 = 1, lags: i64[p] = [1, -2], mode: str = \"fast\" -> \
        q: T[..., m, min(m, n)], a: T[..., m, n] column; work: wider(T, f32)[2*n+1]",
    "xs: f64[n]*k; k2: ui8 = 255, on: pred = true, e: f32 = -1.5e-3 -> ys: complex(f64)[(n + 1)/2 - max(k, 1)]*k",
    "x: T, y: U -> z: wider(real(T), U)",
    "größe: T[n] → “z”: T[…]; 'ü\\n' 日本語 \u{feff}\u{301}",
    "; n: i64 = 9223372036854775807 -> z: f64[n*n*n]; w: bf16[9223372036854775807 - 1]",
];

const PARTS: [&str; 48] = [
    "->",
    "...",
    ":",
    ";",
    ",",
    "[",
    "]",
    "(",
    ")",
    "?",
    "*",
    "+",
    "-",
    "/",
    "=",
    ".",
    "T",
    "U",
    "f64",
    "i32",
    "f46",
    "F64",
    "pred",
    "str",
    "n",
    "m",
    "k",
    "x",
    "min",
    "max",
    "wider",
    "real",
    "complex",
    "column",
    "row",
    "0",
    "1",
    "9223372036854775807",
    "9223372036854775808",
    "1e308",
    "1e",
    "true",
    "'",
    "\"",
    "\\",
    "\n",
    "é",
    "𝕏",
];

fn mutated(rng: &mut Rng) -> String {
    let mut text: Vec<char> = rng.pick(&SEEDS).chars().collect();
    for _ in 0..rng.below(6) {
        let at = rng.below(text.len() + 1);
        let until = (at + rng.below(8)).min(text.len());
        match rng.below(6) {
            0 => drop(text.drain(at..until)),
            1 => {
                let part: Vec<char> = text[at..until].to_vec();
                let to = rng.below(text.len() + 1);
                text.splice(to..to, part);
            }
            2 => {
                let part: Vec<char> = rng.pick(&SEEDS).chars().collect();
                text.splice(at..at, part);
            }
            3 => {
                let times = if rng.once_in(8) {
                    1 << rng.below(12)
                } else {
                    1
                };
                let part = rng.pick(&PARTS).repeat(times);
                text.splice(at..at, part.chars());
            }
            4 => text
                .splice(at..at, char::from_u32(rng.next() as u32 % 0x11_0000))
                .for_each(drop),
            _ => {
                let part = rng.pick(&PARTS).chars();
                text.splice(at..until, part);
            }
        }
    }
    text.into_iter().collect()
}

#[test]
fn any_text_is_read_or_refused_at_a_place() {
    let seed = rng::number("XLAFFI_FUZZ_SEED").unwrap_or(1);
    let seconds = rng::number("XLAFFI_FUZZ_SECONDS").unwrap_or(0);
    let start = Instant::now();
    let (mut at, mut good) = (0, 0);
    while at < 5_000 || start.elapsed().as_secs() < seconds {
        let text = mutated(&mut Rng::of(seed, at));
        at += 1;
        match Signature::parse(&text) {
            Ok(signature) => {
                good += 1;
                let usual = signature.to_string();
                let again =
                    Signature::parse(&usual).unwrap_or_else(|error| panic!("{text:?}: {error}"));
                assert_eq!(again.to_string(), usual, "{text:?}");
                assert_eq!(
                    (&again.dims, &again.dtypes),
                    (&signature.dims, &signature.dtypes),
                    "{text:?}"
                );
                let places = signature.operands.iter().map(|operand| &operand.array);
                for place in places.map(|array| array.at.clone()) {
                    assert!(
                        text.get(place).is_some_and(|text| text.contains(':')),
                        "{text:?}"
                    );
                }
            }
            Err(error) => {
                assert!(
                    text.get(error.at.clone()).is_some(),
                    "{text:?}: {:?}",
                    error.at
                );
                let message = error.to_string();
                let lines: Vec<&str> = message.lines().collect();
                if let [_, excerpt, carets] = lines[..] {
                    let length = excerpt.chars().count();
                    assert!(
                        length <= 74 && carets.len() <= length.max(3) + 1,
                        "{text:?}\n{message}"
                    );
                    assert!(carets.trim_start().chars().all(|c| c == '^') && carets.ends_with('^'));
                } else {
                    assert!(text.trim().is_empty(), "{text:?}\n{message}");
                }
            }
        }
    }
    assert!(good * 20 > at, "{good} of {at} are signatures");
}
