// Kernels beside cuSOLVER's: looking for what is not finite, filling with NaN, moving matrices, and
// what is done for a whole batch in one launch. The grid's second dimension runs over the matrices,
// the first over the elements of one; both in strides of the grid, so that any size of it will do.

#define KERNEL extern "C" __global__ void
#define EACH(axis, i, count)                                                       \
  _Pragma("unroll 1") for (i64 i = (i64)blockIdx.axis * blockDim.axis + threadIdx.axis; \
                           i < (count); i += (i64)gridDim.axis * blockDim.axis)
#define EACH_MATRIX(b) EACH(y, b, count)
#define EACH_ELEMENT(e, size) EACH(x, e, size)

// Defines a kernel by what it does for f32 and f64, or for all four types.
#define REAL_KERNEL(name, parameters, arguments)                  \
  KERNEL name##_f32 parameters(float) { name arguments; }         \
  KERNEL name##_f64 parameters(double) { name arguments; }
#define COMPLEX_KERNEL(name, parameters, arguments)               \
  KERNEL name##_c64 parameters(Complex<float>) { name arguments; } \
  KERNEL name##_c128 parameters(Complex<double>) { name arguments; }

// bad[b] = 1 where the first `used` numbers of matrix b are not all finite. Matrices have `size`
// numbers each, 2^shift in an element. Triangle: 0 for all elements, 1 for the lower, 2 for the
// upper one of a column-major matrix.
template <class R>
__device__ void scan(const R *a, i64 size, i64 count, i64 used, i64 shift, i64 rows, i64 triangle,
                     int *bad) {
  EACH_MATRIX(b) {
    bool finite = true;
    EACH_ELEMENT(e, used) {
      bool counts = true;
      if (triangle) {
        i64 j = (e >> shift) / rows, i = (e >> shift) - j * rows;
        counts = triangle == 1 ? i >= j : i <= j;
      }
      if (counts) finite &= is_finite(a[b * size + e]);
    }
    if (!finite) bad[b] = 1;
  }
}
#define PARAMETERS(R) (const R *a, i64 size, i64 count, i64 used, i64 shift, i64 rows, i64 triangle, int *bad)
REAL_KERNEL(scan, PARAMETERS, (a, size, count, used, shift, rows, triangle, bad))
#undef PARAMETERS

// Zeros in place of every matrix that is bad: no iteration is given NaN or an infinity.
template <class R> __device__ void scrub(R *a, i64 size, i64 count, const int *bad) {
  EACH_MATRIX(b) if (bad[b]) EACH_ELEMENT(e, size) a[b * size + e] = R(0);
}
#define PARAMETERS(R) (R *a, i64 size, i64 count, const int *bad)
REAL_KERNEL(scrub, PARAMETERS, (a, size, count, bad))
#undef PARAMETERS

// NaN where the matrix was bad, or where `info`, if there is one, says that there is no result.
template <class R> __device__ void poison(R *a, i64 size, i64 count, const int *bad, const int *info) {
  EACH_MATRIX(b) if (bad[b] || (info && info[b] > 0)) EACH_ELEMENT(e, size) set_nan(a[b * size + e]);
}
#define PARAMETERS(R) (R *a, i64 size, i64 count, const int *bad, const int *info)
REAL_KERNEL(poison, PARAMETERS, (a, size, count, bad, info))
#undef PARAMETERS

// info[b] = value where the matrix was bad.
KERNEL mark(int *info, i64 count, i64 value, const int *bad) {
  EACH_ELEMENT(b, count) if (bad[b]) info[b] = (int)value;
}

// Rows that stay where they are: 1, 2, … where the matrix was bad.
KERNEL keep_rows(int *pivots, i64 size, i64 count, const int *bad) {
  EACH_MATRIX(b) if (bad[b]) EACH_ELEMENT(e, size) pivots[b * size + e] = (int)e + 1;
}

// Addresses of the matrices, for cuBLAS.
KERNEL addresses(char **to, char *first, i64 stride, i64 count) {
  EACH_ELEMENT(b, count) to[b] = first + b * stride;
}

// The first `part` words of 4 bytes out of every `whole`.
KERNEL take_front(unsigned *to, const unsigned *from, i64 part, i64 count, i64 whole) {
  EACH_MATRIX(b) EACH_ELEMENT(e, part) to[b * part + e] = from[b * whole + e];
}

// The identity, cut or continued with zeros.
template <class R> __device__ void identity(R *a, i64 size, i64 count, i64 shift, i64 rows) {
  i64 imaginary = (1 << shift) - 1;
  EACH_MATRIX(b) EACH_ELEMENT(e, size) {
    i64 j = (e >> shift) / rows, i = (e >> shift) - j * rows;
    a[b * size + e] = R(i == j && !(e & imaginary));
  }
}
#define PARAMETERS(R) (R *a, i64 size, i64 count, i64 shift, i64 rows)
REAL_KERNEL(identity, PARAMETERS, (a, size, count, shift, rows))
#undef PARAMETERS

