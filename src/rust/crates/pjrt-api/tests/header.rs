//! Compares the declarations with `header.txt`, the table that `tools/c-headers.py` makes from the
//! C header itself. Only tensorflow's wheel of 270 MB carries that header.

use pjrt_api::*;
use std::collections::{HashMap, HashSet};

/// The header's name of a field; two fields are unnamed unions there.
fn header_field(layout: &Layout, field: &'static str) -> &'static str {
    match (layout.name, field) {
        ("PJRT_NamedValue", "value") => "string_value",
        ("PJRT_Buffer_MemoryLayout", "value") => "tiled",
        _ => field.trim_start_matches("r#"),
    }
}

fn enumerators() -> Vec<(String, u32)> {
    let lists: &[(&str, &[(&str, u32)])] = &[
        ("PJRT_Extension_Type_", PJRT_Extension_Type::ALL),
        ("PJRT_Error_Code_", PJRT_Error_Code::ALL),
        ("PJRT_NamedValue_", PJRT_NamedValue_Type::ALL),
        ("PJRT_Buffer_Type_", PJRT_Buffer_Type::ALL),
        ("PJRT_HostBufferSemantics_", PJRT_HostBufferSemantics::ALL),
        (
            "PJRT_Buffer_MemoryLayout_Type_",
            PJRT_Buffer_MemoryLayout_Type::ALL,
        ),
        ("PJRT_FFI_HANDLER_TRAITS_", PJRT_FFI_Handler_TraitsBits::ALL),
    ];
    lists
        .iter()
        .flat_map(|(prefix, all)| all.iter().map(move |(n, v)| (format!("{prefix}{n}"), *v)))
        .collect()
}

/// The table of the header: lines of constants, and of structs with their members.
#[derive(Default)]
struct Header {
    constants: HashMap<&'static str, usize>,
    /// Size, `STRUCT_SIZE` and members: name, offset and size.
    structs: HashMap<&'static str, ([usize; 2], Vec<Member>)>,
}

type Member = (&'static str, [usize; 2]);

fn header() -> Header {
    let mut header = Header::default();
    let mut current = "";
    for line in include_str!("header.txt").lines() {
        if line.starts_with('#') {
            continue;
        }
        let mut words = line.split_ascii_whitespace();
        let name = words.next().expect("a name");
        let numbers: Vec<usize> = words.map(|n| n.parse().expect("a number")).collect();
        match numbers[..] {
            [value] => {
                header.constants.insert(name, value);
            }
            [a, b] if line.starts_with(' ') => {
                let (_, members) = header.structs.get_mut(current).expect("a struct");
                members.push((name, [a, b]));
            }
            [a, b] => {
                current = name;
                header.structs.insert(name, ([a, b], Vec::new()));
            }
            _ => panic!("{line}"),
        }
    }
    header
}

#[test]
#[cfg_attr(
    not(target_pointer_width = "64"),
    ignore = "the table is of a machine of 64 bits"
)]
fn declarations_match_the_header() {
    let header = header();
    let mut wrong = Vec::new();
    for layout in LAYOUTS.iter().copied().flatten() {
        let Some((sizes, members)) = header.structs.get(layout.name) else {
            wrong.push(format!("{} is not in the header", layout.name));
            continue;
        };
        let ours = [layout.size, layout.struct_size];
        if ours != *sizes {
            wrong.push(format!(
                "{}: sizes {ours:?} here, {sizes:?} there",
                layout.name
            ));
        }
        for field in layout.fields {
            let name = header_field(layout, field.name);
            let there = members.iter().find(|(member, _)| *member == name);
            let ours = (name, [field.offset, field.size]);
            if there != Some(&ours) {
                wrong.push(format!("{}: {ours:?} here, {there:?} there", layout.name));
            }
        }
        // Members of a union share their place.
        let places: HashSet<usize> = members.iter().map(|(_, place)| place[0]).collect();
        if places.len() != layout.fields.len() {
            wrong.push(format!("{}: some member is missing", layout.name));
        }
    }
    let version = [("PJRT_API_MAJOR", API_MAJOR), ("PJRT_API_MINOR", API_MINOR)];
    let version = version.map(|(name, value)| (name.to_owned(), value as u32));
    for (name, value) in enumerators().into_iter().chain(version) {
        let there = header.constants.get(name.as_str());
        if there != Some(&(value as usize)) {
            wrong.push(format!("{name}: {value} here, {there:?} there"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn table_has_every_function_once() {
    let mut names = PJRT_Api::FUNCTIONS.to_vec();
    names.sort_unstable();
    names.dedup();
    assert_eq!(names.len(), PJRT_Api::FUNCTIONS.len());
    assert_eq!(
        PJRT_Api::STRUCT_SIZE,
        API_HEADER_SIZE + PJRT_Api::FUNCTIONS.len() * std::mem::size_of::<usize>()
    );
    let last = std::mem::offset_of!(PJRT_Api, PJRT_Event_Set);
    assert!(PJRT_Api::holds(PJRT_Api::STRUCT_SIZE, last));
    assert!(!PJRT_Api::holds(PJRT_Api::STRUCT_SIZE - 1, last));
}

#[test]
fn buffer_types_are_element_types() {
    for (name, number) in PJRT_Buffer_Type::ALL {
        let ty = PJRT_Buffer_Type(*number);
        assert_eq!(ty.header_name(), *name);
        let dtype = ty.data_type().expect(name);
        assert_eq!(PJRT_Buffer_Type::of(dtype), ty, "{name}");
    }
    assert_eq!(PJRT_Buffer_Type(999).data_type(), None);
    assert_eq!(PJRT_Buffer_Type(999).header_name(), "unknown");
}
