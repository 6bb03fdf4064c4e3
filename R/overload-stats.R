# Variances, covariances and correlations, by R's two passes: deviations from the means first.

# A vector is a matrix of one column, and so are all elements of an array.
columns_of <- function(x, name, shown, call) {
  x <- mean_operand(as_value(x, name, call = call), shown, call)
  check_kind(x, "a floating-point number", shown, name, call)
  if (rank_of(x) == 2L) x else one_axis(as_column(x), FALSE)
}

# What to do about NaN, where the program must have one shape: "everything" lets it through, "rows" leaves out the rows
# that have any.
missing_rule <- function(use, shown, call) {
  op <- sub("()", "", shown, fixed = TRUE)
  known <- c("all.obs", "complete.obs", "pairwise.complete.obs", "everything", "na.or.complete")
  choice <- if (is.character(use) && length(use) == 1L) known[pmatch(use, known)] else NA
  if (is.na(choice)) {
    abort(sprintf("%s: `use` must be one of %s, not %s", shown, toString(dQuote(known, FALSE)), describe(use)),
      op = op, operand = "use", call = call
    )
  }
  if (choice %in% c("all.obs", "pairwise.complete.obs")) {
    abort(sprintf("%s: `use = \"%s\"` is not available for values of programs", shown, choice), "UNIMPLEMENTED",
      op = op, operand = "use", call = call,
      hint = "There are \"everything\", which gives NaN, and \"complete.obs\"."
    )
  }
  if (choice == "everything") "everything" else "rows"
}

# Sums of products of deviations, and what they are to be divided by.
comoments <- function(x, y, rule) {
  shape <- x@shape
  keep <- NULL
  if (rule == "rows") {
    keep <- !(row_has_nan(x) | row_has_nan(y))
    of_kept <- function(x) {
      here <- broadcast(keep, x@shape, 1L)
      as_choice(selected(here, x, filled(0, x)))
    }
    x <- of_kept(x)
    y <- of_kept(y)
  }
  count <- if (is.null(keep)) shape[[1L]] else hlo_sum(converted(keep, x@dtype))
  dx <- deviations(x, count, keep)
  dy <- if (same_value(x, y)) dx else deviations(y, count, keep)
  # What the rounded means leave
  rest <- dot(hlo_sum(dx, 1L), hlo_sum(dy, 1L), list(integer(), integer()), list(integer(), integer()))
  list(sums = dot(dx, dy, list(1L, 1L), list(integer(), integer())) - rest / count, count = count, dx = dx, dy = dy)
}

same_value <- function(x, y) identical(value_key(x), value_key(y))

row_has_nan <- function(x) reduced("reduce_or", where_nan(x), 2L, "cov()")

deviations <- function(x, count, keep) {
  d <- x - broadcast(hlo_sum(x, 1L) / count, x@shape, 2L)
  if (is.null(keep)) d else selected(broadcast(keep, x@shape, 1L), d, filled(0, d))
}

both_columns <- function(x, y, shown, call) {
  if (is.null(y)) {
    x <- columns_of(x, "x", shown, call)
    return(list(x, x))
  }
  both <- common(list(x, y), shown, c("x", "y"), call)
  both <- list(columns_of(both[[1L]], "x", shown, call), columns_of(both[[2L]], "y", shown, call))
  if (both[[1L]]@shape[[1L]] != both[[2L]]@shape[[1L]]) {
    abort(
      sprintf(
        "%s: `x` and `y` must have equally many rows, not %d and %d", shown, both[[1L]]@shape[[1L]],
        both[[2L]]@shape[[1L]]
      ),
      op = sub("()", "", shown, fixed = TRUE), operand = "y", call = call
    )
  }
  both
}

# R gives a matrix where `x` or `y` is one.
as_given <- function(result, x, y) {
  is_matrix <- function(x) (if (is_value(x)) rank_of(x) else length(dim(x))) == 2L
  if (is_matrix(x) || is_matrix(y)) result else reshaped(result, integer())
}

covariance <- function(x, y, rule, shown, call) {
  both <- both_columns(x, y, shown, call)
  found <- comoments(both[[1L]], both[[2L]], rule)
  # Of fewer than two numbers there is none.
  as_given(found$sums / no_less(found$count - 1), x, y)
}

