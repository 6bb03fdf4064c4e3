local_code_cache(teardown_env())

# As the tutorial of jax.ffi has it: an attribute, a buffer of any rank, its last axis normalised.
rms_norm_xla <- '
#include <cmath>
#include <cstdint>
#include "xla/ffi/api/ffi.h"
namespace ffi = xla::ffi;

static float norm(float eps, int64_t size, const float *x, float *y) {
  float sum = 0.0f;
  for (int64_t i = 0; i < size; ++i) sum += x[i] * x[i];
  const float scale = 1.0f / std::sqrt(sum / static_cast<float>(size) + eps);
  for (int64_t i = 0; i < size; ++i) y[i] = x[i] * scale;
  return scale;
}

static ffi::Error RmsNormImpl(float eps, ffi::Buffer<ffi::F32> x, ffi::ResultBuffer<ffi::F32> y) {
  const auto dims = x.dimensions();
  if (dims.size() == 0) return ffi::Error::InvalidArgument("x must have an axis");
  const int64_t last = dims.back();
  for (int64_t n = 0; n < static_cast<int64_t>(x.element_count()); n += last) {
    norm(eps, last, &x.typed_data()[n], &y->typed_data()[n]);
  }
  return ffi::Error::Success();
}

// XLA_FFI_DEFINE_HANDLER_SYMBOL(NotThis, RmsNormImpl, ...) is in a comment
XLA_FFI_DEFINE_HANDLER_SYMBOL(
    RmsNorm, RmsNormImpl,
    ffi::Ffi::Bind().Attr<float>("eps").Arg<ffi::Buffer<ffi::F32>>().Ret<ffi::Buffer<ffi::F32>>());

XLA_FFI_DEFINE_HANDLER_SYMBOL(Nothing, [] { return ffi::Error::Success(); }, ffi::Ffi::Bind());
'

test_that("a file with XLA's own header gives a target for each handler", {
  skip_without_plugin()
  file <- withr::local_tempfile(fileext = ".cc", lines = rms_norm_xla)
  found <- ffi_source(file = file, lang = "xla")
  expect_named(found, c("RmsNorm", "Nothing"))
  norm <- ffi_call("RmsNorm", function(x) x, attributes = list(eps = ffi_attribute(1e-5, "f32")))
  x <- matrix(c(1, -2, 3, 4, 5, 6), 2)
  expect_equal(as_array(norm(pjrt_buffer(x))), rms_norm_expected(x), tolerance = 1e-6)
  expect_match(conditionMessage(error_of(norm(pjrt_scalar(1)))), "x must have an axis|RmsNorm")
  ffi_unregister("Nothing", "host")
  ffi_unregister("RmsNorm", "host")
})

test_that("code without a handler is refused, and errors in XLA's code are shown", {
  skip_without_plugin()
  expect_snapshot(error = TRUE, ffi_source(code = "int x;", lang = "xla"))
  lines <- c("XLA_FFI_DEFINE_HANDLER_SYMBOL(A, f,", "/* XLA_FFI_DEFINE_HANDLER_SYMBOL(B, */")
  expect_identical(xlaffi:::handlers_in(lines), "A")
})
