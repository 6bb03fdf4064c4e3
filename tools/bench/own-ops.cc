// z = x * y by XLA's own header, and as the body of an own op: what own-ops.R compares.
#include <stdint.h>

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
