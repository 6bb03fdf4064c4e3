//! What a factorisation needs to know of a pattern, found once for all matrices that have it.

use std::ops::Range;

use crate::order::minimum_degree;
use crate::pattern::Pattern;
use crate::supernodes;
use crate::tree::{column_counts, elimination_tree, postorder, Graph, NONE};

/// The analysis of a pattern: order of elimination, supernodes and their places in memory.
///
/// The factor `L` of `P A Pᵀ = L Lᵀ` is a buffer of [`factor_len`](Self::factor_len) elements, the panels of the
/// supernodes one behind the other. A panel is a dense matrix in columns: the rows of its supernode, those of its own
/// columns first. What is above the diagonal is 0.
#[derive(Clone, Debug)]
pub struct Symbolic {
    pattern: Pattern,
    permutation: Vec<u32>,
    pub(crate) supernodes: Vec<Supernode>,
    rows: Vec<u32>,
    // For each row below a supernode's own: its place among the rows of the parent.
    relative: Vec<u32>,
    // The entries of the matrix, supernode by supernode, and their places in its panel.
    entries: Vec<u32>,
    places: Vec<usize>,
    factor_len: usize,
    pub(crate) update_stacks: [usize; 2],
    pub(crate) front_stacks: [usize; 2],
}

/// Neighbouring columns of the factor that are one panel.
#[derive(Clone, Debug)]
pub(crate) struct Supernode {
    /// The first column.
    pub first: usize,
    /// How many columns there are.
    pub width: usize,
    /// How many rows there are, with those of the columns.
    pub height: usize,
    /// The supernode of the first row below, [`NONE`] where there is none.
    pub parent: usize,
    /// Where the panel begins in the factor.
    pub panel: usize,
    /// The children, in their order, are linked.
    pub first_child: usize,
    pub next_sibling: usize,
    /// Whether the depth in the tree is odd: neighbours in the tree have different stacks.
    pub odd: bool,
    /// Where the stack of updates, and that of fronts, has this one.
    pub update: usize,
    pub front: usize,
    rows: usize,
    entries: (usize, usize),
}

impl Supernode {
    /// Rows below those of the columns.
    pub fn below(&self) -> usize {
        self.height - self.width
    }

    /// The panel's place in the factor.
    pub fn panel(&self) -> Range<usize> {
        self.panel..self.panel + self.height * self.width
    }
}

impl Symbolic {
    /// Analyses a pattern; the result depends on it alone.
    #[must_use]
    pub fn new(pattern: &Pattern) -> Symbolic {
        let order = minimum_degree(pattern);
        let upper = upper(pattern, &inverse(&order));
        let parent = elimination_tree(&upper);
        let counts = column_counts(&upper, &parent);
        let post = postorder(&parent, &counts);
        let permutation: Vec<usize> = post.iter().map(|&column| order[column]).collect();
        let place = inverse(&post);
        let parent: Vec<usize> = post
            .iter()
            .map(|&column| match parent[column] {
                NONE => NONE,
                up => place[up],
            })
            .collect();
        let counts: Vec<usize> = post.iter().map(|&column| counts[column]).collect();
        let first = supernodes::first_columns(&parent, &counts);
        Symbolic::of(pattern, &permutation, &first)
    }

    fn of(pattern: &Pattern, permutation: &[usize], first: &[usize]) -> Symbolic {
        let mut of_column = vec![0; pattern.n()];
        for (s, pair) in first.windows(2).enumerate() {
            of_column[pair[0]..pair[1]].fill(s as u32);
        }
        let place = inverse(permutation);
        let lower = Graph::of(pattern.n(), pairs(pattern, &place).map(|(c, r, _)| (c, r)));
        let (rows, parents) = supernodes::rows(first, &of_column, &lower);
        let mut symbolic = Symbolic {
            pattern: pattern.clone(),
            permutation: permutation.iter().map(|&column| column as u32).collect(),
            supernodes: Vec::with_capacity(parents.len()),
            relative: vec![0; rows.rows.len()],
            rows: Vec::new(),
            entries: vec![0; pattern.nnz()],
            places: vec![0; pattern.nnz()],
            factor_len: 0,
            update_stacks: [0; 2],
            front_stacks: [0; 2],
        };
        for (s, &parent) in parents.iter().enumerate() {
            let (width, height) = (first[s + 1] - first[s], rows.column(s).len());
            symbolic.supernodes.push(Supernode {
                first: first[s],
                width,
                height,
                parent,
                panel: symbolic.factor_len,
                first_child: NONE,
                next_sibling: NONE,
                odd: false,
                update: 0,
                front: 0,
                rows: rows.starts[s],
                entries: (0, 0),
            });
            symbolic.factor_len += width * height;
        }
        symbolic.rows = rows.rows;
        symbolic.link();
        symbolic.find_relative();
        symbolic.find_places(&place, &of_column);
        symbolic.plan_updates();
        symbolic.plan_fronts();
        symbolic
    }

    /// Links children to parents.
    fn link(&mut self) {
        for s in (0..self.supernodes.len()).rev() {
            let parent = self.supernodes[s].parent;
            if parent != NONE {
                self.supernodes[s].next_sibling = self.supernodes[parent].first_child;
                self.supernodes[s].odd = !self.supernodes[parent].odd;
                self.supernodes[parent].first_child = s;
            }
        }
    }

    fn find_relative(&mut self) {
        for node in self.supernodes.iter().filter(|node| node.parent != NONE) {
            let parent = &self.supernodes[node.parent];
            let (mut at, from) = (0, parent.rows);
            for i in node.rows + node.width..node.rows + node.height {
                while self.rows[from + at] != self.rows[i] {
                    at += 1;
                }
                self.relative[i] = at as u32;
            }
        }
    }

