// Eigenvalues and vectors of a real tridiagonal matrix by divide and conquer (Cuppen, Numer. Math. 36, 1981; LAPACK's
// laed1 to laed4). All merges of a level are made at once: each phase is for all rows of the matrix, and its merge is
// found by the row's number.

// What a block has in shared memory for each row; for one number it is a row, for another one a column.
template <class R> struct Merged {
  // What Cuppen's z is; then, as they ascend, those of the poles that take part, and these.
  R z, pole, weight;
  // A root: its distance from the pole `origin`; what makes the norm of its vector 1.
  R distance, inverse;
  // Gu and Eisenstat's z.
  R exact;
  // New eigenvalues: first the roots, at the end those that stay.
  R value;
  // Rotations of columns.
  R cosine, sine;
  int first, second;
  int origin, place;
  // Columns as their values ascend; then those of `value`; poles (and their columns times 65536) that are not zero in
  // the upper half, and in the lower one.
  int order, column, halves[2];
};

struct Counts {
  int kept, halves[2], rotations;
};
// Most merges of a level.
#define MERGES 16

// A merge of `parts` of a level, of the rows from `start` to `cut` and from there to `end`.
struct Merge {
  int number, start, cut, end;
  __device__ inline Merge(int number, int n, int parts)
      : number(number), start(number * n / parts), cut((2 * number + 1) * n / (2 * parts)),
        end((number + 1) * n / parts) {}
};
__device__ inline Merge merge_of(int i, int n, int parts) { return Merge(((i + 1) * parts - 1) / n, n, parts); }

template <class R> __device__ inline R rounding_of(R) { return R(0.5) * epsilon_of(R()); }

// The matrix: d on the diagonal, later eigenvalues in ascending order, e beside it; the vectors, those of the next
// level, and those of the roots in the basis of the halves' vectors.
template <class R> struct Tridiagonal {
  int n;
  R *d, *e, *q, *other, *vectors;
  Merged<R> *f;
  Counts *counts;
};

// z, and the order of the values.
template <class R> __device__ inline void prepare(const Tridiagonal<R> &t, int parts) {
  int n = t.n;
  EACH_OF(c, n) {
    Merge m = merge_of(c, n, parts);
    R own = t.d[c], z = t.q[(c < m.cut ? m.cut - 1 : m.cut) + c * n];
    int rank = m.start;
    _Pragma("unroll 4") for (int i = m.start; i < m.end; i++) {
      R other = t.d[i];
      rank += other < own || (other == own && i < c);
    }
    t.f[rank].order = c, t.f[rank].pole = own;
    t.f[rank].weight = R(0.7071067811865475244) * (c < m.cut ? z : copysign(R(1), t.e[m.cut - 1]) * z);
  }
}

// A pole that may take part: its column, and in which halves that is not 0.
template <class R> struct Pole {
  R at, weight;
  int column, halves;
};

template <class R>
__device__ inline void keep(const Tridiagonal<R> &t, const Merge &m, Counts &counts, const Pole<R> &pole) {
  Merged<R> *f = t.f + m.start;
  int number = counts.kept++, packed = (m.start + number) | (pole.column << 16);
  f[number].pole = pole.at, f[number].weight = pole.weight, f[number].column = pole.column;
  UNROLL (int half = 0; half < 2; half++) if (pole.halves >> half & 1) f[counts.halves[half]++].halves[half] = packed;
}

// Number i in ascending order, of those that have not been looked at.
template <class R> __device__ inline Pole<R> pole_of(const Tridiagonal<R> &t, const Merge &m, int i) {
  int column = t.f[i].order;
  return {t.f[i].pole, t.f[i].weight, column, column < m.cut ? 1 : 2};
}

