//! The ops as a shared library for hosts other than R (JAX in Python, a GPU machine without R).

mod own;

use std::ffi::{c_char, c_void, CStr};
use std::panic::catch_unwind;
use std::path::{Path, PathBuf};
use std::ptr;
use std::slice;

/// The XLA FFI handler of `target` on `platform` (both NUL-terminated), to be registered with any
/// XLA; NULL where there is none, or where a name is NULL.
///
/// # Safety
/// Each name is NULL or points to a NUL-terminated string that stays unchanged during the call.
#[no_mangle]
pub unsafe extern "C" fn xlaffi_handler(
    target: *const c_char,
    platform: *const c_char,
) -> *const c_void {
    catch_unwind(|| {
        lapack::look_in(packages);
        // SAFETY: by contract.
        let names = unsafe { (text(target), text(platform)) };
        match names {
            (Some(target), Some(platform)) => ops::find(target, platform),
            _ => None,
        }
    })
    .ok()
    .flatten()
    .map_or(ptr::null(), |handler| handler as *const c_void)
}

/// How many elements the factors of `sparse_cholesky` have for a symmetric pattern, as the handlers take it: `n` columns
/// of the lower triangle, where they begin, `n + 1` numbers of which the last one is that of the entries, and the rows
/// of these, all counted from 0. -1 where it is no such pattern, or a pointer is NULL.
///
/// # Safety
/// Each pointer is NULL or points to as many numbers that stay unchanged during the call.
#[no_mangle]
pub unsafe extern "C" fn xlaffi_sparse_factor_length(
    n: i64,
    colptr: *const i32,
    rowind: *const i32,
) -> i64 {
    let Ok(columns) = usize::try_from(n) else {
        return -1;
    };
    if colptr.is_null() || rowind.is_null() || columns > i32::MAX as usize {
        return -1;
    }
    catch_unwind(|| {
        // SAFETY: by contract.
        let colptr = unsafe { slice::from_raw_parts(colptr, columns + 1) };
        let entries = usize::try_from(colptr[columns]).ok()?;
        // SAFETY: by contract.
        let rowind = unsafe { slice::from_raw_parts(rowind, entries) };
        let analysis = ops::sparse_analysis(n, colptr, rowind).ok()?;
        i64::try_from(analysis.symbolic.factor_len()).ok()
    })
    .ok()
    .flatten()
    .unwrap_or(-1)
}

/// The folder of Python's packages that has the jaxlib of this process.
fn packages() -> Vec<PathBuf> {
    // Linux lists what is loaded; elsewhere `XLAFFI_LAPACK` says where a LAPACK is.
    let maps = std::fs::read_to_string("/proc/self/maps").unwrap_or_default();
    packages_in(&maps).into_iter().collect()
}

/// The same, in that list.
fn packages_in(maps: &str) -> Option<PathBuf> {
    let line = maps
        .lines()
        .find(|line| line.ends_with("/jaxlib/libjax_common.so"))?;
    let library = Path::new(&line[line.find('/')?..]);
    library.ancestors().nth(2).map(Path::to_owned)
}

/// # Safety
/// As [`xlaffi_handler`]'s names.
unsafe fn text<'a>(name: *const c_char) -> Option<&'a str> {
    if name.is_null() {
        return None;
    }
    // SAFETY: by contract.
    unsafe { CStr::from_ptr(name) }.to_str().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn handler(target: &CStr, platform: &CStr) -> *const c_void {
        // SAFETY: NUL-terminated.
        unsafe { xlaffi_handler(target.as_ptr(), platform.as_ptr()) }
    }

    #[test]
    fn every_op_is_found_under_every_name_of_its_platform() {
        for platform in [c"host", c"Host", c"cpu"] {
            assert!(!handler(c"lu", platform).is_null());
            assert_eq!(
                handler(c"print_tensor", platform),
                handler(c"print_tensor", c"host")
            );
        }
    }

    #[test]
    fn the_packages_of_a_loaded_jaxlib_are_found() {
        let line = "7f0-7f1 r-xp 0 fe:00 17   /a b/site-packages/jaxlib/libjax_common.so";
        let maps = format!("1-2 r--p 0 fe:00 9 /lib/libc.so.6\n{line}\n");
        assert_eq!(
            packages_in(&maps),
            Some(PathBuf::from("/a b/site-packages"))
        );
        assert_eq!(packages_in("1-2 rw-p 0 00:00 0\n"), None);
    }

    #[test]
    fn what_does_not_exist_is_null() {
        assert!(handler(c"lu", c"moon").is_null());
        assert!(handler(c"nothing", c"host").is_null());
        assert!(handler(c"\xff", c"host").is_null());
        // SAFETY: NULL is allowed.
        assert!(unsafe { xlaffi_handler(ptr::null(), c"host".as_ptr()) }.is_null());
        // SAFETY: NULL is allowed.
        assert!(unsafe { xlaffi_handler(c"lu".as_ptr(), ptr::null()) }.is_null());
    }

    #[test]
    fn a_factor_has_the_length_that_its_pattern_leads_to() {
        // SAFETY: as many numbers as there are columns and entries.
        let length = |n, colptr: &[i32], rowind: &[i32]| unsafe {
            xlaffi_sparse_factor_length(n, colptr.as_ptr(), rowind.as_ptr())
        };
        assert_eq!(length(2, &[0, 2, 3], &[0, 1, 1]), 4);
        assert_eq!(length(0, &[0], &[]), 0);
        // A row above the diagonal, columns that go back, a negative number
        assert_eq!(length(2, &[0, 1, 3], &[0, 0, 1]), -1);
        assert_eq!(length(2, &[0, 3, 2], &[0, 1]), -1);
        assert_eq!(length(-1, &[0], &[]), -1);
        // SAFETY: NULL is allowed.
        let none = unsafe { xlaffi_sparse_factor_length(1, ptr::null(), ptr::null()) };
        assert_eq!(none, -1);
    }
}
