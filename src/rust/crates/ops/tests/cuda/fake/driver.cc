// The driver and NVRTC, and what the tests ask.

#include "fake.h"

#include <cstdint>
#include <cstring>
#include <map>
#include <string>
#include <utility>

namespace {
// Of this thread: tests run at the same time.
thread_local std::map<std::string, int> calls, failures;
// As while a stream of this thread is recorded in a CUDA graph: what takes memory must ask for leave
// (CU_STREAM_CAPTURE_MODE_RELAXED) and give it back.
thread_local int capture_mode = 0;
constexpr int RELAXED = 2, STREAM_CAPTURE_UNSUPPORTED = 900;
}  // namespace

int enter(const char *function) {
  ++calls[function];
  auto failure = failures.find(function);
  if (failure == failures.end()) return 0;
  int status = failure->second;
  failures.erase(failure);
  return status;
}

API fake_calls(const char *function) { return calls[function]; }
API fake_fail(const char *function, int status) { return failures[function] = status, 0; }

// ---- the driver ----

API cuGetErrorName(int error, const char **name) {
  *name = error == 2 ? "CUDA_ERROR_OUT_OF_MEMORY" : error == 1 ? "CUDA_ERROR_INVALID_VALUE" : nullptr;
  return *name ? 0 : 1;
}
API cuDriverGetVersion(int *version) { return *version = 13000, 0; }
API cuCtxGetCurrent(void **context) {
  ENTER;
  static int here;
  *context = &here;
  return 0;
}
API cuCtxGetDevice(int *device) { return *device = 0; }
API cuDeviceGetAttribute(int *value, int attribute, int) {
  return *value = attribute == 75 ? 9 : 0, 0;
}
API cuModuleLoadData(void **module, const void *image) {
  ENTER;
  if (capture_mode != RELAXED) return STREAM_CAPTURE_UNSUPPORTED;
  // The fake compiler's result, or PTX.
  bool known = !std::memcmp(image, "cubin", 5) || std::strstr(static_cast<const char *>(image), ".visible .entry ");
  *module = module;
  return known ? 0 : 200;
}
API cuModuleGetFunction(void **function, void *, const char *name) {
  if (capture_mode != RELAXED) return STREAM_CAPTURE_UNSUPPORTED;
  const Kernel *found = find_kernel(name);
  *function = const_cast<Kernel *>(found);
  return found ? 0 : 500;
}
API cuLaunchKernel(void *function, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by, unsigned bz,
                   unsigned shared, void *stream, void **arguments, void **) {
  ENTER;
  if (capture_mode == RELAXED) return STREAM_CAPTURE_UNSUPPORTED;
  if (!stream || !gx || !gy || gz != 1 || bz != 1 || gy > 65535 || bx * by == 0 || bx * by > 1024) return 1;
  return run_kernel(*static_cast<Kernel *>(function), gx, gy, bx, by, shared, arguments);
}
API cuMemcpyDtoDAsync_v2(uint64_t to, uint64_t from, size_t bytes, void *) {
  ENTER;
  if (!bytes) return 1;
  std::memmove(reinterpret_cast<void *>(to), reinterpret_cast<void *>(from), bytes);
  return 0;
}
API cuMemcpyDtoHAsync_v2(void *to, uint64_t from, size_t bytes, void *) {
  ENTER;
  std::memcpy(to, reinterpret_cast<void *>(from), bytes);
  return 0;
}
API cuMemsetD8Async(uint64_t to, unsigned char value, size_t bytes, void *) {
  ENTER;
  if (!bytes) return 1;
  std::memset(reinterpret_cast<void *>(to), value, bytes);
  return 0;
}
API cuStreamSynchronize(void *) {
  ENTER;
  return 0;
}
API cuThreadExchangeStreamCaptureMode(int *mode) { return std::swap(*mode, capture_mode), 0; }

// ---- NVRTC ----

API nvrtcVersion(int *major, int *minor) { return *major = 13, *minor = 0, 0; }
API nvrtcCreateProgram(void **program, const char *source, const char *, int, const char *const *, const char *const *) {
  ENTER;
  *program = new std::string(source);
  return 0;
}
API nvrtcDestroyProgram(void **program) {
  delete static_cast<std::string *>(*program);
  return *program = nullptr, 0;
}
API nvrtcCompileProgram(void *, int, const char *const *options) {
  ENTER;
  return std::strcmp(options[0], "--gpu-architecture=sm_90") ? 5 : 0;
}
API nvrtcGetCUBINSize(void *, size_t *size) { return *size = 6, 0; }
API nvrtcGetCUBIN(void *, char *cubin) { return std::strcpy(cubin, "cubin"), 0; }
API nvrtcGetPTXSize(void *, size_t *size) { return *size = 1, 0; }
API nvrtcGetPTX(void *, char *ptx) { return *ptx = 0; }
API nvrtcGetProgramLogSize(void *, size_t *size) { return *size = 11, 0; }
API nvrtcGetProgramLog(void *, char *log) { return std::strcpy(log, "bad source"), 0; }

