/* A host that is not ours: runs a program on a PJRT plugin by its C API and waits on R's thread, as other packages do.
 * Every struct of that API is a row of words, the first of which says how many bytes it has. */
#include <dlfcn.h>
#include <stdint.h>
#include <string.h>
#include <R.h>
#include <Rinternals.h>

typedef uint64_t word;
typedef word *(*function)(word *);

/* Places in the table of functions, behind the five words of its head. */
enum { ERROR_MESSAGE = 1, EVENT_AWAIT = 8, CLIENT_CREATE = 10, COMPILE = 20, EXECUTE = 55, TO_HOST = 70 };

static word *call(const word *api, int which, word *args, int words) {
  args[0] = (word) words * sizeof(word);
  return ((function) api[5 + which])(args);
}

#define ARGS(name, ...) word name[] = {0, 0, __VA_ARGS__}
#define CALL(which, args)                                                        \
  do {                                                                           \
    word *error = call(api, which, args, (int) (sizeof(args) / sizeof(word)));   \
    if (error) return told(api, error);                                          \
  } while (0)

static SEXP told(const word *api, word *error) {
  ARGS(message, (word) error, 0, 0);
  call(api, ERROR_MESSAGE, message, 5);
  return ScalarString(mkCharLen((const char *) message[3], (int) message[4]));
}

/* Starts a program without arguments; its one result, a float, if it is to be waited for, or what failed. */
SEXP foreign_run(SEXP plugin, SEXP program, SEXP waits) {
  void *library = dlopen(CHAR(STRING_ELT(plugin, 0)), RTLD_NOW);
  const word *(*get_api)(void) = (const word *(*)(void)) dlsym(library, "GetPjrtApi");
  const word *api = get_api();
  static word client = 0;
  if (!client) {
    ARGS(create, 0, 0, 0, 0, 0, 0, 0, 0, 0);
    CALL(CLIENT_CREATE, create);
    client = create[8];
  }
  const char *code = CHAR(STRING_ELT(program, 0));
  ARGS(source, (word) code, strlen(code), (word) "mlir", 4);
  source[0] = sizeof(source);
  ARGS(compile, client, (word) source, (word) "", 0, 0);
  CALL(COMPILE, compile);
  word output = 0, event = 0;
  word *outputs[] = {&output};
  word *arguments[] = {0};
  ARGS(options, 0, 0, 0, 0, 0, 0, 0);
  options[0] = sizeof(options);
  ARGS(execute, compile[6], (word) options, (word) arguments, 1, 0, (word) outputs, (word) &event, 0);
  CALL(EXECUTE, execute);
  if (!asLogical(waits)) return R_NilValue;
  ARGS(complete, event);
  CALL(EVENT_AWAIT, complete);
  float value = 0;
  ARGS(copy, output, 0, (word) &value, sizeof(value), 0);
  CALL(TO_HOST, copy);
  ARGS(copied, copy[6]);
  CALL(EVENT_AWAIT, copied);
  return ScalarReal(value);
}

/* Registers a handler with the plugin, as other packages do; what the plugin says against it, or NULL. */
SEXP foreign_register(SEXP plugin, SEXP target, SEXP handler) {
  void *library = dlopen(CHAR(STRING_ELT(plugin, 0)), RTLD_NOW);
  const word *(*get_api)(void) = (const word *(*)(void)) dlsym(library, "GetPjrtApi");
  const word *api = get_api();
  const word *extension = (const word *) api[1];
  while (extension && (int) extension[1] != 5) extension = (const word *) extension[2];
  if (!extension) return mkString("the plugin takes no handlers");
  const char *name = CHAR(STRING_ELT(target, 0));
  word args[] = {0, (word) name, strlen(name), (word) R_ExternalPtrAddr(handler), (word) "host", 4, 0};
  args[0] = sizeof(args);
  word *error = ((function) extension[5])(args);
  return error ? told(api, error) : R_NilValue;
}
