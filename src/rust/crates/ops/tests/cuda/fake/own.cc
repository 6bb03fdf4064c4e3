// Kernels that are not this package's: NVRTC's programs with a function `xlaffi_kernel` are compiled by
// the C++ compiler, with what a device has in front of them, and run thread by thread; a block whose
// threads meet at barriers runs on as many threads of this processor.

#include "fake.h"

#include <cfenv>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <dlfcn.h>
#include <fstream>
#include <iterator>
#include <map>
#include <mutex>
#include <regex>
#include <set>
#include <string>
#include <unistd.h>

namespace {
const char *const DEVICE = R"(
#include <math.h>
#include <pthread.h>
#include <stdint.h>
#include <string.h>
#define __global__
#define __device__
#define __forceinline__ inline
#define __grid_constant__
#define __shared__ static
struct xlaffi_fake_place { unsigned x, y, z; };
static thread_local xlaffi_fake_place threadIdx, blockIdx, blockDim, gridDim;
struct float2 { float x, y; };
struct double2 { double x, y; };
static pthread_barrier_t xlaffi_fake_barrier;
static pthread_mutex_t xlaffi_fake_mutex = PTHREAD_MUTEX_INITIALIZER;
alignas(16) static char xlaffi_fake_shared[1 << 20];
static inline void __syncthreads() { pthread_barrier_wait(&xlaffi_fake_barrier); }
static inline int atomicCAS(int *at, int old, int value) { return __sync_val_compare_and_swap(at, old, value); }
template <class X> static inline X atomicAdd(X *at, X value) {
  pthread_mutex_lock(&xlaffi_fake_mutex);
  X old = *at;
  *at += value;
  pthread_mutex_unlock(&xlaffi_fake_mutex);
  return old;
}
)";

const char *const RUN = R"(
#line 1 "fake"
struct xlaffi_fake_thread {
  const xlaffi_arguments *argument;
  xlaffi_fake_place grid, block, here;
  unsigned at;
};
static void *xlaffi_fake_one(void *raw) {
  const xlaffi_fake_thread &thread = *static_cast<xlaffi_fake_thread *>(raw);
  const xlaffi_fake_place block = thread.block;
  gridDim = thread.grid, blockDim = block, blockIdx = thread.here;
  threadIdx = {thread.at % block.x, thread.at / block.x % block.y, thread.at / block.x / block.y};
  xlaffi_kernel(*thread.argument);
  return nullptr;
}
extern "C" void xlaffi_fake_run(const unsigned *sizes, bool meets, const void *argument) {
  const xlaffi_fake_place grid = {sizes[0], sizes[1], sizes[2]}, block = {sizes[3], sizes[4], sizes[5]};
  const unsigned count = block.x * block.y * block.z;
  static xlaffi_fake_thread threads[1024];
  static pthread_t handles[1024];
  for (unsigned i = 0; i < count; ++i)
    threads[i] = {static_cast<const xlaffi_arguments *>(argument), grid, block, {0, 0, 0}, i};
  for (unsigned z = 0; z < grid.z; ++z)
    for (unsigned y = 0; y < grid.y; ++y)
      for (unsigned x = 0; x < grid.x; ++x) {
        for (unsigned i = 0; i < count; ++i) threads[i].here = {x, y, z};
        if (!meets) {
          for (unsigned i = 0; i < count; ++i) xlaffi_fake_one(&threads[i]);
          continue;
        }
        pthread_barrier_init(&xlaffi_fake_barrier, nullptr, count);
        for (unsigned i = 0; i < count; ++i) pthread_create(&handles[i], nullptr, xlaffi_fake_one, &threads[i]);
        for (unsigned i = 0; i < count; ++i) pthread_join(handles[i], nullptr);
        pthread_barrier_destroy(&xlaffi_fake_barrier);
      }
}
extern "C" const bool xlaffi_fake_meets = MEETS;
)";

struct Own {
  void (*run)(const unsigned *, bool, const void *);
  bool meets;
  unsigned shared;
};

std::mutex one_at_a_time;
// Never destroyed, as kernels are loaded for good.
std::set<void *> &all = *new std::set<void *>;

