//! Making programs: compiled, or read back from a serialised one.

use crate::base::attend;
use crate::base::attend::Others;
use crate::base::entry::{entry, object, slice};
use crate::base::error::{Error, Result};
use crate::client::Client;
use crate::handlers::calls;
use crate::handlers::prepare;
use crate::handlers::stages;
use crate::program::executable::{executable, read_serialized, Loaded, Origin};
use crate::program::proto::Placement;
use pjrt_api::{PJRT_Error_Code, PJRT_SerializedExecutable};
use programs::{Reductions, NO_SUCH_OPTION};

/// Where a program goes that is compiled with these options.
fn place(client: &Client, options: &[u8]) -> Result<Placement> {
    with_devices(client, Placement::read(options)?)
}

/// Where a serialised program goes: as these options say, where there are any. XLA ends the process over another number of
/// devices than it was compiled for.
fn place_serialized(client: &Client, code: &[u8], options: &[u8]) -> Result<Placement> {
    let Some(compiled) = Placement::read_serialized(code)? else {
        return place(client, options);
    };
    if options.is_empty() {
        return with_devices(client, compiled);
    }
    let placed = place(client, options)?;
    let counts = |p: &Placement| (p.replicas, p.partitions);
    if counts(&placed) != counts(&compiled) {
        return Err(Error::invalid(format!(
            "the program was compiled for {} replica(s) of {} partition(s), the options are for {} of {}",
            compiled.replicas, compiled.partitions, placed.replicas, placed.partitions
        )));
    }
    Ok(placed)
}

/// The same, with every device named.
fn with_devices(client: &Client, mut placed: Placement) -> Result<Placement> {
    let wanted = placed.replicas * placed.partitions;
    if placed.devices.is_empty() {
        placed.devices = client.default_devices(wanted);
    }
    if placed.devices.len() != wanted {
        return Err(Error::invalid(format!(
            "{} replica(s) of {} partition(s) need {wanted} device(s), there are {}",
            placed.replicas,
            placed.partitions,
            placed.devices.len()
        )));
    }
    Ok(placed)
}

/// What is made with these options and what XLA is told of a program's reductions; without the latter where XLA has no
/// such option: then it has not the library that it is about.
fn with_reductions<T>(
    reductions: Reductions,
    options: &[u8],
    make: impl Fn(&[u8]) -> Result<T>,
) -> Result<T> {
    let Some(told) = reductions.told(options) else {
        return make(options);
    };
    match make(&told) {
        Err(error) if error.message.contains(NO_SUCH_OPTION) => make(options),
        made => made,
    }
}

entry!(compile, PJRT_Client_Compile_Args, |args| {
    // SAFETY: the API's contract, here and below.
    let client = unsafe { Client::share(args.client)? };
    // SAFETY: as above.
    let program = unsafe { object::<pjrt_api::PJRT_Program, _>(args.program, "program")? };
    // SAFETY: as above.
    let (code, format, options) = unsafe {
        (
            slice(
                program.code.cast_const().cast::<u8>(),
                program.code_size,
                "code",
            )?,
            crate::base::entry::text(program.format, program.format_size, "format")?,
            slice(
                args.compile_options.cast::<u8>(),
                args.compile_options_size,
                "compile_options",
            )?,
        )
    };
    let is_hlo = match format {
        "mlir" => false,
        "hlo" => true,
        _ => {
            return Err(Error::invalid(format!(
                "program format `{format}` is unknown; there are mlir and hlo"
            )))
        }
    };
    let placed = place(&client, options)?;
    let gil = client.jax.gil()?;
    // A process that keeps an error to itself lets the others compute with what is not there.
    let several = placed.devices.len() > 1 && client.has_all(&placed.devices)?;
    let (program, is_prepared_hlo) = prepare::prepared(&gil, client.jax, code, is_hlo, several)?;
    let [is_prepared_hlo, devices] = [
        gil.bool(is_prepared_hlo)?,
        client.python_devices(&gil, &placed.devices)?,
    ];
    let compiled = with_reductions(Reductions::of(code, is_hlo), options, |options| {
        let arguments = [
            &client.object,
            &program,
            &is_prepared_hlo,
            &devices,
            &gil.bytes(options)?,
        ];
        gil.call(&client.jax.compile_program, arguments)
    });
    let compiled = compiled.map_err(|mut error| {
        // XLA's parser reports without a code what is the caller's mistake.
        if error.code == PJRT_Error_Code::UNKNOWN {
            error.code = PJRT_Error_Code::INVALID_ARGUMENT;
        }
        if ["Side-effect ops cannot be", "Side-effect HLO must have"]
            .iter()
            .any(|text| error.message.contains(text))
        {
            return Error::unimplemented(
                "XLA cannot partition calls with side effects, such as `print_tensor`: they are possible in regions \
                 where the program says what each device does (shard_map), and in programs for one device",
            );
        }
        error
    })?;
    args.executable =
        Loaded::new(&gil, client, compiled, placed, Origin::Compiled(code))?.into_raw();
    Ok(())
});

