//! The plugin itself: start and attributes.

use crate::base::entry::entry;
use crate::base::error::Result;
use crate::handlers::jaxlib::jaxlib;
use crate::python::compat::Jaxlib;
use pjrt_api::{PJRT_NamedValue, PJRT_NamedValue_Type};
use std::sync::OnceLock;

// Nothing is started here: Python comes up with the first client or handler, whose errors say what
// is missing.
entry!(initialize, PJRT_Plugin_Initialize_Args, |_args| Ok(()));

struct Attributes(Vec<PJRT_NamedValue>);
// SAFETY: the pointers lead to leaked constants.
unsafe impl Send for Attributes {}
// SAFETY: as above.
unsafe impl Sync for Attributes {}

fn string(name: &'static str, value: String) -> PJRT_NamedValue {
    let value: &'static str = Box::leak(value.into_boxed_str());
    let mut attribute = PJRT_NamedValue::new();
    (attribute.name, attribute.name_size) = (name.as_ptr().cast(), name.len());
    attribute.r#type = PJRT_NamedValue_Type::kString;
    attribute.value.string_value = value.as_ptr().cast();
    attribute.value_size = value.len();
    attribute
}

fn integer(name: &'static str, value: i64) -> PJRT_NamedValue {
    let mut attribute = PJRT_NamedValue::new();
    (attribute.name, attribute.name_size) = (name.as_ptr().cast(), name.len());
    attribute.r#type = PJRT_NamedValue_Type::kInt64;
    attribute.value.int64_value = value;
    attribute.value_size = 1;
    attribute
}

fn integers(name: &'static str, value: Vec<i64>) -> PJRT_NamedValue {
    let value: &'static [i64] = Box::leak(value.into_boxed_slice());
    let mut attribute = PJRT_NamedValue::new();
    (attribute.name, attribute.name_size) = (name.as_ptr().cast(), name.len());
    attribute.r#type = PJRT_NamedValue_Type::kInt64List;
    attribute.value.int64_array_value = value.as_ptr();
    attribute.value_size = value.len();
    attribute
}

fn attributes_of(jax: &Jaxlib) -> Result<Vec<PJRT_NamedValue>> {
    let gil = jax.gil()?;
    let mut list = vec![
        string("jaxlib_version", jax.version.clone()),
        // What XLA's own plugins say of themselves.
        integer("xla_version", 2),
    ];
    let versions = gil.call(&jax.stablehlo_versions, [])?.items(&gil)?;
    for (name, version) in ["stablehlo_current_version", "stablehlo_minimum_version"]
        .into_iter()
        .zip(versions)
    {
        let numbers = version.items(&gil)?;
        let numbers = numbers
            .iter()
            .map(|n| n.to_int(&gil))
            .collect::<Result<Vec<i64>>>()?;
        list.push(integers(name, numbers));
    }
    Ok(list)
}

entry!(attributes, PJRT_Plugin_Attributes_Args, |args| {
    static ATTRIBUTES: OnceLock<Attributes> = OnceLock::new();
    let known = match ATTRIBUTES.get() {
        Some(known) => known,
        None => {
            let list = attributes_of(jaxlib()?)?;
            ATTRIBUTES.get_or_init(|| Attributes(list))
        }
    };
    (args.attributes, args.num_attributes) = (known.0.as_ptr(), known.0.len());
    Ok(())
});
