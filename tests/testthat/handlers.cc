// Handlers that are not ours, against XLA's own header: compiled by test-custom-call.R.
#include <atomic>
#include <chrono>
#include <cmath>
#include <cstring>
#include <sstream>
#include <stdexcept>
#include <string>
#include <string_view>
#include <thread>

#ifndef _WIN32
#include <dlfcn.h>
#endif

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

// Writes down all attributes as text, in the order of the call frame, into the result (ui8), the
// rest of which is blank: `name=i32:1`, `name=f64[1,2]`, `name="text"`, `name={inner=i1:1}`.
// Against the bare C interface, since the types are not known beforehand.
template <typename T>
static void put_numbers(std::ostringstream& out, const void* data, size_t count) {
  for (size_t i = 0; i < count; i++) {
    out << (i ? "," : "") << +static_cast<const T*>(data)[i];
  }
}

static void put_data(std::ostringstream& out, XLA_FFI_DataType type, const void* data, size_t count,
                     const char* open, const char* close) {
  switch (type) {
#define PUT(enumerator, name, ctype)             \
  case XLA_FFI_DataType_##enumerator:            \
    out << name << open;                         \
    put_numbers<ctype>(out, data, count);        \
    break;
    PUT(PRED, "i1", bool)
    PUT(S8, "i8", int8_t)
    PUT(S16, "i16", int16_t)
    PUT(S32, "i32", int32_t)
    PUT(S64, "i64", int64_t)
    PUT(U8, "ui8", uint8_t)
    PUT(U16, "ui16", uint16_t)
    PUT(U32, "ui32", uint32_t)
    PUT(U64, "ui64", uint64_t)
    PUT(F32, "f32", float)
    PUT(F64, "f64", double)
#undef PUT
    default:
      out << "dtype " << type << open;
  }
  out << close;
}

static void put_attributes(std::ostringstream& out, const XLA_FFI_Attrs& attrs) {
  for (int64_t i = 0; i < attrs.size; i++) {
    out << (i ? " " : "") << std::string_view(attrs.names[i]->ptr, attrs.names[i]->len) << "=";
    const void* attr = attrs.attrs[i];
    switch (attrs.types[i]) {
      case XLA_FFI_AttrType_SCALAR: {
        auto scalar = static_cast<const XLA_FFI_Scalar*>(attr);
        put_data(out, scalar->dtype, scalar->value, 1, ":", "");
        break;
      }
      case XLA_FFI_AttrType_ARRAY: {
        auto array = static_cast<const XLA_FFI_Array*>(attr);
        put_data(out, array->dtype, array->data, array->size, "[", "]");
        break;
      }
      case XLA_FFI_AttrType_STRING: {
        auto text = static_cast<const XLA_FFI_ByteSpan*>(attr);
        out << '"' << std::string_view(text->ptr, text->len) << '"';
        break;
      }
      case XLA_FFI_AttrType_DICTIONARY:
        out << "{";
        put_attributes(out, *static_cast<const XLA_FFI_Attrs*>(attr));
        out << "}";
        break;
    }
  }
}

extern "C" XLA_FFI_Error* write_attributes(XLA_FFI_CallFrame* frame) {
  auto extension = frame->extension_start;
  if (extension != nullptr && extension->type == XLA_FFI_Extension_Metadata) {
    auto metadata = reinterpret_cast<XLA_FFI_Metadata_Extension*>(extension)->metadata;
    metadata->api_version.major_version = XLA_FFI_API_MAJOR;
    metadata->api_version.minor_version = XLA_FFI_API_MINOR;
    return nullptr;
  }
  std::ostringstream out;
  out.precision(17);
  put_attributes(out, frame->attrs);
  std::string text = out.str();
  auto result = static_cast<XLA_FFI_Buffer*>(frame->rets.rets[0]);
  text.resize(static_cast<size_t>(result->dims[0]), ' ');
  std::memcpy(result->data, text.data(), text.size());
  return nullptr;
}

// Throws, itself or on XLA's thread pool.
static ffi::Error Throws(ffi::ThreadPool pool, ffi::Buffer<ffi::F32> x, ffi::ResultBuffer<ffi::F32> y,
                         std::string_view what) {
  if (what == "number") throw 42;
  if (what == "exception") throw std::runtime_error("a {standard} exception");
  if (what == "pool") pool.Schedule([] { throw 42; });
  y->typed_data()[0] = x.typed_data()[0];
  return ffi::Error::Success();
}

XLA_FFI_DEFINE_HANDLER_SYMBOL(throws, Throws,
                              ffi::Ffi::Bind()
                                  .Ctx<ffi::ThreadPool>()
                                  .Arg<ffi::Buffer<ffi::F32>>()
                                  .Ret<ffi::Buffer<ffi::F32>>()
                                  .Attr<std::string_view>("what"));

// Stays in its call until it is released.
static std::atomic<bool> released{false};

static ffi::Error Hangs(ffi::Buffer<ffi::F32> x, ffi::ResultBuffer<ffi::F32> y) {
  while (!released) std::this_thread::sleep_for(std::chrono::milliseconds(1));
  y->typed_data()[0] = x.typed_data()[0];
  return ffi::Error::Success();
}

XLA_FFI_DEFINE_HANDLER_SYMBOL(
    hangs, Hangs, ffi::Ffi::Bind().Arg<ffi::Buffer<ffi::F32>>().Ret<ffi::Buffer<ffi::F32>>());

extern "C" SEXP release() {
  released = true;
  return R_NilValue;
}

#ifndef _WIN32
// Takes Python's lock before it answers, as handlers that are written in Python do.
static ffi::Error InPython(ffi::Buffer<ffi::F64> x, ffi::ResultBuffer<ffi::F64> y) {
  auto take = reinterpret_cast<int (*)()>(dlsym(RTLD_DEFAULT, "PyGILState_Ensure"));
  auto give_back = reinterpret_cast<void (*)(int)>(dlsym(RTLD_DEFAULT, "PyGILState_Release"));
  if (!take || !give_back) return ffi::Error::Internal("there is no Python");
  std::this_thread::sleep_for(std::chrono::milliseconds(200));
  give_back(take());
  std::memcpy(y->untyped_data(), x.untyped_data(), x.size_bytes());
  return ffi::Error::Success();
}

XLA_FFI_DEFINE_HANDLER_SYMBOL(
    in_python, InPython,
    ffi::Ffi::Bind().Arg<ffi::Buffer<ffi::F64>>().Ret<ffi::Buffer<ffi::F64>>());
#endif

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
extern "C" SEXP throws_pointer() { return pointer(throws); }
extern "C" SEXP write_attributes_pointer() { return pointer(write_attributes); }
extern "C" SEXP null_pointer() { return R_MakeExternalPtr(nullptr, R_NilValue, R_NilValue); }
extern "C" SEXP data_pointer() { return R_MakeExternalPtr(&variable, R_NilValue, R_NilValue); }
