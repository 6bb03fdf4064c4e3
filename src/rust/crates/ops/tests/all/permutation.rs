//! `lu_row_order`: the rows as the exchanges of `lu` leave them.

use crate::common::{handler, run, start, Random};
use xla_ffi::testing::Call;

fn call(batch: &[i64], k: i64, m: i64, pivots: &[i32]) -> Call {
    let with = |last| [batch, &[last]].concat();
    start().arg(&with(k), pivots).ret::<i32>(&with(m))
}

fn order(batch: &[i64], k: i64, m: i64, pivots: &[i32]) -> Vec<i32> {
    let frame = call(batch, k, m, pivots).build();
    run(frame, "lu_row_order").ret::<i32>(0).to_vec()
}

#[test]
fn rows_by_hand() {
    // Rows 1 and 3 change places, then 2 and 3, where the first is now.
    assert_eq!(order(&[], 2, 4, &[3, 3]), [2, 0, 1, 3]);
    assert_eq!(order(&[], 3, 3, &[1, 2, 3]), [0, 1, 2]);
    assert_eq!(order(&[2], 1, 2, &[1, 2]), [0, 1, 1, 0]);
}

/// The rows of a matrix in the new order are those that `lu` factored.
#[test]
fn rows_in_this_order_are_l_times_u() {
    for (m, n) in [(1, 1), (5, 5), (7, 3), (3, 7)] {
        let (a, k) = (Random(51).matrix::<f64>(m * n), m.min(n));
        let dims = [m as i64, n as i64];
        let frame = start()
            .arg(&dims, &a)
            .ret::<f64>(&dims)
            .ret::<i32>(&[k as i64]);
        let frame = run(frame.build(), "lu");
        let packed = frame.ret::<f64>(0);
        let rows = order(&[], k as i64, m as i64, frame.ret::<i32>(1));
        for (i, j) in (0..m * n).map(|at| (at % m, at / m)) {
            let product: f64 = (0..=i.min(j).min(k - 1))
                .map(|p| if p == i { 1.0 } else { packed[i + p * m] } * packed[p + j * m])
                .sum();
            let from = usize::try_from(rows[i]).expect("rows count from 0");
            assert!((product - a[from + j * m]).abs() < 1e-13, "{m} x {n}");
        }
    }
}

#[test]
fn zero_sized_operands_succeed() {
    assert_eq!(order(&[], 0, 3, &[]), [0, 1, 2]);
    assert_eq!(order(&[2], 0, 1, &[]), [0, 0]);
    assert!(order(&[0], 2, 3, &[]).is_empty() && order(&[3], 0, 0, &[]).is_empty());
}

#[test]
fn bad_operands_are_named() {
    let message = |call: Call| {
        let failure = call.run(handler("lu_row_order"));
        failure.expect_err("bad input").to_string()
    };
    assert_eq!(
        message(call(&[], 3, 2, &[1, 2, 2])),
        "INVALID_ARGUMENT: lu_row_order: argument `pivots` must have at most 2 pivots, got 3"
    );
    for (pivot, shown) in [(0, "0"), (3, "3"), (i32::MIN, "-2147483648")] {
        assert_eq!(
            message(call(&[], 1, 2, &[pivot])),
            format!(
                "INVALID_ARGUMENT: lu_row_order: argument `pivots` must be row numbers \
                 from 1 to 2, got {shown}"
            )
        );
    }
    assert_eq!(
        message(start().arg(&[2, 1], &[1_i32; 2]).ret::<i32>(&[3, 2])),
        "INVALID_ARGUMENT: lu_row_order: result `permutation` must have shape (2,2), got (3,2)"
    );
}
