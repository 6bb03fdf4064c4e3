//! How a struct of the C API is declared, and what is known of its layout.

/// One field of a C struct.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Field {
    /// Name in the header.
    pub name: &'static str,
    /// Offset in bytes.
    pub offset: usize,
    /// Size in bytes.
    pub size: usize,
}

/// A C struct: its name, its size and its fields.
#[derive(Clone, Copy, Debug)]
pub struct Layout {
    /// Name in the header.
    pub name: &'static str,
    /// `sizeof`, trailing padding included.
    pub size: usize,
    /// What the API writes into `struct_size`: the end of the last field, padding not counted.
    pub struct_size: usize,
    /// Fields in order.
    pub fields: &'static [Field],
}

/// A struct of the C API.
///
/// # Safety
/// The type is `repr(C)`, has the header's fields in the header's order, and all-zero bytes are a
/// valid value of it.
pub unsafe trait CStruct: Copy + Sized {
    /// Name in the header.
    const NAME: &'static str;
    /// Fields in order.
    const FIELDS: &'static [Field];
    /// What the API calls `<name>_STRUCT_SIZE`: the end of the last field in bytes.
    const STRUCT_SIZE: usize = match Self::FIELDS.last() {
        Some(f) => f.offset + f.size,
        None => 0,
    };
    /// All of the above.
    const LAYOUT: Layout = Layout {
        name: Self::NAME,
        size: std::mem::size_of::<Self>(),
        struct_size: Self::STRUCT_SIZE,
        fields: Self::FIELDS,
    };
}

/// Declares the structs of a module and a `LAYOUTS` list of them.
///
/// `args Name { … }` starts with `struct_size` and `extension_start`, which `Name::new()` fills in
/// (everything else zero). `plain Name { … }` has the given fields only.
macro_rules! c_structs {
    ($($kind:ident $name:ident { $($field:ident : $ty:ty),* $(,)? })*) => {
        /// The structs of this module.
        pub const LAYOUTS: &[$crate::Layout] =
            &[$(<$name as $crate::CStruct>::LAYOUT),*];
        $(c_structs!(@$kind $name { $($field: $ty),* });)*
    };
    (@args $name:ident { $($field:ident : $ty:ty),* }) => {
        c_structs!(@plain $name {
            struct_size: usize,
            extension_start: *mut $crate::PJRT_Extension_Base
            $(, $field: $ty)*
        });
        c_structs!(@sized $name);
    };
    (@sized $name:ident) => {
        impl $name {
            /// A struct with its size filled in and everything else zero.
            pub const fn new() -> Self {
                // SAFETY: all fields are integers, floats, bools, raw pointers or `Option`s of
                // function pointers, for which all-zero bytes are valid.
                let mut s: Self = unsafe { std::mem::MaybeUninit::zeroed().assume_init() };
                s.struct_size = <Self as $crate::CStruct>::STRUCT_SIZE;
                s
            }
        }
        impl Default for $name {
            fn default() -> Self {
                Self::new()
            }
        }
    };
    (@plain $name:ident { $($field:ident : $ty:ty),* }) => {
        #[repr(C)]
        #[derive(Clone, Copy)]
        pub struct $name {
            $(pub $field: $ty),*
        }
        // SAFETY: `repr(C)`; order and types are checked against the header by a test; every field
        // type used in this crate has a valid all-zero value.
        unsafe impl $crate::CStruct for $name {
            const NAME: &'static str = stringify!($name);
            const FIELDS: &'static [$crate::Field] = &[
                $($crate::Field {
                    name: stringify!($field),
                    offset: std::mem::offset_of!($name, $field),
                    size: std::mem::size_of::<$ty>(),
                }),*
            ];
        }
    };
}
pub(crate) use c_structs;
