test_that("a tree tells of its root and its leaves", {
  tree <- build_tree(list(a = 1, list(2, NULL, c = list(3)), b = NULL))
  expect_identical(tree_size(tree), 3L)
  expect_identical(tree_root_kind(tree), "list")
  kinds <- vapply(list(NULL, 1, list()), function(x) tree_root_kind(build_tree(x)), "")
  expect_identical(kinds, c("null", "leaf", "list"))
  expect_identical(tree_child_names(tree), c("a", "", "b"))
  expect_null(tree_child_names(build_tree(list(1))))
  expect_null(tree_child_names(build_tree(1)))
  expect_identical(tree_child_kinds(tree), c("leaf", "list", "null"))
  expect_identical(tree_child_sizes(tree), c(1L, 2L, 0L))
  expect_identical(vapply(1:3, function(i) tree_path(tree, i), ""), c("a", "[[2]][[1]]", "[[2]]$c[[1]]"))
  expect_identical(tree_path(build_tree("leaf"), 1), "")
  expect_snapshot({
    tree
    build_tree(NULL)
    build_tree(stats::setNames(list(), character()))
  })
})

test_that("a path leads to its leaf", {
  x <- list(a = list(10, b = list(c = 20, 30)), 40, d = NULL, e = 50)
  tree <- build_tree(x)
  leaves <- flatten(x)
  for (i in seq_along(leaves)) {
    path <- tree_path(tree, i)
    code <- paste0(if (startsWith(path, "[")) "x" else "x$", path)
    expect_identical(eval(parse(text = code)[[1]]), leaves[[i]])
  }
})

test_that("equal trees have equal hashes, others differ", {
  structures <- list(
    1, NULL, list(), list(1), list(1, 2), list(NULL, 1), list(1, NULL), list(list(1)), list(a = 1), list(b = 1),
    stats::setNames(list(), character()), stats::setNames(list(1), ""), list(a = 1, b = 1), list(`a = *, b` = 1)
  )
  trees <- lapply(structures, build_tree)
  compared <- function(f) outer(seq_along(trees), seq_along(trees), Vectorize(function(i, j) f(trees[[i]], trees[[j]])))
  same <- diag(length(trees)) == 1
  expect_identical(compared(tree_equal), same)
  expect_identical(compared(function(a, b) tree_hash(a) == tree_hash(b)), same)
  expect_identical(compared(function(a, b) is.null(tree_diff(a, b))), same)
  # Names are compared as text, in whatever encoding.
  accented <- list("caf\u00e9", iconv("caf\u00e9", "UTF-8", "latin1"))
  both <- lapply(accented, function(name) build_tree(stats::setNames(list(1), name)))
  expect_true(tree_equal(both[[1]], both[[2]]))
  expect_identical(tree_hash(both[[1]]), tree_hash(both[[2]]))
  withr::local_locale(LC_CTYPE = "C")
  expect_identical(tree_hash(both[[1]]), tree_hash(both[[2]]))
})

test_that("the first difference is found", {
  differ <- function(a, b) tree_diff(build_tree(a), build_tree(b))
  expect_identical(differ(list(x = list(1, 2), y = 3), list(x = list(1, list()), y = NULL)),
    list(prefix = "x[[2]]", a = "*", b = "list()"))
  expect_identical(differ(1, NULL), list(prefix = "", a = "*", b = "NULL"))
})

test_that("trees are taken apart and put together", {
  x <- list(a = 1, b = list(2, 3), 4, c = NULL)
  tree <- build_tree(x)
  expect_identical(tree_leaf_mask(tree, c("b", "nobody", "")), c(FALSE, TRUE, TRUE, FALSE))
  expect_identical(tree_leaf_mask(build_tree(list(1)), "a"), FALSE)
  part <- tree_filter_by_names(tree, c("c", "b"))
  expect_identical(unflatten(part, list(5, 6)), list(b = list(5, 6), c = NULL))
  whole <- tree_concat(list(tree, build_tree(9)), names = c("x", ""))
  expect_identical(unflatten(whole, c(flatten(x), 9)), list(x = x, 9))
  expect_true(tree_equal(tree_concat(list()), build_tree(list())))
})

test_that("bad arguments", {
  tree <- build_tree(list(a = 1))
  expect_snapshot(error = TRUE, {
    tree_size(list(1))
    tree_child_kinds(build_tree(1))
    tree_path(tree, 2)
    tree_path(tree, "a")
    tree_leaf_mask(tree, 1)
    tree_filter_by_names(build_tree(list(1)), "a")
    tree_filter_by_names(tree, NA_character_)
    tree_concat(tree)
    tree_concat(list(tree, 1))
    tree_concat(list(tree), names = c("a", "b"))
    tree_equal(tree, 1)
    tree_diff(1, tree)
  })
})
