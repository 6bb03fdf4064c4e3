//! What a check of a call costs: `cargo run --release -p own-ops --example bind`.

use std::hint::black_box;
use std::time::Instant;

use custom_ops::bind::{Bound, Plan, Sets};
use custom_ops::signature::Signature;
use xla_ffi::DataType;

fn main() {
    let f = DataType::F64;
    let case = |text: &str,
                operands: &[(DataType, &[i64])],
                results: &[(DataType, &[i64])],
                attributes: &[i64]| {
        let signature = Signature::parse(text).expect("a signature");
        let sets = Sets::new(&signature, &[]).expect("sets");
        let plan = Plan::new(signature, sets);
        let mut bound = Bound::default();
        // The best of many: others use the machine, too.
        let best = (0..50).map(|_| {
            let start = Instant::now();
            for _ in 0..10_000 {
                let checked = plan.check(
                    black_box(operands),
                    black_box(results),
                    attributes,
                    &mut bound,
                );
                assert!(checked.is_ok());
                black_box(&bound);
            }
            start.elapsed().as_secs_f64() / 10_000.0 * 1e9
        });
        println!("{:6.1} ns  {text}", best.fold(f64::INFINITY, f64::min));
    };
    case(
        "x: T[n], y: T[] -> z: T[n]",
        &[(f, &[10]), (f, &[])],
        &[(f, &[10])],
        &[],
    );
    case(
        "x: T[..., n], y: T[...] -> z: T[..., n]",
        &[(f, &[5, 10]), (f, &[5])],
        &[(f, &[5, 10])],
        &[],
    );
    case(
        "x: T[..., n], y: T[...] -> z: T[..., n]",
        &[(f, &[5, 1, 10]), (f, &[6])],
        &[(f, &[5, 6, 10])],
        &[],
    );
    case(
        "a: T[..., m, n] column; k: i64 -> q: T[..., m, min(m, n) + k]; work: T[2*n + 1]",
        &[(f, &[5, 4, 3])],
        &[(f, &[5, 4, 4])],
        &[1],
    );
    case(
        "xs: T[n]*k -> z: T[n, k]",
        &[(f, &[10][..]); 4],
        &[(f, &[10, 4])],
        &[],
    );
}
