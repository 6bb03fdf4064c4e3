# Calls as somebody wrote them: what errors, sys.call() and substitute() show.

# Calls a function of the user's, in the scope of traced functions, as `name(x, y)`, with symbols. Values in the call
# would be all that an error shows.
call_written <- function(f, arguments, name = "f") {
  # R has a limit on the length of names.
  name <- if (nchar(name, "bytes") < 1000L) name else "f"
  formals <- before_dots(formal_names(f))
  given <- names2(arguments)
  # Names that only say what the place says
  in_place <- given == formals[seq_along(given)]
  symbols <- argument_symbols(formals, given)
  unsaid <- cumsum(!in_place | is.na(in_place)) == 0L
  # unless R would take another name, which is the beginning of that, for it
  others <- given[!unsaid & nzchar(given) & !given %in% formals]
  if (length(others)) unsaid <- unsaid & !vapply(given, function(name) any(startsWith(name, others)), NA)
  given[unsaid] <- ""
  call <- as.call(c(as.name(name), lapply(symbols, as.name)))
  names(call) <- c("", given)
  # The function has a place of its own: an argument may have its name.
  home <- list2env(stats::setNames(list(hooks$convert_function(f)), name), parent = globalenv())
  home[[caller_mark]] <- TRUE
  eval(call, list2env(stats::setNames(arguments, symbols), parent = home))
}

# `x` as the first argument of `f`, by its name: others with the beginning of that are not taken for it.
first_argument <- function(f, x) {
  first <- formal_names(f)[1L]
  if (is.null(first) || is.na(first) || first == "...") list(x) else stats::setNames(list(x), first)
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

# Marks the environment behind that from which call_written() calls.
caller_mark <- ".xlaffi_caller"
