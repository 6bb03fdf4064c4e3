//! Reads lines `function argument...` and writes values, for `tools/special/accuracy.py`; with a number as its argument it
//! repeats each that often, and writes nanoseconds per value behind it.

use special::Function;
use std::io::{stdin, stdout, BufWriter, Write};
use std::time::Instant;

fn main() {
    let repeats: Option<u32> = std::env::args()
        .nth(1)
        .map(|n| n.parse().expect("a number"));
    let mut out = BufWriter::new(stdout().lock());
    for line in stdin().lines() {
        let line = line.expect("text");
        let mut words = line.split_whitespace();
        let name = words.next().expect("a function");
        let x: Vec<f64> = words.map(|x| x.parse().expect("a number")).collect();
        let function = special::function(name).unwrap_or_else(|| panic!("no function {name}"));
        let value = || match function {
            Function::One(f) => f(x[0]),
            Function::Two(f) => f(x[0], x[1]),
            Function::Three(f) => f(x[0], x[1], x[2]),
        };
        let begin = Instant::now();
        for _ in 1..repeats.unwrap_or(1) {
            std::hint::black_box(value());
        }
        let each = begin.elapsed().as_nanos() as f64 / f64::from(repeats.unwrap_or(1));
        match repeats {
            None => writeln!(out, "{:e}", value()),
            Some(_) => writeln!(out, "{:e} {each}", value()),
        }
        .expect("room");
    }
}
