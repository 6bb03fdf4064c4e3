#' A kernel for CUDA
#'
#' What [ffi_source()] takes as `cuda =`, or as `code` with `lang = "cuda"`: the body of a kernel, and how many threads
#' run it. A plain string will do where the body is to be run once for each element of the first result.
#'
#' @details
#' # Where this has run
#' On an NVIDIA H100 with CUDA 13.0: `tools/gpu/check` in the sources runs kernels of many kinds there. Our tests have
#' NVIDIA's compiler compile them, and run them on stand-ins for the driver, thread by thread.
#'
#' # What a kernel sees
#' The names of the signature, as a body in C does: `const T *x`, `T *z`, dimensions as `int64_t n`, attributes by
#' value, `const int64_t *lags`, `const char *mode` with `mode_length`, scratch arrays, `NULL` for what was left out,
#' `T` as a type, also in `support`. Functions need no `__device__`. `f16` and `bf16` are bits, with the functions of
#' `xlaffi.h` for them, complex numbers are CUDA's `float2` and `double2`.
#'
#' Without a grid, the kernel is code for one value of `i` (an `int64_t`), which goes from 0 to the number of elements
#' of the first result, or to `over`. It may not use `__syncthreads()`; `return` ends this one value. With `grid` and
#' `block` it is code for one thread, with `blockIdx`, `threadIdx`, `__shared__` and whatever CUDA has. Their
#' numbers are expressions in dimensions and integer attributes of the signature.
#'
#' # Batches
#' The elements of a batch are computed by one launch, from the batch index that a thread finds: of a kernel with a grid
#' they are `blockIdx.z`, so grids have two axes. Pointers are those of the element. Scratch arrays belong to an
#' element, not to a thread.
#'
#' # Errors
#' `FAIL("x[%lld] is negative", i)` and `FAIL_WITH(XLAFFI_OUT_OF_RANGE, ...)` end the thread, or the value of `i`; the
#' others go on, and of several errors one is reported. Texts take numbers only, eight at most. A call of a kernel with
#' `FAIL` in its text, or in its support code, waits until the device is done; others do not wait.
#'
#' # What there is not
#' Operands that come several times (`*k`) and state (`init`): state belongs to the body for the CPU.
#'
#' # Compiling
#' Kernels are compiled by NVRTC (`xlaffi_sitrep()` says whether it was found) for the devices that are there, and kept
#' as [ffi_source()] keeps code; the key has NVRTC's version and the architecture. Where there is no device, they
#' are compiled for an old one, so that mistakes are found early; where there is no NVRTC, not before the first call.
#' Standard headers of C may be included and are empty, as NVRTC has their functions itself. The code of a kernel
#' stays on the device until the session ends.
#'
#' @param code The body.
#' @param over How many values `i` has, if it is not the number of elements of the first result: `"m * n"`.
#' @param grid,block Blocks along one or two axes, threads of a block along up to three: `grid = c("(n + 31) / 32",
#'   "m")`, `block = 32`.
#' @param shared Bytes of shared memory that a block is given beside what it declares (`extern __shared__`).
#' @param support Code before the kernel.
#' @param flags Options for NVRTC.
#' @param include Folders with header files, such as CUDA's own.
#' @return An object of class `xlaffi_kernel`.
#' @seealso [ffi_source()], `vignette("cuda")`.
#' @examples
#' ffi_kernel("z[i] = x[i] * *y;")
#'
#' # The norm of each row, by a block of 128 threads.
#' ffi_kernel("
#'     __shared__ double part[128];
#'     part[threadIdx.x] = 0;
#'     for (int64_t j = threadIdx.x; j < n; j += 128) part[threadIdx.x] += x[j] * x[j];
#'     __syncthreads();
#'     if (threadIdx.x) return;
#'     *norm = 0;
#'     for (int j = 0; j < 128; j++) *norm += part[j];
#'     *norm = sqrt(*norm);
#'   ",
#'   grid = 1, block = 128
#' )
#' @export
ffi_kernel <- function(code, over = NULL, grid = NULL, block = NULL, shared = NULL, support = NULL,
                       flags = character(), include = character()) {
  if (is.null(grid) != is.null(block)) {
    abort("`grid` and `block` are given together", operand = if (is.null(grid)) "grid" else "block")
  }
  if (!is.null(grid) && !is.null(over)) {
    abort("`over` is for kernels without a grid", operand = "over")
  }
  if (is.null(grid) && !is.null(shared)) {
    abort("`shared` is for kernels with a grid", operand = "shared")
  }
  if (is.null(code)) {
    abort("`code` is missing", operand = "code")
  }
  kernel <- list(
    code = code_lines(code, "code"), over = launch_numbers(over, "over", 1L), grid = launch_numbers(grid, "grid", 2L),
    block = launch_numbers(block, "block", 3L), shared = launch_numbers(shared, "shared", 1L),
    support = code_lines(support, "support"), flags = check_strings(flags, "flags"),
    include = normalizePath(check_strings(include, "include"), "/", FALSE), index = "i", lazy = FALSE
  )
  structure(kernel, class = "xlaffi_kernel")
}

