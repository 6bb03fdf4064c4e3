//! Lengths of operands and workspaces.

use crate::int::Int;
use matrices::Element;

/// The rows that a block of LAPACK's has at most, for workspace that lets it use them.
pub(super) const BLOCK: i128 = 64;

/// The letter that asks for vectors or for none.
pub(super) fn job(vectors: bool) -> u8 {
    if vectors {
        b'V'
    } else {
        b'N'
    }
}

/// Elements of an `m` × `n` matrix, neither of which is negative.
pub(super) fn elements(m: Int, n: Int) -> usize {
    usize::try_from(m)
        .ok()
        .zip(usize::try_from(n).ok())
        .and_then(|(m, n)| m.checked_mul(n))
        .unwrap_or_else(|| panic!("no matrix has {m} x {n} elements"))
}

/// The length of a workspace as LAPACK takes it.
pub(super) fn length<T>(work: &[T]) -> Int {
    Int::try_from(work.len()).unwrap_or(Int::MAX)
}

/// Asserts that `a` is an `m` × `n` matrix with elements.
pub(super) fn expect_matrix<T>(routine: &str, (m, n): (Int, Int), a: &[T]) {
    assert!(m > 0 && n > 0, "{routine} needs a matrix, got {m} x {n}");
    assert_eq!(a.len(), elements(m, n));
}

/// The order of the square matrix `a`, with room in `w` and `wi` for its eigenvalues: complex ones in `w`, or the parts
/// of those of a real matrix in both.
pub(super) fn order_with_values<T: Element>(a: &[T], (w, wi): (&[T], &[T])) -> Int {
    let n = length(w);
    assert!(n > 0 && a.len() == elements(n, n));
    assert_eq!(wi.len(), if T::COMPLEX { 0 } else { w.len() });
    n
}

/// A length of workspace as LAPACK gives it. Those who ask do so in double precision, which has all
/// digits of it.
pub(super) fn best_length<T: Element>(answer: T) -> i128 {
    answer.re_f64().ceil() as i128
}
