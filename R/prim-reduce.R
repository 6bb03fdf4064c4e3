# The largest and smallest floating-point numbers of several devices, in which NaN is kept. XLA's CPU compiles what
# devices make of their parts, be it an all-reduce of the program or one that the partitioner writes, to `a < b ? b : a`
# from device to device, which drops NaN and with it what stood before. (For one device see prim-extremum.R.)

loses_nan <- function(node, reduction) {
  reduction %in% c("maximum", "minimum") && is_float(node$types[[1L]]@dtype)
}

# Beside the extremum it is reduced which numbers are NaN. `reduced(node, x, op)` writes a reduction of `x` into `text`
# and gives its name.
keeping_nan <- function(node, x, reduction, reduced, text) {
  flags_of <- function(type) new_type("pred", type@shape)
  flags <- list(params = node$params, inputs = lapply(node$inputs, flags_of), types = lapply(node$types, flags_of))
  extremum <- reduced(node, x, reduction)
  given <- mlir_type(node$inputs[[1L]])
  is_nan <- text$add(sprintf(
    "stablehlo.compare NE, %s, %s, FLOAT : (%s, %s) -> %s", x, x, given, given, mlir_type(flags$inputs[[1L]])
  ))
  any_nan <- reduced(flags, is_nan, "or")
  type <- node$types[[1L]]
  nan <- text$add(sprintf("stablehlo.constant %s : %s", mlir_dense(NaN, type@dtype, type@shape), mlir_type(type)))
  text$add(sprintf(
    "stablehlo.select %s, %s, %s : %s, %s", any_nan, nan, extremum, mlir_type(flags$types[[1L]]), mlir_type(type)
  ))
}

# Reductions along axes: what they start from, their text, derivatives and batches.

reductions <- c(
  reduce_add = "add", reduce_multiply = "multiply", reduce_max = "maximum", reduce_min = "minimum", reduce_and = "and",
  reduce_or = "or"
)

reduction_kinds <- c(
  reduce_add = "a number", reduce_multiply = "a number", reduce_max = "a real number", reduce_min = "a real number",
  reduce_and = "a logical or an integer", reduce_or = "a logical or an integer"
)

# The number that changes nothing
reduction_start <- function(op, x) {
  start <- function(number) filled(number, new_type(x@dtype, integer()))
  switch(reductions[[op]],
    add = start(0),
    multiply = start(1),
    and = start(TRUE),
    or = start(FALSE),
    maximum = start(lowest(x@dtype)),
    minimum = highest(x@dtype)
  )
}

# As integers of 32 and 64 bits the smallest number is what R takes for NA.
lowest <- function(dtype) {
  if (is_float(dtype)) {
    return(-Inf)
  }
  switch(dtype, pred = FALSE, i32 = NA_integer_, i64 = bit64::NA_integer64_, attribute_ranges[[dtype]][[1L]])
}

# A value, as R has no number for the largest one of 64 bits without a sign: all bits are set.
highest <- function(dtype) {
  start <- function(number) constant(number, dtype, integer(), "x")
  if (is_float(dtype)) {
    return(start(Inf))
  }
  switch(dtype,
    pred = start(TRUE),
    i64 = start(bit64::lim.integer64()[[2L]]),
    ui64 = bind("not", list(start(0)), dtype, integer()),
    start(attribute_ranges[[dtype]][[2L]])
  )
}

reduction_text <- function(node, operands, reduction) {
  sprintf(
    "stablehlo.reduce(%s init: %s) applies stablehlo.%s across dimensions = %s : %s", operands[[1L]], operands[[2L]],
    reduction, axes_text(node$params$axes), signature_text(node)
  )
}

primitive("reduce_add",
  jvp = same_on_tangents(),
  transpose = function(node, cotangents, linear) {
    shape <- node$inputs[[1L]]@shape
    list(broadcast(cotangents[[1L]], shape, setdiff(seq_along(shape), node$params$axes)), NULL)
  }
)

# The mean over elements that are the extremum, see prim-extremum-weights.R.
primitive(c("reduce_max", "reduce_min"), jvp = function(node, tangents) {
  axes <- node$params$axes
  weights <- extremum_weights(node$inputs[[1L]], output(node), axes, node$op == "reduce_max")
  list(hlo_sum(tangents[[1L]] * weights, axes))
})

# Each element has the product of all others for a slope: of those before it and those after it, as zeros do not let
# themselves be divided out.
primitive("reduce_multiply", jvp = function(node, tangents) {
  x <- node$inputs[[1L]]
  axes <- node$params$axes
  in_a_row <- function(x) {
    kept <- setdiff(seq_along(x@shape), axes)
    reshaped(transposed(x, c(kept, axes)), c(x@shape[kept], prod(x@shape[axes])))
  }
  row <- in_a_row(x)
  last <- rank_of(row)
  others <- shifted(cumulated("multiply", row, last), last, 1) *
    shifted(cumulated("multiply", row, last, reverse = TRUE), last, 1, back = TRUE)
  list(hlo_sum(in_a_row(tangents[[1L]]) * others, last))
})

