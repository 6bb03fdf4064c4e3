# NaN in the largest and smallest numbers that several devices find together, which XLA's CPU drops by itself.

mesh <- function() xla_mesh(c(a = 4L))
at_place <- function(x, i) replace(x, i, NaN)

test_that("hlo_pmax() and hlo_pmin() are NaN where any device has NaN, for all floating-point dtypes", {
  mesh <- xla_mesh(c(a = 4L, b = 2L))
  both <- list(c("a", "b"))
  f <- xla_shard_map(function(v) {
    list(
      hlo_pmax(v, c("a", "b")), hlo_pmin(v, c("a", "b")), hlo_pmax(v, "a"), hlo_pmin(v, "b"),
      hlo_pmax(hlo_psum(v, "a"), c("a", "b"))
    )
  }, mesh, list(both), list(NULL, NULL, "b", "a", NULL))
  for (dtype in c("f64", "f32", "f16", "bf16")) {
    for (i in 0:8) {
      # Two numbers for each device
      x <- at_place(c(5, -16:-7, 3, 4, 2, 1, -3), if (i) 2L * i)
      parts <- matrix(x, 2)
      found <- lapply(f(xla_shard(x, mesh, both, dtype = dtype)), function(y) c(as_array(y)))
      by_a <- array(x, c(2, 2, 4))
      over <- function(g, keep) c(apply(by_a, keep, g))
      expect_identical(found, list(
        apply(parts, 1, max), apply(parts, 1, min), over(max, c(1, 2)), over(min, c(1, 3)),
        apply(over(sum, c(1, 2)) |> matrix(2), 1, max)
      ), label = paste(dtype, i))
    }
  }
  expect_identical(f(c(-3, Inf, 1:13, -Inf))[1:2], list(c(13, Inf), c(-3, -Inf)))
})

test_that("derivatives of hlo_pmax() see NaN as they do on one device", {
  skip_unless_all()
  slope <- function(x) {
    f <- xla_shard_map(function(v) hlo_pmax(max(v), "a"), mesh(), "a", NULL)
    xla_grad(function(x) f(x))(x)
  }
  of_one <- xla_grad(function(x) max(x))
  for (x in list(c(1, 7, 7, 2), at_place(c(1, 7, 7, 2), 1), at_place(c(1, 7, 7, 2), 4))) {
    expect_identical(c(slope(x)), c(of_one(x)))
  }
})

test_that("weights of computed numbers sum to 1 over devices, shared by those that are equal", {
  skip_unless_all()
  mesh <- xla_mesh(c(a = 4L, b = 2L))
  both <- list(c("a", "b"))
  computed <- function(v) {
    for (j in 2:3) v[j] <- v[j - 1] * 0.5 + v[j]^2 * 0.1
    v
  }
  # Three numbers for each device: the same ones on the second and the last but one
  parts <- matrix(sin(1:24), 3)
  parts[, 2] <- parts[, 7] <- c(2, -3, 4)
  x <- c(parts)
  largest <- function(f, axes) {
    cut <- xla_shard_map(function(v) f(computed(v), axes), mesh, list(both), if (length(axes) == 1L) "b")
    xla_grad(function(x) sum(cut(x)^2))
  }
  found <- xla_jit(function(x) {
    list(
      max = largest(hlo_pmax, c("a", "b"))(x), turned = largest(hlo_pmax, c("b", "a"))(x),
      min = largest(hlo_pmin, c("a", "b"))(x), over_a = largest(hlo_pmax, "a")(x),
      cut = xla_grad(function(x) max(x * 0.5 + x^2 * 0.1))(x),
      rows = xla_grad(function(x) sum(apply(hlo_reshape(x, c(8, 3)) * 0.5 + 0.1, 2, max)))(x)
    )
  })(xla_shard(x, mesh, both))
  found <- lapply(found, function(g) c(as_array(g)))
  # Devices count by rows: `b` is the faster axis.
  slopes <- function(reduce, groups) {
    y <- apply(parts, 2, computed)
    weights <- 0 * y
    for (g in groups) {
      ends <- apply(y[, g], 1, reduce)
      here <- y[, g] == ends
      weights[, g] <- 2 * ends * here / rowSums(here)
    }
    c(vapply(1:8, function(k) {
      jacobian <- vapply(1:3, function(i) {
        e <- replace(numeric(3), i, 1e-5)
        (computed(parts[, k] + e) - computed(parts[, k] - e)) / 2e-5
      }, numeric(3))
      weights[, k] %*% jacobian
    }, numeric(3)))
  }
  expect_equal(found$max, slopes(max, list(1:8)), tolerance = 1e-7)
  expect_equal(found$turned, found$max)
  expect_equal(found$min, slopes(min, list(1:8)), tolerance = 1e-7)
  expect_equal(found$over_a, slopes(max, list(c(1, 3, 5, 7), c(2, 4, 6, 8))), tolerance = 1e-7)
  expect_equal(found$cut, (x == 4) * (0.5 + 0.2 * 4) / 2)
  by_rows <- matrix(x, 8, byrow = TRUE)
  expect_equal(found$rows, c(apply(by_rows, 2, function(v) 0.5 * (v == max(v)) / sum(v == max(v))) |> t()))
})

