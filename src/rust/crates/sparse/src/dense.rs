//! Dense matrices in columns, in the plainest way: what is not numbers is computed so.

use crate::scalar::Scalar;

/// As [`Scalar::factor_panel`].
pub(crate) fn factor_panel<S: Scalar>(panel: &mut [S], height: usize) -> Result<(), usize> {
    let width = panel.len().checked_div(height).unwrap_or(0);
    for k in 0..width {
        let (done, rest) = panel.split_at_mut((k + 1) * height);
        let column = &mut done[k * height + k..];
        if !column[0].is_pivot() {
            return Err(k);
        }
        column[0] = column[0].sqrt();
        let factor = column[0].recip();
        for x in &mut column[1..] {
            *x = *x * factor;
        }
        for (j, next) in rest.chunks_exact_mut(height).enumerate() {
            subtract(&mut next[k + 1 + j..], &column[j + 1..], column[j + 1]);
        }
    }
    Ok(())
}

/// As [`Scalar::subtract_square`].
pub(crate) fn subtract_square<S: Scalar>(square: &mut [S], panel: &[S], height: usize) {
    let width = panel.len().checked_div(height).unwrap_or(0);
    let below = height - width;
    for (j, column) in square.chunks_exact_mut(below.max(1)).enumerate() {
        for from in panel.chunks_exact(height) {
            let from = &from[width + j..];
            subtract(&mut column[j..], from, from[0]);
        }
    }
}

/// `y -= factor x`
pub(crate) fn subtract<S: Scalar>(y: &mut [S], x: &[S], factor: S) {
    for (y, &x) in y.iter_mut().zip(x) {
        *y = *y - x * factor;
    }
}
