# Functions that R makes for the user: by approxfun() and its kin of data (words-interpolators.R, words-splines.R), by
# Vectorize() and Negate() of functions, by families of models. R's code does not know values, so in traces copies stand
# for them.

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
made_in_scope <- function(f, kind) {
  at <- switch(kind,
    approx = approx_in_scope,
    spline = spline_in_scope,
    hermite = hermite_in_scope,
    family = family_in_scope,
    vectorized = vectorized_in_scope,
    negated = negated_in_scope
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

vectorized_in_scope <- function(f) {
  made <- environment(f)
  on_values <- word_vectorize(made$FUN, made$vectorize.args, made$SIMPLIFY, made$USE.NAMES)
  function(...) if (identical(given_anywhere(...), for_values)) on_values(...) else f(...)
}

negated_in_scope <- function(f) {
  negated <- in_scope(environment(f)$f)
  function(...) !negated(...)
}
