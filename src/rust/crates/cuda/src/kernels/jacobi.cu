// Singular values by one-sided Jacobi, a block a matrix, all of the batch in one launch. A (or its
// adjoint, if it is wide) is factored, A P = Q R with column pivoting; rotations W make the columns of
// X = R^H orthogonal: X W = V S. Then R = W S V^H, and A = (Q W) S (P V)^H. The order of the steps and
// why the triangle is transposed: Drmac and Veselic, LAPACK working notes 169 and 170. V comes from the
// QR factorisation of X W, whose R is diagonal up to rounding: so V is unitary also where singular
// values are zero.

// What a QR factorisation has beside its matrix for each column, in shared memory. Reflector k, I - gain v v^H,
// is in column order of the matrix, from row k on, but for its first number, head. The diagonal of R is
// turn times size.
template <class T> struct Column {
  T head, turn;
  Real<T> gain, size, squares[2];
  int order, moved;
};

// QR factorisation with column pivoting. Columns keep their places; row k of R is final after step k. A
// column was written by the threads that have it here, or before a barrier.
template <class T> __device__ inline void factor(T *x, int rows, int cols, Column<T> *f) {
  typedef Real<T> R;
  EACH_COLUMN(j, cols) {
    R sum = 0;
    EACH_ROW(i, 0, rows) sum += square(x[i + j * rows]);
    sum = sum_of_lanes(sum);
    if (threadIdx.x == 0) f[j].squares[0] = sum;
  }
  LOOP (int k = 0; k < cols; k++) {
    __syncthreads();
    int now = k & 1, at = 0;
    R best = -1;
    // Columns that have been taken are marked with -1.
    EACH_ROW(j, 0, cols) if (f[j].squares[now] > best) best = f[j].squares[now], at = j;
    LOOP (int i = WARP / 2; i > 0; i /= 2) {
      R other = __shfl_xor_sync(0xffffffffu, best, i);
      int where = __shfl_xor_sync(0xffffffffu, at, i);
      if (other > best || (other == best && where < at)) best = other, at = where;
    }
    const T *v = x + at * rows, first = v[k];
    R norm = sqrt(best), size = modulus(first);
    bool there = best > nothing_of(best), alone = k + 1 == rows;
    // The first number's sign; of one that vanishes beside the others it does not matter.
    T sign = there && size > epsilon_of(size) * norm ? over(first, size) : one_of(T());
    T head = times(size + norm, sign);
    R gain = there && !alone ? R(1) / (norm * (norm + size)) : R(0);
    if (threadIdx.x == 0 && threadIdx.y == 0) {
      f[k].order = at, f[k].gain = gain, f[k].size = norm, f[k].head = head, f[k].turn = times(R(alone ? 1 : -1), sign);
    }
    EACH_COLUMN(j, cols) {
      R left = -1;
      if (f[j].squares[now] >= R(0) && j != at) {
        T *column = x + j * rows, product = T();
        EACH_ROW(i, k, rows) product = plus(product, conj(i == k ? head : v[i]), column[i]);
        product = times(gain, sum_of_lanes(product));
        left = 0;
        EACH_ROW(i, k, rows) {
          T value = minus(column[i], i == k ? head : v[i], product);
          column[i] = value;
          if (i > k) left += square(value);
        }
        left = sum_of_lanes(left);
      }
      if (threadIdx.x == 0) f[j].squares[1 - now] = left;
    }
  }
  __syncthreads();
}

// By a warp: applies the reflectors from `last` down to the first to a column.
template <class T>
__device__ inline void reflect(const T *x, int rows, int last, const Column<T> *f, T *column) {
  LOOP (int k = last; k >= 0; k--) {
    const T *v = x + f[k].order * rows, head = f[k].head;
    T product = T();
    EACH_ROW(i, k, rows) product = plus(product, conj(i == k ? head : v[i]), column[i]);
    product = times(f[k].gain, sum_of_lanes(product));
    EACH_ROW(i, k, rows) column[i] = minus(column[i], i == k ? head : v[i], product);
  }
}

template <class T> __device__ inline void rotate(T *p, T *q, int rows, const Rotation<T> &turn) {
  EACH_ROW(i, 0, rows) {
    T one = turn.first(p[i], q[i]), two = turn.second(p[i], q[i]);
    p[i] = turn.exchange ? two : one;
    q[i] = turn.exchange ? one : two;
  }
}

// By a warp: makes columns p and q of x orthogonal, the larger one first; whether they were not, which is
// if the square of the angle's cosine is above `tolerance`. `w`, if there is one, has the product of all
// rotations.
template <class T>
__device__ inline bool orthogonalise(T *p, T *q, int rows, Real<T> tolerance, T *w_p, T *w_q) {
  typedef Real<T> R;
  T product = T();
  R a = 0, b = 0;
  EACH_ROW(i, 0, rows) {
    T one = p[i], other = q[i];
    product = plus(product, conj(one), other);
    a += square(one), b += square(other);
  }
  product = sum_of_lanes(product), a = sum_of_lanes(a), b = sum_of_lanes(b);
  R squared = square(product);
  // Below that squares are not exact, and the rotation would be none.
  if (!(squared > nothing_of(squared) && squared > tolerance * a * b)) return false;
  Rotation<T> turn(product, squared, a, b);
  rotate(p, q, rows, turn);
  if (w_p) rotate(w_p, w_q, rows, turn);
  return true;
}

