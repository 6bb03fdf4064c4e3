# What R itself does with a value in `if`, `while`, `switch()`, `&&`, `||` and `for` cannot be had by other functions of
# these names without changing what return(), break and sys.call() mean. So the copy's code asks first, by two functions
# of the layer; with the code as it was written, for the messages.
#
# Loops note where each of their turns begins.
#
# A function that comes out of an object, `object$f(x)`, is made one of the scope when it is called, one that came as an
# argument just before, and UseMethod() sees of a value what class R's vector would have.

# `first` is the first argument of the function whose code this is, `arguments` the names of the arguments that it sees.
rewritten <- function(code, first = NULL, arguments = character()) {
  if (!is.call(code)) {
    return(code)
  }
  if (is_operation(code)) {
    return(operations_changed(code, function(part) rewritten(part, first, arguments)))
  }
  name <- if (is.symbol(code[[1L]])) as.character(code[[1L]]) else ""
  if (name %in% quoting) {
    return(code)
  }
  parts <- as.list(code)
  if (name == "function") {
    inner <- c(names(parts[[2L]]), arguments)
    parts[2L] <- list(rewritten_formals(parts[[2L]], arguments))
    parts[3L] <- list(rewritten(parts[[3L]], first_formal(parts[[2L]]), inner))
  } else {
    target <- if (name %in% c("<-", "=", "<<-")) 2L else 0L
    for (i in seq_along(parts)) {
      # What is assigned to calls `f<-`, not `f`.
      if (is.call(parts[[i]])) parts[i] <- list(rewritten(parts[[i]], first, if (i != target) arguments))
    }
  }
  if (is.call(code[[1L]]) && !is_double_colon(code[[1L]])) {
    parts[[1L]] <- call(".xlaffi_function", parts[[1L]])
  }
  again <- as.call(noting_parts(asking_parts(parts, name, code, first), name))
  attributes(again) <- attributes(code)
  if (name %in% arguments) call("{", call(".xlaffi_argument", name), again) else again
}

# The parts of a call with the questions in them
asking_parts <- function(parts, name, code, first) {
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
    "for" = asks(3L, ".xlaffi_each"),
    UseMethod = if (length(parts) > 1L) {
      object <- if (length(parts) > 2L) parts[[3L]] else first
      if (!is.null(object)) parts[[3L]] <- call(".xlaffi_object", object, parts[[2L]])
    }
  )
  parts
}

# The parts of a loop, or of a call of a function that loops over elements, whose code notes where a turn begins. A
# `for` loop leaves out turns that have been traced ahead (overload-turns.R).
noting_parts <- function(parts, name) {
  if (name == "for" && length(parts) == 4L) {
    trace_state$loop_ids <- id <- trace_state$loop_ids + 1L
    parts[[3L]] <- as.call(c(as.list(parts[[3L]]), list(call("quote", parts[[4L]]), id)))
    parts[[4L]] <- call("{", call("if", call(".xlaffi_turn", id), quote(next)), parts[[4L]])
    return(parts)
  }
  at <- switch(name, "while" = 3L, "repeat" = 2L, 0L)
  if (at > 0L && length(parts) == at) parts[at] <- list(noting(parts[[at]]))
  if (name %in% applying) {
    for (i in seq_along(parts)[-1L]) {
      if (is.call(parts[[i]]) && identical(parts[[i]][[1L]], quote(`function`))) {
        parts[[i]][3L] <- list(noting(parts[[i]][[3L]]))
      }
    }
  }
  parts
}

noting <- function(code) call("{", quote(.xlaffi_turn()), code)

applying <- c("lapply", "sapply", "vapply", "mapply", "Map", "Reduce")

operators <- c("+", "-", "*", "/", "^", "%%", "%/%", "%*%", "==", "!=", "<", ">", "<=", ">=", "&", "|")

is_operation <- function(code) is.call(code) && is.symbol(code[[1L]]) && as.character(code[[1L]]) %in% operators

# The operands of an operation as `change` makes them. What is on the left of what is on the left is gone through in a
# loop: a call for each of a thousand would use up R's stack.
operations_changed <- function(code, change) {
  outer <- list()
  while (is_operation(code)) {
    outer <- c(outer, list(code))
    code <- code[[2L]]
  }
  code <- change(code)
  for (operation in rev(outer)) {
    operation[2L] <- list(code)
    if (length(operation) > 2L) operation[3L] <- list(change(operation[[3L]]))
    code <- operation
  }
  code
}

