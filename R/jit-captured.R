# What a compiled function found in the session while its program was written. The program keeps it, so a change asks
# for another program.

# Variables that functions of the user read, and the functions that they call, by environments: `env`, `names` and
# `values`, NULL for what is not there (yet); in groups of `functions` only functions are there, as R passes over all
# else where it looks for one. Holding the values makes R copy them when they are changed, so the same object is the
# same value. Methods are among them for the classes of what is found, and for `classes`; attributes of the result say
# which `classes` these are, what generics code names and the `homes` where R looks for methods.
captured_variables <- function(functions, classes = character()) {
  found <- seen <- homes <- list()
  generics <- looked_for <- character()
  is_seen <- function(x) any(vapply(seen, is_same, NA, x))
  waiting <- functions
  add <- function(env, values, functions = FALSE, fields = FALSE) {
    names <- names(values)
    waiting <<- c(waiting, unlist(lapply(values, reached_through, env), recursive = FALSE))
    classes <<- unique(c(classes, classes_of(values)))
    place <- Position(function(group) {
      identical(group$env, env) && group$functions == functions && group$fields == fields
    }, found)
    if (is.na(place)) {
      found <<- c(found, list(list(env = env, names = names, values = values, functions = functions, fields = fields)))
    } else {
      new <- !names %in% found[[place]]$names
      found[[place]]$names <<- c(found[[place]]$names, names[new])
      found[[place]]$values <<- c(found[[place]]$values, values[new])
    }
  }
  visit <- function(x) {
    if (inherits(x, "xlaffi_jit")) {
      waiting <<- c(environment(x)$uses, waiting)
    } else if (is.environment(x)) {
      x <- as.environment(x)
      if (!is_seen(x) && !in_package(x) && !identical(x, globalenv()) && length(x) <= most_fields) {
        seen <<- c(seen, list(x))
        classes <<- unique(c(classes, classes_of(x)))
        names <- setdiff(ls(x, all.names = TRUE, sorted = FALSE), "...")
        names <- Filter(function(name) !bindingIsActive(name, x), names)
        add(x, present(names, x), fields = TRUE)
      }
    } else if (typeof(x) == "closure" && !in_package(environment(x)) && !is_seen(x)) {
      seen <<- c(seen, list(x))
      free <- free_variables(x)
      homes <<- unique(c(homes, users_environments(environment(x))))
      generics <<- unique(c(generics, free$generics))
      classes <<- unique(c(classes, free$classes))
      for (group in free$groups) add(group$env, group$values, group$functions)
      waiting <<- c(waiting, functions_in_dots(x))
    }
  }
  repeat {
    while (length(waiting)) {
      x <- waiting[[1L]]
      waiting <- waiting[-1L]
      visit(x)
    }
    if (all(classes %in% looked_for)) break
    homes <- unique(c(homes, users_environments(globalenv())))
    looked_for <- classes
    for (group in methods_there(classes, homes)) add(group$env, group$values, group$functions)
  }
  structure(found, classes = classes, generics = generics, homes = homes)
}

# An environment with more than this is not looked into.
most_fields <- 1000L

# Functions and environments that code gets at through a value which is found in `env`; and code, as functions: it may
# be evaluated.
reached_through <- function(x, env = globalenv()) {
  attributes <- if (isS4(x)) NULL else attributes(x)
  held <- attributes[vapply(attributes, function(part) is.function(part) || is_branch(part), NA)]
  c(reached_directly(x, env), unlist(lapply(unname(held), reached_through, env), recursive = FALSE))
}

reached_directly <- function(x, env) {
  if (is.function(x) || is.environment(x)) {
    list(x)
  } else if (is.call(x) || is.expression(x)) {
    home <- attr(x, ".Environment")
    list(as.function(list(as_call(x)), if (is.environment(home)) home else env))
  } else if (isS4(x)) {
    unlist(lapply(attributes(x), reached_through, env), recursive = FALSE)
  } else if (is.list(x)) {
    # Classes may have methods for length().
    x <- unclass(x)
    if (length(x) <= most_fields) unlist(lapply(x, reached_through, env), recursive = FALSE)
  }
}

