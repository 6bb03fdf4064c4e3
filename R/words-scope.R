# Functions of the user's while they are traced. Most functions of R do not dispatch on values, so a copy of the user's
# function is called whose enclosure is a layer in front of its own: there R's names are masks (words-scope-masks.R) and
# the user's other functions are copies like it, made when they are looked up. The user's own definitions come first,
# as always, and outside of traces nothing changes.

# What stands for `f` in a trace. The functions of this package, and of others, are left alone.
in_scope <- function(f) {
  kind <- made_kind(f)
  if (!is.null(kind)) {
    return(scoped_once(f, function(f) made_in_scope(f, kind)))
  }
  if (typeof(f) != "closure") {
    return(mask_of(f))
  }
  name <- if (is_rs_own(f)) name_in_r(f)
  if (!is.null(name)) {
    return(mask_of(f, name = name))
  }
  nameless <- is_rs_own(f) || is_nameless(f)
  home <- topenv(environment(f))
  if ((is_fixed(home) && !nameless) || isS4(f) || exists(layer_mark, envir = environment(f))) {
    return(f)
  }
  scoped_once(f, function(f) scoped_copy(f, home))
}

# One copy of each function, so that functions which are the same stay so
scoped_once <- function(f, make) {
  for (pair in the$scoped) {
    if (is_same(pair[[1L]], f)) {
      return(pair[[2L]])
    }
  }
  copy <- make(f)
  the$scoped <- c(the$scoped, list(list(f, copy)))
  copy
}

# This package and those of R
is_fixed <- function(home) identical(home, topenv()) || (isNamespace(home) && getNamespaceName(home) %in% r_packages)

# Marks a layer.
layer_mark <- ".xlaffi_test"

# Marks what stands in front of a layer.
front_mark <- ".xlaffi_front"

scoped_copy <- function(f, home) {
  code <- as.call(c(as.name("{"), formals(f), body(f)))
  names <- all.names(code, unique = TRUE)
  copy <- f
  if (any(control_names %in% names)) {
    kept <- attributes(f)
    code_of_copy <- rewritten(body(f), first_formal(formals(f)))
    copy <- as.function(c(rewritten_formals(formals(f)), list(code_of_copy)), environment(f))
    attributes(copy) <- kept
  }
  names <- mentioned(code, names)
  methods <- unlist(lapply(users_environments(environment(f)), methods_in, c(names, group_generics)))
  methods <- grep("^[.]__T__", methods, value = TRUE, invert = TRUE)
  environment(copy) <- new_layer(unique(c(names, methods)), environment(f), home, noted(code))
  copy
}

# The names that code looks up, among them those in strings where functions are named so, and of replacement functions.
mentioned <- function(code, names) {
  names <- unique(c(names, looked_up(code, names)))
  if (any(c("<-", "=", "<<-") %in% names)) {
    names <- c(names, paste0(names, "<-"))
  }
  names
}

# Functions that are given others by their names
by_string <- c(
  "do.call", "match.fun", "get", "get0", "sapply", "lapply", "vapply", "mapply", "rapply", "Map", "Reduce", "Filter",
  "Find", "Position", "outer", "apply", "sweep", "Vectorize", "Negate", "kronecker", "mget", "exists", "dynGet",
  "tapply", "aggregate", "ave"
)

# Names in strings, and in strings that are code
looked_up <- function(code, names) {
  as_code <- any(c("parse", "str2lang", "str2expression") %in% names)
  if (!as_code && !any(by_string %in% names)) {
    return(character())
  }
  strings <- strings_in(code)
  inside <- if (as_code) {
    unlist(lapply(strings, function(text) tryCatch(all.names(str2expression(text)), error = function(e) NULL)))
  }
  unique(c(strings, inside))
}

strings_in <- function(code) {
  found <- character()
  level <- list(code)
  # Level by level: a call for each part of a deep expression would use up R's stack.
  while (length(level)) {
    found <- c(found, unlist(Filter(is.character, level)))
    level <- unlist(lapply(level, function(code) {
      parts <- if (is.call(code) || is.pairlist(code)) as.list(code)
      parts[!vapply(parts, is_missing_arg, NA)]
    }), recursive = FALSE)
  }
  # R has a limit on the length of names.
  found[!is.na(found) & nzchar(found) & nchar(found, "bytes") < 1000L]
}

is_missing_arg <- function(x) missing(x) || (is.symbol(x) && !nzchar(as.character(x)))

# The layer for what `names` are in `env`. `assigned` are names that the function changes by `<<-`.
new_layer <- function(names, env, home, assigned) {
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
  layer[[".xlaffi_function"]] <- function(f) called_in_scope(f, home)
  layer[[".xlaffi_object"]] <- object_of
  layer[[".xlaffi_extend"]] <- function(names) extend_layer(layer, names, env, home, assigned)
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
extend_layer <- function(layer, names, env, home, assigned) {
  found <- found_in(names[!vapply(names, exists, NA, envir = layer, inherits = FALSE)], env)
  for (name in names(found)) {
    hides <- !is.function(found[[name]]) && exists(name, envir = env, mode = "function")
    if (!hides) stand_in(layer, name, found[[name]], env, home, assigned)
  }
}

# Puts what stands for the value of `name` into the layer, if something does.
stand_in <- function(layer, name, value, env, home, assigned) {
  if (is.function(value)) {
    mask <- mask_for(name, value, home)
    if (!is.null(mask)) {
      if (!name %in% assigned) layer[[name]] <- mask
    } else if (isS4(value)) {
      bind_to(layer, name, where_is(name, env, "function"), function(f) s4_in_scope(f, home))
    } else if (is_users(value, home, name)) {
      bind_to(layer, name, where_is(name, env, "function"), in_scope)
    }
  } else if (is_branch(value) && length(value) < 1000L && has_functions(value)) {
    bind_to(layer, name, where_is(name, env), scoped_tree)
  }
}

# What `names` are, as R finds them from `env`; the names of nothing are left out.
found_in <- function(names, env) {
  names <- names[nzchar(names) & !grepl("^[.][.]([.]|[0-9]+)$", names)]
  found <- tryCatch(mget(names, envir = env, inherits = TRUE, ifnotfound = list(nowhere)), error = function(e) {
    # An argument that has not been looked at yet may fail.
    stats::setNames(lapply(names, function(name) tryCatch(get0(name, env), error = function(e) nowhere)), names)
  })
  found[!vapply(found, identical, NA, nowhere)]
}

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

scoped_tree <- function(x) {
  if (is.function(x)) {
    if (is_users(x, globalenv())) in_scope(x) else x
  } else if (is_branch(x)) {
    x[] <- lapply(x, scoped_tree)
    x
  } else {
    x
  }
}
