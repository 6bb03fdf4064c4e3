// LU factorisation as lu.cu has it, of matrices of up to N rows and columns, N threads each. A thread has a row, which
// stays where it is: only its place changes.
template <int N, class T>
__device__ void small_lu(const T *from, T *to, int *pivots, int *info, i64 count, i64 rows, i64 cols) {
  typedef Real<T> R;
  int m = (int)rows, n = (int)cols, rank = m < n ? m : n, lane = lane_of<N>();
  EACH_SMALL(b, there) {
    const T *a = from + (there ? b : 0) * m * n;
    T x[N];
    bool mine = there && lane < m, open = mine;
    R most = 0;
    EACH_OF_N(j) {
      x[j] = mine && j < n ? a[lane + j * m] : T();
      most = larger(most, x[j]);
    }
    bool finite = is_finite(largest_of_group<N>(most));
    int place = lane, zero = 0;
    EACH_OF_N(k) {
      if (k >= rank) continue;
      // NaN, which comes of numbers beyond all numbers, is as good as zero.
      R size = size_of(x[k]), best = !open ? R(-1) : size > R(0) ? size : R(0);
      int where = place, at = lane_of_largest<N>(best, where);
      T pivot = from_lane<N>(x[k], at);
      bool divides = best > R(0);
      if (!divides && !zero) zero = k + 1;
      if (place == k) place = where;
      if (lane == at) {
        place = k, open = false;
        if (there && finite) pivots[b * rank + k] = where + 1;
      }
      bool moves = open && divides;
      if (moves) x[k] = Divisor<T>(pivot)(x[k]);
      _Pragma("unroll") for (int j = k + 1; j < N; j++) {
        T value = minus(x[j], x[k], from_lane<N>(x[j], at));
        if (moves) x[j] = value;
      }
    }
    if (!there) continue;
    if (!finite) {
      EACH_OF_N(j) set_nan(x[j]);
      place = lane, zero = 0;
      if (lane < rank) pivots[b * rank + lane] = lane + 1;
    }
    T *result = to + b * m * n;
    EACH_OF_N(j) if (mine && j < n) result[place + j * m] = x[j];
    if (info && lane == 0) info[b] = zero;
  }
}
#define small_lu_PARAMETERS(T) (const T *from, T *to, int *pivots, int *info, i64 count, i64 rows, i64 cols)
#define small_lu_ARGUMENTS (from, to, pivots, info, count, rows, cols)
