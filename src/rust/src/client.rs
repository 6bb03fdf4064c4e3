//! `xlaffi_client`: a plugin's connection to its devices.

use std::sync::Arc;

use pjrt::{compile_options, Client, Program};

use crate::callback::may_call_r;
use crate::device::DeviceObject;
use crate::entry::routines;
use crate::executable::ExecutableObject;
use crate::pace::Pace;
use crate::pointer::{class, get, wrap, wrap_list};
use crate::run::{Done, Run};
use crate::value::Value;

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
        let on: &DeviceObject = get(device, "device")?;
        let program: &Program = get(program, "program")?;
        let options = compile_options(Some(on.device.id()?));
        let (client, program) = (on.client.clone(), program.clone());
        let platform = on.platform.clone();
        let run = Run::start(move || {
            let executable = client.compile(&program, &options)?;
            Ok(Done::Compiled(ExecutableObject {
                executable: Arc::new(executable),
                pace: Arc::new(Pace::of(program.code())),
                calls_r: may_call_r(program.code()),
                platform: platform.clone(),
            }))
        })?;
        Ok(wrap(run))
    }
}
