// QR factorisation, a block a matrix, all of the batch in one launch. Column by column with Householder
// reflections as LAPACK's geqr2 and larfg have them: H = 1 - tau v v^H, v being 1 in its first row, takes a
// column to beta, which is real and has the other sign than the column's first number. A warp's threads are
// some groups side by side, each of which has a column. The group that updates the next column makes a
// reflection of it at once, so there is one barrier a column.

// A row is always the same thread's, as with EACH_ROW.
#define EACH_ROW_OF_GROUP(i, first, rows) \
  LOOP (int i = (first) + (((int)threadIdx.x - (first)) & (lanes - 1)); i < (rows); i += lanes)

template <class R> __device__ inline R sum_of_group(R x, int lanes) {
  LOOP (int i = lanes / 2; i > 0; i /= 2) x += __shfl_xor_sync(0xffffffffu, x, i);
  return x;
}
template <class R> __device__ inline Complex<R> sum_of_group(Complex<R> x, int lanes) {
  LOOP (int i = lanes / 2; i > 0; i /= 2) {
    x.re += __shfl_xor_sync(0xffffffffu, x.re, i);
    x.im += __shfl_xor_sync(0xffffffffu, x.im, i);
  }
  return x;
}

// By a warp: the reflection that takes an updated column to beta in row j, v below; returns tau. `rows` is 0
// for the groups that have other columns. A column of very large or very small numbers is scaled before, for
// their squares.
template <class T> __device__ inline T reflect(T *column, int j, int rows, int lanes) {
  typedef Real<T> R;
  R sum = 0;
  EACH_ROW_OF_GROUP(i, j + 1, rows) sum += square(column[i]);
  sum = sum_of_group(sum, lanes);
  // Row j is another thread's.
  __syncwarp();
  T alpha = j < rows ? column[j] : one_of(T());
  __syncwarp();
  bool safe = sum >= least_of(R()) && sum + square(alpha) <= most_of(R());
  int power = 0;
  if (__any_sync(0xffffffffu, j < rows && !safe)) {
    R below = 0;
    EACH_ROW_OF_GROUP(i, j + 1, rows) below = larger(below, column[i]);
    LOOP (int i = lanes / 2; i > 0; i /= 2) {
      R other = __shfl_xor_sync(0xffffffffu, below, i);
      below = other > below ? other : below;
    }
    // Nothing to do, as larfg has it; also in a group with another column.
    if (below == R(0) && imaginary_of(alpha) == R(0)) rows = 0;
    power = power_in(larger(below, alpha));
    alpha = scaled(alpha, -power);
    sum = 0;
    EACH_ROW_OF_GROUP(i, j + 1, rows) {
      T x = scaled(column[i], -power);
      column[i] = x;
      sum += square(x);
    }
    sum = sum_of_group(sum, lanes);
  }
  if (j >= rows) return T();
  R beta = -copysign(sqrt(sum + square(alpha)), real_of(alpha));
  T tau, factor;
  reflection(alpha, beta, tau, factor);
  EACH_ROW_OF_GROUP(i, j, rows) {
    if (i == j) set_real(column[i], scaled(beta, power));
    else column[i] = plus(T(), column[i], factor);
  }
  return tau;
}

// Rows that a thread reads before it computes with the first of them: memory is what it waits for.
template <class T> struct Rows {
  enum { count = sizeof(T) > 8 ? 2 : 4 };
  T x[count], v[count];
  __device__ inline Rows(const T *column, const T *reflector, int i, int rows, int lanes) {
    _Pragma("unroll") for (int r = 0; r < count; r++, i += lanes) {
      x[r] = i < rows ? column[i] : T();
      v[r] = i < rows ? reflector[i] : T();
    }
  }
};
#define EACH_ROWS_OF_GROUP(i, first, rows)                                              \
  LOOP (int i = (first) + (((int)threadIdx.x - (first)) & (lanes - 1)); i < (rows); \
                           i += Rows<T>::count * lanes)

