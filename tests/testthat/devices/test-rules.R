test_that("every rule of collectives and every rule about devices is reached", {
  mesh <- xla_mesh(c(a = 4, b = 2))
  all <- c("a", "b")
  parts <- function(x) {
    turned <- hlo_ppermute(hlo_all_to_all(x, "a", 2, 1, tiled = TRUE), all, cbind(1:8, c(2:8, 1)))
    whole <- hlo_all_gather(sin(x), "b", dim = 2, tiled = TRUE)
    cut <- hlo_psum_scatter(x * x, "a", dim = 2)
    own <- sum(turned^2) + sum(whole^2) + sum(cut^2) + hlo_pmax(sum(x), "b") * hlo_axis_index("a")
    noise <- sum(hlo_runif(hlo_key(1L), 2))
    loop <- hlo_scan(function(s, v) list(s * sum(x) * v, NULL), own, c(0.5, 2))$carry
    more <- hlo_while(function(s) s < 5, function(s) s * 2, abs(loop), max_iter = 9)
    hlo_psum(hlo_cond(own > 0, function() more, function() own) + noise + sum(solve(x[1:2, 1:2])), all)
  }
  f <- xla_shard_map(parts, mesh, list(list(all)), NULL)
  sharded <- function(x) f(hlo_shard(x, list("a"), mesh)) * 1
  x <- matrix(sin(1:128), 32)
  linear <- xla_shard_map(function(x) x * 2 + hlo_psum(x, "a"), mesh, list("a"), "a")
  apart <- ffi_op(function(x) x * 1, vjp = function(primals, results, cotangents) {
    list(hlo_shard(linear(cotangents), "a", mesh))
  }, name = "apart")
  reached <- rules_reached(function() {
    xla_program(sharded, x)
    xla_program(xla_grad(sharded), x)
    xla_program(function(x) xla_jvp(sharded)(x, x), x)
    xla_program(function(x) xla_vmap(xla_grad(sharded))(hlo_broadcast(x, c(2, dim(x)), 2:3)), x)
    xla_program(function(x) xla_jvp(function(x) xla_grad(sharded)(x))(x, x), x)
    xla_program(xla_jacobian(function(x) c(hlo_shard(x, "a", mesh)), sparse = TRUE), x)
    xla_program(function(x) xla_jvp(apart)(x, x), x)
    xla_program(xla_shard_map(function(x) hlo_while(function(s) s < 5, function(s) s * 2, hlo_psum(sum(x), all)),
      mesh, list(list(all)), NULL
    ), x)
    xla_program(function(x) {
      hlo_scan(function(s, v) list(s * f(v * s), NULL), 1, hlo_broadcast(x, c(2, dim(x)), 2:3))$carry
    }, x)
  })
  wanted <- all_rules(setdiff(names(xlaffi:::primitives), rules_of_devices))
  wanted <- c(wanted, grep("replication", all_rules(NULL), value = TRUE))
  expect_identical(sort(setdiff(wanted, reached)), character())
})
