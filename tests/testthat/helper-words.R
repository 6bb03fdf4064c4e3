# Compares each expression, computed in one program, with R's result. Names are dropped, and arrays of one axis are
# vectors.
expect_as_r <- function(..., data, tolerance = 1e-12) {
  expressions <- as.list(substitute(list(...)))[-1L]
  arguments <- stats::setNames(rep(list(rlang::missing_arg()), length(data)), names(data))
  as_function <- function(code) as.function(c(arguments, code), envir = globalenv())
  bare <- function(x) {
    if (is.list(x)) {
      lapply(as.vector(unname(x)), bare)
    } else if (length(dim(x)) > 1L) {
      array(as.vector(x), dim(x))
    } else {
      as.vector(x)
    }
  }
  whole <- as_function(as.call(c(as.name("list"), expressions)))
  got <- do.call(xla_jit(whole), data)
  for (i in seq_along(expressions)) {
    expected <- suppressWarnings(do.call(as_function(expressions[[i]]), data))
    testthat::expect_equal(bare(got[[i]]), bare(expected), tolerance = tolerance, label = deparse1(expressions[[i]]))
    testthat::expect_identical(typeof(got[[i]]), typeof(expected), label = paste("type of", deparse1(expressions[[i]])))
  }
}

# The gradient of a function with one number as result, in one of its arguments, against central differences
expect_gradient <- function(f, ..., wrt = 1, tolerance = 1e-6, step = 1e-5) {
  value <- xla_jit(f)
  arguments <- list(...)
  x <- arguments[[wrt]]
  at <- function(i, by) do.call(value, replace(arguments, wrt, list(replace(x, i, x[[i]] + by))))
  slopes <- vapply(seq_along(x), function(i) (at(i, step) - at(i, -step)) / (2 * step), 0)
  gradient <- do.call(xla_grad(f, wrt), arguments)
  testthat::expect_equal(as.vector(gradient), slopes, tolerance = tolerance, label = deparse1(body(f)))
}
