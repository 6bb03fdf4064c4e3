# The table of primitives: R/trace-primitive.R.

test_that("every primitive has the rules that the table describes, and no other", {
  rules <- list(
    text = c("node", "operands", "scope"), jvp = c("node", "tangents"), transpose = c("node", "cotangents", "linear"),
    vmap = c("node", "inputs", "mapped", "size"), rebind = c("node", "inputs"), linearize = c("node", "moving"),
    replication = c("node", "given", "known"), export = "node", replay = c("node", "now"),
    sparsity = c("node", "given", "sets", "known")
  )
  table <- as.list(xlaffi:::primitives)
  for (name in names(table)) {
    entry <- table[[name]]
    expect_identical(setdiff(names(entry), names(rules)), character(), label = name)
    for (rule in names(entry)) expect_identical(names(formals(entry[[rule]])), rules[[rule]], label = paste(name, rule))
    # What is no operation of StableHLO: another name of a value, an op (its body is written), a transpose to come.
    expect_identical("text" %in% names(entry), !name %in% c("alias", "op", "linear"), label = paste(name, "text"))
    # What has regions and a derivative has one for reverse mode, and can be made again.
    if ("linearize" %in% names(entry)) expect_true(all(c("jvp", "rebind", "transpose") %in% names(entry)), label = name)
  }
  expect_true(all(xlaffi:::elementwise %in% names(table)))
  expect_true(all(xlaffi:::na_moves %in% names(table)))
  expect_true(all(xlaffi:::collectives %in% names(table)))
  # Without a rule `export` is what only programs for several devices have, and what is no operation.
  several <- c(xlaffi:::collectives, "axis_index", "shard_map", "sharding_constraint", "op", "alias", "linear")
  expect_setequal(names(Filter(function(entry) is.null(entry$export), table)), several)
})
