# Indices in the code of a turn (overload-turns-code.R): parts of arrays of numbers, windows of values that are the same
# in all turns, parts of arrays that turns change, and parts at places that are values themselves.

# Elements of an array get numbers or values.
split_replacement <- function(code, own) {
  target <- code[[2L]]
  if (!called_name(target) %in% c("[", "[[") || !is.symbol(target[[2L]])) no_split()
  name <- as.character(target[[2L]])
  part <- split_part(code[[3L]], own)
  if (turn_kind(name, own) == "number" && part$kind == "number") {
    at <- split_indices(target, own)
    if (any(are_values(at))) no_split()
    target[-(1:2)] <- lapply(at, function(index) index$code)
    return(add_numbers(name, call("<-", target, part$code), own))
  }
  array <- value_at(name, own)
  if (!is_value(array)) no_split()
  check_plain(array)
  if (turn_kind(name, own) == "number") {
    own$values <- c(own$values, list(call("<-", as.name(name), leaf_of(as.name(name), own))))
    own$whole <- c(own$whole, name)
    set_value(name, own)
  }
  note_taken(name, own)
  found <- split_index(target, array, own)
  value <- if (part$kind == "number" && part$varies) leaf_of(part$code, own) else part$code
  own$values <- c(own$values, list(call("<-", found$code, value)))
  if (is.null(found$at)) {
    own$whole <- c(own$whole, name)
  } else {
    write <- list(name = name, at = found$at, code = found$code, statement = length(own$values))
    own$writes <- c(own$writes, list(write))
  }
  set_value(name, own)
}

# `x[...]`: numbers, or a part of a value at places that are the same in all turns or not. Names that it has count for
# nothing if it is `nameless`.
split_subset <- function(code, own, nameless) {
  array <- code[[2L]]
  given <- as.list(code)[-(1:2)]
  if (any(names2(given) == "exact")) no_split()
  fixed <- is.symbol(array) || (is.call(array) && called_name(array) == "$")
  part <- if (is.symbol(array) && turn_kind(as.character(array), own) == "value") {
    note_taken(as.character(array), own)
    list(code = array, kind = "value")
  } else {
    split_part(array, own)
  }
  if (part$kind == "number") {
    at <- split_indices(code, own)
    code[[2L]] <- part$code
    if (any(are_values(at))) {
      return(split_number_at(code, part, at, own, nameless))
    }
    code[-(1:2)] <- lapply(at, function(index) index$code)
    varies <- part$varies || any(vapply(at, function(index) index$varies, NA))
    return(list(code = code, kind = "number", varies = varies))
  }
  value <- if (fixed) eval(array, own$frame)
  if (fixed && !is_value(value)) no_split()
  code[[2L]] <- part$code
  name <- if (is.symbol(array)) as.character(array) else if (fixed) root_of(array)
  exact <- if (fixed) has_own_dtype(value) else isTRUE(part$exact)
  found <- if (fixed && !name %in% own$changing) {
    split_window(code, value, own, nameless || is_plain(value))
  } else {
    if (fixed) check_plain(value)
    split_read(code, value, own)
  }
  list(code = found, kind = "value", varies = TRUE, exact = exact, named = fixed && !is_plain(value))
}

# An element of an array of numbers, which is the same in all turns, at places that are values
split_number_at <- function(code, part, at, own, nameless) {
  array <- if (!part$varies) eval(part$code, own$scratch)
  plain <- is.numeric(array) && !is.object(array) && (nameless || is.null(data_labels(array)))
  if (!plain) no_split()
  list(code = split_index(code, array, own, at)$code, kind = "value", varies = TRUE, exact = is.integer(array))
}

# A part of a value that turns change: a symbol for one that is at one place, which may be known from turns before.
split_read <- function(code, array, own) {
  found <- split_index(code, array, own)
  name <- if (is.symbol(code[[2L]])) as.character(code[[2L]]) else ""
  if (is.null(found$at) || !nzchar(name)) {
    own$whole <- c(own$whole, name)
    return(found$code)
  }
  symbol <- sprintf(".xlaffi_read_%d", length(own$reads) + 1L)
  late <- name %in% vapply(own$writes, function(write) write$name, "")
  own$reads <- c(own$reads, list(list(symbol = symbol, name = name, at = found$at, code = found$code, late = late)))
  as.name(symbol)
}

root_of <- function(code) {
  while (is.call(code)) code <- code[[2L]]
  as.character(code)
}

# The indices of a part by what they are; `drop` may be given.
split_indices <- function(code, own) {
  given <- as.list(code)[-(1:2)]
  lapply(seq_along(given), function(i) {
    if (is_missing_arg(given[[i]])) {
      return(list(code = given[[i]], kind = "number", varies = FALSE))
    }
    part <- split_part(given[[i]], own)
    if (names2(given)[[i]] == "drop" && part$varies) no_split()
    part
  })
}

# Of what varies each turn has one place, or there is no loop ahead (windows_at()).
is_one_place <- function(index, own) {
  index$kind == "number" && !is_missing_arg(index$code) &&
    (index$varies || length(eval(index$code, own$scratch)) == 1L)
}

are_values <- function(parts) vapply(parts, function(part) part$kind == "value", NA)

# A window of an array that is the same in all turns: a leaf, but where its places are values. Single elements have no
# names.
split_window <- function(code, array, own, nameless) {
  at <- split_indices(code, own)
  if (!nameless && !(length(at) > 1L && all(vapply(at, is_one_place, NA, own)))) no_split()
  if (any(are_values(at))) {
    return(split_index(code, array, own, at)$code)
  }
  varies <- vapply(at, function(index) index$varies, NA)
  code[-(1:2)] <- lapply(at, function(index) {
    if (index$varies) leaf_of(index$code, own, list(at = TRUE)) else index$code
  })
  if (!any(varies)) {
    return(code)
  }
  from <- vapply(as.list(code)[-(1:2)][varies], as.character, "")
  leaf_of(NULL, own, list(window = code, from = from))
}

# A part of an array that turns change, as code: its places are values where they vary; `at` is the symbol of one that
# does alone.
split_index <- function(code, array, own, at = split_indices(code, own)) {
  indices <- at[names2(as.list(code)[-(1:2)]) != "drop"]
  values <- are_values(at)
  varies <- vapply(at, function(index) index$varies, NA) & !values
  if (any(varies) && is.null(array)) no_split()
  sizes <- if (length(indices) == 1L) length(array) else if (is_value(array)) array@shape else r_shape(array)
  symbol <- NULL
  for (i in seq_along(at)) {
    if (varies[[i]]) {
      symbol <- code[[i + 2L]] <- leaf_of(at[[i]]$code, own, list(at = TRUE, size = sizes[[i]]))
    } else if (!is_missing_arg(at[[i]]$code)) {
      code[[i + 2L]] <- at[[i]]$code
    }
  }
  alone <- sum(varies) == 1L && !any(values) && length(indices) == length(at)
  list(code = code, at = if (alone) as.character(symbol))
}

# A symbol for what is another number in each turn
leaf_of <- function(code, own, what = list()) {
  name <- sprintf(".xlaffi_leaf_%d", length(own$leaves) + 1L)
  own$leaves <- c(own$leaves, list(c(list(symbol = name), what)))
  own$numbers <- c(own$numbers, list(call("<-", as.name(name), code)))
  as.name(name)
}
