// Runs the kernels whose threads meet at barriers, in shapes that take all of their ways: tools/cuda/races.sh
// looks for races in it. Only that they finish is checked here; what they compute is the tests' affair.

#include "fake.h"

#include <algorithm>
#include <complex>
#include <cstdio>
#include <cstdlib>
#include <limits>
#include <string>
#include <vector>

extern "C" int cuModuleGetFunction(void **, void *, const char *);
extern "C" int cuLaunchKernel(void *, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, void *, void **,
                              void **);
extern "C" int cuThreadExchangeStreamCaptureMode(int *);

namespace {
constexpr unsigned BLOCKS = 2;
constexpr long long COUNT = 5;

template <size_t N> void launch(const std::string &name, unsigned warps, size_t shared, long long (&numbers)[N]) {
  void *function, *arguments[N];
  for (size_t i = 0; i < N; ++i) arguments[i] = &numbers[i];
  int mode = 2, stream;
  cuThreadExchangeStreamCaptureMode(&mode);
  int status = cuModuleGetFunction(&function, nullptr, name.c_str());
  cuThreadExchangeStreamCaptureMode(&mode);
  if (!status) status = cuLaunchKernel(function, BLOCKS, 1, 1, 32, warps, 1, shared, &stream, arguments, nullptr);
  if (status) {
    std::fprintf(stderr, "%s: status %d\n", name.c_str(), status);
    std::exit(1);
  }
}

long long number(const void *address) { return reinterpret_cast<long long>(address); }

// `near`: for how many of its matrices a kernel has shared memory.
template <class T> void run(const std::string &type, int m, int n, int near, int full, int adjoint) {
  int k = std::min(m, n), larger = std::max(m, n), columns = full ? larger : k, room = larger * k + larger * columns + k * k;
  std::vector<T> a(COUNT * m * n), u(COUNT * m * m), s(COUNT * k), v(COUNT * n * n), scratch(BLOCKS * room);
  std::vector<T> tau(COUNT * k);
  std::vector<int> info(COUNT), pivots(COUNT * k);
  for (T &x : a) x = T(std::rand() / double(RAND_MAX) - 0.5);
  // The first matrix is singular, two that a block has one after the other are not finite.
  for (int i = 0; i < m; ++i) a[i + m * (n - 1)] = a[i];
  a[m * n] = a[3 * m * n] = T(std::numeric_limits<double>::infinity());
  for (unsigned warps : {1, 2, 5}) {
    long long svd[] = {number(a.data()),    number(s.data()),       number(u.data()), number(v.data()), number(info.data()),
                       number(scratch.data()), room,   COUNT,  m, n, near, 1, full, adjoint};
    launch("jacobi_" + type, warps, k * (6 * sizeof(T) + 2 * sizeof(int)) + near * k * k * sizeof(T), svd);
    std::vector<T> packed = a;
    long long lu[] = {number(packed.data()), number(pivots.data()), number(info.data()), COUNT, m, n, near > 0};
    launch("lu_" + type, warps, near ? m * n * sizeof(T) : 0, lu);
    for (int groups : {1, 2, 8}) {
      int stride = near ? m + 1 : 0;
      std::vector<T> reflectors = a;
      long long qr[] = {number(reflectors.data()), number(tau.data()), COUNT, m, n, groups, stride};
      launch("qr_" + type, warps, stride * n * sizeof(T), qr);
    }
  }
}
}  // namespace

int main() {
  run<float>("f32", 20, 12, 2, 0, 1);
  run<double>("f64", 12, 19, 1, 1, 0);
  run<double>("f64", 2, 1, 2, 1, 1);
  run<std::complex<float>>("c64", 17, 16, 0, 1, 1);
  run<std::complex<double>>("c128", 1, 7, 0, 0, 1);
  run<std::complex<double>>("c128", 14, 9, 2, 0, 0);
}
