//! How long a grid's Laplacian takes: `grid [SIDES [WHAT]]`, the least of several times, in milliseconds. The sides are
//! `316x316` of a plane, `27x27x27` of a room.

use sparse::{Float, Pattern, Symbolic, System, HIGHEST_ORDER};
use std::time::Instant;

fn least(what: &str, mut f: impl FnMut()) {
    if std::env::args()
        .nth(2)
        .is_some_and(|only| !what.starts_with(&only))
    {
        return;
    }
    let mut least = f64::INFINITY;
    let begin = Instant::now();
    while begin.elapsed().as_secs_f64() < 1.5 {
        let start = Instant::now();
        f();
        least = least.min(start.elapsed().as_secs_f64() * 1e3);
    }
    println!("{what}: {least:.2}");
}

fn main() {
    let sides = std::env::args().nth(1).unwrap_or("100x100".into());
    let sides: Vec<usize> = sides
        .split('x')
        .map(|side| side.parse().expect("sides"))
        .collect();
    let n = sides.iter().product::<usize>();
    let (mut colptr, mut rowind, mut values) = (vec![0], Vec::new(), Vec::new());
    for at in 0..n {
        rowind.push(at as i32);
        values.push(2.0 * sides.len() as f64 + 1.0);
        let mut step = 1;
        for side in &sides {
            if at / step % side + 1 < *side {
                rowind.push((at + step) as i32);
                values.push(-1.0);
            }
            step *= side;
        }
        colptr.push(rowind.len() as i32);
    }
    let pattern = Pattern::new(n as i64, &colptr, &rowind).expect("a pattern");
    least("analysis", || drop(Symbolic::new(&pattern)));
    let symbolic = Symbolic::new(&pattern);
    let entries = symbolic.factor_pattern().rows.len();
    println!(
        "{n} columns, {entries} entries, {} with zeros",
        symbolic.factor_len()
    );
    let mut factor = vec![0.0; symbolic.factor_len()];
    least("factor", || {
        assert_eq!(
            Float::cholesky(&symbolic, &values, &mut factor).expect("memory"),
            0
        );
    });
    println!("log det {}", symbolic.log_determinant(&factor));
    let mut inverse = vec![0.0; values.len()];
    least("inverse", || {
        Float::inverse(&symbolic, &factor, &mut inverse).expect("memory")
    });
    let (b, mut x) = (vec![1.0; n], vec![0.0; n]);
    least("solution", || {
        symbolic
            .solve(&factor, System::Whole, &b, &mut x)
            .expect("memory");
    });
    for order in 1..=HIGHEST_ORDER {
        let along = vec![&values[..]; order];
        least(&format!("derivative of order {order}"), || {
            Float::inverse_derivative(&symbolic, &values, &along, &mut inverse).expect("memory");
        });
    }
}
