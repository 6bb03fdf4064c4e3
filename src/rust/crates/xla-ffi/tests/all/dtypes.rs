//! The table of element types. `header.rs` compares its numbers with XLA's header, `real_xla.rs`
//! its other columns with numpy and jaxlib.

use std::collections::HashSet;

use xla_ffi::{DataKind, DataType};

#[test]
fn every_name_and_alias_means_one_type() {
    let mut seen = HashSet::new();
    for &dtype in DataType::ALL {
        let info = dtype.info().expect("listed types are known");
        for name in [&info.name].into_iter().chain(info.aliases) {
            assert!(seen.insert(*name), "{name} is there twice");
            assert_eq!(DataType::from_name(name), Some(dtype), "{name}");
        }
        assert_eq!((info.dtype, info.name), (dtype, dtype.name()));
    }
    // As in MLIR, and not one bit of a signed integer.
    assert_eq!(DataType::from_name("i1"), Some(DataType::PRED));
    for name in ["", "unknown", "token", "invalid", "F32", "f8e5m2"] {
        assert_eq!(DataType::from_name(name), None, "{name}");
    }
}

#[test]
fn sizes_and_parts() {
    for &dtype in DataType::ALL {
        let info = dtype.info().expect("listed types are known");
        assert_eq!(info.size, info.bits.div_ceil(8), "{dtype}");
        assert_eq!(dtype.size(), Some(info.size), "{dtype}");
        let part = dtype.part().and_then(DataType::info);
        assert_eq!(part.is_some(), info.kind == DataKind::Complex, "{dtype}");
        assert_eq!(part.map_or(info.bits, |part| 2 * part.bits), info.bits);
    }
    for dtype in [DataType::INVALID, DataType::TOKEN] {
        assert_eq!((dtype.size(), dtype.info()), (Some(0), None));
    }
    assert_eq!(DataType(77).size(), None);
    assert_eq!(DataType(77).info(), None);
    assert_eq!(DataType(77).name(), "unknown");
    assert_eq!(DataType(77).to_string(), "unknown dtype 77");
}
