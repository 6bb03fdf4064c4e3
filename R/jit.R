#' Compile a function of values
#'
#' `xla_jit(f)` gives a function that writes `f` down as a StableHLO program, compiles it and runs
#' it. It is traced and compiled once per signature: the dtypes and shapes of the arguments.
#'
#' @details
#' R data are passed on in R's own precision: doubles as `f64`, integers `i32`, logicals `pred`,
#' complex numbers `c128`. A vector without dimensions has shape (n). With R data alone the
#' results are R arrays; with a buffer among the arguments they are buffers; with a
#' [value][xlaffi_value] they are values: inside another such function, `f` is written out (also when its
#' arguments there are R data alone).
#'
#' Arguments may be lists of data. Everything else that `f` uses is taken as it is while the program is
#' written: R's `if` and `for` decide then what the program contains.
#'
#' The program runs on the device of the first buffer, or on the default one.
#'
#' @param f A function of [values][xlaffi_value] that gives a value or a (named) list of values.
#' @return A function of R data, buffers or values.
#' @seealso [ffi_program()] shows the program, [ffi_cache()] what is compiled; [ffi_op()],
#'   [ffi_jvp()], [ffi_vjp()].
#' @examplesIf plugins_downloaded()
#' norm <- xla_jit(function(x) sqrt(sum(x^2)))
#' norm(c(3, 4))
#' norm(pjrt_buffer(c(3, 4), "f32"))
#' @export
xla_jit <- function(f) {
  if (!is.function(f)) {
    abort(sprintf("`f` must be a function, not %s", describe(f)), operand = "f")
  }
  new_jit(f, "function")
}

# `name` is what ffi_cache() calls it.
new_jit <- function(f, name) {
  the$jit_count <- the$jit_count + 1
  id <- sprintf("%.0f", the$jit_count)
  compiled <- function(...) {
    arguments <- list(...)
    # While a program is being written, this becomes a part of it.
    key <- if (!length(the$traces)) .Call(wrap__signature, id, arguments)
    call <- if (!is.null(key)) the$calls[[key]]
    if (is.null(call)) {
      return(run_new(f, name, id, key, arguments, rlang::current_env()))
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

# Runs a function that was found by its signature. `call` has `program`; `buffers`, which
# of the arguments are buffers; `dtypes`, those of the others.
run_call <- function(call, leaves) {
  program <- call$program
  if (!call$any) {
    outputs <- .Call(wrap__executable_call, program$executable, leaves, call$dtypes, call$device)
  } else {
    if (call$all) {
      names(leaves) <- NULL
    } else {
      leaves <- lapply(seq_along(leaves), function(i) {
        if (call$buffers[[i]]) leaves[[i]] else pjrt_buffer(leaves[[i]], call$dtypes[[i]], call$device)
      })
    }
    outputs <- .Call(wrap__executable_execute, program$executable, leaves, NULL, TRUE)
  }
  if (is.object(outputs)) {
    outputs <- finish(outputs, NULL)
  }
  # What was not there at once came as buffers.
  if (!call$any && length(outputs) && typeof(outputs[[1L]]) == "externalptr") {
    outputs <- lapply(outputs, as_array)
  }
  switch(program$form,
    one = outputs[[1L]],
    list = `names<-`(outputs, program$names),
    tree_fill(program$results, outputs)
  )
}

# The first call with a signature, and every call with nested lists or values. Under `key`, if
# there is one, it is found at once the next time.
run_new <- function(f, name, id, key, arguments, env) {
  leaves <- as.list(tree_leaves(arguments))
  buffers <- vapply(leaves, inherits, NA, what = "xlaffi_buffer")
  if (any_of_class(leaves, c("xlaffi_value", "xlaffi_type")) || (length(the$traces) && !any(buffers))) {
    names <- rlang::names2(arguments)
    names[!nzchar(names)] <- which(!nzchar(names))
    return(do.call("f", Map(function(argument, name) tree_map(argument, as_value, name, call = env), arguments, names)))
  }
  types <- argument_types(arguments, env)
  device <- if (any(buffers)) device(leaves[[which(buffers)[[1L]]]]) else default_device()
  signature <- paste(id, format(device), signature_key(types))
  program <- the$programs[[signature]]
  if (is.null(program)) {
    program <- compile_function(f, types, device)
    program$name <- name
    program$signature <- signature
    remember_program(program)
  }
  the$clock <- the$clock + 1
  program$used <- the$clock
  call <- list(
    program = program, buffers = buffers, any = any(buffers), all = all(buffers), device = device,
    dtypes = lapply(tree_leaves(types), function(type) type$dtype)
  )
  if (!is.null(key)) {
    remember_call(call, key)
  }
  run_call(call, leaves)
}

any_of_class <- function(leaves, class) any(vapply(leaves, inherits, NA, what = class))

# Names, dtypes and shapes of the arguments.
signature_key <- function(types) {
  leaves <- vapply(tree_leaves(types), type_text, "")
  key <- paste(c(leaves, deparse(tree_map(types, function(type) 0))), collapse = " ")
  # R has a limit on the length of names in an environment.
  if (nchar(key) > 5000L) rlang::hash(key) else key
}

compile_function <- function(f, types, device) {
  traced <- trace_program(f, types, platform(device))
  results <- traced$results
  flat <- is_branch(results) && all(vapply(results, inherits, NA, what = "xlaffi_type"))
  program <- list2env(traced, parent = emptyenv())
  program$types <- types_text(tree_leaves(types))
  program$executable <- pjrt_compile(pjrt_program(traced$text), device = device)
  program$form <- if (inherits(results, "xlaffi_type")) "one" else if (flat) "list" else "tree"
  program$names <- names(results)
  program
}

#' @export
print.xlaffi_jit <- function(x, ...) {
  cat("<function of R data, buffers and values, compiled by XLA>\n")
  invisible(x)
}
