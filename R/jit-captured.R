# The variables that a compiled function found in the session while its program was written. The program
# keeps their values, so a change of one asks for another program.

# For each variable that functions of the user read, and the functions that they call: `env`, `name` and
# `value`. Holding the value makes R copy it when it is changed, so the same object is the same value.
captured_variables <- function(functions) {
  found <- list()
  seen <- list()
  while (length(functions)) {
    f <- functions[[1L]]
    functions <- functions[-1L]
    if (inherits(f, "xlaffi_jit")) {
      functions <- c(environment(f)$uses, functions)
    } else if (typeof(f) == "closure" && !in_package(environment(f)) && !any(vapply(seen, identical, NA, f))) {
      seen <- c(seen, list(f))
      variables <- free_variables(f)
      found <- c(found, variables)
      values <- lapply(variables, function(variable) variable$value)
      inner <- unlist(lapply(values, function(value) if (is_branch(value)) Filter(is.function, value)))
      functions <- c(functions, Filter(is.function, values), inner)
    }
  }
  found
}

changed <- function(captured) {
  for (variable in captured) {
    if (!identical(variable$env[[variable$name]], variable$value)) {
      return(TRUE)
    }
  }
  FALSE
}

# What a function reads that is not in a package. Names that are assigned by `<<-` are the function's own notes.
free_variables <- function(f) {
  names <- setdiff(all.names(as.call(c(as.name("{"), formals(f), body(f))), unique = TRUE), names(formals(f)))
  homes <- lapply(names, home_of, environment(f))
  if (all(vapply(homes, is.null, NA))) {
    return(list())
  }
  # Warnings are about how the code is written.
  globals <- suppressWarnings(codetools::findGlobals(f))
  kept <- names %in% setdiff(globals, noted(body(f))) & !vapply(homes, is.null, NA)
  Filter(Negate(is.null), Map(function(name, env) {
    # An argument that has not been looked at yet may fail.
    tryCatch(list(env = env, name = name, value = env[[name]]), error = function(e) NULL)
  }, names[kept], homes[kept]))
}

# Where R finds a variable, if that is not in a package
home_of <- function(name, env) {
  while (!in_package(env)) {
    if (exists(name, envir = env, inherits = FALSE)) {
      return(env)
    }
    env <- if (identical(env, globalenv())) baseenv() else parent.env(env)
  }
  NULL
}

in_package <- function(env) isNamespace(env) || identical(env, baseenv()) || identical(env, emptyenv())

# The names that code assigns by `<<-`
noted <- function(code) {
  if (!is.call(code) || !"<<-" %in% all.names(code)) {
    return(character())
  }
  own <- if (identical(code[[1L]], as.name("<<-"))) all.names(code[[2L]])
  parts <- as.list(code)
  parts <- parts[!vapply(parts, identical, NA, rlang::missing_arg())]
  c(own, unlist(lapply(parts, noted)))
}
