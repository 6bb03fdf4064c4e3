//! Compiling programs.

use std::sync::Arc;
use std::thread::available_parallelism;

use extendr_api::Robj;
use extendr_ffi::SEXP;
use pjrt::{may_have_side_effects, NO_SUCH_OPTION};
use pjrt::{Client, CompileOptions, Executable, Program, ProgramKind, Reductions};

use crate::host::called::Called;
use crate::host::device::DeviceObject;
use crate::host::executable::{ExecutableObject, LastUse};
use crate::host::foreign::{check_program, compile_failure, compiled, is_foreign_cpu, prepared};
use crate::host::other_hosts::{taken_name_in, Calls};
use crate::host::run::{Done, Run};
use crate::r::argument::{counts, elements, flag, integer};
use crate::r::entry::routines;
use crate::r::failure::{Failure, Outcome};
use crate::r::object::{borrowed, inherits, is_null};
use crate::r::pointer::{get, wrap};
use crate::r::value::named;
use crate::r::vector::bytes;
use crate::runtime::pace::Pace;

routines! {
    // Compiles a program for a device, or for those that the options name, on another thread: a run.
    fn client_compile(device, program, options) {
        let program: &Program = get(program, "program")?;
        make(device, program, options, |client, program, options| client.compile(program, options))
    }

    // Loads what executable_serialize() gave for an executable of the program, on another thread: a run.
    fn client_load(device, program, compiled, options) {
        let program: &Program = get(program, "program")?;
        let compiled = bytes(compiled)
            .ok_or_else(|| Failure::argument("compiled", "`compiled` must be a raw vector"))?
            .to_vec();
        make(device, program, options, move |client, program, options| client.load(&compiled, program, options))
    }

    // What programs compiled for a device depend on: the plugin's version, the kind of the device, and how many
    // threads there may be.
    fn client_facts(device) {
        let on: &DeviceObject = get(device, "device")?;
        Ok(named! {
            plugin = on.client.platform_version()?,
            device = on.device.kind()?,
            threads = available_parallelism().map_or(1, |threads| threads.get() as i32),
        })
    }
}

/// An executable for a device, or for those that the options name, made of a program on another thread: a run.
fn make(
    device: &Robj,
    program: &Program,
    options: &Robj,
    how: impl Fn(&Client, &Program, &[u8]) -> pjrt::Result<Executable> + Send + Sync + 'static,
) -> Outcome<SEXP> {
    let on: &DeviceObject = get(device, "device")?;
    let mut options = compile_options(options, program)?;
    if options.devices.is_empty() && options.replicas * options.partitions == 1 {
        options.devices = vec![on.device.id()?];
    }
    let is_alone = options.replicas * options.partitions == 1;
    options.kind = ProgramKind::of(program, is_alone && &*on.platform == "cpu");
    let is_foreign_cpu = is_foreign_cpu(&on.client, &on.platform);
    options.keeps_nan = is_foreign_cpu;
    options.keeps_conversions = &*on.platform == "cuda";
    // The plugin that install_pjrt() brings computes the arc tangent of an array with NaN wrongly where that is fused with
    // the constant 1.
    options.without_fusion = is_foreign_cpu && program.names("atan");
    if is_foreign_cpu {
        options.reductions = program.reductions();
        check_program(program.code(), is_alone)?;
        if let Some(name) = taken_name_in(program, &on.platform) {
            return Err(Failure::new(
                "FAILED_PRECONDITION",
                format!("the program calls `{name}`, of which another host in this process has the handler"),
            )
            .hint("StableHLO as text, and not as bytecode or HLO, calls the handler of this session."));
        }
    }
    let program = match is_foreign_cpu {
        true => prepared(program),
        false => program.clone(),
    };
    let client = on.client.clone();
    let platform = on.platform.clone();
    let run = Run::start(move || {
        let calls = Calls::of(&program, &client, &platform);
        let (executable, others) = calls.compile(|changed| {
            let make = || {
                known_options(&options, |options| match calls.is_changed {
                    // What was compiled in another session may call other names.
                    true => client.compile(changed, options),
                    false => how(&client, changed, options),
                })
            };
            match is_foreign_cpu {
                true => compiled(&client, changed, make).map_err(compile_failure),
                false => Ok(make()?),
            }
        });
        Ok(Done::Compiled(ExecutableObject {
            executable: Arc::new(executable?),
            pace: Arc::new(Pace::of(program.code())),
            called: Called::by(program.code(), others),
            runs_once: may_have_side_effects(program.code()),
            platform: platform.clone(),
            is_foreign_cpu,
            used: LastUse::default(),
        }))
    })?;
    Ok(wrap(run))
}

/// What is made with these options. Where the plugin knows one of them not, without those that only save time, and
/// without the one about a library's reductions: an XLA that has no such option has not that library.
fn known_options<T>(
    options: &CompileOptions,
    make: impl Fn(&[u8]) -> pjrt::Result<T>,
) -> pjrt::Result<T> {
    let mut fewer = options.clone();
    fewer.reductions = Reductions::AsXla;
    if fewer.kind.only_saves_time() {
        fewer.kind = ProgramKind::Plain;
    }
    match make(&options.to_bytes()) {
        Err(error) if fewer != *options && error.to_string().contains(NO_SUCH_OPTION) => {
            make(&fewer.to_bytes())
        }
        made => made,
    }
}

/// What pjrt_compile_options() made, with the ids of the devices; NULL is one replica and one partition.
fn compile_options(options: &Robj, program: &Program) -> Outcome<CompileOptions> {
    if is_null(options) {
        return Ok(CompileOptions::default());
    }
    let refused = || {
        Failure::argument(
            "compile_options",
            "`compile_options` must be made by pjrt_compile_options()",
        )
    };
    let parts = elements(options);
    let ([replicas, partitions, devices, shardy], true) =
        (&parts[..], inherits(options, "xlaffi_compile_options"))
    else {
        return Err(refused());
    };
    // SAFETY: elements of a list that R protects.
    let [replicas, partitions, devices, shardy] =
        [replicas, partitions, devices, shardy].map(|part| unsafe { borrowed(part) });
    let count = |value| integer(value).and_then(|value| usize::try_from(value).ok());
    let ids = counts(devices).and_then(|ids| {
        let ids = ids.into_iter().map(i32::try_from);
        ids.collect::<std::result::Result<_, _>>().ok()
    });
    Ok(CompileOptions {
        replicas: count(replicas).ok_or_else(refused)?,
        partitions: count(partitions).ok_or_else(refused)?,
        devices: ids.ok_or_else(refused)?,
        shardy: partitioner(flag(shardy), program)?,
        kind: ProgramKind::Plain,
        keeps_nan: false,
        without_fusion: false,
        reductions: Reductions::AsXla,
        keeps_conversions: false,
    })
}

/// Whether Shardy is to partition a program, where nothing was asked for: all but those whose shardings are written for
/// GSPMD, which Shardy does not find at every place.
fn partitioner(asked: Option<bool>, program: &Program) -> Outcome<bool> {
    let says = |word| program.names(word);
    match asked {
        Some(true) => Ok(true),
        Some(false) if says("sdy.") => Err(Failure::argument(
            "shardy",
            "the program says by `sdy` operations or attributes how it is partitioned: GSPMD cannot read them",
        )),
        Some(false) => Ok(false),
        None => Ok(says("sdy") || !says("mhlo.sharding")),
    }
}
