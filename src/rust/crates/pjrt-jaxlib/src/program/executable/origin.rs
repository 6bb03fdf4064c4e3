//! What programs are made of, and what they are written down as.

use crate::cluster::mesh;

/// What a program was made of.
pub(crate) enum Origin<'a> {
    Compiled(&'a [u8]),
    /// As jaxlib serialised it, and the digest of what had been compiled, where that is known.
    Serialized(&'a [u8], Option<u64>),
}

/// What stands before a serialised program over several processes, and before the digest of what was compiled: one
/// process may have compiled what another one loads.
pub(super) const MARK: &[u8; 8] = b"xlaffi\0\x01";

/// What jaxlib serialised, and the digest, of what `Executable::serialize` gave, or jaxlib.
pub(crate) fn read_serialized(bytes: &[u8]) -> (&[u8], Option<u64>) {
    let rest = bytes.strip_prefix(MARK);
    match rest.and_then(|rest| rest.split_first_chunk::<8>()) {
        Some((digest, code)) => (code, Some(u64::from_le_bytes(*digest))),
        None => (bytes, None),
    }
}

impl<'a> Origin<'a> {
    pub(super) fn serialized(&self) -> Option<&'a [u8]> {
        match self {
            Self::Compiled(_) => None,
            Self::Serialized(code, _) => Some(code),
        }
    }

    /// The same in all processes.
    pub(super) fn digest(&self, partitions: usize) -> u64 {
        match self {
            Self::Serialized(_, Some(digest)) => *digest,
            Self::Compiled(code) | Self::Serialized(code, None) => mesh::digest(code, partitions),
        }
    }
}
