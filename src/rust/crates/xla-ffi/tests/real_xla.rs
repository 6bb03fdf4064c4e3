//! The handlers of `examples/handlers.rs` under a real XLA: see `real_xla.py`.
//!
//! Needs a Python with jax, which `tools/setup.sh test` installs: `XLAFFI_PYTHON`, the repository's
//! virtual environment, or `python3`.

use std::path::{Path, PathBuf};
use std::process::Command;

use xla_ffi::DataType;

fn python() -> PathBuf {
    let venv = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../../.venv/bin/python");
    let pythons = [
        std::env::var_os("XLAFFI_PYTHON").map(PathBuf::from),
        Some(venv),
        Some(PathBuf::from("python3")),
    ];
    let found = pythons.into_iter().flatten().find(|python| {
        let ask = "import jax.ffi";
        Command::new(python)
            .args(["-c", ask])
            .output()
            .is_ok_and(|out| out.status.success())
    });
    found.expect("no Python with jax: run tools/setup.sh test, or set XLAFFI_PYTHON")
}

/// Builds the library and returns its path, which cargo tells.
fn library() -> PathBuf {
    let out = Command::new(env!("CARGO"))
        .args([
            "build",
            "--offline",
            "--example",
            "handlers",
            "--message-format",
            "json",
        ])
        .args([
            "--manifest-path",
            concat!(env!("CARGO_MANIFEST_DIR"), "/Cargo.toml"),
        ])
        .output()
        .expect("running cargo");
    assert!(
        out.status.success(),
        "{}",
        String::from_utf8_lossy(&out.stderr)
    );
    let messages = String::from_utf8_lossy(&out.stdout).into_owned();
    let file = messages.split('"').find(|text| {
        let name = Path::new(text)
            .file_name()
            .and_then(|name| name.to_str())
            .unwrap_or("");
        name == format!(
            "{}handlers{}",
            std::env::consts::DLL_PREFIX,
            std::env::consts::DLL_SUFFIX
        )
    });
    PathBuf::from(file.expect("cargo names the library"))
}

#[test]
#[cfg_attr(miri, ignore = "runs XLA in another process")]
fn xla_accepts_and_calls_the_handlers() {
    let out = Command::new(python())
        .arg(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/real_xla.py"))
        .arg(library())
        .args(
            DataType::ALL
                .iter()
                .filter_map(|dtype| dtype.info())
                .map(|info| {
                    let (bits, size) = (info.bits, info.size);
                    format!("{} {bits} {size} {}", info.numpy, info.dlpack)
                }),
        )
        .env("JAX_PLATFORMS", "cpu")
        .output()
        .expect("running Python");
    let printed = String::from_utf8_lossy(&out.stdout);
    let errors = String::from_utf8_lossy(&out.stderr);
    assert!(
        out.status.success() && printed.trim_end().ends_with("ok"),
        "{printed}{errors}"
    );
}