# NaN where nothing or less is left to divide by
no_less <- function(count) {
  if (is_value(count)) selected(count > 0, count, filled(NaN, count)) else if (count > 0) count else NaN
}

covariance_differs <- "`use` is \"everything\" or \"complete.obs\"; NaN in the result where R raises an error."

overload("var", "stats",
  f = function(x, y = NULL, na.rm = FALSE, use) {
    call <- method_call("var")
    check_known_flag(na.rm, "na.rm", "var()", call)
    rule <- if (missing(use)) c("everything", "rows")[[1L + na.rm]] else missing_rule(use, "var()", call)
    covariance(x, y, rule, "var()", call)
  }, topic = "Summaries", dtypes = "real numbers", differs = covariance_differs
)

overload("cov", "stats",
  f = function(x, y = NULL, use = "everything", method = c("pearson", "kendall", "spearman")) {
    call <- method_call("cov")
    check_pearson(method, "cov()", call)
    check_two(x, y, "cov()", call)
    covariance(x, y, missing_rule(use, "cov()", call), "cov()", call)
  }, topic = "Summaries", dtypes = "real numbers", differs = paste("Pearson's only.", covariance_differs)
)

overload("sd", "stats",
  f = function(x, na.rm = FALSE) {
    call <- method_call("sd")
    check_known_flag(na.rm, "na.rm", "sd()", call)
    # R looks at all elements of an array as one vector.
    x <- as_column(as_value(x, "x", call = call))
    sqrt(covariance(x, NULL, if (na.rm) "rows" else "everything", "sd()", call))
  }, topic = "Summaries", dtypes = "real numbers"
)

overload("cor", "stats",
  f = function(x, y = NULL, use = "everything", method = c("pearson", "kendall", "spearman")) {
    call <- method_call("cor")
    method <- check_start_of_choice(method, "method", c("pearson", "kendall", "spearman"), call)
    by_rank <- method == "spearman"
    if (!by_rank) check_pearson(method, "cor()", call)
    check_two(x, y, "cor()", call)
    rule <- missing_rule(use, "cor()", call)
    both <- both_columns(x, y, "cor()", call)
    if (by_rank) {
      if (rule == "rows") {
        abort("cor(): `method = \"spearman\"` needs `use = \"everything\"` here", "UNIMPLEMENTED",
          op = "cor", operand = "use", hint = "Ranks are those among the rows that are left.", call = call
        )
      }
      both <- lapply(both, ranked_columns)
    }
    found <- comoments(both[[1L]], both[[2L]], rule)
    sizes <- lapply(found[c("dx", "dy")], function(d) sqrt(hlo_sum(d * d, 1L) - hlo_sum(d, 1L)^2 / found$count))
    # One after the other, as their product may overflow
    shape <- found$sums@shape
    r <- found$sums / broadcast(sizes[[1L]], shape, 1L) / broadcast(sizes[[2L]], shape, 2L)
    r <- selected(r > 1, filled(1, r), selected(r < -1, filled(-1, r), r))
    # A column is as it is, whatever it holds.
    if (is.null(y)) r <- selected(place(r) == 0L, filled(1, r), r)
    # One row or none has no correlation.
    few <- found$count < 2
    if (is_value(few)) {
      r <- selected(repeated(few, r@shape), filled(NaN, r), r)
    } else if (few) {
      r <- filled(NaN, r)
    }
    as_given(r, x, y)
  },
  topic = "Summaries", dtypes = "real numbers",
  differs = paste("Pearson's and Spearman's; the latter without derivatives.", covariance_differs)
)

ranked_columns <- function(x) {
  rows <- x@shape[[1L]]
  columns <- lapply(seq_len(x@shape[[2L]]), function(j) {
    column <- reshaped(sliced(x, c(1L, j), c(rows, j)), rows)
    one_axis(converted(ranks_of(column, "average", TRUE, FALSE), x@dtype), FALSE)
  })
  if (rows && length(columns)) concatenated(columns, 2L, NULL) else x
}

