# The code of one turn of a loop of R's in two parts (overload-turns.R). Numbers of R, among them the loop's variable
# and what is computed of it, are known while the program is written: one part computes them, for each turn. The other
# one computes with values, and is traced once for all turns: what it takes of the first part is a value there, too, one
# for each turn. Only functions are split of which that makes no difference, and whose results depend on nothing else.

# Calls that a turn may have, so that code written out for each turn of inner loops stays short
most_turn_calls <- 2000L

# Ends the split of code that is none of the above; the loop is traced turn by turn.
no_split <- function() stop("traced turn by turn")

# `code` of a turn that begins with the variables of `frame`, as a list: `numbers`, code that gives a list of numbers
# for the leaves; `values`, statements with the symbols of `leaves` in place of these; `leaves`, of which each is the
# name of its `symbol`, and a `window` of an array, or an index `at` an axis of some `size`, if it is one; `taken`, the
# variables whose values of the turn before are used, `assigned`, those that the code gives values, and `counted`, those
# that it gives numbers; `added`, what is added to variables that turns do nothing else with, where `sums` asks for
# that; and the `reads` and `writes` of single places of arrays, and which ones are used or made as a `whole`, too
# (overload-turns-arrays.R).
split_turn <- function(code, variable, element, frame, sums) {
  own <- list2env(list(
    frame = frame, scratch = new.env(parent = frame), calls = 0L, kinds = list(),
    numbers = list(), values = list(), leaves = list(), taken = character(), assigned = character(),
    counted = character(), changing = c(variable, assigned_in(code)), sums = sums_in(code, sums), added = list(),
    reads = list(), writes = list(), whole = character(), nameless = FALSE,
    locals = character(), exact = list(), named = character(), written = 0L, depth = 0L
  ))
  assign(variable, element, own$scratch)
  own$kinds[[variable]] <- "number"
  split_statement(code, own)
  # Each turn begins as this one. Functions have their variables for themselves.
  changed <- setdiff(c(own$counted, own$assigned), own$locals)
  for (name in changed) {
    if (own$kinds[[name]] != kind_in(own$frame, name)) no_split()
  }
  symbols <- lapply(own$leaves, function(leaf) as.name(leaf$symbol))
  own$numbers <- as.call(c(as.name("{"), own$numbers, as.call(c(as.name("list"), symbols))))
  own$assigned <- Filter(function(name) own$kinds[[name]] == "value", changed)
  own$counted <- setdiff(changed, own$assigned)
  own$taken <- unique(own$taken)
  mget(c("numbers", "values", "leaves", "taken", "assigned", "counted", "added", "reads", "writes", "whole"), own)
}

# The variables that code gives something
assigned_in <- function(code) {
  if (!is.call(code)) {
    return(character())
  }
  name <- called_name(code)
  found <- unlist(lapply(given_parts(code), assigned_in))
  if (name %in% c("<-", "=", "for")) {
    target <- code[[2L]]
    while (is.call(target)) target <- target[[2L]]
    found <- c(found, as.character(target))
  }
  found
}

called_name <- function(code) if (is.symbol(code[[1L]])) as.character(code[[1L]]) else ""

split_statement <- function(code, own) {
  name <- if (is.call(code)) called_name(code) else ""
  if (name == "{") {
    for (part in as.list(code)[-1L]) split_statement(part, own)
  } else if (name == "if" && is.call(code[[2L]]) && called_name(code[[2L]]) == ".xlaffi_turn") {
    # The turn of an inner loop begins.
    NULL
  } else if (name == "if") {
    branch <- taken_branch(code, own)
    if (!is.null(branch)) split_statement(branch, own)
  } else if (name %in% c("<-", "=")) {
    split_assignment(code, own)
  } else if (name == "for") {
    split_inner(code, own)
  } else if (name %in% c("next", "break")) {
    no_split()
  } else {
    split_part(code, own)
  }
}

# Which branch of R's `if` is taken, or NULL: in all turns the same, else they end before that.
taken_branch <- function(code, own) {
  condition <- split_part(code[[2L]], own)
  if (condition$kind != "number") no_split()
  taken <- decided(eval(condition$code, own$scratch))
  if (condition$varies) {
    own$numbers <- c(own$numbers, list(as.call(list(check_branch, condition$code, taken))))
  }
  if (taken) code[[3L]] else if (length(code) > 3L) code[[4L]]
}

