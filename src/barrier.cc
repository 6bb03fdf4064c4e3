// Calls handlers, what they give to XLA's thread pool, and plugins, and catches what they throw: Rust cannot
// catch another language's exceptions, and a thread of XLA's that throws ends the process.
#include <array>
#include <cstddef>
#include <cstdio>
#include <exception>
#include <utility>

namespace {

template <typename Body>
bool caught(char *thrown, std::size_t size, Body body) {
  try {
    body();
    return true;
  } catch (const std::exception &exception) {
    std::snprintf(thrown, size, "a C++ exception: %s", exception.what());
  } catch (...) {
    std::snprintf(thrown, size, "a C++ exception that is not a std::exception");
  }
  return false;
}

template <std::size_t>
using Argument = void *;

using Routine = void (*)();

// What the next guarded routine calls, and what it threw. R's thread alone calls routines.
Routine target;
bool has_thrown;
char thrown_text[512];

template <typename Places>
struct Guarded;

template <std::size_t... Place>
struct Guarded<std::index_sequence<Place...>> {
  static void call(Argument<Place>... arguments) {
    auto routine = reinterpret_cast<void (*)(Argument<Place>...)>(target);
    has_thrown = !caught(thrown_text, sizeof thrown_text, [&] { routine(arguments...); });
  }
};

template <std::size_t... Count>
std::array<Routine, sizeof...(Count)> guards(std::index_sequence<Count...>) {
  return {reinterpret_cast<Routine>(Guarded<std::make_index_sequence<Count>>::call)...};
}

// As many arguments as `.C()` knows.
constexpr std::size_t most_arguments = 65;

}  // namespace

// A function for `.C()` that calls a routine of so many arguments and catches what it throws, which
// must not pass R's own frames; null for more arguments than `.C()` knows.
extern "C" Routine xlaffi_guarded_routine(Routine routine, std::size_t count) {
  static const auto all = guards(std::make_index_sequence<most_arguments + 1>());
  target = routine;
  has_thrown = false;
  return count <= most_arguments ? all[count] : nullptr;
}

// What the last guarded routine threw, or null.
extern "C" const char *xlaffi_routine_thrown() { return has_thrown ? thrown_text : nullptr; }

extern "C" bool xlaffi_call_handler(void *(*handler)(void *), void *frame, void **error,
                                    char *thrown, std::size_t size) {
  return caught(thrown, size, [&] { *error = handler(frame); });
}

extern "C" bool xlaffi_run_task(void (*task)(void *), void *data, char *thrown, std::size_t size) {
  return caught(thrown, size, [&] { task(data); });
}

// A function of a plugin's that may return an error, and one that returns nothing.
extern "C" bool xlaffi_call_plugin(void *(*function)(void *), void *args, void **error, char *thrown,
                                   std::size_t size) {
  return caught(thrown, size, [&] { *error = function(args); });
}

extern "C" bool xlaffi_run_plugin(void (*function)(void *), void *args, char *thrown, std::size_t size) {
  return caught(thrown, size, [&] { function(args); });
}
