// The kernels, from their CUDA sources. Most run thread by thread. Those that give a matrix to a block have
// threads of this processor's that meet at its barriers, one for each warp: so the loops over a
// warp's threads have one turn. With -DWARP=4 a warp is four threads that exchange numbers. Those for small matrices need
// all 32 threads of a warp: these take turns on one (lanes.h).

#include "fake.h"
#include "lanes.h"

#include <cfenv>
#include <cmath>
#include <cstring>
#include <map>
#include <memory>
#include <mutex>
#include <pthread.h>
#include <set>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#ifndef WARP
#define WARP 1
#endif

namespace {
// Shared memory that a launch may ask for, less what kernels have in any case: what every device has, and what kernels
// get that were allowed more.
constexpr size_t EVERYWHERE = 48 << 10, LIMIT = 227 << 10, FIXED = 1 << 10;

class Barrier {
  pthread_barrier_t barrier;

 public:
  explicit Barrier(unsigned threads) { pthread_barrier_init(&barrier, nullptr, threads); }
  ~Barrier() { pthread_barrier_destroy(&barrier); }
  void wait() { pthread_barrier_wait(&barrier); }
};

// The block that is running; one at a time.
struct Block {
  Barrier all;
  std::vector<std::unique_ptr<Barrier>> warps;
  std::vector<double> exchanged;
  explicit Block(unsigned count) : all(count * WARP), exchanged(count * WARP) {
    for (unsigned i = 0; i < count; ++i) warps.emplace_back(new Barrier(WARP));
  }
};
std::mutex one_at_a_time;
Block *block;
std::set<const Kernel *> allowed;
}  // namespace

namespace kernels {
struct Place {
  unsigned x, y;
};
thread_local Place threadIdx, blockIdx, blockDim, gridDim;

template <class To, class From> To bits(From from) {
  static_assert(sizeof(To) == sizeof(From), "as many bits");
  To to;
  std::memcpy(&to, &from, sizeof to);
  return to;
}
inline float __int_as_float(int x) { return bits<float>(x); }
inline int __float_as_int(float x) { return bits<int>(x); }
inline double __longlong_as_double(long long x) { return bits<double>(x); }
inline long long __double_as_longlong(double x) { return bits<long long>(x); }
inline void sincos(double x, double *s, double *c) { *s = std::sin(x), *c = std::cos(x); }
using std::copysign;
using std::fabs;
using std::fma;
using std::hypot;
using std::ilogb;
using std::scalbn;
using std::sqrt;

// The unit for special functions is off by a unit in the last place, one way or the other.
inline float off(float x, float y) { return y * (__float_as_int(x) & 1 ? 1.00000012f : 0.9999999f); }
inline float reciprocal(float x) { return off(x, 1 / x); }
inline float inverse_root(float x) { return off(x, 1 / std::sqrt(x)); }

void __syncthreads() { block->all.wait(); }
void __syncwarp() {
  if (lanes) lanes->exchange(0.0, 0);
  else if (WARP > 1) block->warps[threadIdx.y]->wait();
}
template <class X> X __shfl_sync(unsigned, X x, int from) {
  static_assert(sizeof(X) <= sizeof(double), "a number");
  if (lanes) return lanes->exchange(x, from);
  double *warp = &block->exchanged[threadIdx.y * WARP];
  std::memcpy(warp + threadIdx.x, &x, sizeof x);
  __syncwarp();
  std::memcpy(&x, warp + from, sizeof x);
  __syncwarp();
  return x;
}
template <class X> X __shfl_xor_sync(unsigned all, X x, int with) {
  return __shfl_sync(all, x, (int)threadIdx.x ^ with);
}
int __any_sync(unsigned mask, int x) {
  if (lanes) return lanes->any(x);
  for (int i = WARP / 2; i > 0; i /= 2) x |= __shfl_xor_sync(mask, x, i);
  return x;
}
unsigned __ballot_sync(unsigned, int x) { return lanes->ballot(x); }
unsigned __reduce_max_sync(unsigned, unsigned x) { return lanes->fold(x, [](unsigned a, unsigned b) { return a > b ? a : b; }); }
int __reduce_min_sync(unsigned, int x) { return lanes->fold(x, [](int a, int b) { return a < b ? a : b; }); }
int __ffs(int x) { return __builtin_ffs(x); }
inline float rsqrt(float x) { return off(x, 1 / std::sqrt(x)); }
inline double rsqrt(double x) { return 1 / std::sqrt(x); }
alignas(16) double memory[LIMIT / sizeof(double)];

#define __CUDA_ARCH__ 800

#define __global__
#define __device__
#define __shared__
#define __noinline__ __attribute__((noinline))
#define __launch_bounds__(threads, blocks)
#define SHARED static
#define SHARED_MEMORY
#include "types.cu"
#include "linalg.cu"
#include "kepler.cu"
#include "arithmetic.cu"
#include "blocks.cu"
#include "q.cu"
#include "lu.cu"
#include "qr.cu"
#include "jacobi.cu"
#include "eigh_reduce.cu"
#include "eigh_merge.cu"
#include "eigh_secular.cu"
#include "eigh_leaf.cu"
#include "eigh.cu"
#define EIGH(N)                       \
  EIGH_KERNEL(N, f32, float)          \
  EIGH_KERNEL(N, f64, double)         \
  EIGH_KERNEL(N, c64, Complex<float>) \
  EIGH_KERNEL(N, c128, Complex<double>)
EIGH(64)
EIGH(128)
EIGH(256)
#include "small.cu"
#include "small_lu.cu"
#include "small_qr.cu"
#include "small_eigh.cu"
#include "small_svd.cu"
#undef __launch_bounds__
#define __launch_bounds__(threads)
#define SMALL_OF(routine, N)                          \
  SMALL_KERNEL(routine, N, f32, float)                \
  SMALL_KERNEL(routine, N, f64, double)               \
  SMALL_KERNEL(routine, N, c64, Complex<float>)       \
  SMALL_KERNEL(routine, N, c128, Complex<double>)
#define SMALL(routine) SMALL_OF(routine, 4) SMALL_OF(routine, 8) SMALL_OF(routine, 16) SMALL_OF(routine, 32)
SMALL(small_lu)
SMALL(small_qr)
SMALL(small_q)
SMALL(small_eigh)
SMALL(small_svd)

// Kernels that come as PTX alone: the C library has these functions, too.
template <class T, class F, class... A> void each(T *values, size_t count, F function, const A *... x) {
  for (size_t i = size_t(blockIdx.x) * blockDim.x + threadIdx.x; i < count; i += size_t(gridDim.x) * blockDim.x)
    values[i] = T(function(double(x[i])...));
}
double lgamma_of(double x) {
  int sign;
  return lgamma_r(x, &sign);
}
double lbeta_of(double a, double b) { return lgamma_of(a) + lgamma_of(b) - lgamma_of(a + b); }
double density_of(double a, double b, double x) {
  return (a - 1) * std::log(x) + (b - 1) * std::log1p(-x) - lbeta_of(a, b);
}
#define SPECIAL(T, end)                                                                                    \
  void lgamma_##end(const T *x, T *values, size_t count) { each(values, count, lgamma_of, x); }            \
  void lbeta_##end(const T *a, const T *b, T *values, size_t count) { each(values, count, lbeta_of, a, b); } \
  void log_beta_density_##end(const T *a, const T *b, const T *x, T *values, size_t count) {               \
    each(values, count, density_of, a, b, x);                                                              \
  }
