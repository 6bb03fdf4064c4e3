// cuBLAS and cuSOLVER as LAPACK.

#include "fake.h"

#include <algorithm>
#include <chrono>
#include <complex>
#include <cstdint>
#include <cstring>
#include <mutex>
#include <pthread.h>
#include <thread>
#include <type_traits>
#include <vector>

// ---- LAPACK ----

typedef std::complex<float> C64;
typedef std::complex<double> C128;
template <class T> struct RealOf {
  typedef T type;
};
template <class R> struct RealOf<std::complex<R>> {
  typedef R type;
};
template <class T> using Real = typename RealOf<T>::type;

#define TYPES(X) X(S, s, float, or, sy) X(D, d, double, or, sy) X(C, c, C64, un, he) X(Z, z, C128, un, he)

#define DECLARE(S, s, T, or_, sy)                                                                           \
  extern "C" {                                                                                              \
  void s##getrf_(int *, int *, T *, int *, int *, int *);                                                   \
  void s##geqrf_(int *, int *, T *, int *, T *, T *, int *, int *);                                         \
  void s##or_##gqr_(int *, int *, int *, T *, int *, const T *, T *, int *, int *);                         \
  void s##or_##mqr_(const char *, const char *, int *, int *, int *, const T *, int *, const T *, T *, int *, T *, int *, int *, size_t, size_t); \
  void s##potrf_(const char *, int *, T *, int *, int *, size_t);                                           \
  void s##sy##trd_(const char *, int *, T *, int *, Real<T> *, Real<T> *, T *, T *, int *, int *, size_t);  \
  }
TYPES(DECLARE)
extern "C" {
void ssyev_(const char *, const char *, int *, float *, int *, float *, float *, int *, int *, size_t, size_t);
void dsyev_(const char *, const char *, int *, double *, int *, double *, double *, int *, int *, size_t, size_t);
void cheev_(const char *, const char *, int *, C64 *, int *, float *, C64 *, int *, float *, int *, size_t, size_t);
void zheev_(const char *, const char *, int *, C128 *, int *, double *, C128 *, int *, double *, int *, size_t, size_t);
void sgesvd_(const char *, const char *, int *, int *, float *, int *, float *, float *, int *, float *, int *, float *, int *, int *, size_t, size_t);
void dgesvd_(const char *, const char *, int *, int *, double *, int *, double *, double *, int *, double *, int *, double *, int *, int *, size_t, size_t);
void cgesvd_(const char *, const char *, int *, int *, C64 *, int *, float *, C64 *, int *, C64 *, int *, C64 *, int *, float *, int *, size_t, size_t);
void zgesvd_(const char *, const char *, int *, int *, C128 *, int *, double *, C128 *, int *, C128 *, int *, C128 *, int *, double *, int *, size_t, size_t);
void sgeev_(const char *, const char *, int *, float *, int *, float *, float *, float *, int *, float *, int *, float *, int *, int *, size_t, size_t);
void dgeev_(const char *, const char *, int *, double *, int *, double *, double *, double *, int *, double *, int *, double *, int *, int *, size_t, size_t);
void cgeev_(const char *, const char *, int *, C64 *, int *, C64 *, C64 *, int *, C64 *, int *, C64 *, int *, float *, int *, size_t, size_t);
void zgeev_(const char *, const char *, int *, C128 *, int *, C128 *, C128 *, int *, C128 *, int *, C128 *, int *, double *, int *, size_t, size_t);
}

