//! `xlaffi_device`: a device of a client.

use std::cell::RefCell;
use std::sync::Arc;

use pjrt::{Client, Device};

use crate::r::entry::routines;
use crate::r::pointer::{class, get};
use crate::r::value::{named, Value};

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

thread_local! {
    /// The first device of each platform that has a client; there is one client per platform and
    /// session, so they are never freed. Only R's thread gets here.
    static FIRST: RefCell<Vec<&'static DeviceObject>> = const { RefCell::new(Vec::new()) };
}

/// Makes a device the default one of its platform.
pub fn set_default(device: DeviceObject) {
    FIRST.with_borrow_mut(|first| {
        first.retain(|known| known.platform != device.platform);
        first.push(Box::leak(Box::new(device)));
    });
}

/// The first device of the platform that `PJRT_PLATFORM` names, if that has a client.
pub fn default_device() -> Option<&'static DeviceObject> {
    let platform = std::env::var("PJRT_PLATFORM");
    let platform = platform.as_deref().unwrap_or("cpu");
    FIRST.with_borrow(|first| first.iter().find(|d| &*d.platform == platform).copied())
}

routines! {
    // Platform, the number of the client, id and label, the process that it belongs to, and whether that is this one.
    fn device_describe(device) {
        let object: &DeviceObject = get(device, "device")?;
        Ok(named! {
            platform = &*object.platform,
            client = object.client.number() as i32,
            id = object.device.id()?,
            label = object.device.text()?,
            // A plugin that cannot tell knows one process.
            process = object.device.process_index().unwrap_or(0),
            addressable = object.device.is_addressable(),
        })
    }

    // What is told of the device's memory: a list of numbers, NULL for what is not.
    fn device_memory_stats(device) {
        let object: &DeviceObject = get(device, "device")?;
        let stats = object.device.memory_stats()?.entries().into_iter();
        let stats = stats.map(|(name, value)| {
            (name.to_string(), value.map_or(Value::Null, |value| Value::from(value as f64)))
        });
        Ok(Value::List(stats.collect()))
    }
}
