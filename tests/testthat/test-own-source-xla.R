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
  skip_unless_all()
  skip_without_plugin()
  file <- withr::local_tempfile(fileext = ".cc", lines = rms_norm_xla)
  found <- ffi_source(file = file)
  expect_named(found, c("RmsNorm", "Nothing"))
  norm <- ffi_call("RmsNorm", function(x) x, attributes = list(eps = ffi_attribute(1e-5, "f32")))
  x <- matrix(c(1, -2, 3, 4, 5, 6), 2)
  expect_equal(as_array(norm(pjrt_buffer(x))), rms_norm_expected(x), tolerance = 1e-6)
  expect_match(conditionMessage(error_of(norm(pjrt_scalar(1)))), "x must have an axis|RmsNorm")
  ffi_unregister("Nothing", "host")
  ffi_unregister("RmsNorm", "host")
})

# A state of the compiled program, made with it and counted up by each call; as jax.ffi's examples have one.
counter_xla <- '
#include <atomic>
#include <memory>
#include "xla/ffi/api/ffi.h"
namespace ffi = xla::ffi;

struct Counter {
  static ffi::TypeId id;
  explicit Counter(int64_t start) : calls(start) {}
  std::atomic<int64_t> calls;
};
ffi::TypeId Counter::id = {};

static ffi::ErrorOr<std::unique_ptr<Counter>> MakeCounter(int64_t start) {
  return std::make_unique<Counter>(start);
}
static ffi::Error Count(Counter *counter, int64_t, ffi::ResultBuffer<ffi::S64> calls) {
  calls->typed_data()[0] = ++counter->calls;
  return ffi::Error::Success();
}
XLA_FFI_DEFINE_HANDLER_SYMBOL(CounterMake, MakeCounter, ffi::Ffi::BindInstantiate().Attr<int64_t>("start"));
XLA_FFI_DEFINE_HANDLER_SYMBOL(CounterCount, Count, ffi::Ffi::Bind().Ctx<ffi::State<Counter>>()
    .Attr<int64_t>("start").Ret<ffi::Buffer<ffi::S64>>());
'

test_that("where XLA's headers are is asked for once, and again where they are not any more", {
  skip_unless_all()
  skip_without_plugin()
  local_code_cache()
  op_state <- xlaffi:::op_state
  asked <- 0L
  folder <- withr::local_tempdir()
  dir.create(file.path(folder, "xla", "ffi", "api"), recursive = TRUE)
  header <- file.path(folder, "xla", "ffi", "api", "ffi.h")
  file.create(header)
  find <- function() {
    asked <<- asked + 1L
    folder
  }
  before <- op_state$compilers
  withr::defer(op_state$compilers <- before)
  found <- function() {
    # As in a new session.
    op_state$compilers <- list()
    xlaffi:::xla_include(find)
  }
  expect_identical(c(found(), found()), c(folder, folder))
  expect_identical(asked, 1L)
  unlink(header)
  found()
  expect_identical(asked, 2L)
  withr::local_envvar(XLAFFI_PYTHON = "/another/python")
  file.create(header)
  found()
  expect_identical(asked, 3L)
})

test_that("handlers with state run with all their stages", {
  skip_without_plugin()
  skip_unless_all()
  found <- ffi_source(code = counter_xla, lang = "xla")
  expect_named(found, c("CounterMake", "CounterCount"))
  # A stage other than execution is no target.
  expect_false("CounterMake" %in% ffi_targets()$target)
  pjrt_register_custom_call("counter", list(host = list(instantiate = found$CounterMake, execute = found$CounterCount)))
  counter <- function(start) {
    count <- sprintf(
      "%%r = stablehlo.custom_call @counter() {api_version = 4 : i32, has_side_effect = true,
       backend_config = {start = %d : i64}} : () -> tensor<i64>", start
    )
    program(count, c(), "i64")
  }
  first <- counter(0)
  second <- counter(10)
  calls <- function(program) as.integer(as_array(pjrt_execute(program)))
  expect_identical(c(calls(first), calls(first), calls(second), calls(first)), c(1L, 2L, 11L, 3L))
  ffi_unregister("counter", "host")
  ffi_unregister("CounterCount", "host")
})

test_that("code without a handler is refused, and errors in XLA's code are shown", {
  skip_without_plugin()
  expect_snapshot(error = TRUE, ffi_source(code = "int x;", lang = "xla"))
  lines <- c("XLA_FFI_DEFINE_HANDLER_SYMBOL(A, f,", "/* XLA_FFI_DEFINE_HANDLER_SYMBOL(B, */")
  expect_identical(xlaffi:::handlers_in(lines), c(A = TRUE))
})

test_that("arguments that handlers, kernels and Rust do not have are refused", {
  handlers <- function(...) error_of(ffi_source(code = rms_norm_xla, lang = "xla", ...))
  rule <- function(...) NULL
  given <- list(
    signature = "-> z: f64[]", name = "f", dtypes = list(T = "f32"), init = "", cleanup = "", cuda = "",
    threads = FALSE, jvp = rule, vjp = rule, transpose = rule, vmap = rule, side_effect = "ordered"
  )
  for (name in names(given)) {
    error <- do.call(handlers, given[name])
    text <- sprintf("`%s` is not for handlers (lang = \"xla\")", name)
    elsewhere <- name %in% c("jvp", "vjp", "transpose", "vmap", "side_effect")
    expect_identical(conditionMessage(error), paste0(text, if (elsewhere) ": give it to ffi_call()"))
    expect_identical(error$operand, name)
  }
  error <- error_of(ffi_source("-> z: f64[]", "*z = 1;", lang = "cuda", threads = FALSE))
  expect_identical(conditionMessage(error), "`threads` is not for kernels")
  error <- error_of(ffi_source("-> z: f64[]", "*z = 1.0;", lang = "rust", openmp = TRUE))
  expect_identical(conditionMessage(error), "`openmp` is not for Rust")
})