namespace {
// OpenBLAS's threaded getrf and potrf need more stack than a test's thread has.
template <class F> void with_stack(F f) {
  pthread_attr_t attributes;
  pthread_attr_init(&attributes);
  pthread_attr_setstacksize(&attributes, 16 << 20);
  pthread_t thread;
  pthread_create(&thread, &attributes, [](void *f) -> void * { return (*static_cast<F *>(f))(), nullptr; }, &f);
  pthread_join(thread, nullptr);
}

int room(int m, int n) { return 70 * (m + n + 8); }

void eigen(char uplo, int n, float *a, float *w, int *info) {
  int length = room(n, n);
  std::vector<float> work(length);
  ssyev_("V", &uplo, &n, a, &n, w, work.data(), &length, info, 1, 1);
}
void eigen(char uplo, int n, double *a, double *w, int *info) {
  int length = room(n, n);
  std::vector<double> work(length);
  dsyev_("V", &uplo, &n, a, &n, w, work.data(), &length, info, 1, 1);
}
void eigen(char uplo, int n, C64 *a, float *w, int *info) {
  int length = room(n, n);
  std::vector<C64> work(length);
  std::vector<float> real(3 * n + 8);
  cheev_("V", &uplo, &n, a, &n, w, work.data(), &length, real.data(), info, 1, 1);
}
void eigen(char uplo, int n, C128 *a, double *w, int *info) {
  int length = room(n, n);
  std::vector<C128> work(length);
  std::vector<double> real(3 * n + 8);
  zheev_("V", &uplo, &n, a, &n, w, work.data(), &length, real.data(), info, 1, 1);
}

#define SINGULAR_REAL(s, T)                                                                                     \
  void singular(const char *job, int m, int n, T *a, T *values, T *u, T *vt, int ldvt, int *info) {             \
    int length = room(m, n);                                                                                    \
    std::vector<T> work(length);                                                                                \
    s##gesvd_(job, job, &m, &n, a, &m, values, u, &m, vt, &ldvt, work.data(), &length, info, 1, 1);             \
  }
#define SINGULAR_COMPLEX(s, T)                                                                                  \
  void singular(const char *job, int m, int n, T *a, Real<T> *values, T *u, T *vt, int ldvt, int *info) {       \
    int length = room(m, n);                                                                                    \
    std::vector<T> work(length);                                                                                \
    std::vector<Real<T>> real(5 * std::min(m, n) + 8);                                                          \
    s##gesvd_(job, job, &m, &n, a, &m, values, u, &m, vt, &ldvt, work.data(), &length, real.data(), info, 1, 1); \
  }
SINGULAR_REAL(s, float)
SINGULAR_REAL(d, double)
SINGULAR_COMPLEX(c, C64)
SINGULAR_COMPLEX(z, C128)

#define GENERAL_REAL(s, T)                                                                                  \
  void general(const char *l, const char *r, int n, T *a, std::complex<T> *w, T *vl, T *vr, int *info) {    \
    int length = room(n, n);                                                                                \
    std::vector<T> work(length), re(n), im(n);                                                              \
    s##geev_(l, r, &n, a, &n, re.data(), im.data(), vl, &n, vr, &n, work.data(), &length, info, 1, 1);      \
    for (int i = 0; i < n; ++i) w[i] = {re[i], im[i]};                                                      \
  }
#define GENERAL_COMPLEX(s, T)                                                                               \
  void general(const char *l, const char *r, int n, T *a, T *w, T *vl, T *vr, int *info) {                  \
    int length = room(n, n);                                                                                \
    std::vector<T> work(length);                                                                            \
    std::vector<Real<T>> real(2 * n + 8);                                                                   \
    s##geev_(l, r, &n, a, &n, w, vl, &n, vr, &n, work.data(), &length, real.data(), info, 1, 1);            \
  }
GENERAL_REAL(s, float)
GENERAL_REAL(d, double)
GENERAL_COMPLEX(c, C64)
GENERAL_COMPLEX(z, C128)

float conj_of(float x) { return x; }
double conj_of(double x) { return x; }
template <class R> std::complex<R> conj_of(std::complex<R> x) { return std::conj(x); }

// As cuSOLVER's Jacobi: V instead of its adjoint; `a` is no longer of use.
template <class T>
void jacobi(bool vectors, bool econ, int m, int n, T *a, Real<T> *s, T *u, T *v, int *info) {
  int k = std::min(m, n), rows = econ ? k : n;
  std::vector<T> vt(rows * n + 1);
  singular(!vectors ? "N" : econ ? "S" : "A", m, n, a, s, u, vt.data(), std::max(rows, 1), info);
  if (vectors)
    for (int i = 0; i < n; ++i)
      for (int j = 0; j < rows; ++j) v[i + j * n] = conj_of(vt[j + i * rows]);
  std::fill(a, a + m * n, T(-77));
}

// Whoever asked for this much may write all of it.
template <class T> void use(T *work, size_t length) {
  if (length) std::memset(static_cast<void *>(work), 0xab, length * sizeof(T));
}
constexpr int WORK = 37;
// As Jacobi's routines for batches, which say in 32 bits how much room they want.
int countable(int m, int n, int count) { return (1050 + (int64_t)m * n) * count > INT32_MAX ? 3 : 0; }
char letter(int uplo) { return uplo ? 'U' : 'L'; }
}  // namespace

// ---- cuBLAS ----

API cublasCreate_v2(void **handle) {
  ENTER;
  return *handle = new int, 0;
}
API cublasSetStream_v2(void *, void *) { return 0; }

