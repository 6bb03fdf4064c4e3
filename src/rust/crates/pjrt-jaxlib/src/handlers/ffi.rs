//! The FFI extension: registration of XLA FFI handlers.

use super::beside::{note_beside, BESIDE};
use super::jaxlib::handler_capsule;
use crate::base::entry::text;
use crate::base::error::{Error, Result};
use crate::handlers::jaxlib::jaxlib;
use crate::handlers::stages;
use crate::handlers::stages::Stages;
use pjrt_api::{
    PJRT_Error_Code, PJRT_Extension_Base, PJRT_Extension_Type, PJRT_FFI_Extension,
    PJRT_FFI_Register_Handler_Args,
};
use std::ffi::c_void;
use std::ptr::null_mut;
use xla_ffi::registry::Registry;
use xla_ffi::sys::XLA_FFI_Handler;

/// Names of this platform, compared without case.
const PLATFORMS: [&str; 2] = ["host", "cpu"];

crate::base::entry::entry!(type_register, PJRT_FFI_Type_Register_Args, |_args| {
    Err(Error::unimplemented(
        "types of FFI handlers cannot be registered with this plugin",
    ))
});

crate::base::entry::entry!(user_data_add, PJRT_FFI_UserData_Add_Args, |_args| {
    Err(Error::unimplemented(
        "user data for FFI handlers is not supported by this plugin",
    ))
});

crate::base::entry::entry!(register_handler, PJRT_FFI_Register_Handler_Args, |args| {
    // SAFETY: the API's contract.
    unsafe { register(args) }
});

/// # Safety
/// `args` holds what the API says.
unsafe fn register(args: &PJRT_FFI_Register_Handler_Args) -> Result<()> {
    // SAFETY: by this function's contract.
    let (target, platform) = unsafe {
        (
            text(args.target_name, args.target_name_size, "target_name")?,
            text(args.platform_name, args.platform_name_size, "platform_name")?,
        )
    };
    if target.is_empty() {
        return Err(Error::invalid("`target_name` is empty"));
    }
    if !PLATFORMS
        .iter()
        .any(|name| name.eq_ignore_ascii_case(platform))
    {
        return Err(Error::invalid(format!(
            "handler `{target}` is for platform `{platform}`, this plugin's is `host`"
        )));
    }
    if args.handler.is_null() {
        return Err(Error::invalid(format!("the handler of `{target}` is NULL")));
    }
    let jax = jaxlib()?;
    let gil = jax.gil()?;
    // SAFETY: what callers register is a handler of XLA's FFI; it is not NULL.
    let handler = unsafe { std::mem::transmute::<*mut c_void, XLA_FFI_Handler>(args.handler) };
    let is_ours = Registry::global().bundle_of(handler).is_some();
    let capsule = handler_capsule(&gil, handler)?;
    let arguments = [
        &gil.string(target)?,
        capsule,
        &gil.string(&stages(handler))?,
        &gil.bool(is_ours)?,
    ];
    let registered = gil.call(&jax.register, arguments);
    if registered.is_ok() {
        stages::remember(target, Stages::of(handler));
    }
    let taken = |error: &Error| {
        error.code == PJRT_Error_Code::ALREADY_EXISTS
            || error.message.contains("already registered")
            || error.message.contains("Duplicate")
    };
    if !is_ours && registered.as_ref().is_err_and(taken) {
        let other = format!("{BESIDE}{target}");
        let arguments = [&gil.string(target)?, &gil.string(&other)?, capsule];
        let beside = gil.call(&jax.register_beside, arguments)?;
        if beside.is_true(&gil)? {
            stages::remember(&other, Stages::of(handler));
            note_beside(target);
            return Ok(());
        }
    }
    registered.map(drop).map_err(|error| {
        if taken(&error) {
            Error::exists(format!(
                "XLA has another handler `{target}` for this platform already, and keeps it"
            ))
        } else {
            error
        }
    })
}

/// The stages in which XLA is to call a handler, as jaxlib names them.
fn stages(handler: XLA_FFI_Handler) -> String {
    let stages = Stages::of(handler);
    let named = [
        (stages.instantiate, "instantiate"),
        (stages.prepare, "prepare"),
        (stages.initialize, "initialize"),
        (stages.execute, "execute"),
    ];
    let named = named.into_iter().filter(|(stage, _)| stage.is_some());
    named.map(|(_, name)| name).collect::<Vec<&str>>().join(" ")
}

/// The extension as it stands in the table's chain.
pub(crate) const EXTENSION: PJRT_FFI_Extension = PJRT_FFI_Extension {
    base: PJRT_Extension_Base {
        struct_size: std::mem::size_of::<PJRT_FFI_Extension>(),
        r#type: PJRT_Extension_Type::FFI,
        next: null_mut(),
    },
    type_register: Some(type_register),
    user_data_add: Some(user_data_add),
    register_handler: Some(register_handler),
};
const _: () = assert!(std::mem::size_of::<PJRT_FFI_Extension>() == 48);
