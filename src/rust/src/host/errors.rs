//! Errors of XLA as failures.

use xla_ffi::registry::{Entry, Registry};

use crate::r::failure::Failure;

impl From<pjrt::Error> for Failure {
    fn from(error: pjrt::Error) -> Self {
        if error.kind() == pjrt::Kind::Forked {
            return Failure::forked();
        }
        let op = op_named_in(error.message());
        Failure {
            op,
            ..Failure::new(error.code().name(), error.message())
        }
    }
}

impl From<pjrt_jaxlib::Error> for Failure {
    fn from(error: pjrt_jaxlib::Error) -> Self {
        Failure::new(error.code_name(), error.message)
    }
}

impl From<xla_ffi::Error> for Failure {
    fn from(error: xla_ffi::Error) -> Self {
        Failure::new(error.code().name(), error)
    }
}

/// The op that an error message starts with ("lu: ...", "mine (host): ..."), or that it says is
/// not there, if there is one of that name.
fn op_named_in(message: &str) -> Option<String> {
    let quoted = message.strip_prefix("custom call target `");
    let name = match quoted.and_then(|rest| rest.split_once('`')) {
        Some((name, _)) => name,
        None => message.split_once(": ")?.0,
    };
    let name = match name.rsplit_once(" (") {
        Some((name, platform)) if platform.ends_with(')') => name,
        _ => name,
    };
    let known = |entry: &Entry| entry.target == name;
    Registry::global()
        .list()
        .iter()
        .any(known)
        .then(|| name.to_string())
}