# The values of variables; an argument that has not been looked at yet may fail, and is left out.
present <- function(names, env) {
  tryCatch(mget(names, env, "any", list(NULL)), error = function(e) {
    one <- function(name) tryCatch(mget(name, env, "any", list(NULL)), error = function(e) NULL)
    as.list(unlist(lapply(names, one), recursive = FALSE))
  })
}

# What a function reads that is not in a package: `groups` of `env`, `values`, and whether only `functions` count there;
# with the `generics` that it may call and the `classes` that it gives to objects. Names that are assigned by `<<-` are
# its own notes.
# Names of R's functions are among them, for the user may give them another meaning later.
free_variables <- function(f) {
  code <- as.call(c(as.name("{"), formals(f), body(f)))
  read <- names_read(f, code)
  # `...` is no variable: see functions_in_dots().
  notes <- c(noted(body(f)), "...")
  variables <- setdiff(read$variables, notes)
  called <- setdiff(read$called, notes)
  generics <- unique(c(called, group_generics, if ("UseMethod" %in% called) strings_in(code)))
  classes <- intersect(of_classes, c(called, variables))
  if ("new" %in% classes) variables <- c(variables, ".__T__initialize:methods")
  if (length(classes)) variables <- c(variables, paste0(".__C__", strings_in(code)))
  given <- if (any(c("structure", "class", "oldClass") %in% called)) classes_given(code)
  found <- list()
  for (env in users_environments(environment(f))) {
    of_any_kind <- unique(c(variables, methods_in(env, generics)))
    values <- present(of_any_kind, env)
    functions <- only_functions(present(setdiff(called, of_any_kind), env))
    if (length(values)) found <- c(found, list(list(env = env, values = values, functions = FALSE)))
    if (length(functions)) found <- c(found, list(list(env = env, values = functions, functions = TRUE)))
    variables <- setdiff(variables, names(Filter(Negate(is.null), values)))
    called <- setdiff(called, names(Filter(is.function, c(values, functions))))
  }
  list(groups = found, generics = generics, classes = given)
}

# Where R looks for what code in `env` names, as far as the user's own: what others attach are packages.
users_environments <- function(env) {
  found <- list()
  while (!in_package(env)) {
    if (!grepl("^(package:|Autoloads$)", environmentName(env))) found <- c(found, list(env))
    env <- parent.env(env)
  }
  found
}

in_package <- function(env) isNamespace(env) || identical(env, baseenv()) || identical(env, emptyenv())

# Functions of S4 classes, whose definitions are variables
of_classes <- c("new", "is", "validObject", "existsMethod", "hasMethod", "isVirtualClass", "extends", "slotNames")

# Functions among the arguments that a function has from the one that made it: `...` is no variable.
functions_in_dots <- function(f) {
  env <- Find(function(env) exists("...", envir = env, inherits = FALSE), users_environments(environment(f)))
  if (!is.null(env) && "..." %in% all.names(body(f))) {
    tryCatch(reached_through(eval(quote(list(...)), env)), error = function(e) NULL)
  }
}

