//! `xlaffi_plugin`: a loaded plugin and the custom calls that it got.

use std::cell::RefCell;
use std::collections::HashSet;
use std::path::Path;
use std::sync::Arc;

use extendr_api::prelude::*;
use pjrt::{Plugin, Value};

use crate::client::ClientObject;
use crate::device::{set_default, DeviceObject};
use crate::failure::{guard, Failure, Outcome};
use crate::pointer::{class, get, wrap};

/// A plugin under the name of its platform.
pub struct PluginObject {
    /// The plugin.
    pub plugin: Plugin,
    /// Name of the platform as the user gave it.
    pub platform: Arc<str>,
    /// Targets that were registered with it.
    pub passed: RefCell<HashSet<String>>,
}

class!(
    PluginObject,
    c"xlaffi_plugin",
    "a plugin made by pjrt_plugin()"
);

// Loads the plugin at `path`; "" is the one in this library.
#[extendr]
fn plugin_open(path: &str, platform: &str) -> Robj {
    guard(|| {
        let plugin = if path.is_empty() {
            // SAFETY: our own table, a static.
            unsafe { Plugin::from_api(pjrt_jaxlib::GetPjrtApi(), "the plugin inside xlaffi") }
        } else {
            Plugin::load(Path::new(path))
        };
        let plugin = plugin.map_err(|error| {
            Failure::from(error).hint(format!(
                "Where the plugin comes from: see `?pjrt_plugin`; PJRT_PLUGIN_PATH_{} names another file.",
                platform.to_uppercase()
            ))
        })?;
        Ok(wrap(PluginObject {
            plugin,
            platform: platform.into(),
            passed: RefCell::default(),
        }))
    })
}

// Platform, path and API version.
#[extendr]
fn plugin_info(plugin: Robj) -> Robj {
    guard(|| {
        let object: &PluginObject = get(&plugin, "plugin")?;
        let (major, minor) = object.plugin.api_version();
        Ok(list!(
            platform = &*object.platform,
            path = object.plugin.path().display().to_string(),
            version = [major, minor]
        ))
    })
}

// What the plugin says about itself, as a named list.
#[extendr]
fn plugin_attributes_list(plugin: Robj) -> Robj {
    guard(|| {
        let object: &PluginObject = get(&plugin, "plugin")?;
        let attributes = object.plugin.attributes()?;
        Ok(List::from_pairs(
            attributes
                .into_iter()
                .map(|(name, value)| (name, to_r(value))),
        ))
    })
}

// A client; options by name and value.
#[extendr]
fn plugin_client(plugin: Robj, platform: &str, names: Robj, values: Robj) -> Robj {
    guard(|| {
        let object: &PluginObject = get(&plugin, "plugin")?;
        let names = names.as_str_vector().unwrap_or_default();
        let values = values.as_list().unwrap_or_default();
        let options = names
            .into_iter()
            .zip(values.values())
            .map(|(name, value)| Ok((name.to_string(), from_r(name, &value)?)))
            .collect::<Outcome<Vec<_>>>()?;
        let client = object.plugin.client(&options)?;
        let platform: Arc<str> = platform.into();
        if let Some(device) = client.devices().into_iter().next() {
            set_default(DeviceObject {
                device,
                client: client.clone(),
                platform: platform.clone(),
            });
        }
        Ok(wrap(ClientObject { client, platform }))
    })
}

/// Whole numbers become double where R's integers end.
fn to_r(value: Value) -> Robj {
    match value {
        Value::String(text) => text.into(),
        Value::Int(number) => integer(number),
        Value::IntList(numbers) => match numbers
            .iter()
            .map(|&n| i32::try_from(n))
            .collect::<std::result::Result<Vec<_>, _>>()
        {
            Ok(small) => small.into(),
            Err(_) => numbers.iter().map(|&n| n as f64).collect::<Vec<_>>().into(),
        },
        Value::Float(number) => f64::from(number).into(),
        Value::Bool(flag) => flag.into(),
    }
}

fn integer(number: i64) -> Robj {
    match i32::try_from(number) {
        Ok(small) => small.into(),
        Err(_) => (number as f64).into(),
    }
}

fn from_r(name: &str, value: &Robj) -> Outcome<Value> {
    if let Some(text) = value.as_str() {
        return Ok(Value::String(text.to_string()));
    }
    if let Some(flag) = value.as_bool() {
        return Ok(Value::Bool(flag));
    }
    if let Some(number) = value.as_integer() {
        return Ok(Value::Int(number.into()));
    }
    match value.as_real() {
        Some(number) if number.fract() == 0.0 && number.abs() < 9e15 => {
            Ok(Value::Int(number as i64))
        }
        Some(number) => Ok(Value::Float(number as f32)),
        None => Err(Failure::argument(
            name,
            format!("option `{name}` must be one number, string or flag"),
        )),
    }
}

extendr_module! {
    mod plugin;
    fn plugin_open;
    fn plugin_info;
    fn plugin_attributes_list;
    fn plugin_client;
}
