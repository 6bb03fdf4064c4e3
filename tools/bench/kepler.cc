// The peer of kepler.py: Newton's method point by point, as one writes it in C++.
#include <cmath>
#include <cstdint>
#include <limits>

#include "xla/ffi/api/ffi.h"

namespace ffi = xla::ffi;

template <typename T>
static void Solve(T m, T e, T* sin, T* cos) {
  const T tau = static_cast<T>(6.283185307179586476925286766559);
  const T close = 4 * std::numeric_limits<T>::epsilon();
  m = std::fmod(m, tau);
  if (m < 0) m += tau;
  T anomaly = e < T(0.8) ? m : tau / 2;
  for (int i = 0; i < 30; ++i) {
    const T miss = anomaly - e * std::sin(anomaly) - m;
    if (std::abs(miss) <= close * (1 + m)) break;
    anomaly -= miss / (1 - e * std::cos(anomaly));
  }
  *sin = std::sin(anomaly);
  *cos = std::cos(anomaly);
}

template <ffi::DataType D>
static ffi::Error Kepler(ffi::Buffer<D> m, ffi::Buffer<D> e, ffi::Result<ffi::Buffer<D>> sin,
                         ffi::Result<ffi::Buffer<D>> cos) {
  for (size_t i = 0; i < m.element_count(); ++i) {
    Solve(m.typed_data()[i], e.typed_data()[i], sin->typed_data() + i, cos->typed_data() + i);
  }
  return ffi::Error::Success();
}

template <ffi::DataType D>
static auto Binding() {
  using B = ffi::Buffer<D>;
  return ffi::Ffi::Bind().template Arg<B>().template Arg<B>().template Ret<B>().template Ret<B>();
}

XLA_FFI_DEFINE_HANDLER_SYMBOL(cpp_kepler_float32, Kepler<ffi::F32>, Binding<ffi::F32>());
XLA_FFI_DEFINE_HANDLER_SYMBOL(cpp_kepler_float64, Kepler<ffi::F64>, Binding<ffi::F64>());
