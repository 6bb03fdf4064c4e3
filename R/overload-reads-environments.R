# What stands in a scope for R's functions that read variables: each notes what it reads (overload-reads.R), or refuses
# what cannot be noted.

# The place that the argument `pos` of get() and its kin means, in a call from `caller`
place_of <- function(pos, caller) {
  if (is.environment(pos)) pos else if (identical(as.numeric(pos), -1)) caller else as.environment(pos)
}

# A function that is found by its name, in the scope
found_from_code <- function(value, caller) {
  scoped <- if (is.function(value) && is_tracing()) get0(".xlaffi_function", envir = caller)
  if (is.null(scoped)) value else scoped(value)
}

# The function with that name, looked for from `env`
noted_function <- function(name, env) {
  note_names(name, env, mode = "function")
  get(name, envir = env, mode = "function")
}

refuse_absent <- function(op, name, inherits, call) {
  abort(sprintf("%s(): there is no object `%s` in this environment", op, name), "NOT_FOUND",
    op = op, operand = "x", call = call,
    hint = if (!inherits) "With `inherits = TRUE` it is looked for in the environments behind it, too."
  )
}

# What is behind the function that is compiled is another place in each call.
is_unknown_caller <- function(env) {
  !identical(env, emptyenv()) && exists(caller_mark, envir = parent.env(env), inherits = FALSE)
}

refuse_caller <- function(name, call) {
  abort(sprintf("%s() would read where the compiled function is called, which is another place in each call", name),
    "UNIMPLEMENTED",
    op = name, call = call,
    hint = "Name the variable in the function, which notices its changes, or pass it as an argument."
  )
}

# parent.frame(n) of the function that called the one which calls this one
callers_frame <- function(n, name, call) {
  if (is_tracing()) {
    for (i in seq_len(n)) {
      if (is_unknown_caller(parent.frame(i + 2L))) refuse_caller(name, call)
    }
  }
  parent.frame(n + 2L)
}

# `x$field`, or the like, as the user wrote it, in his frame: there R looks for methods, and errors show the call.
called_as_written <- function(name, x, written, frame, ...) {
  frame <- new.env(parent = frame)
  frame[[name]] <- get(name, baseenv())
  shown <- if (is.symbol(written) && !startsWith(as.character(written), "..")) written else quote(x)
  frame[[as.character(shown)]] <- x
  base::eval(as.call(list(as.name(name), shown, ...)), frame)
}

