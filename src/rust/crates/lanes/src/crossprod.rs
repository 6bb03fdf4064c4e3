//! Products of tall matrices: `z = xᵀ diag(w) y`, which adds up over many rows. A row of `y` is a few vectors as it
//! stands in memory, and each of its numbers is multiplied by a number of the row of `x`. So nothing is packed, and each
//! matrix is read once, also if it is in several products.

use super::kernel::Kernel;
use super::lanes::{Float, Lanes};
use matrices::Element;
use std::ops::Range;

/// Bytes of a block of rows, which stays in the first level of cache while all tiles of the result are added to, and
/// the least and the most rows.
const BLOCK_BYTES: usize = 1 << 14;
const BLOCK: (usize, usize) = (64, 512);

/// The most lanes of a vector.
const WIDEST: usize = 16;

/// Some rows of two row-major matrices, and where their product goes.
pub struct Product<'a, T> {
    /// Rows of `p` numbers.
    pub x: &'a [T],
    /// How many these are.
    pub p: usize,
    /// As many rows, of `q` numbers.
    pub y: &'a [T],
    /// How many these are.
    pub q: usize,
    /// A weight for each row, if there are any.
    pub w: Option<&'a [T]>,
    /// Whether `y` is `x`: what lies above the diagonal is not computed.
    pub symmetric: bool,
    /// `p` rows of `q` numbers, which become the product.
    pub z: &'a mut [T],
}

impl<T: Element> Product<'_, T> {
    fn rows(&self) -> usize {
        self.y.len() / self.q
    }

    /// Rows at the end, behind which there may be less memory than a vector has lanes: as many for vectors of any kind,
    /// so that their sums are the same.
    fn last(&self) -> usize {
        let beyond = self.q.next_multiple_of(WIDEST) - self.q;
        beyond.div_ceil(self.q)
    }

    /// Vectors that the sums take.
    #[inline(always)]
    fn sums(&self, width: usize) -> usize {
        self.p * self.q.div_ceil(width)
    }

    /// Vectors that the `last` rows of `y` take, with zeros for the whole vectors that are read of each row.
    #[inline(always)]
    fn end(&self, last: usize, width: usize) -> usize {
        (last * self.q + self.q.next_multiple_of(WIDEST)).div_ceil(width)
    }
}

impl<T: Float> Product<'_, T> {
    /// The product where the processor has no vectors that there is code for.
    pub fn one_by_one(self) {
        self.z.fill(T::ZERO);
        for (row, (x, y)) in self
            .x
            .chunks_exact(self.p)
            .zip(self.y.chunks_exact(self.q))
            .enumerate()
        {
            let weight = self.w.map_or(1.0, |w| w[row].f64());
            for (z, x) in self.z.chunks_exact_mut(self.q).zip(x) {
                for (z, y) in z.iter_mut().zip(y) {
                    *z = T::of(z.f64() + x.f64() * weight * y.f64());
                }
            }
        }
    }

    /// Adds the products of rows `from` to `to`. Those from `n - last` on are in `end`.
    #[inline(always)]
    fn add<V: Lanes<Float = T>>(
        &self,
        (from, to): (usize, usize),
        last: usize,
        sums: &mut [V],
        end: &[V],
    ) {
        let (p, q, n) = (self.p, self.q, self.rows());
        let y = if from < n - last {
            &self.y[from * q..]
        } else {
            V::flat(end)
        };
        let rows = Rows {
            x: &self.x[from * p..to * p],
            p,
            y,
            q,
            w: self.w.map(|w| &w[from..to]),
        };
        add(sums, rows, self.symmetric);
    }

    /// The product is what was added up.
    #[inline(always)]
    fn finish<V: Lanes<Float = T>>(&mut self, sums: &[V]) {
        let (p, q) = (self.p, self.q);
        let rows = sums.chunks_exact(q.div_ceil(V::WIDTH));
        for (i, (z, sums)) in self.z.chunks_exact_mut(q).zip(rows).enumerate() {
            let known = if self.symmetric { i + 1 } else { q };
            z[..known].copy_from_slice(&V::flat(sums)[..known]);
        }
        if self.symmetric {
            for i in 0..p {
                for j in 0..i {
                    self.z[j * q + i] = self.z[i * q + j];
                }
            }
        }
    }
}

