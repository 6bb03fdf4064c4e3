// LU factorisation with partial pivoting, a block a matrix, all of the batch in one launch. Column by
// column as LAPACK's getf2: the first largest element is the pivot, a zero one is noted in `info` and
// passed over. The warp that updates the next column makes a column of L of it at once, so there is one
// barrier a column.

// By a warp: makes column j of L of an updated one. `chosen` becomes the pivot's row, or its
// complement where that is zero.
template <class T> __device__ inline void choose(T *column, int rows, int j, int *chosen) {
  // NaN, which comes of numbers beyond all numbers, is as good as zero.
  Real<T> best = 0;
  int at = rows;
  EACH_ROW(i, j, rows) {
    Real<T> size = size_of(column[i]);
    if (size > best) best = size, at = i;
  }
  Real<T> largest = largest_of_lanes(best);
  at = largest > Real<T>(0) ? least_of_lanes(best == largest ? at : rows) : j;
  __syncwarp();
  T pivot = column[at], top = column[j];
  __syncwarp();
  if (largest > Real<T>(0)) {
    Divisor<T> quotient(pivot);
    EACH_ROW(i, j, rows) column[i] = i == j ? pivot : quotient(i == at ? top : column[i]);
  }
  if (threadIdx.x == 0) *chosen = largest > Real<T>(0) ? at : ~at;
}

// Factors a matrix of m rows, n columns and that rank. Row k was exchanged with `rows_of[k]`, which counts from
// `first`. Gives the first column without a pivot, counted from 1, or 0. Threads meet in it, and at its end.
template <class T> __device__ inline int factor_columns(T *x, int m, int n, int rank, int *rows_of, int first) {
  SHARED int chosen[2];
  int zero = 0;
  // Before the first step the first column has its pivot chosen.
  LOOP (int k = -1; k < rank; k++) {
    int p = k;
    if (k >= 0) {
      __syncthreads();
      p = chosen[k & 1];
      if (p < 0) {
        p = ~p;
        if (!zero) zero = k + 1;
      }
      if (p != k) EACH_OF(j, k) {
        T other = x[p + j * m];
        x[p + j * m] = x[k + j * m];
        x[k + j * m] = other;
      }
      if (threadIdx.x == 0 && threadIdx.y == 0) rows_of[k] = p + first;
    }
    const T *l = x + k * m;
    EACH_COLUMN(j, n) {
      if (j <= k) continue;
      T *column = x + j * m;
      if (k >= 0) {
        T pivot = column[p], top = column[k];
        __syncwarp();
        EACH_ROW(i, k, m) column[i] = i == k ? pivot : minus(i == p ? top : column[i], l[i], pivot);
      }
      if (j == k + 1 && j < rank) choose(column, m, j, &chosen[j & 1]);
    }
  }
  __syncthreads();
  return zero;
}

// Of a matrix that is not finite: it becomes NaN, its pivots 1, 2, ….
template <class T> __device__ inline void no_factors(T *a, int size, int *rows_of, int rank) {
  EACH_OF(e, size) set_nan(a[e]);
  EACH_OF(i, rank) rows_of[i] = i + 1;
}

// `near`: whether there is shared memory for a matrix.
template <class T>
__device__ void lu(T *all, int *pivots, int *info, i64 count, i64 rows, i64 cols, i64 near) {
  extern __shared__ double memory[];
  int m = (int)rows, n = (int)cols, rank = m < n ? m : n;
  LOOP (i64 b = blockIdx.x; b < count; b += gridDim.x) {
    T *a = all + b * m * n, *x = near ? (T *)memory : a;
    int *rows_of = pivots + b * rank;
    Real<T> most = 0;
    EACH_OF(e, m * n) {
      T value = a[e];
      most = larger(most, value);
      if (near) x[e] = value;
    }
    int zero = 0;
    if (!is_finite(largest_of_block(most))) {
      no_factors(a, m * n, rows_of, rank);
    } else {
      zero = factor_columns(x, m, n, rank, rows_of, 1);
      if (near) EACH_OF(e, m * n) a[e] = x[e];
    }
    if (info && threadIdx.x == 0 && threadIdx.y == 0) info[b] = zero;
    __syncthreads();
  }
}
#define PARAMETERS(T) (T *a, int *pivots, int *info, i64 count, i64 rows, i64 cols, i64 near)
BLOCK_KERNEL(lu, PARAMETERS, (a, pivots, info, count, rows, cols, near))
#undef PARAMETERS
