//! Programs whose arguments have dimensions without sizes.

use crate::base::error::{Error, Result};
use crate::handlers::jaxlib::jaxlib;

/// The program `code` (StableHLO, text or bytecode), whose arguments have dimensions without sizes,
/// for arguments of these shapes; every other shape in it follows from them.
///
/// # Errors
/// No jaxlib; `INVALID_ARGUMENT` for what is no StableHLO, and for shapes that do not fit the
/// program, or do not satisfy what it asserts of them.
pub fn refine(code: &[u8], shapes: &[Vec<i64>]) -> Result<Vec<u8>> {
    if fork::is_child() {
        return Err(Error::precondition(fork::MESSAGE));
    }
    let jax = jaxlib()?;
    let gil = jax.gil()?;
    let shapes = shapes
        .iter()
        .map(|shape| {
            let sizes = shape
                .iter()
                .map(|&n| gil.int(n))
                .collect::<Result<Vec<_>>>()?;
            gil.list(sizes.iter())
        })
        .collect::<Result<Vec<_>>>()?;
    let refined = gil.call(
        jax.refined(&gil)?,
        [&gil.bytes(code)?, &gil.list(shapes.iter())?],
    );
    refined?.to_bytes(&gil)
}
