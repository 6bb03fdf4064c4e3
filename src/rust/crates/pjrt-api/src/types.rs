//! Opaque handles, enumerations and the small structs that several calls share.

use crate::layout::c_structs;
use std::ffi::{c_char, c_int, c_void};
use xla_ffi::DataType;

macro_rules! handles {
    ($($name:ident),* $(,)?) => {$(
        /// Opaque; only ever used behind a pointer.
        #[repr(C)]
        pub struct $name {
            _private: [u8; 0],
        }
    )*};
}

handles!(
    PJRT_Error,
    PJRT_Event,
    PJRT_Client,
    PJRT_Device,
    PJRT_DeviceDescription,
    PJRT_TopologyDescription,
    PJRT_Memory,
    PJRT_Executable,
    PJRT_LoadedExecutable,
    PJRT_Buffer,
    PJRT_ExecuteContext,
    PJRT_SerializedExecutable,
    PJRT_AsyncHostToDeviceTransferManager,
);

/// C enumerations, as newtypes: a plugin newer than this crate may answer values unknown here.
macro_rules! c_enums {
    ($($name:ident { $($variant:ident = $value:literal),* $(,)? })*) => {$(
        #[repr(transparent)]
        #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
        pub struct $name(pub u32);
        #[allow(non_upper_case_globals, reason = "the header's names")]
        impl $name {
            $(pub const $variant: Self = Self($value);)*
            /// The enumerators known here, as written in the header after the type's prefix.
            pub const ALL: &'static [(&'static str, u32)] = &[$((stringify!($variant), $value)),*];
        }
    )*};
}

c_enums! {
    PJRT_Extension_Type {
        Gpu_Custom_Call = 0, Profiler = 1, Custom_Partitioner = 2, Stream = 3, Layouts = 4,
        FFI = 5, MemoryDescriptions = 6, Triton = 7, RawBuffer = 8, PhaseCompile = 9,
        Example = 10, Unknown = 11, CrossHostTransfers = 12, ExecutableMetadata = 13,
        Callback = 14, HostAllocator = 15, TpuTopology = 16, TpuExecutable = 17, Megascale = 18,
    }
    PJRT_Error_Code {
        OK = 0, CANCELLED = 1, UNKNOWN = 2, INVALID_ARGUMENT = 3, DEADLINE_EXCEEDED = 4,
        NOT_FOUND = 5, ALREADY_EXISTS = 6, PERMISSION_DENIED = 7, RESOURCE_EXHAUSTED = 8,
        FAILED_PRECONDITION = 9, ABORTED = 10, OUT_OF_RANGE = 11, UNIMPLEMENTED = 12,
        INTERNAL = 13, UNAVAILABLE = 14, DATA_LOSS = 15, UNAUTHENTICATED = 16,
    }
    PJRT_NamedValue_Type {
        kString = 0, kInt64 = 1, kInt64List = 2, kFloat = 3, kBool = 4,
    }
    PJRT_HostBufferSemantics {
        kImmutableOnlyDuringCall = 0, kImmutableUntilTransferCompletes = 1,
        kImmutableZeroCopy = 2, kMutableZeroCopy = 3,
    }
    PJRT_Buffer_MemoryLayout_Type { Tiled = 0, Strides = 1 }
    PJRT_FFI_Handler_TraitsBits { COMMAND_BUFFER_COMPATIBLE = 1 }
}

macro_rules! buffer_types {
    ($($id:ident = $xla:literal ([$($pjrt:literal)?], $($rest:tt)*) $doc:literal;)*) => {
        c_enums! {
            PJRT_Buffer_Type { INVALID = 0, TOKEN = 23, $($($id = $pjrt,)?)* }
        }

        impl PJRT_Buffer_Type {
            /// The element type in XLA's numbering; `None` for a number unknown here.
            pub const fn data_type(self) -> Option<DataType> {
                match self {
                    Self::INVALID => Some(DataType::INVALID),
                    Self::TOKEN => Some(DataType::TOKEN),
                    $($(Self($pjrt) => Some(DataType::$id),)?)*
                    _ => None,
                }
            }

            /// The number of an element type; [`INVALID`](Self::INVALID) where this API has none.
            pub const fn of(dtype: DataType) -> Self {
                match dtype {
                    DataType::TOKEN => Self::TOKEN,
                    $($(DataType::$id => Self($pjrt),)?)*
                    _ => Self::INVALID,
                }
            }
        }
    };
}

xla_ffi::for_each_dtype!(buffer_types);

impl PJRT_Buffer_Type {
    /// The header's name, without its prefix; `"unknown"` for a number unknown here.
    pub fn header_name(self) -> &'static str {
        let known = Self::ALL.iter().find(|(_, value)| *value == self.0);
        known.map_or("unknown", |(name, _)| name)
    }
}

/// The value of a [`PJRT_NamedValue`]; which member holds is told by its `type`.
#[repr(C)]
#[derive(Clone, Copy)]
pub union PJRT_NamedValue_Value {
    pub string_value: *const c_char,
    pub int64_value: i64,
    pub int64_array_value: *const i64,
    pub float_value: f32,
    pub bool_value: bool,
}

/// A layout's description; which member holds is told by [`PJRT_Buffer_MemoryLayout`]'s `type`.
#[repr(C)]
#[derive(Clone, Copy)]
pub union PJRT_Buffer_MemoryLayout_Value {
    pub tiled: PJRT_Buffer_MemoryLayout_Tiled,
    pub strides: PJRT_Buffer_MemoryLayout_Strides,
}

c_structs! {
    plain PJRT_Extension_Base {
        struct_size: usize,
        r#type: PJRT_Extension_Type,
        next: *mut PJRT_Extension_Base,
    }
    args PJRT_Api_Version { major_version: c_int, minor_version: c_int }
    args PJRT_NamedValue {
        name: *const c_char,
        name_size: usize,
        r#type: PJRT_NamedValue_Type,
        value: PJRT_NamedValue_Value,
        value_size: usize,
    }
    args PJRT_Program {
        code: *mut c_char,
        code_size: usize,
        format: *const c_char,
        format_size: usize,
    }
    args PJRT_Buffer_MemoryLayout_Tiled {
        minor_to_major: *const i64,
        minor_to_major_size: usize,
        tile_dims: *const i64,
        tile_dim_sizes: *const usize,
        num_tiles: usize,
    }
    args PJRT_Buffer_MemoryLayout_Strides { byte_strides: *const i64, num_byte_strides: usize }
    args PJRT_Buffer_MemoryLayout {
        value: PJRT_Buffer_MemoryLayout_Value,
        r#type: PJRT_Buffer_MemoryLayout_Type,
    }
    args PJRT_Error_Destroy_Args { error: *mut PJRT_Error }
    args PJRT_Error_Message_Args {
        error: *const PJRT_Error,
        message: *const c_char,
        message_size: usize,
    }
    args PJRT_Error_GetCode_Args { error: *const PJRT_Error, code: PJRT_Error_Code }
    args PJRT_Plugin_Initialize_Args {}
    args PJRT_Plugin_Attributes_Args {
        attributes: *const PJRT_NamedValue,
        num_attributes: usize,
    }
}

/// A function of the table that is not declared in detail.
pub type GenericFn = Option<unsafe extern "C" fn(args: *mut c_void) -> *mut PJRT_Error>;
