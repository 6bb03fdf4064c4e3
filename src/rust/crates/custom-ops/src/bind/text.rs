//! Types as errors name them.

use xla_ffi::DataType;

/// `(2, 3)`; `()` for a scalar.
pub(super) fn shape_text(dims: &[i64]) -> String {
    let dims: Vec<String> = dims.iter().map(i64::to_string).collect();
    format!("({})", dims.join(", "))
}

/// `f32, f64 or c64`
pub(super) fn dtypes_text(dtypes: &[DataType]) -> String {
    let names: Vec<&str> = dtypes.iter().map(|dtype| dtype.name()).collect();
    match &names[..] {
        [rest @ .., last] if !rest.is_empty() => format!("{} or {last}", rest.join(", ")),
        names => names.concat(),
    }
}

/// `xs[[2]]`, as R counts.
pub(super) fn named(name: &str, index: Option<usize>) -> String {
    index.map_or_else(
        || name.to_string(),
        |index| format!("{name}[[{}]]", index + 1),
    )
}