// Transposes column-major matrices of `rows` rows, of which `size` elements are wanted and `stride`
// are there. The result is written in its order; it has `cols` rows.
template <bool CONJUGATE, class T>
__device__ void turn(T *to, const T *from, i64 size, i64 count, i64 rows, i64 stride) {
  i64 cols = size / rows;
  EACH_MATRIX(b) EACH_ELEMENT(e, size) {
    i64 i = e / cols, j = e - i * cols;
    T value = from[b * stride + i + j * rows];
    to[b * size + e] = CONJUGATE ? conj(value) : value;
  }
}
template <class T> __device__ void transpose(T *to, const T *from, i64 size, i64 count, i64 rows, i64 stride) {
  turn<false>(to, from, size, count, rows, stride);
}
template <class T> __device__ void adjoint(T *to, const T *from, i64 size, i64 count, i64 rows, i64 stride) {
  turn<true>(to, from, size, count, rows, stride);
}
#define PARAMETERS(T) (T *to, const T *from, i64 size, i64 count, i64 rows, i64 stride)
REAL_KERNEL(transpose, PARAMETERS, (to, from, size, count, rows, stride))
COMPLEX_KERNEL(transpose, PARAMETERS, (to, from, size, count, rows, stride))
COMPLEX_KERNEL(adjoint, PARAMETERS, (to, from, size, count, rows, stride))
#undef PARAMETERS

// Whether all of these numbers are finite.
template <class R> __device__ bool are_finite(const R *x, i64 count) {
  R nothing = 0;
  _Pragma("unroll 1") for (i64 i = 0; i < count; i++) nothing += x[i] - x[i];
  return nothing == R(0);
}
template <class R> __device__ bool are_finite(const Complex<R> *x, i64 count) { return are_finite(&x->re, 2 * count); }

// The columns of Q, all of the batch in one launch: a thread takes a column of the identity through
// the reflectors, the last one first. Reflector i has a 1 in row i, which is not stored, and zeros
// above. `packed` is a copy: `q` may have been its memory. NaN or an infinity in the first `reflectors` columns or in
// `tau` makes all of Q NaN.
template <class T>
__device__ void columns_of_q(T *q, const T *packed, const T *tau, i64 cols, i64 count, i64 rows,
                             i64 reflectors) {
  EACH_MATRIX(b) EACH_ELEMENT(j, cols) {
    T *column = q + (b * cols + j) * rows;
    _Pragma("unroll 1") for (i64 r = 0; r < rows; r++) column[r] = r == j ? one_of(T()) : T();
    _Pragma("unroll 1") for (i64 i = reflectors - 1; i >= 0; i--) {
      const T *v = packed + (b * cols + i) * rows;
      T product = column[i];
      _Pragma("unroll 1") for (i64 r = i + 1; r < rows; r++) product = plus(product, conj(v[r]), column[r]);
      product = plus(T(), tau[b * reflectors + i], product);
      column[i] = minus(column[i], product, one_of(T()));
      _Pragma("unroll 1") for (i64 r = i + 1; r < rows; r++) column[r] = minus(column[r], product, v[r]);
    }
    if (!are_finite(packed + b * cols * rows, reflectors * rows) || !are_finite(tau + b * reflectors, reflectors))
      _Pragma("unroll 1") for (i64 r = 0; r < rows; r++) set_nan(column[r]);
  }
}
#define PARAMETERS(T) (T *q, const T *packed, const T *tau, i64 cols, i64 count, i64 rows, i64 reflectors)
REAL_KERNEL(columns_of_q, PARAMETERS, (q, packed, tau, cols, count, rows, reflectors))
COMPLEX_KERNEL(columns_of_q, PARAMETERS, (q, packed, tau, cols, count, rows, reflectors))
#undef PARAMETERS

// Row numbers in the order in which LU factorisation left them; pivots count from 0. A pivot out of
// range leaves the rows alone.
KERNEL pivots_to_permutation(int *permutation, const int *pivots, i64 count, i64 length, i64 size) {
  EACH_ELEMENT(b, count) {
    int *to = permutation + b * size;
    _Pragma("unroll 1") for (i64 i = 0; i < size; i++) to[i] = (int)i;
    _Pragma("unroll 1") for (i64 i = 0; i < length; i++) {
      int other = pivots[b * length + i];
      if (other < 0 || other >= size) continue;
      int row = to[i];
      to[i] = to[other];
      to[other] = row;
    }
  }
}
