# Functions that make derivatives, in xla_shard_map() and of sharded arrays, against the same on one device

mesh <- xla_mesh(c(data = 4, model = 2))

arrays <- function(x) lapply(xlaffi:::tree_leaves(x), function(x) as.vector(if (is.numeric(x)) x else as_array(x)))

expect_same <- function(found, wanted) expect_equal(arrays(found), arrays(wanted), tolerance = 1e-12)

test_that("checkpoints and stopped values go through shard_map, sharded arrays and batches", {
  skip_unless_all()
  x <- matrix(1:32 / 10, 8)
  w <- matrix(sin(1:16), 4)
  f <- function(mark, sum_up = sum) {
    function(w, x) {
      g <- mark(function(x) {
        y <- tanh(x %*% w)
        y / xla_stop_gradient(sum_up(y^2)) + y / sum_up(y^2)
      })
      sum_up(g(g(x))^3)
    }
  }
  on_all <- xla_shard_map(
    f(xla_checkpoint, function(x) hlo_psum(sum(x), "data")), mesh,
    in_specs = list(NULL, "data"), out_specs = NULL
  )
  plain <- f(identity)
  gradient <- xla_grad(plain, 1:2)(w, x)
  expect_same(xla_grad(on_all, 1:2)(w, x), gradient)
  expect_same(xla_grad(f(xla_checkpoint), 1:2)(xla_shard(w, mesh), xla_shard(x, mesh, "data")), gradient)
  # XLA's CPU compiler keeps a branch apart, of several devices too; barriers it takes away (0.68 of the memory of the
  # function without checkpoints is needed with them, 0.46 with branches).
  text <- xla_program(xla_grad(f(xla_checkpoint), 1:2), xla_shard(w, mesh), xla_shard(x, mesh, "data"))
  expect_identical(lengths(regmatches(text, gregexpr("stablehlo.case", text, fixed = TRUE))), 2L)
  ws <- aperm(array(c(w, w / 2), c(4, 4, 2)), c(3, 1, 2))
  expect_same(xla_vmap(xla_grad(on_all), list(1, NULL))(ws, x), xla_vmap(xla_grad(plain), list(1, NULL))(ws, x))
})

test_that("Jacobians and linear parts of functions on all devices", {
  v <- c(1, 2, 3, 4)
  plain <- function(v) sin(v) * sum(v)
  on_all <- xla_shard_map(function(v) sin(v) * hlo_psum(sum(v), "data"), mesh, "data", "data")
  jacobian <- xla_jacobian(plain)(v)
  sharded <- xla_shard(v, mesh, "data")
  expect_same(xla_jacobian(on_all, mode = "forward")(v), jacobian)
  expect_same(xla_jacobian(on_all, mode = "reverse")(v), jacobian)
  expect_same(xla_jacobian(plain)(sharded), jacobian)
  change <- as.vector(jacobian %*% v)
  one <- xla_linearize(on_all)(v)
  expect_equal(list(one$value, one$jvp(v), one$jvp(2 * v)), list(plain(v), change, 2 * change))
  two <- xla_linearize(plain)(sharded)
  expect_s4_class(two$jvp(v), "xlaffi_sharded")
  expect_same(list(two$jvp(v), two$jvp(sharded)), list(change, change))
  # What was kept is there: no sine is computed for another direction.
  expect_no_match(xla_program(one$jvp, v), "stablehlo.(co)?sine")
})
