/* Handlers that do one thing wrong each: compiled by test-own-debug.R. The operand x and the result z are
   f64 of one size. */
#include <stdint.h>
#include <string.h>

#include "xla/ffi/api/c_api.h"

#define R_NO_REMAP
#include <Rinternals.h>

static int asked(XLA_FFI_CallFrame *frame) {
  if (!frame->extension_start || frame->extension_start->type != XLA_FFI_Extension_Metadata) return 0;
  XLA_FFI_Metadata *metadata = ((XLA_FFI_Metadata_Extension *)frame->extension_start)->metadata;
  metadata->api_version.major_version = XLA_FFI_API_MAJOR;
  metadata->api_version.minor_version = 1;
  return 1;
}

static XLA_FFI_Error *failure(XLA_FFI_CallFrame *frame, const char *message) {
  XLA_FFI_Error_Create_Args args = {0};
  args.struct_size = XLA_FFI_Error_Create_Args_STRUCT_SIZE;
  args.message = message;
  args.errc = XLA_FFI_Error_Code_OUT_OF_RANGE;
  return frame->api->XLA_FFI_Error_Create(&args);
}

#define HANDLER(name, body)                                                       \
  XLA_FFI_Error *name(XLA_FFI_CallFrame *frame) {                                 \
    if (asked(frame)) return 0;                                                   \
    XLA_FFI_Buffer *in = frame->args.args[0], *out = frame->rets.rets[0];         \
    double *x = in->data, *z = out->data;                                         \
    int64_t n = 1;                                                                \
    for (int64_t i = 0; i < in->rank; i++) n *= in->dims[i];                      \
    body;                                                                         \
    return 0;                                                                     \
  }                                                                               \
  SEXP name##_pointer(void) {                                                     \
    return R_MakeExternalPtrFn((DL_FUNC)name, R_NilValue, R_NilValue);            \
  }

#define COPY memcpy(z, x, n * sizeof(double))

static int calls = 0;

HANDLER(behaves, COPY)
HANDLER(writes_behind, COPY; z[n] = 7)
HANDLER(writes_before, COPY; z[-2] = 7)
HANDLER(leaves_holes, for (int64_t i = 0; i < n; i += 2) z[i] = x[i])
HANDLER(changes_operand, COPY; x[1] = -1)
HANDLER(counts_calls, COPY; z[0] = calls++)
HANDLER(accumulates, for (int64_t i = 0; i < n; i++) z[i] += x[i])
HANDLER(sees_alignment, COPY; z[0] = (double)((uintptr_t)x % 64))
HANDLER(doubles_in_place, for (int64_t i = 0; i < n; i++) z[i] *= 2)
HANDLER(divides, for (int64_t i = 0; i < n; i++) z[i] = 1 / x[i])
HANDLER(fails, x[0] = 5; return failure(frame, "always"))
