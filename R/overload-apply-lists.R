# mapply(), Reduce() and other functions that call a function for several elements.

overload_mapply <- function(FUN, ..., MoreArgs = NULL, SIMPLIFY = TRUE, USE.NAMES = TRUE) {
  call <- method_call("mapply")
  if (!is.null(MoreArgs) && !is.list(MoreArgs)) {
    abort(sprintf("mapply(): `MoreArgs` must be a list, not %s", describe_leaf(MoreArgs)),
      op = "mapply", operand = "MoreArgs", call = call
    )
  }
  answer <- side_by_side(called_function(FUN), list(...), MoreArgs, isTRUE(USE.NAMES), "mapply()", call)
  simplified_or_named(answer, SIMPLIFY, USE.NAMES, if (...length()) ..1, "mapply()", call)
}

overload_map <- function(f, ...) {
  call <- method_call("Map")
  answer <- as_elements(side_by_side(called_function(f), list(...), NULL, TRUE, "Map()", call))
  if (...length()) named_as(answer, ..1) else answer
}

# `f` of the first elements of all, of the second ones …; shorter ones are repeated.
side_by_side <- function(f, arguments, more, names, shown, call) {
  if (any(vapply(arguments, is_sparse, NA))) dense_result(sub("()", "", shown, fixed = TRUE), call)
  if (are_batches(f, arguments, more)) {
    g <- function(...) do.call(f, c(`names<-`(list(...), names(arguments)), more), quote = TRUE)
    return(mapped_rows(g, lapply(arguments, as_column)))
  }
  arguments <- lapply(arguments, function(x) if (is_value(x)) elements_of(x) else x)
  sizes <- lengths(arguments)
  count <- if (!length(sizes) || any(sizes == 0L)) 0L else max(sizes)
  if (count && any(count %% sizes != 0L)) {
    abort(sprintf("%s: arguments of lengths %s cannot be repeated to one length", shown, toString(sizes)),
      operand = "...", call = call
    )
  }
  answer <- lapply(seq_len(count), function(i) {
    do.call(f, c(lapply(arguments, function(x) x[[(i - 1L) %% length(x) + 1L]]), more), quote = TRUE)
  })
  first <- if (names && length(arguments)) arguments[[1L]]
  if (!is.null(names(first))) {
    names(answer) <- names(first)
  } else if (is.character(first)) {
    names(answer) <- first
  }
  answer
}

# Whether these are values of so many elements that their function is called once
are_batches <- function(f, arguments, more) {
  length(arguments) && all(vapply(arguments, is_value, NA)) && length(unique(lengths(arguments))) == 1L &&
    length(arguments[[1L]]) > most_copies && !do.call(changes_things, c(list(f), more), quote = TRUE)
}

overload_reduce <- function(f, x, init, right = FALSE, accumulate = FALSE, simplify = TRUE) {
  call <- method_call("Reduce")
  check_flag(simplify, "simplify", call)
  f <- called_function(f)
  x <- if (is_value(x)) elements_of(x) else as.list(x)
  answer <- if (missing(init)) {
    base::Reduce(f, x, right = right, accumulate = accumulate)
  } else {
    base::Reduce(f, x, init, right = right, accumulate = accumulate)
  }
  if (!accumulate) {
    answer
  } else if (!simplify) {
    as.list(answer)
  } else if (is.list(answer) && has_values(answer) && all(lengths(answer) == 1L)) {
    simplified(answer, FALSE, "Reduce()", call)
  } else {
    answer
  }
}

element_overload("mapply", overload_mapply, differs = "Names are dropped.")
element_overload("Map", overload_map)
element_overload("Reduce", overload_reduce)

overload_vectorize <- function(FUN, vectorize.args = NULL, SIMPLIFY = TRUE, USE.NAMES = TRUE) {
  f <- called_function(FUN)
  behind <- unpatched(f)
  formals <- setdiff(names(formals(args(behind))), "...")
  vectorized <- if (is.null(vectorize.args)) formals else vectorize.args
  if (is.primitive(behind) || !length(vectorized)) {
    return(f)
  }
  function(...) {
    given <- as.list(match.call(behind, as.call(c(list(as.name("f")), list(...)))))[-1L]
    moving <- names2(given) %in% vectorized
    do.call(overload_mapply, c(
      list(FUN = f), given[moving],
      list(MoreArgs = given[!moving], SIMPLIFY = SIMPLIFY, USE.NAMES = USE.NAMES)
    ), quote = TRUE)
  }
}

element_overload("Vectorize", overload_vectorize)

# What is left depends on values.
element_overload("Filter", function(f, x) {
  call <- method_call("Filter")
  if (!is_value(x)) {
    return(base::Filter(called_function(f), x))
  }
  abort("Filter(): how many elements stay is not known while the program is written",
    "UNIMPLEMENTED", op = "Filter", operand = "x",
    hint = "`ifelse()` keeps the shape; `sum(x * condition)` and the like leave elements out.", call = call
  )
}, differs = "Lists only, with conditions that are no values.")

element_overload("split", function(x, f, drop = FALSE, ...) {
  call <- method_call("split")
  if (is_value(f) || has_values(as.list(f))) {
    abort("split(): `f` must be known while the program is written: results have fixed shapes",
      operand = "f", call = call, unknown = TRUE
    )
  }
  column <- as_column(x)
  lapply(split(seq_len(length(column)), f, drop, ...), function(positions) taken(column, positions, 1L))
}, "method", "`f` is R's, no value.")

overload_rapply <- function(object, f, classes = "ANY", deflt = NULL, how = c("unlist", "replace", "list"), ...) {
  call <- method_call("rapply")
  how <- check_choice(how, "how", c("unlist", "replace", "list"), call)
  f <- called_function(f)
  if (!identical(classes, "ANY") && has_leaf_values(object)) {
    abort("rapply(): `classes` must be \"ANY\" where the list has values of programs",
      op = "rapply", operand = "classes", call = call
    )
  }
  kept <- if (how == "replace") "replace" else "list"
  answer <- base::rapply(object, f, classes, deflt, kept, ...)
  if (how != "unlist") {
    answer
  } else if (has_leaf_values(answer)) {
    column_of(answer, TRUE, "rapply()", call)
  } else {
    unlist(answer)
  }
}

has_leaf_values <- function(x) {
  if (is.list(x)) any(vapply(unclass(x), has_leaf_values, NA)) else is_value(x) || is_sparse(x)
}

element_overload("rapply", overload_rapply, differs = "Of lists with values all elements are taken.")

overload_simplify <- function(x, higher = TRUE, except = c(0L, 1L)) {
  call <- method_call("simplify2array")
  if (is_value(x)) x else simplified(x, higher, "simplify2array()", call)
}

overload("simplify2array", "base", overload_simplify,
  topic = "Elements", dtypes = "all", differs = "Names are dropped."
)

overload_replicate <- function(n, expr, simplify = "array") {
  call <- method_call("replicate")
  if (is_value(n)) {
    abort("replicate(): how often must be known while the program is written, but `n` is a value",
      op = "replicate", operand = "n", hint = "`hlo_fori()` repeats as often as a value says.", call = call,
      unknown = TRUE
    )
  }
  f <- eval.parent(substitute(function(...) expr))
  overload_sapply(integer(n), f, simplify = simplify)
}

element_overload("replicate", overload_replicate)