#' Sums and products
#'
#' `hlo_sum()` adds up along axes. `hlo_dot()` is the general product: it multiplies elements and
#' adds up along the pairs of axes `contract`, side by side along the pairs of axes `batch`.
#' `hlo_matmul()` multiplies matrices, the last two axes, side by side along the axes before;
#' `hlo_triangular_solve()` solves `A X = B` or (`left = FALSE`) `X A = B` for a triangular A.
#'
#' @param x,y,a,b [Values][xlaffi_value], or R arrays beside a value.
#' @param axes The axes that go; `NULL` means all.
#' @param contract,batch Two vectors of axes, counted from 1: `list(<of x>, <of y>)`. The result
#'   has the batch axes, then what is left of `x`, then what is left of `y`.
#' @param left Whether A stands left of X.
#' @param lower Whether the lower triangle of `a` is A; the other one is not read.
#' @param unit_diagonal Whether the diagonal is taken to be 1, and not read.
#' @param transpose What becomes of A: `"none"`, `"transpose"` or `"adjoint"` (conjugated too).
#' @return A value. `hlo_dot()`, `hlo_matmul()` and `hlo_sum()` work in the operands' dtype.
#' @details
#' `hlo_matmul()`: `(..., m, k)` and `(..., k, n)` give `(..., m, n)`. The batch axes are equal, or
#' one side has none. A vector (k) stands for a row on the left and for a column on the right.
#' `hlo_triangular_solve()`: `a` is `(..., n, n)`, `b` `(..., n, k)` (`(..., k, n)` with
#' `left = FALSE`), of equal batch axes.
#' @section Errors:
#' Axes that are not there, and shapes or dtypes that do not fit together, are an error that shows both types.
#'
#' @examplesIf plugins_downloaded()
#' xla_jit(hlo_matmul)(matrix(1:4 / 2, 2), diag(2))
#' xla_jit(function(x) hlo_sum(x, axes = 1))(matrix(1:4 / 2, 2))
#' # Column i of one matrix times column i of another
#' columns <- function(x, y) hlo_dot(x, y, contract = list(1, 1), batch = list(2, 2))
#' xla_jit(columns)(matrix(1:4 / 2, 2), diag(2))
#' xla_jit(hlo_triangular_solve)(matrix(c(2, 1, 0, 4), 2), matrix(c(2, 9), 2))
#' @export
hlo_sum <- function(x, axes = NULL) reduced("reduce_add", x, axes, "hlo_sum")

reduced <- function(op, x, axes, shown, call = rlang::caller_env()) {
  x <- as_value(x, "x", call = call)
  if (!op %in% c("reduce_and", "reduce_or")) {
    x <- as_numbers(x)
  }
  check_kind(x, reduction_kinds[[op]], shown, "x", call)
  axes <- if (is.null(axes)) seq_along(x@shape) else sort(check_axes(axes, "axes", length(x@shape), call = call))
  if (!length(axes)) {
    return(x)
  }
  bind(op, list(x, reduction_start(op, x)), x@dtype, x@shape[-axes], list(axes = axes))
}

primitive(names(reductions),
  text = function(node, operands, scope) {
    reduction <- reductions[[node$op]]
    if (reduces_few(node, scope)) {
      return(few_reduced_text(node, operands[[1L]], scope))
    }
    is_alone <- is.null(scope$mesh)
    if (is_alone && loses_nan(node, reduction) && is_for_library(node$inputs[[1L]])) {
      return(extremum_reduction_text(node, operands, reduction, scope))
    }
    if (is_alone || !loses_nan(node, reduction)) {
      return(reduction_text(node, operands, reduction))
    }
    text <- text_lines(scope)
    false <- text$add("stablehlo.constant dense<false> : tensor<i1>")
    name <- keeping_nan(node, operands[[1L]], reduction, function(node, x, op) {
      text$add(reduction_text(node, c(x, if (op == "or") false else operands[[2L]]), op))
    }, text)
    list(names = name, lines = text$lines())
  },
  vmap = function(node, inputs, mapped, size) {
    if (mapped[[2L]]) {
      return(hooks$batch_one_by_one(node, inputs, mapped, size))
    }
    rebind_batch(node, inputs, size, list(axes = node$params$axes + 1L))
  },
  export = exported_params("axes")
)

primitive(setdiff(names(reductions), c("reduce_and", "reduce_or")),
  sparsity = function(node, given, sets, known) {
    along <- if (!is.null(given[[1L]])) sets_along(sets, given[[1L]], node$inputs[[1L]]@shape, node$params$axes)
    # What a reduction starts from is in all of its results.
    start <- if (!is.null(given[[2L]])) rep(given[[2L]], prod(node$types[[1L]]@shape))
    list(united(sets, along, start))
  }
)
