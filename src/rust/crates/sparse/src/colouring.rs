//! Colours of the columns of a matrix, so that few products with vectors of zeros and ones tell all its entries: the
//! vector of a colour has ones at the columns of this colour.
//! A. H. Gebremedhin, F. Manne and A. Pothen, "What Color Is Your Jacobian? Graph Coloring for Computing Derivatives",
//! SIAM Review 47 (2005).

use crate::pattern::{Columns, Pattern};
use crate::tree::Graph;

/// Colours, counted from 0, and how many there are.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Colouring {
    /// That of each column.
    pub colours: Vec<usize>,
    /// How many there are.
    pub count: usize,
}

impl Colouring {
    fn of(colours: Vec<usize>) -> Colouring {
        let count = colours.iter().max().map_or(0, |&most| most + 1);
        Colouring { colours, count }
    }
}

const NO_COLOUR: usize = usize::MAX;

/// The least colour that is not marked with `mark`.
fn least_allowed(forbidden: &[usize], mark: usize) -> usize {
    let free = forbidden.iter().position(|&by| by != mark);
    free.unwrap_or(forbidden.len())
}

fn forbid(forbidden: &mut Vec<usize>, colour: usize, mark: usize) {
    if colour >= forbidden.len() {
        forbidden.resize(colour + 1, NO_COLOUR);
    }
    forbidden[colour] = mark;
}

/// Columns with an entry in the same row have different colours: an entry is the product's element in its row, with the
/// vector of its column's colour.
#[must_use]
pub fn column_colouring(pattern: &Columns) -> Colouring {
    let columns = pattern.ncol();
    let entries =
        (0..columns).flat_map(|j| pattern.column(j).iter().map(move |&i| (i as usize, j)));
    let rows = Graph::of(pattern.nrow(), entries);
    // The colours that each row has already
    let mut taken: Vec<Vec<usize>> = vec![Vec::new(); pattern.nrow()];
    let mut colours = vec![NO_COLOUR; columns];
    let mut forbidden = Vec::new();
    let mut order: Vec<usize> = (0..columns).collect();
    let most = |j: &usize| {
        let longest = pattern
            .column(*j)
            .iter()
            .map(|&i| rows.column(i as usize).len());
        std::cmp::Reverse(longest.max().unwrap_or(0))
    };
    order.sort_by_key(most);
    for (mark, &j) in order.iter().enumerate() {
        for &i in pattern.column(j) {
            for &colour in &taken[i as usize] {
                forbid(&mut forbidden, colour, mark);
            }
        }
        let colour = least_allowed(&forbidden, mark);
        colours[j] = colour;
        for &i in pattern.column(j) {
            taken[i as usize].push(colour);
        }
    }
    Colouring::of(colours)
}

/// The colours of a symmetric matrix, and for each entry of its lower triangle the row in which, and the colour by which,
/// the product has it. This is algorithm 4.1 of the paper: neighbours differ, and so do the ends of any path of
/// four vertices whose inner ones have the colours of the ends of the other one; columns of many entries come first.
#[must_use]
pub fn star_colouring(pattern: &Pattern) -> (Colouring, Vec<(usize, usize)>) {
    let n = pattern.n();
    let columns = pattern.columns();
    let mut pairs = Vec::with_capacity(2 * columns.nnz());
    for j in 0..n {
        for i in columns
            .column(j)
            .iter()
            .map(|&i| i as usize)
            .filter(|&i| i != j)
        {
            pairs.extend([(i, j), (j, i)]);
        }
    }
    let graph = Graph::of(n, pairs.iter().copied());
    let mut order: Vec<usize> = (0..n).collect();
    order.sort_by_key(|&v| std::cmp::Reverse(graph.column(v).len()));
    let mut colours = vec![NO_COLOUR; n];
    // The different colours of the neighbours of each vertex
    let mut near: Vec<Vec<usize>> = vec![Vec::new(); n];
    let mut forbidden = Vec::new();
    for &v in &order {
        for &w in graph.column(v) {
            let own = colours[w as usize];
            if own != NO_COLOUR {
                forbid(&mut forbidden, own, v);
            }
            for &colour in &near[w as usize] {
                // NO_COLOUR is more than any.
                if colour < own {
                    forbid(&mut forbidden, colour, v);
                }
            }
        }
        let colour = least_allowed(&forbidden, v);
        colours[v] = colour;
        for &w in graph.column(v) {
            let near = &mut near[w as usize];
            if !near.contains(&colour) {
                near.push(colour);
            }
        }
    }
    let colouring = Colouring::of(colours);
    let places = places(columns, &graph, &colouring);
    (colouring, places)
}

/// Where each entry of the lower triangle is alone: in its row by its column's colour, or the other way round.
fn places(columns: &Columns, graph: &Graph, colouring: &Colouring) -> Vec<(usize, usize)> {
    let colours = &colouring.colours;
    // Whether the neighbour of `i` with this colour is the only one
    let mut alone: Vec<(usize, usize)> = Vec::new();
    let mut counts = vec![0_usize; colouring.count];
    let mut starts = Vec::with_capacity(colours.len() + 1);
    starts.push(0);
    for i in 0..colours.len() {
        for &k in graph.column(i) {
            counts[colours[k as usize]] += 1;
        }
        for &k in graph.column(i) {
            let colour = colours[k as usize];
            if counts[colour] == 1 {
                alone.push((i, colour));
            }
        }
        for &k in graph.column(i) {
            counts[colours[k as usize]] = 0;
        }
        let own = starts[i]..alone.len();
        alone[own].sort_unstable();
        starts.push(alone.len());
    }
    let is_alone = |i: usize, colour: usize| {
        alone[starts[i]..starts[i + 1]]
            .binary_search(&(i, colour))
            .is_ok()
    };
    let mut places = Vec::with_capacity(columns.nnz());
    for j in 0..columns.ncol() {
        for &i in columns.column(j) {
            let i = i as usize;
            let here = i == j || is_alone(i, colours[j]);
            debug_assert!(here || is_alone(j, colours[i]));
            places.push(if here {
                (i, colours[j])
            } else {
                (j, colours[i])
            });
        }
    }
    places
}
