//! Which blocks are kept.

use std::time::{Duration, Instant};

/// The most blocks: a program has one or a few for its temporaries and one for each result.
const MOST: usize = 64;

struct Block {
    address: usize,
    bytes: usize,
    since: Instant,
}

/// Blocks that nobody uses, the oldest first.
pub struct Kept {
    blocks: Vec<Block>,
    bytes: usize,
    limit: usize,
}

impl Kept {
    /// None, and at most so many bytes.
    pub const fn new(limit: usize) -> Self {
        Kept {
            blocks: Vec::new(),
            bytes: 0,
            limit,
        }
    }

    /// Keeps a block. What is to be freed then is given by [`Self::excess`], perhaps the block itself.
    pub fn put(&mut self, address: usize, bytes: usize, since: Instant) {
        self.bytes += bytes;
        self.blocks.push(Block {
            address,
            bytes,
            since,
        });
    }

    /// The oldest block, where there are too many.
    pub fn excess(&mut self) -> Option<usize> {
        let too_many = self.bytes > self.limit || self.blocks.len() > MOST;
        too_many.then(|| self.remove(0))
    }

    /// A block for so many bytes, which is larger by a quarter at most: the smallest, and of these the one that was used
    /// last, parts of which may still be in a cache.
    pub fn take(&mut self, bytes: usize, alignment: usize) -> Option<usize> {
        let fits = |block: &Block| {
            (bytes..=bytes + bytes / 4).contains(&block.bytes) && block.address % alignment == 0
        };
        let (place, _) = (self.blocks.iter().enumerate())
            .filter(|(_, block)| fits(block))
            .min_by_key(|(place, block)| (block.bytes, std::cmp::Reverse(*place)))?;
        Some(self.remove(place))
    }

    /// A block that is kept for longer than this.
    pub fn older(&mut self, age: Duration, now: Instant) -> Option<usize> {
        let oldest = self.blocks.first()?;
        (now.saturating_duration_since(oldest.since) >= age).then(|| self.remove(0))
    }

    pub fn is_empty(&self) -> bool {
        self.blocks.is_empty()
    }

    fn remove(&mut self, place: usize) -> usize {
        let block = self.blocks.remove(place);
        self.bytes -= block.bytes;
        block.address
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_smallest_that_fits_is_taken_and_of_equals_the_last() {
        let now = Instant::now();
        let mut kept = Kept::new(1 << 30);
        for (address, bytes) in [
            (64, 1000),
            (128, 1200),
            (192, 1000),
            (256, 1000 + 300),
            (40, 1000),
        ] {
            kept.put(address, bytes, now);
        }
        assert_eq!(kept.take(1000, 64), Some(192));
        assert_eq!(kept.take(1000, 64), Some(64));
        assert_eq!(kept.take(1000, 64), Some(128));
        assert_eq!(
            kept.take(1000, 64),
            None,
            "one is too large, the other not aligned"
        );
        assert_eq!(kept.take(1000, 8), Some(40));
        assert_eq!(kept.take(1301, 64), None);
        assert_eq!(kept.take(1300, 64), Some(256));
        assert!(kept.is_empty());
    }

    #[test]
    fn the_oldest_go_first() {
        let start = Instant::now();
        let at = |seconds| start + Duration::from_secs(seconds);
        let mut kept = Kept::new(2500);
        for place in 0..3 {
            kept.put(64 * (1 + place as usize), 1000, at(place));
        }
        assert_eq!(kept.excess(), Some(64));
        assert_eq!(kept.excess(), None);
        assert_eq!(kept.older(Duration::from_secs(2), at(2)), None);
        assert_eq!(kept.older(Duration::from_secs(2), at(3)), Some(128));
        assert_eq!(kept.older(Duration::from_secs(2), at(3)), None);
        kept.put(256, 3000, at(3));
        assert_eq!(kept.excess(), Some(192));
        assert_eq!(kept.excess(), Some(256), "it is beyond the limit itself");
        assert_eq!((kept.excess(), kept.bytes), (None, 0));
        for place in 0..=MOST {
            kept.put(place, 1, at(4));
        }
        assert_eq!(kept.excess(), Some(0));
        assert_eq!(kept.excess(), None);
    }
}
