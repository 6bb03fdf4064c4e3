# Sums and means of rows and columns, and what is swept out of them.

# `dims`: how many of the first axes count as rows.
margin <- function(x, na_rm, dims, rows, mean, shown, call) {
  op <- sub("()", "", shown, fixed = TRUE)
  check_known_flag(na_rm, "na.rm", shown, call)
  x <- mean_operand(as_value(x, "x", call = call), shown, call)
  rank <- rank_of(x)
  if (rank < 2L) {
    abort(sprintf("%s: `x` must have two or more axes, not %s", shown, type_text(x)),
      op = op, operand = "x", call = call
    )
  }
  if (!is_one_number(dims) || !dims %in% seq_len(rank - 1L)) {
    abort(sprintf("%s: `dims` must be a number from 1 to %d, not %s", shown, rank - 1L, describe(dims)),
      op = op, operand = "dims", call = call
    )
  }
  axes <- if (rows) setdiff(seq_len(rank), seq_len(dims)) else seq_len(dims)
  if (mean) mean_along(x, axes, na_rm) else hlo_sum(without_nan(x, 0, na_rm), axes)
}

sparse_margin <- function(x, na_rm, dims, rows, mean, shown, call) {
  if (!identical(as.double(dims), 1)) {
    abort(sprintf("%s: `dims` must be 1 for a matrix, not %s", shown, describe_leaf(dims)),
      op = sub("()", "", shown, fixed = TRUE), operand = "dims", call = call
    )
  }
  sums <- sparse_sums(new_sparse(without_nan(x@values, 0, na_rm), x@pattern), rows)
  if (!mean) {
    return(sums)
  }
  count <- dim(x)[[if (rows) 2L else 1L]]
  lost <- if (na_rm) sparse_sums(new_sparse(converted(where_nan(x@values), x@values@dtype), x@pattern), rows) else 0
  sums / (count - lost)
}

margin_overload <- function(name, rows, mean) {
  overload(name, "base",
    f = function(x, na.rm = FALSE, dims = 1L) {
      call <- method_call(name)
      if (is_sparse(x)) {
        check_known_flag(na.rm, "na.rm", paste0(name, "()"), call)
        return(sparse_margin(x, na.rm, dims, rows, mean, paste0(name, "()"), call))
      }
      margin(x, na.rm, dims, rows, mean, paste0(name, "()"), call)
    }, topic = "Summaries", dtypes = "all numbers"
  )
}

margin_overload("rowSums", TRUE, FALSE)
margin_overload("colSums", FALSE, FALSE)
margin_overload("rowMeans", TRUE, TRUE)
margin_overload("colMeans", FALSE, TRUE)

# The position of the largest element of each row
overload("max.col", "base",
  f = function(m, ties.method = c("random", "first", "last")) {
    call <- method_call("max.col")
    m <- as_numbers(as_value(m, "m", call = call))
    check_kind(m, "a real number", "max.col()", "m", call)
    check_rank_two(m, "m", "max.col()", call)
    if (!identical(ties.method, "first") && !identical(ties.method, "last")) {
      abort("max.col(): `ties.method` must be \"first\" or \"last\"",
        op = "max.col", operand = "ties.method", hint = "R's default is random.", call = call
      )
    }
    if (!m@shape[[2L]]) {
      return(constant(NA_integer_, "i32", m@shape[[1L]], "m", na = TRUE))
    }
    at <- extremum_places(m, 2L, TRUE)[[ties.method]] + 1L
    if (!is_float(m@dtype)) {
      return(at)
    }
    selected(reduced("reduce_or", where_nan(m), 2L, "max.col()"), filled(NA_integer_, at), at)
  }, topic = "Summaries", dtypes = "real matrices", derivative = "none", differs = "Ties at random are refused."
)

