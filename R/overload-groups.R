# Groups of elements or rows that R knows: tapply(), ave(), rowsum().

# The numbers of the groups from 1, and how many there are; each element has one.
numbered <- function(group, size, shown, name, call) {
  refuse <- function(problem, hint = NULL) {
    abort(sprintf("%s: `%s` %s", shown, name, problem),
      op = sub("()", "", shown, fixed = TRUE), operand = name, hint = hint, call = call
    )
  }
  if (!(is.atomic(group) || is.factor(group)) || length(group) != size) {
    what <- if (is.atomic(group) || is.factor(group)) sprintf("one with %d", length(group)) else describe(group)
    hint <- if (is_value(group)) "Arguments are values; what the function finds outside of itself is R's."
    refuse(sprintf("must be a vector or factor of R's with %d elements, not %s", size, what), hint)
  }
  if (anyNA(group)) {
    refuse("must not have NA")
  }
  group <- droplevels(as.factor(group))
  list(at = as.integer(group), count = nlevels(group))
}

# Sums over the groups of the first axis, in R's order of additions; of integers they are NA where R's have no place.
group_sums <- function(x, groups) {
  integers <- x@dtype == "i32"
  if (integers) x <- converted(x, "i64")
  none <- constant(0, x@dtype, c(groups$count, x@shape[-1L]), "x")
  sums <- scattered("add", none, hlo_constant(groups$at - 1L), x, 1L)
  if (integers) r_integers(sums, !r_integer_range(sums)) else sums
}

group_means <- function(x, groups) {
  sums <- group_sums(x, groups)
  counts <- constant(as.double(tabulate(groups$at, groups$count)), x@dtype, groups$count, "group")
  sums / (if (rank_of(sums) > 1L) broadcast(counts, sums@shape, 1L) else counts)
}

# sum() and mean() of all groups at once; NULL for other functions. `f` is as called_function() gives it.
grouped_at_once <- function(x, groups, f) {
  is_function <- function(known) identical(f, known) || identical(f, patch_of(known))
  if (is_function(base::sum)) {
    x <- as_numbers(x)
    check_kind(x, "a number", "sum()", "x", NULL)
    group_sums(x, groups)
  } else if (is_function(base::mean)) {
    group_means(mean_operand(x, "mean()", NULL), groups)
  }
}

element_overload("tapply", function(X, INDEX, FUN = NULL, ..., default = NA, simplify = TRUE) {
  call <- method_call("tapply")
  if (is.null(FUN) || !(is.atomic(INDEX) || is.factor(INDEX))) {
    abort("tapply(): `INDEX` must be one vector or factor of R's, and `FUN` a function", operand = "INDEX", call = call)
  }
  group <- droplevels(as.factor(INDEX))
  if (nlevels(group) != nlevels(as.factor(INDEX)) || length(group) != length(X)) {
    abort("tapply(): `INDEX` must have an element for each of `X`, and no empty levels", operand = "INDEX", call = call)
  }
  column <- as_column(as_value(X, "X", call = call))
  f <- called_function(FUN)
  if (simplify && ...length() == 0L && !anyNA(group)) {
    at_once <- grouped_at_once(column, numbered(group, length(column), "tapply()", "INDEX", call), f)
    if (!is.null(at_once)) {
      return(at_once)
    }
  }
  answer <- lapply(split(seq_along(group), group), function(positions) f(taken(column, positions, 1L), ...))
  if (simplify && all(lengths(answer) == 1L)) simplified(unname(answer), FALSE, "tapply()", call) else answer
}, differs = "One factor, whose levels all occur. Names are dropped.")

overload("ave", "stats", function(x, ..., FUN = mean) {
  call <- method_call("ave")
  f <- called_function(FUN)
  x <- as_value(x, "x", call = call)
  given <- list(...)
  if (has_values(given)) {
    abort("ave(): groups must be known while the program is written",
      op = "ave", operand = "...", call = call, unknown = TRUE
    )
  }
  groups <- numbered(if (length(given)) interaction(given) else rep(1L, length(x)), length(x), "ave()", "...", call)
  column <- as_column(x)
  at_once <- grouped_at_once(column, groups, f)
  if (!is.null(at_once)) {
    return(from_column(taken(at_once, groups$at, 1L), x@shape))
  }
  positions <- unname(split(seq_along(groups$at), groups$at))
  parts <- lapply(positions, function(at) {
    part <- as_column(as_value(f(taken(column, at, 1L)), "FUN", call = call))
    if (!length(part) || length(at) %% length(part)) {
      abort(sprintf("ave(): `FUN` must give one element, or one for each of a group, not %d of %d", length(part),
        length(at)
      ), op = "ave", operand = "FUN", call = call)
    }
    repeated(part, length(at))
  })
  parts <- common(parts, "ave()", call = call)
  from_column(taken(joined(parts), order(unlist(positions)), 1L), x@shape)
}, topic = "Elements", dtypes = "all", differs = "Groups are R's, no values.", functional = TRUE)

overload("rowsum", "base", function(x, group, reorder = TRUE, na.rm = FALSE, ...) {
  call <- method_call("rowsum")
  check_known_flag(reorder, "reorder", "rowsum()", call)
  check_known_flag(na.rm, "na.rm", "rowsum()", call)
  x <- as_value(x, "x", call = call)
  check_kind(x, "a real number", "rowsum()", "x", call)
  if (rank_of(x) < 2L) x <- reshaped(as_column(x), c(length(x), 1L))
  check_rank_two(x, "x", "rowsum()", call)
  groups <- numbered(group, x@shape[[1L]], "rowsum()", "group", call)
  if (!reorder) groups$at <- match(groups$at, unique(groups$at))
  group_sums(without_nan(x, 0, na.rm), groups)
}, by = "method", topic = "Summaries", dtypes = "real matrices and vectors",
differs = "`group` is R's, no value. Names are dropped.")
