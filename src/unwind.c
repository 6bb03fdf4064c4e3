/* R's errors and interrupts jump. What may jump runs in protect(), which catches the jump before it
 * passes a frame of Rust that has something to free, and lets it go on when Rust is through. */
#include <setjmp.h>
#include <Rinternals.h>

/* Without the signal mask, whose saving is a system call, as R itself does. */
#ifdef _WIN32
#define PLACE jmp_buf
#define MARK(place) setjmp(place)
#define GO_TO(place) longjmp(place, 1)
#else
#define PLACE sigjmp_buf
#define MARK(place) sigsetjmp(place, 0)
#define GO_TO(place) siglongjmp(place, 1)
#endif

typedef struct {
  void (*body)(void *);
  void *data;
  PLACE back;
} Call;

/* What R needs to let a jump go on. One is enough: of two jumps the inner one has gone on, or was
 * caught for good, before the outer one starts. */
static SEXP token = NULL;

static SEXP run(void *data) {
  Call *call = data;
  call->body(call->data);
  return R_NilValue;
}

static void leave(void *data, Rboolean jumps) {
  if (jumps) GO_TO(((Call *)data)->back);
}

/* To be called when the library is loaded. */
void xlaffi_unwind_init(void) {
  token = R_MakeUnwindCont();
  R_PreserveObject(token);
}

/* Runs `body` on `data`: 1 if R jumped out of it, which xlaffi_unwind_go_on() has to follow. */
int xlaffi_protect(void (*body)(void *), void *data) {
  Call call;
  call.body = body;
  call.data = data;
  if (MARK(call.back)) return 1;
  R_UnwindProtect(run, &call, leave, &call, token);
  return 0;
}

/* Lets the jump go on that was caught last. Does not return. */
void xlaffi_unwind_go_on(void) { R_ContinueUnwind(token); }