// By one thread: what hardly takes part in a merge stays as it is (LAPACK's laed2): a column with hardly any z, and one
// of two with nearly the same value once a rotation of both has made its z 0. Beside the largest element of A, which is
// at least 1, what is below a rounding of 1/64 does not matter.
template <class R> __device__ inline void deflate(const Tridiagonal<R> &t, const Merge &m) {
  Merged<R> *f = t.f;
  Counts counts = {0, {0, 0}, 0};
  R rho = R(2) * fabs(t.e[m.cut - 1]), largest = larger(larger(rho, f[m.start].pole), f[m.end - 1].pole);
  R tolerance = R(8) * rounding_of(R()) * (largest > R(0.015625) ? largest : R(0.015625));
  int behind = m.end;
  Pole<R> last = {R(0), R(0), -1, 0}, next = pole_of(t, m, m.start);
  LOOP (int i = m.start; i < m.end; i++) {
    Pole<R> pole = next;
    if (i + 1 < m.end) next = pole_of(t, m, i + 1);
    if (rho * fabs(pole.weight) <= tolerance) {
      f[--behind].value = pole.at, f[behind].column = pole.column;
      continue;
    }
    if (last.column >= 0) {
      R product = last.weight * pole.weight, squares = last.weight * last.weight + pole.weight * pole.weight;
      if ((pole.at - last.at) * fabs(product) <= tolerance * squares) {
        R size = sqrt(squares), c = pole.weight / size, s = -last.weight / size;
        Merged<R> &turn = f[m.start + counts.rotations++];
        turn.cosine = c, turn.sine = s, turn.first = last.column, turn.second = pole.column;
        f[--behind].value = last.at * c * c + pole.at * s * s, f[behind].column = last.column;
        pole.at = last.at * s * s + pole.at * c * c, pole.weight = size;
        if (pole.halves != last.halves) pole.halves = 3;
      } else {
        keep(t, m, counts, last);
      }
    }
    last = pole;
  }
  if (last.column >= 0) keep(t, m, counts, last);
  t.counts[m.number] = counts;
}

// The rotations, each thread in rows of its own.
template <class R> __device__ inline void rotate(const Tridiagonal<R> &t, int parts) {
  int n = t.n;
  EACH_OF(i, n) {
    Merge m = merge_of(i, n, parts);
    int count = t.counts[m.number].rotations;
    LOOP (int k = 0; k < count; k++) {
      const Merged<R> &turn = t.f[m.start + k];
      R *first = t.q + i + turn.first * n, *second = t.q + i + turn.second * n, x = *first, y = *second;
      *first = turn.cosine * x + turn.sine * y;
      *second = turn.cosine * y - turn.sine * x;
    }
  }
}

// z of which the roots are exact, and not nearly so, but for a factor (Gu and Eisenstat, SIAM J. Matrix Anal. Appl. 16,
// 1995): with it the vectors are orthogonal.
template <class R> __device__ inline void exact_weights(const Tridiagonal<R> &t, int parts, int lanes) {
  int n = t.n, number = ((int)threadIdx.y * WARP + (int)threadIdx.x) / lanes;
  int own = (int)threadIdx.x & (lanes - 1), groups = (int)blockDim.y * WARP / lanes;
  LOOP (int base = 0; base < n; base += groups) {
    int i = base + number;
    Merge m = merge_of(i < n ? i : n - 1, n, parts);
    int end = m.start + t.counts[m.number].kept;
    R product = 1;
    if (i < end) {
      R here = t.f[i].pole;
      _Pragma("unroll 2") for (int j = m.start + own; j < end; j += lanes) {
        R above = (here - t.f[t.f[j].origin].pole) - t.f[j].distance, apart = here - t.f[j].pole;
        product *= above / (i == j ? R(1) : apart);
      }
    }
    LOOP (int with = lanes / 2; with > 0; with /= 2) product *= from_other(product, with);
    if (i < end && own == 0) t.f[i].exact = copysign(sqrt(fabs(product)), t.f[i].weight);
  }
}

