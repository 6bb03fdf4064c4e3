//! Values against references with more digits (`tools/special/reference.py`).

use special::Function;

#[test]
fn values_have_the_digits_that_they_promise() {
    let mut bad = Vec::new();
    let mut count = 0;
    for line in include_str!("reference.csv").lines().skip(1) {
        let cells: Vec<&str> = line.split(',').collect();
        let number = |at: usize| -> f64 { cells[at].parse().expect("a number") };
        let value = match special::function(cells[0]).expect("a function") {
            Function::One(f) => f(number(2)),
            Function::Two(f) => f(number(2), number(3)),
            Function::Three(f) => f(number(2), number(3), number(4)),
        };
        let off = (value - number(5)).abs();
        // Below the normal numbers only so many digits are left.
        let allowed = number(1) * number(5).abs() + f64::MIN_POSITIVE * f64::EPSILON;
        if off.is_nan() || off > allowed {
            bad.push(format!(
                "{line}: {value:e}, off by {:.1e}",
                off / number(5).abs()
            ));
        }
        count += 1;
    }
    assert!(count > 200, "only {count} references");
    assert!(bad.is_empty(), "{}", bad.join("\n"));
}
