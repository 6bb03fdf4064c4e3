// What every kernel has behind xlaffi.h. In the text of an error only numbers are put.
#if __CUDA_ARCH__ >= 700
#define XLAFFI_CONSTANT __grid_constant__
#else
#define XLAFFI_CONSTANT
#endif

struct xlaffi_failure {
  int taken, code;
  int64_t count, batch;
  char text[232];
  struct {
    int64_t kind, bits;
  } values[8];
};

static __device__ inline void xlaffi_store(xlaffi_failure *, int) {}

template <class Value, class... More>
static __device__ inline void xlaffi_store(xlaffi_failure *failure, int at, Value value, More... more) {
  if (at < 8) {
    const bool floating = Value(0.5) != Value(0);
    failure->values[at].kind = floating ? 1 : Value(-1) < Value(0) ? 0 : 2;
    const double number = (double) value;
    const int64_t integer = (int64_t) value;
    memcpy(&failure->values[at].bits, floating ? (const void *) &number : (const void *) &integer, 8);
  }
  xlaffi_store(failure, at + 1, more...);
}

// The first thread that fails tells why.
template <class... Values>
static __device__ void xlaffi_fail(xlaffi_failure *failure, int64_t batch, int code, const char *text, Values... values) {
  if (atomicCAS(&failure->taken, 0, 1)) return;
  failure->code = code;
  failure->batch = batch;
  failure->count = sizeof...(values);
  for (int i = 0; i < 231 && text[i]; i++) failure->text[i] = text[i];
  xlaffi_store(failure, 0, values...);
}

#define FAIL(...) FAIL_WITH(XLAFFI_INVALID_ARGUMENT, __VA_ARGS__)
#define FAIL_WITH(...)                                                 \
  do {                                                                 \
    xlaffi_fail(xlaffi_this.failure, xlaffi_batch, __VA_ARGS__);       \
    return;                                                            \
  } while (0)

// Bytes from each array's beginning to an element of the batch.
template <int arrays> struct xlaffi_places {
  int64_t of[arrays];
};

template <int arrays, class Arguments>
static __device__ inline xlaffi_places<arrays> xlaffi_find(const Arguments &call, int64_t batch) {
  xlaffi_places<arrays> places = {};
  int64_t rest = batch;
  for (int64_t axis = call.axes - 1; axis >= 0; axis--) {
    const int64_t size = call.sizes[axis], step = axis ? rest % size : rest;
    rest = axis ? rest / size : 0;
#pragma unroll
    for (int i = 0; i < arrays; i++) places.of[i] += step * call.strides[axis][i];
  }
  const int64_t here = batch - call.first;
#pragma unroll
  for (int i = 0; i < arrays; i++) places.of[i] += here * call.scratch_bytes[i];
  return places;
}

// at / items, in 32 bits where that is possible.
static __device__ inline int64_t xlaffi_divide(int64_t at, int64_t items, int64_t all) {
  if (items == all) return 0;
  return all < 0x7fffffff ? (int64_t) ((uint32_t) at / (uint32_t) items) : at / items;
}
