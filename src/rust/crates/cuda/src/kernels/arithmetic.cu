// Arithmetic with real and complex numbers, for kernels that factor matrices.

// Loops are not unrolled: there are many warps, and little room for the code.
#define LOOP _Pragma("unroll 1") for

template <class T> struct RealOf {
  typedef T type;
};
template <class R> struct RealOf<Complex<R>> {
  typedef R type;
};
template <class T> using Real = typename RealOf<T>::type;

__device__ inline float infinity_of(float) { return __int_as_float(0x7f800000); }
__device__ inline double infinity_of(double) { return __longlong_as_double(0x7ff0000000000000LL); }

template <class R> __device__ inline R square(R x) { return x * x; }
template <class R> __device__ inline R square(Complex<R> x) { return x.re * x.re + x.im * x.im; }
template <class R> __device__ inline R times(R factor, R x) { return factor * x; }
template <class R> __device__ inline Complex<R> times(R factor, Complex<R> x) { return {factor * x.re, factor * x.im}; }
__device__ inline float over(float x, float divisor) { return x / divisor; }
__device__ inline double over(double x, double divisor) { return x / divisor; }
template <class R> __device__ inline Complex<R> over(Complex<R> x, R divisor) { return {x.re / divisor, x.im / divisor}; }
__device__ inline float difference(float x, float y) { return x - y; }
__device__ inline double difference(double x, double y) { return x - y; }
template <class R> __device__ inline Complex<R> difference(Complex<R> x, Complex<R> y) { return {x.re - y.re, x.im - y.im}; }
__device__ inline float sum(float x, float y) { return x + y; }
__device__ inline double sum(double x, double y) { return x + y; }
template <class R> __device__ inline Complex<R> sum(Complex<R> x, Complex<R> y) { return {x.re + y.re, x.im + y.im}; }
// |re| + |im|, as LAPACK chooses pivots.
__device__ inline float size_of(float x) { return fabs(x); }
__device__ inline double size_of(double x) { return fabs(x); }
template <class R> __device__ inline R size_of(Complex<R> x) { return fabs(x.re) + fabs(x.im); }
__device__ inline float modulus(float x) { return fabs(x); }
__device__ inline double modulus(double x) { return fabs(x); }
template <class R> __device__ inline R modulus(Complex<R> x) { return hypot(x.re, x.im); }

// The larger of `most` and the parts of a number; infinite if there is an infinity or NaN.
template <class R> __device__ inline R larger(R most, R x) {
  x = fabs(x);
  return x <= most ? most : is_finite(x) ? x : infinity_of(x);
}
template <class R> __device__ inline R larger(R most, Complex<R> x) { return larger(larger(most, x.re), x.im); }

// 2^power, for powers whose result is not among the smallest numbers.
__device__ inline float power_of_two(float, int power) { return __int_as_float((power + 127) << 23); }
__device__ inline double power_of_two(double, int power) {
  return __longlong_as_double((long long)(power + 1023) << 52);
}
// The power of two that begins a number; one that is below them all for the smallest numbers and 0.
__device__ inline int power_in(float x) { return (__float_as_int(x) >> 23) - 127; }
__device__ inline int power_in(double x) { return (int)(__double_as_longlong(x) >> 52) - 1023; }
// x 2^power. In two steps, because 2^power itself may be no number.
template <class T> __device__ inline T scaled(T x, int power) {
  int half = power / 2;
  return times(power_of_two(Real<T>(), power - half), times(power_of_two(Real<T>(), half), x));
}

// Divides by a number whose square may be beyond all numbers.
template <class T> struct Divisor {
  T by;
  __device__ Divisor(T by) : by(by) {}
  __device__ T operator()(T x) const { return x / by; }
};
template <class R> struct Divisor<Complex<R>> {
  R size;
  Complex<R> inverse;
  __device__ Divisor(Complex<R> by) : size(size_of(by)) {
    R re = by.re / size, im = by.im / size, part = R(1) / (re * re + im * im);
    inverse = {re * part, -im * part};
  }
  __device__ Complex<R> operator()(Complex<R> x) const {
    return plus(Complex<R>(), {x.re / size, x.im / size}, inverse);
  }
};

template <class R> __device__ inline R real_of(R x) { return x; }
template <class R> __device__ inline R real_of(Complex<R> x) { return x.re; }
template <class R> __device__ inline R imaginary_of(R) { return 0; }
template <class R> __device__ inline R imaginary_of(Complex<R> x) { return x.im; }
template <class R> __device__ inline void set_real(R &x, R value) { x = value; }
template <class R> __device__ inline void set_real(Complex<R> &x, R value) { x = {value, R(0)}; }

