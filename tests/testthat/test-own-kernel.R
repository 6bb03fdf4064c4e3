signature <- "x: T[n], y: T[] -> z: T[n]"

# NVIDIA's compiler needs no GPU: the folder of a wheel's library, nvidia-cuda-nvrtc or nvidia-cuda-nvrtc-cu12.
skip_without_nvrtc <- function() {
  skip_without_plugin()
  compiler <- xlaffi:::check(.Call(xlaffi:::wrap__cuda_compiler))
  skip_if(is.null(compiler$version), "CUDA: no NVRTC in XLAFFI_CUDA_PATH")
}

test_that("an op has a body for the CPU and a kernel for CUDA", {
  skip_without_plugin()
  op <- ffi_source(signature, "for (int64_t i = 0; i < n; i++) z[i] = x[i] * *y;",
    name = "both", cuda = "z[i] = x[i] * *y;"
  )
  expect_equal(op(c(1, 2, 3), 2), c(2, 4, 6))
  targets <- ffi_targets()
  expect_identical(targets$platforms[targets$target == "both"], "cuda, host")
  expect_type(ffi_handler("both", "cuda"), "externalptr")
})

test_that("an op with a kernel only is written into programs, and says on the CPU what it is", {
  skip_without_plugin()
  op <- ffi_source(signature, "z[i] = x[i] * *y;", lang = "cuda", name = "only")
  targets <- ffi_targets()
  expect_identical(targets$platforms[targets$target == "only"], "cuda")
  expect_snapshot(error = TRUE, op(c(1, 2, 3), 2))
  expect_s3_class(error_of(op(1, 2)), "xlaffi_error_unimplemented")
  expect_identical(error_of(op(1, 2))$op, "only")
  # The next definition has a body.
  op <- ffi_source(signature, "for (int64_t i = 0; i < n; i++) z[i] = x[i];", name = "only")
  expect_equal(op(c(1, 2), 2), c(1, 2))
  targets <- ffi_targets()
  expect_identical(targets$platforms[targets$target == "only"], "host")
})

test_that("another kernel is another op to programs", {
  skip_without_plugin()
  digest <- function(cuda) own_digest(ffi_source(signature, "z[0] = 1;", name = "digested", cuda = cuda))
  digests <- vapply(list(
    NULL, "z[i] = 1;", "z[i] = 2;", ffi_kernel("z[i] = 1;", over = "2 * n"), ffi_kernel("z[i] = 1;", flags = "-DA=1"),
    ffi_kernel("z[i] = 1;", support = "typedef int k;"), ffi_kernel("z[0] = 1;", grid = c(1, 2), block = 3),
    ffi_kernel("z[0] = 1;", grid = 1, block = c(2, 3)), ffi_kernel("z[0] = 1;", grid = 1, block = 2, shared = 3)
  ), digest, "")
  expect_identical(anyDuplicated(digests), 0L)
  expect_identical(digest("z[i] = 1;"), digests[[2L]])
})

test_that("kernels are shown with what they are launched for", {
  expect_snapshot({
    ffi_kernel("z[i] = 1;")
    ffi_kernel("z[i] = 1;", over = "m * n")
    ffi_kernel(c("if (threadIdx.x < n)", "  z[threadIdx.x] = 1;"), grid = c(1, "m"), block = 128, shared = "8 * n")
  })
})

test_that("kernels that make no sense are refused", {
  expect_snapshot(error = TRUE, {
    ffi_kernel(NULL)
    ffi_kernel(1)
    ffi_kernel("", grid = 1)
    ffi_kernel("", block = 1)
    ffi_kernel("", grid = 1, block = 1, over = "n")
    ffi_kernel("", shared = 100)
    ffi_kernel("", over = -1)
    ffi_kernel("", over = c("n", "m"))
    ffi_kernel("", grid = 1.5, block = 1)
    ffi_kernel("", grid = 1, block = c(1, 1, 1, 1))
  })
  skip_without_plugin()
  kernel <- function(code, ..., signature = "x: f64[n]; k: i64 = 1, a: f64 = 1 -> z: f64[n]") {
    ffi_source(signature, code, lang = "cuda", name = "bad", ...)
  }
  expect_snapshot(error = TRUE, {
    kernel(ffi_kernel("", over = "n * q"))
    kernel(ffi_kernel("", grid = "n *", block = "k"))
    kernel(ffi_kernel("", grid = 1, block = "a"))
    kernel("", signature = "x: f64[i] -> z: f64[i]")
    kernel("", signature = "xs: f64[n]*k -> z: f64[n]")
    kernel("", signature = "x: f64[n] -> ")
    kernel("", signature = "blockIdx: f64[n] -> z: f64[n]")
    kernel("", init = "xlaffi_state = 0;")
    kernel("", openmp = TRUE)
    kernel("", libraries = "m")
    kernel("", dependencies = c(rand = "0.8"))
    kernel("", cuda = "")
    kernel(ffi_kernel(""), support = "int a;")
    kernel(NULL)
    ffi_source(file = "op.cu")
    ffi_source(signature, "", lang = "cuda", file = "op.cu")
    ffi_source(signature, "", cuda = 1, name = "bad")
  })
})

