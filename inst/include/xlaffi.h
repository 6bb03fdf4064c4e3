/* What the body of an op of your own is given by the R package xlaffi. C99 and C++14. */
#ifndef XLAFFI_H
#define XLAFFI_H

#if defined(__CUDACC_RTC__) /* a kernel: NVRTC has no headers */
typedef signed char int8_t;
typedef short int16_t;
typedef int int32_t;
typedef long long int64_t;
typedef unsigned char uint8_t;
typedef unsigned short uint16_t;
typedef unsigned int uint32_t;
typedef unsigned long long uint64_t;
#define INT32_MAX 2147483647
#define INT32_MIN (-INT32_MAX - 1)
#define INT64_MAX 9223372036854775807LL
#define INT64_MIN (-INT64_MAX - 1)
#define NAN __int_as_float(0x7fc00000)
#define INFINITY __int_as_float(0x7f800000)
#else
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#endif

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

#if !defined(__CUDACC_RTC__)
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
#endif

/* The bits of numbers that C has no type for. */
typedef uint16_t xlaffi_f16;
typedef uint16_t xlaffi_bf16;

static inline float xlaffi_from_bf16(xlaffi_bf16 number) {
  uint32_t bits = (uint32_t) number << 16;
  float value;
  memcpy(&value, &bits, sizeof value);
  return value;
}

/* To the nearest, ties to even; NaN stays NaN. */
static inline xlaffi_bf16 xlaffi_to_bf16(float value) {
  uint32_t bits;
  memcpy(&bits, &value, sizeof bits);
  if (value != value) {
    return (xlaffi_bf16) (bits >> 16 | 0x40);
  }
  return (xlaffi_bf16) ((bits + 0x7fff + (bits >> 16 & 1)) >> 16);
}

static inline float xlaffi_from_f16(xlaffi_f16 number) {
  const uint32_t sign = (uint32_t) (number & 0x8000) << 16, exponent = number >> 10 & 0x1f;
  uint32_t bits = (uint32_t) (number & 0x3ff) << 13;
  float value;
  if (exponent == 0) { /* subnormal: a whole number of 2^-24 */
    value = (float) (number & 0x3ff) * 5.9604644775390625e-8f;
    return sign ? -value : value;
  }
  bits |= sign | (exponent == 31 ? 0x7f800000u : (exponent + 112) << 23);
  memcpy(&value, &bits, sizeof value);
  return value;
}

/* To the nearest, ties to even; what is too large becomes infinite. */
static inline xlaffi_f16 xlaffi_to_f16(float value) {
  uint32_t bits, rounded;
  memcpy(&bits, &value, sizeof bits);
  const uint16_t sign = (uint16_t) (bits >> 16 & 0x8000);
  bits &= 0x7fffffff;
  if (bits > 0x7f800000) {
    return (xlaffi_f16) (sign | 0x7e00);
  }
  if (bits >= 0x477ff000) {
    return (xlaffi_f16) (sign | 0x7c00);
  }
  if (bits < 0x38800000) { /* subnormal: adding 0.5 leaves a number of 2^-24 in the last bits */
    float sum;
    memcpy(&sum, &bits, sizeof sum);
    sum += 0.5f;
    memcpy(&rounded, &sum, sizeof rounded);
    return (xlaffi_f16) (sign | (rounded - 0x3f000000));
  }
  rounded = bits - 0x38000000 + 0xfff + (bits >> 13 & 1);
  return (xlaffi_f16) (sign | rounded >> 13);
}

#ifdef __cplusplus
}
#endif

#endif
