# Nested lists by chance, with and without names, NULLs, empty lists and leaves of many kinds.
random_nest <- function(depth) {
  leaves <- list(1:3, "a", sum, quote(x + y), structure(list(1, 2), class = "of_its_own"), matrix(1:4, 2), NA)
  if (depth == 0 || stats::runif(1) < 0.2) {
    return(if (stats::runif(1) < 0.2) NULL else sample(leaves, 1)[[1]])
  }
  nest <- lapply(seq_len(sample(0:4, 1)), function(i) random_nest(depth - 1))
  if (stats::runif(1) < 0.6) {
    names(nest) <- sample(c("x", "y", "", "a b"), length(nest), replace = TRUE)
  }
  nest
}

test_that("what was flattened is put together again", {
  withr::local_seed(17)
  for (k in 1:(if (all_run()) 200 else 30)) {
    x <- random_nest(4)
    tree <- build_tree(x)
    leaves <- flatten(x)
    expect_identical(unflatten(tree, leaves), x)
    expect_identical(tree_size(tree), length(leaves))
    # Other leaves leave the structure alone.
    expect_true(tree_equal(build_tree(unflatten(tree, lapply(leaves, function(leaf) "other"))), tree))
    expect_identical(map_tree(x, identity), x)
    expect_identical(flatten(pmap_tree(list(x, x), function(a, b) list2env(list(pair = list(a, b))))) |>
      lapply(function(env) env$pair), lapply(leaves, function(leaf) list(leaf, leaf)))
  }
})

test_that("branches are lists without a class, and NULL has no leaves", {
  expect_identical(flatten(NULL), list())
  expect_identical(flatten(3), list(3))
  expect_identical(flatten(list(a = NULL, b = list(), c = data.frame(x = 1))), list(data.frame(x = 1)))
  expect_identical(unflatten(build_tree(list(a = NULL, 1)), list("leaf")), list(a = NULL, "leaf"))
  # A leaf may be NULL when it is put back, or a call that must not be evaluated.
  expect_identical(unflatten(build_tree(list(1, 2)), list(NULL, quote(stop()))), list(NULL, quote(stop())))
  calls <- pmap_tree(list(list(quote(a)), list(quote(b))), function(x, y) list2env(list(x = x, y = y)))
  expect_identical(calls[[1]]$y, quote(b))
})

test_that("a function is made flat", {
  f <- function(p, q) list(sum = p$a + q, rest = list(p$b, NULL))
  flat <- flatten_fun(f, build_tree(list(p = list(a = 0, b = 0), q = 0)))
  expect_s3_class(flat, "xlaffi_flattened_function")
  result <- flat(1, 2, 3)
  expect_identical(do.call(unflatten, result), f(list(a = 1, b = 2), 3))
  expect_error(flat(1), class = "xlaffi_error_invalid_argument")
})

test_that("bad arguments", {
  expect_snapshot(error = TRUE, {
    build_tree(list(a = 1, list(stats::setNames(list(1), NA))))
    unflatten(1, list())
    unflatten(structure(1, class = "RTree"), list())
    unflatten(build_tree(list(1, 2)), list(1))
    unflatten(build_tree(1), 1)
    map_tree(list(1), "no such function")
    map_tree(list(a = 1, b = list(c = "x")), function(leaf) leaf + 1)
    map_tree(1, function(leaf) stop("{braces}"))
    pmap_tree(list(), sum)
    pmap_tree(list(list(m = list(w = 1, 2)), list(m = list(w = 1, list(3)))), `+`)
    pmap_tree(list(1, list(1)), `+`)
    flatten_fun(1, build_tree(list(1)))
    flatten_fun(sum, build_tree(1))
  })
})
