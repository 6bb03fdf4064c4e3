// Handlers that are not ours, against XLA's own header: compiled by test-custom-call.R.
#include <cmath>
#include <string_view>

#include "xla/ffi/api/ffi.h"

#define R_NO_REMAP
#include <Rinternals.h>

namespace ffi = xla::ffi;

// x + all attributes, one per kind, each at its place of the result.
static ffi::Error EveryAttribute(ffi::Buffer<ffi::F64> x, int32_t i32, int64_t i64, float f32,
                                 double f64, bool flag, std::string_view text,
                                 ffi::Span<const double> doubles, ffi::Span<const int64_t> integers,
                                 ffi::Dictionary nested, ffi::ResultBuffer<ffi::F64> y) {
  if (y->element_count() != 12) {
    return ffi::Error::InvalidArgument("the result must have 12 elements");
  }
  ffi::ErrorOr<int64_t> inner = nested.get<int64_t>("inner");
  if (inner.has_error()) {
    return inner.error();
  }
  double* out = y->typed_data();
  out[0] = x.typed_data()[0];
  out[1] = i32;
  out[2] = static_cast<double>(i64);
  out[3] = f32;
  out[4] = f64;
  out[5] = flag;
  out[6] = static_cast<double>(text.size());
  out[7] = static_cast<double>(doubles.size());
  out[8] = doubles.begin()[0];
  out[9] = static_cast<double>(integers.size());
  out[10] = static_cast<double>(integers.begin()[0]);
  out[11] = static_cast<double>(*inner);
  return ffi::Error::Success();
}

XLA_FFI_DEFINE_HANDLER_SYMBOL(every_attribute, EveryAttribute,
                              ffi::Ffi::Bind()
                                  .Arg<ffi::Buffer<ffi::F64>>()
                                  .Attr<int32_t>("i32")
                                  .Attr<int64_t>("i64")
                                  .Attr<float>("f32")
                                  .Attr<double>("f64")
                                  .Attr<bool>("flag")
                                  .Attr<std::string_view>("text")
                                  .Attr<ffi::Span<const double>>("doubles")
                                  .Attr<ffi::Span<const int64_t>>("integers")
                                  .Attr<ffi::Dictionary>("nested")
                                  .Ret<ffi::Buffer<ffi::F64>>());

// sqrt(x), or an error for a negative number.
static ffi::Error Root(ffi::Buffer<ffi::F32> x, ffi::ResultBuffer<ffi::F32> y) {
  for (size_t i = 0; i < x.element_count(); i++) {
    float value = x.typed_data()[i];
    if (value < 0) {
      return ffi::Error(ffi::ErrorCode::kOutOfRange, "no {root} of a negative number");
    }
    y->typed_data()[i] = std::sqrt(value);
  }
  return ffi::Error::Success();
}

XLA_FFI_DEFINE_HANDLER_SYMBOL(
    root, Root, ffi::Ffi::Bind().Arg<ffi::Buffer<ffi::F32>>().Ret<ffi::Buffer<ffi::F32>>());

// 2 x, to replace `root` with.
static ffi::Error Twice(ffi::Buffer<ffi::F32> x, ffi::ResultBuffer<ffi::F32> y) {
  for (size_t i = 0; i < x.element_count(); i++) {
    y->typed_data()[i] = 2 * x.typed_data()[i];
  }
  return ffi::Error::Success();
}

XLA_FFI_DEFINE_HANDLER_SYMBOL(
    twice, Twice, ffi::Ffi::Bind().Arg<ffi::Buffer<ffi::F32>>().Ret<ffi::Buffer<ffi::F32>>());

static SEXP pointer(XLA_FFI_Handler* handler) {
  return R_MakeExternalPtrFn(reinterpret_cast<DL_FUNC>(handler), R_NilValue, R_NilValue);
}

// What a `void *lookup(const char *name)` of another library answers.
extern "C" SEXP looked_up(SEXP lookup, SEXP name) {
  using Lookup = void* (*)(const char*);
  auto function = reinterpret_cast<Lookup>(R_ExternalPtrAddrFn(lookup));
  return R_MakeExternalPtr(function(CHAR(STRING_ELT(name, 0))), R_NilValue, R_NilValue);
}

static double variable = 1.0;

extern "C" SEXP every_attribute_pointer() { return pointer(every_attribute); }
extern "C" SEXP root_pointer() { return pointer(root); }
extern "C" SEXP twice_pointer() { return pointer(twice); }
extern "C" SEXP null_pointer() { return R_MakeExternalPtr(nullptr, R_NilValue, R_NilValue); }
extern "C" SEXP data_pointer() { return R_MakeExternalPtr(&variable, R_NilValue, R_NilValue); }
