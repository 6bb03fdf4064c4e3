# What a function's trace depends on, as a digest that is the same in other sessions: all that captured_variables()
# finds, by value, and what of R and of the session could matter. The digest is NULL where that is not certain: a trace
# that is taken from another session and is not the function's would be a wrong number that nobody sees. What is
# refused here is traced in each session.

# Functions of these packages may be called: they are known by version and file.
certain_packages <- c("base", "stats", "utils", "methods", "graphics", "grDevices", "datasets", "xlaffi", "Matrix")

# Classes of data whose methods are in those packages
certain_classes <- c("factor", "data.frame", "table", "matrix", "array")

# Functions of R's that code may call besides those of the table of supported functions: what they give follows from
# their arguments, and they do nothing else.
certain_functions <- c(
  "{", "(", "if", "for", "while", "repeat", "break", "next", "function", "return", "<-", "=", "[", "[[", "$", "[<-",
  "[[<-", "$<-", "::", "&&", "||", "!", ":", "-", "+", "*", "/", "^", "%%", "%/%", "%*%", "==", "!=", "<", ">", "<=",
  ">=", "&", "|", "c", "list", "unlist", "length", "names", "dim", "nrow", "ncol", "NROW", "NCOL", "levels", "nlevels",
  "rep", "rep_len", "seq", "seq_len", "seq_along", "numeric", "integer", "logical", "character", "vector", "matrix",
  "array", "as.numeric", "as.double", "as.integer", "as.vector", "as.matrix", "is.null", "is.numeric", "is.matrix",
  "identity", "invisible", "stop", "stopifnot", "switch", "missing", "T", "F", "pi", "letters", "LETTERS"
)

# Functions that are given others, and the number and name of the argument that is one. It must be written out, be a
# name of the user's functions, or a string in the code, which captured_variables() sees.
given_function <- list(
  do.call = list(1L, "what"), sapply = list(2L, "FUN"), lapply = list(2L, "FUN"), vapply = list(2L, "FUN"),
  Map = list(1L, "f"), Reduce = list(1L, "f"), mapply = list(1L, "FUN"), outer = list(3L, "FUN"),
  apply = list(3L, "FUN"), Filter = list(1L, "f")
)

uncertain <- function() {
  stop(structure(class = c("xlaffi_uncertain", "error", "condition"), list(message = "uncertain", call = NULL)))
}

# The digest of what `functions` and all that they read are, and of `about`, plain data
lasting_digest <- function(functions, about) {
  tryCatch(
    {
      known <- new.env(parent = emptyenv())
      known$environments <- list()
      known$symbols <- known$heads <- 0
      captured <- captured_variables(functions)
      code <- lapply(functions, plain_form, known)
      groups <- lapply(captured, plain_group, known)
      # Environments that were met, each with the one around it; more may be met meanwhile.
      around <- list()
      while (length(around) < length(known$environments)) {
        env <- known$environments[[length(around) + 1L]]
        if (exists("...", envir = env, inherits = FALSE)) uncertain()
        around <- c(around, list(environment_label(parent.env(env), known)))
      }
      packages <- package_functions(captured, known)
      form <- list(code, groups, around, packages, plain_form(about, known, FALSE), traced_by())
      digest_of(serialize(form, NULL, version = 2L))
    },
    xlaffi_uncertain = function(error) NULL
  )
}

# The digest with data, by value
digest_with <- function(digest, data) {
  tryCatch(digest_of(serialize(list(digest, plain_form(data, NULL, FALSE)), NULL, version = 2L)),
    xlaffi_uncertain = function(error) NULL
  )
}

plain_group <- function(group, known) {
  if (!identical(group$fields, FALSE)) uncertain()
  order <- order(group$names, method = "radix")
  names <- group$names[order]
  there <- names[vapply(names, exists, NA, envir = group$env, inherits = FALSE)]
  if (any(vapply(there, bindingIsActive, NA, env = group$env))) uncertain()
  list(environment_label(group$env, known), names, lapply(unname(group$values[order]), plain_form, known))
}

# Data as they are; functions by their code and where they were made. Of ones in attributes nobody looks at what they
# read, so they are not `allowed`.
plain_form <- function(x, known, allowed = TRUE) {
  switch(typeof(x),
    "NULL" = , logical = , integer = , double = , complex = , character = , raw = data_form(x, known),
    list = {
      if (length(x) > most_fields && !all(vapply(unclass(x), is.atomic, NA))) uncertain()
      list("list", lapply(unname(unclass(x)), plain_form, known, allowed), attributes_form(x, known))
    },
    symbol = list("symbol", as.character(x)),
    language = list("code", code_form(x, known), attributes_form(x, known)),
    builtin = , special = list("primitive", deparse(x)),
    closure = {
      if (!allowed || inherits(x, "xlaffi_jit") || isS4(x)) uncertain()
      where <- environment_label(environment(x), known)
      list("function", code_form(formals(x), known), code_form(body(x), known), where, attributes_form(x, known))
    },
    S4 = {
      if (is_sparse(x)) {
        return(list("sparse", plain_form(x@values, known), plain_form(columns_of_pattern(x@pattern), known)))
      }
      if (!attr(class(x), "package") %in% certain_packages) uncertain()
      list("S4", c(class(x)), lapply(attributes(x)[names(attributes(x)) != "class"], plain_form, known, FALSE))
    },
    uncertain()
  )
}

