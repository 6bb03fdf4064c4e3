//! Few values without the heap, many with it.

use core::ops::{Deref, DerefMut};

/// A vector that holds up to `N` values in itself.
#[derive(Clone, Debug)]
pub(super) struct Room<T, const N: usize> {
    few: [T; N],
    many: Vec<T>,
    len: usize,
}

impl<T: Copy + Default, const N: usize> Room<T, N> {
    pub(super) fn new() -> Self {
        Room {
            few: [T::default(); N],
            many: Vec::new(),
            len: 0,
        }
    }

    #[inline]
    pub(super) fn clear(&mut self) {
        self.len = 0;
        self.many.clear();
    }

    #[inline]
    pub(super) fn push(&mut self, value: T) {
        match self.few.get_mut(self.len) {
            Some(place) => *place = value,
            None => self.push_many(value),
        }
        self.len += 1;
    }

    #[cold]
    fn push_many(&mut self, value: T) {
        if self.len == N {
            self.many.extend_from_slice(&self.few);
        }
        self.many.push(value);
    }

    #[inline]
    pub(super) fn extend(&mut self, values: impl IntoIterator<Item = T>) {
        values.into_iter().for_each(|value| self.push(value));
    }
}

impl<T, const N: usize> Deref for Room<T, N> {
    type Target = [T];

    #[inline]
    fn deref(&self) -> &[T] {
        self.few.get(..self.len).unwrap_or(&self.many)
    }
}

impl<T, const N: usize> DerefMut for Room<T, N> {
    #[inline]
    fn deref_mut(&mut self) -> &mut [T] {
        self.few.get_mut(..self.len).unwrap_or(&mut self.many)
    }
}