#define CUBLAS(S, s, T, or_, sy)                                                                          \
  API cublas##S##getrfBatched(void *, int n, T *const *a, int lda, int *pivots, int *info, int count) {   \
    ENTER;                                                                                                \
    with_stack([&] { for (int b = 0; b < count; ++b) s##getrf_(&n, &n, a[b], &lda, pivots + b * n, info + b); });              \
    return 0;                                                                                             \
  }                                                                                                       \
  API cublas##S##geqrfBatched(void *, int m, int n, T *const *a, int lda, T *const *tau, int *info, int count) { \
    ENTER;                                                                                                \
    int length = room(m, n);                                                                              \
    std::vector<T> work(length);                                                                          \
    for (int b = 0; b < count; ++b) s##geqrf_(&m, &n, a[b], &lda, tau[b], work.data(), &length, info);    \
    return 0;                                                                                             \
  }
TYPES(CUBLAS)

// ---- cuSOLVER ----

API cusolverDnCreate(void **handle) {
  ENTER;
  return *handle = new int, 0;
}
API cusolverDnSetStream(void *, void *) { ENTER; return 0; }
API cusolverDnCreateParams(void **params) { return *params = new int, 0; }
API cusolverDnCreateSyevjInfo(void **params) { return *params = new int, 0; }
API cusolverDnCreateGesvdjInfo(void **params) { return *params = new int, 0; }

