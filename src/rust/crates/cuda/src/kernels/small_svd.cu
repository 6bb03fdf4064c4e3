// Singular values as jacobi.cu has them, of matrices of up to N rows and columns, N threads each. A thread has a column.

// A packed QR factorisation with its columns in the order in which pivoting took them, in shared memory: reflector k,
// I - gain v v^H, has v from row k on, above it is R, whose diagonal is turn times size.
template <int N, class T> struct Packed {
  T columns[N][N + 1], turn[N];
  Real<T> gain[N], size[N];
  int order[N];
};

// Of a matrix with `rows` and `cols`.
template <int N, class T> __device__ inline void small_factor(T (&x)[N], int rows, int cols, Packed<N, T> &to) {
  typedef Real<T> R;
  int lane = lane_of<N>(), taken = lane;
  T own_head = T();
  R squares = 0;
  EACH_OF_N(i) squares += square(x[i]);
  if (lane >= cols) squares = -1;
  // What was there has been read.
  __syncwarp();
  LOOP (int k = 0; k < N; k++) {
    if (k < cols) {
      R best = squares;
      int place = lane, at = lane_of_largest<N>(best, place);
      T v[N], product = T();
      column_of(v, x, at, N - k);
      R norm = sqrt(best), size = modulus(v[0]);
      bool is = best > nothing_of(best), alone = k + 1 == rows;
      // The first number's sign; of one that vanishes beside the others it does not matter.
      T sign = is && size > epsilon_of(size) * norm ? over(v[0], size) : one_of(T());
      v[0] = times(size + norm, sign);
      R gain = is && !alone ? R(1) / (norm * (norm + size)) : R(0);
      bool here = lane == at, open = squares >= R(0) && !here;
      if (here) {
        taken = k, own_head = v[0];
        to.order[k] = lane, to.gain[k] = gain, to.size[k] = norm, to.turn[k] = times(R(alone ? 1 : -1), sign);
      }
      EACH_OF_N(i) product = plus(product, conj(v[i]), x[i]);
      product = times(gain, product);
      squares = 0;
      EACH_OF_N(i) {
        if (open) x[i] = minus(x[i], v[i], product);
        if (i > 0 && i < N - k) squares += square(x[i]);
      }
      if (!open) squares = -1;
    }
    next_step(x);
  }
  EACH_OF_N(i) to.columns[taken][i] = lane >= cols ? T() : i == taken ? own_head : x[i];
  __syncwarp();
}

// Applies the first `count` reflectors, the last one first, to a column.
template <int N, class T> __device__ inline void small_reflect(const Packed<N, T> &f, int count, T (&x)[N]) {
  LOOP (int k = count - 1; k >= 0; k--) {
    T v[N], product = T();
    EACH_OF_N(i) {
      v[i] = i >= k ? f.columns[k][i] : T();
      product = plus(product, conj(v[i]), x[i]);
    }
    product = times(f.gain[k], product);
    EACH_OF_N(i) x[i] = minus(x[i], v[i], product);
  }
}

template <int N, class T>
__device__ void small_svd(const T *all, Real<T> *all_values, T *all_u, T *all_v, int *info, i64 count, i64 rows,
                          i64 cols, i64 vectors, i64 full, i64 adjoint) {
  typedef Real<T> R;
  extern __shared__ double memory[];
  Packed<N, T> &f = ((Packed<N, T> *)memory)[threadIdx.x / N];
  bool wide = rows < cols;
  int m = (int)(wide ? cols : rows), n = (int)(wide ? rows : cols), length = full ? m : n, lane = lane_of<N>();
  int u_size = (int)rows * (wide ? n : length), v_size = (int)cols * (wide ? length : n);
  int down = wide ? n : 1, right = wide ? 1 : m;
  EACH_SMALL(b, there) {
    const T *a = all + (there ? b : 0) * m * n;
    T x[N], w[N];
    R most = 0;
    EACH_OF_N(i) {
      x[i] = there && lane < n && i < m ? a[i * down + lane * right] : T();
      most = larger(most, x[i]);
      if (wide) x[i] = conj(x[i]);
      w[i] = i == lane ? one_of(T()) : T();
    }
    most = largest_of_group<N>(most);
    bool finite = is_finite(most);
    int power = power_in(most);
    EACH_OF_N(i) x[i] = finite ? scaled(x[i], -power) : T();
    small_factor(x, m, n, f);
    int moved = lane < n ? f.order[lane] : lane;
    EACH_OF_N(i) {
      x[i] = T();
      if (i < n && i > lane) x[i] = conj(f.columns[i][lane]);
      if (i < n && i == lane) x[i] = conj(times(f.size[i], f.turn[i]));
    }
    bool failed = !orthogonal(x, w, vectors, n) || !finite;
    if (vectors) small_reflect(f, n, w);
    small_factor(x, n, n, f);
    // The singular value of this lane, and the place of its long vector.
    R value = lane < n ? f.size[0] : R(0);
    int place = lane;
    LOOP (int i = 0; i < n; i++) {
      if (i <= lane) value = f.size[i] < value ? f.size[i] : value;
      if (f.order[i] == lane) place = i;
    }
    value = scaled(value, power);
    if (failed) set_nan(value);
    if (there && lane < n) all_values[b * n + lane] = value;
    if (vectors) {
      EACH_OF_N(i) x[i] = i == lane && lane < n ? f.turn[i] : T();
      small_reflect(f, n, x);
      T *u = all_u + b * u_size, *v = all_v + b * v_size;
      Places<T> longs(wide ? v : u, m, length, wide && adjoint), shorts(wide ? u : v, n, n, !wide && adjoint);
      EACH_OF_N(i) {
        int row = from_lane<N>(moved, i);
        if (failed) set_nan(w[i]), set_nan(x[i]);
        if (there && lane < length && i < m) longs.put(i, place, w[i]);
        if (there && lane < n && i < n) shorts.put(row, lane, x[i]);
      }
    }
    if (info && there && lane == 0) info[b] = finite ? failed ? n + 1 : 0 : NOT_FINITE;
  }
}
#define small_svd_PARAMETERS(T) \
  (const T *a, Real<T> *s, T *u, T *v, int *info, i64 count, i64 rows, i64 cols, i64 vectors, i64 full, i64 adjoint)
#define small_svd_ARGUMENTS (a, s, u, v, info, count, rows, cols, vectors, full, adjoint)
