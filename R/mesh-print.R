# More than this is not gathered only to be looked at.
most_printed <- 2^20

#' @export
format.xlaffi_sharded <- function(x, ...) {
  sprintf("<sharded array %s, %s on %s>", type_text(x), format_spec(x@spec), format(x@mesh))
}

#' @export
print.xlaffi_sharded <- function(x, ...) {
  cat("Sharded array\n")
  label <- if (x@dtype == "pred") "bool" else x@dtype
  is_gone <- is_from_elsewhere(x)
  facts <- c(
    sprintf("[ %s%s{%s} ]", if (is_gone) "" else toupper(platform(x)), label, paste(x@shape, collapse = "x")),
    sprintf("%s on %s", format_spec(x@spec), format(x@mesh))
  )
  hidden <- if (is_gone) {
    "its parts are gone, as they do not survive saving and loading: make it again with xla_shard()"
  } else if (length(x) > most_printed) {
    "it is large"
  } else if (!is_here(x)) {
    "parts of it lie on devices of other processes"
  }
  if (is.null(hidden)) {
    print(on_one_device(x), header = FALSE, footer = paste(facts, collapse = "\n"), ...)
  } else {
    writeLines(c(sprintf("(not shown: %s)", hidden), facts))
  }
  invisible(x)
}

# Whether it was saved and loaded, which its parts do not survive
is_from_elsewhere <- function(x) {
  tryCatch(
    {
      buffer_info(x@shards[[1L]])
      FALSE
    },
    xlaffi_error_failed_precondition = function(e) TRUE
  )
}

# Whether this process has all parts
is_here <- function(x) {
  length(unique(first_of_same(local_parts(x@mesh, x@spec)))) == prod(parts_per_dimension(x@spec, x@mesh))
}

# The whole array as one buffer
on_one_device <- function(x, to = x@mesh$devices[[x@mesh$local[[1L]]]]) {
  if (!any(lengths(x@spec))) {
    return(copy_buffer(x@shards[[1L]], to))
  }
  check(.Call(wrap__buffer_from_raw, as_raw(x, row_major = TRUE), x@dtype, to, x@shape, TRUE))
}
