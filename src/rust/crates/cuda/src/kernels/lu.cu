// LU factorisation with partial pivoting, a block of threads for each matrix, by panels as LAPACK's getrf: some columns
// are factored with a thread for each row, rows of the other columns are exchanged as the panel's were, and what is
// right of the panel and below it is updated with all of the panel at once. As in getf2, the first of the largest
// elements is the pivot, and a column without one is noted in `info` and passed over.

// Rows of a panel that a thread has: a block has as many threads as there are rows, up to 512.
#define ROWS (32 / WARP)
#define EACH_OWN(r) _Pragma("unroll") for (int r = 0; r < ROWS; r++)
// Numbers of a row and of a column that a thread updates at a time.
#define TILE 4
// Columns whose rows a warp exchanges at a time.
#define EXCHANGES 4

// Most columns of a panel: so many numbers has a thread in registers. Their rows in U are a warp's threads.
template <class T> struct Panel {
  static const int most = 32;
};
template <> struct Panel<Complex<double>> {
  static const int most = 16;
};
#define EACH_OF_WARP(p, s, width) \
  _Pragma("unroll") for (int p = 0, s = (int)threadIdx.x; p * WARP < Panel<T>::most; p++, s += WARP) if (s < (width))

// Numbers side by side that are read at once.
template <class T> struct alignas(16) Four {
  T of[TILE];
};

// From one row of U to the next: rows begin where four numbers can be read at once, in different banks.
__device__ inline int stride_of(int cols) { return (cols + 7) / 8 * 8 + 4; }

// The pivot among the rows of the panel that are open: its place, or that of the first row where all are zero.
// `divides`: whether they are not. Threads meet in it.
template <class R, class T>
__device__ inline int find_pivot(const T (&x)[ROWS], const bool (&open)[ROWS], const int (&place)[ROWS], int height,
                                 R *sizes, int *places, bool &divides) {
  R best = 0;
  int at = height;
  EACH_OWN(r) if (open[r]) {
    // NaN, which comes of numbers beyond all numbers, is as good as zero.
    R size = size_of(x[r]);
    size = size > R(0) ? size : R(0);
    if (size > best || (size == best && place[r] < at)) best = size, at = place[r];
  }
  R most = largest_of_lanes(best);
  at = least_of_lanes(best == most ? at : height);
  if (threadIdx.x == 0) sizes[threadIdx.y] = most, places[threadIdx.y] = at;
  __syncthreads();
  best = 0, at = height;
  LOOP (int i = 0; i < (int)blockDim.y; i += 4) _Pragma("unroll") for (int j = i; j < i + 4; j++) {
    // Those of warps that there are not are as those of a warp without rows.
    R size = sizes[j];
    int where = places[j];
    if (size > best || (size == best && where < at)) best = size, at = where;
  }
  divides = best > R(0);
  return at;
}

// Factors the panel, of which the threads have the rows; `place` becomes where they are to be, `rows_of` which row each
// of the first ones was exchanged with. Column k is at x[][0] in step k. Those of L are in the panel then, those of U in
// `pivot_rows`, from their pivots on. Gives the first column without a pivot, counted from 1, or 0. Threads meet in it.
template <class T>
__device__ inline int factor_rows(T (&x)[ROWS][Panel<T>::most], int (&place)[ROWS], T *panel, int height, int width,
                                  T *pivot_rows, int *rows_of) {
  const int N = Panel<T>::most;
  SHARED Real<T> sizes[WARPS];
  SHARED int places[WARPS];
  int thread = (int)(threadIdx.y * WARP + threadIdx.x), threads = (int)blockDim.y * WARP, zero = 0;
  bool open[ROWS];
  EACH_OWN(r) place[r] = thread + r * threads, open[r] = place[r] < height;
  if (thread == 0) LOOP (int i = (int)blockDim.y; i < WARPS; i++) sizes[i] = 0, places[i] = height;
  LOOP (int k = 0; k < width; k++) {
    T first[ROWS], *pivot_row = pivot_rows + k * N;
    EACH_OWN(r) first[r] = x[r][0];
    bool divides;
    int pivot = find_pivot(first, open, place, height, sizes, places, divides);
    if (!divides && !zero) zero = k + 1;
    EACH_OWN(r) {
      bool chosen = open[r] && place[r] == pivot;
      if (chosen) _Pragma("unroll") for (int c = 0; c < N; c++) pivot_row[c] = x[r][c];
      if (place[r] == k) place[r] = pivot;
      if (chosen) place[r] = k, open[r] = false;
    }
    if (thread == 0) rows_of[k] = pivot;
    __syncthreads();
    Divisor<T> quotient(pivot_row[0]);
    EACH_OWN(r) {
      // Of rows that are chosen what is here is not used any more. They have no zeros to divide, which takes longer.
      T factor = divides ? quotient(open[r] ? first[r] : pivot_row[0]) : T();
      if (open[r]) panel[thread + r * threads + k * height] = divides ? factor : first[r];
      _Pragma("unroll") for (int p = 0; p < N / TILE; p++) {
        Four<T> row = ((const Four<T> *)pivot_row)[p];
        _Pragma("unroll") for (int q = p > 0 ? 0 : 1; q < TILE; q++)
          x[r][p * TILE + q - 1] = minus(x[r][p * TILE + q], factor, row.of[q]);
      }
    }
  }
  return zero;
}

