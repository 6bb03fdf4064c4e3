// Hermitian eigenvalues, first step: A becomes a real tridiagonal matrix by Householder reflections from both sides, as
// LAPACK's hetd2 has them: with H = 1 - tau v v^H, H^H A H is A - v w^H - w v^H. And the last step: vectors of that
// matrix become those of A.

#define UNROLL _Pragma("unroll") for

template <class R> __device__ inline R from_other(R x, int with) { return __shfl_xor_sync(0xffffffffu, x, with); }
template <class R> __device__ inline Complex<R> from_other(Complex<R> x, int with) {
  return {from_other(x.re, with), from_other(x.im, with)};
}
// Of `lanes` threads side by side.
template <int lanes, class T> __device__ inline T sum_of(T x) {
  UNROLL (int i = lanes / 2; i > 0; i /= 2) x = sum(x, from_other(x, i));
  return x;
}

// Columns that a warp has at a time.
#define TOGETHER 4

// The sums over a warp of four numbers each: `put(c, sum)` is called once for each. Each exchange halves how many a
// thread has, so there are 6 exchanges, and not 20.
template <class T, class Put> __device__ inline void four_sums(const T (&x)[TOGETHER], Put put) {
  if (WARP < TOGETHER) {
    UNROLL (int c = 0; c < TOGETHER; c++) put(c, x[c]);
    return;
  }
  bool odd = threadIdx.x & 1, upper = threadIdx.x & 2;
  T one = sum(odd ? x[1] : x[0], from_other(odd ? x[0] : x[1], 1));
  T two = sum(odd ? x[3] : x[2], from_other(odd ? x[2] : x[3], 1));
  T all = sum(upper ? two : one, from_other(upper ? one : two, 2));
  UNROLL (int i = TOGETHER; i < WARP; i *= 2) all = sum(all, from_other(all, i));
  if (threadIdx.x < TOGETHER) put((int)threadIdx.x, all);
}

// The columns of A: the last ones in shared memory, as many as there is room for, since they are changed the most.
template <class T> struct Columns {
  T *near, *far;
  int first_near, stride;
  __device__ inline T *operator()(int j) const {
    return j < first_near ? far + j * stride : near + (j - first_near) * stride;
  }
};

// What a block has in shared memory for each column while A is reduced: products and v of this step and the next one.
template <class T> struct Steps {
  T *memory;
  int n;
  __device__ inline T *products(int step) const { return memory + step * n; }
  __device__ inline T *v(int step) const { return memory + (2 + step) * n; }
};

// What turns w, which is A v, into the w above: tau w + half v. `half` is real.
template <class T> struct Turn {
  T tau;
  Real<T> half;
  __device__ inline T operator()(T product, T v) const { return plus(times(half, v), tau, product); }
};

// The reflection that takes a column's number alpha to beta, with the other ones' sum of squares: returns tau, and 0 if
// there is nothing to do. The largest element of A is 1 at least, beside which `least_of` is nothing.
template <class T> __device__ inline T reflection_of(T alpha, Real<T> squares, Real<T> &beta, T &factor) {
  typedef Real<T> R;
  T tau = T();
  R size = squares + square(alpha);
  factor = T(), beta = 0;
  if (size < least_of(R())) return tau;
  beta = real_of(alpha);
  if (squares < least_of(R()) && imaginary_of(alpha) == R(0)) return tau;
  beta = -copysign(sqrt(size), beta);
  reflection(alpha, beta, tau, factor);
  return tau;
}

// Elements of a column that a thread has in registers, and how many it reads before it writes.
template <int N> struct Share {
  enum { rows = N / WARP, ahead = 2 };
};

