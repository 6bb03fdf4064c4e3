// QR factorisation as qr.cu has it, and the columns of Q, of matrices of up to N rows and columns, N threads each. A
// thread has a column.
template <int N, class T> __device__ void small_qr(const T *from, T *to, T *taus, i64 count, i64 rows, i64 cols) {
  typedef Real<T> R;
  int m = (int)rows, n = (int)cols, rank = m < n ? m : n, lane = lane_of<N>();
  EACH_SMALL(b, there) {
    const T *a = from + (there ? b : 0) * m * n;
    T x[N];
    bool mine = there && lane < n;
    R most = 0;
    EACH_OF_N(i) {
      x[i] = mine && i < m ? a[i + lane * m] : T();
      most = larger(most, x[i]);
    }
    bool finite = is_finite(largest_of_group<N>(most));
    T own_tau = T();
    LOOP (int k = 0; k < N; k++) {
      if (k < rank) {
        T v[N];
        column_of(v, x, k, N - k);
        T alpha = v[0];
        R sum = 0;
        _Pragma("unroll") for (int i = 1; i < N; i++) sum += square(v[i]);
        bool safe = sum >= least_of(R()) && sum + square(alpha) <= most_of(R()), moves = true;
        int power = 0;
        if (__any_sync(EVERY, !safe)) {
          // As larfg has it, there is nothing to do; otherwise the column is scaled for its squares.
          R below = 0;
          _Pragma("unroll") for (int i = 1; i < N; i++) below = larger(below, v[i]);
          moves = below != R(0) || imaginary_of(alpha) != R(0);
          power = safe ? 0 : power_in(larger(below, alpha));
          alpha = scaled(alpha, -power), sum = 0;
          _Pragma("unroll") for (int i = 1; i < N; i++) v[i] = scaled(v[i], -power), sum += square(v[i]);
        }
        R beta = -copysign(sqrt(sum + square(alpha)), real_of(alpha));
        T made, factor, product = x[0];
        reflection(alpha, beta, made, factor);
        _Pragma("unroll") for (int i = 1; i < N; i++) {
          v[i] = plus(T(), v[i], factor);
          product = plus(product, conj(v[i]), x[i]);
        }
        product = plus(T(), conj(made), product);
        bool after = moves && lane > k, here = moves && lane == k;
        if (after) x[0] = difference(x[0], product);
        if (here) set_real(x[0], scaled(beta, power)), own_tau = made;
        _Pragma("unroll") for (int i = 1; i < N; i++) {
          if (after) x[i] = minus(x[i], v[i], product);
          if (here && i < N - k) x[i] = v[i];
        }
      }
      next_step(x);
    }
    if (!finite) {
      EACH_OF_N(i) set_nan(x[i]);
      set_nan(own_tau);
    }
    if (!there) continue;
    T *result = to + b * m * n;
    EACH_OF_N(i) if (mine && i < m) result[i + lane * m] = x[i];
    if (lane < rank) taus[b * rank + lane] = own_tau;
  }
}
#define small_qr_PARAMETERS(T) (const T *from, T *to, T *taus, i64 count, i64 rows, i64 cols)
#define small_qr_ARGUMENTS (from, to, taus, count, rows, cols)

// From the reflectors, which have a 1 that is not stored, and zeros above. NaN or an infinity in their columns or
// in `taus` makes all of Q NaN.
template <int N, class T>
__device__ void small_q(const T *from, T *to, const T *taus, i64 count, i64 rows, i64 cols, i64 reflectors) {
  typedef Real<T> R;
  int m = (int)rows, n = (int)cols, most = (int)reflectors, lane = lane_of<N>();
  EACH_SMALL(b, there) {
    const T *a = from + (there ? b : 0) * m * n;
    T reflector[N], x[N];
    bool given = there && lane < most;
    T tau = given ? taus[b * most + lane] : T();
    R size = larger(R(0), tau);
    EACH_OF_N(i) {
      T value = given && i < m ? a[i + lane * m] : T();
      size = larger(size, value);
      reflector[i] = i > lane ? value : i == lane ? one_of(T()) : T();
      x[i] = i == lane ? one_of(T()) : T();
    }
    bool finite = is_finite(largest_of_group<N>(size));
    LOOP (int k = most - 1; k >= 0; k--) {
      T v[N], product = T();
      EACH_OF_N(i) {
        v[i] = from_lane<N>(reflector[i], k);
        product = plus(product, conj(v[i]), x[i]);
      }
      product = plus(T(), from_lane<N>(tau, k), product);
      EACH_OF_N(i) x[i] = minus(x[i], v[i], product);
    }
    if (!there || lane >= n) continue;
    T *column = to + b * m * n + lane * m;
    EACH_OF_N(i) {
      if (!finite) set_nan(x[i]);
      if (i < m) column[i] = x[i];
    }
  }
}
#define small_q_PARAMETERS(T) \
  (const T *from, T *to, const T *taus, i64 count, i64 rows, i64 cols, i64 reflectors)
#define small_q_ARGUMENTS (from, to, taus, count, rows, cols, reflectors)
