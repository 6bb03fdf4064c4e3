//! Dependencies point downwards only: between crates, and between the modules of each.
//!
//! The file `layers.txt` beside a crate's manifest lists the crate's modules, a line for each layer, the lowest first.
//! A module may name modules of lower layers only, not its neighbours. A line `[folder]` begins the layers within a
//! folder of `src`; the folder's own file is `mod` there, that of the crate `lib`. What passes a name on (`pub use`)
//! does not count, what uses it does. Methods are not seen.

mod names;
mod source;

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

use names::{Crate, Module};

/// The crates, and which of them each may be made of. A new one gets a line, below what it uses.
const CRATES: &[(&str, &[&str])] = &[
    ("fork", &[]),
    ("block-cache", &["fork"]),
    ("main-thread", &["fork"]),
    ("matrices", &[]),
    ("special", &[]),
    ("xla-ffi", &[]),
    ("lapack", &["matrices"]),
    ("lanes", &["matrices"]),
    ("sparse", &["lanes"]),
    ("cuda", &["matrices", "xla-ffi"]),
    ("custom-ops", &["cuda", "xla-ffi"]),
    (
        "ops",
        &[
            "cuda", "lanes", "lapack", "matrices", "sparse", "special", "xla-ffi",
        ],
    ),
    ("ops-lib", &["lapack", "ops", "custom-ops", "xla-ffi"]),
    ("pjrt-api", &["xla-ffi"]),
    ("proto-wire", &[]),
    ("programs", &["proto-wire"]),
    (
        "pjrt",
        &["fork", "pjrt-api", "programs", "proto-wire", "xla-ffi"],
    ),
    (
        "pjrt-jaxlib",
        &[
            "block-cache",
            "fork",
            "pjrt-api",
            "programs",
            "proto-wire",
            "xla-ffi",
        ],
    ),
];

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

/// The layers of the folders of a crate, by folder, the lowest first.
type Layers = BTreeMap<Module, Vec<BTreeSet<String>>>;

fn layers(list: &str) -> Layers {
    let mut folder = Module::new();
    let mut found = Layers::new();
    let lines = list.lines().map(str::trim);
    for line in lines.filter(|line| !line.is_empty() && !line.starts_with('#')) {
        if let Some(path) = line.strip_prefix('[') {
            folder = path
                .trim_end_matches(']')
                .split('/')
                .map(str::to_owned)
                .collect();
        } else {
            let layer = line.split_whitespace().map(str::to_owned).collect();
            found.entry(folder.clone()).or_default().push(layer);
        }
    }
    found
}

/// What is wrong with the list itself.
fn unlisted(sources: &Crate, layers: &Layers) -> Vec<String> {
    let mut found = Vec::new();
    let folders: BTreeSet<_> = sources.folders.keys().chain(layers.keys()).collect();
    for folder in folders {
        let there = sources.folders.get(folder).cloned().unwrap_or_default();
        let listed: Vec<_> = layers.get(folder).into_iter().flatten().flatten().collect();
        let unique: BTreeSet<_> = listed.iter().map(|name| (*name).clone()).collect();
        if listed.len() != unique.len() {
            found.push(format!("[{}] lists a module twice", folder.join("/")));
        }
        for name in there.symmetric_difference(&unique) {
            let what = if there.contains(name) {
                "does not list"
            } else {
                "lists what is not there:"
            };
            found.push(format!("[{}] {what} {name}", folder.join("/")));
        }
    }
    found
}

/// Whether `from` may name `to`.
fn is_downwards(from: &Module, to: &Module, layers: &Layers) -> bool {
    let common = from
        .iter()
        .zip(to)
        .take_while(|(one, other)| one == other)
        .count();
    let own = if common == 0 { "lib" } else { "mod" };
    let layer = |module: &Module| {
        let name = module.get(common).map_or(own, String::as_str);
        let listed = layers.get(&from[..common])?;
        listed.iter().position(|layer| layer.contains(name))
    };
    layer(to) < layer(from)
}

