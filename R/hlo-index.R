# Indices of values, as R's of arrays as far as the positions are known while the program is written.

#' @export
`[.xlaffi_value` <- function(x, ..., drop = TRUE) {
  call <- method_call("[")
  given <- eval(substitute(alist(...)))
  rank <- length(x@shape)
  if (length(given) != rank) {
    abort(
      sprintf("`x[...]` needs %d indices for a value of shape %s, not %d", rank, shape_text(x@shape), length(given)),
      operand = "...", call = call
    )
  }
  dropped <- logical(rank)
  start <- rep(1L, rank)
  end <- x@shape
  step <- rep(1L, rank)
  moving <- list()
  for (axis in seq_len(rank)) {
    if (identical(given[[axis]], rlang::missing_arg())) {
      next
    }
    index <- ...elt(axis)
    dropped[[axis]] <- drop && length(index) == 1L
    if (is_value(index)) {
      moving[[as.character(axis)]] <- index
      next
    }
    range <- index_range(index, x@shape[[axis]], axis, call)
    start[[axis]] <- range[[1L]]
    end[[axis]] <- range[[2L]]
    step[[axis]] <- range[[3L]]
  }
  y <- sliced(x, start, end, step)
  if (length(moving)) {
    axes <- as.integer(names(moving))
    at <- rep(list(1L), rank)
    at[axes] <- moving
    sizes <- y@shape
    sizes[axes] <- 1L
    y <- dynamic_sliced(y, check_starts(at, y, call), sizes)
  }
  reshaped(y, y@shape[!dropped])
}

# First, last and step of indices that are a range.
index_range <- function(index, size, axis, call) {
  fine <- is.numeric(index) && length(index) && !anyNA(index) && all(index >= 1 & index <= size & index == trunc(index))
  step <- if (length(index) > 1L) index[[2L]] - index[[1L]] else 1
  if (!fine || step < 1 || any(diff(index) != step)) {
    abort(
      sprintf(
        "index %d must be increasing positions from 1 to %d in equal steps, not %s", axis, size, values_text(index)
      ),
      operand = "...", call = call
    )
  }
  as.integer(c(index[[1L]], index[[length(index)]], step))
}

#' @export
`[[.xlaffi_value` <- function(x, ...) {
  one <- x[...]
  if (length(one@shape)) {
    abort(sprintf("`x[[...]]` takes one element, not %s", type_text(one)), operand = "...")
  }
  one
}

#' @export
`[<-.xlaffi_value` <- function(x, ..., value) {
  abort("values of programs cannot be changed in place", "UNIMPLEMENTED",
    op = "[<-", operand = "x", hint = "`hlo_dynamic_update_slice()` and `hlo_select()` give changed ones."
  )
}

#' @export
`[[<-.xlaffi_value` <- `[<-.xlaffi_value`

#' @export
c.xlaffi_value <- function(...) {
  call <- method_call("c")
  parts <- lapply(list(...), function(part) {
    if (is_value(part) && !length(part@shape)) reshaped(part, 1L) else part
  })
  concatenated(unname(parts), 1L, call)
}
