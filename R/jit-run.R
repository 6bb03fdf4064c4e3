# Calls of compiled functions: found by the signature of their arguments, run, and their results read.

# What the next call with these arguments runs; NULL where it is not known.
known_call <- function(compiled, arguments) {
  key <- .Call(wrap__signature, environment(compiled)$identity, arguments)
  call <- if (!is.null(key)) jit_state$calls[[key]]
  if (is.null(call$layout)) call
}

# Where R data come alone and one array is given, which is most often so, nothing else is looked at.
run_again <- function(call, arguments, read = call$read) {
  if (!read || !call$plain) {
    return(run_call(call, arguments, read))
  }
  outputs <- .Call(wrap__executable_call, call$program$executable, arguments, call$dtypes, call$device, TRUE, TRUE)
  if (is.list(outputs)) results_of(call, outputs, arguments, TRUE) else outputs
}

# What the function `id`, see wrap__signature, gives for arguments like those of a call before; NULL where R's own code
# has to look for the program, and while another one is being written.
run_known <- function(id, arguments) {
  result <- if (!is_tracing()) .Call(wrap__call_again, id, arguments, jit_state$known, search_state$places)
  if (typeof(result) == "pairlist") ended(result, arguments) else result
}

# What wrap__call_again needs to run a call; NULL where there is more to be done. With one array or buffer for a result
# `names` is FALSE.
known_run <- function(call) {
  more <- c(call$layout, call$terms, call$hidden, call$known_names, call$captured$reads, call$present)
  if (call$form %in% c("one", "list") && (call$all || !call$any) && !length(more)) {
    names <- if (call$form == "one") FALSE else call$names
    list(
      call$program$executable, call$dtypes, call$device, call$read, names, call$captured$variables,
      call$captured$search, call
    )
  }
}

# The end of a call that wrap__call_again has begun
ended <- function(begun, arguments, read = begun[[2L]]$read) results_of(begun[[2L]], begun[[1L]], arguments, read)

# Runs a call that was found by its signature; new_call() has what it holds. Where R data alone came, R data are given,
# or where `read` says so.
run_call <- function(call, leaves, read) {
  if (!is.null(call$layout)) {
    return(run_on_mesh(call, leaves))
  }
  executable <- call$program$executable
  arguments <- c(leaves, terms_of(call$terms, leaves), call$hidden)
  if (call$all && !read) {
    names(arguments) <- NULL
    outputs <- .Call(wrap__executable_execute, executable, arguments, NULL, TRUE, FALSE, TRUE)
  } else {
    # Without buffers beside them doubles and integers keep their own dtypes.
    for (i in if (!read) which(!call$buffers)) {
      representable(leaves[[i]], call$dtypes[[i]], call$labels[[i]])
    }
    outputs <- .Call(wrap__executable_call, executable, arguments, call$dtypes, call$device, read, FALSE)
  }
  results_of(call, outputs, leaves, read)
}

# What a run gave, in the function's form
results_of <- function(call, outputs, leaves, read) {
  if (is.object(outputs)) {
    outputs <- finish(about_argument(outputs, call, leaves), NULL)
  }
  # What was not there at once came as buffers.
  if (read && length(outputs) && typeof(outputs[[1L]]) == "externalptr") {
    outputs <- read_results(outputs, leaves)
  }
  in_form(call, outputs, leaves)
}

# An argument: logicals and integers have no NA, and one number, which takes the dtype of buffers beside it, does not
# become infinite in that.
representable <- function(x, dtype, label) {
  problem <- if (inherits(x, "xlaffi_buffer")) {
    if (buffer_info(x)$has_na) sprintf("is a buffer of data with NA, which %s cannot hold", dtype)
  } else {
    na_problem(x, dtype)
  }
  hint <- if (!is.null(problem)) na_hint(x)
  if (is.null(problem) && is.numeric(x) && length(x) == 1L && !is_integer64(x) && any(beyond_range(x, dtype))) {
    problem <- sprintf("is a number that dtype %s cannot hold: %s", dtype, format(x))
  }
  if (!is.null(problem)) {
    abort(sprintf("argument %s %s", label, problem), operand = gsub("`", "", label), hint = hint, call = NULL)
  }
  x
}

