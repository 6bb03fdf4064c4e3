// The peer of call.py: `lu` for f64, written with XLA's own C++ header.
#include <algorithm>
#include <cstdint>
#include <cstring>

#include "xla/ffi/api/ffi.h"

namespace ffi = xla::ffi;

extern "C" void dgetrf_(const int* m, const int* n, double* a, const int* lda, int* ipiv, int* info);

using Matrix = ffi::Buffer<ffi::F64, 2>;
using Pivots = ffi::Buffer<ffi::S32, 1>;

static ffi::Error Lu(Matrix a, ffi::Result<Matrix> lu, ffi::Result<Pivots> pivots) {
  const auto dims = a.dimensions();
  if (dims[0] > INT32_MAX || dims[1] > INT32_MAX) return ffi::Error::InvalidArgument("too large");
  const int m = static_cast<int>(dims[0]), n = static_cast<int>(dims[1]);
  const int lda = std::max(m, 1);
  int info = 0;
  if (a.typed_data() != lu->typed_data()) {
    std::memcpy(lu->typed_data(), a.typed_data(), a.size_bytes());
  }
  dgetrf_(&m, &n, lu->typed_data(), &lda, pivots->typed_data(), &info);
  return ffi::Error::Success();
}

XLA_FFI_DEFINE_HANDLER_SYMBOL(cpp_lu, Lu, ffi::Ffi::Bind().Arg<Matrix>().Ret<Matrix>().Ret<Pivots>());
