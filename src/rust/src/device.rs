//! `xlaffi_device`: a device of a client.

use std::sync::Arc;

use extendr_api::prelude::*;
use pjrt::{Client, Device};

use crate::failure::guard;
use crate::pointer::{class, get};

/// A device with what an upload needs at hand.
pub struct DeviceObject {
    /// The device.
    pub device: Device,
    /// Its client.
    pub client: Client,
    /// Name of the platform.
    pub platform: Arc<str>,
}

class!(
    DeviceObject,
    c"xlaffi_device",
    "a device made by pjrt_device() or devices()"
);

// Platform, id and label.
#[extendr]
fn device_describe(device: Robj) -> Robj {
    guard(|| {
        let object: &DeviceObject = get(&device, "device")?;
        Ok(list!(
            platform = &*object.platform,
            id = object.device.id()?,
            label = object.device.text()?
        ))
    })
}

extendr_module! {
    mod device;
    fn device_describe;
}
