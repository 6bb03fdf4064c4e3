//! What the libraries' routines for a whole batch take: the number of matrices and a list of their
//! addresses.

use super::memory::MutMatrices;
use super::scratch::{bytes, Arena};
use super::sys::Status;
use super::{kernels, status, Cuda, DeviceSliceMut};
use std::ffi::{c_int, c_void};
use std::mem::size_of;
use xla_ffi::{Code, Cx, Error, Result};

/// The number of matrices as the libraries count it.
///
/// # Errors
/// It is beyond that.
pub(crate) fn count_of(count: usize) -> Result<c_int> {
    c_int::try_from(count).map_err(|_| {
        let text = format!("{count} matrices are more than CUDA's libraries can count");
        Error::new(Code::InvalidArgument, text)
    })
}

/// Gives `f` parts of a batch, one after the other, of at most `most` matrices: where each begins and
/// how many it has.
///
/// # Errors
/// The first of `f`'s.
pub(crate) fn in_parts(
    count: usize,
    most: usize,
    mut f: impl FnMut(usize, usize) -> Result<()>,
) -> Result<()> {
    (0..count)
        .step_by(most.max(1))
        .try_for_each(|first| f(first, most.max(1).min(count - first)))
}

/// Calls a routine of cuSOLVER for one matrix after the other; `run` is given the matrix's number.
///
/// # Errors
/// The routine refuses.
pub(crate) fn one_by_one(
    count: usize,
    routine: &str,
    mut run: impl FnMut(usize) -> Status,
) -> Result<()> {
    (0..count).try_for_each(|i| status::cusolver(routine, run(i)))
}

/// Where the infos of `count` matrices are; 0 where nobody wants them.
///
/// # Errors
/// There are fewer.
pub(crate) fn infos(info: &mut Option<DeviceSliceMut<'_, i32>>, count: usize) -> Result<u64> {
    info.as_mut()
        .map_or(Ok(0), |info| Ok(info.matrices("info", count, 1)?.address()))
}

/// Memory for the addresses of as many matrices, `N` times.
///
/// # Errors
/// There is no memory.
pub(crate) fn address_lists<'f, const N: usize>(
    cx: &Cx<'f, Cuda>,
    count: usize,
) -> Result<Arena<'f, N>> {
    Arena::new(cx, [bytes(count, size_of::<u64>())?; N])
}

/// Lists the addresses of matrices in `to`, for the device.
///
/// # Errors
/// There is no room for them; the kernel cannot be launched.
pub(crate) fn list_addresses(
    cx: &Cx<'_, Cuda>,
    mut to: DeviceSliceMut<'_, u64>,
    of: &MutMatrices<'_>,
) -> Result<*mut *mut c_void> {
    let count = of.count();
    let to = to.matrices("addresses", count, 1)?;
    let arguments = [to.address(), of.address(), of.step() as u64, count as u64];
    // SAFETY: room for `count` addresses, which are of memory that there is.
    unsafe { kernels::launch(cx.platform(), "addresses", (count, 1), arguments) }?;
    Ok(to.at(0).cast())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_follow_each_other_to_the_end() {
        let parts = |count, most| {
            let mut parts = Vec::new();
            let outcome = in_parts(count, most, |first, count| {
                parts.push((first, count));
                Ok(())
            });
            outcome.map(|()| parts)
        };
        assert_eq!(parts(0, 3), Ok(vec![]));
        assert_eq!(parts(3, 3), Ok(vec![(0, 3)]));
        assert_eq!(parts(7, 3), Ok(vec![(0, 3), (3, 3), (6, 1)]));
        assert_eq!(parts(2, usize::MAX), Ok(vec![(0, 2)]));
        let stopped = in_parts(7, 3, |first, _| match first {
            0 => Ok(()),
            _ => Err(Error::internal(first.to_string())),
        });
        assert_eq!(stopped, Err(Error::internal("3")));
    }

    #[test]
    fn more_than_the_libraries_count_is_refused() {
        let most = c_int::MAX as usize;
        assert_eq!(count_of(0), Ok(0));
        assert_eq!(count_of(most), Ok(c_int::MAX));
        let error = count_of(most + 1).expect_err("too many");
        assert_eq!(error.code(), Code::InvalidArgument);
        assert_eq!(
            error.to_string(),
            "2147483648 matrices are more than CUDA's libraries can count"
        );
    }
}
