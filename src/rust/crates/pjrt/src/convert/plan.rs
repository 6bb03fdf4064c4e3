//! How an array is walked: dimensions that can be walked as one are merged, and of the rest a
//! pair is chosen so that both memories are touched in runs.

/// A dimension with its stride in either memory, in elements.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Axis {
    pub len: usize,
    pub from: isize,
    pub to: isize,
}

/// The two innermost loops, and the others around them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Plan {
    /// No element at all.
    pub empty: bool,
    /// Outer loops.
    pub outer: Vec<Axis>,
    /// Consecutive (or as near to it as can be) in the source.
    pub a: Axis,
    /// Consecutive in the destination; of length 1 where `a` is so in both.
    pub b: Axis,
}

const ONE: Axis = Axis {
    len: 1,
    from: 0,
    to: 0,
};

impl Plan {
    /// `from` and `to` are the strides of the `dims` in either memory.
    pub(crate) fn new(dims: &[i64], from: &[isize], to: &[isize]) -> Self {
        let mut axes: Vec<Axis> = dims
            .iter()
            .zip(from.iter().zip(to))
            .map(|(&len, (&from, &to))| Axis {
                len: len.max(0) as usize,
                from,
                to,
            })
            .collect();
        let empty = axes.iter().any(|x| x.len == 0);
        axes.retain(|x| x.len != 1);
        // Fastest in the destination first.
        axes.sort_unstable_by_key(|x| x.to);
        let mut merged: Vec<Axis> = Vec::with_capacity(axes.len());
        for axis in axes {
            match merged.last_mut() {
                Some(inner)
                    if axis.from == inner.from * inner.len as isize
                        && axis.to == inner.to * inner.len as isize =>
                {
                    inner.len *= axis.len;
                }
                _ => merged.push(axis),
            }
        }
        if merged.is_empty() {
            return Self {
                empty,
                outer: merged,
                a: ONE,
                b: ONE,
            };
        }
        // Index 0 is the fastest in the destination.
        let fastest = (0..merged.len())
            .min_by_key(|&i| merged[i].from.unsigned_abs())
            .unwrap_or(0);
        if fastest == 0 {
            let a = merged.remove(0);
            return Self {
                empty,
                outer: merged,
                a,
                b: ONE,
            };
        }
        let a = merged.remove(fastest);
        let b = merged.remove(0);
        Self {
            empty,
            outer: merged,
            a,
            b,
        }
    }

    /// Number of elements.
    pub(crate) fn elements(&self) -> usize {
        if self.empty {
            return 0;
        }
        self.outer.iter().map(|x| x.len).product::<usize>() * self.a.len * self.b.len
    }

    /// The longest loop, cut into at most `parts` pieces: plans with the offsets where they
    /// start in either memory. Together they are this plan.
    pub(crate) fn split(&self, parts: usize) -> Vec<(Plan, isize, isize)> {
        // Pieces of multiples of this many elements keep to whole cache lines.
        const GRAIN: usize = 64;
        let (longest, len) = self
            .outer
            .iter()
            .map(|x| x.len)
            .chain([self.a.len, self.b.len])
            .enumerate()
            .max_by_key(|&(_, len)| len)
            .unwrap_or((0, 1));
        let grain = if longest < self.outer.len() { 1 } else { GRAIN };
        let step = len.div_ceil(parts.max(1)).next_multiple_of(grain);
        (0..len)
            .step_by(step.max(1))
            .map(|start| {
                let mut plan = self.clone();
                let count = plan.outer.len();
                let axis = match longest {
                    i if i < count => &mut plan.outer[i],
                    i if i == count => &mut plan.a,
                    _ => &mut plan.b,
                };
                axis.len = step.min(len - start);
                let (from, to) = (axis.from * start as isize, axis.to * start as isize);
                (plan, from, to)
            })
            .collect()
    }
}
