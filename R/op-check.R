#' Check an op's rules
#'
#' Compares what an op or a function of [values][xlaffi_value] says of itself with what it does: derivatives with
#' finite differences and with each other, transposes, batches with loops, at a random point.
#'
#' @details
#' What is checked, in each of `dtypes`:
#' * `value`: two runs give the same, of the dtypes and shapes that were promised. NaN and infinities are reported; they
#'   are left out of the rest.
#' * `jvp`: forward mode against central differences, one argument at a time, then all at once.
#' * `vjp`: reverse mode against forward mode, or against differences where there is no forward mode, for all results
#'   and for each alone.
#' * `transpose`: an op's `transpose` rule, for the arguments in which the op turns out to be linear.
#' * `second order`: the same for the gradient, on request.
#' * `vmap`: batches against a loop over their elements, with each argument mapped, and with all; also of `vjp`.
#'
#' Differences are taken with three steps, of which the best counts, since what is right for one function is too long or
#' too short for another. An error is relative to the largest number of what it is an error of. What has no rule is
#' reported, and does not count as wrong. Where a derivative is wrong and one-sided differences differ, the point may be
#' one without a derivative, and that is reported too.
#'
#' Every program is compiled, so a check takes seconds. R's random numbers go on as if nothing had been.
#'
#' @param op An op ([ffi_op()], [ffi_call()] and their kin) or another function of values.
#' @param ... Its arguments, in order or by name: types ([ffi_type()]), for random numbers from a normal
#'   distribution (integers from 1 to 3), or examples, which are the point itself. Lists of them as `op` takes.
#'   Attributes of [ffi_source()] and its kin by name. Other options go into a function:
#'   `ffi_check(function(x) f(x, lower = TRUE), x)`.
#' @param dtypes The floating-point types in which examples that are R data are passed on. Those that `op` does not take
#'   are reported, if it takes another one. Types and buffers have their own.
#' @param second_order Whether the gradient's derivatives are checked.
#' @param batch How many elements batches have. The first one is the point.
#' @param seed For the random numbers.
#' @param tolerance What is allowed against differences; `NULL` means 1e-6 in f64, 0.01 in f32 and 0.1 in
#'   shorter types. Exact comparisons are allowed the square root of the type's precision.
#' @param stop_on_failure Whether what is wrong is an error, of class `xlaffi_error_data_loss`.
#' @return An object of class `xlaffi_check` that prints as a table, with the fields `ok` (whether nothing is
#'   wrong) and `table`, a data frame: `dtype`, `check`, `error`, `tolerance`, `ok` (NA for what was not possible) and
#'   `note`.
#' @seealso [ffi_op()] for the rules.
#' @examplesIf plugins_downloaded()
#' cube <- ffi_op(function(x) x * x * x,
#'   jvp = function(primals, results, tangents) 2 * primals$x^2 * tangents$x, name = "cube"
#' )
#' ffi_check(cube, c(1, 2))
#' ffi_check(hlo_atan2, y = ffi_type("f64", 3), x = ffi_type("f64", 3))$ok
#' @export
ffi_check <- function(op, ..., dtypes = c("f64", "f32"), second_order = FALSE, batch = 3, seed = 1, tolerance = NULL,
                      stop_on_failure = FALSE) {
  check_function(op, "op")
  check_flag(second_order, "second_order")
  check_flag(stop_on_failure, "stop_on_failure")
  check_number(batch, "batch", 1)
  check_number(seed, "seed", -.Machine$integer.max)
  if (!is.null(tolerance)) {
    check_number(tolerance, "tolerance", 0)
  }
  dtypes <- unique(vapply(dtypes, check_dtype, "", "dtypes", USE.NAMES = FALSE))
  if (!length(dtypes) || !all(is_float(dtypes))) {
    abort("`dtypes` must be floating-point types", operand = "dtypes")
  }
  arguments <- list(...)
  if (inherits(op, "xlaffi_own_op")) {
    given <- own_given(attr(op, "op")$own, arguments)
    arguments <- given$operands
    op <- with_attributes(op, given$attributes)
  } else {
    arguments <- arranged(op, arguments)
  }
  if (!length(tree_leaves(arguments))) {
    abort("there are no arguments to check `op` with", operand = "...")
  }
  own <- argument_types(arguments)
  runs <- unique(lapply(dtypes, function(dtype) types_in(arguments, own, dtype)))
  name <- if (inherits(op, "xlaffi_op")) attr(op, "op")$name else "function"
  options <- list(second_order = second_order, batch = batch, tolerance = tolerance)
  tables <- lapply(runs, function(types) with_seed(seed, function() check_at(op, arguments, types, options)))
  result <- new_check(name, tables)
  if (stop_on_failure && !result$ok) {
    wrong <- result$table[result$table$ok %in% FALSE, ]
    abort(sprintf("%s: %d of %d checks fail", name, nrow(wrong), nrow(result$table)), "DATA_LOSS",
      op = name, hint = trimws(sprintf("%s, %s: error %.2g  %s", wrong$dtype, wrong$check, wrong$error, wrong$note))
    )
  }
  result
}

