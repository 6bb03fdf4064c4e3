//! Texts that are kept beside the tests.

use std::path::Path;

/// Compares with a file of `tests/snapshots`, or writes it where `XLAFFI_SNAPSHOTS=write`.
pub fn compare(name: &str, text: &str) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("tests/snapshots")
        .join(name);
    if std::env::var("XLAFFI_SNAPSHOTS").is_ok_and(|what| what == "write") {
        std::fs::write(&path, text).expect("snapshots can be written");
    }
    let kept = std::fs::read_to_string(&path).unwrap_or_default();
    let mut lines = kept.lines().zip(text.lines()).enumerate();
    if let Some((index, (kept, now))) = lines.find(|(_, (kept, now))| kept != now) {
        panic!(
            "{name}, line {}:\n  was {kept:?}\n  is  {now:?}\nXLAFFI_SNAPSHOTS=write keeps it",
            index + 1
        );
    }
    assert_eq!(kept, text, "{name}; XLAFFI_SNAPSHOTS=write keeps it");
}
