# Specifications: how an array is cut along the axes of a mesh. Checked for an array, a specification is a plain list
# of `entries`: for each dimension the names of axes, character() where it is not cut.

#' @rdname xla_mesh
#' @export
xla_spec <- function(...) as_spec(list(...), "...")

as_spec <- function(x, name = "spec", call = rlang::caller_env()) {
  if (inherits(x, "xlaffi_spec")) {
    return(x)
  }
  if (!is.null(x) && !is_branch(x) && !is.character(x) && !(is.logical(x) && all(is.na(x)))) {
    abort(sprintf("`%s` must be a specification, such as `xla_spec(\"data\", NULL)`, not %s", name, describe(x)),
      operand = name, call = call
    )
  }
  entries <- lapply(unname(as.list(x)), function(entry) {
    if (is.null(entry) || (is.atomic(entry) && length(entry) == 1L && is.na(entry))) {
      return(character())
    }
    if (!is.character(entry) || anyNA(entry)) {
      abort(sprintf("`%s`: entries must be names of axes, NULL or NA, not %s", name, describe(entry)),
        operand = name, call = call
      )
    }
    entry
  })
  twice <- unlist(entries)[duplicated(unlist(entries))]
  if (length(twice)) {
    abort(sprintf("`%s` names axis \"%s\" more than once: it can cut one dimension, once", name, twice[[1L]]),
      operand = name, call = call
    )
  }
  structure(entries, class = "xlaffi_spec")
}

is_spec_like <- function(x) inherits(x, "xlaffi_spec") || is.character(x)

# The entries for an array of this shape, one for each dimension. `what` names the array in messages, `name` the
# argument that the specification came by.
checked_spec <- function(spec, mesh, shape, what, name = "spec", call = rlang::caller_env()) {
  entries <- unclass(as_spec(spec, name, call))
  refuse <- function(...) abort(paste0(what, ": ", sprintf(...)), operand = name, call = call)
  unknown <- setdiff(unlist(entries), names(mesh$axes))
  if (length(unknown)) {
    refuse("%s names axis \"%s\", which %s has not", format_spec(entries), unknown[[1L]], format(mesh))
  }
  if (length(entries) > length(shape)) {
    refuse("%s has %d entries, but the shape is %s", format_spec(entries), length(entries), shape_text(shape))
  }
  entries <- c(entries, rep(list(character()), length(shape) - length(entries)))
  parts <- parts_per_dimension(entries, mesh)
  uneven <- which(shape %% parts != 0)
  if (length(uneven)) {
    at <- uneven[[1L]]
    names <- entries[[at]]
    refuse(
      "dimension %d has %d elements, which cannot be cut into %d equal parts along %s %s", at, shape[[at]], parts[[at]],
      if (length(names) == 1L) "axis" else "axes", paste(dQuote(names, FALSE), collapse = " x ")
    )
  }
  entries
}

parts_per_dimension <- function(entries, mesh) {
  vapply(entries, function(names) as.integer(prod(mesh$axes[names])), 0L)
}

local_shape <- function(entries, mesh, shape) as.integer(shape %/% parts_per_dimension(entries, mesh))

replicated_entries <- function(shape) rep(list(character()), length(shape))

# A specification or NULL for each leaf of `like`. One specification counts for all below it.
spec_leaves <- function(specs, like, name, what, call) {
  if (is.null(like)) {
    return(list())
  }
  if (!is_branch(like)) {
    return(list(if (!is.null(specs)) as_spec(specs, name, call)))
  }
  if (!is.null(specs) && !is_spec_like(specs) && !is_branch(specs)) {
    abort(sprintf("`%s` must be a specification or a list of them, not %s", name, describe(specs)),
      operand = name, call = call
    )
  }
  specs <- if (is.null(specs) || is_spec_like(specs)) {
    rep(list(specs), length(like))
  } else {
    one_for_each(specs, like, name, "specifications", what, call)
  }
  do.call(c, c(list(list()), lapply(seq_along(like), function(i) spec_leaves(specs[[i]], like[[i]], name, what, call))))
}

format_spec <- function(entries) {
  entry <- function(names) {
    quoted <- dQuote(names, FALSE)
    switch(min(length(names), 2L) + 1L, "NULL", quoted, sprintf("c(%s)", toString(quoted)))
  }
  sprintf("xla_spec(%s)", toString(vapply(entries, entry, "")))
}

#' @export
format.xlaffi_spec <- function(x, ...) {
  check_format_dots(...)
  format_spec(unclass(x))
}

#' @export
print.xlaffi_spec <- function(x, ...) {
  check_print_dots(...)
  cat(format(x), "\n", sep = "")
  invisible(x)
}

# As operations and attributes of a program have it; XLA may cut the dimensions `open` further.
sharding_text <- function(entries, open = integer()) {
  names <- lapply(seq_along(entries), function(i) c(dQuote(entries[[i]], FALSE), if (i %in% open) "?"))
  dimensions <- sprintf("{%s}", vapply(names, toString, ""))
  sprintf("<@mesh, [%s]>", toString(dimensions))
}

whole_spec <- function(value) replicated_entries(value@shape)
