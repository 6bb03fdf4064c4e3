//! The plugin in a process that is a Python itself, with and without jax.
#![cfg(unix)]
mod common;
use common::*;
use std::path::PathBuf;
use std::process::Command;

/// The plugin as a shared library: an example, which tools/test.sh builds, as `cargo test` without options does.
fn library() -> PathBuf {
    let suffix = std::env::consts::DLL_SUFFIX;
    let test = std::env::current_exe().unwrap();
    let built = test.parent().and_then(|deps| deps.parent()).unwrap();
    built.join("examples").join(format!("libplugin{suffix}"))
}

/// Runs Python code with the plugin as `lib`; what it printed.
fn python(code: &str) -> String {
    find_python();
    let library = library();
    assert!(
        library.is_file(),
        "cargo build --example plugin builds {}",
        library.display()
    );
    let found = pjrt_jaxlib::python::find();
    let python = found.chosen().unwrap().executable.clone().unwrap();
    let code = format!("import ctypes, sys\nlib = ctypes.CDLL({library:?})\n{code}");
    let output = Command::new(python).args(["-c", &code]).output().unwrap();
    let printed = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{:?}: {printed}", output.status);
    String::from_utf8(output.stdout).unwrap()
}

#[test]
fn the_running_python_is_used_and_jax_left_alone() {
    let printed = python(
        "assert lib.run_add() == 0
assert lib.run_add() == 0
# A caller that keeps Python's lock meanwhile, as old versions of reticulate do.
assert ctypes.PyDLL(lib._name).run_add() == 0
print([name for name in sys.modules if name.split('.')[0] == 'jax'])",
    );
    assert_eq!(printed, "[]\n");
}

const USE_JAX: &str = "
def use_jax():
    import jax, jax.numpy as jnp
    assert float(jax.jit(lambda x: (x + 1).sum())(jnp.ones(3))) == 6
    assert 'SingleDeviceSharding' in repr(jnp.ones(3).sharding)
";

#[test]
fn jax_may_come_before_and_after() {
    let after = format!(
        "{USE_JAX}assert lib.run_add() == 0\nuse_jax()\nassert lib.run_add() == 0\nuse_jax()"
    );
    let before = format!(
        "{USE_JAX}use_jax()\nassert lib.run_add() == 0\nuse_jax()\nassert lib.run_add() == 0"
    );
    python(&after);
    python(&before);
}
