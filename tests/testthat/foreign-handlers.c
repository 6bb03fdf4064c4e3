/* Handlers of a package that is not ours: compiled by test-other-hosts.R. They write by R wherever XLA calls them, as
   Rcpp's output stream does. On another thread than R's, R takes its stack for used up: that is counted here, and the
   text not written. */
#include <math.h>
#include <pthread.h>
#include <stdint.h>

#include "xla/ffi/api/c_api.h"

#define R_NO_REMAP
#include <R.h>
#include <Rinternals.h>

static pthread_t r_thread;
static int elsewhere = 0;

static int asked(XLA_FFI_CallFrame *frame) {
  if (!frame->extension_start || frame->extension_start->type != XLA_FFI_Extension_Metadata) return 0;
  XLA_FFI_Metadata *metadata = ((XLA_FFI_Metadata_Extension *)frame->extension_start)->metadata;
  metadata->api_version.major_version = XLA_FFI_API_MAJOR;
  metadata->api_version.minor_version = 1;
  return 1;
}

static int on_r(void) {
  int here = pthread_equal(pthread_self(), r_thread);
  if (here) {
    R_CheckStack();
  } else {
    __atomic_add_fetch(&elsewhere, 1, __ATOMIC_SEQ_CST);
  }
  return here;
}

#define HANDLER(name, body)                                            \
  static XLA_FFI_Error *name(XLA_FFI_CallFrame *frame) {               \
    if (asked(frame)) return 0;                                        \
    double *x = ((XLA_FFI_Buffer *)frame->args.args[0])->data;         \
    body;                                                              \
    return 0;                                                          \
  }                                                                    \
  SEXP name##_pointer(void) {                                          \
    r_thread = pthread_self();                                         \
    return R_MakeExternalPtrFn((DL_FUNC)name, R_NilValue, R_NilValue); \
  }

#define RESULT ((double *)((XLA_FFI_Buffer *)frame->rets.rets[0])->data)

HANDLER(prints, if (on_r()) { Rprintf("theirs: "); Rprintf("%g\n", x[0]); })
HANDLER(tells, if (on_r()) Rprintf("told %g\n", x[0]); RESULT[0] = x[0] + 1)
HANDLER(spoils, RESULT[0] = NAN)
HANDLER(stops, if (on_r()) Rf_error("not for %g", x[0]))

SEXP times_elsewhere(void) { return Rf_ScalarInteger(elsewhere); }