/// Products of matrices of as many rows, of which a block is read for all of them.
pub struct Crossprod<'a, T>(pub Vec<Product<'a, T>>);

impl<T: Element> Crossprod<'_, T> {
    /// Rows of a block.
    #[inline(always)]
    fn block(&self) -> usize {
        let numbers = self.0.iter().map(|product| product.p + product.q).max();
        let row = numbers.unwrap_or(1) * size_of::<T>();
        (BLOCK_BYTES / row).clamp(BLOCK.0, BLOCK.1)
    }

    #[inline(always)]
    fn rows(&self) -> usize {
        self.0.first().map_or(0, Product::rows)
    }

    /// Rows at the end that are copied.
    #[inline(always)]
    fn last(&self) -> usize {
        let last = self.0.iter().map(Product::last).max();
        last.unwrap_or(0).min(self.rows())
    }
}

impl<T: Element> Kernel<T> for Crossprod<'_, T> {
    fn scratch(&self) -> usize {
        0
    }

    #[inline(always)]
    fn alone_in_rows(&self) -> bool {
        true
    }

    #[inline(always)]
    fn block_pays(&self, _: usize, _: usize) -> bool {
        false
    }

    /// The sums, and ends of `y`.
    #[inline(always)]
    fn rows_scratch(&self, width: usize) -> usize {
        let last = self.last();
        let products = self.0.iter();
        products
            .map(|product| product.sums(width) + product.end(last, width))
            .sum()
    }

    #[inline(always)]
    fn run_rows<V: Lanes<Float = T>>(&mut self, _: usize, scratch: &mut [V])
    where
        T: Float,
    {
        let (n, block, last) = (self.rows(), self.block(), self.last());
        let zero = scratch[0].like(0.0);
        scratch.fill(zero);
        let mut rest = &mut *scratch;
        for product in &self.0 {
            let (_, end, others) = areas(product, last, rest);
            V::flat_mut(end)[..last * product.q]
                .copy_from_slice(&product.y[(n - last) * product.q..]);
            rest = others;
        }
        let mut row = 0;
        while row < n {
            let to = if row < n - last {
                (row + block).min(n - last)
            } else {
                n
            };
            let mut rest = &mut *scratch;
            for product in &self.0 {
                let (sums, end, others) = areas(product, last, rest);
                product.add((row, to), last, sums, end);
                rest = others;
            }
            row = to;
        }
        let mut rest = scratch;
        for product in &mut self.0 {
            let (sums, _, others) = areas(product, last, rest);
            product.finish(sums);
            rest = others;
        }
    }

    fn run<V: Lanes<Float = T>>(&mut self, _: Range<usize>, _: &mut [V])
    where
        T: Float,
    {
        unreachable!("a kernel without blocks of matrices");
    }
}

/// The sums of a product, its end, and what is left.
#[inline(always)]
fn areas<'a, V: Lanes>(
    product: &Product<'_, V::Float>,
    last: usize,
    scratch: &'a mut [V],
) -> (&'a mut [V], &'a mut [V], &'a mut [V]) {
    let (sums, rest) = scratch.split_at_mut(product.sums(V::WIDTH));
    let (end, rest) = rest.split_at_mut(product.end(last, V::WIDTH));
    (sums, end, rest)
}

/// Some rows of both sides, and their weights.
#[derive(Clone, Copy)]
struct Rows<'a, T> {
    x: &'a [T],
    p: usize,
    y: &'a [T],
    q: usize,
    w: Option<&'a [T]>,
}