#' @export
print.xlaffi_kernel <- function(x, ...) {
  check_print_dots(...)
  size <- function(numbers) paste0("(", toString(numbers), ")")
  how <- if (!is.null(x$grid)) {
    paste0("grid ", size(x$grid), ", block ", size(x$block), if (!is.null(x$shared)) paste(", shared", x$shared))
  } else {
    paste("over", if (is.null(x$over)) "the elements of the first result" else x$over)
  }
  cat("<kernel, ", how, ">\n", sep = "")
  cat(x$code, sep = "\n")
  invisible(x)
}

# Numbers or expressions, as expressions.
launch_numbers <- function(x, name, most, call = rlang::caller_env()) {
  if (is.null(x)) {
    return(NULL)
  }
  is_count <- is.numeric(x) && !anyNA(x) && all(x >= 0 & x == floor(x) & x < 2^31)
  if (!(is_count || is.character(x) && !anyNA(x)) || !length(x) || length(x) > most) {
    text <- "`%s` must be %s whole numbers or expressions of dimensions, not %s"
    text <- if (most == 1L) "`%s` must be %sa whole number or an expression of dimensions, not %s" else text
    abort(sprintf(text, name, if (most == 1L) "" else paste("1 to", most), describe(x)), operand = name, call = call)
  }
  if (is_count) format(x, scientific = FALSE, trim = TRUE) else x
}

# The kernel that the arguments of ffi_source() give; NULL without one. `others` are those that a kernel has not.
source_kernel <- function(lang, file, code, cuda, support, flags, include, others, call = rlang::caller_env()) {
  if (!identical(source_language(lang, file, call), "cuda")) {
    return(if (!is.null(cuda)) as_kernel(cuda, "cuda", call))
  }
  if (!is.null(file)) {
    abort("a kernel is given as `code`, not as `file`",
      operand = "file", hint = sprintf("`code = readLines(%s)`", dQuote(file, FALSE)), call = call
    )
  }
  if (is.null(code)) {
    abort("`code` is missing", operand = "code", call = call)
  }
  if (!is.null(cuda)) {
    abort("with `lang = \"cuda\"` the kernel is `code`", operand = "cuda", call = call)
  }
  refuse_given(others, "kernels", call)
  if (!inherits(code, "xlaffi_kernel")) {
    return(ffi_kernel(code, support = support, flags = flags, include = include))
  }
  given <- c(support = length(support), flags = length(flags), include = length(include))
  if (any(given > 0L)) {
    name <- names(given)[given > 0L][[1L]]
    abort(sprintf("`%s` is an argument of `ffi_kernel()` here", name), operand = name, call = call)
  }
  code
}