data_form <- function(x, known) {
  found <- attributes_form(x, known)
  attributes(x) <- NULL
  list(typeof(x), x, found)
}

# Without where code was read from
attributes_form <- function(x, known) {
  found <- attributes(x)
  found <- found[!names(found) %in% c("srcref", "srcfile", "wholeSrcref")]
  if (!length(found)) {
    return(NULL)
  }
  if (!all(found[["class"]] %in% certain_classes)) uncertain()
  list(names(found), lapply(unname(found), plain_form, known, FALSE))
}

# Code level by level: a call for each part of a deep expression would use up R's stack.
code_form <- function(code, known) {
  found <- list()
  level <- list(code)
  while (length(level)) {
    found <- c(found, list(lapply(level, part_form, known)))
    level <- unlist(lapply(level, code_parts), recursive = FALSE)
  }
  found
}

part_form <- function(x, known) {
  if (is.symbol(x)) {
    name <- as.character(x)
    if (name == "<<-") uncertain()
    known$symbols <- known$symbols + name %in% names(given_function)
    list("symbol", name)
  } else if (is.call(x)) {
    head <- if (is.symbol(x[[1L]])) as.character(x[[1L]]) else ""
    if (head %in% c("::", ":::") && !as.character(x[[2L]]) %in% certain_packages) uncertain()
    if (head %in% names(given_function)) {
      known$heads <- known$heads + 1
      known$given <- c(known$given, function_given(x, given_function[[head]]))
    }
    list("call", length(x), names(x), attributes_form(structure(x, names = NULL), known))
  } else if (is.pairlist(x)) {
    list("arguments", length(x), names(x))
  } else {
    plain_form(x, known, FALSE)
  }
}

code_parts <- function(x) {
  if (!is.call(x) && !is.pairlist(x)) {
    return(NULL)
  }
  parts <- unname(as.list(x))
  # What follows in the code of a function is where it was read from.
  if (is.call(x) && identical(parts[[1L]], as.name("function"))) parts <- parts[2:3]
  parts[vapply(parts, is_missing_arg, NA)] <- list("no argument")
  parts
}

# Packages by name, others by the order in which they are met
environment_label <- function(env, known) {
  if (identical(env, globalenv())) {
    return("the session")
  }
  if (in_package(env) || identical(env, emptyenv())) {
    name <- sub("^package:", "", environmentName(env))
    if (!name %in% c(certain_packages, "R_EmptyEnv")) uncertain()
    return(paste("package", name))
  }
  # What was attached
  if (!is.null(attr(env, "name"))) uncertain()
  place <- Position(function(met) identical(met, env), known$environments)
  if (is.na(place)) {
    known$environments <- c(known$environments, list(env))
    place <- length(known$environments)
  }
  place
}

# Of supported functions those that do nothing else and are not given others, whose names R would look up
is_certain <- function(name) {
  entry <- if (!name %in% c("print", "cat", "message", "warning", "str", "assign", "environment")) overloads[[name]]
  name %in% c(certain_functions, names(given_function)) || !is.null(entry) && !entry$functional &&
    !name %in% by_string && (entry$topic != "Solvers" || startsWith(name, "hlo_"))
}

# The argument that is a function: its code, or its name as a symbol; NULL where it is the only one and left out
function_given <- function(call, place) {
  parts <- as.list(call)[-1L]
  names <- names2(parts)
  named <- which(names == place[[2L]])
  at <- if (length(named)) named[[1L]] else which(names == "")[place[[1L]]]
  if (is.na(at) || any(vapply(parts, identical, NA, as.name("...")))) uncertain()
  given <- parts[[at]]
  if (is.call(given) && identical(given[[1L]], as.name("function"))) {
    return(NULL)
  }
  if (!is.symbol(given) && !(is.character(given) && length(given) == 1L)) uncertain()
  as.character(given)
}

# What names stand for that the user has not given a value: functions of packages by their code, as the package in
# which they are may have been changed.
package_functions <- function(captured, known) {
  values <- unlist(lapply(captured, `[[`, "values"), recursive = FALSE)
  names(values) <- unlist(lapply(captured, `[[`, "names"))
  # A name of what is no function, or of what the code assigns itself, might stand for the name of one.
  # So might a function that is given others, if it is given itself.
  if (known$symbols != known$heads) uncertain()
  for (name in known$given) {
    found <- values[names(values) == name]
    if (!length(found) || !all(vapply(found, function(x) is.null(x) || is.function(x), NA))) uncertain()
  }
  absent <- function(captured) {
    as.character(unlist(lapply(captured, function(group) group$names[vapply(group$values, is.null, NA)])))
  }
  read <- absent(Filter(function(group) !group$functions, captured))
  names <- sort(unique(absent(captured)), method = "radix")
  lapply(names, function(name) {
    found <- get0(name, envir = globalenv(), mode = if (name %in% read) "any" else "function")
    if (is.function(found) && !is_certain(name)) uncertain()
    if (typeof(found) == "closure") {
      package <- environmentName(topenv(environment(found)))
      if (!package %in% certain_packages) uncertain()
      code <- serialize(list(formals(found), body(found)), NULL, version = 2L, refhook = function(env) "reference")
      list(name, package, digest_of(code))
    } else if (is.primitive(found)) {
      list(name, deparse(found))
    } else {
      list(name, typeof(found), plain_form(found, known, FALSE))
    }
  })
}
