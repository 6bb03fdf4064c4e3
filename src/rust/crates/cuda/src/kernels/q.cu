// The columns of Q as columns_of_q has them, a warp for each: for reflectors that are long.

// Most warps of a block here: fewer than elsewhere, since each thread has many numbers in registers.
#define COLUMN_WARPS 8

// What a lane has of reflector k, which has a 1 in row k that is not stored.
template <int N, class T> __device__ inline void take_reflector(T (&v)[N], const T *from, int k, int rows) {
  EACH_IN_LANE(p, i) v[p] = i > k && i < rows ? from[i] : i == k ? one_of(T()) : T();
}

// Of up to N rows a lane: a column of Q stays in registers. The next reflector is on its way while the product with
// this one is summed.
template <int N, class T>
__device__ inline void column_in_registers(T *column, const T *packed, const T *tau, int j, int rows, int last) {
  T x[N], v[N], next[N];
  EACH_IN_LANE(p, i) x[p] = i == j ? one_of(T()) : T();
  if (last >= 0) take_reflector<N>(next, packed + (i64)last * rows, last, rows);
  LOOP (int k = last; k >= 0; k--) {
    EACH_IN_LANE(p, i) v[p] = next[p];
    T factor = tau[k], product = T();
    if (k > 0) take_reflector<N>(next, packed + (i64)(k - 1) * rows, k - 1, rows);
    EACH_IN_LANE(p, i) product = plus(product, conj(v[p]), x[p]);
    product = plus(T(), factor, sum_of_lanes(product));
    EACH_IN_LANE(p, i) x[p] = minus(x[p], v[p], product);
  }
  EACH_IN_LANE(p, i) if (i < rows) column[i] = x[p];
}

// Of any number of rows.
template <class T>
__device__ inline void column_in_memory(T *column, const T *packed, const T *tau, int j, int rows, int last) {
  EACH_ROW(i, 0, rows) column[i] = i == j ? one_of(T()) : T();
  LOOP (int k = last; k >= 0; k--) {
    const T *v = packed + (i64)k * rows;
    T product = T();
    EACH_ROW(i, k, rows) product = plus(product, i == k ? one_of(T()) : conj(v[i]), column[i]);
    product = plus(T(), tau[k], sum_of_lanes(product));
    EACH_ROW(i, k, rows) column[i] = minus(column[i], i == k ? one_of(T()) : v[i], product);
  }
}

template <class T>
__device__ void long_columns_of_q(T *all, const T *packed, const T *tau, i64 cols, i64 count, i64 rows,
                                  i64 reflectors) {
  int m = (int)rows, n = (int)cols, most = (int)reflectors;
  LOOP (i64 c = (i64)blockIdx.x * blockDim.y + threadIdx.y; c < count * n; c += (i64)gridDim.x * blockDim.y) {
    i64 b = c / n;
    int j = (int)(c - b * n);
    // What begins below row j leaves the column as it is.
    int last = j < most ? j : most - 1;
    T *column = all + c * m;
    const T *v = packed + b * n * m, *factors = tau + b * most;
    if (m <= 64) column_in_registers<64 / WARP>(column, v, factors, j, m, last);
    else if (m <= 128) column_in_registers<128 / WARP>(column, v, factors, j, m, last);
    else if (m <= 256) column_in_registers<256 / WARP>(column, v, factors, j, m, last);
    else column_in_memory(column, v, factors, j, m, last);
  }
}
#define PARAMETERS(T) (T *q, const T *packed, const T *tau, i64 cols, i64 count, i64 rows, i64 reflectors)
KERNEL_OF_WARPS(COLUMN_WARPS, 2, long_columns_of_q, PARAMETERS, (q, packed, tau, cols, count, rows, reflectors))
#undef PARAMETERS
