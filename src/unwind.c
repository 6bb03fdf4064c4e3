/* R's errors and interrupts jump. What may jump runs in protect(), which catches the jump before it
 * passes a frame of Rust that has something to free, and lets it go on when Rust is through. */
#include <setjmp.h>
#include <string.h>
#include <R.h>
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


typedef struct {
  const char *text;
  size_t length;
} Text;

/* Line by line: R's own buffers are bounded. */
static void show(void *data) {
  const Text *text = data;
  const char *line = text->text, *end = line + text->length;
  while (line < end) {
    const char *next = memchr(line, '\n', (size_t)(end - line));
    next = next ? next + 1 : end;
    Rprintf("%.*s", (int)(next - line), line);
    line = next;
  }
}

/* Shows text, within a handler that runs on R's thread: a jump must not leave it. 0 where R failed. */
int xlaffi_show(const char *text, size_t length) {
  Text all = {text, length};
  return R_ToplevelExec(show, &all) ? 1 : 0;
}