#define CUSOLVER(S, s, T, or_, sy)                                                                          \
  API cusolverDn##S##getrf_bufferSize(void *, int, int, T *, int, int *length) { return *length = WORK, 0; } \
  API cusolverDn##S##getrf(void *, int m, int n, T *a, int lda, T *work, int *pivots, int *info) {          \
    ENTER;                                                                                                  \
    use(work, WORK);                                                                                        \
    with_stack([&] { s##getrf_(&m, &n, a, &lda, pivots, info); });                                                               \
    return 0;                                                                                               \
  }                                                                                                         \
  API cusolverDn##S##geqrf_bufferSize(void *, int, int, T *, int, int *length) { return *length = WORK, 0; } \
  API cusolverDn##S##geqrf(void *, int m, int n, T *a, int lda, T *tau, T *work, int length, int *info) {   \
    ENTER;                                                                                                  \
    use(work, length);                                                                                      \
    int own = room(m, n);                                                                                   \
    std::vector<T> mine(own);                                                                               \
    s##geqrf_(&m, &n, a, &lda, tau, mine.data(), &own, info);                                               \
    return 0;                                                                                               \
  }                                                                                                         \
  API cusolverDn##S##or_##gqr_bufferSize(void *, int, int, int, const T *, int, const T *, int *length) { return *length = WORK, 0; } \
  API cusolverDn##S##or_##gqr(void *, int m, int n, int k, T *a, int lda, const T *tau, T *work, int length, int *info) { \
    ENTER;                                                                                                  \
    use(work, length);                                                                                      \
    int own = room(m, n);                                                                                   \
    std::vector<T> mine(own);                                                                               \
    s##or_##gqr_(&m, &n, &k, a, &lda, tau, mine.data(), &own, info);                                        \
    return 0;                                                                                               \
  }                                                                                                         \
  API cusolverDn##S##or_##mqr_bufferSize(void *, int, int, int, int, int, const T *, int, const T *, const T *, int, int *length) { return *length = WORK, 0; } \
  API cusolverDn##S##or_##mqr(void *, int side, int trans, int m, int n, int k, const T *a, int lda, const T *tau, T *c, int ldc, T *work, int length, int *info) { \
    ENTER;                                                                                                  \
    use(work, length);                                                                                      \
    int own = room(m, n);                                                                                   \
    std::vector<T> mine(own), copy(a, a + (size_t)lda * k);                                                 \
    s##or_##mqr_(side ? "R" : "L", trans == 2 ? "C" : trans ? "T" : "N", &m, &n, &k, copy.data(), &lda, tau, c, &ldc, mine.data(), &own, info, 1, 1); \
    return 0;                                                                                               \
  }                                                                                                         \
  API cusolverDn##S##potrf_bufferSize(void *, int, int, T *, int, int *length) { return *length = WORK, 0; } \
  API cusolverDn##S##potrf(void *, int uplo, int n, T *a, int lda, T *work, int length, int *info) {        \
    ENTER;                                                                                                  \
    use(work, length);                                                                                      \
    char triangle = letter(uplo);                                                                           \
    with_stack([&] { s##potrf_(&triangle, &n, a, &lda, info, 1); });                                                             \
    return 0;                                                                                               \
  }                                                                                                         \
  API cusolverDn##S##potrfBatched(void *, int uplo, int n, T **a, int lda, int *info, int count) {          \
    ENTER;                                                                                                  \
    char triangle = letter(uplo);                                                                           \
    with_stack([&] { for (int b = 0; b < count; ++b) s##potrf_(&triangle, &n, a[b], &lda, info + b, 1); });                      \
    return 0;                                                                                               \
  }                                                                                                         \
  API cusolverDn##S##sy##trd_bufferSize(void *, int, int, const T *, int, const Real<T> *, const Real<T> *, const T *, int *length) { return *length = WORK, 0; } \
  API cusolverDn##S##sy##trd(void *, int uplo, int n, T *a, int lda, Real<T> *d, Real<T> *e, T *tau, T *work, int length, int *info) { \
    ENTER;                                                                                                  \
    use(work, length);                                                                                      \
    char triangle = letter(uplo);                                                                           \
    int own = room(n, n);                                                                                   \
    std::vector<T> mine(own);                                                                               \
    s##sy##trd_(&triangle, &n, a, &lda, d, e, tau, mine.data(), &own, info, 1);                             \
    return 0;                                                                                               \
  }                                                                                                         \
  API cusolverDn##S##sy##evj_bufferSize(void *, int, int, int, const T *, int, const Real<T> *, int *length, void *) { return *length = WORK, 0; } \
  API cusolverDn##S##sy##evj(void *, int, int uplo, int n, T *a, int, Real<T> *w, T *work, int length, int *info, void *) { \
    ENTER;                                                                                                  \
    use(work, length);                                                                                      \
    eigen(letter(uplo), n, a, w, info);                                                                     \
    return 0;                                                                                               \
  }                                                                                                         \
  API cusolverDn##S##sy##evjBatched_bufferSize(void *, int, int, int n, const T *, int, const Real<T> *, int *length, void *, int count) { return *length = WORK, countable(n, n, count); } \
  API cusolverDn##S##sy##evjBatched(void *, int, int uplo, int n, T *a, int, Real<T> *w, T *work, int length, int *info, void *, int count) { \
    ENTER;                                                                                                  \
    use(work, length);                                                                                      \
    for (int b = 0; b < count; ++b) eigen(letter(uplo), n, a + (size_t)b * n * n, w + b * n, info + b);     \
    return 0;                                                                                               \
  }                                                                                                         \
  API cusolverDn##S##gesvdj_bufferSize(void *, int, int, int, int, const T *, int, const Real<T> *, const T *, int, const T *, int, int *length, void *) { return *length = WORK, 0; } \
  API cusolverDn##S##gesvdj(void *, int jobz, int econ, int m, int n, T *a, int, Real<T> *values, T *u, int, T *v, int, T *work, int length, int *info, void *) { \
    ENTER;                                                                                                  \
    use(work, length);                                                                                      \
    jacobi(jobz, econ, m, n, a, values, u, v, info);                                                        \
    return 0;                                                                                               \
  }                                                                                                         \
  API cusolverDn##S##gesvdjBatched_bufferSize(void *, int, int m, int n, const T *, int, const Real<T> *, const T *, int, const T *, int, int *length, void *, int count) { return *length = WORK, countable(m, n, count); } \
  API cusolverDn##S##gesvdjBatched(void *, int jobz, int m, int n, T *a, int, Real<T> *values, T *u, int, T *v, int, T *work, int length, int *info, void *, int count) { \
    ENTER;                                                                                                  \
    if (m > 32 || n > 32) return 3;                                                                         \
    use(work, length);                                                                                      \
    for (int b = 0; b < count; ++b)                                                                         \
      jacobi(jobz, false, m, n, a + b * m * n, values + b * std::min(m, n), u + b * m * m, v + b * n * n, info + b); \
    return 0;                                                                                               \
  }
TYPES(CUSOLVER)

// Calls f with a null pointer of the type that the number stands for.
template <class F> int with_type(int type, F f) {
  switch (type) {
    case 0: return f(static_cast<float *>(nullptr)), 0;
    case 1: return f(static_cast<double *>(nullptr)), 0;
    case 4: return f(static_cast<C64 *>(nullptr)), 0;
    case 5: return f(static_cast<C128 *>(nullptr)), 0;
  }
  return 3;
}
template <class T> T *at(void *data, size_t index) { return static_cast<T *>(data) + index; }

constexpr size_t DEVICE = 41, HOST = 43;
#define SIZES(device, host) return *device = DEVICE, *host = HOST, 0
#define WORK_IN(device, host)                          \
  ENTER;                                               \
  if (on_device != DEVICE || on_host != HOST) return 3; \
  std::memset(device, 0xab, DEVICE), std::memset(host, 0xab, HOST)

