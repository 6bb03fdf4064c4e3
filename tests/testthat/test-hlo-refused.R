# What functions give for a value in a program, each `xla` or how it was refused, and for the data themselves, `r`.
compared_with_r <- function(functions, x) {
  suppressWarnings(Map(
    function(f, xla) {
      if (inherits(xla, "error")) {
        if (inherits(xla, "xlaffi_error")) "refused" else "failed"
      } else {
        list(xla = xla, r = tryCatch(f(x), error = function(e) NULL))
      }
    },
    functions, results_together(functions, list(x))
  ))
}

# What the help topic says to differ: logicals have no NA, and NaN stays where R leaves it out.
differ_with_nan <- c("as.logical", "sort")

expect_right_or_refused <- function(names, data, allowed) {
  for (x in data) {
    compared <- if (anyNA(x)) setdiff(names, differ_with_nan) else names
    functions <- lapply(stats::setNames(nm = compared), get, envir = asNamespace("stats"))
    all_found <- compared_with_r(lapply(functions, function(f) function(x) f(x)), x)
    for (name in compared) {
      found <- all_found[[name]]
      if (is.character(found)) {
        expect_true(found %in% allowed, label = paste(name, found))
      } else if (!is.null(found$r)) {
        # Otherwise XLA can do what R cannot.
        expect_equal(as.vector(found$xla) + 0, as.vector(found$r) + 0, tolerance = 1e-12, label = name)
      }
    }
  }
}

data <- list(c(0.5, NaN, -3.2), c(1L, 3L, 2L), c(TRUE, FALSE), c(1 + 2i, 0i), matrix(c(2, 1, 1, 3), 2))

test_that("functions of R agree with R or give our error: groups and primitive generics", {
  skip_without_plugin()
  groups <- unlist(lapply(c("Math", "Summary", "Complex"), methods::getGroupMembers))
  primitive <- setdiff(.S3PrimitiveGenerics, c(
    grep("<-$", .S3PrimitiveGenerics, value = TRUE), "as.call", "as.environment", "length", "dim", "dimnames",
    "is.array", "names", "levels"
  ))
  expect_right_or_refused(one_in(3L, c(groups, primitive)), data[if (all_run()) 1:5 else 1], "refused")
})

test_that("functions of R agree with R or fail: others that take data", {
  skip_without_plugin()
  others <- c(
    "%in%", "anyDuplicated", "aperm", "apply", "as.matrix", "as.vector", "cbind", "colSums", "crossprod", "diag",
    "diff", "duplicated", "eigen", "is.element", "mad", "match", "median", "nchar", "outer", "order", "paste", "pmax",
    "qr", "quantile", "range", "rank", "rbind", "rep_len", "rev", "rowSums", "rowsum", "scale", "sd", "sort", "summary",
    "table", "tabulate", "unique", "unlist", "var", "which", "which.max"
  )
  expect_right_or_refused(one_in(4L, others), data[if (all_run()) c(1, 2, 5) else 5], c("refused", "failed"))
  more <- list(
    function(x) rep(x, 3), function(x) mean(x, na.rm = TRUE), function(x) x %in% 1, function(x) match(1, x),
    function(x) sapply(x, identity), function(x) lapply(x, identity)[[1]], function(x) Reduce(`+`, x),
    function(x) vapply(x, function(y) 1, 0), function(x) max(x, 100),
    function(x) as.list(x)[[1]]
  )
  more <- one_in(3L, more)
  compared <- compared_with_r(more, data[[1]])
  for (i in seq_along(more)) {
    found <- compared[[i]]
    if (is.character(found)) {
      expect_true(found %in% c("refused", "failed"), label = deparse1(body(more[[i]])))
    } else {
      expect_equal(unlist(found$xla), unlist(found$r), label = deparse1(body(more[[i]])))
    }
  }
  x <- c(1, NA, Inf)
  expect_identical(xla_jit(function(x) list(is.na(x), is.finite(x)))(x), list(is.na(x), is.finite(x)))
  expect_snapshot(error = TRUE, {
    xla_jit(function(x) qr(x))(diag(2))
    xla_jit(function(x) mean(x, na.rm = TRUE))(1)
  })
})
