#' Print a buffer
#'
#' @param x A buffer.
#' @param max_rows How many rows are printed in all; -1 for all.
#' @param max_width How many characters a line may have; wider matrices are broken into blocks of
#'   columns. Negative for no limit.
#' @param max_rows_slice How many rows of each matrix of an array with more dimensions; -1 for all.
#' @param header Whether the first line is printed.
#' @param footer The last line: `NULL` for platform, dtype and shape; `""` for none.
#' @param ... Not used.
#' @return `x`, invisibly.
#' @examplesIf plugins_downloaded()
#' print(pjrt_buffer(1:100), max_rows = 3)
#' @export
print.xlaffi_buffer <- function(x,
                                max_rows = getOption("pjrt.print_max_rows", 30L),
                                max_width = getOption("pjrt.print_max_width", 85L),
                                max_rows_slice = getOption("pjrt.print_max_rows_slice", max_rows),
                                header = TRUE, footer = NULL, ...) {
  check_print_dots(...)
  check_flag(header, "header")
  check_limit(max_rows, "max_rows")
  check_limit(max_width, "max_width")
  check_limit(max_rows_slice, "max_rows_slice")
  if (max_width %in% 0:1) {
    abort("`max_width` must be negative or at least 2: every row starts with a blank",
      operand = "max_width"
    )
  }
  why <- why_gone(buffer_info(x))
  if (!is.null(why)) {
    writeLines(c(if (header) "PJRTBuffer ", sprintf("(not shown: it is %s)", why)))
    return(invisible(x))
  }
  wait_for(x)
  lines <- check(.Call(wrap__buffer_lines, x, max_rows, max_width, max_rows_slice))
  if (is.null(footer)) {
    info <- buffer_info(x)
    label <- if (info$dtype == "pred") "bool" else info$dtype
    footer <- sprintf(
      "[ %s%s{%s} ]", toupper(info$platform), label, paste(info$shape, collapse = "x")
    )
  }
  # The blank at the end of the first and the last line is {pjrt}'s look.
  writeLines(c(if (header) "PJRTBuffer ", lines, if (nzchar(footer)) paste0(footer, " ")))
  invisible(x)
}

#' @export
format.xlaffi_buffer <- function(x, ...) {
  check_format_dots(...)
  why <- why_gone(info <- buffer_info(x))
  if (!is.null(why)) {
    return(sprintf("<buffer: %s>", why))
  }
  sprintf("<buffer %s on %s>", type_text(new_type(info$dtype, info$shape)), format(device(x)))
}

# R's own asks for the length.
#' @export
str.xlaffi_buffer <- function(object, ...) {
  check_str_dots(...)
  why <- why_gone(buffer_info(object))
  if (is.null(why)) NextMethod() else cat(sprintf("Class 'xlaffi_buffer' <externalptr> (%s)\n", why))
}

check_limit <- function(x, name, call = rlang::caller_env()) {
  if (!is.numeric(x) || length(x) != 1L || is.na(x) || x != trunc(x) || x < -1 && name != "max_width" ||
    x == 0) {
    abort(sprintf("`%s` must be one positive whole number or -1, not %s", name, describe(x)),
      operand = name, call = call
    )
  }
}

#' Elements of a buffer as StableHLO writes them
#'
#' @section Errors:
#' What is no buffer is an error.
#'
#' @param buffer A buffer.
#' @return A character array of the buffer's shape: decimal integers, `true` and `false`, numbers
#'   with as many digits as their type has, and the bits in hexadecimal for infinite and NaN values.
#' @examplesIf plugins_downloaded()
#' format_buffer(pjrt_buffer(c(1.5, Inf)))
#' @export
format_buffer <- function(buffer) {
  check_given(buffer)
  wait_for(buffer)
  check(.Call(wrap__buffer_literals, buffer))
}