// By a warp: columns first, first + blockDim.y, ... from which the last reflection is taken; their products with the
// next one, u, become those of step `next`.
template <int N, class T>
__device__ inline void update(const Columns<T> &x, int n, int k, int first, int next, const Turn<T> &turn,
                              const Steps<T> &steps, const T (&v)[Share<N>::rows], const T (&w)[Share<N>::rows],
                              const T (&u)[Share<N>::rows]) {
  enum { rows = Share<N>::rows, ahead = Share<N>::ahead };
  int lane = (int)threadIdx.x, step = (int)blockDim.y;
  T *column[TOGETHER], its_v[TOGETHER], its_w[TOGETHER], sums[TOGETHER];
  UNROLL (int c = 0; c < TOGETHER; c++) {
    int j = first + c * step < n ? first + c * step : first;
    T other = steps.v(1 - next)[j];
    column[c] = x(j);
    its_v[c] = conj(other), its_w[c] = conj(turn(steps.products(1 - next)[j], other)), sums[c] = T();
  }
  UNROLL (int r = 0; r < rows; r += ahead) {
    if (WARP * (r + ahead) <= k + 1 || WARP * r >= n) continue;
    // Nobody needs the rows up to k any more: what becomes of them does not matter.
    T a[ahead][TOGETHER];
    UNROLL (int q = 0; q < ahead; q++) UNROLL (int c = 0; c < TOGETHER; c++) {
      int i = lane + WARP * (r + q);
      a[q][c] = i < n ? column[c][i] : T();
    }
    UNROLL (int q = 0; q < ahead; q++) UNROLL (int c = 0; c < TOGETHER; c++) {
      T value = minus(minus(a[q][c], v[r + q], its_w[c]), w[r + q], its_v[c]);
      a[q][c] = value;
      sums[c] = plus(sums[c], conj(value), u[r + q]);
    }
    UNROLL (int q = 0; q < ahead; q++) UNROLL (int c = 0; c < TOGETHER; c++) {
      int i = lane + WARP * (r + q);
      if (i < n && (c == 0 || first + c * step < n)) column[c][i] = a[q][c];
    }
  }
  T *products = steps.products(next);
  four_sums(sums, [&](int c, T value) {
    if (first + c * step < n) products[first + c * step] = value;
  });
}

// v of step k becomes column k of x, with zeros above. The tridiagonal matrix has d on its diagonal and e beside it.
// Every warp has all of v and w, and makes the next reflection by itself: there is one barrier a column.
template <int N, class T>
__device__ inline void reduce(const Columns<T> &x, int n, const Steps<T> &steps, T *taus, Real<T> *d, Real<T> *e) {
  typedef Real<T> R;
  enum { rows = Share<N>::rows };
  T v[rows], w[rows], u[rows];
  int lane = (int)threadIdx.x, warp = (int)threadIdx.y, warps = (int)blockDim.y;
  UNROLL (int r = 0; r < rows; r++) v[r] = T();
  EACH_OF(j, n) steps.products(0)[j] = steps.v(0)[j] = T();
  Turn<T> turn = {T(), R(0)};
  LOOP (int k = 0; k < n; k++) {
    int now = k & 1, next = 1 - now;
    const T *products = steps.products(now), *last = steps.v(now), *column = x(k);
    __syncthreads();
    R part = 0;
    UNROLL (int r = 0; r < rows; r++) {
      int i = lane + WARP * r;
      w[r] = i >= k && i < n ? products[i] : T();
      // Asked for before it is needed.
      u[r] = i >= k && i < n ? column[i] : T();
      part += real_of(plus(T(), conj(w[r]), v[r]));
    }
    T below = k + 1 < n ? column[k + 1] : T(), own_v = last[k], other_v = k + 1 < n ? last[k + 1] : T();
    turn.half = R(-0.5) * square(turn.tau) * sum_of<WARP>(part);
    T own_w = turn(products[k], own_v), other_w = k + 1 < n ? turn(products[k + 1], other_v) : T();
    R squares = 0, beta;
    UNROLL (int r = 0; r < rows; r++) {
      int i = lane + WARP * r;
      w[r] = turn(w[r], v[r]);
      u[r] = minus(minus(u[r], v[r], conj(own_w)), w[r], conj(own_v));
      if (i > k + 1 && i < n) squares += square(u[r]);
      if (i == k && warp == 0) d[k] = real_of(u[r]);
    }
    // Of the last column there was only the diagonal to be had.
    if (k + 1 == n) break;
    T alpha = minus(minus(below, other_v, conj(own_w)), other_w, conj(own_v));
    T factor, tau = reflection_of(alpha, sum_of<WARP>(squares), beta, factor);
    T head = real_of(tau) != R(0) || imaginary_of(tau) != R(0) ? one_of(T()) : T();
    UNROLL (int r = 0; r < rows; r++) {
      int i = lane + WARP * r;
      u[r] = plus(T(), u[r], factor);
      u[r] = i <= k ? T() : i == k + 1 ? head : u[r];
    }
    if (warp == 0) UNROLL (int r = 0; r < rows; r++) {
      int i = lane + WARP * r;
      if (i >= n) continue;
      steps.v(next)[i] = u[r];
      if (k > 0) x(k - 1)[i] = v[r];
    }
    if (warp == 0 && lane == 0) e[k] = beta, taus[k] = tau;
    int first = k + 1 + (warp + warps - (k + 1) % warps) % warps;
    LOOP (int j = first; j < n; j += TOGETHER * warps) update<N>(x, n, k, j, next, turn, steps, v, w, u);
    turn.tau = tau;
    UNROLL (int r = 0; r < rows; r++) v[r] = u[r];
  }
  if (warp == 0) UNROLL (int r = 0; r < rows; r++) {
    int i = lane + WARP * r;
    if (i < n) x(n - 2)[i] = v[r];
  }
  __syncthreads();
}

