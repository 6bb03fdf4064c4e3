//! Every struct, field, function and constant of `sys` against XLA's own C header, by way of the C
//! compiler.
//!
//! The header comes with the jaxlib wheel; `XLA_FFI_INCLUDE` names its include folder, else a
//! Python that has jaxlib is asked (`XLAFFI_PYTHON`, the repository's virtual environment,
//! `python3`). Without one the test is skipped, and says so; with `XLAFFI_REQUIRE_HEADER` set, it
//! fails.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::mem::{offset_of, size_of};
use std::path::{Path, PathBuf};
use std::process::Command;

use xla_ffi::{for_each_dtype, sys, Code, DataType};

/// C expression → value in Rust.
type Facts = BTreeMap<String, u64>;

macro_rules! structs {
    ($facts:ident; $($name:ident { $($field:ident $(as $c_field:literal)?),* $(,)? })*) => {$(
        // The C side is spelled `struct`-less, as the header's typedefs allow.
        $facts.insert(
            concat!("sizeof(", stringify!($name), ")").to_owned(),
            size_of::<sys::$name>() as u64,
        );
        $(
            #[allow(unused_mut, unused_assignments)]
            let mut c_field = stringify!($field);
            $(c_field = $c_field;)?
            $facts.insert(
                format!("offsetof({}, {c_field})", stringify!($name)),
                offset_of!(sys::$name, $field) as u64,
            );
            $facts.insert(
                format!("sizeof((({}*)0)->{c_field})", stringify!($name)),
                field_size(|value: &sys::$name| std::ptr::addr_of!(value.$field)) as u64,
            );
        )*
    )*};
}

macro_rules! constants {
    ($facts:ident; $($name:ident)*) => {
        $($facts.insert(stringify!($name).to_owned(), sys::$name as u64);)*
    };
}

fn field_size<S, F>(_: impl Fn(&S) -> *const F) -> usize {
    size_of::<F>()
}

