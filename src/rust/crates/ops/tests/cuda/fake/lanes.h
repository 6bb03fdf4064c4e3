// A warp whose 32 threads take turns on one of this processor's. Each runs up to where it exchanges a number with the
// others; when its turn comes again, all of them have been there.

#pragma once

#include <csetjmp>
#include <cstring>
#include <functional>
#include <memory>
#include <ucontext.h>
#include <vector>

class Lanes;
// Of the thread that runs a warp.
inline thread_local Lanes *lanes = nullptr;

class Lanes {
  static constexpr unsigned COUNT = 32;
  static constexpr size_t STACK = 256 << 10;

  struct Lane {
    std::unique_ptr<char[]> stack{new char[STACK]};
    ucontext_t start;
    jmp_buf place;
    // How often it has exchanged something, and what, now and the time before.
    unsigned exchanges = 0;
    double values[2];
    bool begun = false, done = false;
  };

  std::function<void(unsigned)> enter;
  std::function<void()> work;
  std::vector<Lane> all{COUNT};
  unsigned now = 0;
  ucontext_t home;
  bool together = true;

  static void begin() {
    lanes->work();
    lanes->all[lanes->now].done = true;
    lanes->next();
  }

  // Goes on with the next one that has something to do.
  void next() {
    unsigned from = now;
    for (unsigned i = 1; i <= COUNT; ++i) {
      unsigned other = (from + i) % COUNT;
      if (all[other].done) continue;
      if (other == from) return;
      now = other;
      enter(other);
      Lane &lane = all[other];
      if (!all[from].done && _setjmp(all[from].place)) return;
      if (lane.begun) _longjmp(lane.place, 1);
      lane.begun = true;
      setcontext(&lane.start);
    }
    setcontext(&home);
  }

  // Waits until all have been here.
  unsigned meet(double value) {
    Lane &lane = all[now];
    unsigned at = lane.exchanges++;
    lane.values[at & 1] = value;
    next();
    for (const Lane &other : all) together &= other.exchanges == at + 1 || other.exchanges == at + 2;
    return at & 1;
  }

 public:
  // `enter` is told whose turn it is.
  Lanes(std::function<void(unsigned)> enter, std::function<void()> work) : enter(enter), work(work) {}

  // Whether all of them had the same steps.
  bool run() {
    lanes = this;
    for (Lane &lane : all) {
      getcontext(&lane.start);
      lane.start.uc_stack.ss_sp = lane.stack.get(), lane.start.uc_stack.ss_size = STACK;
      lane.start.uc_link = nullptr;
      makecontext(&lane.start, begin, 0);
    }
    volatile bool began = false;
    getcontext(&home);
    if (!began) {
      began = true;
      all[0].begun = true;
      enter(0);
      setcontext(&all[0].start);
    }
    for (const Lane &lane : all) together &= lane.exchanges == all[0].exchanges;
    lanes = nullptr;
    return together;
  }

  // What lane `from` has.
  template <class X> X exchange(X x, int from) {
    static_assert(sizeof(X) <= sizeof(double), "a number");
    double value = 0;
    std::memcpy(&value, &x, sizeof x);
    unsigned at = meet(value);
    std::memcpy(&x, &all[(unsigned)from % COUNT].values[at], sizeof x);
    return x;
  }

  // All lanes' numbers, folded by an operation.
  template <class X, class Operation> X fold(X x, Operation operation) {
    unsigned at = meet(double(x));
    for (const Lane &lane : all) x = operation(x, X(lane.values[at]));
    return x;
  }

  bool any(bool x) {
    return fold(int(x), [](int a, int b) { return a | b; });
  }

  // A bit for each lane.
  unsigned ballot(bool x) {
    unsigned at = meet(x), bits = 0;
    for (unsigned i = 0; i < COUNT; ++i) bits |= unsigned(all[i].values[at] != 0) << i;
    return bits;
  }
};
