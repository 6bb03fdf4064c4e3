//! Columns that several threads change, some each. It does not matter to a column which thread that is, nor which
//! columns are beside it.

use crate::lanes::Lanes;
use crate::scratch::{with_lines, Line};
use crate::together::Together;
use std::sync::Mutex;

/// Operations from which on it pays to wake threads.
const WORTH_IT: usize = 4_000_000;

/// Parts for each thread, so that none waits long for another.
const PARTS: usize = 4;

/// Columns of a part at least: whole strips of every width, and so many that what a thread packs for them alone does not
/// count.
const LEAST: usize = 24;

/// What changes some columns: given the number of their first one, these, and memory to work in.
type Change<'a, V> = &'a (dyn Fn(usize, &mut [V], &mut [V]) + Sync);

/// Whether that many operations are worth waking threads.
pub(crate) const fn worth_it(operations: usize) -> bool {
    operations >= WORTH_IT
}

/// Calls `change` with parts of `columns` and as much memory as `work`, on several threads if
/// that many `operations` are worth it.
pub(crate) fn share<V: Lanes>(
    together: Together<'_>,
    operations: usize,
    columns: &mut [V],
    stride: usize,
    work: &mut [V],
    change: Change<'_, V>,
) {
    share_by(LEAST, together, operations, (columns, stride), work, change);
}

/// The same with `least` columns of a part at least.
pub(crate) fn share_by<V: Lanes>(
    least: usize,
    together: Together<'_>,
    operations: usize,
    (columns, stride): (&mut [V], usize),
    work: &mut [V],
    change: Change<'_, V>,
) {
    let count = columns.len() / stride;
    let each = count.div_ceil(PARTS * together.threads);
    let each = each.next_multiple_of(least);
    if together.threads == 1 || !worth_it(operations) || count <= each {
        return change(0, columns, work);
    }
    let any = columns[0];
    let (len, lines) = (work.len(), size_of_val(work).div_ceil(size_of::<Line>()));
    let parts = columns.chunks_mut(each * stride);
    let threads = parts.len().min(together.threads);
    let parts = Mutex::new(parts.enumerate());
    let next = || parts.lock().ok().and_then(|mut parts| parts.next());
    let some = |work: &mut [V]| {
        while let Some((at, part)) = next() {
            change(at * each, part, work);
        }
    };
    // Whoever comes first has memory for sure, and leaves nothing undone.
    let first = Mutex::new(Some(work));
    (together.run)(threads, &|| {
        let work = first.lock().ok().and_then(|mut work| work.take());
        if let Some(work) = work {
            return some(work);
        }
        // A thread without memory does not help.
        let _ = with_lines(lines, |lines| some(Line::like(any, lines, len)));
    });
}
