//! Finding libraries: each way in which one may be missing or wrong is told.
#![cfg(target_os = "linux")]

use cuda::loader::{Lazy, Library, Names, Search, Table};
use std::ffi::c_int;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::atomic::{AtomicUsize, Ordering};
use xla_ffi::{Code, Result};

/// A folder of its own for each test.
fn folder(name: &str) -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("loading-{name}"));
    let _ = fs::remove_dir_all(&folder); // It need not be there.
    fs::create_dir_all(&folder).expect("a folder");
    folder
}

/// A shared library with a function of that name that gives that number.
fn library(folder: &Path, file: &str, function: &str, value: c_int) {
    fs::create_dir_all(folder).expect("a folder");
    let source = folder.join("source.c");
    fs::write(
        &source,
        format!("int {function}(void) {{ return {value}; }}"),
    )
    .expect("a source");
    let compiler = std::env::var_os("CC").unwrap_or_else(|| "cc".into());
    let status = Command::new(compiler)
        .args(["-shared", "-fPIC", "-o"])
        .arg(folder.join(file))
        .arg(&source)
        .arg(format!("-Wl,-soname,{file}"))
        .status();
    assert!(status.expect("a C compiler, as R needs one").success());
}

fn search(folder: &Path) -> Search {
    Search {
        folder: Some(folder.to_owned()),
        oldest_first: false,
    }
}

fn answer(library: &Library, function: &'static str) -> Result<c_int> {
    // SAFETY: the prototype of the functions that `library` makes.
    let function = unsafe { library.symbol::<unsafe extern "C" fn() -> c_int>(function)? };
    // SAFETY: as above.
    Ok(unsafe { function() })
}

#[test]
fn what_is_missing_is_named_with_all_that_was_tried() {
    let names = Names {
        label: "cuNOTHING",
        files: &["libxlaffi_none.so.2", "libxlaffi_none.so.1"],
    };
    let nowhere = Search::default().open(names).expect_err("no such library");
    assert_eq!(nowhere.code(), Code::NotFound);
    assert_eq!(
        nowhere.to_string(),
        "cuNOTHING was not found (XLAFFI_CUDA_PATH is not set). Tried: \
         libxlaffi_none.so.2: cannot open shared object file: No such file or directory; \
         libxlaffi_none.so.1: cannot open shared object file: No such file or directory"
    );
    let folder = folder("missing");
    let missing = search(&folder).open(names).expect_err("no such library");
    let message = missing.to_string();
    assert!(
        message.contains(&format!("(XLAFFI_CUDA_PATH is {})", folder.display())),
        "{message}"
    );
    fs::write(folder.join("libxlaffi_none.so.1"), "no library").expect("a file");
    let broken = search(&folder)
        .open(names)
        .expect_err("no library")
        .to_string();
    assert!(
        broken.contains("libxlaffi_none.so.1: file too short"),
        "{broken}"
    );
}

#[test]
fn a_missing_symbol_is_named_with_the_library() {
    let folder = folder("symbol");
    library(&folder, "libxlaffi_old.so", "there", 3);
    let names = Names {
        label: "cuOLD",
        files: &["libxlaffi_old.so"],
    };
    let old = search(&folder).open(names).expect("the library");
    assert_eq!(answer(&old, "there"), Ok(3));
    let error = answer(&old, "new_in_13").expect_err("no such symbol");
    assert_eq!(error.code(), Code::Unimplemented);
    let origin = folder.join("libxlaffi_old.so");
    assert_eq!(
        error.to_string(),
        format!(
            "cuOLD ({}) has no new_in_13: another version of CUDA is needed",
            origin.display()
        )
    );
}

#[test]
fn a_copy_in_the_process_comes_first_then_the_folders_within_the_folder() {
    let (first, second) = (folder("first"), folder("second"));
    // As in a wheel's folder, and as CUDA's installer has it.
    library(
        &first.join("cusolver/lib"),
        "libxlaffi_which.so",
        "which",
        1,
    );
    library(&second.join("lib64"), "libxlaffi_which.so", "which", 2);
    let names = Names {
        label: "cuWHICH",
        files: &["libxlaffi_which.so"],
    };
    let from_first = search(&first).open(names).expect("the one in the folder");
    assert_eq!(answer(&from_first, "which"), Ok(1));
    assert!(from_first
        .origin()
        .ends_with("first/cusolver/lib/libxlaffi_which.so"));
    let again = search(&second).open(names).expect("the one in the process");
    assert_eq!(answer(&again, "which"), Ok(1));
    assert_eq!(again.origin(), "libxlaffi_which.so, already loaded");
}

#[test]
fn the_newest_version_is_taken_unless_the_driver_is_older() {
    let folder = folder("versions");
    for (file, value) in [("libxlaffi_v.so.12", 12), ("libxlaffi_v.so.11", 11)] {
        library(&folder, file, "version", value);
    }
    let names = Names {
        label: "cuV",
        files: &["libxlaffi_v.so.12", "libxlaffi_v.so.11"],
    };
    let old = Search {
        oldest_first: true,
        ..search(&folder)
    };
    // The older one first: what is loaded stays loaded only while it is held.
    let older = old.open(names).expect("version 11");
    assert_eq!(answer(&older, "version"), Ok(11));
    drop(older);
    let newer = search(&folder).open(names).expect("version 12");
    assert_eq!(answer(&newer, "version"), Ok(12));
}

/// A table of one function.
struct Answer(c_int);

impl Table for Answer {
    fn fill(library: Library) -> Result<Self> {
        let answer = answer(&library, "late");
        std::mem::forget(library);
        answer.map(Answer)
    }
}

#[test]
fn it_is_loaded_once_and_a_failure_is_tried_again() {
    static LATE: Lazy<Answer> = Lazy::new(Names {
        label: "cuLATE",
        files: &["libxlaffi_late.so"],
    });
    let folder = folder("late");
    let tries = AtomicUsize::new(0);
    let get = || {
        LATE.get(|| {
            tries.fetch_add(1, Ordering::Relaxed);
            search(&folder)
        })
    };
    let code = get()
        .map(|(answer, _)| answer.0)
        .expect_err("not there yet")
        .code();
    assert_eq!(code, Code::NotFound);
    library(&folder, "libxlaffi_late.so", "late", 5);
    std::thread::scope(|scope| {
        for _ in 0..8 {
            scope.spawn(|| assert_eq!(get().expect("there now").0 .0, 5));
        }
    });
    assert_eq!(tries.into_inner(), 2);
}
