//! Memory for an operand between zones that a handler must not touch.

#[cfg(unix)]
use super::pages::Pages;

/// Bytes of a zone before and of one behind; Miri looks at each for long.
const ZONE: usize = if cfg!(miri) { 64 } else { 4096 };

/// What XLA's own memory is aligned to, and what it asks of arguments that its user brings.
pub(super) const ALIGNMENT: usize = 64;
pub(super) const LEAST_ALIGNMENT: usize = 16;

/// Where an operand lies.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Place {
    /// As asked.
    Aligned,
    /// At a multiple of [`LEAST_ALIGNMENT`] that is none of more.
    LeastAligned,
    /// So that what the processor refuses to touch begins behind it, as near as alignment allows.
    #[cfg(unix)]
    BeforePage,
    /// Right behind what the processor refuses to touch.
    #[cfg(unix)]
    BehindPage,
}

/// Memory of `size` bytes in larger memory: before it, in it and behind it is at first one byte each.
pub(super) struct Zone {
    memory: Memory,
    start: usize,
    size: usize,
    fill: [u8; 3],
}

enum Memory {
    Heap(Vec<u8>),
    #[cfg(unix)]
    Pages(Pages),
}

/// Where a handler wrote outside.
pub(super) struct Outside {
    /// The byte nearest to the operand, counted from its start.
    pub(super) nearest: isize,
    /// Bytes that were changed.
    pub(super) count: usize,
}

impl Zone {
    /// `align`, a power of two, is that of all places but [`Place::LeastAligned`]; where it is more
    /// than a page's, no page that refuses lies beside. `None` where the system has no memory for it.
    pub(super) fn new(size: usize, fill: [u8; 3], place: Place, align: usize) -> Option<Self> {
        let zone = |memory, start| {
            let mut zone = Zone {
                memory,
                start,
                size,
                fill,
            };
            let [before, inside, behind] = fill;
            let all = zone.all_mut();
            all[..start].fill(before);
            all[start..start + size].fill(inside);
            all[start + size..].fill(behind);
            zone
        };
        let offset = match place {
            Place::Aligned => 0,
            Place::LeastAligned => LEAST_ALIGNMENT,
            #[cfg(unix)]
            Place::BeforePage | Place::BehindPage if align > Pages::bytes_of_one()? => 0,
            #[cfg(unix)]
            Place::BeforePage | Place::BehindPage => {
                let pages = Pages::new(size)?;
                let room = pages.bytes().len() - size;
                let start = match place {
                    Place::BehindPage => 0,
                    _ => room / align * align,
                };
                return Some(zone(Memory::Pages(pages), start));
            }
        };
        let align = align.max(ALIGNMENT);
        let bytes = size
            .checked_add(align)?
            .checked_add(ZONE + ALIGNMENT + ZONE)?;
        let mut memory = Vec::new();
        memory.try_reserve_exact(bytes).ok()?;
        memory.resize(bytes, 0);
        let address = memory.as_ptr() as usize + ZONE;
        let start = ZONE + address.next_multiple_of(align) - address + offset;
        Some(zone(Memory::Heap(memory), start))
    }

    fn all(&self) -> &[u8] {
        match &self.memory {
            Memory::Heap(memory) => memory,
            #[cfg(unix)]
            Memory::Pages(pages) => pages.bytes(),
        }
    }

    fn all_mut(&mut self) -> &mut [u8] {
        match &mut self.memory {
            Memory::Heap(memory) => memory,
            #[cfg(unix)]
            Memory::Pages(pages) => pages.bytes_mut(),
        }
    }

    /// The operand.
    pub(super) fn inside(&self) -> &[u8] {
        &self.all()[self.start..self.start + self.size]
    }

    pub(super) fn inside_mut(&mut self) -> &mut [u8] {
        let range = self.start..self.start + self.size;
        &mut self.all_mut()[range]
    }

    /// What every byte of it held at first.
    pub(super) fn filled_with(&self) -> u8 {
        self.fill[1]
    }

    /// What a handler gets: from there it may try to write outside.
    pub(super) fn address(&mut self) -> *mut u8 {
        let start = self.start;
        self.all_mut().as_mut_ptr().wrapping_add(start)
    }

    /// What was written before the operand.
    pub(super) fn before(&self) -> Option<Outside> {
        let zone = &self.all()[..self.start];
        let nearest = zone.iter().rposition(|&byte| byte != self.fill[0])?;
        Some(Outside {
            nearest: nearest as isize - self.start as isize,
            count: changed(zone, self.fill[0]),
        })
    }

    /// What was written behind it.
    pub(super) fn behind(&self) -> Option<Outside> {
        let zone = &self.all()[self.start + self.size..];
        let nearest = zone.iter().position(|&byte| byte != self.fill[2])?;
        Some(Outside {
            nearest: (self.size + nearest) as isize,
            count: changed(zone, self.fill[2]),
        })
    }

    /// `count` bytes from `from` on, counted from the operand's start, as far as they are there.
    pub(super) fn around(&self, from: isize, count: usize) -> Option<&[u8]> {
        let start = self.start.checked_add_signed(from)?;
        self.all().get(start..start.checked_add(count)?)
    }
}

fn changed(zone: &[u8], fill: u8) -> usize {
    zone.iter().filter(|&&byte| byte != fill).count()
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;

    #[test]
    #[cfg_attr(miri, ignore = "Miri has no pages that refuse")]
    fn every_place_is_aligned_as_asked() {
        let page = Pages::bytes_of_one().expect("a size");
        for place in [Place::Aligned, Place::BeforePage, Place::BehindPage] {
            for align in [64, page, 2 * page, 16 * page] {
                let mut zone = Zone::new(100, [7, 8, 9], place, align).expect("memory");
                let address = zone.address() as usize;
                assert_eq!(address % align, 0, "{place:?} at {align}");
                zone.inside_mut().fill(1);
                assert!(zone.before().or(zone.behind()).is_none());
            }
        }
    }
}
