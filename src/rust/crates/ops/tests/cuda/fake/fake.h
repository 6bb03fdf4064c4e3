// NVIDIA's libraries for machines that have none: one shared library under all their names. Device
// memory is this processor's, a stream does its work at once, cuSOLVER and cuBLAS are LAPACK
// (libraries.cc), and kernels are compiled from their CUDA sources as C++ (kernels.cc). So all is tested
// but the GPU: which routines are called, in which order, with which operands and how much to work in.
//
// fake_fail("cusolverDnXsyevd", 7): the function's next call answers 7. fake_calls("…"): how often it
// has been called. Both are of the thread that asks.

#pragma once

#include <map>
#include <string>

#define API extern "C" __attribute__((visibility("default"))) int

// Counts a call; the status that it shall answer.
int enter(const char *function);
#define ENTER \
  if (int status = enter(__func__)) return status

struct Kernel;

// The kernel of that name, or null.
const Kernel *find_kernel(const char *name);

// It may ask for as much shared memory as there is.
void allow_all_shared(const Kernel &kernel);

// Runs a kernel to its end; a status of the driver's.
int run_kernel(const Kernel &kernel, unsigned grid_x, unsigned grid_y, unsigned block_x, unsigned block_y,
               unsigned shared_bytes, void **arguments);

// Kernels of other people (own.cc): the image of a source, the kernel of an image, a launch of it with the
// sizes of grid and block.
bool is_own_source(const std::string &source);
std::string compile_own(const std::string &source, const std::map<std::string, std::string> &headers, std::string &log);
void *load_own(const void *image);
bool is_own(void *function);
void allow_shared(void *function, unsigned bytes);
int run_own(void *function, const unsigned *sizes, unsigned shared, void **arguments);
