//! SHA-256, which keys and checks what is kept on disk.

use crate::r::entry::routines;
use crate::r::failure::Failure;
use crate::r::object::text;
use crate::r::value::Value;
use crate::r::vector::bytes;

routines! {
    // The digest of a string or a raw vector, in hexadecimal digits.
    fn digest(data) {
        let data = match text(data) {
            Some(text) => text.as_bytes(),
            None => bytes(data).ok_or_else(|| {
                Failure::argument("data", "`data` must be one string or a raw vector")
            })?,
        };
        let digest = hmac_sha256::Hash::hash(data);
        Ok(Value::from(digest.map(|byte| format!("{byte:02x}")).concat()))
    }
}
