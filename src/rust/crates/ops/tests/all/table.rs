//! The table of ops: every entry is complete and answers XLA's metadata query.

use std::collections::HashSet;
use xla_ffi::testing::metadata;
use xla_ffi::{DataType, REPORTED_VERSION};

#[test]
fn entries_are_complete() {
    let mut targets = HashSet::new();
    for entry in ops::table() {
        assert!(
            targets.insert(entry.target),
            "{} is there twice",
            entry.target
        );
        assert!(entry.platforms().count() > 0);
        assert!(!entry.dtypes.is_empty());
        let parts = [
            entry.operands().count(),
            entry.results().count(),
            entry.attributes().count(),
        ];
        assert_eq!(parts.iter().sum::<usize>(), entry.fields.len());
        for field in entry.fields {
            assert!(
                !field.doc().is_empty(),
                "{} of {} says nothing",
                field.name,
                entry.target
            );
        }
        for platform in entry.platforms() {
            let handler = entry.handler(platform).expect("a handler on its platform");
            let answer = metadata(handler).expect("an answer to the metadata query");
            assert_eq!(answer.version, REPORTED_VERSION);
        }
    }
}

#[test]
fn lu_is_described() {
    let lu = ops::table()
        .iter()
        .find(|entry| entry.target == "lu")
        .expect("lu");
    let names = |fields: &mut dyn Iterator<Item = &'static xla_ffi::FieldInfo>| -> Vec<&str> {
        fields.map(|field| field.name).collect()
    };
    assert_eq!(names(&mut lu.operands()), ["a"]);
    assert_eq!(names(&mut lu.results()), ["lu", "pivots"]);
    assert_eq!(lu.attributes().count(), 0);
    let dtypes = [DataType::F32, DataType::F64, DataType::C64, DataType::C128];
    assert_eq!(lu.dtypes, dtypes);
    assert_eq!(lu.platforms().collect::<Vec<_>>(), ["host", "cuda"]);
}

#[test]
fn platforms_are_found_by_each_of_their_names() {
    for platform in ["host", "Host", "cpu"] {
        assert!(ops::find("lu", platform).is_some());
    }
    for platform in ["cuda", "CUDA", "gpu"] {
        assert!(ops::find("lu", platform).is_some());
    }
    assert!(ops::find("cusolver_getrf_ffi", "host").is_none());
    assert!(ops::find("lu", "rocm").is_none());
    assert!(ops::find("nothing", "host").is_none());
    assert!(ops::find("xlaffi.nothing", "host").is_none());
    for op in ops::table() {
        let own = ops::named(&format!("{}{}", ops::PRIVATE, op.target));
        assert_eq!(own.map(|own| own.target), Some(op.target));
    }
}
