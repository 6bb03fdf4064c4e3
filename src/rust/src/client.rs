//! `xlaffi_client`: a plugin's connection to its devices.

use std::sync::Arc;
use std::thread::available_parallelism;

use extendr_api::Robj;
use extendr_ffi::SEXP;
use pjrt::{
    compile_options, exact_options, may_have_side_effects, Client, Executable, Program,
    EXACT_MODULE,
};

use crate::callback::Called;
use crate::device::DeviceObject;
use crate::entry::routines;
use crate::executable::ExecutableObject;
use crate::failure::{Failure, Outcome};
use crate::pace::Pace;
use crate::pointer::{class, get, wrap, wrap_list};
use crate::run::{Done, Run};
use crate::value::{named, Value};
use crate::vector::bytes;

/// A client under the name of its platform.
pub struct ClientObject {
    /// The client.
    pub client: Client,
    /// Name of the platform as the user gave it.
    pub platform: Arc<str>,
}

class!(
    ClientObject,
    c"xlaffi_client",
    "a client made by pjrt_client()"
);

routines! {
    // Name of the platform.
    fn client_platform(client) {
        let object: &ClientObject = get(client, "client")?;
        Ok(Value::from(&*object.platform))
    }

    // The devices, as a list.
    fn client_devices(client) {
        let object: &ClientObject = get(client, "client")?;
        let devices = object.client.devices().into_iter();
        let devices = devices.map(|device| DeviceObject {
            device,
            client: object.client.clone(),
            platform: object.platform.clone(),
        });
        Ok(wrap_list(devices.collect()))
    }

    // Compiles a program for a device, on another thread: a run.
    fn client_compile(device, program) {
        let program: &Program = get(program, "program")?;
        make(device, program, |client, program, options| client.compile(program, options))
    }

    // Loads what executable_serialize() gave for an executable of the program, on another thread: a run.
    fn client_load(device, program, compiled) {
        let program: &Program = get(program, "program")?;
        let compiled = bytes(compiled)
            .ok_or_else(|| Failure::argument("compiled", "`compiled` must be a raw vector"))?
            .to_vec();
        make(device, program, move |client, program, options| client.load(&compiled, program, options))
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

/// An executable for a device, made of a program on another thread: a run.
fn make(
    device: &Robj,
    program: &Program,
    how: impl Fn(&Client, &Program, &[u8]) -> pjrt::Result<Executable> + Send + Sync + 'static,
) -> Outcome<SEXP> {
    let on: &DeviceObject = get(device, "device")?;
    let mut options = compile_options(Some(on.device.id()?));
    if program.code().starts_with(EXACT_MODULE.as_bytes()) {
        options = exact_options(options);
    }
    let (client, program) = (on.client.clone(), program.clone());
    let platform = on.platform.clone();
    let run = Run::start(move || {
        Ok(Done::Compiled(ExecutableObject {
            executable: Arc::new(how(&client, &program, &options)?),
            pace: Arc::new(Pace::of(program.code())),
            called: Called::by(program.code()),
            runs_once: may_have_side_effects(program.code()),
            platform: platform.clone(),
        }))
    })?;
    Ok(wrap(run))
}
