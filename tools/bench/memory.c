/* How fast one and two cores go through memory, and how much faster two are where memory does not matter.
 *
 *   memory [MEGABYTES]        what an array takes, 800 by default
 *
 * Prints, for one thread and for two on cores of their own: gigabytes read in a second, gigabytes read and written in a
 * second when an array is scaled into another one, and billions of additions and multiplications in registers. */
#define _GNU_SOURCE
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum { LANES = 64, TURNS = 5, KINDS = 3 };

static double *from, *to;
static size_t count;
static pthread_barrier_t start;

typedef struct {
  int number, threads, kind;
  double seconds, result;
} job;

static double now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return t.tv_sec + 1e-9 * t.tv_nsec;
}

/* Independent sums, so that no addition waits for the one before. */
static double read_all(const double *x, size_t n) {
  double sums[LANES] = {0}, sum = 0;
  for (size_t i = 0; i + LANES <= n; i += LANES)
    for (int k = 0; k < LANES; k++) sums[k] += x[i + k];
  for (int k = 0; k < LANES; k++) sum += sums[k];
  return sum;
}

static void scale_all(double *restrict y, const double *restrict x, size_t n) {
  for (size_t i = 0; i < n; i++) y[i] = 3 * x[i];
}

static double compute(size_t n) {
  double x[LANES], sum = 0;
  for (int k = 0; k < LANES; k++) x[k] = k;
  for (size_t i = 0; i < n; i += LANES)
    for (int k = 0; k < LANES; k++) x[k] = 0.999 * x[k] + 0.001;
  for (int k = 0; k < LANES; k++) sum += x[k];
  return sum;
}

static void *run(void *given) {
  job *own = given;
  cpu_set_t core;
  CPU_ZERO(&core);
  CPU_SET(own->number, &core);
  pthread_setaffinity_np(pthread_self(), sizeof core, &core);
  size_t n = count / own->threads, first = n * own->number;
  pthread_barrier_wait(&start);
  double begun = now();
  switch (own->kind) {
    case 0: own->result = read_all(from + first, n); break;
    case 1: scale_all(to + first, from + first, n); break;
    default: own->result = compute(20 * n);
  }
  own->seconds = now() - begun;
  return NULL;
}

/* The slower thread's time, the least of some turns. */
static double least(int kind, int threads) {
  double best = 1e9;
  for (int turn = 0; turn < TURNS; turn++) {
    job jobs[2];
    pthread_t ids[2];
    double slowest = 0;
    pthread_barrier_init(&start, NULL, threads);
    for (int i = 0; i < threads; i++) {
      jobs[i] = (job){i, threads, kind, 0, 0};
      if (pthread_create(&ids[i], NULL, run, &jobs[i])) exit(1);
    }
    for (int i = 0; i < threads; i++) {
      pthread_join(ids[i], NULL);
      if (jobs[i].seconds > slowest) slowest = jobs[i].seconds;
    }
    pthread_barrier_destroy(&start);
    if (slowest < best) best = slowest;
  }
  return best;
}

int main(int argc, char **argv) {
  size_t bytes = (argc > 1 ? atol(argv[1]) : 800) * 1000000ul / 1024 * 1024;
  count = bytes / sizeof(double);
  from = aligned_alloc(1024, bytes);
  to = aligned_alloc(1024, bytes);
  if (!from || !to) return 1;
  for (size_t i = 0; i < count; i++) from[i] = i % 7, to[i] = 0;
  /* What one turn is, by kind: bytes, or operations. */
  double work[KINDS] = {bytes, 2.0 * bytes, 40.0 * count};
  printf("measured");
  for (int kind = 0; kind < KINDS; kind++)
    for (int threads = 1; threads <= 2; threads++) printf(" %.4g", work[kind] / least(kind, threads) / 1e9);
  printf("\n");
}
