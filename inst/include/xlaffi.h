/* What the body of an op of your own is given by the R package xlaffi. C99 and C++14. */
#ifndef XLAFFI_H
#define XLAFFI_H

#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#if defined(_WIN32)
#define XLAFFI_EXPORT __declspec(dllexport)
#elif defined(__GNUC__)
#define XLAFFI_EXPORT __attribute__((visibility("default")))
#else
#define XLAFFI_EXPORT
#endif

#ifdef __cplusplus
extern "C" {
#endif

/* The value of an attribute. A string has no NUL behind it. */
typedef struct xlaffi_attribute {
  const void *data; /* the value, the first element, the first byte */
  size_t length;    /* elements of an array, bytes of a string, 1 for a scalar */
} xlaffi_attribute;

/* One call of a body: of one batch element. */
typedef struct xlaffi_call {
  size_t size;                        /* of this struct */
  void *const *buffers;               /* operands, results, scratch, in the order of the signature */
  const int64_t *dims;                /* the named dimensions, in order of first appearance */
  const xlaffi_attribute *attributes; /* in the order of the signature */
  void *state;                        /* what the op's init made */
  int64_t batch;                      /* which element of the batch, from 0 */
  char *message;                      /* room for the text of an error */
  size_t message_size;                /* bytes there */
} xlaffi_call;

/* What a body returns: XLA's numbers. */
enum xlaffi_code {
  XLAFFI_OK = 0,
  XLAFFI_CANCELLED = 1,
  XLAFFI_UNKNOWN = 2,
  XLAFFI_INVALID_ARGUMENT = 3,
  XLAFFI_DEADLINE_EXCEEDED = 4,
  XLAFFI_NOT_FOUND = 5,
  XLAFFI_ALREADY_EXISTS = 6,
  XLAFFI_PERMISSION_DENIED = 7,
  XLAFFI_RESOURCE_EXHAUSTED = 8,
  XLAFFI_FAILED_PRECONDITION = 9,
  XLAFFI_ABORTED = 10,
  XLAFFI_OUT_OF_RANGE = 11,
  XLAFFI_UNIMPLEMENTED = 12,
  XLAFFI_INTERNAL = 13,
  XLAFFI_UNAVAILABLE = 14,
  XLAFFI_DATA_LOSS = 15,
  XLAFFI_UNAUTHENTICATED = 16
};

#if defined(__GNUC__)
__attribute__((format(printf, 3, 4)))
#endif
static inline int32_t xlaffi_fail(const xlaffi_call *call, int32_t code, const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  if (call->message_size > 0) {
    vsnprintf(call->message, call->message_size, format, arguments);
  }
  va_end(arguments);
  return code;
}

#ifdef __cplusplus
}
#endif

#endif