std::string folder() {
  char name[] = "/tmp/xlaffi-fake-XXXXXX";
  return mkdtemp(name);
}

std::string content(const std::string &path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}
}  // namespace

bool is_own_source(const std::string &source) { return source.find(" xlaffi_kernel(") != std::string::npos; }

// The image: a mark, the length, a shared library. Empty, with a log, where the compiler refuses.
std::string compile_own(const std::string &source, const std::map<std::string, std::string> &headers, std::string &log) {
  const std::string here = folder(), unit = here + "/unit.cpp", library = here + "/unit.so", wrote = here + "/log";
  // Those without a text stand for the compiler's own.
  for (auto &header : headers)
    if (!header.second.empty()) std::ofstream(here + "/" + header.first) << header.second;
  const std::regex dynamic("extern\\s+__shared__\\s+(\\w+)\\s+(\\w+)\\[\\];");
  const bool meets = source.find("__syncthreads(") != std::string::npos;
  std::ofstream(unit) << DEVICE << std::regex_replace(source, dynamic, "$1 *$2 = reinterpret_cast<$1 *>(xlaffi_fake_shared);")
                      << std::regex_replace(RUN, std::regex("MEETS"), meets ? "true" : "false");
  const char *compiler = std::getenv("CXX");
  const std::string command = std::string(compiler ? compiler : "c++") + " -std=c++17 -O0 -w -shared -fPIC -pthread -I" + here + " -o " +
                              library + " " + unit + " >" + wrote + " 2>&1";
  const bool failed = std::system(command.c_str()) != 0;
  log = content(wrote);
  const std::string code = failed ? "" : content(library);
  for (const char *file : {"/unit.cpp", "/unit.so", "/log"}) std::remove((here + file).c_str());
  for (auto &header : headers) std::remove((here + "/" + header.first).c_str());
  rmdir(here.c_str());
  if (failed) return "";
  const uint64_t size = code.size();
  return "own code" + std::string(reinterpret_cast<const char *>(&size), 8) + code;
}

void *load_own(const void *image) {
  const char *bytes = static_cast<const char *>(image);
  if (std::memcmp(bytes, "own code", 8)) return nullptr;
  uint64_t size;
  std::memcpy(&size, bytes + 8, 8);
  const std::string here = folder(), library = here + "/unit.so";
  std::ofstream(library, std::ios::binary).write(bytes + 16, size);
  void *handle = dlopen(library.c_str(), RTLD_NOW | RTLD_LOCAL);
  std::remove(library.c_str());
  rmdir(here.c_str());
  if (!handle) return nullptr;
  Own *own = new Own{};
  own->run = reinterpret_cast<decltype(own->run)>(dlsym(handle, "xlaffi_fake_run"));
  own->meets = *static_cast<bool *>(dlsym(handle, "xlaffi_fake_meets"));
  own->shared = 48 << 10;
  std::lock_guard<std::mutex> held(one_at_a_time);
  all.insert(own);
  return own;
}

bool is_own(void *function) {
  std::lock_guard<std::mutex> held(one_at_a_time);
  return all.count(function);
}

void allow_shared(void *function, unsigned bytes) { static_cast<Own *>(function)->shared = bytes; }

int run_own(void *function, const unsigned *sizes, unsigned shared, void **arguments) {
  if (int status = enter("xlaffi_kernel")) return status;
  Own *own = static_cast<Own *>(function);
  const uint64_t threads = (uint64_t)sizes[3] * sizes[4] * sizes[5];
  if (!sizes[0] || !sizes[1] || !sizes[2] || sizes[1] > 65535 || sizes[2] > 65535 || !threads || threads > 1024 ||
      sizes[5] > 64 || shared > own->shared)
    return 1;
  // A device has subnormal numbers, whatever the thread that launches does with them.
  std::fenv_t found;
  std::fegetenv(&found);
  std::fesetenv(FE_DFL_ENV);
  // Those of a block share their memory.
  std::lock_guard<std::mutex> held(one_at_a_time);
  own->run(sizes, own->meets, arguments[0]);
  std::fesetenv(&found);
  return 0;
}