fn rust_facts() -> Facts {
    let mut facts = Facts::new();
    structs! { facts;
        XLA_FFI_Extension_Base { struct_size, type_ as "type", next }
        XLA_FFI_Api_Version { struct_size, extension_start, major_version, minor_version }
        XLA_FFI_Error_Create_Args { struct_size, extension_start, message, errc }
        XLA_FFI_Error_GetMessage_Args { struct_size, extension_start, error, message }
        XLA_FFI_Error_Destroy_Args { struct_size, extension_start, error }
        XLA_FFI_Buffer { struct_size, extension_start, dtype, data, rank, dims }
        XLA_FFI_ByteSpan { ptr, len }
        XLA_FFI_Scalar { dtype, value }
        XLA_FFI_Array { dtype, size, data }
        XLA_FFI_TypeId { type_id }
        XLA_FFI_TypeInfo { struct_size, extension_start, deleter }
        XLA_FFI_Future_Create_Args { struct_size, extension_start, future }
        XLA_FFI_Future_SetAvailable_Args { struct_size, extension_start, future }
        XLA_FFI_Future_SetError_Args { struct_size, extension_start, future, error }
        XLA_FFI_Args { struct_size, extension_start, size, types, args }
        XLA_FFI_Rets { struct_size, extension_start, size, types, rets }
        XLA_FFI_Attrs { struct_size, extension_start, size, types, names, attrs }
        XLA_FFI_CallFrame {
            struct_size, extension_start, api, ctx, stage, args, rets, attrs, future,
        }
        XLA_FFI_Handler_Bundle { instantiate, prepare, initialize, execute }
        XLA_FFI_Handler_Register_Args {
            struct_size, extension_start, name, platform, bundle, traits,
        }
        XLA_FFI_Type_Register_Args { struct_size, extension_start, name, type_id, type_info }
        XLA_FFI_ExecutionContext_Get_Args { struct_size, extension_start, ctx, type_id, data }
        XLA_FFI_State_Set_Args { struct_size, extension_start, ctx, stage, type_id, state }
        XLA_FFI_State_Get_Args { struct_size, extension_start, ctx, stage, type_id, state }
        XLA_FFI_Stream_Get_Args { struct_size, extension_start, ctx, stream }
        XLA_FFI_DeviceMemory_Allocate_Args {
            struct_size, extension_start, ctx, size, alignment, data,
        }
        XLA_FFI_DeviceMemory_Free_Args { struct_size, extension_start, ctx, size, data }
        XLA_FFI_ThreadPool_Schedule_Args { struct_size, extension_start, ctx, task, data }
        XLA_FFI_ThreadPool_NumThreads_Args { struct_size, extension_start, ctx, num_threads }
        XLA_FFI_RunId_Get_Args { struct_size, extension_start, ctx, run_id }
        XLA_FFI_DeviceOrdinal_Get_Args { struct_size, extension_start, ctx, device_ordinal }
        XLA_FFI_Metadata { struct_size, api_version, traits, state_type_id }
        XLA_FFI_Metadata_Extension { extension_base, metadata }
        XLA_FFI_Api {
            struct_size, extension_start, api_version, internal_api,
            XLA_FFI_Error_Create, XLA_FFI_Error_GetMessage, XLA_FFI_Error_Destroy,
            XLA_FFI_Handler_Register, XLA_FFI_Stream_Get, XLA_FFI_Type_Register,
            XLA_FFI_ExecutionContext_Get, XLA_FFI_State_Set, XLA_FFI_State_Get,
            XLA_FFI_DeviceMemory_Allocate, XLA_FFI_DeviceMemory_Free,
            XLA_FFI_ThreadPool_Schedule, XLA_FFI_ThreadPool_NumThreads,
            XLA_FFI_Future_Create, XLA_FFI_Future_SetAvailable, XLA_FFI_Future_SetError,
            XLA_FFI_RunId_Get, XLA_FFI_DeviceOrdinal_Get,
        }
    }
    constants! { facts;
        XLA_FFI_API_MAJOR XLA_FFI_API_MINOR XLA_FFI_Error_Code_OK
        XLA_FFI_Extension_Metadata XLA_FFI_ArgType_BUFFER XLA_FFI_RetType_BUFFER
        XLA_FFI_AttrType_ARRAY XLA_FFI_AttrType_DICTIONARY XLA_FFI_AttrType_SCALAR
        XLA_FFI_AttrType_STRING XLA_FFI_ExecutionStage_INSTANTIATE
        XLA_FFI_ExecutionStage_PREPARE XLA_FFI_ExecutionStage_INITIALIZE
        XLA_FFI_ExecutionStage_EXECUTE XLA_FFI_HANDLER_TRAITS_COMMAND_BUFFER_COMPATIBLE
    }
    for &code in Code::ALL {
        facts.insert(format!("XLA_FFI_Error_Code_{}", code.name()), code as u64);
    }
    macro_rules! dtypes {
        ($($id:ident = $xla:literal $row:tt $doc:literal;)*) => {
            [$((stringify!($id), DataType::$id)),*]
        };
    }
    let others = [("INVALID", DataType::INVALID), ("TOKEN", DataType::TOKEN)];
    for (name, dtype) in for_each_dtype!(dtypes).into_iter().chain(others) {
        facts.insert(format!("XLA_FFI_DataType_{name}"), dtype.0 as u64);
    }
    facts
}

fn include_folder() -> Option<PathBuf> {
    if let Some(folder) = std::env::var_os("XLA_FFI_INCLUDE") {
        return Some(folder.into());
    }
    let venv = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../../.venv/bin/python");
    let pythons = [
        std::env::var_os("XLAFFI_PYTHON").map(PathBuf::from),
        Some(venv),
        Some(PathBuf::from("python3")),
    ];
    pythons.into_iter().flatten().find_map(|python| {
        let ask = "import importlib.util as u; print(u.find_spec('jaxlib').origin)";
        let out = Command::new(python).args(["-c", ask]).output().ok()?;
        let module = PathBuf::from(String::from_utf8(out.stdout).ok()?.trim());
        Some(module.parent()?.join("include")).filter(|folder| folder.is_dir())
    })
}

