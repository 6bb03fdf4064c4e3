# NaN as a parameter, a point or a probability, which stands for R's NA. XLA knows of exponentials, absolute values and
# squares that they are not negative, and would take them for such also where they are NaN (see prim-compare.R).

numbers <- c(
  x = 0.5, q = 0.5, p = 0.3, size = 3, prob = 0.4, mu = 2, mean = 0, meanlog = 0, location = 0, min = 0, max = 7,
  sd = 2, sdlog = 2, rate = 2, scale = 2, shape = 2, shape1 = 2, shape2 = 2, df = 2, df1 = 3, df2 = 4, lambda = 2
)
made <- list(exp = function(x) exp(x), abs = function(x) abs(x), square = function(x) x^2)
point <- -c(0.1, NA, 0.4, NaN)

# Each argument of each density, probability and quantile in turn as an exponential, ... of the same numbers
missing_cases <- function() {
  names <- sub("^overload_", "", grep("^overload_[dpq]", ls(asNamespace("xlaffi")), value = TRUE))
  cases <- list()
  for (name in setdiff(intersect(names, getNamespaceExports("stats")), c("diff", "dmultinom"))) {
    all <- setdiff(names(formals(get(name, asNamespace("stats")))), c("log", "log.p", "lower.tail", "ncp"))
    without <- if ("mu" %in% all) list("mu", "prob") else if ("rate" %in% all) list("scale", "rate") else list("")
    for (given in lapply(without, setdiff, x = all)) {
      for (one in given) {
        # Numbers of trials are whole ones.
        way <- if (substring(name, 2L) == "binom" && one == "size") "abs" else names(made)[[length(cases) %% 3L + 1L]]
        log <- length(cases) %% 2L == 1L && one != "p"
        cases <- c(cases, list(list(name = name, given = given, one = one, way = way, log = log)))
      }
    }
  }
  cases
}

test_that("densities, probabilities and quantiles are NaN where an argument is", {
  skip_without_plugin()
  cases <- missing_cases()
  expect_gt(length(cases), 120)
  cases <- one_in(20L, cases)
  value <- function(case, f, u) {
    arguments <- as.list(numbers[case$given])
    if (case$log && case$given[[1L]] == "p") arguments$p <- -0.5
    arguments[[case$one]] <- made[[case$way]](if (case$one == "size") round(10 * u) else u)
    flag <- if (startsWith(case$name, "d")) "log" else "log.p"
    suppressWarnings(do.call(f, c(arguments, stats::setNames(list(case$log), flag))))
  }
  for (some in split(cases, (seq_along(cases) - 1) %/% 20)) {
    found <- xla_jit(function(u) {
      lapply(some, function(case) value(case, get(paste0("overload_", case$name), asNamespace("xlaffi")), u))
    })(point)
    for (i in seq_along(some)) {
      case <- some[[i]]
      expected <- value(case, get(case$name, asNamespace("stats")), point)
      label <- sprintf("%s() by %s of %s", case$name, case$way, case$one)
      expect_identical(is.na(expected), c(FALSE, TRUE, FALSE, TRUE), label = label)
      expect_equal(as.vector(found[[i]]), expected, tolerance = 1e-8, label = label)
    }
  }
})

test_that("so are densities that R has not", {
  skip_without_plugin()
  skip_unless_all()
  densities <- list(
    function(x, f) hlo_dbetabinom(f(1, x), 5, f(2, x) / 9, f(3, x)),
    function(x, f) hlo_dcompois(f(1, x), f(2, x), f(3, x)),
    function(x, f) hlo_dgenpois(f(1, x), f(2, x), f(3, x)),
    function(x, f) hlo_dordbeta(f(1, x) / 9, 0.2, f(2, x), -1, f(3, x)),
    function(x, f) hlo_dtweedie(f(1, x), f(2, x), f(3, x), 1.5),
    function(x, f) hlo_dztpois(f(1, x), f(2, x)),
    function(x, f) hlo_dztnbinom(f(1, x), f(2, x), mu = f(3, x)),
    function(x, f) hlo_dzeroinflated(1, f(1, x) / 9, f(2, x))
  )
  counts <- c(3, 3, 3, 3, 3, 2, 3, 2)
  found <- xla_jit(function(u) {
    lapply(made, function(way) {
      Map(function(density, count) {
        lapply(seq_len(count), function(one) density(u, function(i, x) if (i == one) way(x) else x * 0 + 2))
      }, densities, counts)
    })
  })
  missing <- vapply(unlist(found(c(1, NaN)), recursive = TRUE), is.nan, NA)
  expect_identical(unname(missing), rep(c(FALSE, TRUE), length(missing) / 2))
})

test_that("a sum of log densities leaves out what is missing", {
  skip_without_plugin()
  x <- c(0.1, NA, 0.4, -1, 0.7)
  y <- c(2, 0, 3, 1, 4)
  f <- function(a) -sum(dpois(y, exp(0.3 + a * x), log = TRUE), na.rm = TRUE)
  expect_equal(xla_jit(f)(0.1), f(0.1))
})
