// Eigenvalues and vectors of Hermitian matrices of up to N rows, a block a matrix, all of the batch in one launch: a
// tridiagonal matrix, then divide and conquer.

// Where a block has its matrices: in shared memory as long as there is room, then in its part of the scratch memory.
struct Room {
  char *shared, *scratch;
  template <class X> __device__ inline X *matrix(int numbers, bool near) {
    char *&from = near ? shared : scratch, *found = from;
    from += numbers * sizeof(X);
    return (X *)found;
  }
};

// By a warp: its numbers of a column in the triangle that is read, all on their way at a time; those of the other one
// are 0.
template <int N, class T> struct Part {
  enum { rows = Share<N>::rows };
  T x[rows];
  __device__ inline Part(const T *a, int n, bool lower, int j) {
    UNROLL (int r = 0; r < rows; r++) {
      int i = (int)threadIdx.x + WARP * r;
      x[r] = i < n && (lower ? i >= j : i <= j) ? a[i + j * n] : T();
    }
    UNROLL (int r = 0; r < rows; r++) if ((int)threadIdx.x + WARP * r == j) set_real(x[r], real_of(x[r]));
  }
};

// The largest of the numbers that are read, as `larger` has it.
template <int N, class T> __device__ inline Real<T> largest_of_triangle(const T *a, int n, bool lower) {
  Real<T> most = 0;
  EACH_COLUMN(j, n) {
    Part<N, T> part(a, n, lower, j);
    UNROLL (int r = 0; r < Part<N, T>::rows; r++) most = larger(most, part.x[r]);
  }
  return most;
}

// A with both triangles, times 2^-power.
template <int N, class T> __device__ inline void load(const T *a, int n, bool lower, int power, const Columns<T> &x) {
  EACH_COLUMN(j, n) {
    Part<N, T> part(a, n, lower, j);
    UNROLL (int r = 0; r < Part<N, T>::rows; r++) {
      int i = (int)threadIdx.x + WARP * r;
      if (i >= n || (lower ? i < j : i > j)) continue;
      T value = scaled(part.x[r], -power);
      x(j)[i] = value;
      if (i != j) x(i)[j] = conj(value);
    }
  }
}

// `room`: bytes of a block's part of the scratch memory; `stride`: numbers from one column of A to the next; `columns`:
// how many of these are in shared memory, and `near`: how many of the other matrices.
template <int N, class T>
__device__ void eigh(const T *from, T *to, Real<T> *all_values, int *info, char *scratch, i64 room, i64 count,
                     i64 rows, i64 stride, i64 columns, i64 near, i64 lower) {
  typedef Real<T> R;
  SHARED_MEMORY;
  SHARED Counts counts[MERGES];
  int n = (int)rows;
  T *taus = (T *)memory;
  R *d = (R *)(taus + n), *e = d + n;
  // Reduction and merges use the same memory, one after the other.
  Merged<R> *f = (Merged<R> *)(e + n);
  Steps<T> steps = {(T *)f, n};
  Room here = {(char *)(f + n), scratch + blockIdx.x * room};
  Columns<T> x = {nullptr, nullptr, n - (int)columns, (int)stride};
  x.near = here.matrix<T>((int)columns * x.stride, true);
  x.far = here.matrix<T>(x.first_near * x.stride, false);
  R *q = here.matrix<R>(n * n, near > 0), *vectors = here.matrix<R>(n * n, near > 1);
  R *other = here.matrix<R>(n * n, near > 2);
  LOOP (i64 b = blockIdx.x; b < count; b += gridDim.x) {
    const T *a = from + b * n * n;
    T *result = to + b * n * n;
    R *values = all_values + b * n, most = largest_of_block(largest_of_triangle<N>(a, n, lower));
    int power = power_in(most), failed = NOT_FINITE;
    if (is_finite(most)) {
      load<N>(a, n, lower, power, x);
      reduce<N>(x, n, steps, taus, d, e);
      Tridiagonal<R> t = {n, d, e, q, other, vectors, f, counts};
      bool found = divide_and_conquer(t);
      failed = largest_of_block(R(!found)) != R(0) ? n + 1 : 0;
      if (!failed) {
        back<N>(x, n, taus, t.q, result);
        EACH_OF(i, n) values[i] = scaled(d[i], power);
      }
    }
    if (failed) {
      EACH_OF(c, n * n) set_nan(result[c]);
      EACH_OF(i, n) set_nan(values[i]);
    }
    if (info && threadIdx.x == 0 && threadIdx.y == 0) info[b] = failed;
    __syncthreads();
  }
}

// Defines a kernel, such as EIGH_KERNEL(64, f64, double): `crates/cuda/src/eigh.rs` compiles one at a time.
#define EIGH_KERNEL(N, suffix, T)                                                                               \
  extern "C" __global__ void __launch_bounds__(32 * WARPS, 1)                                                   \
      eigh_##N##_##suffix(const T *from, T *to, Real<T> *values, int *info, char *scratch, i64 room, i64 count, \
                          i64 rows, i64 stride, i64 columns, i64 near, i64 lower) {                             \
    eigh<N>(from, to, values, info, scratch, room, count, rows, stride, columns, near, lower);                  \
  }
