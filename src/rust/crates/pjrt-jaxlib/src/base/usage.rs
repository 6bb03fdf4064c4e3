//! What the buffers of a device hold.

use std::sync::atomic::{AtomicI64, Ordering::Relaxed};

/// Bytes of elements of the buffers that live. XLA tells nothing of the memory that programs use while they run.
#[derive(Default)]
pub(crate) struct Usage {
    now: AtomicI64,
    most: AtomicI64,
    buffers: AtomicI64,
    largest: AtomicI64,
}

impl Usage {
    /// One buffer more.
    pub fn add(&self, bytes: usize) {
        let bytes = bytes as i64;
        let now = self.now.fetch_add(bytes, Relaxed) + bytes;
        self.buffers.fetch_add(1, Relaxed);
        raise(&self.most, now);
        raise(&self.largest, bytes);
    }

    /// What a buffer held is gone.
    pub fn remove(&self, bytes: usize) {
        self.now.fetch_sub(bytes as i64, Relaxed);
    }

    /// Bytes that are held.
    pub fn now(&self) -> i64 {
        self.now.load(Relaxed)
    }

    /// As many as there ever were.
    pub fn most(&self) -> i64 {
        self.most.load(Relaxed)
    }

    /// How many buffers were made.
    pub fn buffers(&self) -> i64 {
        self.buffers.load(Relaxed)
    }

    /// Bytes of the largest one.
    pub fn largest(&self) -> i64 {
        self.largest.load(Relaxed)
    }
}

/// Most calls change nothing, and only look.
fn raise(most: &AtomicI64, to: i64) {
    if most.load(Relaxed) < to {
        most.fetch_max(to, Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use super::Usage;

    #[test]
    fn the_most_stays() {
        let usage = Usage::default();
        usage.add(8);
        usage.add(100);
        usage.remove(100);
        usage.add(50);
        let figures = [usage.now(), usage.most(), usage.buffers(), usage.largest()];
        assert_eq!(figures, [58, 108, 3, 100]);
    }
}
