# Random index expressions, read and replaced, against R's own. Positions that are values are arguments of the program.

random_index <- function(size, vector) {
  kinds <- c("all", "several", "one", "without", "logical", "values", "run", if (!size) "none")
  kind <- if (size) sample(kinds, 1) else sample(c("all", "none", "without"), 1)
  several <- function(count) sample(size, count, replace = TRUE)
  switch(kind,
    all = rlang::missing_arg(),
    several = c(several(sample(6, 1)), if (runif(1) < 0.3) 0),
    one = several(1),
    without = -sample(max(size, 1), sample(max(size, 1), 1)),
    logical = sample(c(TRUE, FALSE), if (vector) sample(size, 1) else size, replace = TRUE),
    values = as.name("moving"),
    run = {
      ends <- several(2)
      ends[1]:ends[2]
    },
    none = integer()
  )
}

random_case <- function() {
  rank <- sample(3, 1)
  dim <- sample(0:5, rank, replace = TRUE, prob = c(0.05, rep(0.19, 5)))
  x <- round(rnorm(prod(dim)), 2)
  if (runif(1) < 0.3) storage.mode(x) <- "integer"
  if (rank > 1) dim(x) <- dim
  at_once <- rank == 1 || runif(1) < 0.25
  sizes <- if (at_once) length(x) else dim
  by_rows <- rank > 1 && at_once && length(x) > 0 && runif(1) < 0.4
  indices <- if (by_rows) {
    rows <- sample(4, 1)
    list(matrix(vapply(dim, function(size) sample(size, rows, replace = TRUE), integer(rows)), rows))
  } else {
    lapply(sizes, random_index, vector = at_once)
  }
  moving <- NULL
  for (i in seq_along(indices)) {
    if (identical(indices[[i]], as.name("moving"))) {
      moving <- c(moving, list(sample(sizes[[i]], sample(3, 1), replace = TRUE)))
      indices[[i]] <- call("[[", as.name("moving"), length(moving))
    }
  }
  read <- as.call(c(as.name("["), as.name("x"), indices, if (!at_once && runif(1) < 0.3) list(drop = FALSE)))
  list(x = x, moving = moving, read = read, indices = indices)
}

# As many numbers as are replaced, or a divisor of that
with_replacement <- function(case) {
  count <- length(eval(case$read, case))
  divisors <- Filter(function(k) count %% k == 0, seq_len(max(count, 1)))
  case$value <- round(rnorm(divisors[[sample(length(divisors), 1)]]), 2)
  if (runif(1) < 0.3) storage.mode(case$value) <- "integer"
  target <- as.call(c(as.name("["), as.name("x"), case$indices))
  case$replace <- call("{", call("<-", target, as.name("value")), as.name("x"))
  case
}

bare <- function(x) if (length(dim(x)) > 1) array(as.vector(x), dim(x)) else as.vector(x)

random_cases <- function(count) lapply(seq_len(count), function(i) with_replacement(random_case()))

# Arguments without defaults
no_values <- function(...) stats::setNames(rep(list(rlang::missing_arg()), ...length()), c(...))

# All cases in one program
run_cases <- function(cases) {
  code <- lapply(seq_along(cases), function(i) {
    case <- cases[[i]]
    body <- call("list", case$read, case$replace)
    given <- call("[[", as.name("data"), i)
    as.call(list(
      as.function(c(no_values("x", "value", "moving"), body), envir = globalenv()),
      call("$", given, as.name("x")), call("$", given, as.name("value")), call("$", given, as.name("moving"))
    ))
  })
  f <- as.function(c(no_values("data"), as.call(c(as.name("list"), code))), envir = globalenv())
  xla_jit(f)(lapply(cases, function(case) list(x = case$x, value = case$value, moving = case$moving)))
}

test_that("random indices read and replace what they do in R", {
  skip_without_plugin()
  set.seed(20)
  cases <- random_cases(if (all_run()) 150 else 30)
  got <- run_cases(cases)
  for (i in seq_along(cases)) {
    case <- cases[[i]]
    label <- sprintf("%s of (%s)", deparse1(case$read), toString(dim(as.array(case$x))))
    expect_identical(bare(got[[i]][[1]]), bare(eval(case$read, case)), label = label)
    expected <- eval(case$replace, list2env(case[c("x", "value", "moving")]))
    expect_identical(bare(got[[i]][[2]]), bare(expected), label = paste("replaced", label))
  }
})

test_that("random indices have derivatives", {
  skip_without_plugin()
  skip_unless_all()
  set.seed(21)
  cases <- Filter(function(case) length(case$x) > 0 && is.double(case$x) && is.double(case$value), random_cases(60))
  # Reading and replacing are linear: a gradient is the same as with ones for all other elements.
  slopes <- xla_jit(function(data, weights) {
    Map(function(case, at, weight) {
      f <- as.function(c(no_values("x", "value", "moving"), case$replace), envir = globalenv())
      loss <- function(x, value) sum(f(x, value, at$moving) * weight)
      xla_grad(loss, 1:2)(at$x, at$value)
    }, cases, data, weights)
  })
  weights <- lapply(cases, function(case) {
    y <- eval(case$replace, list2env(case[c("x", "value", "moving")]))
    array(rnorm(length(y)), dim(as.array(y)))
  })
  got <- slopes(lapply(cases, function(case) list(x = case$x, value = case$value, moving = case$moving)), weights)
  for (i in seq_along(cases)) {
    case <- cases[[i]]
    loss <- function(x, value) {
      sum(eval(case$replace, list2env(list(x = x, value = value, moving = case$moving))) * as.vector(weights[[i]]))
    }
    by_x <- vapply(seq_along(case$x), function(k) loss(replace(case$x, k, case$x[[k]] + 1), case$value), 0)
    by_value <- vapply(seq_along(case$value), function(k) loss(case$x, replace(case$value, k, case$value[[k]] + 1)), 0)
    here <- loss(case$x, case$value)
    expect_equal(as.vector(got[[i]][[1]]), by_x - here, tolerance = 1e-9, label = deparse1(case$replace))
    expect_equal(as.vector(got[[i]][[2]]), by_value - here, tolerance = 1e-9, label = deparse1(case$replace))
  }
})