# What cannot run in one precision is no fault where it can in another.
new_check <- function(name, tables) {
  fails <- vapply(tables, function(table) nrow(table) == 1L && table$ok %in% FALSE, NA)
  if (!all(fails)) {
    tables[fails] <- lapply(tables[fails], function(table) {
      table$ok <- NA
      table
    })
  }
  table <- do.call(rbind, tables)
  rownames(table) <- NULL
  structure(list(op = name, ok = !any(table$ok %in% FALSE), table = table), class = "xlaffi_check")
}

#' @export
print.xlaffi_check <- function(x, ...) {
  check_print_dots(...)
  table <- x$table
  words <- ifelse(is.na(table$ok), "-", ifelse(table$ok, "yes", "NO"))
  number <- function(x) ifelse(is.na(x), "", sprintf("%.2g", x))
  columns <- list(
    dtype = table$dtype, check = table$check, error = number(table$error), allowed = number(table$tolerance), ok = words
  )
  lines <- do.call(paste, c(Map(function(column, name) format(c(name, column)), columns, names(columns)), sep = "  "))
  wrong <- sum(table$ok %in% FALSE)
  cat(sprintf("<check of %s: %s>\n", x$op, if (wrong) sprintf("%d of %d fail", wrong, nrow(table)) else "all is well"))
  cat(trimws(paste0(lines, "  ", c("", table$note)), "right"), sep = "\n")
  invisible(x)
}

# An op as a function of its operands, with the rules for these attributes
with_attributes <- function(op, attributes) {
  variant <- own_variant(attr(op, "op")$own, new.env(parent = emptyenv()), attributes, NULL)
  f <- function(...) do.call(op, c(list(...), attributes))
  structure(f, class = c("xlaffi_op", "function"), op = attr(variant, "op"))
}

check_number <- function(x, name, from, call = rlang::caller_env()) {
  if (!is.numeric(x) || length(x) != 1L || is.na(x) || x < from) {
    abort(sprintf("`%s` must be a number from %s, not %s", name, format(from), describe(x)),
      operand = name, call = call
    )
  }
}

# `f()` with random numbers from `seed`; those of the session stay where they were.
with_seed <- function(seed, f) {
  kinds <- RNGkind()
  state <- globalenv()$.Random.seed
  on.exit({
    # R warns of the kind of sampling that was its own up to 3.5.
    suppressWarnings(do.call(RNGkind, as.list(kinds)))
    if (is.null(state)) rm(".Random.seed", envir = globalenv()) else assign(".Random.seed", state, globalenv())
  })
  set.seed(seed, "Mersenne-Twister", "Inversion", "Rejection")
  f()
}
