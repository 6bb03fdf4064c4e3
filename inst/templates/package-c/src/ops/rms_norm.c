#include <math.h>
#include <xlaffi.h>

// xlaffi: rms_norm(x: T[..., n]; eps: f64 = 1e-5 -> y: T[..., n]) dtypes T = f32, f64
static int32_t rms_norm(const xlaffi_call *call, int64_t n, double eps, const T *x, T *y) {
  if (!(eps >= 0)) {
    return xlaffi_fail(call, XLAFFI_INVALID_ARGUMENT, "`eps` is %g", eps);
  }
  double sum = 0;
  for (int64_t i = 0; i < n; i++) {
    sum += (double) x[i] * (double) x[i];
  }
  const double scale = 1 / sqrt(sum / (double) n + eps);
  for (int64_t i = 0; i < n; i++) {
    y[i] = (T) (x[i] * scale);
  }
  return XLAFFI_OK;
}