// By a warp: a column from row k on is taken through the reflection with that v, whose conjugated tau is
// `factor`.
template <class T> __device__ inline void update(T *column, const T *v, T factor, int k, int rows, int lanes) {
  bool first = k < rows && (((int)threadIdx.x - k) & (lanes - 1)) == 0;
  T top = first ? column[k] : T(), product = top;
  EACH_ROWS_OF_GROUP(i, k + 1, rows) {
    Rows<T> some(column, v, i, rows, lanes);
    _Pragma("unroll") for (int r = 0; r < Rows<T>::count; r++) product = plus(product, conj(some.v[r]), some.x[r]);
  }
  product = plus(T(), factor, sum_of_group(product, lanes));
  if (first) column[k] = difference(top, product);
  EACH_ROWS_OF_GROUP(i, k + 1, rows) {
    Rows<T> some(column, v, i, rows, lanes);
    _Pragma("unroll") for (int r = 0; r < Rows<T>::count; r++) {
      int at = i + r * lanes;
      if (at < rows) column[at] = minus(some.x[r], some.v[r], product);
    }
  }
}

// `groups` in each warp. `near`: how many rows there are between columns in shared memory, 0 if there is none
// for a matrix. One that is not finite becomes NaN, and so do its factors.
template <class T>
__device__ void qr(T *all, T *taus, i64 count, i64 rows, i64 cols, i64 groups, i64 near) {
  SHARED_MEMORY;
  SHARED T factors[2];
  int m = (int)rows, n = (int)cols, rank = m < n ? m : n;
  int each = groups < WARP ? (int)groups : WARP, lanes = WARP / each;
  int stride = near ? (int)near : m, group = (int)threadIdx.x / lanes;
  int first = (int)threadIdx.y * each, step = (int)blockDim.y * each;
  LOOP (i64 b = blockIdx.x; b < count; b += gridDim.x) {
    T *a = all + b * m * n, *x = near ? (T *)memory : a, *tau = taus + b * rank;
    Real<T> most = 0;
    LOOP (int j = first + group; j < n; j += step) {
      EACH_ROW_OF_GROUP(i, 0, m) {
        T value = a[i + j * m];
        most = larger(most, value);
        if (near) x[i + j * stride] = value;
      }
    }
    if (!is_finite(largest_of_block(most))) {
      EACH_OF(e, m * n) set_nan(a[e]);
      EACH_OF(i, rank) set_nan(tau[i]);
    } else {
      // Before the first step the first column has its reflection made.
      LOOP (int k = -1; k < rank; k++) {
        T factor = T();
        if (k >= 0) {
          __syncthreads();
          factor = conj(factors[k & 1]);
        }
        bool moves = real_of(factor) != 0 || imaginary_of(factor) != 0;
        const T *v = x + k * stride;
        // All threads of a warp go through as many columns, as they exchange numbers.
        LOOP (int turn = first; turn < n; turn += step) {
          int next = k + 1, j = turn + group;
          if (turn + each <= next) continue;
          T *column = x + j * stride;
          if (moves) update(column, v, factor, k, j > k && j < n ? m : 0, lanes);
          if (next < rank && turn <= next) {
            T made = reflect(column, next, j == next ? m : 0, lanes);
            if (j == next && (threadIdx.x & (lanes - 1)) == 0) tau[next] = factors[next & 1] = made;
          }
        }
      }
      if (near) LOOP (int j = first + group; j < n; j += step) {
        EACH_ROW_OF_GROUP(i, 0, m) a[i + j * m] = x[i + j * stride];
      }
    }
    __syncthreads();
  }
}
#define PARAMETERS(T) (T *a, T *tau, i64 count, i64 rows, i64 cols, i64 groups, i64 near)
BLOCK_KERNEL(qr, PARAMETERS, (a, tau, count, rows, cols, groups, near))
#undef PARAMETERS
