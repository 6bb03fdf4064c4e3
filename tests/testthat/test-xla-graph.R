# A program of the text that xla_graph_text() gives, as another system would write it
embedded_program <- function(f, ..., arguments = list(...)) {
  graph <- do.call(xla_graph, c(list(f), arguments))
  types <- function(values) {
    vapply(values, function(value) xlaffi:::mlir_type(xlaffi:::new_type(value$dtype, value$shape)), "")
  }
  names <- sprintf("%%in%d", seq_along(graph$inputs))
  text <- xla_graph_text(graph, names, prefix = "inner")
  all <- values_of(graph)
  results <- types(all[graph$outputs])
  compile(paste(c(
    sprintf("func.func @main(%s) -> (%s) {", toString(paste0(names, ": ", types(graph$inputs))), toString(results)),
    text$lines, sprintf("  return %s : %s", toString(text$results), toString(results)), "}"
  ), collapse = "\n"))
}

# The values of a graph by their numbers
values_of <- function(graph) {
  values <- list()
  note <- function(part) {
    for (value in part$inputs) values[[value$id]] <<- value
    for (node in part$nodes) {
      lapply(node$regions, note)
      for (value in node$results) values[[value$id]] <<- value
    }
  }
  note(graph)
  values
}

test_that("the graph of a function is as its page tells", {
  skip_without_plugin()
  graph <- xla_graph(function(x, p) list(total = sum(x * p$k), x), ffi_type("f64", 3), list(k = 2))
  expect_s3_class(graph, "xlaffi_graph")
  expect_identical(
    names(graph),
    c("version", "platform", "inputs", "nodes", "outputs", "constants", "arguments", "value")
  )
  expect_identical(graph$version, 1L)
  expect_identical(graph$inputs[[1]], list(id = 1L, dtype = "f64", shape = 3L))
  expect_identical(graph$inputs[[2]], list(id = 2L, dtype = "f64", shape = 1L))
  expect_identical(graph$arguments, list(1L, list(k = 2L)))
  expect_identical(graph$value, list(total = graph$outputs[[1]], 1L))
  expect_identical(graph$nodes[graph$constants][[1]]$attributes, list(value = 0))
  last <- graph$nodes[[length(graph$nodes)]]
  expect_identical(names(last), c("id", "op", "operands", "results", "attributes", "regions"))
  expect_identical(last$op, "reduce_add")
  expect_identical(last$attributes, list(axes = 1L))
  expect_identical(last$results[[1]]$shape, integer())
})

test_that("graphs print", {
  skip_without_plugin()
  local_reproducible_output()
  expect_snapshot(print(xla_graph(function(x, y) {
    s <- hlo_scan(function(c, e) list(c + e, c * y), 0, x)
    list(a = hlo_cond(s$carry > 0, function() x, function() -x), b = hlo_while(function(v) v < 9, function(v) v * 2, y))
  }, ffi_type("f64", 3), ffi_type("f64"))))
  expect_snapshot(print(xla_graph(function(x) xla_solve(x, c(1, 2)), ffi_type("f32", c(2, 2)))))
})

test_that("nodes come behind what they take, and have no attribute but those of the page", {
  skip_without_plugin()
  graph <- xla_graph(
    xla_vjp(function(x) {
      turn <- function(carry, x) list(hlo_cond(carry > 0, function() carry * x, function() x), sort(c(carry, x)))
      hlo_scan(turn, 1, x)
    }), ffi_type("f64", 4), list(carry = ffi_type("f64"), y = ffi_type("f64", c(4, 2)))
  )
  seen <- integer()
  visit <- function(part) {
    seen <<- c(seen, vapply(part$inputs, `[[`, 0L, "id"))
    for (node in part$nodes) {
      expect_true(all(node$operands %in% seen))
      lapply(node$regions, visit)
      seen <<- c(seen, vapply(node$results, `[[`, 0L, "id"))
    }
    expect_true(all(part$outputs %in% seen))
  }
  visit(graph)
  expect_false(anyDuplicated(seen) > 0)
})