environment_reads <- list(
  get = function(x, pos = -1L, envir = place_of(pos, parent.frame()), mode = "any", inherits = TRUE) {
    note_names(x, envir, inherits, mode)
    if (is_tracing() && is.character(x) && !exists(x[[1L]], envir = envir, mode = mode, inherits = inherits)) {
      refuse_absent("get", x[[1L]], inherits, sys.call())
    }
    found_from_code(base::get(x, envir = envir, mode = mode, inherits = inherits), parent.frame())
  },
  get0 = function(x, envir = parent.frame(), mode = "any", inherits = TRUE, ifnotfound = NULL) {
    envir <- place_of(envir, parent.frame())
    note_names(x, envir, inherits, mode)
    found_from_code(base::get0(x, envir, mode, inherits, ifnotfound), parent.frame())
  },
  exists = function(x, where = -1, envir = if (missing(frame)) place_of(where, parent.frame()) else sys.frame(frame),
                    frame, mode = "any", inherits = TRUE) {
    note_names(x, envir, inherits, mode)
    base::exists(x, envir = envir, mode = mode, inherits = inherits)
  },
  mget = function(x, envir = parent.frame(), mode = "any", ifnotfound, inherits = FALSE) {
    envir <- place_of(envir, parent.frame())
    for (name in x) note_names(name, envir, inherits)
    if (!missing(ifnotfound)) {
      return(base::mget(x, envir = envir, mode = mode, ifnotfound = ifnotfound, inherits = inherits))
    }
    absent <- Filter(function(name) !exists(name, envir = envir, inherits = inherits), x)
    if (is_tracing() && length(absent)) {
      refuse_absent("mget", absent[[1L]], inherits, sys.call())
    }
    base::mget(x, envir = envir, mode = mode, inherits = inherits)
  },
  do.call = function(what, args, quote = FALSE, envir = parent.frame()) {
    note_names(what, envir, mode = "function")
    base::do.call(what, args, quote, envir)
  },
  # R looks from where the function was called that calls this one.
  match.fun = function(FUN, descend = TRUE) {
    if (!is.character(FUN) || length(FUN) != 1L) {
      return(base::match.fun(FUN, descend))
    }
    env <- parent.frame(2L)
    note_names(FUN, if (is.null(patched_environment_of(env))) parent.frame() else env, mode = "function")
    base::get(FUN, envir = env, mode = if (descend) "function" else "any")
  },
  Negate = function(f) {
    env <- parent.frame()
    if (is.character(f)) f <- found_from_code(noted_function(f, env), env)
    base::Negate(f)
  },
  # R looks through the frames of all callers.
  dynGet = function(x, ifnotfound, minframe = 1L, inherits = FALSE) {
    for (env in rev(sys.frames())[-1L]) {
      if (!is.null(patched_environment_of(env)) && exists(x, envir = env, inherits = FALSE)) {
        return(base::get(x, envir = env, inherits = FALSE))
      }
    }
    refuse_caller("dynGet", sys.call())
  },
  eval = function(expr, envir = parent.frame(),
                  enclos = if (is.list(envir) || is.pairlist(envir)) parent.frame() else baseenv()) {
    base::eval(converted_code(expr, envir, enclos, sys.call()), envir, enclos)
  },
  evalq = function(expr, envir = parent.frame(),
                   enclos = if (is.list(envir) || is.pairlist(envir)) parent.frame() else baseenv()) {
    base::eval(converted_code(substitute(expr), envir, enclos, sys.call()), envir, enclos)
  },
  eval.parent = function(expr, n = 1) {
    env <- callers_frame(n, "eval.parent", sys.call())
    base::eval(converted_code(expr, env, env, sys.call()), env)
  },
  parent.frame = function(n = 1) callers_frame(n, "parent.frame", sys.call()),
  sys.frame = function(which = 0) {
    env <- base::sys.frame(if (which < 0) which - 1 else which)
    if (is_tracing() && which != 0 && is.null(patched_environment_of(env))) refuse_caller("sys.frame", sys.call())
    env
  },
  sys.frames = function() if (is_tracing()) refuse_caller("sys.frames", sys.call()) else base::sys.frames(),
  environment = function(fun = NULL) {
    env <- if (is.null(fun)) parent.frame() else base::environment(fun)
    if (is.environment(env)) without_patched_environment(env) else env
  },
  parent.env = function(env) without_patched_environment(base::parent.env(env)),
  "$" = function(x, name) {
    written <- sys.call()
    field <- if (length(written) == 3L) written[[3L]] else substitute(name)
    if (is.environment(x)) note_names(as.character(field), x, inherits = FALSE)
    if (!is.object(x) && !is.atomic(x)) {
      base::eval(call("$", quote(x), field))
    } else if (!is.null(x)) {
      called_as_written("$", x, written[[2L]], parent.frame(), field)
    }
  },
  getElement = function(object, name) {
    if (is.environment(object)) note_names(name, object, inherits = FALSE)
    base::getElement(object, name)
  },
  names = function(x) {
    if (is.environment(x)) note_whole(x, only_names = TRUE)
    if (is.object(x) && !is_value(x)) {
      called_as_written("names", x, sys.call()[[2L]], parent.frame())
    } else {
      base::names(x)
    }
  },
  length = function(x) {
    if (is.environment(x)) note_whole(x, only_names = TRUE)
    if (is.object(x) && !is_value(x)) called_as_written("length", x, sys.call()[[2L]], parent.frame()) else length(x)
  }
)

# These read all that is in an environment, or its names.
whole_reads <- c("as.list", "as.list.environment", "eapply", "ls", "objects", "ls.str", "lsf.str")

noting_environments <- function(name, chooses) {
  force(chooses)
  only_names <- name %in% c("ls", "objects")
  function(...) {
    # ls() takes names of what is attached, without quotes as well.
    given <- tryCatch(given_arguments(...), error = function(e) NULL)
    for (part in given) {
      if (is.environment(part)) note_whole(part, only_names)
      if (name == "eapply") note_names(part, parent.frame(2L), mode = "function")
    }
    chooses(...)
  }
}

with_choice <- function(data, ...) {
  code <- as.list(substitute(list(...)))[-1L]
  if (is.environment(data) && length(code)) converted_code(code[[1L]], data, data, quote(with(data, expr)))
  for_r
}
