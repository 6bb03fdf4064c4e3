#' Sorting and searching
#'
#' `hlo_top_k()` gives the `k` largest elements along the last axis, the largest first, and where they are;
#' `hlo_searchsorted()` how many elements of a sorted vector come before each of `x`. [sort()], [order()], [rank()] and
#' [findInterval()] take values too, see [xlaffi_value].
#'
#' @details
#' Sorting is stable. NaN comes last, in descending order too, so that `hlo_top_k()` gives it only where there are
#' fewer than `k` numbers. Derivatives are those of the elements, wherever they come from; positions have none.
#'
#' @param x A [value][xlaffi_value] of real numbers.
#' @param k How many.
#' @param sorted A vector in ascending order. That it is in order is not checked.
#' @param right Whether elements of `sorted` that are equal to one of `x` come before it.
#' @return `hlo_top_k()`: `list(values = , indices = )` of shape `(..., k)`, the indices i32 and counted from 1.
#'   `hlo_searchsorted()`: i32, of the shape of `x`.
#' @section Errors:
#' More elements than there are, complex numbers, and a `sorted` that is no vector are an error.
#'
#' @examplesIf plugins_downloaded()
#' xla_jit(function(x) hlo_top_k(x, 2))(c(3, 1, 4, 1, 5))
#' xla_jit(function(x) hlo_searchsorted(c(1, 2, 3), x))(c(0.5, 2, 9))
#' @export
hlo_top_k <- function(x, k) {
  x <- as_value(x, "x")
  check_kind(x, "a real number", "hlo_top_k", "x", environment())
  rank <- length(x@shape)
  k <- check_count(k, "k", environment(), whole = TRUE)
  if (!rank || k > x@shape[[rank]]) {
    abort(sprintf("hlo_top_k: there are no %d elements along the last axis of `x`, which is %s", k, type_text(x)),
      op = "hlo_top_k", operand = "k"
    )
  }
  found <- lapply(sorted_along(x, decreasing = TRUE), function(part) taken(part, seq_len(k), rank))
  list(values = found[[1L]], indices = found[[2L]] + 1L)
}

overload("hlo_top_k", "xlaffi", hlo_top_k, "own", topic = "Sorting", dtypes = "real")

#' @rdname hlo_top_k
#' @export
hlo_searchsorted <- function(sorted, x, right = FALSE) {
  check_given(sorted, x)
  check_flag(right, "right")
  both <- common(list(sorted, x), "hlo_searchsorted", c("sorted", "x"))
  check_kind(both[[1L]], "a real number", "hlo_searchsorted", "sorted", environment())
  if (length(both[[1L]]@shape) != 1L) {
    abort(sprintf("hlo_searchsorted: `sorted` must be a vector, not %s", type_text(both[[1L]])),
      op = "hlo_searchsorted", operand = "sorted"
    )
  }
  sorted <- both[[1L]]
  x <- as_rows(both[[2L]])
  found <- count_before(sorted, x, right)
  if (is_float(x@dtype)) {
    # NaN comes last: after all numbers, and equal to NaN.
    numbers <- if (right) length(sorted) else hlo_sum(as_numbers(compared(sorted, sorted, "EQ", "hlo_searchsorted")))
    numbers <- if (right) filled(numbers, found) else broadcast(numbers, x@shape, integer())
    found <- selected(compared(x, x, "NE", "hlo_searchsorted"), numbers, found)
  }
  reshaped(found, both[[2L]]@shape)
}

overload("hlo_searchsorted", "xlaffi", hlo_searchsorted, "own", topic = "Sorting", dtypes = "real", derivative = "none")

as_rows <- function(x) reshaped(x, as.integer(length(x)))

