# Calls of the user's own functions in the code of a turn (overload-turns-code.R). Their code is written out in place of
# the call: arguments and what the function assigns become variables of the turn, with names of their own. That is the
# same where all other names in it mean what they mean in the loop.

# How deep such functions may call one another
most_nested_calls <- 8L

split_call <- function(code, name, own) {
  f <- get0(name, envir = own$frame, mode = "function")
  plain <- is.function(f) && !is.primitive(f) && !is.object(f) && is_of_user(f) && !means_r(name, own$frame) &&
    own$depth < most_nested_calls
  if (!plain || "..." %in% names(formals(f))) no_split()
  own$depth <- own$depth + 1L
  body <- as_written(body(f))
  arguments <- turn_arguments(f, code)
  assigned <- assigned_in(body)
  # R computes a default when it is used.
  for (argument in arguments) if (argument$default && any(all.names(argument$code) %in% assigned)) no_split()
  same <- Filter(function(formal) {
    !formal %in% assigned && is_fixed_code(arguments[[formal]], own)
  }, names(arguments)[vapply(arguments, function(argument) !argument$default, NA)])
  locals <- setdiff(union(names(arguments), assigned), same)
  check_meaning(body, f, c(names(arguments), assigned), own)
  own$written <- own$written + 1L
  renamed <- sprintf(".xlaffi_call_%d_%s", own$written, locals)
  own$changing <- c(own$changing, renamed)
  own$locals <- c(own$locals, renamed)
  symbols <- stats::setNames(lapply(renamed, as.name), locals)
  given <- lapply(arguments[same], function(argument) argument$code)
  functions <- Filter(function(code) is.symbol(code) && is.function(get0(as.character(code), own$frame)), given)
  within <- function(code) with_names(code, c(symbols, given), functions)
  for (formal in setdiff(names(arguments), same)) {
    argument <- arguments[[formal]]
    # Defaults see the function's variables.
    code <- if (argument$default) within(argument$code) else argument$code
    split_assignment(call("<-", symbols[[formal]], code), own)
  }
  result <- split_result(within(body), own)
  own$depth <- own$depth - 1L
  result
}

# For each argument its `code`, and whether that is the `default`
turn_arguments <- function(f, code) {
  given <- as.list(match.call(f, code))[-1L]
  formals <- formals(f)
  sapply(names(formals), function(name) {
    default <- !name %in% names(given)
    code <- if (default) formals[[name]] else given[[name]]
    if (is_missing_arg(code)) no_split()
    list(code = code, default = default)
  }, simplify = FALSE)
}

# A variable, or a part of a list, that is the same in all turns
is_fixed_code <- function(argument, own) {
  code <- list_of_part(argument$code)
  is.symbol(code) && !as.character(code) %in% own$changing
}

# The names in the code of `f`, but for its `own_names`, must mean the same in the loop.
check_meaning <- function(body, f, own_names, own) {
  for (name in setdiff(all.names(body, unique = TRUE), own_names)) {
    there <- home_of(name, environment(f))
    same <- identical(there, home_of(name, own$frame)) || (means_r(name, environment(f)) && means_r(name, own$frame))
    if (!same) no_split()
  }
}

# The environment in which a name has a meaning, but for what stands for functions of R's
home_of <- function(name, env) {
  while (!identical(env, emptyenv()) && (!is.null(env[[patched_mark]]) || !exists(name, env, inherits = FALSE))) {
    env <- parent.env(env)
  }
  env
}

# `code` with other code `instead` of names; of what is called where it is one of `functions`, as R leaves out variables
# that are none
with_names <- function(code, instead, functions) {
  if (is.symbol(code)) {
    found <- instead[[as.character(code)]]
    return(if (is.null(found)) code else found)
  }
  if (!is.call(code)) {
    return(code)
  }
  parts <- as.list(code)
  parts[[1L]] <- if (is.symbol(parts[[1L]])) with_names(parts[[1L]], functions, functions) else no_split()
  last <- if (called_name(code) %in% c("$", "@")) 2L else length(parts)
  for (i in seq_len(last)[-1L]) {
    if (!is_missing_arg(parts[[i]])) parts[[i]] <- with_names(parts[[i]], instead, functions)
  }
  as.call(parts)
}

# The part that the code of a function gives in the end
split_result <- function(code, own) {
  name <- if (is.call(code)) called_name(code) else ""
  if (name == "{" && length(code) > 1L) {
    for (part in as.list(code)[-c(1L, length(code))]) split_statement(part, own)
    return(split_result(code[[length(code)]], own))
  }
  if (name == "if") {
    branch <- taken_branch(code, own)
    if (is.null(branch)) no_split()
    return(split_result(branch, own))
  }
  if (name == "return" && length(code) == 2L) {
    return(split_result(code[[2L]], own))
  }
  split_part(code, own)
}
