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
    // As `Panel` in lu.cu and in routines/lu.rs has it.
    int most = sizeof(T) > sizeof(std::complex<float>) ? 16 : 32;
    for (int width : {8, most}) {
      std::vector<T> packed = a;
      long long lu[] = {number(packed.data()), number(pivots.data()), number(info.data()), COUNT, m, n, width};
      size_t shared = ((most + m + (n + 7) / 8 * 8 + 4) * width + most) * sizeof(T) + 3 * width * sizeof(int);
      launch("lu_" + type, warps, shared, lu);
    }
    for (int groups : {1, 2, 8}) {
      int stride = near ? m + 1 : 0;
      std::vector<T> reflectors = a;
      long long qr[] = {number(reflectors.data()), number(tau.data()), COUNT, m, n, groups, stride};
      launch("qr_" + type, warps, stride * n * sizeof(T), qr);
    }
  }
}
// Eigenvalues, with `columns` of A and `near` of the other matrices in shared memory.
template <class T, class R> void run_eigh(const std::string &type, int n, int columns, int near) {
  int stride = n | 1, room = ((n - columns) * stride * sizeof(T) + (3 - near) * n * n * sizeof(R) + 15) / 16 * 16;
  std::vector<T> a(COUNT * n * n), v(COUNT * n * n);
  std::vector<R> w(COUNT * n);
  std::vector<int> info(COUNT);
  std::vector<double> scratch(BLOCKS * room / sizeof(double));
  for (T &x : a) x = T(std::rand() / double(RAND_MAX) - 0.5);
  // The first matrix has one element, the second one is not finite, the third one has some values twice.
  std::fill(a.begin(), a.begin() + n * n, T());
  a[n - 1] = 1, a[n * n] = T(std::numeric_limits<double>::infinity());
  for (int j = 0; j < n; ++j)
    for (int i = 0; i < n; ++i) a[2 * n * n + j * n + i] = T(i == j ? 3 : i / 2 == j / 2);
  size_t shared = n * (sizeof(T) + 11 * sizeof(R) + 8 * sizeof(int)) + columns * stride * sizeof(T) + near * n * n * sizeof(R);
  for (unsigned warps : {1, 2, 5}) {
    long long eigh[] = {number(a.data()), number(v.data()), number(w.data()), number(info.data()), number(scratch.data()), room,
                        COUNT, n, stride, columns, near, warps & 1};
    launch("eigh_64_" + type, warps, shared, eigh);
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
  run_eigh<float, float>("f32", 33, 33, 3);
  run_eigh<double, double>("f64", 18, 18, 1);
  run_eigh<std::complex<float>, float>("c64", 17, 0, 0);
  run_eigh<std::complex<double>, double>("c128", 20, 15, 0);
}
