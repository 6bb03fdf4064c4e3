/* Bodies of ops as they are written by hand: compiled by helper-own-op.R. */
#include <xlaffi.h>
#include <stdlib.h>

#define BUFFER(i, type) ((type *) call->buffers[i])
#define ATTRIBUTE(i, type) ((const type *) call->attributes[i].data)

/* x: T[n], y: T[] -> z: T[n] */
#define TIMES(name, type)                                                     \
  XLAFFI_EXPORT int32_t name(const xlaffi_call *call) {                       \
    const type *x = BUFFER(0, type), *y = BUFFER(1, type);                    \
    type *z = BUFFER(2, type);                                                \
    for (int64_t i = 0; i < call->dims[0]; i++) z[i] = x[i] * *y;             \
    return XLAFFI_OK;                                                         \
  }
TIMES(times_f32, float)
TIMES(times_f64, double)
TIMES(times_i32, int32_t)

/* x: f64[n] -> y: f64[n] */
XLAFFI_EXPORT int32_t root(const xlaffi_call *call) {
  for (int64_t i = 0; i < call->dims[0]; i++) {
    double x = BUFFER(0, double)[i];
    if (x < 0) {
      return xlaffi_fail(call, XLAFFI_OUT_OF_RANGE, "x[%lld] is %g", (long long) i, x);
    }
    BUFFER(1, double)[i] = x;
  }
  return XLAFFI_OK;
}

/* a: f64[..., m, n] column -> sums: f64[..., n], a: f64[..., m, n] column: sums of columns, and a without them */
XLAFFI_EXPORT int32_t centre(const xlaffi_call *call) {
  double *a = BUFFER(0, double), *sums = BUFFER(1, double);
  int64_t m = call->dims[0], n = call->dims[1];
  for (int64_t j = 0; j < n; j++) {
    sums[j] = 0;
    for (int64_t i = 0; i < m; i++) sums[j] += a[i + j * m];
    for (int64_t i = 0; i < m; i++) a[i + j * m] -= sums[j] / m;
  }
  return XLAFFI_OK;
}

/* x: f64[n]; alpha: f64 = 2, lags: i64[p] = [1], mode: str = "plain", k: i32 = 1 -> y: f64[n + k], told: f64[3] */
XLAFFI_EXPORT int32_t padded(const xlaffi_call *call) {
  int64_t n = call->dims[0];
  int32_t k = *ATTRIBUTE(3, int32_t);
  double alpha = *ATTRIBUTE(0, double), *y = BUFFER(1, double), *told = BUFFER(2, double);
  for (int64_t i = 0; i < n + k; i++) y[i] = i < n ? alpha * BUFFER(0, double)[i] : 0;
  told[0] = call->dims[1];
  told[1] = 0;
  for (int64_t i = 0; i < call->dims[1]; i++) told[1] += ATTRIBUTE(1, int64_t)[i];
  told[2] = call->attributes[2].length;
  return XLAFFI_OK;
}

/* xs: f64[n]*k, w: f64[n] -> total: f64[n] */
XLAFFI_EXPORT int32_t total(const xlaffi_call *call) {
  double **xs = (double **) call->buffers[0];
  int64_t n = call->dims[0], k = call->dims[1];
  for (int64_t i = 0; i < n; i++) {
    BUFFER(2, double)[i] = 0;
    for (int64_t j = 0; j < k; j++) BUFFER(2, double)[i] += xs[j][i] * BUFFER(1, double)[i];
  }
  return XLAFFI_OK;
}

/* x: f64[n], w: f64[n]? -> y: f64[] */
XLAFFI_EXPORT int32_t weighted(const xlaffi_call *call) {
  const double *w = BUFFER(1, double);
  double sum = 0;
  for (int64_t i = 0; i < call->dims[0]; i++) sum += BUFFER(0, double)[i] * (w ? w[i] : 1);
  *BUFFER(2, double) = sum;
  return XLAFFI_OK;
}

static int states = 0;

XLAFFI_EXPORT int32_t state_init(const xlaffi_call *call, void **state) {
  double *kept = malloc(sizeof(double));
  *kept = 10 * *ATTRIBUTE(0, double);
  *state = kept;
  states++;
  return XLAFFI_OK;
}

XLAFFI_EXPORT void state_cleanup(void *state) {
  free(state);
  states--;
}

/* x: f64[n]; k: f64 -> y: f64[n], alive: i32[] */
XLAFFI_EXPORT int32_t stateful(const xlaffi_call *call) {
  for (int64_t i = 0; i < call->dims[0]; i++) BUFFER(1, double)[i] = BUFFER(0, double)[i] + *(double *) call->state;
  *BUFFER(2, int32_t) = states;
  return XLAFFI_OK;
}

/* -> alive: i32[] */
XLAFFI_EXPORT int32_t alive(const xlaffi_call *call) {
  *BUFFER(0, int32_t) = states;
  return XLAFFI_OK;
}

/* A routine as `.C()` calls it. */
XLAFFI_EXPORT void running(double *x, int *n, double *scale, double *sum) {
  *sum = 0;
  for (int i = 0; i < *n; i++) {
    *sum += *scale * x[i];
    x[i] = *sum;
  }
}

XLAFFI_EXPORT int by_value(const double *x, int64_t n, double *y) {
  for (int64_t i = 0; i < n; i++) y[i] = x[i] + 1;
  return n > 3 ? 7 : 0;
}

/* x: f64[n]; alpha: f64 -> y: f64[n] */
XLAFFI_EXPORT int32_t scaled(const xlaffi_call *call) {
  const double *x = call->buffers[0];
  double alpha = *(const double *)call->attributes[0].data;
  double *y = call->buffers[1];
  for (int64_t i = 0; i < call->dims[0]; i++) y[i] = alpha * x[i];
  return XLAFFI_OK;
}
