//! Results of one lane, sorted.

use super::lanes::Lanes;

/// Writes a lane of `values` in the order that `before` asks for of any two that follow one another.
/// Returns where they come from.
#[inline(always)]
pub(crate) fn order<'a, V: Lanes>(
    values: &[V],
    lane: usize,
    to: &mut [V::Float],
    places: &'a mut [u16],
    before: impl Fn(V::Float, V::Float) -> bool,
) -> &'a [u16] {
    for (i, value) in values.iter().enumerate() {
        let value = value.as_slice()[lane];
        let mut at = i;
        while at > 0 && !before(to[at - 1], value) {
            to[at] = to[at - 1];
            places[at] = places[at - 1];
            at -= 1;
        }
        to[at] = value;
        places[at] = i as u16;
    }
    &places[..values.len()]
}

/// Writes a lane of the columns that `places` tells, of `rows` numbers of so many parts; `steps` are those, in numbers,
/// from row to row and from column to column.
#[inline(always)]
pub(crate) fn scatter_columns<V: Lanes>(
    columns: &[V],
    (rows, parts): (usize, usize),
    lane: usize,
    places: &[u16],
    to: &mut [V::Float],
    steps: (usize, usize),
) {
    let lanes = &V::flat(columns)[lane..];
    scatter(lanes, (rows, V::WIDTH, parts), places, to, steps);
}

/// [`scatter_columns`], once for all kinds of lanes: `columns` has a lane every `width`.
#[inline(never)]
fn scatter<T: Copy>(
    columns: &[T],
    (rows, width, parts): (usize, usize, usize),
    places: &[u16],
    to: &mut [T],
    (down, right): (usize, usize),
) {
    for (j, &place) in places.iter().enumerate() {
        let column = &columns[usize::from(place) * rows * parts * width..];
        let to = &mut to[j * right * parts..];
        for part in 0..parts {
            let column = column[part * width..].iter().step_by(parts * width);
            let to = to[part..].iter_mut().step_by(parts * down);
            for (to, value) in to.zip(column).take(rows) {
                *to = *value;
            }
        }
    }
}
