# The conversion of functions of the user's that are traced. Most functions of R do not dispatch on values, so a copy of
# the user's function is called. Its enclosure is a patched environment in front of its own. There R's names are
# patches, functions that look at their arguments (overload-convert-environments.R), and the user's other functions are
# copies like it, made when they are looked up. The user's own definitions come first, as always, and outside of traces
# nothing changes.

# What stands for `f` in a trace. The functions of this package, and of others, are left alone.
convert_function <- function(f) {
  prepare_matrix_operators()
  kind <- made_kind(f)
  if (!is.null(kind)) {
    return(converted_once(f, function(f) convert_made(f, kind)))
  }
  if (typeof(f) != "closure") {
    return(patch_of(f))
  }
  name <- if (is_rs_own(f)) name_in_r(f)
  if (!is.null(name)) {
    return(patch_of(f, name = name))
  }
  nameless <- is_rs_own(f) || is_nameless(f)
  home <- topenv(environment(f))
  if ((is_fixed(home) && !nameless) || isS4(f) || exists(patched_mark, envir = environment(f))) {
    return(f)
  }
  converted_once(f, function(f) converted_copy(f, home))
}

# One copy of each function, so that functions which are the same stay so
converted_once <- function(f, make) {
  for (pair in trace_state$converted) {
    if (is_same(pair[[1L]], f)) {
      return(pair[[2L]])
    }
  }
  copy <- make(f)
  trace_state$converted <- c(trace_state$converted, list(list(f, copy)))
  copy
}

# This package and those of R
is_fixed <- function(home) identical(home, topenv()) || (isNamespace(home) && getNamespaceName(home) %in% r_packages)

# Marks a layer.
patched_mark <- ".xlaffi_test"

# Marks what stands in front of a layer.
front_mark <- ".xlaffi_front"

converted_copy <- function(f, home) {
  code <- as.call(c(as.name("{"), formals(f), body(f)))
  names <- all.names(code, unique = TRUE)
  kept <- attributes(f)
  code_of_copy <- rewritten(body(f), first_formal(formals(f)), names(formals(f)))
  copy <- as.function(c(rewritten_formals(formals(f)), list(code_of_copy)), environment(f))
  attributes(copy) <- kept
  names <- mentioned(code, names)
  methods <- unlist(lapply(users_environments(environment(f)), methods_in, c(names, group_generics)))
  methods <- grep("^[.]__T__", methods, value = TRUE, invert = TRUE)
  environment(copy) <- new_patched_environment(unique(c(names, methods)), environment(f), home, noted(code))
  bind_registered(patched_environment_of(environment(copy)), names, environment(f))
  copy
}

# Methods that the session has registered for its own generics, among `names`; those that are variables come first.
bind_registered <- function(layer, names, env) {
  table <- s3_table(globalenv())
  for (name in names(table)) {
    is_method <- any(startsWith(name, paste0(names, "."))) && !exists(name, envir = env, mode = "function")
    if (is_method) bind_to(layer, name, table, convert_function)
  }
}

# The names that code looks up, among them those in strings where functions are named so, and of replacement functions.
mentioned <- function(code, names) {
  names <- unique(c(names, looked_up(code, names)))
  if (any(c("<-", "=", "<<-") %in% names)) {
    names <- c(names, paste0(names, "<-"))
  }
  names
}

# The layer for what `names` are in `env`. `assigned` are names that the function changes by `<<-`.
new_patched_environment <- function(names, env, home, assigned) {
  found <- found_in(names, env)
  layer <- new.env(parent = env)
  # Variables that have the name of a function stand in front of it: R passes them over when it looks for functions.
  variables <- list()
  for (name in names(found)) {
    value <- found[[name]]
    hidden <- if (!is.function(value) && exists(name, envir = env, mode = "function")) get(name, env, mode = "function")
    if (is.null(hidden)) {
      stand_in(layer, name, value, env, home, assigned)
    } else {
      stand_in(layer, name, hidden, env, home, assigned)
      if (exists(name, envir = layer, inherits = FALSE)) variables[[name]] <- where_is(name, env)
    }
  }
  layer[[".xlaffi_test"]] <- test_of_values
  layer[[".xlaffi_each"]] <- each_of
  layer[[".xlaffi_function"]] <- function(f) called_converted(f, home)
  layer[[".xlaffi_argument"]] <- function(name) convert_argument(name, parent.frame(), home)
  layer[[".xlaffi_object"]] <- object_of
  layer[[".xlaffi_turn"]] <- begin_turn
  layer[[".xlaffi_extend"]] <- function(names) extend_patched_environment(layer, names, env, home, assigned)
  if (!length(variables)) {
    return(layer)
  }
  front <- new.env(parent = layer)
  front[[front_mark]] <- TRUE
  for (name in names(variables)) {
    bind_to(front, name, variables[[name]])
  }
  front
}