test_that("NVRTC takes kernels, and its messages are shown with the user's lines", {
  skip_without_nvrtc()
  op <- ffi_source("x: T[..., n]; eps: f64 = 0 -> y: T[..., n]", lang = "cuda", name = "rms_cuda", ffi_kernel("
      __shared__ T part[128];
      part[threadIdx.x] = 0;
      for (int64_t j = threadIdx.x; j < n; j += 128) part[threadIdx.x] += x[j] * x[j];
      __syncthreads();
      T sum = 0;
      for (int j = 0; j < 128; j++) sum += part[j];
      if (isnan(sum)) FAIL(\"element %lld is NaN\", xlaffi_batch);
      for (int64_t j = threadIdx.x; j < n; j += 128) y[j] = scaled(x[j], sqrt(sum / n + (T) eps));
    ",
    support = "#include <math.h>\nT scaled(T x, T by) { return x / by; }", grid = 1, block = 128
  ))
  expect_s3_class(op, "xlaffi_own_op")
  expect_snapshot(error = TRUE, {
    ffi_source(signature, "\n  z[i] = x[i] + offset;\n  missing(3);", lang = "cuda", name = "broken")
    ffi_source(signature, ffi_kernel("z[i] = f(x[i]);", support = "T f(T x) {\n  return y;\n}"),
      lang = "cuda", name = "broken"
    )
  })
  expect_match(error_of(ffi_source(signature, "oh", lang = "cuda", name = "broken"))$log, "oh", all = FALSE)
})

test_that("code of kernels is kept on disk, and compiled again where it was damaged", {
  skip_without_nvrtc()
  folder <- local_code_cache()
  make <- function() ffi_source(signature, "z[i] = x[i];", lang = "cuda", name = "kept_on_cuda")
  entries <- function() list.files(folder, "^[0-9a-f]{64}$", full.names = TRUE)
  make()
  entry <- entries()
  expect_length(entry, 1L)
  images <- list.files(entry, "^kernel", full.names = TRUE)
  expect_length(images, 2L)
  made <- file.mtime(images)
  Sys.sleep(0.01)
  make()
  expect_identical(file.mtime(images), made)
  writeBin(as.raw(1:10), images[[1L]])
  make()
  expect_gt(file.size(images[[1L]]), 10)
  ffi_source(signature, "z[i] = x[i];", lang = "cuda", name = "kept_on_cuda", flags = "-DA=1")
  expect_length(entries(), 2L)
})

test_that("a header that a macro names belongs to a kernel's key", {
  skip_without_nvrtc()
  cache <- local_code_cache()
  folder <- withr::local_tempdir()
  header <- file.path(folder, "value.h")
  make <- function(value, support, flags = character()) {
    writeLines(sprintf("#define VALUE %s", value), header)
    support <- paste(c(support, "#include HEADER"), collapse = "\n")
    kernel <- ffi_kernel("z[i] = (T) VALUE;", support = support, include = folder, flags = flags)
    ffi_source(signature, kernel, lang = "cuda", name = "by_macro")
  }
  entries <- function() length(list.files(cache, "^[0-9a-f]{64}$"))
  plain <- "#define HEADER \"value.h\""
  make("1", plain)
  make("1", plain)
  expect_identical(entries(), 1L)
  expect_error(make("nothing", plain), "by_macro: line 1 of the kernel")
  make("1", character(), "-DHEADER=\"value.h\"")
  expect_error(make("nothing", character(), "-DHEADER=\"value.h\""), "by_macro: line 1 of the kernel")
  # What is defined by another macro is looked up by nobody: such code is compiled anew.
  other <- c("#define OTHER \"value.h\"", "#define HEADER OTHER")
  make("1", other)
  expect_error(make("nothing", other), "by_macro: line 1 of the kernel")
})

test_that("what NVRTC writes is read", {
  log <- c(
    "sums.cu(2): error: identifier \"offset\" is undefined", "    z[i] = x[i] + offset;", "                  ^", "",
    "support.cu(7): warning #177-D: variable \"k\" was declared but never referenced", "    int k;", "        ^", "",
    "support.cu(9): catastrophic error: could not open source file \"none.h\" (no directories in search list)",
    "  #include \"none.h\"", "                    ^", "", "1 error detected in the compilation of \"xlaffi.cu\"."
  )
  found <- xlaffi:::cuda_diagnostics(log)
  expect_identical(found$file, c("sums.cu", "support.cu"))
  expect_identical(found$line, c(2L, 9L))
  expect_match(found$message, "^identifier|^could not open")
  expect_identical(found$snippet[[1L]], "    2 |   z[i] = x[i] + offset;\n      |                 ^")
})

test_that("elementwise ops have a kernel where CUDA has the arithmetic", {
  skip_without_plugin()
  platforms <- function(target) {
    targets <- ffi_targets()
    targets$platforms[targets$target == target]
  }
  op <- ffi_elementwise("x: T, y: T -> z: T", "z = (x - y)^2", name = "distance_cuda")
  expect_equal(op(c(1, 2), 4), c(9, 4))
  expect_identical(platforms("distance_cuda"), "cuda, host")
  expect_identical(platforms("distance_cuda.along.x"), "cuda, host")
  ffi_elementwise("x: c64 -> z: c64", "z = x * x", name = "square_complex")
  expect_identical(platforms("square_complex"), "host")
  ffi_elementwise("new: T -> z: T", "z = new * 2", name = "word_of_cpp")
  expect_identical(platforms("word_of_cpp"), "host")
})

test_that("NVRTC takes the kernels of elementwise ops", {
  skip_without_nvrtc()
  compiled <- function(expression, x = "T", y = "T", z = "T", dtypes = list()) {
    given <- xlaffi:::read_signature(sprintf("x: %s, y: %s -> z: %s", x, y, z))
    code <- xlaffi:::elementwise_code(expression, given, list(), "op")
    kernel <- xlaffi:::elementwise_kernel(given, code, c(TRUE, FALSE), "at", dtypes, NULL)
    kernel$lazy <- FALSE
    loop <- sprintf("x: %s[..., m], y: %s[...] -> z: %s[..., m]", x, y, z)
    ffi_source(loop, kernel, lang = "cuda", name = "op", dtypes = dtypes)
  }
  for (expression in c(
    "z = (x - y) * (x - y)", "d = x - y; z = d^2 + x^3 + y^4 + x^2.5 + 2^x",
    "z = ifelse(abs(x) < 1, x^2 / 2, abs(x) - 0.5)", "z = pmin(x, y) + pmax(x, 1) + sign(y) + round(x) + ceiling(y)",
    "z = exp(x) + gamma(x) + erf(x) + atan2(x, 2) + hypot(x, 1L) + y", "z = x > y ? x : 0"
  )) {
    expect_s3_class(compiled(expression), "xlaffi_own_op")
  }
  mixed <- list(T = c("f32", "f64", "i32"), U = c("f32", "i32"))
  expect_s3_class(compiled("z = x / y + pow(x, y) + log(x)", "T", "U", "f64", mixed), "xlaffi_own_op")
  expect_s3_class(compiled("z = ifelse(x, y, y * y)", "pred", "ui8", "ui8"), "xlaffi_own_op")
  expect_s3_class(compiled("z = abs(x) > 1 & y < 2 | !(y == 1)", "ui64", "i64", "pred"), "xlaffi_own_op")
})

test_that("the kernel that tools/gpu/check runs is what an expression becomes", {
  skip_without_plugin()
  file <- file.path(Sys.getenv("XLAFFI_SOURCE", "none"), "tools", "gpu", "elementwise.cu")
  skip_if_not(file.exists(file), "the source of the package is not here")
  expression <- "d = x - y; z = ifelse(abs(d) < 1, d^2 / 2, abs(d) - 0.5) + exp(-pmin(x, 1)) + sign(y)"
  given <- xlaffi:::read_signature("x: T, y: T -> z: T")
  code <- xlaffi:::elementwise_code(expression, given, list(), "distance")
  kernel <- xlaffi:::elementwise_kernel(given, code, c(TRUE, FALSE), "i", list(), NULL)
  made <- c("// x: T[..., m], y: T[...] -> z: T[..., m]", kernel$support, "// kernel", kernel$code)
  expect_identical(readLines(file), made)
})