/// Compiles and runs a C program that prints the value of each expression.
fn c_facts(include: &Path, name: &str, expressions: impl Iterator<Item = String>) -> Facts {
    let mut source = String::from(
        "#include <stdio.h>\n#include <stddef.h>\n#include \"xla/ffi/api/c_api.h\"\nint main(void) {\n",
    );
    for expression in expressions {
        writeln!(
            source,
            "  printf(\"%s=%llu\\n\", \"{expression}\", (unsigned long long)({expression}));"
        )
        .expect("a string takes all");
    }
    source.push_str("  return 0;\n}\n");
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR"));
    let (file, program) = (folder.join(format!("{name}.c")), folder.join(name));
    std::fs::write(&file, source).expect("writing the C program");
    let compiler = std::env::var_os("CC").unwrap_or_else(|| "cc".into());
    let compiled = Command::new(&compiler)
        .arg("-I")
        .args([include, &file])
        .arg("-o")
        .arg(&program)
        .output()
        .unwrap_or_else(|error| panic!("running {compiler:?}: {error}"));
    assert!(
        compiled.status.success(),
        "{}",
        String::from_utf8_lossy(&compiled.stderr)
    );
    let out = Command::new(&program)
        .output()
        .expect("running the C program");
    assert!(out.status.success());
    String::from_utf8(out.stdout)
        .expect("ASCII")
        .lines()
        .map(|line| line.rsplit_once('=').expect("name=value"))
        .map(|(name, value)| (name.to_owned(), value.parse().expect("a number")))
        .collect()
}

/// The struct and enum names that the header defines, to notice what `rust_facts` forgets.
fn names_in(header: &str) -> impl Iterator<Item = &str> {
    let words = header.split(|c: char| !c.is_alphanumeric() && c != '_');
    words.filter(|word| word.starts_with("XLA_FFI_"))
}

/// The include folder, if it has the header of the version that `sys` declares.
fn include_to_compare(test: &str) -> Option<PathBuf> {
    let include = include_folder();
    let why = match &include {
        None => "no XLA FFI header (no Python with jaxlib; set XLAFFI_PYTHON or XLA_FFI_INCLUDE)",
        Some(include) => {
            let minor = "XLA_FFI_API_MINOR".to_owned();
            let found = c_facts(include, test, [minor].into_iter());
            if found.values().eq([&(sys::XLA_FFI_API_MINOR as u64)]) {
                return Some(include.clone());
            }
            "the header found is of another FFI version than 0.3 (jaxlib 0.10.2)"
        }
    };
    assert!(std::env::var_os("XLAFFI_REQUIRE_HEADER").is_none(), "{why}");
    eprintln!("SKIPPED: {why}");
    None
}

#[test]
fn structs_and_constants_are_those_of_the_header() {
    let Some(include) = include_to_compare("compared") else {
        return;
    };
    let rust = rust_facts();
    let c = c_facts(&include, "header", rust.keys().cloned());
    let different: Vec<String> = rust
        .iter()
        .filter(|(name, value)| c.get(*name) != Some(value))
        .map(|(name, value)| format!("{name}: {value} in Rust, {:?} in C", c.get(name)))
        .collect();
    assert!(different.is_empty(), "{}", different.join("\n"));
    assert!(rust.len() > 300, "only {} facts compared", rust.len());
}

#[test]
fn nothing_of_the_header_is_forgotten() {
    let Some(include) = include_to_compare("complete") else {
        return;
    };
    let header = std::fs::read_to_string(include.join("xla/ffi/api/c_api.h")).expect("the header");
    let all_facts: String = rust_facts().into_keys().collect::<Vec<_>>().join(" ");
    // Macros, types that are only pointed to, plain aliases, and the function by which XLA itself
    // finds its table.
    let known = [
        "API_C_API_H_",
        "API_MAJOR",
        "API_MINOR",
        "STRUCT_SIZE",
        "DEFINE_STRUCT_TRAITS",
        "API_STRUCT_FIELD",
        "InternalApi",
        "Extension_Type",
        "Error",
        "Error_Code",
        "DataType",
        "ArgType",
        "RetType",
        "AttrType",
        "ExecutionContext",
        "Future",
        "ExecutionStage",
        "Handler",
        "Handler_TraitsBits",
        "Handler_Traits",
        "UNKNOWN_TYPE_ID",
        "Task",
        "GetApi",
    ];
    let forgotten: Vec<&str> = names_in(&header)
        .filter(|name| !known.contains(&&name["XLA_FFI_".len()..]) && !all_facts.contains(name))
        .collect();
    assert!(forgotten.is_empty(), "not declared in `sys`: {forgotten:?}");
}
