// Calls handlers, and what they give to XLA's thread pool, and catches what they throw: Rust cannot
// catch another language's exceptions, and a thread of XLA's that throws ends the process.
#include <cstddef>
#include <cstdio>
#include <exception>

namespace {

template <typename Body>
bool caught(char *thrown, std::size_t size, Body body) {
  try {
    body();
    return true;
  } catch (const std::exception &exception) {
    std::snprintf(thrown, size, "a C++ exception: %s", exception.what());
  } catch (...) {
    std::snprintf(thrown, size, "a C++ exception that is not a std::exception");
  }
  return false;
}

}  // namespace

extern "C" bool xlaffi_call_handler(void *(*handler)(void *), void *frame, void **error,
                                    char *thrown, std::size_t size) {
  return caught(thrown, size, [&] { *error = handler(frame); });
}

extern "C" bool xlaffi_run_task(void (*task)(void *), void *data, char *thrown, std::size_t size) {
  return caught(thrown, size, [&] { task(data); });
}
