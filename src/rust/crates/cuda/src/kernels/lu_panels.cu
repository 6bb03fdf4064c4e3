// LU factorisation by panels, as LAPACK's getrf, for matrices that are larger than shared memory: some columns are
// factored there, rows of the others are exchanged as the panel's were, and what is right of the panel and below it is
// updated with all of it at once.

// Most columns of a panel: rows of its triangle are a warp's threads.
#define PANEL 32
// Numbers of a row and of a column that a thread updates at a time.
#define TILE 4

// Exchanges the first rows of a column with those that the panel's pivots were in. `order` has for each row which one
// comes there, `rows_of` for each of the panel's columns its pivot's row. `upper` becomes the first rows.
template <class T>
__device__ inline void exchange(T *column, const int *order, const int *rows_of, int width, T (&upper)[PANEL / WARP]) {
  T lower[PANEL / WARP];
  _Pragma("unroll") for (int p = 0, s = (int)threadIdx.x; p < PANEL / WARP; p++, s += WARP) if (s < width) {
    upper[p] = column[order[s]];
    lower[p] = column[order[rows_of[s]]];
  }
  __syncwarp();
  // A row that is met twice gets the same number twice.
  _Pragma("unroll") for (int p = 0, s = (int)threadIdx.x; p < PANEL / WARP; p++, s += WARP) if (s < width) {
    column[s] = upper[p];
    column[rows_of[s]] = lower[p];
  }
}

// By a warp: the first rows of a column of U, from the panel's triangle.
template <class T>
__device__ inline void solve(const T *panel, int height, int width, T (&upper)[PANEL / WARP]) {
  LOOP (int k = 0; k < width; k++) {
    T above = T();
    _Pragma("unroll") for (int p = 0; p < PANEL / WARP; p++) if (p == k / WARP) above = upper[p];
    above = from_thread(above, k % WARP);
    _Pragma("unroll") for (int p = 0, s = (int)threadIdx.x; p < PANEL / WARP; p++, s += WARP)
      if (s > k && s < width) upper[p] = minus(upper[p], panel[s + k * height], above);
  }
}

// Rows below the panel less the panel times `upper`, which has `width` rows of U; the first row of each column of `a` is
// the panel's. A warp has tiles of TILE columns and TILE rows for each thread.
template <class T>
__device__ inline void update(T *a, int rows, const T *panel, int height, int width, const T *upper, int cols) {
  int down = (height - width + TILE * WARP - 1) / (TILE * WARP), right = (cols + TILE - 1) / TILE;
  LOOP (int tile = (int)threadIdx.y; tile < down * right; tile += (int)blockDim.y) {
    int top = width + tile % down * (TILE * WARP) + (int)threadIdx.x, left = tile / down * TILE;
    T sums[TILE][TILE] = {};
    LOOP (int k = 0; k < width; k++) {
      T l[TILE];
      _Pragma("unroll") for (int p = 0; p < TILE; p++) {
        int i = top + p * WARP;
        l[p] = panel[(i < height ? i : top < height ? top : 0) + k * height];
      }
      _Pragma("unroll") for (int q = 0; q < TILE; q++) {
        T u = upper[k + (left + q < cols ? left + q : left) * width];
        _Pragma("unroll") for (int p = 0; p < TILE; p++) sums[p][q] = plus(sums[p][q], l[p], u);
      }
    }
    _Pragma("unroll") for (int q = 0; q < TILE; q++) _Pragma("unroll") for (int p = 0; p < TILE; p++) {
      int i = top + p * WARP, j = left + q;
      if (i < height && j < cols) a[i + (i64)j * rows] = difference(a[i + (i64)j * rows], sums[p][q]);
    }
  }
}

// Shared memory: the panel of `width` columns, as many rows of U, and two integers for each row.
template <class T>
__device__ void lu_panels(T *all, int *pivots, int *info, i64 count, i64 rows, i64 cols, i64 width) {
  extern __shared__ double memory[];
  int m = (int)rows, n = (int)cols, rank = m < n ? m : n;
  T *panel = (T *)memory, *upper = panel + m * width;
  int *order = (int *)(upper + width * n), *rows_of = order + m;
  LOOP (i64 b = blockIdx.x; b < count; b += gridDim.x) {
    T *a = all + b * m * n;
    Real<T> most = 0;
    EACH_OF(e, m * n) most = larger(most, a[e]);
    bool finite = is_finite(largest_of_block(most));
    int zero = 0;
    if (!finite) no_factors(a, m * n, pivots + b * rank, rank);
    LOOP (int first = 0; finite && first < rank; first += (int)width) {
      int w = rank - first < width ? rank - first : (int)width, height = m - first, right = n - first - w;
      T *corner = a + first + (i64)first * m;
      EACH_COLUMN(j, w) EACH_ROW(i, 0, height) panel[i + j * height] = corner[i + (i64)j * m];
      int none = factor_columns(panel, height, w, w, rows_of, 0);
      if (none && !zero) zero = first + none;
      EACH_OF(i, height) order[i] = i;
      EACH_OF(k, w) pivots[b * rank + first + k] = first + rows_of[k] + 1;
      EACH_COLUMN(j, w) EACH_ROW(i, 0, height) corner[i + (i64)j * m] = panel[i + j * height];
      __syncthreads();
      if (threadIdx.x == 0 && threadIdx.y == 0) LOOP (int k = 0; k < w; k++) {
        int other = order[rows_of[k]];
        order[rows_of[k]] = order[k];
        order[k] = other;
      }
      __syncthreads();
      EACH_COLUMN(c, n - w) {
        int j = c < first ? c : c + w;
        T *column = a + first + (i64)j * m, x[PANEL / WARP] = {};
        exchange(column, order, rows_of, w, x);
        if (c < first) continue;
        solve(panel, height, w, x);
        _Pragma("unroll") for (int p = 0, s = (int)threadIdx.x; p < PANEL / WARP; p++, s += WARP)
          if (s < w) column[s] = upper[s + (c - first) * w] = x[p];
      }
      __syncthreads();
      update(corner + (i64)w * m, m, panel, height, w, upper, right);
      __syncthreads();
    }
    if (info && threadIdx.x == 0 && threadIdx.y == 0) info[b] = zero;
    __syncthreads();
  }
}
#define PARAMETERS(T) (T *a, int *pivots, int *info, i64 count, i64 rows, i64 cols, i64 width)
KERNEL_OF_WARPS(WARPS, 1, lu_panels, PARAMETERS, (a, pivots, info, count, rows, cols, width))
#undef PARAMETERS
