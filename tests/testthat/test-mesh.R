test_that("a specification has an entry for each dimension", {
  spec <- xla_spec("data", NULL, c("a", "b"), NA)
  expect_identical(unclass(spec), list("data", character(), c("a", "b"), character()))
  expect_identical(xlaffi:::as_spec(c("data", NA, NA)), xla_spec("data", NULL, NULL))
  expect_identical(xlaffi:::as_spec(list(NULL, c("a", "b"))), xla_spec(NA, c("a", "b")))
  expect_identical(xla_spec(), xlaffi:::as_spec(list()))
  expect_snapshot(spec)
})

test_that("wrong specifications are refused", {
  expect_snapshot(error = TRUE, {
    xla_spec("data", "data")
    xla_spec(c("data", NA))
    xla_spec(1)
    xlaffi:::as_spec(2)
  })
})

test_that("wrong axes and devices are refused", {
  skip_without_plugin()
  expect_snapshot(error = TRUE, {
    xla_mesh(4)
    xla_mesh(c(a = 0))
    xla_mesh(c(a = 1, a = 1))
    xla_mesh(c("a b" = 1))
    xla_mesh(c(a = 1e6))
    xla_mesh(c(a = 1), devices = 1)
    xla_mesh(c(a = 2), devices = "cpu:0")
    xla_mesh(c(a = 2), devices = c("cpu:0", "cpu:0"))
    xla_mesh("data")
  })
})

test_that("a mesh of one device shows what it is", {
  skip_without_plugin()
  mesh <- xla_mesh(c(data = 1, model = 1))
  expect_identical(mesh$axes, c(data = 1L, model = 1L))
  expect_identical(devices(mesh), devices()[1])
  expect_identical(platform(mesh), "cpu")
  expect_snapshot({
    mesh
    xla_shard(matrix(1:4, 2), mesh, "data")
  })
})

test_that("places of a mesh and numbers of parts go by rows", {
  mesh <- structure(list(axes = c(a = 2L, b = 3L), devices = as.list(1:6), local = 1:6), class = "xlaffi_mesh")
  at <- unname(as.matrix(expand.grid(b = 0:2, a = 0:1)[c("a", "b")]))
  expect_equal(unname(xlaffi:::mesh_coordinates(mesh)), at, ignore_attr = TRUE)
  parts <- xlaffi:::mesh_parts(mesh, list(c("b", "a"), character(), "a"))
  expect_equal(parts, cbind(at[, 2] * 2 + at[, 1], 0, at[, 1]))
})

test_that("what XLA chose becomes a specification, or none", {
  mesh <- structure(list(axes = c(a = 4L, b = 2L), devices = as.list(1:8), local = 1:8), class = "xlaffi_mesh")
  tiled <- function(tiles, copies, devices = 0:7) {
    list(kind = "tiled", tiles = tiles, last_replicated = copies, devices = devices)
  }
  entries <- function(...) xlaffi:::entries_of(tiled(...), mesh, c(8L, 8L))
  expect_identical(entries(c(4L, 2L), 1L), list("a", "b"))
  expect_identical(entries(c(4L, 1L), 2L), list("a", character()))
  expect_identical(entries(c(8L, 1L), 1L), list(c("a", "b"), character()))
  transposed <- as.vector(matrix(0:7, 4, byrow = TRUE))
  expect_identical(entries(c(8L, 1L), 1L, transposed), list(c("b", "a"), character()))
  expect_identical(entries(c(2L, 4L), 1L, transposed), list("b", "a"))
  expect_identical(entries(c(1L, 2L), 4L, transposed), list(character(), "b"))
  # Half of an axis, a transposed one, another kind
  expect_null(entries(c(2L, 1L), 4L))
  expect_null(entries(c(4L, 2L), 1L, 7:0))
  expect_null(xlaffi:::entries_of(list(kind = "maximal"), mesh, 8L))
  expect_null(xlaffi:::entries_of(tiled(c(4L, 2L), 1L), mesh, c(6L, 8L)))
  expect_identical(xlaffi:::entries_of(list(kind = "replicated"), mesh, 8L), list(character()))
})

test_that("on a mesh of one device all is as without", {
  skip_without_plugin()
  mesh <- xla_mesh(c(data = 1, model = 1))
  x <- matrix(as.double(1:6), 2)
  a <- xla_shard(x, mesh, c("data", "model"))
  expect_identical(as_array(a), x)
  expect_true(device(a) == devices()[[1]])
  y <- xla_jit(function(x, k) list(x %*% t(x), hlo_shard(x, "model") * k))(a, 2)
  expect_s4_class(y[[1]], "xlaffi_sharded")
  expect_identical(as_array(y[[1]]), x %*% t(x))
  expect_identical(as_array(y[[2]]), x * 2)
  said <- function(code) deparse(conditionCall(expect_error(code, "is not available for sharded arrays")))
  expect_identical(said(is.na(a)), "is.na(a)")
  expect_identical(said(summary(a)), "summary(a)")
  expect_identical(said(rev(a)), "rev(a)")
  expect_identical(said(c(a, 1)), "c(a, 1)")
  expect_identical(said(unlist(a)), "unlist(a)")
  expect_identical(said(levels(a) <- "b"), "levels(x) <- \"b\"")
  expect_identical(said(a + pjrt_buffer(1)), "a + pjrt_buffer(1)")
  # R has computed the arguments of these.
  expect_identical(said(sum(a)), "sum(x)")
  expect_identical(said(max(a, na.rm = TRUE)), "max(x, na.rm = TRUE)")
  expect_identical(as_array(xla_grad(function(x) sum(x^2))(a)), 2 * x)
  expect_identical(as_array(xla_jit(function(x) x, mesh = mesh, in_shardings = "data", out_shardings = "model")(x)), x)
  expect_identical(as_array(xla_shard(a, mesh, "model")), x)
  # Any specification is that of one device.
  f <- xla_jit(function(x) x + 1, mesh = mesh, in_shardings = "data")
  expect_identical(as_array(f(f(x))), x + 2)
  none <- xla_jit(function() hlo_iota("f64", 4), mesh = mesh, out_shardings = "data")
  expect_identical(as.vector(as_array(none())), c(0, 1, 2, 3))
})

test_that("what comes from a file is dead, and says so", {
  skip_without_plugin()
  x <- xla_shard(1:3, xla_mesh(c(data = 1)), "data")
  file <- withr::local_tempfile()
  saveRDS(x, file)
  dead <- readRDS(file)
  expect_identical(shape(dead), 3L)
  expect_snapshot(print(dead))
  expect_snapshot(error = TRUE, {
    as_array(dead)
    xla_jit(function(x) x)(dead)
    xla_shard(dead, dead@mesh)
  })
  mapped <- xla_shard_map(function(x) x, x@mesh, "data", "data")
  placed <- xla_jit(function(x) x, mesh = x@mesh)
  constrained <- local({
    mesh <- x@mesh
    xla_jit(function(x) hlo_shard(x, "data", mesh))
  })
  saveRDS(list(mapped, placed, constrained), file)
  for (f in readRDS(file)) expect_error(f(1:3), "is a mesh of another session, <mesh data = 1>")
})