is_double_colon <- function(code) is.symbol(code[[1L]]) && as.character(code[[1L]]) %in% c("::", ":::")

# What UseMethod() dispatches on by itself
first_formal <- function(formals) {
  name <- names(formals)[1L]
  if (!length(formals)) NULL else if (name == "...") quote(..1) else as.name(name)
}

rewritten_formals <- function(formals, arguments = character()) {
  for (i in seq_along(formals)) {
    if (is.call(formals[[i]])) formals[[i]] <- rewritten(formals[[i]], NULL, c(names(formals), arguments))
  }
  formals
}

# Code as it was before: what error messages show.
as_written <- function(code) {
  if (!is.call(code)) {
    return(code)
  }
  if (is_operation(code)) {
    return(operations_changed(code, as_written))
  }
  if (is.symbol(code[[1L]]) && as.character(code[[1L]]) %in% patched_functions) {
    return(as_written(code[[2L]]))
  }
  if (is_preceded(code)) {
    return(as_written(code[[3L]]))
  }
  parts <- as.list(code)
  for (i in seq_along(parts)) {
    if (is.call(parts[[i]])) parts[i] <- list(as_written(parts[[i]]))
  }
  again <- as.call(parts)
  attributes(again) <- attributes(code)
  again
}

# A call of an argument, `{ .xlaffi_argument("f"); f(x) }`, or a turn of a loop, `{ .xlaffi_turn(); ... }` or
# `{ if (.xlaffi_turn(1L)) next; ... }`
is_preceded <- function(code) {
  if (!identical(code[[1L]], quote(`{`)) || length(code) != 3L || !is.call(code[[2L]])) {
    return(FALSE)
  }
  first <- code[[2L]]
  if (identical(first[[1L]], quote(`if`))) first <- first[[2L]]
  is.call(first) && list(first[[1L]]) %in% list(quote(.xlaffi_argument), quote(.xlaffi_turn))
}

patched_functions <- c(".xlaffi_test", ".xlaffi_each", ".xlaffi_function", ".xlaffi_object")

# A function that is called by no name of its own
called_converted <- function(f, home) {
  if (isS4(f)) {
    return(if (is.function(f)) convert_s4(f, home) else f)
  }
  known <- is.primitive(f) || (is.function(f) && (is_users(f, home) || is_rs_own(f)))
  if (known) convert_function(f) else f
}

# A function that came as an argument, before it is called by its name there. It may be out of a list or an environment.
convert_argument <- function(name, frame, home) {
  while (!exists(name, envir = frame, mode = "function", inherits = FALSE)) {
    if (exists(patched_mark, envir = frame, inherits = FALSE) || identical(frame, emptyenv())) {
      return()
    }
    frame <- parent.env(frame)
  }
  f <- get(name, envir = frame, mode = "function", inherits = FALSE)
  outside <- any(vapply(c(patched_mark, front_mark), exists, NA, envir = frame, inherits = FALSE))
  converted <- if (outside) f else called_converted(f, home)
  if (!identical(f, converted)) assign(name, converted, envir = frame)
}

# What UseMethod() is to dispatch on. A method that is not there may be defined later.
object_of <- function(x, generic) {
  object <- if (missing(x)) NULL else x
  if (is_value(object)) object <- structure(0L, class = c("xlaffi_value", implicit_class(object)))
  if (is_string(generic)) {
    methods <- paste(generic, c(.class2(object), "default"), sep = ".")
    for (env in list(parent.frame(2L), parent.frame())) note_names(methods, env, mode = "function")
  }
  object
}

# The classes by which R dispatches on such numbers
implicit_class <- function(x) {
  rank <- length(x@shape)
  type <- r_type(x)
  c(
    if (rank == 2L) "matrix", if (rank > 1L) "array",
    type, if (type %in% c("integer", "double")) "numeric"
  )
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
    op = name, operand = "x", hint = control_hints[[name]], call = code, unknown = TRUE
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
each_of <- function(x, code, body, id) {
  elements <- if (is_value(x)) elements_of(x) else x
  note_loop(id, as.character(code[[2L]]), body, elements, parent.frame())
  elements
}
