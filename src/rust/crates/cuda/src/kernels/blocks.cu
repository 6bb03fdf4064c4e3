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
