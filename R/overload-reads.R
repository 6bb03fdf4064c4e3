# Variables that traced code reads by functions of R's: get(), eval(), `$` of an environment and their kin. What they
# find in the session is noted, so that another value asks for another program; captured_variables() notes what code
# names itself.

# The patched environment behind which an environment of traced code lies; NULL for one of the session.
patched_environment_of <- function(env) if (exists(patched_mark, envir = env)) where_is(patched_mark, env)

# The environment of the session that a layer stands for
without_patched_environment <- function(env) {
  is_patched <- function(env) exists(patched_mark, envir = env, inherits = FALSE)
  if (is_patched(env)) {
    parent.env(env)
  } else if (exists(front_mark, envir = env, inherits = FALSE)) {
    parent.env(parent.env(env))
  } else {
    env
  }
}

# Where R looks for a name from `env`, without packages
searched_environments <- function(env) {
  found <- list()
  while (!identical(env, emptyenv())) {
    is_package <- in_package(env) || grepl("^(package:|imports:|Autoloads$)", environmentName(env))
    if (!is_package) found <- c(found, list(env))
    env <- parent.env(env)
  }
  found
}

# Names that are found in the frames of traced code itself
found_inside <- function(names, env, layer) {
  found <- character()
  while (!identical(env, layer)) {
    found <- c(found, Filter(function(name) exists(name, envir = env, inherits = FALSE), names))
    env <- parent.env(env)
  }
  found
}

# Code looks for these names in `env`, and if it `inherits` in the environments behind it.
note_names <- function(names, env, inherits = TRUE, mode = "any") {
  if (!is_tracing() || !is.character(names) || !is.environment(env)) {
    return(invisible())
  }
  layer <- patched_environment_of(env)
  if (!is.null(layer)) {
    if (!inherits) {
      return(invisible())
    }
    names <- setdiff(names, found_inside(names, env, layer))
    env <- parent.env(layer)
  }
  names <- names[!is.na(names) & nzchar(names)]
  for (home in if (inherits) searched_environments(env) else if (!in_package(env)) list(env)) {
    if (!length(names)) break
    values <- only_functions(present(names, home), mode == "function")
    note_values(home, values, mode == "function")
    functions <- unlist(lapply(values, reached_through), recursive = FALSE)
    reached <- captured_variables(functions, classes_of(values))
    for (group in reached) note_values(group$env, group$values, group$functions)
    names <- setdiff(names, names(Filter(Negate(is.null), values)))
  }
}

# Values of the program itself are nothing of the session.
note_values <- function(env, values, functions) {
  for (name in names(values)) {
    key <- paste(rlang::obj_address(env), name, functions)
    if (!is_value(values[[name]]) && is.null(trace_state$session_reads[[key]])) {
      trace_state$session_reads[[key]] <- list(env = env, values = values[name], functions = functions)
    }
  }
}

# All that there is in an environment, or only the names
note_whole <- function(env, only_names = FALSE) {
  if (!is_tracing() || in_package(env) || !is.null(patched_environment_of(env))) {
    return(invisible())
  }
  # R's random numbers are no business of the program's.
  read <- function() {
    names <- setdiff(ls(env, all.names = TRUE), ".Random.seed")
    if (only_names) names else mget(names, env)
  }
  value <- read()
  key <- paste(rlang::obj_address(env), only_names)
  if (!any(vapply(value, is_value, NA)) && is.null(trace_state$session_reads[[key]])) {
    trace_state$session_reads[[key]] <- list(read = read, value = value)
  }
}

# Notes what code reads that is evaluated in an environment, or with a list in front of it; gives the code in the scope.
converted_code <- function(code, envir, enclos, call) {
  if (!is_tracing() || !is.language(code) || inherits(code, "formula")) {
    return(code)
  }
  if (is.numeric(envir)) {
    abort("frames by their numbers are those of whoever calls the compiled function, which is not known",
      "UNIMPLEMENTED", op = "eval", operand = "envir", call = call
    )
  }
  env <- if (is.environment(envir)) envir else enclos
  names <- all.names(as_call(code), unique = TRUE)
  layer <- patched_environment_of(env)
  if (is.null(layer)) {
    own <- Filter(function(name) !is.null(outside_functions[[name]]) && is_rs_own_name(name, env), names)
    if (length(own)) outside_functions[[own[[1L]]]]()
  }
  inside <- c(if (!is.environment(envir)) names(envir), if (!is.null(layer)) found_inside(names, env, layer))
  home <- if (is.null(layer)) env else parent.env(layer)
  formals <- stats::setNames(rep(list(NULL), length(inside)), inside)
  for (group in captured_variables(list(as.function(c(formals, list(as_call(code))), home)))) {
    note_values(group$env, group$values, group$functions)
  }
  if (is.null(layer)) {
    return(code)
  }
  layer[[".xlaffi_extend"]](setdiff(names, inside))
  if (is.expression(code)) as.expression(lapply(code, rewritten_again)) else rewritten_again(code)
}

# Code that substitute() gave may have been rewritten before.
rewritten_again <- function(code) rewritten(as_written(code))

is_rs_own_name <- function(name, env) {
  f <- get0(name, envir = env, mode = "function")
  !is.null(f) && is_rs_own(f)
}

# What the session gives traced code besides the variables that it names: what it reads by functions of R's, options,
# environment variables, random numbers.

# What stands for these functions in a scope
session_reads <- c(environment_reads, sapply(noted_facts, noting_fact), list(
  getOption = function(x, default = NULL) {
    value <- noted_read("getOption", list(x))
    if (is.null(value)) default else value
  },
  Sys.getenv = function(...) noted_read("Sys.getenv", list(...)),
  options = function(...) {
    given <- list(...)
    asked <- if (length(given)) Filter(is.character, given) else list()
    if (length(given) && !is.null(names(given)) || length(asked) < length(given)) {
      return(base::options(...))
    }
    noted_read("options", asked)
  }
))
