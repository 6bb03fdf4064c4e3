//! Directions of mixed derivatives.

use ::sparse::HIGHEST_ORDER;
use xla_ffi::{Arg, Error, RemainingArgs, Result, Scalar};

/// Those that were read already and the rest, each of these dimensions.
///
/// # Errors
/// One has other dimensions or element types; there are more than a derivative has.
pub fn read_directions<'f, T: Scalar>(
    mut directions: Vec<&'f [T]>,
    rest: RemainingArgs<'f>,
    dims: &[i64],
) -> Result<Vec<&'f [T]>> {
    for direction in rest {
        let direction: Arg<'f, T> = Arg::new(direction?)?;
        direction.expect_dims(dims)?;
        directions.push(direction.as_slice()?);
    }
    if directions.len() > HIGHEST_ORDER {
        return Err(Error::invalid_argument(format!(
            "expected at most {HIGHEST_ORDER} directions, got {}",
            directions.len()
        )));
    }
    Ok(directions)
}