test_that("reductions that XLA cuts over devices give NaN as on one device", {
  mesh <- mesh()
  functions <- list(
    max = function(x) max(x), min = function(x) min(x), range = function(x) range(x),
    rows_max = function(x) apply(x, 1, max), columns_max = function(x) apply(x, 2, max),
    columns_min = function(x) apply(x, 2, min), anyNA = function(x) anyNA(x), which_max = function(x) which.max(x),
    which_min = function(x) which.min(x[, 2]), pmax = function(x) pmax(x[1, ], x[2, ]),
    median = function(x) median(x[, 2]), quantile = function(x) quantile(x[, 2], c(0.2, 0.7)),
    cummax = function(x) cummax(x[, 2]), cummin = function(x) cummin(x[, 2]), sort = function(x) sort(x[, 2]),
    rev_sort = function(x) sort(c(x), decreasing = TRUE), order = function(x) order(x[, 2]),
    softmax = function(x) exp(x - max(x)), ties = xla_grad(function(x) max(x)), bottom = xla_grad(function(x) min(x)),
    slopes = xla_grad(function(x) sum(apply(x, 2, max)^2)),
    forward = function(x) xla_jvp(function(x) max(x))(x, x)[[2L]],
    looped = function(x) hlo_fori(1, 3, function(i, s) s + max(x * s), 1),
    each = function(x) xla_vmap(function(v) max(v) - min(v))(x)
  )
  x <- matrix(c(sin(1:31), 2, 2, -2), 17)[-1, ]
  x <- rbind(x, x)
  for (name in if (all_run()) names(functions) else c("columns_min", "cummax", "ties")) {
    f <- xla_jit(functions[[name]])
    # The first number, and one on each device in the second column
    for (i in c(0, 1, 33, 47, 48, 49, 64)) {
      y <- at_place(x, if (i) i)
      found <- f(xla_shard(y, mesh, "a"))
      expect_equal(c(as_array(found)), c(f(y)), label = paste(name, "with NaN at", i))
    }
  }
  for (dtype in c("f32", "f16", "bf16")) {
    found <- xla_jit(function(x) c(max(x), min(x)))(xla_shard(at_place(x, 20), mesh, "a", dtype = dtype))
    expect_true(all(is.nan(as_array(found))))
  }
  expect_identical(c(as_array(xla_jit(function(x) range(x))(xla_shard(c(5:1, 9:7), mesh, "a")))), c(1L, 9L))
})

test_that("a program for one device has one reduction for the largest number", {
  traced <- xlaffi:::trace_program(function(x) max(x), list(xlaffi:::new_type("f64", 4L)))
  of <- function(layout) {
    lengths(regmatches(text <- xlaffi:::program_text(traced$region, layout), gregexpr("stablehlo.reduce", text)))
  }
  expect_identical(of(NULL), 1L)
  layout <- function(mesh) list(mesh = mesh, inputs = list(NULL), outputs = list(NULL))
  expect_identical(of(layout(xla_mesh(c(a = 1L)))), 1L)
  expect_identical(of(layout(mesh())), 2L)
})
