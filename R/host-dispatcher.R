#' Run programs from a cache
#'
#' A dispatcher keeps compiled programs by what their arguments look like, and compiles by a
#' function of the caller's where it has none. It is made for packages that trace R functions, such
#' as anvl; [xla_jit()] needs none.
#'
#' @details
#' `dispatch()` flattens the arguments ([flatten()]) and sorts the leaves:
#' * leaves below an argument named in `static` are constants of the program and compared with
#'   `identical()`, numbers bit by bit;
#' * an object of class `AnvlArray`, a list whose element `data` is a buffer, counts by dtype,
#'   shape and its element `ambiguous`. Its element `backend` must be the dispatcher's;
#' * a logical, integer or double number without `NA`, or an array of such, counts by its type and
#'   shape and is uploaded as [pjrt_buffer()] would do it.
#'
#' Everything else is an error that names the argument. Arrays must be on one device, which is a
#' part of the key as well; `default_device` gives it where there is no array. With
#' `move_inputs = TRUE` the device is that of the compiled program and arrays are copied there.
#'
#' `compile` gets a list: `args`, `in_tree` (their tree), `leaves`, `is_static` (a logical for each
#' leaf), `avals` (for each leaf `NULL` or a list of `dtype`, a string with `"bool"` for `pred`,
#' `shape` and `ambiguous`) and `default_device` (`NULL` where an array has one). It returns a list:
#' * `exec`: an executable, `client` and `device`: what it is compiled for;
#' * `out_tree` and `out_avals`: the tree of the results, and a list of `dtype`, `shape` and
#'   perhaps `ambiguous` for each leaf. Results come as objects of class `AnvlArray`;
#' * `const_arrays`, perhaps: buffers that go before the arguments;
#' * `phantom_specs`, perhaps: lists of `dtype` and `shape` of buffers without contents that go
#'   after the arguments, for results to be written to.
#'
#' For any other `backend` than `"pjrt"`, `extractor(leaf)` tells what an array is, by a list of
#' `aval`, `device` and `backend`, and `compile` returns a list with a function `r_fun`, which is
#' called with the list of the leaves that are not static (of arrays: their `data`) and whose value
#' is the result.
#'
#' @param capacity How many programs are kept; the one unused longest goes first.
#' @param compile A function of one argument that is called when there is no program, see below.
#' @param static Names of arguments.
#' @param backend What the arrays' element `backend` says.
#' @param move_inputs Whether arrays may be on any device, see below.
#' @param default_device A function without arguments that returns a device. It may be missing with
#'   `move_inputs = TRUE`.
#' @param extractor A function of one argument, see below.
#' @param dispatcher A dispatcher.
#' @param args A list: the arguments of the call.
#' @return `dispatcher()` an object of class `xlaffi_dispatcher`, `dispatch()` the results of the
#'   program, `dispatcher_size()` how many programs are kept.
#' @examplesIf plugins_downloaded()
#' device <- pjrt_device("cpu")
#' double <- dispatcher(10, function(info) {
#'   type <- sprintf("tensor<%sf32>", paste0(info$avals[[1]]$shape, "x", collapse = ""))
#'   exec <- pjrt_compile(pjrt_program(gsub("T", type, fixed = TRUE, "
#'     func.func @main(%x: T) -> T { %r = stablehlo.add %x, %x : T return %r : T }
#'   ")))
#'   list(
#'     exec = exec, client = pjrt_client("cpu"), device = device, out_tree = info$in_tree,
#'     out_avals = info$avals
#'   )
#' }, default_device = function() device)
#' dispatch(double, list(x = array(c(1, 2, 3))))$x$data
#' dispatcher_size(double)
#' @export
dispatcher <- function(capacity, compile, static = character(), backend = "pjrt",
                       move_inputs = FALSE, default_device = NULL, extractor = NULL) {
  whole <- is.numeric(capacity) && length(capacity) == 1L && !is.na(capacity) && capacity == trunc(capacity)
  if (!whole || capacity < 1) {
    abort(sprintf("`capacity` must be a whole number from 1, not %s", describe(capacity)), operand = "capacity")
  }
  check_function(compile, "compile")
  check_names(static, "static")
  check_string(backend, "backend")
  check_flag(move_inputs, "move_inputs")
  if (!is.null(default_device)) {
    check_function(default_device, "default_device")
  } else if (!move_inputs) {
    abort("`default_device` is required unless `move_inputs = TRUE`", operand = "default_device")
  }
  if (!is.null(extractor)) {
    check_function(extractor, "extractor")
  } else if (backend != "pjrt") {
    abort("`extractor` is required for a non-\"pjrt\" backend", operand = "extractor")
  }
  self <- list2env(list(
    capacity = capacity, compile = compile, static = static, backend = backend,
    move_inputs = move_inputs, default_device = default_device, extractor = extractor,
    entries = new.env(parent = emptyenv()), devices = list(), count = 0, clock = 0
  ), parent = emptyenv())
  structure(self, class = "xlaffi_dispatcher")
}

