//! Answers of NVIDIA's libraries as errors that name the function.

use super::sys::Status;
use std::ffi::{c_char, CStr};
use std::ptr;
use xla_ffi::{Code, Error, Result};

const CUSOLVER: &[(Status, &str)] = &[
    (1, "NOT_INITIALIZED"),
    (2, "ALLOC_FAILED"),
    (3, "INVALID_VALUE"),
    (4, "ARCH_MISMATCH"),
    (5, "MAPPING_ERROR"),
    (6, "EXECUTION_FAILED"),
    (7, "INTERNAL_ERROR"),
    (8, "MATRIX_TYPE_NOT_SUPPORTED"),
    (9, "NOT_SUPPORTED"),
];

const CUBLAS: &[(Status, &str)] = &[
    (1, "NOT_INITIALIZED"),
    (3, "ALLOC_FAILED"),
    (7, "INVALID_VALUE"),
    (8, "ARCH_MISMATCH"),
    (11, "MAPPING_ERROR"),
    (13, "EXECUTION_FAILED"),
    (14, "INTERNAL_ERROR"),
    (15, "NOT_SUPPORTED"),
];

/// `CUDA_ERROR_OUT_OF_MEMORY`.
const OUT_OF_MEMORY: Status = 2;

fn check(
    status: Status,
    (library, function): (&str, &str),
    prefix: &str,
    names: &[(Status, &str)],
) -> Result<()> {
    if status == 0 {
        return Ok(());
    }
    let found = names.iter().find(|(value, _)| *value == status);
    let name = match found {
        Some((_, name)) => format!("{prefix}{name}"),
        None => "an unknown status".to_owned(),
    };
    let code = match found {
        Some((_, "ALLOC_FAILED")) => Code::ResourceExhausted,
        _ => Code::Internal,
    };
    Err(Error::new(
        code,
        format!("{library}{function} answered {name} ({status})"),
    ))
}

/// # Errors
/// `cusolverDnXsyevd answered CUSOLVER_STATUS_INTERNAL_ERROR (7)`.
pub fn cusolver(function: &str, status: Status) -> Result<()> {
    check(
        status,
        ("cusolverDn", function),
        "CUSOLVER_STATUS_",
        CUSOLVER,
    )
}

/// # Errors
/// As [`cusolver`].
pub fn cublas(function: &str, status: Status) -> Result<()> {
    check(status, ("cublas", function), "CUBLAS_STATUS_", CUBLAS)
}

/// # Errors
/// `cuLaunchKernel answered CUDA_ERROR_INVALID_VALUE (1)`.
pub fn driver(function: &str, status: Status) -> Result<()> {
    if status == 0 {
        return Ok(());
    }
    let name = error_name(status).unwrap_or_else(|| "an unknown error".to_owned());
    let code = if status == OUT_OF_MEMORY {
        Code::ResourceExhausted
    } else {
        Code::Internal
    };
    Err(Error::new(
        code,
        format!("cu{function} answered {name} ({status})"),
    ))
}

fn error_name(status: Status) -> Option<String> {
    let driver = super::driver::driver().ok()?;
    let mut name: *const c_char = ptr::null();
    // SAFETY: `name` is where the answer goes.
    let known = unsafe { (driver.get_error_name)(status, &mut name) } == 0;
    if !known || name.is_null() {
        return None;
    }
    // SAFETY: the driver's names are constants that end in NUL.
    Some(
        unsafe { CStr::from_ptr(name) }
            .to_string_lossy()
            .into_owned(),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn code_and_text(answer: Result<()>) -> (Code, String) {
        let error = answer.expect_err("no success");
        (error.code(), error.to_string())
    }

    #[test]
    fn success_is_none() {
        for library in [cusolver, cublas, driver] {
            assert_eq!(library("Anything", 0), Ok(()));
        }
    }

    #[test]
    fn a_status_is_named_with_its_function() {
        let text = "cusolverDnXsyevd answered CUSOLVER_STATUS_INTERNAL_ERROR (7)";
        assert_eq!(
            code_and_text(cusolver("Xsyevd", 7)),
            (Code::Internal, text.into())
        );
        // The same number is something else there.
        let text = "cublasSgetrfBatched answered CUBLAS_STATUS_INVALID_VALUE (7)";
        assert_eq!(
            code_and_text(cublas("SgetrfBatched", 7)),
            (Code::Internal, text.into())
        );
        for status in [-1, 4, 99, Status::MAX] {
            let text = format!("cublasCreate answered an unknown status ({status})");
            assert_eq!(
                code_and_text(cublas("Create", status)),
                (Code::Internal, text)
            );
        }
    }

    #[test]
    fn no_memory_has_a_code_of_its_own() {
        let codes = [
            cusolver("Create", 2),
            cublas("Create", 3),
            driver("MemAlloc", 2),
        ];
        for (code, text) in codes.map(code_and_text) {
            assert_eq!(code, Code::ResourceExhausted, "{text}");
        }
    }

    #[test]
    fn every_status_has_one_name() {
        for names in [CUSOLVER, CUBLAS] {
            for (i, (value, name)) in names.iter().enumerate() {
                assert!(names[i + 1..].iter().all(|(v, n)| v > value && n != name));
            }
        }
    }

    /// The driver's own word where there is one, else that it is unknown.
    #[test]
    fn an_error_of_the_driver_has_its_number_and_function() {
        let (code, text) = code_and_text(driver("LaunchKernel", 999_999));
        assert_eq!(code, Code::Internal);
        assert!(text.starts_with("cuLaunchKernel answered "), "{text}");
        assert!(text.ends_with(" (999999)"), "{text}");
    }
}
