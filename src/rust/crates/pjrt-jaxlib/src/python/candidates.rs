//! The places where an interpreter may be.

use super::probe::Source;
use std::env;
use std::path::{Path, PathBuf};

/// The places to look at, in order; `None` where a place names no file.
pub(super) fn list() -> Vec<(Source, Option<PathBuf>)> {
    if let Some(path) = variable("XLAFFI_PYTHON") {
        return vec![(Source::Variable("XLAFFI_PYTHON"), Some(path.into()))];
    }
    let mut places = Vec::new();
    if let Some(venv) = variable("VIRTUAL_ENV") {
        places.push((
            Source::Variable("VIRTUAL_ENV"),
            Some(in_environment(Path::new(&venv))),
        ));
    }
    if let Some(path) = variable("RETICULATE_PYTHON").filter(|p| p != "managed") {
        let path = PathBuf::from(path);
        let path = if path.is_dir() {
            in_environment(&path)
        } else {
            path
        };
        places.push((Source::Variable("RETICULATE_PYTHON"), Some(path)));
    }
    if let Some(cache) = cache_dir() {
        places.push((
            Source::OwnEnvironment,
            Some(in_environment(&cache.join("venv"))),
        ));
    }
    places.push((Source::Path, on_path()));
    places
}

/// The folder where R keeps what this package caches: `tools::R_user_dir("xlaffi", "cache")`.
pub fn cache_dir() -> Option<PathBuf> {
    let base =
        if let Some(dir) = variable("R_USER_CACHE_DIR").or_else(|| variable("XDG_CACHE_HOME")) {
            PathBuf::from(dir)
        } else if cfg!(windows) {
            Path::new(&variable("LOCALAPPDATA")?)
                .join("R")
                .join("cache")
        } else if cfg!(target_os = "macos") {
            Path::new(&variable("HOME")?).join("Library/Caches/org.R-project.R")
        } else {
            Path::new(&variable("HOME")?).join(".cache")
        };
    Some(base.join("R").join("xlaffi"))
}

/// A variable that is set and not empty.
fn variable(name: &str) -> Option<String> {
    env::var(name).ok().filter(|v| !v.is_empty())
}

/// The interpreter of a virtual environment.
fn in_environment(folder: &Path) -> PathBuf {
    if cfg!(windows) {
        folder.join("Scripts").join("python.exe")
    } else {
        folder.join("bin").join("python")
    }
}

fn on_path() -> Option<PathBuf> {
    let name = if cfg!(windows) {
        "python.exe"
    } else {
        "python3"
    };
    env::split_paths(&env::var_os("PATH")?)
        .map(|d| d.join(name))
        .find(|p| p.is_file())
}
