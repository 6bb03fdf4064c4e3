// What the kernels share that give a matrix to a block of threads: threads of a warp (x) side by side
// on the rows of a column, warps (y) on columns. The tests' stand-in has warps of other sizes and says
// what these are there.

#ifndef WARP
#define WARP 32
#define SHARED __shared__
// What a launch has asked for; four of the smallest numbers are read at once.
#define SHARED_MEMORY extern __shared__ __align__(16) double memory[]
#endif

// Most warps of a block.
#define WARPS 16

// A kernel for each kind of element, or for the one that ELEMENT names, such as "f64, double". Of that many warps at
// most, and of that many blocks in a multiprocessor at least: that is how many registers a thread may have.
#define ONE_KERNEL(suffix, T, warps, blocks, name, parameters, arguments) \
  extern "C" __global__ void __launch_bounds__(32 * warps, blocks) name##_##suffix parameters(T) { name arguments; }
#define KERNEL_OF(...) ONE_KERNEL(__VA_ARGS__)
#ifdef ELEMENT
#define KERNEL_OF_WARPS(...) KERNEL_OF(ELEMENT, __VA_ARGS__)
#else
#define KERNEL_OF_WARPS(...)             \
  KERNEL_OF(f32, float, __VA_ARGS__)     \
  KERNEL_OF(f64, double, __VA_ARGS__)    \
  KERNEL_OF(c64, Complex<float>, __VA_ARGS__) \
  KERNEL_OF(c128, Complex<double>, __VA_ARGS__)
#endif
#define BLOCK_KERNEL(name, parameters, arguments) KERNEL_OF_WARPS(WARPS, 2, name, parameters, arguments)

// A row is always the same thread's, whatever the first row is: a thread reads what it has written.
#define EACH_ROW(i, first, rows)                                                             \
  LOOP (int i = (first) + (((int)threadIdx.x - (first)) & (WARP - 1)); i < (rows); \
                           i += WARP)
// Number p of the N that a lane has of a column in registers is in row i.
#define EACH_IN_LANE(p, i) \
  _Pragma("unroll") for (int p = 0, i = (int)threadIdx.x; p < N; p++, i += WARP)
#define EACH_COLUMN(j, columns) \
  LOOP (int j = (int)threadIdx.y; j < (columns); j += (int)blockDim.y)
// By all threads of the block.
#define EACH_OF(e, count)                                                                             \
  LOOP (int e = (int)(threadIdx.y * WARP + threadIdx.x); e < (count); \
                           e += (int)(blockDim.y * WARP))

template <class R> __device__ inline R sum_of_lanes(R x) {
  LOOP (int i = WARP / 2; i > 0; i /= 2) x += __shfl_xor_sync(0xffffffffu, x, i);
  return x;
}
template <class R> __device__ inline Complex<R> sum_of_lanes(Complex<R> x) {
  return {sum_of_lanes(x.re), sum_of_lanes(x.im)};
}

// The largest of a warp's numbers, none of which is negative, and the least of its integers.
template <class R> __device__ inline R largest_of_lanes(R x) {
#if __CUDA_ARCH__ >= 800 && WARP == 32
  return largest_of_warp(x);
#else
  LOOP (int i = WARP / 2; i > 0; i /= 2) {
    R other = __shfl_xor_sync(0xffffffffu, x, i);
    x = other > x ? other : x;
  }
  return x;
#endif
}
__device__ inline int least_of_lanes(int x) {
#if __CUDA_ARCH__ >= 800 && WARP == 32
  return least_of_warp(x);
#else
  LOOP (int i = WARP / 2; i > 0; i /= 2) {
    int other = __shfl_xor_sync(0xffffffffu, x, i);
    x = other < x ? other : x;
  }
  return x;
#endif
}

// The largest of all threads' numbers, none of which is negative. Threads meet in it.
template <class R> __device__ inline R largest_of_block(R x) {
  SHARED R parts[WARPS];
  x = largest_of_lanes(x);
  if (threadIdx.x == 0) parts[threadIdx.y] = x;
  __syncthreads();
  LOOP (int i = 0; i < (int)blockDim.y; i++) x = parts[i] > x ? parts[i] : x;
  __syncthreads();
  return x;
}

// Of the numbers that a thread has of `count`, as `larger` has it. Several are on their way at a time.
template <class T> __device__ inline Real<T> largest_of(const T *a, int count) {
  const int several = 8;
  int threads = (int)blockDim.y * WARP;
  Real<T> most = 0;
  LOOP (int e = (int)(threadIdx.y * WARP + threadIdx.x); e < count; e += several * threads) {
    T x[several];
    _Pragma("unroll") for (int i = 0; i < several; i++) x[i] = e + i * threads < count ? a[e + i * threads] : T();
    _Pragma("unroll") for (int i = 0; i < several; i++) most = larger(most, x[i]);
  }
  return most;
}
