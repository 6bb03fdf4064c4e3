//! Who may know whom: dependencies point downwards only.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

/// The crates, and which of them each may be made of. A new one gets a line, below what it uses.
const CRATES: &[(&str, &[&str])] = &[
    ("fork", &[]),
    ("main-thread", &["fork"]),
    ("matrices", &[]),
    ("special", &[]),
    ("xla-ffi", &[]),
    ("lapack", &["matrices"]),
    ("lanes", &["matrices"]),
    ("cuda", &["matrices", "xla-ffi"]),
    ("own-ops", &["cuda", "xla-ffi"]),
    (
        "ops",
        &["cuda", "lanes", "lapack", "matrices", "special", "xla-ffi"],
    ),
    ("ops-lib", &["lapack", "ops", "own-ops", "xla-ffi"]),
    ("pjrt-api", &["xla-ffi"]),
    ("proto-wire", &[]),
    ("pjrt", &["fork", "pjrt-api", "proto-wire", "xla-ffi"]),
    (
        "pjrt-jaxlib",
        &["fork", "pjrt-api", "proto-wire", "xla-ffi"],
    ),
];

/// The modules of `ops` that are no rooms: rooms know these, these know no room.
const SHARED: &[&str] = &["cusolver", "jaxlib", "letter", "platform", "shape"];

/// The modules of `ops` that know the rooms.
const ABOVE: &[&str] = &["lib", "table"];

fn crates() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}

/// What of the workspace a package depends on, tests aside.
fn dependencies(manifest: &str) -> BTreeSet<&str> {
    let mut section = "";
    let mut found = BTreeSet::new();
    for line in manifest.lines() {
        if line.starts_with('[') {
            section = line;
        } else if section == "[dependencies]" && line.contains("path = ") {
            let (name, _) = line.split_once('=').expect("a dependency");
            found.insert(name.trim());
        }
    }
    found
}

#[test]
fn crates_depend_on_what_is_below_them() {
    let listed: BTreeSet<_> = CRATES.iter().map(|&(name, _)| name.to_owned()).collect();
    let there = fs::read_dir(crates()).expect("the folder of crates");
    let there: BTreeSet<_> = there
        .map(|entry| entry.expect("a crate").file_name())
        .map(|name| name.into_string().expect("a crate's name"))
        .collect();
    assert_eq!(there, listed, "every crate has a line above");
    for (at, (name, allowed)) in CRATES.iter().enumerate() {
        let manifest = crates().join(name).join("Cargo.toml");
        let manifest = fs::read_to_string(manifest).expect("a manifest");
        let used = dependencies(&manifest);
        for lower in used {
            assert!(allowed.contains(&lower), "{name} depends on {lower}");
            let below = CRATES[..at].iter().any(|&(other, _)| other == lower);
            assert!(below, "{name} depends on {lower}, which is not below it");
        }
    }
}

/// The Rust files of a folder and of those in it.
fn sources(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).expect("a folder of sources");
    let mut found = Vec::new();
    for path in entries.map(|entry| entry.expect("an entry").path()) {
        if path.is_dir() {
            found.extend(sources(&path));
        } else if path.extension().is_some_and(|found| found == "rs") {
            found.push(path);
        }
    }
    found
}

/// The modules of its crate that a source names, as `crate::lu` or within `use crate::{…}`.
fn named(source: &str) -> BTreeSet<String> {
    let word = |text: &str| -> String {
        let end = text.find(|c: char| !(c.is_alphanumeric() || c == '_'));
        text[..end.unwrap_or(text.len())].to_owned()
    };
    let mut found = BTreeSet::new();
    for (_, rest) in source
        .match_indices("crate::")
        .map(|(at, path)| (at, &source[at + path.len()..]))
    {
        if let Some(group) = rest.strip_prefix('{') {
            let group = group.split(';').next().unwrap_or_default();
            found.extend(group.split(',').map(|path| word(path.trim())));
        } else {
            found.insert(word(rest));
        }
    }
    found
}

#[test]
fn rooms_of_ops_know_no_other_room() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let module = |path: &Path| -> String {
        let inner = path.strip_prefix(&root).expect("a source of the crate");
        let first = inner.components().next().expect("a module");
        let first = first.as_os_str().to_string_lossy();
        first.trim_end_matches(".rs").to_owned()
    };
    let paths = sources(&root);
    let rooms: BTreeSet<String> = paths.iter().map(|path| module(path)).collect();
    let rooms: BTreeSet<String> = rooms
        .into_iter()
        .filter(|name| !SHARED.contains(&name.as_str()) && !ABOVE.contains(&name.as_str()))
        .collect();
    assert!(rooms.contains("lu") && rooms.contains("print"));
    for path in &paths {
        let own = module(path);
        if ABOVE.contains(&own.as_str()) {
            continue;
        }
        let source = fs::read_to_string(path).expect("a source");
        let others: Vec<_> = named(&source)
            .into_iter()
            .filter(|name| *name != own && rooms.contains(name))
            .collect();
        assert!(others.is_empty(), "{} knows {others:?}", path.display());
    }
}