// How threads share a column of vectors when the reflections are applied to it: so that a thread's part of two columns,
// or of one, is in its registers.
template <int N, class T> struct Strip {
  enum {
    wanted = N * sizeof(T) > 2048 ? 16 : 8,
    lanes = WARP < wanted ? WARP : wanted,
    rows = N / lanes,
    columns = rows * sizeof(T) > 128 ? 1 : 2,
    chunk = 4
  };
};

// The vectors of A, to `to`, from the tridiagonal matrix's in q: by the reflections from the last to the first.
template <int N, class T>
__device__ inline void back(const Columns<T> &x, int n, const T *taus, const Real<T> *q, T *to) {
  typedef Strip<N, T> S;
  enum { rows = S::rows, columns = S::columns, chunk = S::chunk };
  int lane = (int)threadIdx.x & (S::lanes - 1);
  int group = ((int)threadIdx.y * WARP + (int)threadIdx.x) / S::lanes, groups = (int)blockDim.y * WARP / S::lanes;
  // All threads of a warp go through as many columns, as they exchange numbers.
  LOOP (int base = 0; base < n; base += groups * columns) {
    T z[columns][rows];
    int first = base + group * columns;
    UNROLL (int c = 0; c < columns; c++) UNROLL (int r = 0; r < rows; r++) {
      int i = lane + S::lanes * r;
      z[c][r] = T();
      if (i < n && first + c < n) set_real(z[c][r], q[i + (first + c) * n]);
    }
    LOOP (int k = n - 2; k >= 0; k--) {
      const T *v = x(k), tau = taus[k];
      if (real_of(tau) == 0 && imaginary_of(tau) == 0) continue;
      T sums[columns];
      UNROLL (int c = 0; c < columns; c++) sums[c] = T();
      UNROLL (int r = 0; r < rows; r += chunk) {
        if (S::lanes * (r + chunk) <= k + 1 || S::lanes * r >= n) continue;
        UNROLL (int p = r; p < r + chunk; p++) {
          int i = lane + S::lanes * p;
          T its = i < n ? conj(v[i]) : T();
          UNROLL (int c = 0; c < columns; c++) sums[c] = plus(sums[c], its, z[c][p]);
        }
      }
      UNROLL (int c = 0; c < columns; c++) sums[c] = plus(T(), tau, sum_of<S::lanes>(sums[c]));
      UNROLL (int r = 0; r < rows; r += chunk) {
        if (S::lanes * (r + chunk) <= k + 1 || S::lanes * r >= n) continue;
        UNROLL (int p = r; p < r + chunk; p++) {
          int i = lane + S::lanes * p;
          T its = i < n ? v[i] : T();
          UNROLL (int c = 0; c < columns; c++) z[c][p] = minus(z[c][p], its, sums[c]);
        }
      }
    }
    UNROLL (int c = 0; c < columns; c++) UNROLL (int r = 0; r < rows; r++) {
      int i = lane + S::lanes * r;
      if (i < n && first + c < n) to[i + (first + c) * n] = z[c][r];
    }
  }
}