/// Adds the products of the rows to the sums. Of a symmetric result the vectors that are all above the diagonal are left
/// out. The sums of a tile, with a row of `y` and a number of `x`, fill the registers.
#[inline(always)]
fn add<V: Lanes>(sums: &mut [V], rows: Rows<'_, V::Float>, symmetric: bool) {
    let mut i = 0;
    while i < rows.p {
        let to = (&mut *sums, i, symmetric);
        i += match rows.p - i {
            8.. if V::REGISTERS >= 32 => strip::<V, 8, 3>(to, rows),
            6.. if V::REGISTERS < 32 => strip::<V, 6, 2>(to, rows),
            4.. if V::REGISTERS >= 32 => strip::<V, 4, 4>(to, rows),
            4.. => strip::<V, 4, 2>(to, rows),
            2.. => strip::<V, 2, 4>(to, rows),
            _ => strip::<V, 1, 4>(to, rows),
        };
    }
}

/// Rows `i` and the following of the result, `M` of them, in tiles of up to `N` vectors.
#[inline(always)]
fn strip<V: Lanes, const M: usize, const N: usize>(
    (sums, i, symmetric): (&mut [V], usize, bool),
    rows: Rows<'_, V::Float>,
) -> usize {
    let vectors = rows.q.div_ceil(V::WIDTH);
    let known = if symmetric {
        (i + M).div_ceil(V::WIDTH)
    } else {
        vectors
    };
    let mut v = 0;
    while v < known {
        let to = (&mut sums[i * vectors + v..], vectors);
        let at = (i, v * V::WIDTH);
        v += match known - v {
            1 => tile::<V, M, 1>(to, at, rows),
            left if left < N => tile::<V, M, 2>(to, at, rows),
            _ => tile::<V, M, N>(to, at, rows),
        };
    }
    M
}

/// As [`weighted_tile`], with code of its own for rows without weights.
#[inline(always)]
fn tile<V: Lanes, const M: usize, const N: usize>(
    to: (&mut [V], usize),
    at: (usize, usize),
    rows: Rows<'_, V::Float>,
) -> usize {
    match rows.w {
        Some(w) => weighted_tile::<V, M, N>(to, at, rows, |r| Some(w[r].f64())),
        None => weighted_tile::<V, M, N>(to, at, rows, |_| None),
    }
}

/// Adds to `M` rows of `N` vectors, which begin at a number of the rows of `x` and one of `y`. Each row of `y` is
/// multiplied by its weight, if there is one.
#[inline(always)]
fn weighted_tile<V: Lanes, const M: usize, const N: usize>(
    (to, stride): (&mut [V], usize),
    at: (usize, usize),
    rows: Rows<'_, V::Float>,
    weight: impl Fn(usize) -> Option<f64>,
) -> usize {
    let zero = to[0].like(0.0);
    let mut sums = [[zero; N]; M];
    // Loops that the compiler unrolls: so the sums stay in registers.
    for (r, x) in rows.x.chunks_exact(rows.p).enumerate() {
        let x = &x[at.0..][..M];
        let y = &rows.y[r * rows.q + at.1..][..N * V::WIDTH];
        let mut row = [zero; N];
        for v in 0..N {
            let lanes = row[v].as_mut_slice();
            lanes.copy_from_slice(&y[v * V::WIDTH..][..V::WIDTH]);
        }
        if let Some(weight) = weight(r) {
            let weight = zero.like(weight);
            for lanes in &mut row {
                *lanes = *lanes * weight;
            }
        }
        for i in 0..M {
            let x = zero.like(x[i].f64());
            for v in 0..N {
                sums[i][v] = x.mul_add(row[v], sums[i][v]);
            }
        }
    }
    for i in 0..M {
        let to = &mut to[i * stride..][..N];
        for v in 0..N {
            to[v] += sums[i][v];
        }
    }
    N
}
