// The columns of Q as columns_of_q has them, a warp for each: for reflectors that are long.

template <class T>
__device__ void long_columns_of_q(T *all, const T *packed, const T *tau, i64 cols, i64 count, i64 rows,
                                  i64 reflectors) {
  int m = (int)rows, n = (int)cols, most = (int)reflectors;
  LOOP (i64 c = (i64)blockIdx.x * blockDim.y + threadIdx.y; c < count * n; c += (i64)gridDim.x * blockDim.y) {
    i64 b = c / n;
    int j = (int)(c - b * n);
    T *column = all + c * m;
    EACH_ROW(i, 0, m) column[i] = i == j ? one_of(T()) : T();
    // What begins below row j leaves the column as it is.
    LOOP (int k = j < most ? j : most - 1; k >= 0; k--) {
      const T *v = packed + (b * n + k) * m;
      T product = T();
      EACH_ROW(i, k, m) product = plus(product, i == k ? one_of(T()) : conj(v[i]), column[i]);
      product = plus(T(), tau[b * most + k], sum_of_lanes(product));
      EACH_ROW(i, k, m) column[i] = minus(column[i], i == k ? one_of(T()) : v[i], product);
    }
  }
}
#define PARAMETERS(T) (T *q, const T *packed, const T *tau, i64 cols, i64 count, i64 rows, i64 reflectors)
BLOCK_KERNEL(long_columns_of_q, PARAMETERS, (q, packed, tau, cols, count, rows, reflectors))
#undef PARAMETERS
