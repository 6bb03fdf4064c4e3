# The models of the vignette "devices" in several processes; those in one process are in the folder `devices`.

test_that("regressions on rows that no process has all of agree with lm() and glm() on the whole", {
  skip_without_processes()
  rows_of <- function(i) {
    x <- cbind(1, matrix(sin((1:800) * (i + 1)), 200))
    y <- drop(x %*% c(1, -2, 0.5, 0, 0.25)) + cos((1:200)^2 * (i + 1))
    list(x = x, y = y, event = as.numeric(y > 1))
  }
  runs <- processes(2, c(paste("rows_of <-", paste(deparse(rows_of), collapse = "\n")), '
    join_mesh(i, n, port)
    for (line in parse(system.file("examples/devices.R", package = "xlaffi", mustWork = TRUE))) {
      if (as.character(line[[2]]) %in% c("least_squares", "newton")) eval(line)
    }
    mesh <- xla_mesh(c(rows = 2))
    own <- rows_of(i)
    x <- xla_shard(own$x, mesh, "rows", global_shape = c(400, 5))
    whole <- function(v) xla_shard(v, mesh, "rows", global_shape = 400)
    linear <- xla_shard_map(least_squares, mesh, "rows", xla_spec())(x, whole(own$y))
    logistic <- xla_shard_map(newton, mesh, "rows", xla_spec())(x, whole(own$event))
    numbers <- unlist(lapply(c(linear, logistic), function(part) as.vector(as_array(part))))
    cat("found", format(numbers, digits = 17), "\n")
  '), timeout = 120)
  data <- lapply(0:1, rows_of)
  x <- rbind(data[[1]]$x, data[[2]]$x)
  stacked <- function(name) c(data[[1]][[name]], data[[2]][[name]])
  logistic <- function(...) {
    glm(stacked("event") ~ x - 1, family = binomial, control = list(epsilon = 1e-14), ...)
  }
  # Errors are those of the step before the last: once more, from where it ended.
  logistic <- logistic(start = coef(logistic()))
  expected <- c(
    summary(lm(stacked("y") ~ x - 1))$coefficients[, 1:2], summary(logistic)$coefficients[, 1:2]
  )
  for (run in runs) {
    expect_identical(run$status, 0L)
    line <- grep("^found ", run$output, value = TRUE)
    expect_length(line, 1L)
    found <- scan(text = sub("^found ", "", line), quiet = TRUE)
    expect_lt(max(abs(found - expected)), 1e-10)
  }
})
