//! Stand-ins for NVIDIA's libraries, built from `cuda/fake` when a test first needs them and
//! loaded under NVIDIA's names, as JAX's wheels load the real ones.

use libloading::{Library, Symbol};
use std::ffi::{c_int, CString, OsString};
use std::fs::{self, OpenOptions};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;
use std::thread;
use std::time::{Duration, SystemTime};

const NAMES: [&str; 4] = [
    "libcuda.so.1",
    "libcusolver.so.12",
    "libcublas.so.13",
    "libnvrtc.so.13",
];

/// The stand-in, and the libraries that depend on it under NVIDIA's names; kept loaded.
struct Fake {
    whole: Library,
    _named: Vec<Library>,
}

static FAKE: OnceLock<Fake> = OnceLock::new();

/// Loads the stand-ins.
pub fn load() {
    loaded();
}

/// How often this thread has called a function.
pub fn calls(function: &str) -> c_int {
    let name = CString::new(function).expect("a name");
    // SAFETY: the prototype in `driver.cc`.
    unsafe {
        let calls: Symbol<unsafe extern "C" fn(*const std::ffi::c_char) -> c_int> =
            loaded().whole.get(b"fake_calls").expect("fake_calls");
        calls(name.as_ptr())
    }
}

/// Makes this thread's next call of a function answer `status`.
pub fn fail(function: &str, status: c_int) {
    let name = CString::new(function).expect("a name");
    // SAFETY: the prototype in `driver.cc`.
    unsafe {
        let fail: Symbol<unsafe extern "C" fn(*const std::ffi::c_char, c_int) -> c_int> =
            loaded().whole.get(b"fake_fail").expect("fake_fail");
        fail(name.as_ptr(), status);
    }
}

fn loaded() -> &'static Fake {
    FAKE.get_or_init(|| {
        let folder = build();
        // SAFETY: libraries of our own.
        let open = |name: &str| unsafe { Library::new(folder.join(name)) }.expect("a stand-in");
        Fake {
            whole: open("libfake.so"),
            _named: NAMES.map(open).into(),
        }
    })
}

/// The folder with the stand-ins, built unless they are newer than their sources. Tests of one
/// process may ask at the same time, in modules that share nothing but this file.
fn build() -> PathBuf {
    let tests = Path::new(env!("CARGO_MANIFEST_DIR")).join("../ops/tests/cuda/fake");
    let kernels = Path::new(env!("CARGO_MANIFEST_DIR")).join("../cuda/src/kernels");
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("fake-cuda");
    fs::create_dir_all(&folder).expect("a folder for the stand-ins");
    let (units, headers) = (files(&tests, "cc"), files(&tests, "h"));
    let sources = [units.clone(), headers, files(&kernels, "cu")].concat();
    let age = |file: &PathBuf| fs::metadata(file).and_then(|data| data.modified());
    let newest = sources
        .iter()
        .map(|file| age(file).expect("a source"))
        .max();
    let newest = newest.unwrap_or(SystemTime::UNIX_EPOCH);
    // The last one to be made tells that all are there.
    let last = folder.join(NAMES[NAMES.len() - 1]);
    let lock = folder.join(format!("lock.{}", std::process::id()));
    while !age(&last).is_ok_and(|made| made >= newest) {
        if OpenOptions::new()
            .write(true)
            .create_new(true)
            .open(&lock)
            .is_err()
        {
            thread::sleep(Duration::from_millis(20));
            continue;
        }
        if !age(&last).is_ok_and(|made| made >= newest) {
            compile(&folder, &units, &kernels);
        }
        fs::remove_file(&lock).expect("our own lock");
    }
    folder
}

/// The files of a folder with that extension.
fn files(folder: &Path, extension: &str) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).expect("a folder of sources");
    let paths = entries.map(|entry| entry.expect("an entry").path());
    paths
        .filter(|path| path.extension().is_some_and(|found| found == extension))
        .collect()
}

fn compile(folder: &Path, units: &[PathBuf], kernels: &Path) {
    let mut include = OsString::from("-I");
    include.push(kernels);
    let fake = folder.join("libfake.so");
    let part = |name: &str| folder.join(format!("{name}.{}", std::process::id()));
    let compiler = std::env::var_os("CXX").unwrap_or_else(|| "c++".into());
    let objects = thread::scope(|scope| {
        let compiled = units.iter().map(|unit| {
            let name = unit.file_name().expect("a file").to_string_lossy();
            let object = part(&format!("{name}.o"));
            let mut command = Command::new(&compiler);
            command
                .args(["-std=c++17", "-O2", "-c", "-fPIC", "-Wno-unknown-pragmas"])
                .arg(&include)
                .arg(unit)
                .arg("-o")
                .arg(&object);
            scope.spawn(move || run(&mut command));
            object
        });
        compiled.collect::<Vec<_>>()
    });
    run(Command::new(&compiler)
        .arg("-shared")
        .args(&objects)
        .arg("-o")
        .arg(part("libfake.so"))
        .args([
            "-Wl,-soname,libfake.so",
            "-llapack",
            "-lblas",
            "-pthread",
            "-ldl",
        ]));
    for object in objects {
        fs::remove_file(object).expect("an object that is linked");
    }
    fs::rename(part("libfake.so"), &fake).expect("the stand-in in its place");
    for name in NAMES {
        run(Command::new(&compiler)
            .args(["-shared", "-Wl,--no-as-needed", "-Wl,-rpath,$ORIGIN"])
            .arg(format!("-Wl,-soname,{name}"))
            .arg("-o")
            .arg(part(name))
            .arg(&fake));
        fs::rename(part(name), folder.join(name)).expect("a stand-in in its place");
    }
}

fn run(command: &mut Command) {
    let output = command.output().expect("a C++ compiler, as R needs one");
    assert!(
        output.status.success(),
        "{}",
        String::from_utf8_lossy(&output.stderr)
    );
}