    fn find_places(&mut self, place: &[usize], of_column: &[u32]) {
        let columns = self.pattern.columns();
        let mut counts = vec![0; self.supernodes.len() + 1];
        for column in 0..self.n() {
            for &row in columns.column(column) {
                let first = place[column].min(place[row as usize]);
                counts[of_column[first] as usize + 1] += 1;
            }
        }
        let mut end = 0;
        for (node, count) in self.supernodes.iter_mut().zip(&counts[1..]) {
            node.entries = (end, end);
            end += count;
        }
        for column in 0..self.pattern.n() {
            for entry in columns.entries(column) {
                let row = columns.column(column)[entry - columns.entries(column).start];
                let (a, b) = (place[column], place[row as usize]);
                let node = &mut self.supernodes[of_column[a.min(b)] as usize];
                let rows = &self.rows[node.rows..node.rows + node.height];
                let row = rows.partition_point(|&row| (row as usize) < a.max(b));
                self.entries[node.entries.1] = entry as u32;
                self.places[node.entries.1] = row + (a.min(b) - node.first) * node.height;
                node.entries.1 += 1;
            }
        }
    }

    /// Supernodes from the leaves to the roots: the update of each stays until its parent has taken it.
    fn plan_updates(&mut self) {
        let mut tops = [0; 2];
        for s in 0..self.supernodes.len() {
            let own = usize::from(self.supernodes[s].odd);
            self.supernodes[s].update = tops[own];
            tops[own] += self.supernodes[s].below().pow(2);
            self.update_stacks[own] = self.update_stacks[own].max(tops[own]);
            let first = self.supernodes[s].first_child;
            if first != NONE {
                tops[1 - own] = self.supernodes[first].update;
            }
        }
    }

    /// From the roots to the leaves: the front of each stays until its last child has taken a part of it.
    fn plan_fronts(&mut self) {
        let mut tops = [0; 2];
        for s in (0..self.supernodes.len()).rev() {
            let node = &mut self.supernodes[s];
            let own = usize::from(node.odd);
            node.front = tops[own];
            tops[own] += node.height.pow(2);
            self.front_stacks[own] = self.front_stacks[own].max(tops[own]);
            let (parent, leaf) = (node.parent, node.first_child == NONE);
            if leaf {
                tops[own] = self.supernodes[s].front;
            }
            if parent != NONE && self.supernodes[parent].first_child == s {
                tops[1 - own] = self.supernodes[parent].front;
            }
        }
    }

    /// The pattern.
    #[must_use]
    pub fn pattern(&self) -> &Pattern {
        &self.pattern
    }

    /// How many rows and columns the matrix has.
    #[must_use]
    pub fn n(&self) -> usize {
        self.pattern.n()
    }

    /// The columns of the matrix in the order of elimination: row `i` of `P A Pᵀ` is row `permutation()[i]` of `A`.
    #[must_use]
    pub fn permutation(&self) -> &[u32] {
        &self.permutation
    }

    /// Elements of the buffer that holds a factor.
    #[must_use]
    pub fn factor_len(&self) -> usize {
        self.factor_len
    }

    /// The rows of a supernode, as they are ordered.
    pub(crate) fn rows(&self, node: &Supernode) -> &[u32] {
        &self.rows[node.rows..node.rows + node.height]
    }

    /// The places of the rows below a supernode's own among those of the parent.
    pub(crate) fn relative(&self, node: &Supernode) -> &[u32] {
        &self.relative[node.rows + node.width..node.rows + node.height]
    }

    /// The entries of the matrix in a supernode's panel, and their places there.
    pub(crate) fn entries(&self, node: &Supernode) -> impl Iterator<Item = (usize, usize)> + '_ {
        let (begin, end) = node.entries;
        let entries = self.entries[begin..end].iter().map(|&entry| entry as usize);
        entries.zip(self.places[begin..end].iter().copied())
    }

    /// The places of the factor's diagonal in its buffer, in the order of elimination.
    #[must_use]
    pub fn diagonal(&self) -> Vec<usize> {
        let of = |node: &Supernode| {
            let (panel, height) = (node.panel, node.height);
            (0..node.width).map(move |j| panel + j * (height + 1))
        };
        self.supernodes.iter().flat_map(of).collect()
    }
}

/// What is above the diagonal of the matrix in another order, `place` being where each column goes.
pub(crate) fn upper(pattern: &Pattern, place: &[usize]) -> Graph {
    Graph::of(pattern.n(), pairs(pattern, place).map(|(c, r, _)| (r, c)))
}

/// The entries below the diagonal of the matrix in another order: column, row and which entry it is.
fn pairs<'a>(
    pattern: &'a Pattern,
    place: &'a [usize],
) -> impl Iterator<Item = (usize, usize, usize)> + Clone + 'a {
    let columns = pattern.columns();
    let of = move |column: usize| {
        let rows = columns.column(column).iter().zip(columns.entries(column));
        rows.filter_map(move |(&row, entry)| {
            let (a, b) = (place[column], place[row as usize]);
            (a != b).then_some((a.min(b), a.max(b), entry))
        })
    };
    (0..pattern.n()).flat_map(of)
}

/// Where each number from 0 stands in a permutation.
pub(crate) fn inverse(
    order: impl IntoIterator<Item = impl std::borrow::Borrow<usize>>,
) -> Vec<usize> {
    let order: Vec<usize> = order.into_iter().map(|at| *at.borrow()).collect();
    let mut place = vec![0; order.len()];
    for (at, &column) in order.iter().enumerate() {
        place[column] = at;
    }
    place
}
