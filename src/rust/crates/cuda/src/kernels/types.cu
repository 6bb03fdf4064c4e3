// The numbers of matrices, in kernels to which every number is passed as 64 bits. Begins each program.

typedef long long i64;

template <class R> struct Complex {
  R re, im;
};

// NaN without <math.h>, which NVRTC has not.
__device__ inline void set_nan(float &x) { x = __int_as_float(0x7fffffff); }
__device__ inline void set_nan(double &x) { x = __longlong_as_double(0x7fffffffffffffffLL); }
template <class R> __device__ inline void set_nan(Complex<R> &x) { set_nan(x.re), set_nan(x.im); }
// Whatever is NaN or infinite is no zero when it is taken from itself.
template <class R> __device__ inline bool is_finite(R x) { return x - x == R(0); }

template <class R> __device__ inline R conj(R x) { return x; }
template <class R> __device__ inline Complex<R> conj(Complex<R> x) { return {x.re, -x.im}; }

__device__ inline float one_of(float) { return 1; }
__device__ inline double one_of(double) { return 1; }
template <class R> __device__ inline Complex<R> one_of(Complex<R>) { return {R(1), R(0)}; }
// c + a b, c - a b
__device__ inline float plus(float c, float a, float b) { return c + a * b; }
__device__ inline double plus(double c, double a, double b) { return c + a * b; }
template <class R> __device__ inline Complex<R> plus(Complex<R> c, Complex<R> a, Complex<R> b) {
  return {c.re + a.re * b.re - a.im * b.im, c.im + a.re * b.im + a.im * b.re};
}
__device__ inline float minus(float c, float a, float b) { return c - a * b; }
__device__ inline double minus(double c, double a, double b) { return c - a * b; }
template <class R> __device__ inline Complex<R> minus(Complex<R> c, Complex<R> a, Complex<R> b) {
  return {c.re - a.re * b.re + a.im * b.im, c.im - a.re * b.im - a.im * b.re};
}
