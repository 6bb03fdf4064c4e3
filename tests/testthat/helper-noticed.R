# Runs `code`, whose `f` is compiled, before and after `change`, and R's own `f` beside it.
expect_noticed <- function(code, change, x = c(1, 2)) {
  run <- function(compile) {
    env <- new.env(parent = globalenv())
    eval(code, env)
    f <- if (compile) xla_jit(env$f) else env$f
    first <- f(x)
    eval(change, env)
    list(first, f(x))
  }
  expected <- run(FALSE)
  expect_false(isTRUE(all.equal(expected[[1L]], expected[[2L]])), label = deparse1(code))
  expect_equal(run(TRUE), expected, label = deparse1(code))
}
