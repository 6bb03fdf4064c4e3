//! What somebody may have meant.

/// The one of `known` that is nearly `name`, if there is one.
#[must_use]
pub fn nearest<'a>(name: &str, known: &[&'a str]) -> Option<&'a str> {
    let all = known.iter().map(|known| (distance(name, known), *known));
    let (distance, near) = all.min_by_key(|&(distance, _)| distance)?;
    (distance <= name.len().max(near.len()) / 3).then_some(near)
}

/// How many letters must be put in, left out or replaced, case aside.
fn distance(a: &str, b: &str) -> usize {
    let (a, b) = (a.to_lowercase(), b.to_lowercase());
    let mut row: Vec<usize> = (0..=b.chars().count()).collect();
    for (i, x) in a.chars().enumerate() {
        let mut diagonal = std::mem::replace(&mut row[0], i + 1);
        for (j, y) in b.chars().enumerate() {
            let replaced = diagonal + usize::from(x != y);
            diagonal = row[j + 1];
            row[j + 1] = replaced.min(diagonal + 1).min(row[j] + 1);
        }
    }
    row.last().copied().unwrap_or(0)
}