check_rank_two <- function(x, name, shown, call) {
  if (rank_of(x) != 2L) {
    abort(sprintf("%s: `%s` must be a matrix, not %s", shown, name, type_text(x)),
      op = sub("()", "", shown, fixed = TRUE), operand = name, call = call
    )
  }
}

# A vector or array of statistics as an array of `shape`, repeated along all axes but `margin`.
along_margin <- function(stats, shape, margin, op, call) {
  size <- prod(shape[margin])
  if (length(stats) == 1L) {
    return(repeated(stats, shape))
  }
  if (length(stats) != size) {
    abort(
      sprintf(
        "%s: `STATS` must have %.0f elements, as many as `MARGIN` has, or one, not %s", op, size, type_text(stats)
      ),
      op = sub("()", "", op, fixed = TRUE), operand = "STATS", call = call
    )
  }
  order <- order(margin)
  stats <- from_column(as_column(stats), shape[margin])
  broadcast(transposed(stats, order), shape, margin[order])
}

overload("sweep", "base",
  f = function(x, MARGIN, STATS, FUN = "-", check.margin = TRUE, ...) {
    call <- method_call("sweep")
    both <- common(list(x, STATS), "sweep()", c("x", "STATS"), call)
    shape <- both[[1L]]@shape
    if (!is.numeric(MARGIN) || !length(MARGIN) || !all(MARGIN %in% seq_along(shape)) || anyDuplicated(MARGIN)) {
      abort(
        sprintf("sweep(): `MARGIN` must be different axes from 1 to %d, not %s", length(shape), values_text(MARGIN)),
        op = "sweep", operand = "MARGIN", call = call
      )
    }
    f <- called_function(FUN)
    f(both[[1L]], along_margin(both[[2L]], shape, as.integer(MARGIN), "sweep()", call), ...)
  }, topic = "Summaries", dtypes = "all",
  differs = "`STATS` has one element or as many as `MARGIN`: R also recycles others, with a warning."
)

overload("scale", "base",
  f = function(x, center = TRUE, scale = TRUE) {
    call <- method_call("scale")
    # R gives back what it does not change.
    given <- x
    x <- mean_operand(x, "scale()", call)
    if (isFALSE(center) && isFALSE(scale)) x <- if (given@dtype %in% c("pred", "i32")) given else x
    if (rank_of(x) < 2L) {
      x <- one_axis(x, FALSE)
    }
    check_rank_two(x, "x", "scale()", call)
    if (!isFALSE(center) || !isFALSE(scale)) {
      check_kind(x, "a floating-point number", "scale()", "x", call)
    }
    columns <- x@shape[[2L]]
    by_column <- function(stats, name) {
      stats <- common(list(x, stats), "scale()", c("x", name), call)[[2L]]
      if (length(stats) != columns) {
        abort(sprintf("scale(): `%s` must have %d elements, one per column, not %s", name, columns, type_text(stats)),
          op = "scale", operand = name, call = call
        )
      }
      broadcast(reshaped(stats, columns), x@shape, 2L)
    }
    if (is_value(center) || is.numeric(center)) {
      x <- x - by_column(center, "center")
    } else {
      check_known_flag(center, "center", "scale()", call)
      if (center) x <- x - broadcast(mean_along(x, 1L, TRUE), x@shape, 2L)
    }
    if (is_value(scale) || is.numeric(scale)) {
      x <- x / by_column(scale, "scale")
    } else {
      check_known_flag(scale, "scale", "scale()", call)
      if (scale) {
        # Root mean squares over one less than the numbers that there are
        squares <- hlo_sum(without_nan(x * x, 0), 1L)
        count <- count_along(x, 1L) - 1
        freedom <- if (is_value(count)) hlo_max(count, 1) else max(count, 1)
        x <- x / broadcast(sqrt(squares / freedom), x@shape, 2L)
      }
    }
    x
  }, by = "method", topic = "Summaries", dtypes = "real numbers",
  differs = "The attributes `scaled:center` and `scaled:scale` are left out."
)