check_branch <- function(x, taken) if (decided(x) != taken) no_split()

decided <- function(x) {
  if (!(is.logical(x) || is.numeric(x)) || length(x) != 1L || is.na(x)) no_split()
  x != 0
}

# A variable gets numbers or values.
split_assignment <- function(code, own) {
  target <- code[[2L]]
  if (is.call(target)) {
    return(split_replacement(code, own))
  }
  name <- as.character(target)
  if (name %in% own$sums && turn_kind(name, own) == "value") {
    return(split_sum(name, code[[3L]], own))
  }
  # Variables of functions that are written out may have names, for uses that take none.
  own$nameless <- name %in% own$locals
  part <- split_part(code[[3L]], own)
  own$nameless <- FALSE
  if (isTRUE(part$named)) own$named <- c(own$named, name)
  if (part$kind == "number") {
    set_number(name, part$code, own)
  } else {
    own$values <- c(own$values, list(call("<-", as.name(name), part$code)))
    own$whole <- c(own$whole, name)
    own$exact[[name]] <- isTRUE(part$exact)
    set_value(name, own)
  }
}

set_number <- function(name, code, own) add_numbers(name, call("<-", as.name(name), code), own)

add_numbers <- function(name, statement, own) {
  own$numbers <- c(own$numbers, list(statement))
  eval(statement, own$scratch)
  own$kinds[[name]] <- "number"
  own$counted <- c(own$counted, name)
}

set_value <- function(name, own) {
  own$kinds[[name]] <- "value"
  own$assigned <- c(own$assigned, name)
}

# An inner loop, written out
split_inner <- function(code, own) {
  variable <- as.character(code[[2L]])
  elements <- split_part(code[[3L]], own)
  if (elements$kind != "number" || elements$varies) no_split()
  if (variable %in% assigned_in(code[[4L]]) || "$" %in% all.names(code[[4L]])) no_split()
  for (element in as.list(eval(elements$code, own$scratch))) {
    if (!is.numeric(element) || length(element) != 1L || is.object(element)) no_split()
    set_number(variable, element, own)
    inner <- do.call(substitute, list(code[[4L]], stats::setNames(list(element), variable)))
    split_statement(inner, own)
  }
}

# What a variable has now: "number" for what is known, else "value"
turn_kind <- function(name, own) {
  kind <- own$kinds[[name]]
  if (is.null(kind)) {
    kind <- kind_in(own$frame, name)
    own$kinds[[name]] <- kind
  }
  kind
}

kind_in <- function(env, name) if (contains_values(get(name, envir = env))) "value" else "number"

contains_values <- function(x) is_value(x) || (is_branch(x) && any(vapply(tree_leaves(x), is_value, NA)))

# The value of a variable, or what it was in the turn before: of the same type
value_at <- function(name, own) get(name, envir = own$frame)

note_taken <- function(name, own) {
  if (name %in% own$changing && !name %in% own$assigned) own$taken <- c(own$taken, name)
}

# An expression: its `code`, whether it is a "number" or a "value", and whether a number `varies` from turn to turn
split_part <- function(code, own) {
  own$calls <- own$calls + 1L
  if (own$calls > most_turn_calls) no_split()
  if (is.symbol(code)) {
    return(split_symbol(code, own))
  }
  if (!is.call(code)) {
    return(list(code = code, kind = "number", varies = FALSE))
  }
  name <- called_name(code)
  nameless <- own$nameless
  on.exit(own$nameless <- nameless)
  own$nameless <- name %in% turn_nameless || (name == "(" && nameless)
  if (name %in% c(".xlaffi_test", ".xlaffi_each")) {
    return(split_part(code[[2L]], own))
  }
  if (name == "if") {
    branch <- taken_branch(code, own)
    if (is.null(branch)) no_split()
    return(split_part(branch, own))
  }
  if (name == "{" && length(code) == 2L) {
    return(split_part(code[[2L]], own))
  }
  if (!name %in% c(turn_numbers, turn_words) || !means_known(name, own$frame)) {
    return(split_call(code, name, own))
  }
  if (name == "$") {
    return(split_dollar(code, own, nameless))
  }
  if (name %in% turn_sizes && length(code) == 2L && is.symbol(code[[2L]]) && is_array_of_values(code[[2L]], own)) {
    return(list(code = code, kind = "number", varies = FALSE))
  }
  if (name %in% c("[", "[[")) {
    return(split_subset(code, own, nameless))
  }
  parts <- lapply(as.list(code)[-1L], function(part) if (is_missing_arg(part)) no_split() else split_part(part, own))
  kinds <- vapply(parts, function(part) part$kind, "")
  varies <- vapply(parts, function(part) part$varies, NA)
  if (all(kinds == "number")) {
    if (!name %in% turn_numbers) no_split()
    code[-1L] <- lapply(parts, function(part) part$code)
    return(list(code = code, kind = "number", varies = any(varies)))
  }
  leaves <- kinds == "number" & varies
  exact <- vapply(parts, function(part) isTRUE(part$exact), NA)
  if (any(exact) && any(leaves)) no_split()
  if (!name %in% turn_words || (any(leaves) && !name %in% turn_functions)) no_split()
  # R's own would choose one of the two.
  if (name == "ifelse" && kinds[[1L]] == "number") no_split()
  code[-1L] <- Map(function(part, leaf) if (leaf) leaf_of(part$code, own) else part$code, parts, leaves)
  list(code = code, kind = "value", varies = TRUE, exact = all(exact[kinds == "value"]))
}

