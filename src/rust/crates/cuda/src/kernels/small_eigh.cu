// Eigenvalues of Hermitian matrices of up to N rows, N threads each, by one-sided Jacobi: a thread has a column of A + c I,
// c being so much that all eigenvalues are positive; rotations W make the columns orthogonal. Then they are W times the
// eigenvalues of A + c I, and W has the eigenvectors of A. The eigenvalues are Rayleigh quotients with A itself, so that
// those of a diagonal matrix are exact. Rounding is that of c, which is 1.25 times a norm of A.
template <int N, class T>
__device__ void small_eigh(const T *from, T *to, Real<T> *all_values, int *info, i64 count, i64 rows, i64 lower) {
  typedef Real<T> R;
  int n = (int)rows, lane = lane_of<N>();
  EACH_SMALL(b, there) {
    const T *a = from + (there ? b : 0) * n * n;
    T x[N];
    R most = 0;
    bool mine = there && lane < n;
    EACH_OF_N(i) {
      T value = T();
      bool stored = lower ? i >= lane : i <= lane;
      if (mine && i < n) value = stored ? a[i + lane * n] : conj(a[lane + i * n]);
      most = larger(most, value);
      if (i == lane) set_real(x[i], real_of(value));
      else x[i] = value;
    }
    most = largest_of_group<N>(most);
    bool finite = is_finite(most);
    int power = power_in(most);
    R longest = 0, squares = 0;
    EACH_OF_N(i) {
      x[i] = finite ? scaled(x[i], -power) : T();
      longest += size_of(x[i]), squares += square(x[i]);
    }
    // Two bounds of the norm.
    longest = largest_of_group<N>(longest), squares = sqrt(sum_of_group<N>(squares));
    R shift = longest < squares ? longest : squares;
    shift = shift > R(0) ? R(1.25) * shift : R(1);
    T shifted;
    set_real(shifted, shift);
    EACH_OF_N(i) if (mine && i == lane) x[i] = plus(x[i], shifted, one_of(T()));
    bool failed = !orthogonal(x, x, false, n) || !finite;
    squares = 0;
    EACH_OF_N(i) squares += square(x[i]);
    squares = sqrt(squares);
    T ahead[N];
    EACH_OF_N(i) ahead[i] = x[i] = mine ? over(x[i], squares) : T();
    R value = 0;
    LOOP (int k = 0; k < n; k++) {
      T product = T(), own;
      EACH_OF_N(i) {
        bool stored = lower ? i > k : i < k;
        if (mine && stored && i < n) product = plus(product, conj(x[i]), scaled(a[i + k * n], -power));
      }
      set_real(own, there ? real_of(scaled(a[k + k * n], -power)) : R(0));
      value += real_of(plus(plus(T(), own, times(square(ahead[0]), one_of(T()))), times(R(2), product), ahead[0]));
      next_step(ahead);
    }
    int place = 0;
    LOOP (int k = 0; k < n; k++) {
      R other = from_lane<N>(value, k);
      place += other < value || (other == value && k < lane);
    }
    if (failed) set_nan(value), place = lane;
    else value = scaled(value, power);
    if (!mine) continue;
    all_values[b * n + place] = value;
    T *column = to + (b * n + place) * n;
    EACH_OF_N(i) {
      if (failed) set_nan(x[i]);
      if (i < n) column[i] = x[i];
    }
    if (info && lane == 0) info[b] = finite ? failed ? n + 1 : 0 : NOT_FINITE;
  }
}
#define small_eigh_PARAMETERS(T) \
  (const T *from, T *to, Real<T> *values, int *info, i64 count, i64 rows, i64 lower)
#define small_eigh_ARGUMENTS (from, to, values, info, count, rows, lower)
