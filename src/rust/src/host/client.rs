//! `xlaffi_client`: a plugin's connection to its devices.

use std::sync::Arc;

use pjrt::Client;

use crate::host::device::{set_default, DeviceObject};
use crate::r::entry::routines;
use crate::r::pointer::{class, get, wrap_list};
use crate::r::value::Value;

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

impl ClientObject {
    /// The client of a platform, made just now: its first device in this process is the default one.
    pub fn first(client: Client, platform: &str) -> Self {
        let platform: Arc<str> = platform.into();
        if let Some(device) = client.addressable_devices().into_iter().next() {
            set_default(DeviceObject {
                device,
                client: client.clone(),
                platform: platform.clone(),
            });
        }
        Self { client, platform }
    }

    /// Another client of a platform, which nobody gets who names none.
    pub fn further(client: Client, platform: &str) -> Self {
        let platform = platform.into();
        Self { client, platform }
    }
}

routines! {
    // Name of the platform.
    fn client_platform(client) {
        let object: &ClientObject = get(client, "client")?;
        Ok(Value::from(&*object.platform))
    }

    // Its number among the session's.
    fn client_number(client) {
        let object: &ClientObject = get(client, "client")?;
        Ok(Value::from(object.client.number() as i32))
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
}
