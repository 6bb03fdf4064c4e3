//! Kernels of one's own for hosts other than R: what `tools/gpu/check` runs.

use std::ffi::{c_char, c_void};
use std::panic::catch_unwind;
use std::ptr;

use custom_ops::bind::Sets;
use custom_ops::signature::Signature;
use custom_ops::{register, CustomOp, KernelCode, Kernels, Options, Work};
use xla_ffi::registry::Registry;
use xla_ffi::DataType;

/// The handler for CUDA of an op with a kernel. All texts end in NUL. `dtypes` is `"T=f32,f64;U=i32"`; `parts`
/// are, one behind the other: the body, support code, the text of `xlaffi.h`, the index's name, the
/// number of its values (`""`: of the first result's elements), the grid, the block and the shared
/// memory, where a grid of `""` is none. NULL and a line on stderr where it cannot be made.
///
/// # Safety
/// Each text is NULL or ends in NUL and stays unchanged during the call; there are eight `parts`.
#[no_mangle]
pub unsafe extern "C" fn xlaffi_kernel(
    name: *const c_char,
    signature: *const c_char,
    dtypes: *const c_char,
    parts: *const *const c_char,
) -> *const c_void {
    let made = catch_unwind(|| {
        // SAFETY: by contract.
        let texts = unsafe {
            let part = |at: usize| super::text(*parts.add(at));
            let parts: Option<Vec<&str>> = (0..8).map(part).collect();
            (
                super::text(name),
                super::text(signature),
                super::text(dtypes),
                parts,
            )
        };
        let (Some(name), Some(signature), Some(dtypes), Some(parts)) = texts else {
            return Err("a text is missing".to_owned());
        };
        make(name, signature, dtypes, &parts)
    });
    match made {
        Ok(Ok(handler)) => handler,
        Ok(Err(text)) => {
            eprintln!("{text}");
            ptr::null()
        }
        Err(_) => ptr::null(),
    }
}

fn make(name: &str, text: &str, dtypes: &str, parts: &[&str]) -> Result<*const c_void, String> {
    let signature = Signature::parse(text).map_err(|error| error.to_string())?;
    let given = dtypes.split(';').filter_map(|one| one.split_once('='));
    let given: Vec<(&str, Vec<DataType>)> = given
        .map(|(name, set)| {
            (
                name,
                set.split(',').filter_map(DataType::from_name).collect(),
            )
        })
        .collect();
    let given: Vec<(&str, &[DataType])> = given
        .iter()
        .map(|(name, set)| (*name, set.as_slice()))
        .collect();
    let sets = Sets::new(&signature, &given).map_err(|error| error.message)?;
    let some = |text: &str| (!text.is_empty()).then(|| text.to_owned());
    let all = |text: &str| -> Vec<String> { text.split(',').map(str::to_owned).collect() };
    let work = match parts[5] {
        "" => Work::Each {
            index: parts[3].to_owned(),
            over: some(parts[4]),
        },
        grid => Work::Grid {
            blocks: all(grid),
            threads: all(parts[6]),
            shared: some(parts[7]),
        },
    };
    let code = KernelCode {
        files: [format!("{name}.cu"), "support.cu".to_owned()],
        body: parts[0].to_owned(),
        support: parts[1].to_owned(),
        header: parts[2].to_owned(),
        work,
        options: Vec::new(),
    };
    let kernels = Kernels::new(&signature, &sets, &code);
    let kernels = kernels.map_err(|fault| format!("{}: {}", fault.part, fault.message))?;
    let options = Options {
        kernels: Some(kernels),
        ..Options::default()
    };
    // SAFETY: there are no bodies; the kernel is what the caller says.
    let op = unsafe { CustomOp::new(name, signature, sets, Vec::new(), options) };
    let op = op.map_err(|error| error.to_string())?;
    register(&op, None).map_err(|error| error.to_string())?;
    let handler = Registry::global().lookup(name, "cuda");
    handler.map_or(Err("it is not registered".to_owned()), |handler| {
        Ok(handler as *const c_void)
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::ffi::CString;

    fn kernel(signature: &str, grid: &str) -> *const c_void {
        let text = |text: &str| CString::new(text).expect("a text");
        let parts = ["z[i] = x[i];", "", "", "i", "", grid, "1", ""].map(text);
        let parts = parts.each_ref().map(|part| part.as_ptr());
        let [name, signature, dtypes] = ["own_copy", signature, "T=f32,i8"].map(text);
        // SAFETY: texts that end in NUL, eight parts.
        unsafe {
            xlaffi_kernel(
                name.as_ptr(),
                signature.as_ptr(),
                dtypes.as_ptr(),
                parts.as_ptr(),
            )
        }
    }

    #[test]
    fn kernels_get_a_handler_and_faults_none() {
        assert!(!kernel("x: T[n] -> z: T[n]", "").is_null());
        assert!(!kernel("x: T[n] -> z: T[n]", "n,2").is_null());
        assert!(kernel("x: T[n] -> z: T[m]", "").is_null());
        assert!(kernel("x: T[n] -> z: T[n]", "q").is_null());
    }
}
