//! Names that are registered.

/// XLA's name for a platform: `"host"` for cpu, `"cuda"` for gpu, anything else in lower case.
#[must_use]
pub fn canonical_platform(platform: &str) -> String {
    let platform = platform.to_ascii_lowercase();
    match platform.as_str() {
        "cpu" => "host".to_owned(),
        "gpu" => "cuda".to_owned(),
        _ => platform,
    }
}

/// A name that is or was registered.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Entry {
    /// The target of the custom call.
    pub target: String,
    /// The platform, as [`canonical_platform`] spells it.
    pub platform: String,
    /// Whose the handler is, or was.
    pub owner: Option<String>,
    /// Whether there is a handler now.
    pub active: bool,
}