// Sweeps over all pairs of columns, until a sweep finds all orthogonal; whether one did. The pairs of a
// round have no column in common: their sums are equal, modulo the number of columns but one. Sums that
// grow by 1 from round to round take a quarter fewer sweeps than the usual tournament's, that grow by 2.
template <class T>
__device__ inline bool sweep(T *x, int n, T *w, int w_rows, bool vectors) {
  typedef Real<T> R;
  int others = n - 1 + (n & 1);
  R tolerance = epsilon_of(R()) * epsilon_of(R()) * R(n);
  LOOP (int i = 0; i < SWEEPS; i++) {
    bool turned = false;
    LOOP (int round = 0; round < others; round++) {
      __syncthreads();
      int half = round * ((others + 1) / 2) % others;
      EACH_COLUMN(pair, (others + 1) / 2) {
        // Without a partner a column has the last one's place, which may be empty.
        int one = pair ? (half + pair) % others : others, other = (half + others - pair) % others;
        int p = one < other ? one : other, q = one < other ? other : one;
        if (q >= n) continue;
        turned |= orthogonalise(x + p * n, x + q * n, n, tolerance, vectors ? w + p * w_rows : nullptr, w + q * w_rows);
      }
    }
    if (largest_of_block(R(turned)) == R(0)) return true;
  }
  return false;
}

// `near`: for how many of X and W there is shared memory; `room`: elements of a block's part of the
// scratch memory. With `adjoint`, `v` is V^H.
template <class T>
__device__ void jacobi(const T *all, Real<T> *values, T *all_u, T *all_v, int *info, T *scratch, i64 room,
                       i64 count, i64 rows, i64 cols, i64 near, i64 vectors, i64 full, i64 adjoint) {
  typedef Real<T> R;
  SHARED_MEMORY;
  bool wide = rows < cols;
  int m = (int)(wide ? cols : rows), n = (int)(wide ? rows : cols), length = full ? m : n;
  int u_size = (int)rows * (wide ? n : length), v_size = (int)cols * (wide ? length : n);
  int down = wide ? n : 1, right = wide ? 1 : m;
  Column<T> *f = (Column<T> *)memory;
  T *h = scratch + blockIdx.x * room, *z = h + m * n, *x = near ? (T *)(f + n) : z + m * length;
  T *w = near == 2 ? x + n * n : z;
  int w_rows = near == 2 ? n : m;
  LOOP (i64 b = blockIdx.x; b < count; b += gridDim.x) {
    const T *a = all + b * m * n;
    R *s = values + b * n, most = largest_of_block(largest_of(a, m * n));
    T *u = all_u + b * u_size, *v = all_v + b * v_size;
    int power = power_in(most), failed = NOT_FINITE;
    if (is_finite(most)) {
      EACH_COLUMN(j, n) EACH_ROW(i, 0, m) {
        T value = scaled(a[i * down + j * right], -power);
        h[i + j * m] = wide ? conj(value) : value;
      }
      // First A, or its adjoint, and the long singular vectors, then X and the short ones, which take the
      // place of the first reflectors.
      LOOP (int pass = 0; pass < 2; pass++) {
        T *y = pass ? x : h, *to = pass ? h : z;
        int y_rows = pass ? n : m;
        factor(y, y_rows, n, f);
        if (pass == 0) {
          EACH_COLUMN(j, n) EACH_ROW(i, 0, n) {
            T value = i > j ? h[j + f[i].order * m] : i < j ? T() : times(f[j].size, f[j].turn);
            x[i + j * n] = conj(value);
            w[i + j * w_rows] = i == j ? one_of(T()) : T();
          }
          EACH_OF(i, n) f[i].moved = f[i].order;
          failed = sweep(x, n, w, w_rows, vectors) ? 0 : n + 1;
        }
        if (vectors) EACH_COLUMN(j, pass ? n : length) {
          T diagonal = pass ? f[j].turn : one_of(T());
          EACH_ROW(i, 0, y_rows) {
            bool rotated = pass == 0 && j < n && i < n;
            to[i + j * y_rows] = rotated ? w[i + j * w_rows] : i == j ? diagonal : T();
          }
          reflect(y, y_rows, pass ? j : n - 1, f, to + j * y_rows);
        }
      }
    }
    if (info && threadIdx.x == 0 && threadIdx.y == 0) info[b] = failed;
    if (failed) {
      EACH_OF(e, n) set_nan(s[e]);
      EACH_OF(e, vectors ? u_size : 0) set_nan(u[e]);
      EACH_OF(e, vectors ? v_size : 0) set_nan(v[e]);
    } else {
      EACH_OF(j, n) {
        R least = f[0].size;
        LOOP (int i = 1; i <= j; i++) least = f[i].size < least ? f[i].size : least;
        s[j] = scaled(least, power);
      }
      if (vectors) {
        Places<T> longs(wide ? v : u, m, length, wide && adjoint), shorts(wide ? u : v, n, n, !wide && adjoint);
        EACH_COLUMN(j, length) EACH_ROW(i, 0, m) longs.put(i, j, z[i + (j < n ? f[j].order : j) * m]);
        EACH_COLUMN(j, n) EACH_ROW(i, 0, n) shorts.put(f[i].moved, j, h[i + j * n]);
      }
    }
    __syncthreads();
  }
}
#define PARAMETERS(T)                                                                                    \
  (const T *a, Real<T> *s, T *u, T *v, int *info, T *scratch, i64 room, i64 count, i64 rows, i64 cols, \
   i64 near, i64 vectors, i64 full, i64 adjoint)
BLOCK_KERNEL(jacobi, PARAMETERS, (a, s, u, v, info, scratch, room, count, rows, cols, near, vectors, full, adjoint))
#undef PARAMETERS
