#' A program
#'
#' Source code for [pjrt_compile()]: StableHLO as text or bytecode (`"mlir"`), or a serialized
#' `HloModuleProto` (`"hlo"`).
#'
#' @param src The program: a string, or a raw vector for bytecode and for `"hlo"`.
#' @param path Alternatively, a file that holds it.
#' @param format `"mlir"` or `"hlo"`.
#' @return A program, class `xlaffi_program`.
#' @section Errors:
#' A file that is not there is an error of class `xlaffi_error_not_found`. The text itself is looked at by
#' [pjrt_compile()].
#'
#' @examples
#' pjrt_program("
#' func.func @main(%x: tensor<2xf32>) -> tensor<2xf32> {
#'   return %x : tensor<2xf32>
#' }
#' ")
#' @export
pjrt_program <- function(src = NULL, path = NULL, format = c("mlir", "hlo")) {
  format <- check_choice(format, "format", c("mlir", "hlo"))
  if (is.null(src) == is.null(path)) {
    abort("give either `src` or `path`", operand = "src")
  }
  if (!is.null(path)) {
    src <- read_bytes(path)
  }
  if (is.character(src)) {
    check_string(src, "src")
  } else if (!is.raw(src)) {
    abort(sprintf("`src` must be one string or a raw vector, not %s", describe(src)), operand = "src")
  }
  check(.Call(wrap__program_new, src, format))
}

#' @export
format.xlaffi_program <- function(x, ..., n = 10) {
  check_format_dots(...)
  why <- why_gone(check(.Call(wrap__program_info, x)))
  if (!is.null(why)) {
    return(sprintf("PJRTProgram(%s)", why))
  }
  info <- check(.Call(wrap__program_info, x))
  head <- sprintf("PJRTProgram(format=%s, code_size=%d)", info$format, info$size)
  lines <- if (!is.null(info$text)) {
    strsplit(info$text, "\n", fixed = TRUE)[[1L]]
  } else if (info$format == "hlo") {
    # One line more than is shown, to know whether there is more.
    hlo_proto_lines(info$bytes, n + 1)
  }
  if (is.null(lines)) {
    return(paste0(head, "\n<", info$size, " bytes>"))
  }
  shown <- lines[seq_len(min(n, length(lines)))]
  paste(c(head, shown, if (length(lines) > n) "..."), collapse = "\n")
}

#' @export
print.xlaffi_program <- function(x, ..., n = 5) {
  check_print_dots(...)
  cat(format(x, n = n), "\n")
  invisible(x)
}

# Any two external pointers of one class are equal to R.
#' @method all.equal xlaffi_program
#' @export
all.equal.xlaffi_program <- function(target, current, ...) {
  check_equal_dots(...)
  if (!inherits(current, "xlaffi_program")) {
    return(sprintf("target is a program, current is %s", describe(current)))
  }
  if (identical(target, current)) {
    return(TRUE)
  }
  infos <- lapply(list(target, current), function(x) check(.Call(wrap__program_info, x)))
  formats <- vapply(infos, `[[`, "", "format")
  if (formats[[1L]] != formats[[2L]]) {
    return(sprintf("formats are \"%s\" and \"%s\"", formats[[1L]], formats[[2L]]))
  }
  codes <- lapply(infos, function(info) if (is.null(info$text)) info$bytes else info$text)
  if (all(vapply(codes, is.null, NA))) {
    return("programs are bytecode, which is not compared")
  }
  codes_differ(codes)
}

# Where two programs, each a text or its bytes, differ; TRUE where they do not.
codes_differ <- function(codes) {
  if (identical(codes[[1L]], codes[[2L]])) {
    return(TRUE)
  }
  if (!all(vapply(codes, is.character, NA))) {
    return("programs differ")
  }
  lines <- lapply(codes, function(code) strsplit(code, "\n", fixed = TRUE)[[1L]])
  at <- seq_len(min(lengths(lines)))
  line <- c(which(lines[[1L]][at] != lines[[2L]][at]), length(at) + 1L)[[1L]]
  shown <- vapply(lines, function(lines) {
    if (line > length(lines)) "no more" else dQuote(trimws(lines[[line]]), FALSE)
  }, "")
  sprintf("line %d: %s and %s", line, shown[[1L]], shown[[2L]])
}

#' Programs for any shape
#'
#' JAX can export a program whose arguments have dimensions without sizes, such as `tensor<?x3xf32>`
#' (shape polymorphism, `jax.export.symbolic_shape()`). XLA compiles for given sizes only. This function
#' gives the program for arguments of given shapes: all other shapes in it follow from them.
#'
#' What the program asserts of its shapes (that two arguments have the same number of rows, say) is
#' checked. The work is done by jaxlib, for whatever platform the program is then compiled, so a Python
#' with jaxlib is needed as for the included CPU plugin; see [xlaffi_sitrep()].
#'
#' @section Programs for several platforms:
#' What JAX exports for several platforms (`jax.export.export(platforms = ("cpu", "cuda"))`) takes the
#' platform's index among them as its first argument, an `i64` scalar counted from 0. It has to be given
#' to [pjrt_execute()] as any other, and its shape, `integer()`, here. The included CPU plugin compiles
#' such programs although they name handlers that only another platform has; running one with another
#' platform's index is an error.
#'
#' @param program A program, see [pjrt_program()]; StableHLO, not `"hlo"`.
#' @param shapes A list with the shape of each argument of `main`, as [shape()] gives it; `integer()`
#'   for a scalar.
#' @section Errors:
#' jaxlib does it, also where another plugin runs programs: without a Python that has it there is an error of class
#' `xlaffi_error_not_found`.
#' @return A program, class `xlaffi_program`. Shapes that do not fit the program are an error of class
#'   `xlaffi_error_invalid_argument`.
#' @examplesIf plugins_downloaded()
#' program <- pjrt_program("
#' func.func @main(%x: tensor<?xf32>) -> tensor<?xf32> {
#'   %y = stablehlo.add %x, %x : tensor<?xf32>
#'   return %y : tensor<?xf32>
#' }
#' ")
#' x <- pjrt_buffer(c(1, 2, 3))
#' exec <- pjrt_compile(refine_shapes(program, list(shape(x))))
#' as_array(pjrt_execute(exec, x))
#' @export
refine_shapes <- function(program, shapes) {
  if (!is.list(shapes)) {
    abort(sprintf("`shapes` must be a list, not %s", describe(shapes)), operand = "shapes")
  }
  refined <- .Call(wrap__program_refine, program, unname(shapes))
  if (inherits(refined, "xlaffi_failure") && refined$code == "NOT_FOUND") {
    # No Python was found, and without it.
    refined <- with_included_hint(refined, "Programs are refined by jaxlib")
  }
  check(refined)
}