// By a warp: exchanges the first rows of some columns with those that the pivots were in. `order` has for each of the
// first places the row that comes there, `places` for each of the first rows where it goes. Columns up to `first` are
// left of the panel; what comes to the first places of the others goes to U.
template <class T>
__device__ inline void exchange(T *corner, i64 rows, int left, int first, int n, int width, const int *order,
                                const int *places, T *upper, int stride) {
  const int P = (Panel<T>::most + WARP - 1) / WARP;
  T top[EXCHANGES][P], below[EXCHANGES][P];
  _Pragma("unroll") for (int q = 0; q < EXCHANGES; q++) {
    int c = left + q, j = c < first ? c - first : c - first + width;
    const T *column = corner + j * rows;
    if (c < n - width) EACH_OF_WARP(p, s, width) {
      top[q][p] = column[order[s]];
      below[q][p] = column[s];
    }
  }
  __syncwarp();
  _Pragma("unroll") for (int q = 0; q < EXCHANGES; q++) {
    int c = left + q, j = c < first ? c - first : c - first + width;
    T *column = corner + j * rows;
    if (c < n - width) EACH_OF_WARP(p, s, width) {
      if (c < first) column[s] = top[q][p];
      else upper[s * stride + c - first] = top[q][p];
      if (places[s] >= width) column[places[s]] = below[q][p];
    }
  }
}

// By a thread: a column of U from the panel's triangle.
template <class T> __device__ inline void solve(const T *panel, int height, int width, T *upper, int stride) {
  const int N = Panel<T>::most;
  T x[N];
  _Pragma("unroll") for (int i = 0; i < N; i++) x[i] = i < width ? upper[i * stride] : T();
  LOOP (int k = 0; k < width; k++) {
    const T *l = panel + k + k * height;
    upper[k * stride] = x[0];
    // Behind the triangle are numbers that are not used, at the end those behind the panel.
    T above = x[0];
    _Pragma("unroll") for (int i = 1; i < N; i++) x[i - 1] = minus(x[i], i < width ? l[i] : T(), above);
  }
}

// Rows below the panel less the panel times U. `corner` is where U is to be. A warp has tiles of TILE columns and TILE
// rows for each thread.
template <class T>
__device__ inline void update(T *corner, i64 rows, const T *panel, int height, int width, const T *upper, int stride,
                              int cols) {
  int down = (height - width + TILE * WARP - 1) / (TILE * WARP), right = (cols + TILE - 1) / TILE;
  LOOP (int tile = (int)threadIdx.y; tile < down * right; tile += (int)blockDim.y) {
    int top = width + tile % down * (TILE * WARP) + (int)threadIdx.x, left = tile / down * TILE;
    T sums[TILE][TILE] = {};
    const T *l[TILE];
    _Pragma("unroll") for (int p = 0; p < TILE; p++) {
      int i = top + p * WARP;
      l[p] = panel + (i < height ? i : width);
    }
    _Pragma("unroll 2") for (int k = 0; k < width; k++) {
      Four<T> u = *(const Four<T> *)(upper + k * stride + left);
      _Pragma("unroll") for (int p = 0; p < TILE; p++) {
        T factor = l[p][k * height];
        _Pragma("unroll") for (int q = 0; q < TILE; q++) sums[p][q] = plus(sums[p][q], factor, u.of[q]);
      }
    }
    T *to = corner + top + left * rows;
    _Pragma("unroll") for (int half = 0; half < TILE; half += 2) {
      T old[TILE][2];
      _Pragma("unroll") for (int q = 0; q < 2; q++) _Pragma("unroll") for (int p = 0; p < TILE; p++)
        if (left + half + q < cols && top + p * WARP < height) old[p][q] = to[p * WARP + (half + q) * rows];
      _Pragma("unroll") for (int q = 0; q < 2; q++) _Pragma("unroll") for (int p = 0; p < TILE; p++)
        if (left + half + q < cols && top + p * WARP < height)
          to[p * WARP + (half + q) * rows] = difference(old[p][q], sums[p][half + q]);
    }
  }
}

