// What the kernels share that give a matrix to a block of threads: threads of a warp (x) side by side
// on the rows of a column, warps (y) on columns. The tests' stand-in has warps of other sizes and says
// what SHARED and WARP are there.

#ifndef WARP
#define WARP 32
#define SHARED __shared__
#endif

// Most warps of a block.
#define WARPS 16

#define BLOCK_KERNEL(name, parameters, arguments)                                                       \
  extern "C" __global__ void __launch_bounds__(32 * WARPS, 2) name##_f32 parameters(float) { name arguments; }  \
  extern "C" __global__ void __launch_bounds__(32 * WARPS, 2) name##_f64 parameters(double) { name arguments; } \
  extern "C" __global__ void __launch_bounds__(32 * WARPS, 2) name##_c64 parameters(Complex<float>) { name arguments; } \
  extern "C" __global__ void __launch_bounds__(32 * WARPS, 2) name##_c128 parameters(Complex<double>) { name arguments; }

// Loops are not unrolled: there are many warps, and little room for the code.
#define LOOP _Pragma("unroll 1") for

// A row is always the same thread's, whatever the first row is: a thread reads what it has written.
#define EACH_ROW(i, first, rows)                                                             \
  LOOP (int i = (first) + (((int)threadIdx.x - (first)) & (WARP - 1)); i < (rows); \
                           i += WARP)
#define EACH_COLUMN(j, columns) \
  LOOP (int j = (int)threadIdx.y; j < (columns); j += (int)blockDim.y)
// By all threads of the block.
#define EACH_OF(e, count)                                                                             \
  LOOP (int e = (int)(threadIdx.y * WARP + threadIdx.x); e < (count); \
                           e += (int)(blockDim.y * WARP))

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
// |re| + |im|, as LAPACK chooses pivots.
__device__ inline float size_of(float x) { return fabs(x); }
__device__ inline double size_of(double x) { return fabs(x); }
template <class R> __device__ inline R size_of(Complex<R> x) { return fabs(x.re) + fabs(x.im); }
__device__ inline float modulus(float x) { return fabs(x); }
__device__ inline double modulus(double x) { return fabs(x); }
template <class R> __device__ inline R modulus(Complex<R> x) { return hypot(x.re, x.im); }

template <class R> __device__ inline R sum_of_lanes(R x) {
  LOOP (int i = WARP / 2; i > 0; i /= 2) x += __shfl_xor_sync(0xffffffffu, x, i);
  return x;
}
template <class R> __device__ inline Complex<R> sum_of_lanes(Complex<R> x) {
  return {sum_of_lanes(x.re), sum_of_lanes(x.im)};
}

// The largest of all threads' numbers. Threads meet in it.
template <class R> __device__ inline R largest_of_block(R x) {
  SHARED R parts[WARPS];
  LOOP (int i = WARP / 2; i > 0; i /= 2) {
    R other = __shfl_xor_sync(0xffffffffu, x, i);
    x = other > x ? other : x;
  }
  if (threadIdx.x == 0) parts[threadIdx.y] = x;
  __syncthreads();
  LOOP (int i = 0; i < (int)blockDim.y; i++) x = parts[i] > x ? parts[i] : x;
  __syncthreads();
  return x;
}

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