# The glue knows the number of an argument that it refuses, and not its name.
about_argument <- function(failure, call, leaves) {
  number <- if (inherits(failure, "xlaffi_failure")) failure$operand
  if (length(number) && grepl("^[0-9]+$", number) && endsWith(failure$message, "cannot hold")) {
    label <- call$labels[[as.integer(number)]]
    failure$message <- sub("^argument [0-9]+", paste("argument", label), failure$message)
    failure$operand <- gsub("`", "", label)
    failure$hint <- na_hint(leaves[[as.integer(number)]])
  }
  failure
}

in_form <- function(call, outputs, leaves) {
  if (!is.null(call$present)) {
    return(call$present(tree_fill(call$results, outputs), leaves, call))
  }
  switch(call$form,
    one = outputs[[1L]],
    list = `names<-`(outputs, call$names),
    none = invisible(),
    sparse = with_matrices(tree_fill(call$results, outputs)),
    tree_fill(call$results, outputs)
  )
}

# As the glue's executable_call() does: what has one axis is a vector, unless an argument is an array of one.
read_results <- function(buffers, arguments) {
  arrays <- lapply(buffers, as_array)
  data <- Filter(function(x) typeof(x) != "externalptr", arguments)
  if (any(lengths(lapply(data, dim)) == 1L)) {
    return(arrays)
  }
  lapply(arrays, function(x) {
    if (length(dim(x)) == 1L) dim(x) <- NULL
    x
  })
}

# The first call with a signature, and every call with nested lists or values.
run_new <- function(self, arguments, env) {
  arguments <- tree_map(arguments, program_data)
  leaves <- as.list(tree_leaves(arguments))
  buffers <- are_buffers(leaves)
  if (is_part(leaves, buffers)) {
    return(inlined(self, arguments, env))
  }
  if (!isTRUE(.Call(wrap__identity_is_here, self$identity))) {
    self$identity <- .Call(wrap__identity_new)
  }
  types <- argument_types(arguments, env)
  placed <- placed_arguments(self$f, self$shardings, arguments, types, env)
  device <- if (!is.null(placed)) {
    placed$mesh$devices[[1L]]
  } else if (any(buffers)) {
    device(leaves[[which(buffers)[[1L]]]])
  } else {
    synchronous_device()
  }
  key <- .Call(wrap__signature, self$identity, arguments)
  if (is.null(key)) {
    # R has a limit on the length of names in an environment.
    place <- if (is.null(placed)) device_key(device) else list(placed$mesh$key, placed$inputs)
    kinds <- rlang::hash(list(plain_skeleton(types), buffers, place))
    key <- paste("hash", .Call(wrap__identity_text, self$identity), kinds)
  }
  call <- jit_state$calls[[key]]
  if (is.null(call) || changed(call$captured) || !same_names(call, leaves)) {
    # Before `f` runs: what it changes itself is its own affair.
    captured <- captured_variables(self$uses)
    types <- adapted(types, leaves, buffers)
    fixed <- if (!is.null(self$varies)) buffers & !seq_along(leaves) %in% self$varies
    call <- lasting_call(self, types, device, leaves, placed, fixed, function() {
      with_session_reads(new_call(
        self$f, types, device, self$name, self$exact, placed, self$shardings, leaves, fixed = fixed
      ))
    })
    call$buffers <- buffers
    call$any <- any(buffers)
    call$all <- all(buffers)
    call$read <- !call$any && is.null(call$present)
    call$plain <- is.null(call$layout) && is.null(call$present) && is.null(call$terms) && !length(call$hidden) &&
      identical(call$form, "one")
    call$captured <- watched(captured, call$session)
    remember_call(call, key)
  }
  run_again(call, leaves)
}

are_buffers <- function(leaves) vapply(leaves, inherits, NA, what = c("xlaffi_buffer", "xlaffi_sharded"))

# Whether a call with these arguments belongs to the program that is being written.
is_part <- function(leaves, buffers) {
  any_of_class(leaves, c("xlaffi_value", "xlaffi_type")) || (is_tracing() && !any(buffers))
}

any_of_class <- function(leaves, class) any(vapply(leaves, inherits, NA, what = class))