// Vectors of the roots in the basis of the poles' columns, by a warp each, and where all values are as they ascend.
template <class R> __device__ inline void vectors_of_roots(const Tridiagonal<R> &t, int parts) {
  int n = t.n;
  EACH_COLUMN(j, n) {
    Merge m = merge_of(j, n, parts);
    int end = m.start + t.counts[m.number].kept;
    if (j >= end) continue;
    R origin = t.f[t.f[j].origin].pole, distance = t.f[j].distance, squares = 0;
    _Pragma("unroll 2") for (int i = m.start + (int)threadIdx.x; i < end; i += WARP) {
      R value = t.f[i].exact / ((t.f[i].pole - origin) - distance);
      t.vectors[i + j * n] = value;
      squares += value * value;
    }
    squares = sum_of<WARP>(squares);
    if (threadIdx.x == 0) t.f[j].inverse = R(1) / sqrt(squares);
  }
  EACH_OF(c, n) {
    Merge m = merge_of(c, n, parts);
    R own = t.f[c].value;
    int rank = m.start;
    _Pragma("unroll 4") for (int i = m.start; i < m.end; i++) {
      R other = t.f[i].value;
      rank += other < own || (other == own && i < c);
    }
    t.f[c].place = rank;
  }
}

// By a warp: of the columns of q that are not 0 in a half of the rows, times the vectors of TOGETHER roots from `first`
// on, rows from `row` to `last`, of which a thread has two.
template <class R>
__device__ inline void multiply(const Tridiagonal<R> &t, const Merge &m, int half, int first, int row, int last) {
  Merged<R> *f = t.f;
  int n = t.n, end = m.start + t.counts[m.number].kept, count = t.counts[m.number].halves[half];
  int one = row + (int)threadIdx.x, two = one + WARP;
  R sums[2][TOGETHER] = {};
  const R *vectors[TOGETHER];
  UNROLL (int c = 0; c < TOGETHER; c++) vectors[c] = t.vectors + (first + c < end ? first + c : first) * n;
  _Pragma("unroll 4") for (int p = 0; p < count; p++) {
    int packed = f[m.start + p].halves[half], pole = packed & 0xffff;
    const R *column = t.q + (packed >> 16) * n;
    R x = one < last ? column[one] : R(0), y = two < last ? column[two] : R(0);
    UNROLL (int c = 0; c < TOGETHER; c++) {
      R factor = vectors[c][pole];
      sums[0][c] += x * factor, sums[1][c] += y * factor;
    }
  }
  UNROLL (int c = 0; c < TOGETHER; c++) {
    if (first + c >= end) continue;
    R *to = t.other + f[first + c].place * n, factor = f[first + c].inverse;
    if (one < last) to[one] = factor * sums[0][c];
    if (two < last) to[two] = factor * sums[1][c];
  }
}

// The vectors of the next level, and its values.
template <class R> __device__ inline void finish(const Tridiagonal<R> &t, int parts) {
  int n = t.n, warps = (int)blockDim.y, before = 0;
  EACH_OF(c, n) t.d[t.f[c].place] = t.f[c].value;
  LOOP (int number = 0; number < parts; number++) {
    Merge m(number, n, parts);
    int kept = t.counts[number].kept;
    LOOP (int half = 0; half < 2; half++) {
      int row = half ? m.cut : m.start, last = half ? m.end : m.cut;
      int down = (last - row + 2 * WARP - 1) / (2 * WARP), tiles = down * ((kept + TOGETHER - 1) / TOGETHER);
      LOOP (int tile = ((int)threadIdx.y + warps - before % warps) % warps; tile < tiles; tile += warps)
        multiply(t, m, half, m.start + tile / down * TOGETHER, row + tile % down * 2 * WARP, last);
      before += tiles;
    }
  }
  EACH_COLUMN(c, n) {
    Merge m = merge_of(c, n, parts);
    if (c < m.start + t.counts[m.number].kept) continue;
    const R *from = t.q + t.f[c].column * n;
    R *to = t.other + t.f[c].place * n;
    EACH_ROW(i, m.start, m.end) to[i] = from[i];
  }
}
