# What R itself does with a value in `if`, `while`, `switch()`, `&&`, `||` and `for` cannot be had by other functions of
# these names without changing what return(), break and sys.call() mean. So the copy's code asks first, by two functions
# of the layer; with the code as it was written, for the messages.

control_names <- c("if", "while", "for", "switch", "&&", "||")

rewritten <- function(code) {
  if (!is.call(code)) {
    return(code)
  }
  name <- if (is.symbol(code[[1L]])) as.character(code[[1L]]) else ""
  if (name %in% quoting) {
    return(code)
  }
  parts <- as.list(code)
  if (name == "function") {
    parts[2L] <- list(rewritten_formals(parts[[2L]]))
    parts[3L] <- list(rewritten(parts[[3L]]))
  } else {
    for (i in seq_along(parts)) {
      if (is.call(parts[[i]])) parts[i] <- list(rewritten(parts[[i]]))
    }
  }
  asks <- function(i, by = ".xlaffi_test") {
    if (length(parts) >= i && !is_missing_arg(parts[[i]])) parts[[i]] <<- call(by, parts[[i]], call("quote", code))
  }
  switch(name,
    "if" = ,
    "while" = ,
    "switch" = asks(2L),
    "&&" = ,
    "||" = {
      asks(2L)
      asks(3L)
    },
    "for" = asks(3L, ".xlaffi_each")
  )
  again <- as.call(parts)
  attributes(again) <- attributes(code)
  again
}

rewritten_formals <- function(formals) {
  for (i in seq_along(formals)) {
    if (is.call(formals[[i]])) formals[[i]] <- rewritten(formals[[i]])
  }
  formals
}

# Code as it was before: what error messages show.
as_written <- function(code) {
  if (!is.call(code)) {
    return(code)
  }
  if (is.symbol(code[[1L]]) && as.character(code[[1L]]) %in% c(".xlaffi_test", ".xlaffi_each")) {
    return(as_written(code[[2L]]))
  }
  parts <- as.list(code)
  for (i in seq_along(parts)) {
    if (is.call(parts[[i]])) parts[i] <- list(as_written(parts[[i]]))
  }
  again <- as.call(parts)
  attributes(again) <- attributes(code)
  again
}

# The condition of `code`, if R can look at it.
test_of_values <- function(condition, code) {
  if (!is_value(condition)) {
    return(condition)
  }
  name <- as.character(code[[1L]])
  shown <- if (name == "switch") "switch()" else sprintf("`%s`", name)
  abort(
    sprintf(
      "%s is decided while the program is written, but this is a value, %s, which is known when it runs", shown,
      type_text(condition)
    ),
    op = name, operand = "x", hint = control_hints[[name]], call = code
  )
}

control_hints <- list(
  "if" = "`ifelse()` chooses element by element, `hlo_cond()` runs one of two functions.",
  "while" = "`hlo_while()` is a loop of the program.",
  "switch" = "`hlo_case()` runs one of several functions.",
  "&&" = "`&` works on values.",
  "||" = "`|` works on values."
)

# What a `for` loop goes through: of a value its elements.
each_of <- function(x, code) {
  if (is_value(x)) elements_of(x) else x
}