entry!(
    optimized_program,
    PJRT_Executable_OptimizedProgram_Args,
    |args| {
        const FORMAT: &str = "hlo";
        // SAFETY: the API's contract.
        let this = unsafe { executable(args.executable)? };
        // SAFETY: the API's contract.
        let Some(program) = (unsafe { args.program.as_mut() }) else {
            return Err(Error::invalid("`program` is NULL"));
        };
        let gil = this.client.jax.gil()?;
        let code = gil
            .call(&this.client.jax.module_proto, [&this.object])?
            .to_bytes(&gil)?;
        if !program.code.is_null() {
            if program.code_size < code.len() {
                return Err(Error::invalid(format!(
                    "`code_size` is {}, the program needs {}",
                    program.code_size,
                    code.len()
                )));
            }
            // SAFETY: the caller's buffer holds `code_size` bytes.
            unsafe {
                std::ptr::copy_nonoverlapping(code.as_ptr(), program.code.cast(), code.len());
            }
        }
        program.code_size = code.len();
        (program.format, program.format_size) = (FORMAT.as_ptr().cast(), FORMAT.len());
        Ok(())
    }
);

entry!(serialize, PJRT_Executable_Serialize_Args, |args| {
    // SAFETY: the API's contract.
    let this = unsafe { executable(args.executable)? };
    let code = Box::new(this.serialize(&this.client.jax.gil()?)?);
    (args.serialized_bytes, args.serialized_bytes_size) = (code.as_ptr().cast(), code.len());
    args.serialized_executable = Box::into_raw(code).cast();
    args.serialized_executable_deleter = Some(free_serialized);
    Ok(())
});

unsafe extern "C" fn free_serialized(code: *mut PJRT_SerializedExecutable) {
    if !code.is_null() {
        // SAFETY: made by `serialize` as a boxed vector; freed once.
        drop(unsafe { Box::from_raw(code.cast::<Vec<u8>>()) });
    }
}

entry!(
    deserialize,
    PJRT_Executable_DeserializeAndLoad_Args,
    |args| {
        // SAFETY: the API's contract, here and below.
        let client = unsafe { Client::share(args.client)? };
        // SAFETY: as above.
        let (code, options) = unsafe {
            (
                slice(
                    args.serialized_executable.cast::<u8>(),
                    args.serialized_executable_size,
                    "serialized_executable",
                )?,
                slice(
                    args.overridden_serialized_compile_options.cast::<u8>(),
                    args.overridden_serialized_compile_options_size,
                    "overridden_serialized_compile_options",
                )?,
            )
        };
        let (code, digest) = read_serialized(code);
        let placed = place_serialized(&client, code, options)?;
        let gil = client.jax.gil()?;
        let serves = calls::are_served(code);
        if serves {
            attend::found(Others::Served);
        }
        if placed.devices.len() > 1 || serves {
            stages::adopt(&gil, client.jax, true)?;
        }
        let object = gil.call(
            &client.jax.deserialize,
            [
                &client.object,
                &gil.bytes(code)?,
                &client.python_devices(&gil, &placed.devices)?,
                &gil.bytes(options)?,
            ],
        )?;
        args.loaded_executable = Loaded::new(
            &gil,
            client,
            object,
            placed,
            Origin::Serialized(code, digest),
        )?
        .into_raw();
        Ok(())
    }
);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_xla_without_the_option_is_not_told() {
        const OPTIONS: &[u8] = b"\x1a\x04\x20\x01\x28\x01";
        let told = Reductions::Own.told(OPTIONS).unwrap();
        let of = |reductions, refused: Option<&str>| {
            with_reductions(reductions, OPTIONS, |options| match refused {
                Some(message) if options == told => Err(Error::invalid(message)),
                _ => Ok(options.to_vec()),
            })
        };
        assert_eq!(of(Reductions::AsXla, None), Ok(OPTIONS.to_vec()));
        assert_eq!(of(Reductions::Own, None), Ok(told.clone()));
        let unknown = "No such compile option: 'xla_cpu_experimental_ynn_fusion_type'";
        assert_eq!(of(Reductions::Own, Some(unknown)), Ok(OPTIONS.to_vec()));
        let other = of(Reductions::Own, Some("the program is wrong"));
        assert_eq!(other, Err(Error::invalid("the program is wrong")));
    }
}
