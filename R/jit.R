#' Compile a function of values
#'
#' `xla_jit(f)` gives a function that writes `f` down as a StableHLO program, compiles it and runs
#' it. It is traced and compiled once per signature: the dtypes and shapes of the arguments. What `f` reads besides its
#' arguments is fixed in the program; the next call after such a variable was given another value makes another
#' program.
#'
#' @details
#' R data are passed on in R's own precision: doubles as `f64`, integers `i32`, logicals `pred`,
#' complex numbers `c128`. A vector without dimensions has shape (n). With R data alone the
#' results are R data: what has two or more axes an array, what has none or one a vector without dimensions (an array of
#' one axis, if an argument is one). With a buffer among the arguments they are buffers; with a
#' [value][xlaffi_value] they are values: inside another such function, `f` is written out (also when its
#' arguments there are R data alone). A function that returns nothing (`NULL`, an empty list) gives `NULL`,
#' invisibly.
#'
#' Beside buffers one R number without dimensions takes the dtype of the first buffer that has numbers of its kind: a
#' double that of floating-point or complex numbers, an integer that of integers.
#'
#' Variables are looked up as they are named in `f` and in the functions and methods of yours that it calls, in strings
#' as well (`get("k")`, `do.call("h", ...)`), and so are the fields of environments and of objects made of them, if
#' there are not more than 1000. Not noticed are changes of what has a name that is computed (`get(paste0("k", i))`),
#' fields and methods that are added later, options, environment variables and files. What `f` itself assigns by
#' `<<-`, or to fields, is its own affair.
#'
#' Functions can be saved, and sent to other processes: there they are traced and compiled anew. Equal functions share
#' one compiled program, and what was compiled is kept on disk for later sessions: see [ffi_cache()].
#'
#' Arguments may be lists of data. Everything else that `f` uses is taken as it is while the program is
#' written: R's `if` and `for` decide then what the program contains.
#'
#' The program runs on the device of the first buffer, or on the default one.
#'
#' @param f A function of [values][xlaffi_value] that gives a value or a (named) list of values.
#' @param exact Whether each operation is computed as it is written. XLA otherwise multiplies by `1 / 3` for `x / 3`,
#'   takes constants together and fuses `x * y + z`, which may change the last bit, for speed. With `exact = TRUE`,
#'   `+`, `-`, `*`, `/` and `sqrt()` of doubles give R's results bit for bit; sums may still be added up in another
#'   order. For the CPU. As a part of another program a function is compiled as that one is.
#' @return A function of R data, buffers or values.
#' @seealso [ffi_program()] shows the program, [ffi_cache()] what is compiled; [ffi_op()],
#'   [ffi_jvp()], [ffi_vjp()].
#' @examplesIf plugins_downloaded()
#' norm <- xla_jit(function(x) sqrt(sum(x^2)))
#' norm(c(3, 4))
#' norm(pjrt_buffer(c(3, 4), "f32"))
#' @export
xla_jit <- function(f, exact = FALSE) {
  if (!is.function(f)) {
    abort(sprintf("`f` must be a function, not %s", describe(f)), operand = "f")
  }
  check_flag(exact, "exact")
  new_jit(f, "function", exact = exact)
}

# `name` is what ffi_cache() calls it; `uses` are the functions of the user behind `f`. What tells the function
# from others, `identity`, is an external pointer: R saves those as NULL, so a function that comes back from a
# file or another process is a new one there. Nothing else of the session is kept in it.
new_jit <- function(f, name, uses = list(f), exact = FALSE) {
  force(f)
  force(exact)
  force(name)
  force(uses)
  identity <- NULL
  self <- environment()
  compiled <- function(...) {
    arguments <- list(...)
    # While a program is being written, this becomes a part of it.
    key <- if (!length(the$traces)) .Call(wrap__signature, identity, arguments)
    call <- if (!is.null(key)) the$calls[[key]]
    if (is.null(call) || (length(call$captured) && changed(call$captured))) {
      return(run_new(self, arguments, environment()))
    }
    run_again(call, arguments)
  }
  structure(compiled, class = c("xlaffi_jit", "function"))
}

# Compiled functions and ops of the package's own, each made at its first use: they hold their programs,
# which belong to a session.
made <- new.env(parent = emptyenv())

made_once <- function(key, make) {
  found <- made[[key]]
  if (is.null(found)) {
    found <- make()
    made[[key]] <- found
  }
  found
}

run_again <- function(call, arguments) {
  the$clock <- the$clock + 1
  call$program$used <- the$clock
  run_call(call, arguments)
}

# Runs a call that was found by its signature; new_call() has what it holds.
run_call <- function(call, leaves) {
  executable <- call$program$executable
  if (!call$any) {
    outputs <- .Call(wrap__executable_call, executable, leaves, call$dtypes, call$device)
  } else {
    if (call$all) {
      names(leaves) <- NULL
    } else {
      leaves <- lapply(seq_along(leaves), function(i) {
        if (call$buffers[[i]]) leaves[[i]] else pjrt_buffer(leaves[[i]], call$dtypes[[i]], call$device)
      })
    }
    outputs <- .Call(wrap__executable_execute, executable, leaves, NULL, TRUE, FALSE)
  }
  if (is.object(outputs)) {
    outputs <- finish(outputs, NULL)
  }
  # What was not there at once came as buffers.
  if (!call$any && length(outputs) && typeof(outputs[[1L]]) == "externalptr") {
    outputs <- read_results(outputs, leaves)
  }
  switch(call$form,
    one = outputs[[1L]],
    list = `names<-`(outputs, call$names),
    none = invisible(),
    tree_fill(call$results, outputs)
  )
}

