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
constexpr int MOST_SHARED = 227 << 10;
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
API cuInit(unsigned) {
  ENTER;
  return 0;
}
API cuDeviceGetCount(int *count) { return *count = 1, 0; }
API cuDeviceGet(int *device, int ordinal) { return *device = ordinal, 0; }
API cuCtxGetCurrent(void **context) {
  ENTER;
  static int here;
  *context = &here;
  return 0;
}
API cuCtxGetDevice(int *device) { return *device = 0; }
API cuDeviceGetAttribute(int *value, int attribute, int) {
  return *value = attribute == 75 ? 9 : attribute == 97 ? MOST_SHARED : 0, 0;
}
API cuModuleLoadData(void **module, const void *image) {
  ENTER;
  if (capture_mode != RELAXED) return STREAM_CAPTURE_UNSUPPORTED;
  if (void *own = load_own(image)) return *module = own, 0;
  // The fake compiler's result, or PTX.
  bool known = !std::memcmp(image, "cubin", 5) || std::strstr(static_cast<const char *>(image), ".visible .entry ");
  *module = module;
  return known ? 0 : 200;
}
API cuModuleGetFunction(void **function, void *module, const char *name) {
  if (capture_mode != RELAXED) return STREAM_CAPTURE_UNSUPPORTED;
  if (is_own(module)) return *function = module, std::strcmp(name, "xlaffi_kernel") ? 500 : 0;
  const Kernel *found = find_kernel(name);
  *function = const_cast<Kernel *>(found);
  return found ? 0 : 500;
}
API cuFuncSetAttribute(void *function, int attribute, int value) {
  ENTER;
  if (attribute != 8 || value > MOST_SHARED) return 1;
  if (is_own(function)) return allow_shared(function, value), 0;
  return allow_all_shared(*static_cast<Kernel *>(function)), 0;
}
API cuLaunchKernel(void *function, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by, unsigned bz,
                   unsigned shared, void *stream, void **arguments, void **) {
  ENTER;
  if (capture_mode == RELAXED) return STREAM_CAPTURE_UNSUPPORTED;
  const unsigned sizes[] = {gx, gy, gz, bx, by, bz};
  if (stream && is_own(function)) return run_own(function, sizes, shared, arguments);
  if (!stream || !gx || !gy || gz != 1 || bz != 1 || gy > 65535 || bx * by == 0 || bx * by > 1024) return 1;
  return run_kernel(*static_cast<Kernel *>(function), gx, gy, bx, by, shared, arguments);
}
API cuMemcpyDtoDAsync_v2(uint64_t to, uint64_t from, size_t bytes, void *) {
  ENTER;
  if (!bytes) return 1;
  std::memmove(reinterpret_cast<void *>(to), reinterpret_cast<void *>(from), bytes);
  return 0;
}
API cuMemcpyHtoDAsync_v2(uint64_t to, const void *from, size_t bytes, void *) {
  ENTER;
  if (!bytes) return 1;
  std::memcpy(reinterpret_cast<void *>(to), from, bytes);
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
struct Program {
  std::string source, image, log;
  std::map<std::string, std::string> headers;
};
API nvrtcCreateProgram(void **program, const char *source, const char *, int count, const char *const *texts,
                       const char *const *names) {
  ENTER;
  Program *made = new Program{source, "cubin", "bad source", {}};
  for (int i = 0; i < count; ++i) made->headers[names[i]] = texts[i];
  return *program = made, 0;
}
API nvrtcDestroyProgram(void **program) {
  delete static_cast<Program *>(*program);
  return *program = nullptr, 0;
}
API nvrtcCompileProgram(void *raw, int, const char *const *options) {
  ENTER;
  Program &program = *static_cast<Program *>(raw);
  if (is_own_source(program.source)) {
    program.image = compile_own(program.source, program.headers, program.log);
    return program.image.empty() ? 6 : 0;
  }
  return std::strcmp(options[0], "--gpu-architecture=sm_90") ? 5 : 0;
}
API nvrtcGetCUBINSize(void *program, size_t *size) { return *size = static_cast<Program *>(program)->image.size() + 1, 0; }
API nvrtcGetCUBIN(void *program, char *cubin) {
  const std::string &image = static_cast<Program *>(program)->image;
  return std::memcpy(cubin, image.c_str(), image.size() + 1), 0;
}
API nvrtcGetPTXSize(void *program, size_t *size) { return nvrtcGetCUBINSize(program, size); }
API nvrtcGetPTX(void *program, char *ptx) { return nvrtcGetCUBIN(program, ptx); }
API nvrtcGetProgramLogSize(void *program, size_t *size) { return *size = static_cast<Program *>(program)->log.size() + 1, 0; }
API nvrtcGetProgramLog(void *program, char *log) { return std::strcpy(log, static_cast<Program *>(program)->log.c_str()), 0; }
