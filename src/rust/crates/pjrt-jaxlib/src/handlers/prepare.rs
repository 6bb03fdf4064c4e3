//! Programs before XLA compiles them, as `prepare.py` changes them.

use super::beside::may_mean_others;
use crate::base::attend;
use crate::base::attend::{Others, Served};
use crate::base::error::{Error, Result};
use crate::handlers::stages;
use crate::python::compat::Jaxlib;
use crate::python::gil::Gil;
use crate::python::object::Object;
use programs::contains;

/// The program as XLA shall have it, and whether that is in HLO. What it calls of other hosts' handlers is noted for the
/// host that serves.
pub(crate) fn prepared(
    gil: &Gil,
    jax: &Jaxlib,
    code: &[u8],
    is_hlo: bool,
    several: bool,
) -> Result<(Object, bool)> {
    let program = gil.bytes(code)?;
    let served = attend::served();
    let calls_others = match &served {
        Some(served) => served.may_call_others || !served.names.is_empty(),
        None => !is_hlo && may_mean_others(code),
    };
    let may_change = needs_preparation(code) || (several && contains(code, b"custom_call"));
    if !calls_others && (is_hlo || !may_change) {
        return Ok((program, is_hlo));
    }
    let program = match is_hlo {
        true => gil.call(&jax.from_hlo, [&program])?,
        false => program,
    };
    let arguments = [&program, &gil.bool(several)?, &names(gil, served.as_ref())?];
    let [program, found, unserved] = gil
        .call(jax.prepared(gil)?, arguments)?
        .items(gil)?
        .try_into()
        .map_err(|_| Error::internal("prepared gave no three objects"))?;
    attend::found(match (found.to_int(gil)?, unserved.to_int(gil)?) {
        (0, _) => Others::None,
        (_, 0) => Others::Served,
        _ => Others::Unserved,
    });
    if several || calls_others {
        stages::adopt(gil, jax, false)?;
    }
    Ok((program, false))
}

/// What the names mean, as pairs one behind the other; None for a host that does not serve.
fn names(gil: &Gil, served: Option<&Served>) -> Result<Object> {
    let Some(served) = served else {
        return gil.none();
    };
    let names = served.names.iter();
    let names = names.flat_map(|(name, meant)| [gil.string(name), gil.string(meant)]);
    gil.list(names.collect::<Result<Vec<_>>>()?.iter())
}

/// Whether `prepare.py` may have to change a program.
fn needs_preparation(code: &[u8]) -> bool {
    const BYTECODE: &[u8] = b"ML\xefR";
    let empty = || {
        // Sizes are text in a text only.
        code.starts_with(BYTECODE) || contains(code, b"<0x") || contains(code, b"x0x")
    };
    depends_on_handlers(code) || (contains(code, b"_layouts") && empty())
}

/// Whether what is compiled of a program may depend on the handlers that are registered by then: another process may
/// have others.
pub fn depends_on_handlers(code: &[u8]) -> bool {
    const WORDS: [&[u8]; 3] = [b"print_tensor", b"xlaffi.ordered", b"_platform_index"];
    WORDS.iter().any(|word| contains(code, word)) || names_jax_lapack(code)
}

/// Whether a target is called by the name that JAX has for it, `lapack_…`. This package's own programs say
/// `xlaffi.lapack_…`, which nobody else registers.
fn names_jax_lapack(code: &[u8]) -> bool {
    const NAME: &[u8] = b"lapack_";
    code.windows(NAME.len())
        .enumerate()
        .any(|(at, window)| window == NAME && !code[..at].ends_with(b"xlaffi."))
}

#[cfg(test)]
mod tests {
    use super::depends_on_handlers;

    #[test]
    fn targets_of_other_packages_may_be_other_handlers() {
        for own in [
            "@xlaffi.lapack_dtrsm_ffi(%0, %1)",
            "@xlaffi.lu(%0)",
            "lapack",
            "xlaffi.lapack_",
        ] {
            assert!(!depends_on_handlers(own.as_bytes()), "{own}");
        }
        for foreign in [
            "lapack_dtrsm_ffi",
            "@lapack_dpotrf_ffi(%0) @xlaffi.lapack_dtrsm_ffi(%0, %1)",
            "@xlaffi.lapack_dtrsm_ffi(%0, %1) @lapack_dpotrf_ffi(%0)",
            "xlaffi_lapack_dtrsm_ffi",
            "@print_tensor",
        ] {
            assert!(depends_on_handlers(foreign.as_bytes()), "{foreign}");
        }
    }
}