#' @rdname dispatcher
#' @export
dispatch <- function(dispatcher, args) {
  check_dispatcher(dispatcher)
  if (!is_branch(args)) {
    abort(sprintf("`args` must be a list, not %s", describe(args)), operand = "args")
  }
  tree <- build_tree(args)
  leaves <- tree_leaves(args)
  inputs <- read_inputs(dispatcher, tree, leaves)
  key <- list(
    tree = skeleton_of(tree), avals = inputs$avals, static = leaves[inputs$is_static],
    device = inputs$device
  )
  entry <- find_entry(dispatcher, key)
  if (is.null(entry)) {
    compiled <- dispatcher$compile(list(
      args = args, in_tree = tree, leaves = leaves, is_static = inputs$is_static,
      avals = inputs$avals, default_device = inputs$default_device
    ))
    run <- if (dispatcher$backend == "pjrt") pjrt_runner(compiled, dispatcher) else closure_runner(compiled)
    entry <- keep_entry(dispatcher, key, run)
  }
  entry$run(inputs$values)
}

#' @rdname dispatcher
#' @export
dispatcher_size <- function(dispatcher) {
  check_dispatcher(dispatcher)
  as.integer(dispatcher$count)
}

#' @export
print.xlaffi_dispatcher <- function(x, ...) {
  check_print_dots(...)
  cat("<Dispatcher>\n")
  invisible(x)
}

check_dispatcher <- function(x, call = rlang::caller_env()) {
  check_not_missing(x, "dispatcher", call)
  if (!inherits(x, "xlaffi_dispatcher") || !is.environment(x)) {
    abort(sprintf("expected a `Dispatcher` made by dispatcher(), not %s", describe(x)),
      operand = "dispatcher", hint = foreign_hint(x), call = call
    )
  }
}

# Entries lie in buckets by what is quickly written down; in a bucket the keys are compared.
# Numbers are compared as bits: bit64's NA is -0, and its other values may look like NaN.
bucket_of <- function(key) {
  types <- vapply(key$avals, function(aval) {
    if (is.null(aval)) "." else paste(c(aval$dtype, aval$shape, aval$ambiguous), collapse = ",")
  }, "")
  paste(c(key$device, types, ""), collapse = ";")
}

find_entry <- function(self, key) {
  for (entry in self$entries[[bucket_of(key)]]) {
    if (identical(entry$key, key, num.eq = FALSE, single.NA = FALSE)) {
      entry$used <- self$clock <- self$clock + 1
      return(entry)
    }
  }
}

keep_entry <- function(self, key, run) {
  if (self$count >= self$capacity) {
    drop_oldest(self)
  }
  bucket <- bucket_of(key)
  self$clock <- self$clock + 1
  entry <- list2env(list(key = key, run = run, used = self$clock), parent = emptyenv())
  self$entries[[bucket]] <- c(self$entries[[bucket]], entry)
  self$count <- self$count + 1
  entry
}

drop_oldest <- function(self) {
  used <- lapply(as.list(self$entries), function(bucket) vapply(bucket, function(entry) entry$used, 0))
  name <- names(used)[[which.min(vapply(used, min, 0))]]
  left <- self$entries[[name]][-which.min(used[[name]])]
  if (length(left)) {
    self$entries[[name]] <- left
  } else {
    rm(list = name, envir = self$entries)
  }
  self$count <- self$count - 1
}
