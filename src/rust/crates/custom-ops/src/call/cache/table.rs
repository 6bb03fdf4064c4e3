//! The cached calls of the places in programs that share an op and its attributes, by shape.

use std::sync::OnceLock;

use xla_ffi::CallFrame;

use super::super::addresses::Addresses;
use super::cached::CachedCall;

#[derive(Default)]
#[repr(C)]
pub(crate) struct CallCache {
    /// Mostly there is one.
    first: OnceLock<CachedCall>,
    others: OnceLock<Box<[Other; OTHERS]>>,
}

type Other = OnceLock<Box<CachedCall>>;

/// At how many places others may be; more are not kept.
const OTHERS: usize = 256;

/// How many are looked at to find one.
const TRIES: usize = 8;

/// With so many shapes they are not shared by any more places.
const CROWDED: usize = OTHERS / 4;

impl CallCache {
    /// The first of all.
    #[inline]
    pub(crate) fn first(&self) -> Option<&CachedCall> {
        self.first.get()
    }

    /// The one that a call is like; `addresses` is where its arrays lie.
    #[inline(always)]
    pub(crate) fn find(
        &self,
        frame: &CallFrame<'_>,
        addresses: &mut Addresses,
    ) -> Option<&CachedCall> {
        let first = self.first.get()?;
        match first.fits(frame, addresses) {
            true => Some(first),
            false => self.find_other(frame, addresses),
        }
    }

    #[inline(never)]
    fn find_other(&self, frame: &CallFrame<'_>, addresses: &mut Addresses) -> Option<&CachedCall> {
        let others = near(self.others.get()?, frame);
        let others = others.map_while(OnceLock::get).map(Box::as_ref);
        others.into_iter().find(|cached| {
            addresses.clear();
            cached.fits(frame, addresses)
        })
    }

    /// Keeps what a call was like that is like none of these.
    pub(crate) fn add(&self, frame: &CallFrame<'_>, make: impl FnOnce() -> Option<CachedCall>) {
        if self.first.get().is_none() {
            // Of several first calls at once one is enough.
            make().map(|cached| self.first.set(cached));
            return;
        }
        let others = self
            .others
            .get_or_init(|| Box::new([const { OnceLock::new() }; OTHERS]));
        let free = near(others, frame).find(|other| other.get().is_none());
        if let Some((free, cached)) = free.and_then(|free| Some((free, make()?))) {
            // If another thread was faster the next call tries again.
            let _ = free.set(Box::new(cached));
        }
    }

    /// Whether the calls of more places are to be added.
    pub(crate) fn takes_more(&self) -> bool {
        let others = self
            .others
            .get()
            .into_iter()
            .flat_map(|others| others.iter());
        others.filter(|other| other.get().is_some()).count() < CROWDED
    }
}

/// The places for calls of the frame's shapes.
fn near<'a>(others: &'a [Other; OTHERS], frame: &CallFrame<'_>) -> impl Iterator<Item = &'a Other> {
    let arrays = frame.described_args().chain(frame.described_rets());
    let words = arrays.flatten().flat_map(|array| {
        let type_ = i64::from(array.dtype.0);
        array.dims.iter().copied().chain([type_])
    });
    let hash = words.fold(0u64, |hash, word| {
        (hash ^ word as u64)
            .wrapping_mul(0x9e37_79b9_7f4a_7c15)
            .rotate_left(29)
    });
    (0..TRIES).map(move |at| &others[(hash as usize).wrapping_add(at) % OTHERS])
}
