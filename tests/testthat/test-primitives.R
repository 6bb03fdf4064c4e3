# The table of primitives: R/trace-primitive.R.

test_that("every primitive has the rules that the table describes, and no other", {
  rules <- list(
    text = c("node", "operands", "scope"), jvp = c("node", "tangents"), transpose = c("node", "cotangents", "linear"),
    vmap = c("node", "inputs", "mapped", "size"), rebind = c("node", "inputs"), linearize = c("node", "moving"),
    replication = c("node", "given", "known"), export = "node", replay = c("node", "now"),
    sparsity = c("node", "given", "sets", "known")
  )
  table <- as.list(xlaffi:::primitives)
  is_right <- function(name) {
    entry <- table[[name]]
    has <- names(entry)
    all(has %in% names(rules)) &&
      all(vapply(has, function(rule) identical(names(formals(entry[[rule]])), rules[[rule]]), NA)) &&
      # What is no operation of StableHLO: another name of a value, an op (its body is written), a transpose or a
      # solver's call to come.
      xor("text" %in% has, name %in% c("alias", "op", "linear", "later")) &&
      # What has regions and a derivative has one for reverse mode, and can be made again.
      (!"linearize" %in% has || all(c("jvp", "rebind", "transpose") %in% has))
  }
  expect_identical(Filter(Negate(is_right), names(table)), character())
  expect_true(all(xlaffi:::elementwise %in% names(table)))
  expect_true(all(xlaffi:::na_moves %in% names(table)))
  expect_true(all(xlaffi:::collectives %in% names(table)))
  # Without a rule `export` is what only programs for several devices have, and what is no operation.
  several <- c(xlaffi:::collectives, "axis_index", "shard_map", "sharding_constraint", "op", "alias", "linear", "later")
  expect_setequal(names(Filter(function(entry) is.null(entry$export), table)), several)
})
