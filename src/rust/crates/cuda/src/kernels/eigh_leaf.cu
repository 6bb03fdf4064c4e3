// The smallest parts of the tridiagonal matrix, by implicit QL, and the levels of divide and conquer above them.

// Rows of a leaf, at most.
#define LEAF 8

__device__ inline int leaves_of(int n) {
  int leaves = 1;
  while (leaves * LEAF < n) leaves *= 2;
  return leaves;
}

// c, s, and r, to which they take (g, f): c g + s f = r.
template <class R> __device__ inline void rotation_of(R g, R f, R &c, R &s, R &r) {
  int power = 0;
  R squares = f * f + g * g;
  c = 1, s = 0, r = 0;
  if (squares < least_of(R())) {
    R most = larger(fabs(f), g);
    if (most == R(0)) return;
    power = power_in(most), f = scaled(f, -power), g = scaled(g, -power), squares = f * f + g * g;
    // The smallest numbers of all are zero here.
    if (squares < R(1)) return;
  }
  R inverse = inverse_root_of(squares);
  c = g * inverse, s = f * inverse, r = scaled(squares * inverse, power);
}

// By a warp: eigenvalues and vectors of the rows from `start` to `end` (EISPACK's imtql2), which every thread has by
// itself; whether it converges. The columns of q are those of the identity before. What is nothing beside the largest
// element of A, which is 1 at least, is taken to be 0.
template <class R> __device__ inline bool leaf(const Tridiagonal<R> &t, int start, int end) {
  const R eps = rounding_of(R()), nothing = eps * R(1e-3);
  int rows = end - start, turns = 0;
  R d[LEAF], e[LEAF];
  LOOP (int i = 0; i < rows; i++) d[i] = t.d[start + i], e[i] = i + 1 < rows ? t.e[start + i] : R(0);
  // Until all have them.
  __syncwarp();
  LOOP (int l = 0; l < rows && turns <= SWEEPS * LEAF;) {
    int m = l;
    LOOP (; m + 1 < rows; m++)
      if (fabs(e[m]) <= nothing || fabs(e[m]) <= eps * (fabs(d[m]) + fabs(d[m + 1]))) break;
    if (m == l) {
      l++;
      continue;
    }
    turns++;
    R g = (d[l + 1] - d[l]) / (R(2) * e[l]), r = sqrt(g * g + R(1)), c = 1, s = 1, less = 0;
    g = d[m] - d[l] + e[l] / (g + copysign(r, g));
    LOOP (int i = m - 1; i >= l; i--) {
      R f = s * e[i], b = c * e[i];
      rotation_of(g, f, c, s, r);
      e[i + 1] = r;
      g = d[i + 1] - less;
      R more = (d[i] - g) * s + R(2) * c * b;
      less = s * more, d[i + 1] = g + less, g = c * more - b;
      R *column = t.q + (start + i) * t.n;
      EACH_ROW(j, start, end) {
        R x = column[j], y = column[j + t.n];
        column[j + t.n] = s * x + c * y, column[j] = c * x - s * y;
      }
    }
    d[l] -= less, e[l] = g, e[m] = 0;
  }
  LOOP (int i = 0; i < rows; i++) if (threadIdx.x == 0) t.d[start + i] = d[i];
  return turns <= SWEEPS * LEAF;
}

// d becomes the eigenvalues, `t.q` the vectors; whether all was found.
template <class R> __device__ inline bool divide_and_conquer(Tridiagonal<R> &t) {
  int n = t.n, leaves = leaves_of(n), lanes = 1;
  while (2 * lanes <= WARP && 2 * lanes * n <= (int)blockDim.y * WARP) lanes *= 2;
  EACH_COLUMN(j, n) EACH_ROW(i, 0, n) t.q[i + j * n] = R(i == j), t.other[i + j * n] = 0;
  // What is taken from both halves where the matrix is cut is what a merge adds.
  EACH_OF(i, leaves) if (i > 0) {
    int cut = i * n / leaves;
    R beside = fabs(t.e[cut - 1]);
    t.d[cut - 1] -= beside, t.d[cut] -= beside;
  }
  __syncthreads();
  bool found = true;
  EACH_COLUMN(i, leaves) found &= leaf(t, i * n / leaves, (i + 1) * n / leaves);
  LOOP (int parts = leaves / 2; parts > 0; parts /= 2) {
    __syncthreads();
    prepare(t, parts);
    __syncthreads();
    EACH_COLUMN(i, parts) if (threadIdx.x == 0) deflate(t, Merge(i, n, parts));
    __syncthreads();
    rotate(t, parts);
    found &= roots(t, parts, lanes);
    __syncthreads();
    exact_weights(t, parts, lanes);
    __syncthreads();
    vectors_of_roots(t, parts);
    __syncthreads();
    finish(t, parts);
    R *other = t.q;
    t.q = t.other, t.other = other;
  }
  __syncthreads();
  return found;
}