// Between these a sum of squares is right to all digits, and so are reciprocals of it.
__device__ inline float least_of(float) { return 1e-24f; }
__device__ inline double least_of(double) { return 1e-270; }
__device__ inline float most_of(float) { return 1e36f; }
__device__ inline double most_of(double) { return 1e300; }

// tau, and by what the rows below are multiplied to be those of v.
template <class R> __device__ inline void reflection(R alpha, R beta, R &tau, R &factor) {
  tau = (beta - alpha) / beta;
  factor = R(1) / (alpha - beta);
}
template <class R> __device__ inline void reflection(Complex<R> alpha, R beta, Complex<R> &tau, Complex<R> &factor) {
  tau = {(beta - alpha.re) / beta, -alpha.im / beta};
  R re = alpha.re - beta, part = R(1) / (re * re + alpha.im * alpha.im);
  factor = {re * part, -alpha.im * part};
}

#define SWEEPS 30
// What `info` is for a matrix with NaN or an infinity.
#define NOT_FINITE 1

__device__ inline float epsilon_of(float) { return 1.1920929e-7f; }
__device__ inline double epsilon_of(double) { return 2.220446049250313e-16; }
// Smaller squares are zero beside the largest element, which is at least 1.
__device__ inline float nothing_of(float) { return 1e-30f; }
__device__ inline double nothing_of(double) { return 1e-290; }

// 1 / sqrt(x), right but for the last digit.
__device__ inline float inverse_root_of(float x) {
  float r = rsqrt(x);
  return r * (1.5f - 0.5f * x * r * r);
}
__device__ inline double inverse_root_of(double x) { return rsqrt(x); }

// (1 - less) x
__device__ inline float shorter(float x, float less) { return x - less * x; }
__device__ inline double shorter(double x, double less) { return x - less * x; }
template <class R> __device__ inline Complex<R> shorter(Complex<R> x, R less) {
  return {shorter(x.re, less), shorter(x.im, less)};
}

// What makes columns p and q orthogonal, whose squares have the sums a and b and whose product, p^H q, has that
// absolute value, squared. With cosine = 1 - less: p becomes cosine p - conj(sine) q, q becomes cosine q + sine p, or
// with `exchange`, which puts the longer one first, the other way round. Rounding a cosine near 1 would make all
// columns longer, or all shorter. The angle is the smaller one of the two that do it: its double has a cosine that is
// |b - a| / sqrt((b - a)^2 + 4 squared).
template <class T> struct Rotation {
  typedef Real<T> R;
  R less;
  T sine;
  bool exchange;
  __device__ inline Rotation(T product, R squared, R a, R b) : exchange(a < b) {
    R gap = b - a, whole = inverse_root_of(gap * gap + R(4) * squared);
    R half = R(0.5) + R(0.5) * (fabs(gap) * whole), inverse = inverse_root_of(half), factor = whole * inverse;
    // 1 / (1 + cosine), by Newton's iteration from a line between 0.5 and 0.586.
    R sum = R(1) + half * inverse, part = R(1.0841) - R(0.2929) * sum;
    part = part * (R(2) - sum * part), part = part * (R(2) - sum * part), part = part * (R(2) - sum * part);
    less = factor * factor * squared * part;
    sine = times(gap < R(0) ? -factor : factor, product);
  }
  __device__ inline T first(T p, T q) const { return minus(shorter(p, less), conj(sine), q); }
  __device__ inline T second(T p, T q) const { return plus(shorter(q, less), sine, p); }
};

// Where elements of singular vectors, or of their adjoint, are, and their signs.
template <class T> struct Places {
  T *to;
  int down, right;
  bool conjugate;
  __device__ Places(T *to, int rows, int cols, bool adjoint)
      : to(to), down(adjoint ? cols : 1), right(adjoint ? 1 : rows), conjugate(adjoint) {}
  __device__ void put(int i, int j, T value) { to[i * down + j * right] = conjugate ? conj(value) : value; }
};

#if __CUDA_ARCH__ >= 800
// The largest of a warp's numbers and the least of its integers, by the processor's own search. Numbers that are not
// negative are in the order of their bits.
__device__ inline float largest_of_warp(float x) {
  return __int_as_float((int)__reduce_max_sync(0xffffffffu, (unsigned)__float_as_int(x)));
}
__device__ inline double largest_of_warp(double x) {
  long long bits = __double_as_longlong(x);
  unsigned high = (unsigned)(bits >> 32), most = __reduce_max_sync(0xffffffffu, high);
  unsigned low = __reduce_max_sync(0xffffffffu, high == most ? (unsigned)bits : 0u);
  return __longlong_as_double((long long)(((unsigned long long)most << 32) | low));
}
__device__ inline int least_of_warp(int x) { return __reduce_min_sync(0xffffffffu, x); }
#endif
