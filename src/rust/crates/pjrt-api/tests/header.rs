//! Compares the declarations with a real header.
//!
//! `PJRT_INCLUDE` is the folder that contains `xla/pjrt/c/pjrt_c_api.h`, for instance
//! `tensorflow/include` of an unpacked tensorflow wheel. Without it the test says so and passes:
//! only that large wheel carries the header.

use pjrt_api::*;
use std::fmt::Write as _;
use std::path::Path;
use std::process::Command;

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

/// What this crate believes, one fact per line: `what value`.
fn ours() -> Vec<(String, usize)> {
    let mut facts = Vec::new();
    for layout in LAYOUTS.iter().copied().flatten() {
        facts.push((format!("sizeof {}", layout.name), layout.size));
        if layout.fields[0].name == "struct_size" && layout.name != "PJRT_FFI_Extension" {
            facts.push((format!("struct_size {}", layout.name), layout.struct_size));
        }
        for f in layout.fields {
            let name = header_field(layout, f.name);
            facts.push((format!("offsetof {} {name}", layout.name), f.offset));
            facts.push((format!("fieldsize {} {name}", layout.name), f.size));
        }
    }
    for (name, value) in enumerators() {
        facts.push((format!("enum {name}"), value as usize));
    }
    facts.push(("enum PJRT_API_MAJOR".into(), API_MAJOR as usize));
    facts.push(("enum PJRT_API_MINOR".into(), API_MINOR as usize));
    facts
}

/// A C program that prints what the header says to the same questions, in the same order.
fn program(facts: &[(String, usize)]) -> String {
    let mut c = String::from(
        "#include <stddef.h>\n#include <stdio.h>\n#include \"xla/pjrt/c/pjrt_c_api.h\"\n\
         #include \"xla/pjrt/c/pjrt_c_api_ffi_extension.h\"\nint main(void) {\n",
    );
    for (what, _) in facts {
        let words: Vec<&str> = what.split(' ').collect();
        let expression = match words[..] {
            ["sizeof", s] => format!("sizeof({s})"),
            ["struct_size", s] => format!("{s}_STRUCT_SIZE"),
            ["offsetof", s, f] => format!("offsetof({s}, {f})"),
            ["fieldsize", s, f] => format!("sizeof((({s}*)0)->{f})"),
            ["enum", e] => e.to_string(),
            _ => panic!("unknown question {what}"),
        };
        writeln!(c, "  printf(\"%zu\\n\", (size_t)({expression}));").unwrap();
    }
    c.push_str("  return 0;\n}\n");
    c
}

#[test]
fn declarations_match_the_header() {
    let Some(include) = std::env::var_os("PJRT_INCLUDE") else {
        eprintln!("skipped: PJRT_INCLUDE is not set, no header to compare with");
        return;
    };
    let facts = ours();
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR"));
    let (source, binary) = (folder.join("facts.c"), folder.join("facts"));
    std::fs::write(&source, program(&facts)).unwrap();
    let status = Command::new("cc")
        .arg("-I")
        .arg(&include)
        .arg(&source)
        .arg("-o")
        .arg(&binary)
        .status()
        .expect("a C compiler called cc");
    assert!(status.success(), "cc failed");
    let output = Command::new(&binary).output().unwrap();
    let theirs: Vec<usize> = String::from_utf8(output.stdout)
        .unwrap()
        .lines()
        .map(|l| l.parse().unwrap())
        .collect();
    assert_eq!(facts.len(), theirs.len());
    let minor = *theirs.last().unwrap();
    assert!(minor >= API_MINOR as usize, "the header is older: {minor}");
    let wrong: Vec<String> = facts
        .iter()
        .zip(theirs)
        .filter(|((what, ours), theirs)| {
            // Structs of a newer header may be longer; nothing else may differ.
            let may_grow = minor > API_MINOR as usize
                && (what.starts_with("sizeof")
                    || what.starts_with("struct_size")
                    || what.ends_with("_MINOR"));
            *ours != *theirs && !(may_grow && *ours < *theirs)
        })
        .map(|((what, ours), theirs)| format!("{what}: {ours} here, {theirs} in the header"))
        .collect();
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
