// z = x * y by XLA's own header, as the body of an own op, and in a plain loop: what own-ops.R compares.
#include <stdint.h>
#include <stdlib.h>

#include <chrono>

#include <xlaffi.h>

#include "xla/ffi/api/ffi.h"

namespace ffi = xla::ffi;

static ffi::Error Times(ffi::Buffer<ffi::F64> x, ffi::Buffer<ffi::F64> y, ffi::ResultBuffer<ffi::F64> z) {
  if (x.dimensions().size() != 1 || y.dimensions().size() != 0 || z->element_count() != x.element_count()) {
    return ffi::Error::InvalidArgument("times: x must be a vector, y a scalar");
  }
  const double* from = x.typed_data();
  double factor = *y.typed_data();
  double* to = z->typed_data();
  for (size_t i = 0; i < x.element_count(); i++) to[i] = from[i] * factor;
  return ffi::Error::Success();
}

XLA_FFI_DEFINE_HANDLER_SYMBOL(times_handler, Times,
                              ffi::Ffi::Bind()
                                  .Arg<ffi::Buffer<ffi::F64>>()
                                  .Arg<ffi::Buffer<ffi::F64>>()
                                  .Ret<ffi::Buffer<ffi::F64>>());

extern "C" XLAFFI_EXPORT int32_t times_body(const xlaffi_call* call) {
  const double* x = static_cast<const double*>(call->buffers[0]);
  double y = *static_cast<const double*>(call->buffers[1]);
  double* z = static_cast<double*>(call->buffers[2]);
  for (int64_t i = 0; i < call->dims[0]; i++) z[i] = x[i] * y;
  return XLAFFI_OK;
}

// Seconds of so many passes from array to array, with the making of what they write: two arrays in turn and, as a
// program has it, one for the result.
extern "C" XLAFFI_EXPORT void plain_times(const double* length, const int* passes, double* seconds) {
  int64_t n = static_cast<int64_t>(*length);
  auto make = [n] { return static_cast<double*>(malloc(n * sizeof(double))); };
  double* x = make();
  for (int64_t i = 0; i < n; i++) x[i] = 1;
  volatile double factor = 1;
  auto start = std::chrono::steady_clock::now();
  double* made[] = {make(), make(), make()};
  const double* from = x;
  for (int pass = 1; pass <= *passes; pass++) {
    double y = factor;
    double* to = made[pass == *passes ? 2 : pass % 2];
    for (int64_t i = 0; i < n; i++) to[i] = from[i] * y;
    from = to;
  }
  *seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  for (double* array : {x, made[0], made[1], made[2]}) free(array);
}