# Whether a name that is called is a function of R's, or a density of this package
means_known <- function(name, env) {
  if (name %in% turn_densities) {
    return(identical(get0(name, envir = env, mode = "function"), get(name, topenv())))
  }
  means_r(name, env)
}

# Whether a name that is called is a function of R's: not one of the user's by the same name
means_r <- function(name, env) {
  while (is.null(env[[patched_mark]])) {
    if (identical(env, emptyenv()) || is.function(get0(name, envir = env, inherits = FALSE))) {
      return(FALSE)
    }
    env <- parent.env(env)
  }
  is_rs_own_name(name, parent.env(env))
}

split_symbol <- function(code, own) {
  name <- as.character(code)
  if (name == "...") no_split()
  if (turn_kind(name, own) == "number") {
    return(list(code = code, kind = "number", varies = name %in% own$changing))
  }
  note_taken(name, own)
  own$whole <- c(own$whole, name)
  # A function that is called in the turn may read what turns add up.
  if (name %in% own$sums) no_split()
  if (!name %in% own$locals) {
    return(value_part(code, value_at(name, own), own$nameless))
  }
  named <- name %in% own$named
  if (named && !own$nameless) no_split()
  list(code = code, kind = "value", varies = TRUE, exact = own$exact[[name]], named = named)
}

# The part that `code` is for the value `x`, whose names count for nothing if it is `nameless`
value_part <- function(code, x, nameless) {
  if (!nameless) check_plain(x)
  named <- !all(vapply(tree_leaves(x), is_plain, NA))
  list(code = code, kind = "value", varies = TRUE, exact = has_own_dtype(x), named = named)
}

# Names of elements would be lost.
check_plain <- function(x) {
  if (!all(vapply(tree_leaves(x), is_plain, NA))) no_split()
}

is_plain <- function(x) is_value(x) && is.null(attr(x, "labels"))

# Whether a value is of a dtype into which a number beside it would be converted
has_own_dtype <- function(x) {
  !all(vapply(tree_leaves(x), function(leaf) leaf@dtype %in% c("f64", "pred"), NA))
}

is_array_of_values <- function(code, own) {
  name <- as.character(code)
  turn_kind(name, own) == "value" && is_value(value_at(name, own))
}

# What `$` takes a part of
list_of_part <- function(code) {
  while (is.call(code) && called_name(code) == "$") code <- code[[2L]]
  code
}

# A part of a list that is the same in all turns, or of one of values
split_dollar <- function(code, own, nameless) {
  inner <- list_of_part(code)
  if (!is.symbol(inner)) no_split()
  name <- as.character(inner)
  if (turn_kind(name, own) == "number") {
    return(list(code = code, kind = "number", varies = name %in% own$changing))
  }
  now <- eval(code, own$frame)
  if (!name %in% own$changing) {
    if (!contains_values(now)) {
      return(list(code = code, kind = "number", varies = FALSE))
    }
  } else {
    note_taken(name, own)
    check_plain(value_at(name, own))
  }
  value_part(code, now, nameless)
}
