// Kepler's equation. The algorithm, its sources and its error bounds are those of the CPU's code
// (src/kepler): one starter and one step in f32, one more step in f64; straight-line code.

#define ROUND_F32 12582912.0f           // 1.5 * 2^23: adding it rounds to an integer
#define ROUND_F64 6755399441055744.0    // 1.5 * 2^52

__device__ inline float flip(float x, unsigned sign) { return __int_as_float(__float_as_int(x) ^ (int)sign); }
__device__ inline double flip(double x, unsigned long long sign) {
  return __longlong_as_double(__double_as_longlong(x) ^ (long long)sign);
}

#ifdef __CUDACC__
// 1 / x and 1 / sqrt(x) by the unit for special functions, good to two units in the last place. Exact
// division takes eight instructions and a branch; nothing here needs it.
__device__ inline float reciprocal(float x) {
  float y;
  asm("rcp.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(x));
  return y;
}
__device__ inline float inverse_root(float x) {
  float y;
  asm("rsqrt.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(x));
  return y;
}
#endif

// m less the nearest multiple of 2 pi, to its last bit, for |m| up to 1e14.
__device__ inline double wrap(double m) {
  const double tau = 6.283185307179586, rest = 2.449293598294706e-16, last = 4.331426695687656e-32;
  double n = fma(m, 1.0 / tau, ROUND_F64) - ROUND_F64;
  return fma(n, -last, fma(n, -rest, fma(n, -tau, m)));
}

// The same beyond: seldom asked for, so no part of the straight line.
__device__ inline bool is_far(double m) { return fabs(m) > 1e14; }
__device__ __noinline__ double wrap_far(double m) {
  double s, c;
  sincos(m, &s, &c);
  return atan2(s, c);
}

// Sine and cosine of x in about [0, pi], x - sin x and 1 - cos x.
struct Near32 {
  float sin, cos, lag, versine;
};
__device__ inline Near32 near(float x) {
  float shifted = fmaf(x, 0.63661975f, ROUND_F32);
  float quadrant = shifted - ROUND_F32;
  unsigned bits = (unsigned)__float_as_int(shifted);
  float r = fmaf(quadrant, -1.5707964f, x);
  r = fmaf(quadrant, 4.371139e-8f, r);
  float r2 = r * r;
  float p = fmaf(r2, 2.724939e-6f, -1.9840083e-4f);
  p = fmaf(r2, p, 8.333332e-3f);
  p = fmaf(r2, p, -0.16666667f);
  float q = fmaf(r2, 2.4547508e-5f, -1.3888301e-3f);
  q = fmaf(r2, q, 4.1666665e-2f);
  float cubic = r * r2 * p, sine = r + cubic;
  float versine = fmaf(-r2 * r2, q, 0.5f * r2), cosine = 1.0f - versine;
  bool swap = bits & 1, first = quadrant == 0.0f;
  Near32 at;
  at.sin = flip(swap ? cosine : sine, (bits & 2) << 30);
  at.cos = flip(swap ? sine : cosine, ((bits + 1) & 2) << 30);
  at.lag = first ? -cubic : swap ? (x - 1.0f) + versine : x - at.sin;
  at.versine = first ? versine : 1.0f - at.cos;
  return at;
}

struct Near64 {
  double sin, cos, lag, versine;
};
__device__ inline Near64 near(double x) {
  const double pi_2_rest = 6.123233995736766e-17;
  double shifted = fma(x, 0.6366197723675814, ROUND_F64);
  double quadrant = shifted - ROUND_F64;
  unsigned long long bits = (unsigned long long)__double_as_longlong(shifted);
  double exact = fma(quadrant, -1.5707963267948966, x);
  double r = fma(quadrant, -pi_2_rest, exact);
  double lost = fma(quadrant, -pi_2_rest, exact - r);
  double r2 = r * r;
  double p = fma(r2, 1.5917861852407008e-10, -2.505112814996084e-8);
  p = fma(r2, p, 2.7557316084929926e-6);
  p = fma(r2, p, -1.9841269836724877e-4);
  p = fma(r2, p, 8.333333333330926e-3);
  p = fma(r2, p, -0.16666666666666665);
  double q = fma(r2, -1.138246418417543e-11, 2.087614394248855e-9);
  q = fma(r2, q, -2.755731726062792e-7);
  q = fma(r2, q, 2.4801587298744437e-5);
  q = fma(r2, q, -1.3888888888887383e-3);
  q = fma(r2, q, 4.1666666666666665e-2);
  double cubic = r * r2 * p, sine = r + cubic;
  double versine = fma(-r2 * r2, q, 0.5 * r2), cosine = 1.0 - versine;
  bool swap = bits & 1, first = quadrant == 0.0;
  Near64 at;
  at.sin = flip(swap ? cosine : sine, (bits & 2) << 62);
  at.cos = flip(swap ? sine : cosine, ((bits + 1) & 2) << 62);
  at.lag = first ? -cubic : swap ? (x - 1.0) + fma(lost, sine, versine) : x - at.sin;
  at.versine = first ? versine : 1.0 - at.cos;
  return at;
}

// 1 / cbrt(x) for normal x > 0, good to 2.2e-4.
__device__ inline float inverse_cbrt(float x) {
  unsigned bits = (unsigned)__float_as_int(x);
  float y = __int_as_float((int)(0x54a18000u - (bits >> 14) * 5461u));
  float h = fmaf(-x * y, y * y, 1.0f);
  return fmaf(y * h, fmaf(h, 2.0f / 9.0f, 1.0f / 3.0f), y);
}

// Mikkola's starter for m in [0, pi] and w = 1 - e.
__device__ inline float starter(float m, float w) {
  float e = 1.0f - w, u = fmaf(-4.0f, w, 4.5f);
  float both = reciprocal(w * u), inverse_u = w * both;
  float alpha = w * inverse_u, beta = 0.5f * m * inverse_u, ratio = 0.5f * m * (u * both);
  float square = fmaf(ratio, ratio, alpha);
  float cube = fmaf(alpha, square * inverse_root(square), beta);
  float inverse_z = inverse_cbrt(cube), z = cube * inverse_z * inverse_z, over = alpha * inverse_z;
  float s = 2.0f * beta * reciprocal(fmaf(z, z, fmaf(over, over, alpha)));
  float s2 = s * s;
  s = fmaf(fmaf(0.026f, e, -0.065f) * s, s2 * s2, s);
  return fmaf(e * s, fmaf(-4.0f * s, s, 3.0f), m);
}

struct Approx {
  float anomaly, inverse, sin, cos;
};
__device__ inline Approx improve(float start, float m, float w) {
  float e = 1.0f - w;
  Near32 at = near(start);
  float f0 = fmaf(e, at.lag, fmaf(w, start, -m)), f1 = fmaf(e, at.versine, w), f2 = e * at.sin;
  float inverse = reciprocal(f1), slope = f2 * inverse, newton = -f0 * inverse;
  float step = newton * fmaf(-0.5f * newton, slope, 1.0f), half = 0.5f * step;
  float bend = step * fmaf(step * step, -1.0f / 6.0f, 1.0f);
  float change = step * fmaf(e * half * inverse, at.cos, slope);
  Approx found;
  found.anomaly = start + step;
  found.inverse = inverse * fmaf(change, change - 1.0f, 1.0f);
  found.sin = at.sin + fmaf(at.cos, bend, -(at.sin * step * half));
  found.cos = at.cos - fmaf(at.sin, bend, at.cos * step * half);
  return found;
}

// Both take a wrapped m. Next to nothing in f32 is solved for a multiple, since the residual would be
// subnormal: the equation is linear there.
__device__ inline void solve(float wrapped, float e, float &sine, float &cosine) {
  float w = 1.0f - e;
  if (!(e >= 0.0f && e < 1.0f)) set_nan(w);
  bool tiny = fabsf(wrapped) < 1e-30f;
  float m = fabsf(wrapped) * (tiny ? 1125899906842624.0f : 1.0f); // 2^50
  Approx found = improve(starter(m, w), m, w);
  float s = found.sin * (tiny ? 8.8817842e-16f : 1.0f); // 2^-50
  sine = flip(s, (unsigned)__float_as_int(wrapped) & 0x80000000u);
  cosine = found.cos;
}

__device__ inline void solve(double wrapped, double e, double &sine, double &cosine) {
  double positive = fabs(wrapped), w = 1.0 - e;
  if (!(e >= 0.0 && e < 1.0)) set_nan(e);
  Approx found = improve(starter((float)positive, (float)w), (float)positive, (float)w);
  w = 1.0 - e;
  double x = found.anomaly, g = found.inverse;
  Near64 at = near(x);
  double f0 = fma(e, at.lag, fma(w, x, -positive)), f1 = fma(e, at.versine, w);
  g = fma(fma(-f1, g, 1.0), g, g);
  g = fma(fma(-f1, g, 1.0), g, g);
  double u = -f0 * g, ug = u * g * e, t = 0.5 * at.sin * ug, k = at.cos * (1.0 / 6.0) * (ug * u);
  double step = fma(u, fma(t, fma(2.0, t, -1.0), -k), u), half = 0.5 * step;
  double s = fma(step, fma(-half, at.sin, at.cos), at.sin);
  cosine = fma(-step, fma(half, at.cos, at.sin), at.cos);
  sine = flip(s, (unsigned long long)__double_as_longlong(wrapped) & 0x8000000000000000ull);
}

// Points that lie side by side, read and written 16 bytes at a time.
template <class R> struct alignas(16) Pack {
  static const int WIDTH = 16 / sizeof(R);
  R at[WIDTH];
};

template <class R, int WIDTH> __device__ inline void solve(R *m, const R *e, R *sine, R *cosine) {
  bool far = false;
  double wrapped[WIDTH];
  for (int k = 0; k < WIDTH; k++) {
    far |= is_far(m[k]);
    wrapped[k] = wrap(m[k]);
  }
  if (far)
    for (int k = 0; k < WIDTH; k++)
      if (is_far(m[k])) wrapped[k] = wrap_far(m[k]);
  for (int k = 0; k < WIDTH; k++) solve((R)wrapped[k], e[k], sine[k], cosine[k]);
}

// A result may be the memory of an argument: every thread reads its points before it writes.
template <class R> __device__ void kepler(const R *m, const R *e, R *sine, R *cosine, i64 count) {
  typedef Pack<R> P;
  bool aligned = !(((i64)m | (i64)e | (i64)sine | (i64)cosine) & (sizeof(P) - 1));
  i64 packs = aligned ? count / P::WIDTH : 0, done = packs * P::WIDTH;
  EACH_ELEMENT(i, packs) {
    P a = ((const P *)m)[i], b = ((const P *)e)[i], s, c;
    solve<R, P::WIDTH>(a.at, b.at, s.at, c.at);
    ((P *)sine)[i] = s;
    ((P *)cosine)[i] = c;
  }
  EACH_ELEMENT(i, count - done) {
    R a = m[done + i], b = e[done + i];
    solve<R, 1>(&a, &b, sine + done + i, cosine + done + i);
  }
}
// 48 registers for a thread, so that there are more of them, which wait for memory side by side.
#define POINTS_KERNEL(name, R)                                                                                   \
  extern "C" __global__ void __launch_bounds__(128, 10) name(const R *m, const R *e, R *sine, R *cosine, i64 count) { \
    kepler(m, e, sine, cosine, count);                                                                           \
  }
POINTS_KERNEL(kepler_f32, float)
POINTS_KERNEL(kepler_f64, double)
#undef POINTS_KERNEL
