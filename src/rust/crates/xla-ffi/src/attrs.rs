//! Attributes by name.

use core::ffi::c_void;
use core::slice;

use crate::attr::{AnyAttr, AttrType, AttrValue};
use crate::error::{Error, Operand, OperandKind, Result};
use crate::sys;

/// The attributes of a call or of a dictionary.
#[derive(Clone, Copy, Debug)]
pub struct Attrs<'f> {
    types: &'f [sys::XLA_FFI_AttrType],
    names: &'f [*mut sys::XLA_FFI_ByteSpan],
    values: &'f [*mut c_void],
}

// SAFETY: attributes are constants of the program; nobody writes them.
unsafe impl Send for Attrs<'_> {}
// SAFETY: as above.
unsafe impl Sync for Attrs<'_> {}

impl<'f> Attrs<'f> {
    /// # Safety
    /// `raw` is XLA's, and all it points to lives, unchanged, for `'f`.
    pub(crate) unsafe fn from_raw(raw: &sys::XLA_FFI_Attrs) -> Self {
        // SAFETY: by contract the three arrays have `size` entries.
        unsafe {
            Attrs {
                types: raw_slice(raw.types, raw.size),
                names: raw_slice(raw.names, raw.size),
                values: raw_slice(raw.attrs, raw.size),
            }
        }
    }

    /// How many there are.
    #[must_use]
    pub fn len(&self) -> usize {
        self.types.len()
    }

    /// Whether there are none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.types.is_empty()
    }

    /// Name and value of each, in XLA's order (sorted by name).
    pub fn iter(&self) -> impl Iterator<Item = (&'f [u8], AnyAttr<'f>)> + 'f {
        let all = self.types.iter().zip(self.names).zip(self.values);
        all.map(|((&type_, &name), &value)| {
            // SAFETY: XLA's names and values, see `from_raw`.
            unsafe { (name_of(name), AnyAttr::from_raw(type_, value)) }
        })
    }

    /// The attribute of that name, whatever it holds.
    // A linear search: there are few, and a host that does not sort them does no harm.
    #[must_use]
    #[inline(never)] // once, not for each attribute
    pub fn find(&self, name: &str) -> Option<AnyAttr<'f>> {
        let is_it = |&raw: &*mut sys::XLA_FFI_ByteSpan| {
            // SAFETY: XLA's names, see `from_raw`.
            unsafe { name_of(raw) == name.as_bytes() }
        };
        let at = self.names.iter().position(is_it)?;
        // SAFETY: XLA's values, see `from_raw`.
        Some(unsafe { AnyAttr::from_raw(*self.types.get(at)?, *self.values.get(at)?) })
    }

    /// The attribute of that name.
    ///
    /// # Errors
    /// ``attribute `n` must be a scalar i64, got a scalar f32``, or `…, got none`.
    pub fn get<V: AttrValue<'f>>(&self, name: &'static str) -> Result<V> {
        match self.get_optional(name)? {
            Some(value) => Ok(value),
            None => Err(Error::mismatch(
                attribute(name),
                format_args!("be {}", V::TYPE),
                "none",
            )),
        }
    }

    /// The attribute of that name, `None` where there is none.
    ///
    /// # Errors
    /// It holds something else: ``attribute `n` must be a scalar i64, got a scalar f32``.
    pub fn get_optional<V: AttrValue<'f>>(&self, name: &'static str) -> Result<Option<V>> {
        let Some(attr) = self.find(name) else {
            return Ok(None);
        };
        match V::read(attr) {
            Some(value) => Ok(Some(value)),
            None => Err(unreadable::<V>(name, attr)),
        }
    }

    /// The attribute of that name, `default` where there is none.
    ///
    /// # Errors
    /// As [`get_optional`](Self::get_optional).
    pub fn get_or<V: AttrValue<'f>>(&self, name: &'static str, default: V) -> Result<V> {
        Ok(self.get_optional(name)?.unwrap_or(default))
    }
}

fn attribute(name: &'static str) -> Operand {
    Operand::new(OperandKind::Attribute, name)
}

#[cold]
fn unreadable<'f, V: AttrValue<'f>>(name: &'static str, attr: AnyAttr<'f>) -> Error {
    let expected = format_args!("be {}", V::TYPE).to_string();
    if attr.type_() != V::TYPE {
        return Error::mismatch(attribute(name), expected, attr.type_());
    }
    let got = match attr.type_() {
        AttrType::String => "bytes that are not UTF-8",
        _ => "one without readable memory",
    };
    Error::mismatch(attribute(name), expected, got)
}

/// # Safety
/// `data` is null or has `size` elements that live, unchanged, for `'f`.
#[inline]
pub(crate) unsafe fn raw_slice<'f, T>(data: *const T, size: i64) -> &'f [T] {
    match usize::try_from(size) {
        // SAFETY: by contract.
        Ok(len) if len > 0 && !data.is_null() => unsafe { slice::from_raw_parts(data, len) },
        _ => &[],
    }
}

/// # Safety
/// `name` is null or a byte span that lives, unchanged, for `'f`.
unsafe fn name_of<'f>(name: *const sys::XLA_FFI_ByteSpan) -> &'f [u8] {
    if name.is_null() {
        return &[];
    }
    // SAFETY: by contract.
    unsafe {
        raw_slice(
            (*name).ptr.cast::<u8>(),
            i64::try_from((*name).len).unwrap_or(0),
        )
    }
}
