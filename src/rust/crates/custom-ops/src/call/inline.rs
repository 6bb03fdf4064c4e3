//! A few things on the stack, more of them on the heap.

use core::mem::MaybeUninit;
use core::ops::{Deref, DerefMut};
use core::slice;

/// A vector whose first `N` elements need no allocation.
pub(crate) struct Inline<T: Copy, const N: usize> {
    here: [MaybeUninit<T>; N],
    len: usize,
    /// All elements, once there are more than `N`.
    there: Vec<T>,
}

impl<T: Copy, const N: usize> Inline<T, N> {
    pub(crate) fn new() -> Self {
        Inline {
            here: [const { MaybeUninit::uninit() }; N],
            len: 0,
            there: Vec::new(),
        }
    }

    #[inline(always)]
    pub(crate) fn push(&mut self, value: T) {
        match self.here.get_mut(self.len) {
            Some(here) => {
                here.write(value);
            }
            None => self.spill(value),
        }
        self.len += 1;
    }

    pub(crate) fn clear(&mut self) {
        self.len = 0;
        self.there.clear();
    }

    #[cold]
    fn spill(&mut self, value: T) {
        if self.len == N {
            let all: &[T] = self;
            self.there = all.to_vec();
        }
        self.there.push(value);
    }
}

impl<T: Copy, const N: usize> Deref for Inline<T, N> {
    type Target = [T];

    #[inline]
    fn deref(&self) -> &[T] {
        if self.len > N {
            return &self.there;
        }
        // SAFETY: the first `len` elements were written.
        unsafe { slice::from_raw_parts(self.here.as_ptr().cast(), self.len) }
    }
}

impl<T: Copy, const N: usize> DerefMut for Inline<T, N> {
    #[inline]
    fn deref_mut(&mut self) -> &mut [T] {
        if self.len > N {
            return &mut self.there;
        }
        // SAFETY: as in `deref`.
        unsafe { slice::from_raw_parts_mut(self.here.as_mut_ptr().cast(), self.len) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn elements_come_back_from_both_places() {
        for count in 0..9 {
            let mut all = Inline::<usize, 4>::new();
            for i in 0..count {
                all.push(i);
                assert_eq!(all.len(), i + 1);
            }
            if let Some(first) = all.first_mut() {
                *first = 7;
            }
            let expected: Vec<_> = (0..count).map(|i| if i == 0 { 7 } else { i }).collect();
            assert_eq!(&all[..], &expected[..], "{count}");
        }
    }
}