check_pearson <- function(method, shown, call) {
  method <- check_start_of_choice(method, "method", c("pearson", "kendall", "spearman"), call)
  if (method != "pearson") {
    abort(sprintf("%s: `method = \"%s\"` is not available for values of programs", shown, method), "UNIMPLEMENTED",
      op = sub("()", "", shown, fixed = TRUE), operand = "method", call = call,
      hint = if (method == "spearman") "`cor(rank(x), rank(y))` is Spearman's."
    )
  }
}

check_two <- function(x, y, shown, call) {
  rank <- if (is_value(x)) rank_of(x) else length(dim(x))
  if (is.null(y) && rank != 2L) {
    abort(sprintf("%s: supply both `x` and `y`, or a matrix as `x`", shown),
      op = sub("()", "", shown, fixed = TRUE), operand = "x", call = call
    )
  }
}

overload("cov2cor", "stats",
  f = function(V) {
    call <- method_call("cov2cor")
    V <- as_doubles(as_value(V, "V", call = call))
    check_kind(V, "a floating-point number", "cov2cor()", "V", call)
    check_square(V, "V", "cov2cor()", call)
    size <- 1 / sqrt(diagonal(V))
    r <- V * broadcast(size, V@shape, 1L) * broadcast(size, V@shape, 2L)
    selected(place(r) == 0L, filled(1, r), r)
  }, topic = "Summaries", dtypes = "real matrices", differs = "Without a warning where a variance is not positive."
)

overload("weighted.mean", "stats",
  f = function(x, w, ..., na.rm = FALSE) {
    call <- method_call("weighted.mean")
    check_dots_empty(..., call = call)
    check_known_flag(na.rm, "na.rm", "weighted.mean()", call)
    if (missing(w)) {
      return(mean_along(mean_operand(x, "weighted.mean()", call), seq_along(x@shape), na.rm))
    }
    both <- common(list(x, w), "weighted.mean()", c("x", "w"), call)
    if (length(both[[1L]]) != length(both[[2L]])) {
      abort("weighted.mean(): `x` and `w` must have the same length", op = "weighted.mean", operand = "w", call = call)
    }
    both <- lapply(both, function(x) mean_operand(as_column(x), "weighted.mean()", call))
    x <- both[[1L]]
    w <- both[[2L]]
    if (na.rm) {
      w <- selected(where_nan(x), filled(0, w), w)
      x <- without_nan(x, 0)
    }
    if (!length(w)) {
      return(constant(NaN, w@dtype, integer(), "w", na = TRUE))
    }
    w <- w / repeated(hlo_sum(w), w@shape)
    # Where a weight is zero an infinite element or NaN does not count. The slope by the weight is that of the element.
    counts <- hlo_or(compared(w, filled(0, w), "NE", "weighted.mean()"), abs(x) < Inf)
    hlo_sum(selected(counts, x, filled(0, x)) * w)
  }, by = "method", topic = "Summaries", dtypes = "all numbers"
)

overload("mahalanobis", "stats",
  f = function(x, center, cov, inverted = FALSE, ...) {
    call <- method_call("mahalanobis")
    check_dots_empty(..., call = call)
    check_known_flag(inverted, "inverted", "mahalanobis()", call)
    parts <- lapply(common(list(x, center, cov), "mahalanobis()", c("x", "center", "cov"), call), as_doubles)
    x <- parts[[1L]]
    cov <- parts[[3L]]
    check_kind(x, "a floating-point number", "mahalanobis()", "x", call)
    check_square(cov, "cov", "mahalanobis()", call)
    if (rank_of(x) < 2L) {
      x <- one_axis(x, TRUE)
    }
    check_rank_two(x, "x", "mahalanobis()", call)
    size <- cov@shape[[1L]]
    if (x@shape[[2L]] != size || !length(parts[[2L]]) %in% c(1L, size)) {
      abort(
        sprintf(
          "mahalanobis(): `x` %s, `center` %s and `cov` %s do not fit", type_text(x), type_text(parts[[2L]]),
          type_text(cov)
        ),
        op = "mahalanobis", operand = "cov", call = call
      )
    }
    d <- x - along_margin(parts[[2L]], x@shape, 2L, "mahalanobis()", call)
    solved <- if (inverted) hlo_matmul(d, cov) else hlo_t(xla_solve(hlo_t(cov), hlo_t(d)))
    hlo_sum(solved * d, 2L)
  }, topic = "Summaries", dtypes = "real numbers"
)