# The names that a function may look up outside of itself: `variables`, and `called` functions. Those that have surely
# been assigned before are its own.
names_read <- function(f, code) {
  variables <- called <- character()
  read <- function(names, own) variables <<- c(variables, setdiff(names, own))
  all_of <- function(code) {
    names <- all.names(code, unique = TRUE)
    variables <<- c(variables, names)
    called <<- c(called, names)
  }
  # Gives what is surely assigned afterwards.
  walk <- function(code, own) {
    if (is.symbol(code)) {
      read(as.character(code), own)
      return(own)
    }
    if (!is.call(code)) {
      return(own)
    }
    name <- if (is.symbol(code[[1L]])) as.character(code[[1L]]) else ""
    if (nzchar(name)) called <<- c(called, name) else walk(code[[1L]], own)
    parts <- given_parts(code)
    if (name %in% quoting || (name == "local" && length(parts) > 1L)) {
      all_of(code)
      own
    } else if (name == "rm") {
      setdiff(own, all.names(code))
    } else if (name == "function") {
      walk_function(code[[2L]], code[[3L]], own)
      own
    } else if (name %in% c("{", "(")) {
      for (part in parts) own <- walk(part, own)
      own
    } else if (name %in% c("<-", "=") && length(parts) == 2L) {
      own <- walk(parts[[2L]], own)
      target <- parts[[1L]]
      if (is.call(target)) {
        walk(target, own)
        while (is.call(target)) {
          replaced <- if (is.symbol(target[[1L]])) as.character(target[[1L]])
          called <<- c(called, replaced, sprintf("%s<-", replaced))
          target <- target[[2L]]
        }
      }
      c(own, as.character(target))
    } else if (name == "for") {
      own <- c(walk(parts[[2L]], own), as.character(parts[[1L]]))
      walk(parts[[3L]], own)
      own
    } else if (name %in% c("if", "while", "&&", "||") && length(parts) > 1L) {
      own <- walk(parts[[1L]], own)
      after <- lapply(parts[-1L], walk, own)
      if (length(after) == 2L) intersect(after[[1L]], after[[2L]]) else own
    } else if (name %in% c("$", "@")) {
      walk(parts[[1L]], own)
      own
    } else {
      # R may look at arguments or not. Calls among them that only compute are looked at level by level: in an
      # expression of a thousand operations, a call for each would use up R's stack.
      while (length(parts)) {
        plain <- vapply(parts, is_plain_call, NA)
        for (part in parts[!plain]) walk(part, own)
        called <<- c(called, vapply(parts[plain], function(part) as.character(part[[1L]]), ""))
        parts <- unlist(lapply(parts[plain], given_parts), recursive = FALSE)
      }
      own
    }
  }
  walk_function <- function(formals, body, own) {
    own <- c(own, names(formals))
    for (default in as.list(formals)) if (!is_missing_arg(default)) walk(default, own)
    walk(body, own)
  }
  walk_function(formals(f), body(f), character())
  strings <- looked_up(code, c(called, variables))
  keep <- function(names) {
    names <- unique(c(names, strings))
    names[nzchar(names) & !grepl("^[.][.]([.]|[0-9]+)$", names)]
  }
  list(variables = keep(variables), called = keep(called))
}

quoting <- c("quote", "bquote", "~", "expression", "alist", "substitute")

# A call of a function by its name that neither assigns nor leaves out arguments
is_plain_call <- function(code) {
  is.call(code) && is.symbol(code[[1L]]) && !as.character(code[[1L]]) %in% c(
    quoting, "function", "{", "(", "<-", "=", "for", "if", "while", "&&", "||", "$", "@", "local", "rm"
  )
}

# The arguments of a call, without those left empty
given_parts <- function(code) {
  parts <- as.list(code)[-1L]
  parts[!vapply(parts, is_missing_arg, NA)]
}

# The names that code assigns by `<<-`
noted <- function(code) {
  if ("<<-" %in% all.names(code)) {
    assigned <- Filter(function(code) identical(code[[1L]], as.name("<<-")), calls_in(code))
    unlist(lapply(assigned, function(code) all.names(code[[2L]])))
  }
}

# All calls in code, level by level: a call for each part of a deep expression would use up R's stack.
calls_in <- function(code) {
  found <- list()
  level <- list(code)
  while (length(level)) {
    level <- Filter(is.call, level)
    found <- c(found, level)
    level <- unlist(lapply(level, function(code) c(list(code[[1L]]), given_parts(code))), recursive = FALSE)
  }
  found
}

# Code as one call, without a class: terms have methods of their own.
as_call <- function(code) {
  parts <- lapply(if (is.expression(code)) as.list(code) else list(code), function(part) {
    if (is.call(part)) attributes(part) <- NULL
    part
  })
  as.call(c(as.name("{"), parts))
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