# What `cuda =` may be.
as_kernel <- function(x, name, call = rlang::caller_env()) {
  if (inherits(x, "xlaffi_kernel")) {
    return(x)
  }
  code_lines(x, name, call)
  ffi_kernel(x)
}

# The kernels of an op with the code that there is for them: an object for own_op_new(), and the digest of the sources.
# One that nobody asked for may be impossible: names that are words of C++, too many arrays.
op_kernels <- function(op, kernel, call) {
  if (kernel$lazy) {
    return(tryCatch(kernels_of(op, kernel, call), xlaffi_error = function(error) NULL))
  }
  kernels_of(op, kernel, call)
}

kernels_of <- function(op, kernel, call) {
  check_variables(op, "cuda", call)
  sets <- op_sets(op, call)
  files <- paste0(c(part_name(op$name), "support"), ".cu")
  text <- function(lines) paste(lines, collapse = "\n")
  header <- text(readLines(system.file("include", "xlaffi.h", package = "xlaffi")))
  options <- c(sprintf("--include-path=%s", kernel$include), kernel$flags)
  kernels <- .Call(
    wrap__kernels_new, op$name, op$signature$text, names(sets), unname(sets), files, text(kernel$code),
    text(kernel$support), header, if (is.null(kernel$grid)) kernel$index, kernel$over, kernel$grid, kernel$block,
    kernel$shared, options
  )
  if (inherits(kernels, "xlaffi_failure")) {
    # As it is: the place is shown under the text.
    abort_text(kernels$message, op = op$name, call = call, operand = kernels$operand)
  }
  sources <- check(.Call(wrap__kernels_sources, kernels), call)
  included <- local_files(list(
    language = "cuda", ops = list(list(code = kernel$code)), support = kernel$support, include = kernel$include,
    flags = kernel$flags, libraries = character()
  ))
  launch <- unlist(lapply(c("over", "grid", "block", "shared"), function(name) paste(name, kernel[[name]])))
  digest <- text_digest(c(
    "cuda 2", sources, header, options, included, launch
  ))
  compile <- function() {
    compile_kernels(op, kernels, length(sources), digest, stats::setNames(c("the kernel", "`support`"), files), call)
  }
  if (!kernel$lazy) {
    compile()
  } else if (!is.null(host_state$plugins[["cuda"]])) {
    tryCatch(compile(), xlaffi_error = function(error) NULL)
  }
  list(kernels = kernels, digest = digest)
}

# For devices that are there; without one for an old one, which tells mistakes, and whose code the driver can use. Where
# there is no compiler the first call looks for one again.
compile_kernels <- function(op, kernels, count, digest, files, call) {
  compiler <- check(.Call(wrap__cuda_compiler), call)
  if (is.null(compiler$version)) {
    return(invisible())
  }
  architectures <- compiler$architectures
  if (!length(architectures)) {
    architectures <- "compute_75"
  }
  wanted <- expand.grid(instance = seq_len(count) - 1, architecture = architectures, stringsAsFactors = FALSE)
  images <- sprintf("kernel%d.%s", wanted$instance + 1, wanted$architecture)
  key <- text_digest(c(digest, compiler$version, architectures))
  folder <- code_entry(key, op$name, images, function(folder) {
    for (i in seq_along(images)) {
      image <- check(.Call(wrap__kernels_compile, kernels, wanted$instance[[i]], wanted$architecture[[i]]), call)
      if (!is.raw(image)) {
        compiler_error(op$name, "cuda", strsplit(image$log, "\n", fixed = TRUE)[[1L]], files, call)
      }
      write_bytes(image, file.path(folder, images[[i]]))
    }
  })
  for (i in seq_along(images)) {
    file <- file.path(folder, images[[i]])
    image <- readBin(file, "raw", file.size(file))
    check(.Call(wrap__kernels_provide, kernels, wanted$instance[[i]], wanted$architecture[[i]], image), call)
  }
}