test_that("every kind of node is told, but those of several devices", {
  kinds <- ls(xlaffi:::primitives)
  not_exported <- kinds[vapply(kinds, function(kind) is.null(xlaffi:::primitive_rule(kind, "export")), NA)]
  expect_setequal(not_exported, c(
    "alias", "op", "linear", "later", "shard_map", "sharding_constraint", "axis_index", "all_reduce", "all_gather",
    "reduce_scatter", "all_to_all", "collective_permute"
  ))
})

test_that("the text of a graph computes in another program what the function does", {
  skip_without_plugin()
  x <- c(0.5, -1, 2)
  y <- 1.5
  f <- function(x, y) {
    s <- hlo_scan(function(carry, e) list(carry * y + e, sort(c(carry, e))), 0, x)
    turn <- function(i, v) list(i + 1L, v * v - hlo_cond(v > 0, function() v, function() y))
    w <- hlo_while(function(i, v) i < 4L, turn, list(0L, y))
    list(s$y, cumsum(x), w[[2]], max(x), x[c(3, 1)], order(x), asin(x / 4), Mod(fft(x)))
  }
  exec <- embedded_program(f, x, y)
  expected <- xla_jit(f)(x, y)
  given <- pjrt_execute(exec, pjrt_buffer(x, "f64"), pjrt_buffer(y, "f64"))
  expect_equal(lapply(given, function(b) as.vector(as_array(b))), lapply(expected, as.vector))

  m <- matrix(c(2, 1, 0, 3, 1, 1, 4, 0, 1), 3)
  f <- function(m) {
    gradient <- xla_grad(function(m) sum(xla_svd(m)$d * c(1, 2, 3)) + sum(xla_solve(m, c(1, 0, 2))))(m)
    list(gradient, xla_lu(m)$p)
  }
  given <- pjrt_execute(embedded_program(f, m), pjrt_buffer(m, "f64"))
  expect_equal(lapply(given, as_array), xla_jit(f)(m), ignore_attr = TRUE)

  # An input and a constant for results, and one value twice
  same <- embedded_program(function(x) list(x, hlo_constant(7), x), x)
  given <- pjrt_execute(same, pjrt_buffer(x, "f64"))
  expect_equal(lapply(given, function(b) as.vector(as_array(b))), list(x, 7, x))
})

test_that("what has no such graph, and wrong arguments, are told", {
  skip_without_plugin()
  expect_snapshot(error = TRUE, xla_graph(1))
  expect_snapshot(error = TRUE, xla_graph(function(x) x, "x"))
  mesh <- xla_mesh(c(d = 1))
  expect_snapshot(error = TRUE, xla_graph(
    xla_shard_map(function(x) hlo_psum(x, "d"), mesh, in_specs = "d", out_specs = NULL), ffi_type("f64", 2)
  ))
  graph <- xla_graph(function(x) x + 1, 1)
  expect_snapshot(error = TRUE, xla_graph_text(1, "%a"))
  expect_snapshot(error = TRUE, xla_graph_text(graph, c("%a", "%b")))
  expect_snapshot(error = TRUE, xla_graph_text(graph, "%a", prefix = "1x"))
})

test_that("a graph is for a platform", {
  skip_without_plugin()
  solve <- function(platform) {
    graph <- xla_graph(function(a) xla_solve(a, c(1, 2)), ffi_type("f64", c(2, 2)), .platform = platform)
    paste(xla_graph_text(graph, "%a")$lines, collapse = "\n")
  }
  expect_match(solve("cpu"), "lapack_dtrsm_ffi")
  expect_match(solve("cuda"), "stablehlo.triangular_solve")
})

test_that("graphs are compared by what they compute", {
  skip_without_plugin()
  graph <- function(f) xla_graph(f, ffi_type("f64", 3))
  sum_of <- graph(function(x) sum(x * 2))
  expect_true(all.equal(sum_of, graph(function(y) sum(y * 2))))
  expect_match(all.equal(sum_of, graph(function(x) sum(x + 2))), "^line [0-9]+: .* = multiply .* and .* = add ")
  expect_match(all.equal(sum_of, graph(function(x) sum(x * (2 + 1e-12)))), "difference", all = FALSE)
  expect_match(all.equal(sum_of, 1), "target is a graph, current is 1")
})
