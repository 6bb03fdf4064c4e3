# Methods of the user's S4 generics and reference classes, which are objects of S4 themselves.

# What stands in a trace for a function that is an object of S4
s4_in_scope <- function(f, home) {
  if (methods::is(f, "refMethodDef")) {
    if (is_users(f@.Data, home)) in_scope(f@.Data) else f
  } else if (methods::is(f, "genericFunction") && is.environment(environment(f)$.MTable)) {
    scoped_once(f, function(f) scoped_generic(f, home))
  } else {
    f
  }
}

# R dispatches by the tables in the generic's environment: those of the copy have copies of the user's methods, and R
# adds to them what it finds inherited.
scoped_generic <- function(f, home) {
  env <- environment(f)
  if (!any(vapply(as.list(env$.MTable, all.names = TRUE), is_users_method, NA, home))) {
    return(f)
  }
  own <- list2env(as.list(env, all.names = TRUE), parent = parent.env(env))
  for (table in intersect(c(".MTable", ".AllMTable"), names(env))) {
    methods <- lapply(as.list(env[[table]], all.names = TRUE), scoped_method, home)
    own[[table]] <- list2env(methods, parent = parent.env(env[[table]]))
  }
  environment(f) <- own
  f
}

is_users_method <- function(method, home) {
  methods::is(method, "MethodDefinition") && is_users(method@.Data, home)
}

scoped_method <- function(method, home) {
  if (!is_users_method(method, home)) {
    return(method)
  }
  f <- method@.Data
  body(f) <- without_closures(body(f))
  # callNextMethod() would put what it finds into the table of the generic that is outside.
  if ("callNextMethod" %in% all.names(body(f)) && !methods::is(method, "MethodWithNext")) {
    method <- methods::addNextMethod(method, method@generic, envir = environment(method@.Data))
  }
  if (methods::is(method, "MethodWithNext")) {
    method@nextMethod <- scoped_method(method@nextMethod, home)
  }
  method@.Data <- in_scope(f)
  method
}

# Where a method has arguments that its generic has not, setMethod() puts the function itself into the code of another.
without_closures <- function(code) {
  if (typeof(code) == "closure") {
    return(call("function", formals(code), body(code)))
  }
  if (is.call(code)) {
    for (i in seq_along(code)) {
      if (is.call(code[[i]]) || typeof(code[[i]]) == "closure") code[[i]] <- without_closures(code[[i]])
    }
  }
  code
}
