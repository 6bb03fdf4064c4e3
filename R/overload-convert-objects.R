# Methods of the user's S4 generics and reference classes, which are objects of S4 themselves.

# What stands in a trace for a function that is an object of S4
convert_s4 <- function(f, home) {
  if (methods::is(f, "refMethodDef")) {
    if (is_users(f@.Data, home)) convert_function(f@.Data) else f
  } else if (methods::is(f, "genericFunction") && is.environment(environment(f)$.MTable)) {
    converted_once(f, function(f) converted_generic(f, home))
  } else {
    f
  }
}

# R dispatches by the tables in the generic's environment: those of the copy have copies of the user's methods, and R
# adds to them what it finds inherited.
converted_generic <- function(f, home) {
  env <- environment(f)
  if (!any(vapply(as.list(env$.MTable, all.names = TRUE), is_users_method, NA, home))) {
    return(f)
  }
  own <- list2env(as.list(env, all.names = TRUE), parent = parent.env(env))
  for (table in intersect(c(".MTable", ".AllMTable"), names(env))) {
    methods <- lapply(as.list(env[[table]], all.names = TRUE), converted_method, home)
    own[[table]] <- list2env(c(refusing_methods(methods, f@generic), methods), parent = parent.env(env[[table]]))
  }
  environment(f) <- own
  f
}

# For values in the place of R's own classes, of which R would choose the method for "ANY": S4 knows values by their
# class alone, and not whether they are matrices or whole numbers.
refusing_methods <- function(methods, generic) {
  plain <- c("numeric", "integer", "logical", "complex", "matrix", "array")
  refusing <- list()
  of_r <- function(class) class != "ANY" && any(vapply(plain, methods::extends, NA, class2 = class))
  for (method in Filter(function(method) methods::is(method, "MethodDefinition"), methods)) {
    # Those that R has found inherited are for other classes than they are defined for.
    classes <- as.character(method@target)
    if (!identical(classes, as.character(method@defined))) next
    places <- which(vapply(classes, of_r, NA))
    for (subset in seq_len(2^length(places) - 1)) {
      chosen <- places[bitwAnd(subset, 2^(seq_along(places) - 1L)) > 0L]
      body <- call(".xlaffi_refuse", generic, classes[[chosen[[1L]]]])
      home <- list2env(list(.xlaffi_refuse = refuse_method), parent = baseenv())
      method@.Data <- as.function(c(formals(method@.Data), body), home)
      refusing[[paste(replace(classes, chosen, "xlaffi_value"), collapse = "#")]] <- method
    }
  }
  refusing[setdiff(names(refusing), names(methods))]
}

refuse_method <- function(generic, class) {
  abort(sprintf("%s() has a method for \"%s\", and S4 cannot tell whether it is meant for a value of a program",
    generic, class
  ), "UNIMPLEMENTED", op = generic, hint = "A function of S3, or a method for \"xlaffi_value\", is found.", call = NULL)
}

is_users_method <- function(method, home) {
  methods::is(method, "MethodDefinition") && is_users(method@.Data, home)
}

converted_method <- function(method, home) {
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
    method@nextMethod <- converted_method(method@nextMethod, home)
  }
  method@.Data <- convert_function(f)
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

# Functions that R makes for the user: by approxfun() and its kin of data (overload-interpolators.R and
# overload-splines.R), by Vectorize() and Negate() of functions, by families of models. R's code does not know values,
# so in traces copies stand for them.

# What made `f`; NULL for other functions. They live in frames in front of {stats} and {base}.
made_kind <- function(f) {
  if (typeof(f) != "closure" || isS4(f)) {
    return(NULL)
  }
  if (!is.null(family_part(f)) && identical(topenv(environment(f)), asNamespace("stats"))) {
    return("family")
  }
  frame <- environment(f)
  behind <- if (!isNamespace(frame) && !identical(frame, baseenv())) parent.env(frame)
  has <- function(...) all(vapply(c(...), exists, NA, envir = frame, inherits = FALSE))
  if (identical(behind, asNamespace("stats"))) {
    called <- all.names(body(f))
    if (".approxfun" %in% called && has("x", "y", "method", "yleft", "yright", "f")) {
      "approx"
    } else if (".splinefun" %in% called && has("z")) {
      "spline"
    } else if ("extrapol" %in% names(formals(f)) && has("x0", "y0", "m", "dx")) {
      "hermite"
    }
  } else if (identical(behind, .BaseNamespaceEnv)) {
    if (has("FUN", "vectorize.args", "SIMPLIFY", "USE.NAMES")) {
      "vectorized"
    } else if (has("f") && identical(body(f), quote(!f(...)))) {
      "negated"
    }
  }
}

# What stands for such a function in a trace: it has its arguments and attributes, and its frame behind it.
convert_made <- function(f, kind) {
  at <- switch(kind,
    approx = convert_approx,
    spline = convert_spline,
    hermite = convert_hermite,
    family = convert_family,
    vectorized = convert_vectorized,
    negated = convert_negated
  )(f)
  frame <- new.env(parent = environment(f))
  frame$.xlaffi_at <- at
  given <- lapply(names(formals(at)), as.name)
  copy <- as.function(c(formals(at), as.call(c(list(as.name(".xlaffi_at")), given))), frame)
  attributes(copy) <- attributes(f)
  copy
}

# Functions of R's packages that have no name there, as those in a family: they were made for the user, as his own.
# `name` is what the user calls it, which spares a search.
is_nameless <- function(f, name = NULL) {
  env <- environment(f)
  top <- topenv(env)
  if (!isNamespace(top) || !getNamespaceName(top) %in% r_packages) {
    return(FALSE)
  }
  known <- !is.null(name) && identical(get0(name, env, inherits = FALSE), f)
  !known && (!isNamespace(env) || is.null(name_in_r(f)))
}

convert_vectorized <- function(f) {
  made <- environment(f)
  on_values <- overload_vectorize(made$FUN, made$vectorize.args, made$SIMPLIFY, made$USE.NAMES)
  function(...) if (identical(given_anywhere(...), for_values)) on_values(...) else f(...)
}

convert_negated <- function(f) {
  negated <- convert_function(environment(f)$f)
  function(...) !negated(...)
}
