//! `xlaffi_client`: a plugin's connection to its devices.

use std::sync::Arc;

use extendr_api::prelude::*;
use pjrt::{compile_options, Client, Program};

use crate::device::DeviceObject;
use crate::executable::ExecutableObject;
use crate::failure::guard;
use crate::pace::Pace;
use crate::pointer::{class, get, wrap};
use crate::run::{Done, Run};

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

// Name of the platform.
#[extendr]
fn client_platform(client: Robj) -> Robj {
    guard(|| {
        let object: &ClientObject = get(&client, "client")?;
        Ok(Robj::from(&*object.platform))
    })
}

// The devices, as a list.
#[extendr]
fn client_devices(client: Robj) -> Robj {
    guard(|| {
        let object: &ClientObject = get(&client, "client")?;
        let devices = object.client.devices().into_iter();
        let devices = devices.map(|device| {
            wrap(DeviceObject {
                device,
                client: object.client.clone(),
                platform: object.platform.clone(),
            })
        });
        Ok(List::from_values(devices))
    })
}

// Compiles a program for a device, on another thread: a run.
#[extendr]
fn client_compile(device: Robj, program: Robj) -> Robj {
    guard(|| {
        let on: &DeviceObject = get(&device, "device")?;
        let program: &Program = get(&program, "program")?;
        let options = compile_options(Some(on.device.id()?));
        let (client, program) = (on.client.clone(), program.clone());
        let platform = on.platform.clone();
        let run = Run::start(move || {
            let executable = client.compile(&program, &options)?;
            Ok(Done::Compiled(ExecutableObject {
                executable: Arc::new(executable),
                pace: Arc::new(Pace::of(program.code())),
                platform,
            }))
        })?;
        Ok(wrap(run))
    })
}

extendr_module! {
    mod client;
    fn client_platform;
    fn client_devices;
    fn client_compile;
}
