# Sums that turns of a loop do nothing else with than to add to them (overload-turns.R): the turns give what they add,
# and the sum is taken once, behind the loop.

# The variables of which that is so, all over the code of a turn; none unless `wanted`
sums_in <- function(code, wanted) {
  if (!wanted) {
    return(character())
  }
  code <- as_written(code)
  found <- unlist(additions_in(code))
  names <- all.names(code)
  Filter(function(name) sum(names == name) == 2L * sum(found == name), unique(found))
}

# The names of the variables that statements add to
additions_in <- function(code) {
  if (!is.call(code)) {
    return(character())
  }
  if (called_name(code) %in% c("<-", "=") && is.symbol(code[[2L]])) {
    name <- as.character(code[[2L]])
    if (!is.null(added_to(name, code[[3L]]))) {
      return(name)
    }
  }
  unlist(lapply(given_parts(code), additions_in))
}

# What `code` adds to a variable: of `s - x + y` it is `-x + y`. NULL for other code.
added_to <- function(name, code) {
  if (!is.call(code) || length(code) != 3L || !called_name(code) %in% c("+", "-")) {
    return()
  }
  sign <- called_name(code)
  if (identical(code[[2L]], as.name(name))) {
    return(if (sign == "+") code[[3L]] else call("-", code[[3L]]))
  }
  if (sign == "+" && identical(code[[3L]], as.name(name))) {
    return(code[[2L]])
  }
  rest <- added_to(name, code[[2L]])
  if (!is.null(rest)) call(sign, rest, code[[3L]])
}

# A statement that adds `code`
split_sum <- function(name, code, own) {
  part <- split_part(added_to(name, code), own)
  value <- if (part$kind == "number" && part$varies) leaf_of(part$code, own) else part$code
  symbol <- sprintf(".xlaffi_added_%d", length(own$added) + 1L)
  own$values <- c(own$values, list(call("<-", as.name(symbol), value)))
  own$added <- c(own$added, list(list(symbol = symbol, name = name)))
}

# `x` as a value of the type of `like`, if it is one, a single element or a number of R
as_alike <- function(x, like) {
  if (is_value(x)) {
    alike <- identical(x@shape, like@shape) || (length(x) == 1L && length(like) == 1L)
    if (!alike || x@dtype != like@dtype || !is.null(attr(x, "labels"))) no_split()
    return(reshaped(x, like@shape))
  }
  if (!is.numeric(x) || length(x) != 1L || is.object(x)) no_split()
  filled(x, type_of(like))
}