# As the glue's executable_call() does: what has one axis is a vector, unless an argument is an array of one.
read_results <- function(buffers, arguments) {
  arrays <- lapply(buffers, as_array)
  if (any(lengths(lapply(arguments, dim)) == 1L)) {
    return(arrays)
  }
  lapply(arrays, function(x) {
    if (length(dim(x)) == 1L) dim(x) <- NULL
    x
  })
}

# The first call with a signature, and every call with nested lists or values.
run_new <- function(self, arguments, env) {
  leaves <- as.list(tree_leaves(arguments))
  buffers <- vapply(leaves, inherits, NA, what = "xlaffi_buffer")
  if (any_of_class(leaves, c("xlaffi_value", "xlaffi_type")) || (length(the$traces) && !any(buffers))) {
    return(inlined(self$f, arguments, env))
  }
  if (is.null(.Call(wrap__identity_text, self$identity))) {
    self$identity <- .Call(wrap__identity_new)
  }
  types <- argument_types(arguments, env)
  device <- if (any(buffers)) device(leaves[[which(buffers)[[1L]]]]) else default_device()
  key <- .Call(wrap__signature, self$identity, arguments)
  if (is.null(key)) {
    # R has a limit on the length of names in an environment.
    key <- paste("hash", .Call(wrap__identity_text, self$identity), rlang::hash(list(types, buffers, format(device))))
  }
  call <- the$calls[[key]]
  if (is.null(call) || changed(call$captured)) {
    # Before `f` runs: what it changes itself is its own affair.
    captured <- captured_variables(self$uses)
    call <- new_call(self$f, adapted(types, leaves, buffers), device, self$name, self$exact)
    call$buffers <- buffers
    call$any <- any(buffers)
    call$all <- all(buffers)
    call$captured <- settled(captured)
    remember_call(call, key)
  }
  run_again(call, leaves)
}

any_of_class <- function(leaves, class) any(vapply(leaves, inherits, NA, what = class))

# `f` as a part of the program that is being written
inlined <- function(f, arguments, env) {
  names <- names2(arguments)
  names[!nzchar(names)] <- which(!nzchar(names))
  call_written(f, Map(function(argument, name) tree_map(argument, as_value, name, call = env), arguments, names))
}

# Beside buffers one R number without dimensions takes the dtype of the first that has numbers of its kind.
adapted <- function(types, leaves, buffers) {
  own <- tree_leaves(types)
  like <- vapply(own[buffers], function(type) type@dtype, "")
  tree_fill(types, Map(function(type, x, is_buffer) {
    number <- !is_buffer && is.numeric(x) && !is.object(x) && length(x) == 1L && is.null(dim(x))
    kind <- if (is.double(x)) is_inexact else is_integer
    found <- if (number) Find(kind, like)
    if (is.null(found)) type else new_type(found, type@shape)
  }, own, leaves, buffers))
}

# `f` traced for arguments of these types: `program`, which equal functions share; the device; `dtypes`, in which R
# data are passed on; `form`, `names` and `results`, of which the value is made.
new_call <- function(f, types, device, name, exact = FALSE) {
  traced <- trace_program(f, types, platform(device))
  results <- traced$results
  text <- if (isTRUE(exact)) exact_text(traced$text, device) else traced$text
  list(
    program = compiled_program(text, device, name, types), device = device,
    dtypes = lapply(tree_leaves(types), function(type) type@dtype),
    form = result_form(results), names = names(results), results = results
  )
}

# A program says by the name of its module how it is to be compiled.
exact_text <- function(text, device) {
  if (platform(device) != "cpu") {
    abort(sprintf("`exact = TRUE` is for the CPU, not for %s", format(device)), "UNIMPLEMENTED",
      operand = "exact", call = NULL
    )
  }
  sub("module @main {", "module @xlaffi_exact {", text, fixed = TRUE)
}

result_form <- function(results) {
  if (is_type(results)) {
    "one"
  } else if (!length(results)) {
    "none"
  } else {
    if (all(vapply(results, is_type, NA))) "list" else "tree"
  }
}

compiled_program <- function(text, device, name, types) {
  key <- text_digest(c(text, format(device)))
  program <- the$programs[[key]]
  if (is.null(program)) {
    types <- types_text(tree_leaves(types))
    made <- made_executable(text, device, name, types)
    program <- list2env(c(list(text = text, name = name, types = types, key = key), made), parent = emptyenv())
    remember_program(program)
  }
  program
}

#' @export
print.xlaffi_jit <- function(x, ...) {
  cat("<function of R data, buffers and values, compiled by XLA>\n")
  invisible(x)
}
