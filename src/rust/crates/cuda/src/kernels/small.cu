// What the kernels share that give a small matrix to some threads of a warp: N threads to one of up to N rows and
// columns, so that a warp has 32 / N of them. A thread keeps a column (or a row) in registers, and threads exchange
// numbers by shuffles: there is no barrier, and no memory on the way. All threads of a warp go through all steps, those
// without a matrix with zeros.

#define EVERY 0xffffffffu
// Of a column; all of it is in registers if all of the indices are known.
#define EACH_OF_N(i) _Pragma("unroll") for (int i = 0; i < N; i++)

// Defines a kernel, such as SMALL_KERNEL(small_lu, 16, f64, double): `crates/cuda/src/small.rs` compiles one at a time.
#define SMALL_KERNEL(routine, N, suffix, T)                                                           \
  extern "C" __global__ void __launch_bounds__(32) routine##_##N##_##suffix routine##_PARAMETERS(T) { \
    routine<N> routine##_ARGUMENTS;                                                                   \
  }

// Matrix b of a batch, for the threads that have it: `there` tells whether there is one.
#define EACH_SMALL(b, there)                                                                     \
  bool there;                                                                                    \
  LOOP (i64 b = (i64)blockIdx.x * (32 / N) + threadIdx.x / N; there = b < count, b - threadIdx.x / N < count; \
                           b += (i64)gridDim.x * (32 / N))

template <int N> __device__ inline int lane_of() { return (int)threadIdx.x & (N - 1); }

// Lanes are counted in the matrix's group.
template <int N, class R> __device__ inline R from_lane(R x, int lane) {
  return __shfl_sync(EVERY, x, ((int)threadIdx.x & ~(N - 1)) | lane);
}
template <int N, class R> __device__ inline Complex<R> from_lane(Complex<R> x, int lane) {
  return {from_lane<N>(x.re, lane), from_lane<N>(x.im, lane)};
}
template <int N, class R> __device__ inline R sum_of_group(R x) {
  _Pragma("unroll") for (int i = N / 2; i > 0; i /= 2) x += __shfl_xor_sync(EVERY, x, i);
  return x;
}
template <int N, class R> __device__ inline R largest_of_group(R x) {
  _Pragma("unroll") for (int i = N / 2; i > 0; i /= 2) {
    R other = __shfl_xor_sync(EVERY, x, i);
    x = other > x ? other : x;
  }
  return x;
}
template <int N> __device__ inline int least_of_group(int x) {
  _Pragma("unroll") for (int i = N / 2; i > 0; i /= 2) {
    int other = __shfl_xor_sync(EVERY, x, i);
    x = other < x ? other : x;
  }
  return x;
}
#if __CUDA_ARCH__ >= 800
template <> __device__ inline float largest_of_group<32>(float x) { return largest_of_warp(x); }
template <> __device__ inline double largest_of_group<32>(double x) { return largest_of_warp(x); }
template <> __device__ inline int least_of_group<32>(int x) { return least_of_warp(x); }
#endif
template <int N> __device__ inline bool any_of_group(bool x) { return largest_of_group<N>((int)x) != 0; }

// The first `left` numbers that a lane has; behind these zeros.
template <int N, class T> __device__ inline void column_of(T (&to)[N], const T (&x)[N], int lane, int left) {
  EACH_OF_N(i) {
    T value = from_lane<N>(x[i], lane);
    to[i] = i < left ? value : T();
  }
}

// What was number 1 becomes number 0, and number 0, which is final now, the last one: after N steps all are at their
// places again, and each step has what it needs at the same place.
template <int N, class T> __device__ inline void next_step(T (&x)[N]) {
  T first = x[0];
  _Pragma("unroll") for (int i = 1; i < N; i++) x[i - 1] = x[i];
  x[N - 1] = first;
}

// The lane that has the largest number, which becomes `best`, and of equal ones that with the lowest `place`, which
// becomes that. Numbers are not negative, such as sizes; a lane that is left out has -1.
template <int N, class R> __device__ inline int lane_of_largest(R &best, int &place) {
  R largest = largest_of_group<N>(best < R(0) ? R(0) : best);
  // Not the largest: behind all places.
  int mine = best == largest ? place : N, least = least_of_group<N>(mine);
  unsigned found = __ballot_sync(EVERY, mine == least && least < N) >> (threadIdx.x & ~(N - 1));
  best = largest, place = least;
  return (__ffs((int)found) - 1) & (N - 1);
}

// One sweep after the other makes the columns of x orthogonal, with w following, until one finds them so. In each round
// the pairs are those whose numbers differ by it, bit by bit. Whether it came to its end.
template <int N, class T> __device__ inline bool orthogonal(T (&x)[N], T (&w)[N], bool with_w, int n) {
  typedef Real<T> R;
  int lane = lane_of<N>();
  R tolerance = epsilon_of(R()) * epsilon_of(R()) * R(n);
  bool turned = true;
  LOOP (int i = 0; i < SWEEPS && __any_sync(EVERY, turned); i++) {
    turned = false;
    LOOP (int round = 1; round < N; round++) {
      int partner = lane ^ round;
      bool lower = lane < partner;
      T y[N], products[4] = {};
      R squares[4] = {};
      EACH_OF_N(i) y[i] = from_lane<N>(x[i], partner);
      // Four sums side by side wait less for each other.
      EACH_OF_N(i) {
        products[i & 3] = plus(products[i & 3], conj(x[i]), y[i]);
        squares[i & 3] += square(x[i]);
      }
      T product = sum(sum(products[0], products[1]), sum(products[2], products[3]));
      R mine = (squares[0] + squares[1]) + (squares[2] + squares[3]), other = from_lane<N>(mine, partner);
      // Both threads of a pair have the same numbers.
      product = from_lane<N>(product, lower ? lane : partner);
      R a = lower ? mine : other, b = lower ? other : mine, squared = square(product);
      // Below that squares are not exact, and the rotation would be none.
      bool turns = squared > nothing_of(squared) && squared > tolerance * a * b;
      if (!__any_sync(EVERY, turns)) continue;
      turned |= turns;
      Rotation<T> turn(product, squared, a, b);
      R less = turns ? turn.less : R(0);
      T factor = turns ? lower ? times(R(-1), conj(turn.sine)) : turn.sine : T();
      EACH_OF_N(i) x[i] = plus(shorter(x[i], less), factor, y[i]);
      if (with_w) EACH_OF_N(i) w[i] = plus(shorter(w[i], less), factor, from_lane<N>(w[i], partner));
    }
  }
  return !any_of_group<N>(turned);
}