# How many elements of `sorted` are less than each of `x` (or equal, if `right`), both of rank 1: a binary search of
# all at once.
count_before <- function(sorted, x, right) {
  size <- length(sorted)
  found <- constant(0L, "i32", x@shape, "x")
  if (!size || !length(x)) {
    return(found)
  }
  i32 <- function(op, x, y) bind(op, list(x, y), "i32", x@shape)
  for (step in 2^rev(seq(0, floor(log2(size))))) {
    next_one <- i32("add", found, filled(as.integer(step), found))
    last <- filled(size, found)
    at <- i32("subtract", i32("minimum", next_one, last), filled(1L, found))
    before <- compared(gathered(sorted, at, 1L), x, if (right) "LE" else "LT", "hlo_searchsorted")
    within <- compared(next_one, last, "LE", "hlo_searchsorted")
    found <- selected(bind("and", list(before, within), "pred", x@shape), next_one, found)
  }
  found
}

# The elements along the last axis in order, and their positions, counted from 0.
sorted_along <- function(x, decreasing = FALSE, nan_first = FALSE) {
  rank <- length(x@shape)
  if (!length(x)) {
    return(list(x, constant(0L, "i32", x@shape, "x")))
  }
  positions <- hlo_iota("i32", x@shape, rank)
  types <- list(type_of(x), type_of(positions))
  node_values(new_node("sort", list(x, positions), types, list(decreasing = decreasing, nan_first = nan_first)))
}

sort_text <- function(node, operands, scope) {
  p <- node$params
  rank <- length(node$types[[1L]]@shape)
  dtype <- node$types[[1L]]@dtype
  scalars <- vapply(node$types, function(type) mlir_type(new_type(type@dtype, integer())), "")
  name <- function(what) sprintf("%%sort%d_%s", scope$count$values, what)
  both <- sprintf("(%s, %s) -> tensor<i1>", scalars[[1L]], scalars[[1L]])
  kind <- comparison_kind(dtype)
  line <- function(result, direction, x, y) {
    sprintf("%s = stablehlo.compare %s, %s, %s, %s : %s", name(result), direction, name(x), name(y), kind, both)
  }
  logical <- function(result, op, ...) {
    sprintf("%s = stablehlo.%s %s : tensor<i1>", name(result), op, toString(vapply(c(...), name, "")))
  }
  # NaN stands on one side of all numbers.
  nan <- if (p$nan_first) c("x", "y") else c("y", "x")
  lines <- c(
    line("less", if (p$decreasing) "GT" else "LT", "x", "y"),
    if (is_float(dtype)) {
      c(
        line("nan", "NE", nan[[1L]], nan[[1L]]), line("number", "EQ", nan[[2L]], nan[[2L]]),
        logical("apart", "and", "nan", "number"), logical("before", "or", "less", "apart")
      )
    },
    sprintf("stablehlo.return %s : tensor<i1>", name(if (is_float(dtype)) "before" else "less"))
  )
  c(
    sprintf("\"stablehlo.sort\"(%s) <{dimension = %d : i64, is_stable = true}> ({", toString(operands), rank - 1L),
    sprintf(
      "%s^bb0(%s: %s, %s: %s, %s: %s, %s: %s):", scope$indent, name("x"), scalars[[1L]], name("y"), scalars[[1L]],
      name("i"), scalars[[2L]], name("j"), scalars[[2L]]
    ),
    paste0(scope$indent, "  ", lines),
    sprintf("%s}) : %s", scope$indent, signature_text(node))
  )
}

primitive("sort",
  text = sort_text,
  # The elements change where they come from.
  jvp = function(node, tangents) {
    rank <- length(node$types[[1L]]@shape)
    list(gathered(tangents[[1L]], new_value(node, 2L), rank, rank - 1L), NULL)
  },
  vmap = function(node, inputs, mapped, size) {
    x <- in_front(inputs[[1L]], mapped[[1L]], size)
    sorted_along(x, node$params$decreasing, node$params$nan_first)
  },
  export = exported_params("decreasing", "nan_first"),
  sparsity = function(node, given, sets, known) {
    shape <- node$inputs[[1L]]@shape
    list(sets_spread(sets, given[[1L]], shape, length(shape)), NULL)
  }
)