API cusolverDnXsyevd_bufferSize(void *, void *, int, int, int64_t, int, const void *, int64_t, int, const void *, int, size_t *device, size_t *host) { SIZES(device, host); }
API cusolverDnXsyevd(void *, void *, int, int uplo, int64_t n, int type, void *a, int64_t, int, void *w, int, void *device, size_t on_device, void *host, size_t on_host, int *info) {
  WORK_IN(device, host);
  return with_type(type, [=](auto *t) {
    typedef std::remove_reference_t<decltype(*t)> T;
    eigen(letter(uplo), n, at<T>(a, 0), at<Real<T>>(w, 0), info);
  });
}
API cusolverDnXsyevBatched_bufferSize(void *, void *, int, int, int64_t n, int, const void *, int64_t, int, const void *, int, size_t *device, size_t *host, int64_t count) {
  if (count > 32768 || n * n * count > INT32_MAX) return 3;
  SIZES(device, host);
}
API cusolverDnXsyevBatched(void *, void *, int, int uplo, int64_t n, int type, void *a, int64_t, int, void *w, int, void *device, size_t on_device, void *host, size_t on_host, int *info, int64_t count) {
  // As in CUDA 12.6, where the results were wrong.
  const char *bytes = static_cast<const char *>(device);
  if (on_device != DEVICE || std::any_of(bytes, bytes + DEVICE, [](char byte) { return byte != 0; })) return 6;
  WORK_IN(device, host);
  return with_type(type, [=](auto *t) {
    typedef std::remove_reference_t<decltype(*t)> T;
    for (int64_t b = 0; b < count; ++b) eigen(letter(uplo), n, at<T>(a, b * n * n), at<Real<T>>(w, b * n), info + b);
  });
}
API cusolverDnXgesvd_bufferSize(void *, void *, signed char, signed char, int64_t m, int64_t n, int, const void *, int64_t, int, const void *, int, const void *, int64_t, int, const void *, int64_t, int, size_t *device, size_t *host) {
  if (m < n) return 3;
  SIZES(device, host);
}
API cusolverDnXgesvd(void *, void *, signed char job, signed char, int64_t m, int64_t n, int type, void *a, int64_t, int, void *s, int, void *u, int64_t, int, void *vt, int64_t ldvt, int, void *device, size_t on_device, void *host, size_t on_host, int *info) {
  WORK_IN(device, host);
  if (m < n) return 3;
  const char letter[] = {(char)job, 0};
  return with_type(type, [=](auto *t) {
    typedef std::remove_reference_t<decltype(*t)> T;
    singular(letter, m, n, at<T>(a, 0), at<Real<T>>(s, 0), at<T>(u, 0), at<T>(vt, 0), ldvt, info);
  });
}
API cusolverDnXgesvdp_bufferSize(void *, void *, int, int, int64_t, int64_t, int, const void *, int64_t, int, const void *, int, const void *, int64_t, int, const void *, int64_t, int, size_t *device, size_t *host) { SIZES(device, host); }
API cusolverDnXgesvdp(void *, void *, int jobz, int econ, int64_t m, int64_t n, int type, void *a, int64_t, int, void *s, int, void *u, int64_t, int, void *v, int64_t, int, void *device, size_t on_device, void *host, size_t on_host, int *info, double *error) {
  WORK_IN(device, host);
  *error = 0;
  return with_type(type, [=](auto *t) {
    typedef std::remove_reference_t<decltype(*t)> T;
    jacobi(jobz, econ, m, n, at<T>(a, 0), at<Real<T>>(s, 0), at<T>(u, 0), at<T>(v, 0), info);
  });
}
API cusolverDnXgeev_bufferSize(void *, void *, int, int, int64_t, int, const void *, int64_t, int, const void *, int, const void *, int64_t, int, const void *, int64_t, int, size_t *device, size_t *host) { SIZES(device, host); }
API cusolverDnXgeev(void *, void *, int left, int right, int64_t n, int type, void *a, int64_t, int, void *w, int, void *vl, int64_t, int, void *vr, int64_t, int, void *device, size_t on_device, void *host, size_t on_host, int *info) {
  WORK_IN(device, host);
  // As before CUDA 13.0 Update 1, two threads at once are one too many.
  static std::mutex busy;
  std::unique_lock<std::mutex> alone(busy, std::try_to_lock);
  if (!alone) return 7;
  std::this_thread::sleep_for(std::chrono::milliseconds(1));
  return with_type(type, [=](auto *t) {
    typedef std::remove_reference_t<decltype(*t)> T;
    general(left ? "V" : "N", right ? "V" : "N", n, at<T>(a, 0), at<std::complex<Real<T>>>(w, 0), at<T>(vl, 0), at<T>(vr, 0), info);
  });
}
