//! `xlaffi_plugin`: a loaded plugin and the custom calls that it got.

use std::cell::RefCell;
use std::collections::HashSet;
use std::ffi::{c_char, c_void};
use std::path::Path;
use std::sync::Arc;

use extendr_api::Robj;
use pjrt::{Barrier, Fallible, Infallible, Plugin, Value as Attribute};

use crate::host::client::ClientObject;
use crate::r::argument::{elements, flag, number};
use crate::r::entry::routines;
use crate::r::failure::{Failure, Outcome};
use crate::r::object::{borrowed, text, texts};
use crate::r::pointer::{class, get, wrap};
use crate::r::value::{named, Value};
use crate::runtime::leave;

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

extern "C" {
    fn xlaffi_call_plugin(
        function: Fallible,
        args: *mut c_void,
        error: *mut *mut c_void,
        thrown: *mut c_char,
        size: usize,
    ) -> bool;
    fn xlaffi_run_plugin(
        function: Infallible,
        args: *mut c_void,
        thrown: *mut c_char,
        size: usize,
    ) -> bool;
}

static BARRIER: Barrier = Barrier {
    call: xlaffi_call_plugin,
    run: xlaffi_run_plugin,
};

/// Makes C++ exceptions that leave plugins errors, see `src/barrier.cc`.
pub fn catch_exceptions_of_plugins() {
    pjrt::catch_exceptions(&BARRIER);
}

routines! {
    // Loads the plugin at `path`; "" is the one in this library.
    fn plugin_open(path: &str, platform: &str) {
        let _threads = pjrt_jaxlib::SignalsLater::default();
        let plugin = if path.is_empty() {
            // SAFETY: our own table, a static.
            unsafe { Plugin::from_api(pjrt_jaxlib::GetPjrtApi(), "the plugin inside xlaffi") }
        } else {
            pjrt_jaxlib::quietly(|| Plugin::load(Path::new(path)))
        };
        let plugin = plugin.map_err(|error| {
            Failure::from(error).hint(format!(
                "Where the plugin comes from: see `?pjrt_plugin`; PJRT_PLUGIN_PATH_{} names another file.",
                platform.to_uppercase()
            ))
        })?;
        if platform == "cpu" && !path.is_empty() {
            block_cache::attach(|library| library == path);
        }
        Ok(wrap(PluginObject {
            plugin,
            platform: platform.into(),
            passed: RefCell::default(),
        }))
    }

    // Platform, path and API version.
    fn plugin_info(plugin) {
        let object: &PluginObject = get(plugin, "plugin")?;
        let (major, minor) = object.plugin.api_version();
        Ok(named! {
            platform = &*object.platform,
            path = object.plugin.path().display().to_string(),
            version = vec![major, minor],
            included = object.plugin.is(pjrt_jaxlib::GetPjrtApi()),
        })
    }

    // What the plugin says about itself, as a named list.
    fn plugin_attributes_list(plugin) {
        let object: &PluginObject = get(plugin, "plugin")?;
        let attributes = object.plugin.attributes()?.into_iter();
        Ok(Value::List(attributes.map(|(name, value)| (name, to_r(value))).collect()))
    }

    // A client; options by name and value. Its first device is the platform's default, unless it is a `further` one.
    fn plugin_client(plugin, platform: &str, names, values, further: bool) {
        let object: &PluginObject = get(plugin, "plugin")?;
        let options = options(names, values)?;
        let _threads = pjrt_jaxlib::SignalsLater::default();
        // The included plugin looks after that itself.
        let client = match object.plugin.is(pjrt_jaxlib::GetPjrtApi()) {
            true => object.plugin.client(&options),
            false => pjrt_jaxlib::quietly(|| object.plugin.client(&options)),
        };
        let client = client?;
        leave::watch();
        Ok(wrap(match further {
            true => ClientObject::further(client, platform),
            false => ClientObject::first(client, platform),
        }))
    }
}

/// Options for a plugin, by name and value.
pub fn options(names: &Robj, values: &Robj) -> Outcome<Vec<(String, Attribute)>> {
    let pairs = texts(names).into_iter().zip(elements(values));
    pairs
        .map(|(name, value)| {
            let name = name.unwrap_or_default();
            // SAFETY: an element of a list that R protects.
            let value = unsafe { borrowed(&value) };
            Ok((name.to_string(), from_r(name, value)?))
        })
        .collect()
}

/// Whole numbers become double where R's integers end.
fn to_r(value: Attribute) -> Value {
    match value {
        Attribute::String(text) => text.into(),
        Attribute::Int(number) => match i32::try_from(number) {
            Ok(small) => small.into(),
            Err(_) => (number as f64).into(),
        },
        Attribute::IntList(numbers) => {
            let small = numbers.iter().map(|&n| i32::try_from(n));
            match small.collect::<std::result::Result<Vec<_>, _>>() {
                Ok(small) => small.into(),
                Err(_) => Value::Numbers(numbers.iter().map(|&n| n as f64).collect()),
            }
        }
        Attribute::Float(number) => f64::from(number).into(),
        Attribute::Bool(flag) => flag.into(),
    }
}

fn from_r(name: &str, value: &Robj) -> Outcome<Attribute> {
    if let Some(text) = text(value) {
        return Ok(Attribute::String(text.to_string()));
    }
    if let Some(flag) = flag(value) {
        return Ok(Attribute::Bool(flag));
    }
    match number(value) {
        Some(number) if number.fract() == 0.0 && number.abs() < 9e15 => {
            Ok(Attribute::Int(number as i64))
        }
        Some(number) => Ok(Attribute::Float(number as f32)),
        None => Err(Failure::argument(
            name,
            format!("option `{name}` must be one number, string or flag"),
        )),
    }
}
