//! What memory holds before a run. Each area (what lies before an array, the array itself where it is no operand, what
//! lies behind it) holds a byte of its own, another one in each run. So what was copied from one area to another is seen,
//! and which area a result depends on is found by a run in which that one alone is different.

/// Runs that differ in every area.
const RUNS: usize = 3;
/// Of an array.
const SIDES: usize = 3;
/// Areas with bytes of their own; behind these they repeat.
const AREAS: usize = 220;

/// One of the areas of the arrays of a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Area(usize);

/// Which part of an array's memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Side {
    /// What lies before it.
    Before,
    /// The array.
    Inside,
    /// What lies behind it.
    Behind,
}

impl Area {
    /// Of the array with that number among all of a call: operands, results, and scratch memory as one.
    pub(super) fn of(array: usize, side: Side) -> Self {
        Area(array * SIDES + side as usize)
    }
}

/// The bytes of the areas in one run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Fill {
    run: usize,
    changed: Option<Area>,
}

impl Fill {
    pub(super) const fn of_run(run: usize) -> Self {
        Fill { run, changed: None }
    }

    /// The same, but for one area.
    pub(super) fn but_for(self, area: Area) -> Self {
        Fill {
            changed: Some(area),
            ..self
        }
    }

    /// What that area holds.
    pub(super) fn byte(self, area: Area) -> u8 {
        let run = self.run + usize::from(self.changed == Some(area));
        let byte = first_byte(area.0 % AREAS);
        match run % RUNS {
            0 => byte,
            // No bit is the same.
            1 => !byte,
            _ => byte ^ 0x66,
        }
    }

    /// Those of an array.
    pub(super) fn array(self, array: usize) -> [u8; SIDES] {
        [Side::Before, Side::Inside, Side::Behind].map(|side| self.byte(Area::of(array, side)))
    }
}

/// The area's byte in the first run: none of those that are NaN as a number, or common, in any run.
fn first_byte(area: usize) -> u8 {
    let is_plain = |byte: &u8| {
        [*byte, !byte, byte ^ 0x66]
            .iter()
            .all(|byte| byte & 0x7c != 0x7c && byte & 0xfc != 0)
    };
    let all = (0..=u8::MAX).map(|step| step.wrapping_mul(29).wrapping_add(0xa5));
    let mut plain = all.filter(is_plain);
    plain.nth(area).unwrap_or(0xa5)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn areas_differ_within_a_run_and_between_runs() {
        for run in 0..RUNS {
            let bytes = (0..AREAS).map(|area| Fill::of_run(run).byte(Area(area)));
            let mut bytes: Vec<u8> = bytes.collect();
            bytes.sort_unstable();
            bytes.dedup();
            assert_eq!(bytes.len(), AREAS);
        }
        let area = Area::of(1, Side::Behind);
        let [a, b, c] = [0, 1, 2].map(|run| Fill::of_run(run).byte(area));
        assert!(a == !b && a != c && b != c);
        let but_for = Fill::of_run(0).but_for(area);
        assert_eq!(but_for.byte(area), b);
        let other = Area::of(1, Side::Before);
        assert_eq!(but_for.byte(other), Fill::of_run(0).byte(other));
    }
}
