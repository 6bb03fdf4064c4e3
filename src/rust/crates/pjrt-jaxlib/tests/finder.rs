//! What is looked for when a Python with jaxlib is needed, and what is said where there is none.
#![cfg(unix)]
mod common;
use common::*;
use pjrt_api::PJRT_Error_Code;
use pjrt_jaxlib::python::{cache_dir, find, Source};
use std::ffi::OsString;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard};

const VARIABLES: [&str; 5] = [
    "XLAFFI_PYTHON",
    "VIRTUAL_ENV",
    "RETICULATE_PYTHON",
    "R_USER_CACHE_DIR",
    "PATH",
];

/// An environment of our own: nothing to be found, and one test at a time. Put back at the end.
struct Place {
    folder: PathBuf,
    /// The Python with jaxlib that there was before.
    good: OsString,
    saved: Vec<(&'static str, Option<OsString>)>,
    _alone: MutexGuard<'static, ()>,
}

impl Place {
    fn new(name: &str) -> Self {
        static ALONE: Mutex<()> = Mutex::new(());
        let alone = ALONE.lock().unwrap_or_else(|e| e.into_inner());
        // It may set the variable, so it is asked while no other test looks.
        find_python();
        let good = std::env::var_os("XLAFFI_PYTHON").unwrap();
        let folder = std::env::temp_dir().join(format!("xlaffi-{name}-{}", std::process::id()));
        std::fs::create_dir_all(&folder).unwrap();
        let saved = VARIABLES.map(|v| (v, std::env::var_os(v))).to_vec();
        VARIABLES.iter().for_each(|v| std::env::remove_var(v));
        std::env::set_var("R_USER_CACHE_DIR", folder.join("cache"));
        std::env::set_var("PATH", folder.join("bin"));
        Self {
            folder,
            good,
            saved,
            _alone: alone,
        }
    }

    /// A program that stands for an interpreter and gives this answer.
    fn interpreter(&self, path: impl AsRef<Path>, answer: &str) -> PathBuf {
        let path = self.folder.join(path);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(
            &path,
            format!("#!/bin/sh\nprintf '{}'\n", answer.replace('\n', "\\n")),
        )
        .unwrap();
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o755)).unwrap();
        path
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        for (name, value) in self.saved.drain(..) {
            match value {
                Some(value) => std::env::set_var(name, value),
                None => std::env::remove_var(name),
            }
        }
        std::fs::remove_dir_all(&self.folder).unwrap();
    }
}

const GOOD: &str =
    "version=3.11.7\nbits=64\nthreads=gil\nshared=1\nlibrary=/nowhere/libpython3.11.so.1.0\n\
    jaxlib=0.10.2\nnumpy=2.4.6\nml_dtypes=0.6.0\n";

#[test]
fn the_variable_is_all_that_is_looked_at() {
    let place = Place::new("variable");
    place.interpreter("bin/python3", GOOD);
    let refused = |value: &Path, want: &str| {
        std::env::set_var("XLAFFI_PYTHON", value);
        let report = find();
        assert!(report.chosen().is_none());
        assert_eq!(report.candidates.len(), 1);
        let message = report.message();
        assert!(
            message.contains(&format!("XLAFFI_PYTHON ({}): {want}", value.display())),
            "{message}"
        );
        assert!(
            message.contains("install_pjrt()") && !message.contains('\n'),
            "{message}"
        );
    };
    refused(Path::new("/no/such/python"), "no such file");
    refused(
        &place.interpreter("true", ""),
        "is not a Python interpreter (it ended with exit status: 0)",
    );
    let text = place.folder.join("text");
    std::fs::write(&text, "not a program").unwrap();
    refused(&text, "cannot be run");
    let old = place.interpreter("old", &GOOD.replace("3.11.7", "3.10.18"));
    refused(&old, "Python 3.10.18 is too old (needs 3.11)");
    let early = place.interpreter("early", &GOOD.replace("0.10.2", "0.4.30"));
    refused(
        &early,
        "Python 3.11.7 has jaxlib 0.4.30, which is too old (needs 0.10)",
    );
    let bare = place.interpreter("bare", &GOOD.replace("jaxlib=0.10.2\n", ""));
    refused(&bare, "Python 3.11.7 has no jaxlib");
    std::env::set_var("XLAFFI_PYTHON", place.interpreter("good", GOOD));
    assert_eq!(find().chosen().unwrap().jaxlib.as_deref(), Some("0.10.2"));
    assert_eq!(find().message(), "");
}

#[test]
fn places_are_looked_at_in_order_until_one_will_do() {
    let place = Place::new("order");
    let sources = || {
        find()
            .candidates
            .iter()
            .map(|c| c.source)
            .collect::<Vec<_>>()
    };
    assert_eq!(sources(), [Source::OwnEnvironment, Source::Path]);
    std::env::set_var("VIRTUAL_ENV", place.folder.join("active"));
    std::env::set_var("RETICULATE_PYTHON", place.folder.join("reticulate"));
    let all = [
        Source::Variable("VIRTUAL_ENV"),
        Source::Variable("RETICULATE_PYTHON"),
        Source::OwnEnvironment,
        Source::Path,
    ];
    assert_eq!(sources(), all);
    assert!(
        find().message().contains("python3 on the PATH: not found"),
        "{}",
        find().message()
    );
    // From the last place to the first: each is preferred to those behind it.
    let own = cache_dir().unwrap();
    assert_eq!(own, place.folder.join("cache/R/xlaffi"));
    place.interpreter("bin/python3", GOOD);
    assert_eq!(sources(), all);
    place.interpreter(own.join("venv/bin/python"), GOOD);
    assert_eq!(sources(), all[..3]);
    place.interpreter("reticulate/bin/python", GOOD);
    assert_eq!(sources(), all[..2]);
    place.interpreter("active/bin/python", GOOD);
    assert_eq!(sources(), all[..1]);
    // One with a jaxlib that is too old is passed over.
    place.interpreter("active/bin/python", &GOOD.replace("0.10.2", "0.9.2"));
    assert_eq!(sources(), all[..2]);
    std::env::remove_var("VIRTUAL_ENV");
    std::env::set_var("RETICULATE_PYTHON", "managed");
    assert_eq!(sources(), [Source::OwnEnvironment]);
}

#[test]
fn a_client_without_python_says_so_and_may_be_tried_again() {
    let place = Place::new("client");
    std::env::set_var("XLAFFI_PYTHON", "/no/such/python");
    let failure = new_client(&[]).unwrap_err();
    assert_eq!(failure.code, PJRT_Error_Code::NOT_FOUND);
    assert!(
        failure
            .message
            .contains("looked at XLAFFI_PYTHON (/no/such/python): no such file"),
        "{}",
        failure.message
    );
    // A library that is none.
    std::env::set_var("XLAFFI_PYTHON", place.interpreter("good", GOOD));
    let failure = new_client(&[]).unwrap_err();
    assert_eq!(failure.code, PJRT_Error_Code::FAILED_PRECONDITION);
    assert!(
        failure
            .message
            .contains("cannot load Python's library /nowhere/libpython3.11.so.1.0"),
        "{}",
        failure.message
    );
    std::env::set_var("XLAFFI_PYTHON", &place.good);
    let client = new_client(&[]).unwrap();
    call!(PJRT_Client_Destroy, PJRT_Client_Destroy_Args { client }).unwrap();
    assert!(!pjrt_jaxlib::python::running().unwrap().foreign);
}
