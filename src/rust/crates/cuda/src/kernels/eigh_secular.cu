// The secular equation, 1 / rho + sum z^2 / (pole - root) = 0: some threads of a warp have a root, each of them a part
// of the sum. A root is kept as its distance from the nearer pole: only so its distances from all poles are exact to the
// last digits. R.-C. Li, Solving secular equations stably and efficiently, LAPACK working note 89: the middle way;
// between bounds that every step makes closer.

// Steps before a root is given up, and after which every second one, if it gains little, halves what is known of the
// exponent.
#define STEPS 100
#define RATIONAL 8

// The sums over the poles up to a root and over those above it, and their derivatives.
template <class R> struct Sums {
  R below, below_slope, above, above_slope;
};

// The solution of c x^2 - a x + b = 0 that is the smaller one where both have one sign.
template <class R> __device__ inline R smaller_root(R a, R b, R c) {
  R square = a * a - R(4) * b * c, root = sqrt(square < R(0) ? R(0) : square);
  bool positive = a > R(0);
  return (positive ? R(2) * b : a - root) / (positive ? a + root : R(2) * c);
}

// The number, or the geometric mean of the bounds, which have one sign, where it is not between them.
template <class R> __device__ inline R inside(R number, R low, R high) {
  if (number > low && number < high) return number;
  return copysign(sqrt(fabs(low)) * sqrt(fabs(high)), low);
}

// Root j of the poles up to `end`.
template <class R> struct Root {
  const Merged<R> *f;
  int start, end, j, lanes;
  R inverse, left, gap, apart, left_square, right_square, low, high, last_value;
  bool last;
  // The pole that it is counted from.
  int origin;
  R distance;

  // By all threads of a warp, some of which may have no root.
  __device__ inline Sums<R> sums(R pole, R at) const {
    Sums<R> s = {};
    R below = 0, below_slope = 0, above = 0, above_slope = 0;
    _Pragma("unroll 2") for (int i = start + ((int)threadIdx.x & (lanes - 1)); i < end; i += lanes) {
      R z = f[i].weight, quotient = z / ((f[i].pole - pole) - at);
      bool is_below = i <= j;
      R part = z * quotient, slope = quotient * quotient;
      below += is_below ? part : R(0), below_slope += is_below ? slope : R(0);
      above += is_below ? R(0) : part, above_slope += is_below ? R(0) : slope;
    }
    LOOP (int with = lanes / 2; with > 0; with /= 2) {
      below += from_other(below, with), below_slope += from_other(below_slope, with);
      above += from_other(above, with), above_slope += from_other(above_slope, with);
    }
    s.below = below, s.below_slope = below_slope, s.above = above, s.above_slope = above_slope;
    return s;
  }

  // The interval, from `squares`, the sum of all z^2. The last one has a bound that the root is not near, and a pole
  // with z = 0 that is as far behind it: where there is only one root, it is rho z^2.
  __device__ inline void place(R rho, R squares) {
    inverse = R(1) / rho, last = j + 1 >= end, origin = j;
    left = f[j].pole, gap = last ? R(1.125) * rho * squares : f[j + 1].pole - left;
    apart = last ? R(2) * gap : gap;
    left_square = square(f[j].weight), right_square = last ? R(0) : square(f[j + 1].weight);
  }

  // The first approximation, with the sums in the middle of the interval: all poles but the two beside it are taken to
  // be as far away as from there.
  __device__ inline void begin(const Sums<R> &s) {
    R half = R(0.5) * gap, middle = inverse + s.below + s.above, beyond = R(0.5625) * gap;
    bool right = middle < R(0) && !last;
    origin = right ? j + 1 : j;
    // A root is not nearer to its pole than the other terms, with their values in the middle, would have it. It may be
    // right in the middle.
    low = right ? -beyond : last && middle < R(0) ? R(0.4375) * gap : R(0.5) * left_square / (inverse + s.above);
    high = right ? R(0.5) * right_square / s.below : last && middle < R(0) ? gap : beyond;
    R rest = middle + (left_square - right_square) / half, size = left_square + right_square;
    R a = right ? size - rest * gap : size + rest * apart, b = right ? -right_square * gap : left_square * apart;
    distance = inside(smaller_root(a, b, rest), low, high);
  }

  // A step, with the sums where the root is taken to be; whether there is no other one, as the sum is nothing but
  // rounding, or no number is left between the bounds.
  __device__ inline bool step(const Sums<R> &s, int number) {
    const R eps = rounding_of(R());
    R value = inverse + s.below + s.above, slope = s.below_slope + s.above_slope;
    R error = R(8) * (s.above - s.below) + inverse + fabs(distance) * slope;
    R bound = fabs(low) > fabs(high) ? fabs(low) : fabs(high);
    if (fabs(value) <= eps * error || high - low <= R(4) * eps * bound) return true;
    if (value < R(0)) low = distance;
    else high = distance;
    R before = (origin == j ? R(0) : -gap) - distance, behind = (origin == j ? apart : R(0)) - distance;
    R product = before * behind, a = (before + behind) * value - product * slope;
    R next = distance + smaller_root(a, product * value, value - before * s.below_slope - behind * s.above_slope);
    // Outside of the bounds, for their mean.
    if (number >= RATIONAL && number % 2 == 0 && fabs(value) > R(0.25) * last_value) next = low + low - high;
    last_value = fabs(value);
    distance = inside(next, low, high);
    return false;
  }
};

// All roots, by `lanes` threads each; whether all were found.
template <class R> __device__ inline bool roots(const Tridiagonal<R> &t, int parts, int lanes) {
  int n = t.n, number = ((int)threadIdx.y * WARP + (int)threadIdx.x) / lanes;
  int own = (int)threadIdx.x & (lanes - 1), groups = (int)blockDim.y * WARP / lanes;
  bool found = true;
  LOOP (int base = 0; base < n; base += groups) {
    int j = base + number < n ? base + number : n - 1;
    Merge m = merge_of(j, n, parts);
    Root<R> root = {t.f, m.start, m.start + t.counts[m.number].kept, j, lanes};
    bool there = base + number < n && j < root.end, open = there;
    if (!there) root.end = root.start;
    R squares = 0;
    LOOP (int i = root.start + own; i < root.end; i += lanes) squares += square(t.f[i].weight);
    LOOP (int with = lanes / 2; with > 0; with /= 2) squares += from_other(squares, with);
    if (there) root.place(R(2) * fabs(t.e[m.cut - 1]), squares);
    Sums<R> sums = root.sums(root.left, R(0.5) * root.gap);
    if (there) root.begin(sums);
    LOOP (int step = 0; step < STEPS && __any_sync(0xffffffffu, open); step++) {
      sums = root.sums(open ? t.f[root.origin].pole : R(0), root.distance);
      if (open) open = !root.step(sums, step);
    }
    if (!there || own) continue;
    R value = t.f[root.origin].pole + root.distance;
    bool good = !open && is_finite(value);
    found &= good;
    t.f[j].origin = root.origin, t.f[j].distance = root.distance;
    t.f[j].value = good ? value : root.left;
  }
  return found;
}