// Columns from `first` on, and all that they change. Gives the first column without a pivot, counted from 1, or 0.
template <class T>
__device__ inline int factor_panel(T *corner, i64 rows, int first, int height, int n, int width, T *panel, T *upper,
                                   T *pivot_rows, int *order, int *places, int *rows_of) {
  int thread = (int)(threadIdx.y * WARP + threadIdx.x), threads = (int)blockDim.y * WARP;
  int right = n - first - width, stride = stride_of(right);
  T x[ROWS][Panel<T>::most];
  int place[ROWS];
  EACH_OWN(r) _Pragma("unroll") for (int c = 0; c < Panel<T>::most; c++) {
    int row = thread + r * threads;
    x[r][c] = c < width && row < height ? corner[row + c * rows] : T();
  }
  int zero = factor_rows(x, place, panel, height, width, pivot_rows, rows_of);
  // A thread's own row, to its place: up to the diagonal it is in the panel, from there on in the pivots' rows.
  EACH_OWN(r) _Pragma("unroll") for (int c = 0; c < Panel<T>::most; c++) {
    int row = thread + r * threads;
    int above = place[r] * Panel<T>::most + c - place[r], below = (int)(panel - pivot_rows) + row + c * height;
    if (c < width && row < height) x[r][c] = pivot_rows[c < place[r] ? below : above];
  }
  __syncthreads();
  EACH_OWN(r) if (place[r] < height) {
    int row = thread + r * threads;
    if (place[r] < width) order[place[r]] = row;
    if (row < width) places[row] = place[r];
    _Pragma("unroll") for (int c = 0; c < Panel<T>::most; c++)
      if (c < width) corner[place[r] + c * rows] = panel[place[r] + c * height] = x[r][c];
  }
  __syncthreads();
  LOOP (int c = (int)threadIdx.y * EXCHANGES; c < n - width; c += (int)blockDim.y * EXCHANGES)
    exchange(corner, rows, c, first, n, width, order, places, upper, stride);
  __syncthreads();
  LOOP (int c = thread; c < right; c += threads) solve(panel, height, width, upper + c, stride);
  __syncthreads();
  EACH_COLUMN(c, right) EACH_OF_WARP(p, s, width) corner[s + (width + c) * rows] = upper[s * stride + c];
  update(corner + width * rows, rows, panel, height, width, upper, stride, right);
  __syncthreads();
  return zero;
}

// Shared memory: the pivots' rows in a panel, its columns, what is behind them, as many rows of U, three integers for
// each of its columns.
template <class T> __device__ void lu(T *all, int *pivots, int *info, i64 count, i64 rows, i64 cols, i64 most) {
  SHARED_MEMORY;
  int m = (int)rows, n = (int)cols, rank = m < n ? m : n;
  T *pivot_rows = (T *)memory, *panel = pivot_rows + Panel<T>::most * most, *upper = panel + m * most + Panel<T>::most;
  int *order = (int *)(upper + most * stride_of(n)), *places = order + most, *rows_of = places + most;
  LOOP (i64 b = blockIdx.x; b < count; b += gridDim.x) {
    T *a = all + b * m * n;
    bool finite = is_finite(largest_of_block(largest_of(a, m * n)));
    int zero = 0;
    // What is not finite becomes NaN, its pivots 1, 2, ….
    if (!finite) {
      EACH_OF(e, m * n) set_nan(a[e]);
      EACH_OF(i, rank) pivots[b * rank + i] = i + 1;
    }
    LOOP (int first = 0; finite && first < rank; first += (int)most) {
      int width = rank - first < most ? rank - first : (int)most;
      T *corner = a + first + first * rows;
      int none = factor_panel(corner, rows, first, m - first, n, width, panel, upper, pivot_rows, order, places,
                              rows_of);
      if (none && !zero) zero = first + none;
      EACH_OF(k, width) pivots[b * rank + first + k] = first + rows_of[k] + 1;
      __syncthreads();
    }
    if (info && threadIdx.x == 0 && threadIdx.y == 0) info[b] = zero;
    __syncthreads();
  }
}
#define PARAMETERS(T) (T *a, int *pivots, int *info, i64 count, i64 rows, i64 cols, i64 most)
KERNEL_OF_WARPS(WARPS, 1, lu, PARAMETERS, (a, pivots, info, count, rows, cols, most))
#undef PARAMETERS
