//! Decompositions of single matrices and of batches on one thread: by faer, by the package's handlers and by
//! libraries with LAPACK, in turn in one process.
//!
//!     engines [--alone] [--out FILE] [NAME=PATH...] [WORD...]
//!
//! The LAPACK that the handlers use is a peer, `NAME=PATH` is another. WORDs pick dtypes, ops and sizes
//! (`f64 lu 32`); `--alone` gives every engine one matrix at a time. A figure is the least of many rounds, in
//! microseconds for a matrix, the copy of the operand included.

mod faer_engine;
mod handlers;
mod library;
mod number;

use library::Library;
use number::Number;
use std::fmt::Write;
use std::time::Instant;

/// What is computed, `Q` and vectors in full size.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Op {
    Lu,
    Cholesky,
    Qr,
    Eigh,
    Svd,
}

const OPS: [(Op, &str); 5] = [
    (Op::Lu, "lu"),
    (Op::Cholesky, "cholesky"),
    (Op::Qr, "qr"),
    (Op::Eigh, "eigh"),
    (Op::Svd, "svd"),
];
const SIZES: [usize; 10] = [4, 8, 16, 32, 64, 96, 128, 256, 512, 1000];
/// Elements of a batch: what the second level of cache holds.
const BATCH: usize = 64 * 1024;
/// Seconds for a row of the table, and rounds at least.
const BUDGET: f64 = 0.6;
const ROUNDS: usize = 3;

/// What the project aims at, as ratio of our time to faer's, in f32 and f64.
fn goal(n: usize) -> f64 {
    if n <= 64 {
        1.0
    } else {
        1.05
    }
}

/// A batch of square matrices, one after the other.
pub struct Batch<T> {
    pub op: Op,
    pub n: usize,
    pub x: Vec<T>,
}

impl<T: Number> Batch<T> {
    /// Random, and positive definite where that is asked for.
    fn new(op: Op, n: usize, count: usize) -> Self {
        let mut state = 0x9e37_79b9_7f4a_7c15_u64;
        let mut next = || {
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
            (state >> 11) as f64 / (1_u64 << 52) as f64 - 1.0
        };
        let mut x: Vec<T> = (0..n * n * count).map(|_| T::new(next(), next())).collect();
        if matches!(op, Op::Cholesky | Op::Eigh) {
            for matrix in x.chunks_mut(n * n) {
                for j in 0..n {
                    for i in j + 1..n {
                        matrix[j + i * n] = matrix[i + j * n].conjugate();
                    }
                    matrix[j + j * n] = T::new(2.0 * n as f64, 0.0);
                }
            }
        }
        Batch { op, n, x }
    }
}

/// Seconds that each engine takes for the batch, at best.
fn race(engines: &mut [Box<dyn FnMut() + '_>]) -> Vec<f64> {
    let mut best = vec![f64::INFINITY; engines.len()];
    let (start, mut rounds) = (Instant::now(), 0);
    while rounds < ROUNDS || start.elapsed().as_secs_f64() < BUDGET {
        for (engine, best) in engines.iter_mut().zip(&mut best) {
            let start = Instant::now();
            engine();
            *best = best.min(start.elapsed().as_secs_f64());
        }
        rounds += 1;
    }
    best
}

/// The rows of a dtype.
fn rows<T: Number>(libraries: &[Library], words: &[String], alone: bool, out: &mut String) {
    let wanted = |all: &[&str], name: &str| {
        let mut picked = words
            .iter()
            .filter(|word| all.contains(&word.as_str()))
            .peekable();
        picked.peek().is_none() || picked.any(|word| word == name)
    };
    if !wanted(&["f32", "f64", "c64", "c128"], T::NAME) {
        return;
    }
    let (sizes, ops) = (SIZES.map(|n| n.to_string()), OPS.map(|(_, name)| name));
    for (op, name) in OPS {
        for n in SIZES {
            let all: Vec<&str> = sizes.iter().map(String::as_str).collect();
            if !wanted(&ops, name) || !wanted(&all, &n.to_string()) {
                continue;
            }
            let count = if alone {
                1
            } else {
                (BATCH / (n * n)).clamp(1, 256)
            };
            let batch = Batch::<T>::new(op, n, count);
            let mut engines: Vec<Box<dyn FnMut()>> = vec![
                Box::new(faer_engine::engine(&batch)),
                Box::new(handlers::engine(&batch)),
            ];
            for library in libraries {
                engines.push(Box::new(library.engine(&batch)));
            }
            let times = race(&mut engines);
            let mut line = format!("| {} {name} | {n} |", T::NAME);
            for seconds in &times {
                write!(line, " {:.3} |", seconds * 1e6 / count as f64).unwrap();
            }
            for peer in times.iter().enumerate().filter(|&(at, _)| at != 1) {
                write!(line, " {:.2} |", times[1] / peer.1).unwrap();
            }
            if T::COMPLEX {
                line += " |";
            } else {
                write!(line, " {:.2} |", goal(n)).unwrap();
            }
            eprintln!("{line}");
            out.push_str(&line);
            out.push('\n');
        }
    }
}

/// The LAPACK that the handlers use.
fn of_the_handlers() -> Library {
    let (about, _) = lapack::report();
    let about = about.expect("a LAPACK, which the handlers need too");
    let name = about.version.split_whitespace().next();
    Library::open(name.unwrap_or("LAPACK"), &about.path)
}

fn main() {
    let (mut libraries, mut words) = (vec![of_the_handlers()], Vec::new());
    let (mut alone, mut file) = (false, None);
    let mut arguments = std::env::args().skip(1);
    while let Some(argument) = arguments.next() {
        if argument == "--alone" {
            alone = true;
        } else if argument == "--out" {
            file = arguments.next();
        } else if let Some((name, path)) = argument.split_once('=') {
            libraries.push(Library::open(name, path));
        } else {
            words.push(argument);
        }
    }
    let names: Vec<&str> = libraries
        .iter()
        .map(|library| library.name.as_str())
        .collect();
    let peers: Vec<&str> = std::iter::once("faer")
        .chain(names.iter().copied())
        .collect();
    let mut out = format!("| | n | faer | ours | {} |", names.join(" | "));
    for peer in &peers {
        write!(out, " ours / {peer} |").unwrap();
    }
    out += &format!(
        " goal, of faer |\n|---|{}\n",
        "--:|".repeat(3 + 2 * peers.len())
    );
    eprint!("{out}");
    rows::<f64>(&libraries, &words, alone, &mut out);
    rows::<f32>(&libraries, &words, alone, &mut out);
    rows::<num_complex::Complex<f64>>(&libraries, &words, alone, &mut out);
    rows::<num_complex::Complex<f32>>(&libraries, &words, alone, &mut out);
    match file {
        Some(file) => std::fs::write(file, out).expect("a file that can be written"),
        None => print!("{out}"),
    }
}