# Names that code has which is evaluated in the scope, too. Variables with names of functions would need a front.
extend_patched_environment <- function(layer, names, env, home, assigned) {
  found <- found_in(names[!vapply(names, exists, NA, envir = layer, inherits = FALSE)], env)
  for (name in names(found)) {
    hides <- !is.function(found[[name]]) && exists(name, envir = env, mode = "function")
    if (!hides) stand_in(layer, name, found[[name]], env, home, assigned)
  }
}

# Puts what stands for the value of `name` into the layer, if something does.
stand_in <- function(layer, name, value, env, home, assigned) {
  if (is.function(value)) {
    mask <- patch_for(name, value, home)
    if (!is.null(mask)) {
      if (!name %in% assigned) layer[[name]] <- mask
    } else if (isS4(value)) {
      bind_to(layer, name, where_is(name, env, "function"), function(f) convert_s4(f, home))
    } else if (is_users(value, home, name)) {
      bind_to(layer, name, where_is(name, env, "function"), convert_function)
    }
  } else if (is_branch(value) && length(value) < 1000L && has_functions(value)) {
    bind_to(layer, name, where_is(name, env), converted_tree)
  }
}

# What `names` are, as R finds them from `env`; the names of nothing are left out.
found_in <- function(names, env) {
  names <- names[nzchar(names) & !grepl("^[.][.]([.]|[0-9]+)$", names)]
  found <- tryCatch(mget(names, envir = env, inherits = TRUE, ifnotfound = list(nowhere)), error = function(e) {
    # An argument that has not been looked at yet may fail.
    stats::setNames(lapply(names, function(name) tryCatch(get0(name, env), error = function(e) nowhere)), names)
  })
  # An argument of a function around this one that was left out stays what it is.
  none <- vapply(seq_along(found), function(i) {
    identical(unname(found[i]), left_out) || identical(found[[i]], nowhere)
  }, NA)
  found[!none]
}

left_out <- list(quote(expr = )) # nolint

nowhere <- new.env(parent = emptyenv())

where_is <- function(name, env, mode = "any") {
  while (!exists(name, envir = env, mode = mode, inherits = FALSE)) {
    env <- parent.env(env)
  }
  env
}

# `name` in the layer is what it is in `env` at any time, as `change` makes it.
bind_to <- function(layer, name, env, change = identity) {
  makeActiveBinding(name, function(value) {
    if (missing(value)) change(get(name, envir = env, inherits = FALSE)) else assign(name, value, envir = env)
  }, layer)
}

# Functions of the session and of the package that the traced function comes from, and what R makes for them
is_users <- function(f, home, name = NULL) {
  if (typeof(f) != "closure" || isS4(f)) {
    return(FALSE)
  }
  top <- topenv(environment(f))
  outside <- !isNamespace(top) && !identical(top, baseenv())
  !identical(top, topenv()) && (outside || identical(top, home) || is_nameless(f, name))
}

has_functions <- function(x) {
  any(vapply(x, function(part) is.function(part) || (is_branch(part) && has_functions(part)), NA))
}

converted_tree <- function(x) {
  if (is.function(x)) {
    if (is_users(x, globalenv()) || is_rs_own(x)) convert_function(x) else x
  } else if (is_branch(x)) {
    x[] <- lapply(x, converted_tree)
    x
  } else {
    x
  }
}

hooks$convert_function <- convert_function
