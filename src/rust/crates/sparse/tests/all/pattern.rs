//! What is no pattern is told.

use sparse::{Columns, Pattern};

#[test]
fn a_pattern_that_is_none_is_told() {
    let told = |n: i64, colptr: &[i32], rowind: &[i32]| {
        let error = Pattern::new(n, colptr, rowind).expect_err("no pattern");
        error.to_string()
    };
    assert_eq!(
        told(-1, &[0], &[]),
        "`n` must be from 0 to 2147483646, got -1"
    );
    assert_eq!(
        told(1 << 40, &[0], &[]),
        "`n` must be from 0 to 2147483646, got 1099511627776"
    );
    assert_eq!(
        told(2, &[0, 1], &[0]),
        "`colptr` must have 3 elements, one more than there are columns, got 2"
    );
    assert_eq!(told(1, &[1, 1], &[0]), "`colptr` must begin with 0, got 1");
    assert_eq!(
        told(2, &[0, 2, 1], &[0]),
        "`colptr` must not descend, got 1 behind 2"
    );
    assert_eq!(
        told(2, &[0, 1, 2], &[0]),
        "`rowind` must have 2 elements, as the last of `colptr` says, got 1"
    );
    assert_eq!(
        told(2, &[0, 1, 2], &[0, 0]),
        "`rowind` must be of the lower triangle, 1 or more in column 1, got 0"
    );
    let ascend = "`rowind` must ascend in each column, in column 0 from";
    assert_eq!(
        told(2, &[0, 2, 2], &[1, 0]),
        format!("{ascend} 2 to 1 here, got 0")
    );
    assert_eq!(
        told(2, &[0, 2, 2], &[0, 0]),
        format!("{ascend} 1 to 1 here, got 0")
    );
    assert_eq!(
        told(2, &[0, 2, 2], &[0, 2]),
        format!("{ascend} 1 to 1 here, got 2")
    );
    assert_eq!(
        told(2, &[0, 1, 1], &[-1]),
        format!("{ascend} 0 to 1 here, got -1")
    );
}

#[test]
fn a_rectangular_pattern_that_is_none_is_told() {
    let told = |nrow, ncol, colptr: &[i32], rowind: &[i32]| {
        let error = Columns::new(nrow, ncol, colptr, rowind).expect_err("no pattern");
        error.to_string()
    };
    assert_eq!(
        told(-2, 0, &[0], &[]),
        "`nrow` must be from 0 to 2147483646, got -2"
    );
    assert_eq!(
        told(1, -2, &[0], &[]),
        "`ncol` must be from 0 to 2147483646, got -2"
    );
    assert_eq!(
        told(2, 1, &[0, 1], &[2]),
        "`rowind` must ascend in each column, in column 0 from 0 to 1 here, got 2"
    );
    assert!(Columns::new(2, 3, &[0, 2, 2, 3], &[0, 1, 0]).is_ok());
}

#[test]
fn patterns_are_compared() {
    let pattern = Pattern::new(2, &[0, 2, 3], &[0, 1, 1]).expect("a pattern");
    assert!(pattern.is(2, &[0, 2, 3], &[0, 1, 1]));
    assert!(!pattern.is(3, &[0, 2, 3], &[0, 1, 1]));
    assert!(!pattern.is(2, &[0, 1, 3], &[0, 1, 1]));
    assert!(!pattern.is(2, &[0, 2], &[0, 1, 1]));
    assert!(!pattern.is(2, &[0, 2, 3], &[0, 1]));
}
