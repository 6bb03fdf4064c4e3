# Calls as somebody wrote them: what errors, sys.call() and substitute() show.

# Calls a function of the user's, in the scope of traced functions, as `name(x, y)`, with symbols. Values in the call
# would be all that an error shows.
call_written <- function(f, arguments, name = "f") {
  # R has a limit on the length of names.
  name <- if (nchar(name, "bytes") < 1000L) name else "f"
  formals <- names(formals(args(f)))
  formals <- formals[cumsum(formals == "...") == 0L]
  given <- names2(arguments)
  # Names that only say what the place says
  in_place <- given == formals[seq_along(given)]
  symbols <- argument_symbols(formals, given)
  given[cumsum(!in_place | is.na(in_place)) == 0L] <- ""
  call <- as.call(c(as.name(name), lapply(symbols, as.name)))
  names(call) <- c("", given)
  # The function has a place of its own: an argument may have its name.
  home <- list2env(stats::setNames(list(in_scope(f)), name), parent = globalenv())
  home[[caller_mark]] <- TRUE
  eval(call, list2env(stats::setNames(arguments, symbols), parent = home))
}

# Whether a function of the user's can be called so: R's own error would show a call that nobody wrote.
check_takes <- function(f, arguments, op, name, call) {
  form <- args(f)
  if (is.null(form)) {
    return(invisible())
  }
  given <- as.call(c(quote(f), rep(list(NULL), length(arguments))))
  names(given) <- c("", names2(arguments))
  matched <- tryCatch(match.call(form, given), error = function(cnd) NULL)
  if (is.null(matched)) {
    named <- names2(arguments)
    abort(
      sprintf(
        "%s: `%s` is called with %d argument%s%s, but it is function(%s)", op, name, length(arguments),
        if (length(arguments) == 1L) "" else "s",
        if (any(nzchar(named))) sprintf(" (%s)", toString(named)) else "", toString(names(formals(form)))
      ),
      op = op, operand = name, call = call
    )
  }
}

# One for each argument: its name, or that of the formal that it is for.
argument_symbols <- function(formals, given) {
  by_place <- setdiff(formals, given)
  unnamed <- which(!nzchar(given))
  symbols <- sprintf("x%d", unnamed)
  known <- seq_len(min(length(by_place), length(unnamed)))
  symbols[known] <- by_place[known]
  given[unnamed] <- symbols
  make.unique(given)
}

# The call of the method that asks: R puts the method's name into it, and for some generics the values themselves.
# To be asked at once: in an argument that is looked at later, another function's call would be the last one.
method_call <- function(generic) {
  call <- sys.call(-1L)
  call[[1L]] <- as.name(generic)
  inlined <- vapply(as.list(call), function(part) inherits(part, "xlaffi_typed"), NA)
  call[inlined] <- rep(list(quote(x)), sum(inlined))
  call
}
