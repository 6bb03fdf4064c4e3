//! Every struct, field, function and constant of `sys` against `header.txt`, the table that
//! `tools/c-headers.py` makes from XLA's own C header.

use std::collections::{BTreeMap, BTreeSet};
use std::mem::{offset_of, size_of};

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

/// What the header says, under the same names.
fn header_facts() -> Facts {
    let mut facts = Facts::new();
    let mut current = "";
    let lines = include_str!("../header.txt").lines();
    for line in lines.filter(|line| !line.starts_with('#')) {
        let mut words = line.split_ascii_whitespace();
        let name = words.next().expect("a name");
        let numbers: Vec<u64> = words.map(|n| n.parse().expect("a number")).collect();
        match numbers[..] {
            [value] => {
                facts.insert(name.to_owned(), value);
            }
            [offset, size] if line.starts_with(' ') => {
                facts.insert(format!("offsetof({current}, {name})"), offset);
                facts.insert(format!("sizeof((({current}*)0)->{name})"), size);
            }
            [size, _] => {
                current = name;
                facts.insert(format!("sizeof({name})"), size);
            }
            _ => panic!("{line}"),
        }
    }
    facts
}

#[test]
#[cfg_attr(miri, ignore = "nothing unsafe, and slow")]
#[cfg_attr(
    not(target_pointer_width = "64"),
    ignore = "the table is of a machine of 64 bits"
)]
fn structs_and_constants_are_those_of_the_header() {
    let (rust, header) = (rust_facts(), header_facts());
    let names: BTreeSet<&String> = rust.keys().chain(header.keys()).collect();
    let different: Vec<String> = names
        .into_iter()
        .filter(|name| rust.get(*name) != header.get(*name))
        .map(|name| {
            let (ours, theirs) = (rust.get(name), header.get(name));
            format!("{name}: {ours:?} in Rust, {theirs:?} in the header")
        })
        .collect();
    assert!(different.is_empty(), "{}", different.join("\n"));
}