check_margin <- function(margin, x, name, call) {
  rank <- rank_of(x)
  if (!is.numeric(margin) || !all(margin %in% seq_len(rank)) || anyDuplicated(margin)) {
    abort(sprintf("%s(): `margin` must be different axes from 1 to %d, not %s", name, rank, values_text(margin)),
      op = name, operand = "margin", call = call
    )
  }
}

overload_proportions <- function(name) {
  force(name)
  function(x, margin = NULL) {
    call <- method_call(name)
    shown <- paste0(name, "()")
    x <- as_doubles(as_value(x, "x", call = call))
    check_kind(x, "a floating-point or complex number", shown, "x", call)
    if (is.null(margin)) {
      return(x / repeated(hlo_sum(x), x@shape))
    }
    check_margin(margin, x, name, call)
    margin <- sort(as.integer(margin))
    others <- setdiff(seq_len(rank_of(x)), margin)
    x / broadcast(if (length(others)) hlo_sum(x, others) else x, x@shape, margin)
  }
}

for (name in c("proportions", "prop.table")) {
  overload(name, "base", f = overload_proportions(name), topic = "Summaries", dtypes = "all numbers")
}
rm(name)

overload_margin_sums <- function(name) {
  force(name)
  function(x, margin = NULL) {
    call <- method_call(name)
    x <- as_value(x, "x", call = call)
    if (!length(margin)) {
      return(sum(x))
    }
    check_margin(margin, x, name, call)
    if (rank_of(x) < 2L) as_column(x) else overload_apply(x, margin, base::sum)
  }
}

for (name in c("marginSums", "margin.table")) {
  overload(name, "base", f = overload_margin_sums(name), topic = "Summaries", dtypes = "all numbers")
}
rm(name)

# cumsum() and its kin, along R's order of the elements.

running <- function(op, x) cumulated(op, as_column(x), 1L)

math_members$cumsum <- function(x, shown, call) {
  check_kind(x, "a number", shown, "x", call)
  if (x@dtype != "i32") {
    return(running("add", x))
  }
  # R gives up at the first sum that is too large.
  sums <- running("add", converted(x, "i64"))
  fine <- converted(r_integer_range(sums), "i32")
  r_integers(sums, cumulated("minimum", fine, 1L) == 0L)
}

overload("cumsum", "base",
  by = "group", topic = "Summaries", dtypes = "all numbers",
  differs = paste(
    "Sums are of the dtype's precision and in another order than R's longer ones: what is left of large numbers that",
    "cancel may differ. Sums of other integers than R's wrap round."
  )
)

math_members$cumprod <- function(x, shown, call) {
  x <- as_column(math_operand(x, "inexact", shown, call))
  products <- running("multiply", x)
  if (!is_float(x@dtype)) {
    return(products)
  }
  # 1 from a zero on, 2 from what is not finite on
  kind <- function(number) filled(number, new_type("i32", x@shape))
  seen <- selected(is.finite(x), selected(x == filled(0, x), kind(1L), kind(0L)), kind(2L))
  with_zeros(products, cumulated("maximum", seen, 1L) == kind(1L))
}

overload("cumprod", "base", by = "group", topic = "Summaries", dtypes = "real and complex numbers")

for (name in c("cummax", "cummin")) {
  math_members[[name]] <- local({
    op <- c(cummax = "maximum", cummin = "minimum")[[name]]
    function(x, shown, call) {
      check_kind(x, "a real number", shown, "x", call)
      found <- running(op, x)
      if (!may_have_na(x)) {
        return(found)
      }
      # From an NA on
      unknown <- running("maximum", converted(is_na_integer(x), "i32")) == 1L
      selected(unknown, filled(missing_number(x@dtype), found), found)
    }
  })
  overload(name, "base", by = "group", topic = "Summaries", dtypes = "real numbers")
}
rm(name)