#[test]
fn modules_name_modules_of_lower_layers_only() {
    let glue = crates().join("..");
    let all = CRATES.iter().map(|&(name, _)| (name, crates().join(name)));
    let mut wrong = Vec::new();
    for (name, root) in all.chain([("the glue", glue)]) {
        let list = root.join("layers.txt");
        let list = fs::read_to_string(list).expect("layers.txt, beside each manifest");
        let (sources, layers) = (Crate::read(&root.join("src")), layers(&list));
        wrong.extend(
            unlisted(&sources, &layers)
                .into_iter()
                .map(|text| format!("{name}: {text}")),
        );
        for (from, to) in sources.arrows() {
            if !is_downwards(&from, &to, &layers) {
                wrong.push(format!("{name}: {} names {}", from.join("/"), to.join("/")));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// Lines that a file of Rust has at most.
const LINES: usize = 350;

/// The Rust files of a folder and of those in it.
fn sources(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).into_iter().flatten() {
        let path = entry.expect("an entry").path();
        if path.is_dir() {
            sources(&path, found);
        } else if path.extension().is_some_and(|found| found == "rs") {
            found.push(path);
        }
    }
}

/// All Rust files: of the crates and of the glue.
fn all_sources() -> Vec<PathBuf> {
    let mut all = Vec::new();
    let roots = CRATES.iter().map(|&(name, _)| crates().join(name));
    for root in roots.chain([crates().join("..")]) {
        for part in ["src", "tests", "examples"] {
            sources(&root.join(part), &mut all);
        }
    }
    all
}

#[test]
fn no_file_is_too_long_to_read() {
    let mut all = all_sources();
    let lines = |path: &PathBuf| fs::read_to_string(path).expect("a source").lines().count();
    all.retain(|path| lines(path) > LINES);
    assert!(all.is_empty(), "more than {LINES} lines: {all:?}");
}

/// The glue links R's symbols, so cargo's tests do not compile it: nobody would run its own.
#[test]
fn the_glue_has_no_tests() {
    let glue = crates().join("..").join("src");
    let mut all = all_sources();
    all.retain(|path| path.starts_with(&glue));
    assert!(!all.is_empty(), "{}", glue.display());
    let tests = |path: &PathBuf| {
        let text = fs::read_to_string(path).expect("a source");
        text.contains("cfg(test)") || text.contains("#[test]")
    };
    all.retain(tests);
    assert!(all.is_empty(), "tests that never run: {all:?}");
}

/// Lines that a function has at most.
const FUNCTION_LINES: usize = 80;

/// The functions of a file that rustfmt has formatted: their first lines, and how many they have.
fn functions(text: &str) -> Vec<(&str, usize)> {
    let lines: Vec<&str> = text.lines().collect();
    let is_function = |line: &str| {
        let words = line.split(" fn ").next().unwrap_or_default();
        line.starts_with("fn ")
            || words.len() < line.len()
                && words.split(' ').all(|word| {
                    word.starts_with("pub") || word.ends_with(')') || MODIFIERS.contains(&word)
                })
    };
    let mut found = Vec::new();
    for (at, line) in lines.iter().enumerate() {
        let indent = line.len() - line.trim_start().len();
        if is_function(line.trim_start()) && !line.ends_with([';', '}']) {
            let ends = |other: &&str| {
                other.len() - other.trim_start().len() == indent
                    && (other.trim_start().starts_with('}') || other.ends_with(';'))
            };
            let body = lines[at + 1..].iter().position(ends);
            found.push((*line, body.map_or(0, |body| body + 2)));
        }
    }
    found
}

/// What may stand before `fn`, besides visibility.
const MODIFIERS: [&str; 6] = ["const", "unsafe", "extern", "\"C\"", "async", "default"];

#[test]
fn no_function_is_too_long_to_read() {
    let mut long = Vec::new();
    let mut count = 0;
    for path in all_sources() {
        let text = fs::read_to_string(&path).expect("a source");
        let found = functions(&text);
        count += found.len();
        let found = found
            .into_iter()
            .filter(|&(_, lines)| lines > FUNCTION_LINES);
        long.extend(found.map(|(line, lines)| format!("{}: {line} {lines}", path.display())));
    }
    assert!(long.is_empty(), "{}", long.join("\n"));
    // It sees functions at all.
    assert!(count > 3000, "{count}");
}