SPECIAL(float, f32)
SPECIAL(double, f64)

template <class... A, size_t... I>
void unpack(void (*kernel)(A...), void **arguments, std::index_sequence<I...>) {
  kernel(*static_cast<A *>(arguments[I])...);
}
template <auto kernel> struct Call;
template <class... A, void (*kernel)(A...)> struct Call<kernel> {
  static_assert(((sizeof(A) == 8) && ...), "every parameter has 64 bits");
  static void run(void **arguments) { unpack(kernel, arguments, std::index_sequence_for<A...>()); }
};
}  // namespace kernels

// How the threads of a kernel run.
enum class Threads { Alone, InBlocks, InWarps };

struct Kernel {
  const char *name;
  void (*run)(void **);
  Threads threads;
};

namespace {
#define ENTRY(name, threads) {#name, {#name, kernels::Call<kernels::name>::run, Threads::threads}}
#define FOUR_OF(name, threads) \
  ENTRY(name##_f32, threads), ENTRY(name##_f64, threads), ENTRY(name##_c64, threads), ENTRY(name##_c128, threads)
#define ONE(name) ENTRY(name, Alone)
#define TWO(name) ONE(name##_f32), ONE(name##_f64)
#define FOUR(name) FOUR_OF(name, Alone)
#define BLOCKS(name) FOUR_OF(name, InBlocks)
#define WARPS_OF(name) \
  FOUR_OF(name##_4, InWarps), FOUR_OF(name##_8, InWarps), FOUR_OF(name##_16, InWarps), FOUR_OF(name##_32, InWarps)
const std::map<std::string, Kernel> all = {
    TWO(scan),      TWO(scrub),       TWO(poison),      ONE(mark),         ONE(keep_rows),
    ONE(addresses), ONE(take_front),  TWO(identity),    FOUR(transpose),   ONE(adjoint_c64),
    ONE(adjoint_c128), FOUR(columns_of_q), TWO(kepler), ONE(pivots_to_permutation),
    BLOCKS(lu),     BLOCKS(qr),       BLOCKS(jacobi),   BLOCKS(long_columns_of_q),
    BLOCKS(eigh_64), BLOCKS(eigh_128), BLOCKS(eigh_256),
    WARPS_OF(small_lu), WARPS_OF(small_qr), WARPS_OF(small_q), WARPS_OF(small_eigh), WARPS_OF(small_svd),
    TWO(lgamma),    TWO(lbeta),       TWO(log_beta_density),
};

// A device has subnormal numbers, whatever the thread that launches does with them.
class DeviceArithmetic {
  std::fenv_t found;

 public:
  DeviceArithmetic() {
    std::fegetenv(&found);
    std::fesetenv(FE_DFL_ENV);
  }
  ~DeviceArithmetic() { std::fesetenv(&found); }
};

// Whether what lies behind the memory that was asked for is what it was.
bool is_untouched(unsigned shared_bytes) {
  const unsigned char *bytes = reinterpret_cast<unsigned char *>(kernels::memory);
  for (size_t i = shared_bytes; i < LIMIT; ++i)
    if (bytes[i] != 0xab) return false;
  return true;
}

int run_warps(const Kernel &kernel, unsigned grid, unsigned shared_bytes, void **arguments) {
  using namespace kernels;
  std::lock_guard<std::mutex> held(one_at_a_time);
  std::memset(kernels::memory, 0xab, sizeof kernels::memory);
  blockDim = {32, 1}, gridDim = {grid, 1};
  for (blockIdx = {0, 0}; blockIdx.x < grid; ++blockIdx.x) {
    Lanes here([&](unsigned lane) { threadIdx = {lane, 0}; }, [&] { kernel.run(arguments); });
    if (!here.run()) return 719;  // some had fewer steps than others
  }
  return is_untouched(shared_bytes) ? 0 : 700;
}

int run_blocks(const Kernel &kernel, unsigned grid, unsigned warps, unsigned shared_bytes, void **arguments) {
  std::lock_guard<std::mutex> held(one_at_a_time);
  Block here(warps);
  block = &here;
  std::memset(kernels::memory, 0xab, sizeof kernels::memory);
  std::vector<std::thread> threads;
  for (unsigned i = 0; i < warps * WARP; ++i)
    threads.emplace_back([&, i] {
      using namespace kernels;
      threadIdx = {i % WARP, i / WARP}, blockDim = {WARP, warps}, gridDim = {grid, 1};
      for (blockIdx = {0, 0}; blockIdx.x < grid; ++blockIdx.x) {
        kernel.run(arguments);
        __syncthreads();
      }
    });
  for (std::thread &thread : threads) thread.join();
  return is_untouched(shared_bytes) ? 0 : 700;
}
}  // namespace

const Kernel *find_kernel(const char *name) {
  auto found = all.find(name);
  return found == all.end() ? nullptr : &found->second;
}

void allow_all_shared(const Kernel &kernel) {
  std::lock_guard<std::mutex> held(one_at_a_time);
  allowed.insert(&kernel);
}

static size_t shared_of(const Kernel &kernel) {
  std::lock_guard<std::mutex> held(one_at_a_time);
  return allowed.count(&kernel) ? LIMIT : EVERYWHERE;
}

int run_kernel(const Kernel &kernel, unsigned grid_x, unsigned grid_y, unsigned block_x, unsigned block_y,
               unsigned shared_bytes, void **arguments) {
  if (int status = enter(kernel.name)) return status;
  const size_t most = shared_of(kernel);
  DeviceArithmetic mode;
  if (kernel.threads == Threads::InWarps) {
    bool possible = grid_y == 1 && block_x == 32 && block_y == 1 && shared_bytes <= most - FIXED;
    return possible ? run_warps(kernel, grid_x, shared_bytes, arguments) : 1;
  }
  if (kernel.threads == Threads::InBlocks) {
    bool possible = grid_y == 1 && block_x == 32 && block_y <= WARPS && shared_bytes <= most - FIXED;
    return possible ? run_blocks(kernel, grid_x, block_y, shared_bytes, arguments) : 1;
  }
  using namespace kernels;
  gridDim = {grid_x, grid_y}, blockDim = {block_x, block_y};
  for (blockIdx.y = 0; blockIdx.y < grid_y; ++blockIdx.y)
    for (blockIdx.x = 0; blockIdx.x < grid_x; ++blockIdx.x)
      for (threadIdx.y = 0; threadIdx.y < block_y; ++threadIdx.y)
        for (threadIdx.x = 0; threadIdx.x < block_x; ++threadIdx.x) kernel.run(arguments);
  return 0;
}
