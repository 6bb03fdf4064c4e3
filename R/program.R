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
    check_string(path, "path")
    if (!file.exists(path)) {
      abort(sprintf("there is no file \"%s\"", path), code = "NOT_FOUND", operand = "path")
    }
    src <- readBin(path, "raw", file.size(path))
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
  cat(format(x, n = n), "\n")
  invisible(x)
}
