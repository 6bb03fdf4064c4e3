mesh <- xla_mesh(c(data = 4, model = 2))

# All parts of a sharded array are what R says lies there.
expect_parts <- function(x, whole) {
  shape <- shape(x)
  for (part in xla_shards(x)) {
    at <- Map(seq.int, part$start, length.out = part$end - part$start + 1L)
    wanted <- do.call(`[`, c(list(array(unclass(whole), shape)), at, drop = FALSE))
    expect_equal(unclass(as_array(part$buffer)), wanted, ignore_attr = "class")
    expect_true(device(part$buffer) == part$device)
  }
}

specs <- list(
  xla_spec(), "data", "model", c(NA, "data"), c("data", "model"), c("model", "data"), list(c("data", "model")),
  list(NULL, c("model", "data"))
)

test_that("every dtype and specification goes there and back", {
  numbers <- matrix(as.double(1:64), 8)
  data <- list(
    numbers, matrix(1:64, 8), numbers > 30, numbers + 1i, array(bit64::as.integer64(2)^(1:64 - 2), c(8, 8))
  )
  for (x in one_in(4L, data)) {
    for (spec in specs) {
      sharded <- xla_shard(x, mesh, spec)
      expect_identical(as_array(sharded), x)
      expect_parts(sharded, x)
    }
  }
  expect_identical(as.character(dtype(xla_shard(numbers, mesh, "data"))), "f64")
  half <- xla_shard(numbers, mesh, c("data", "model"), dtype = "bf16")
  expect_identical(as.character(dtype(half)), "bf16")
  expect_identical(as_array(half), numbers)
})

test_that("other devices, vectors, scalars, empty arrays, more axes", {
  turned <- xla_mesh(c(model = 2, data = 4), devices = rev(devices()))
  x <- array(as.double(1:96), c(4, 2, 12))
  for (spec in list(c("data", "model"), c("model", NA, "data"), list(NULL, NULL, c("data")))) {
    expect_parts(xla_shard(x, turned, spec), x)
    expect_identical(as_array(xla_shard(x, turned, spec)), x)
  }
  v <- xla_shard(as.double(1:8), mesh, list(c("model", "data")))
  expect_identical(as.vector(as_array(v)), as.double(1:8))
  expect_identical(as.vector(as_array(xla_shards(v)[[2]]$buffer)), 5)
  scalar <- xla_shard(pjrt_scalar(3), mesh)
  expect_identical(as_array(scalar), 3)
  expect_identical(lapply(xla_shards(scalar), function(part) as_array(part$buffer)), rep(list(3), 8))
  empty <- xla_shard(matrix(0, 0, 4), mesh, c("data", "model"))
  expect_identical(as_array(empty), matrix(0, 0, 4))
  expect_identical(shape(xla_shards(empty)[[1]]$buffer), c(0L, 2L))
})

test_that("buffers are cut where they are, sharded arrays are moved", {
  x <- matrix(as.double(1:64), 8)
  dtypes <- c("f64", "bf16", "f32", "i64", "ui8", "c64", "pred")
  for (dtype in one_in(7L, dtypes)) {
    buffer <- pjrt_buffer(x, dtype, device = "cpu:3")
    whole <- as_array(buffer)
    for (spec in specs) {
      there <- xla_shard(buffer, mesh, spec)
      expect_identical(as_array(there), whole)
      expect_parts(there, whole)
      expect_identical(as_raw(there, row_major = TRUE), as_raw(buffer, row_major = TRUE))
      expect_identical(as_raw(there, row_major = FALSE), as_raw(buffer, row_major = FALSE))
    }
  }
  a <- xla_shard(x, mesh, "data")
  for (spec in specs) {
    b <- xla_shard(a, mesh, spec)
    expect_identical(b@spec, xlaffi:::checked_spec(spec, mesh, c(8L, 8L), "x"))
    expect_parts(b, x)
  }
  other <- xla_mesh(c(data = 2), devices = c("cpu:7", "cpu:2"))
  expect_parts(xla_shard(a, other, c(NA, "data")), x)
})

test_that("a process gives its part, or all of it", {
  x <- matrix(as.double(1:64), 8)
  own <- mesh
  # As if the last two rows of the mesh were another process's
  own$local <- 1:4
  near <- xla_shard(x[1:4, ], own, "data", global_shape = c(8, 8))
  expect_identical(shape(near), c(8L, 8L))
  expect_identical(near[1:4, ], x[1:4, ])
  expect_identical(xla_shards(near)[[3]][c("start", "end")], list(start = c(3L, 1L), end = c(4L, 8L)))
  expect_identical(as_array(xla_shards(near)[[3]]$buffer), x[3:4, ])
  all <- xla_shard(x, own, "data", global_shape = c(8, 8))
  expect_identical(as_array(xla_shards(all)[[3]]$buffer), x[3:4, ])
  buffer <- xla_shard(pjrt_buffer(x[1:4, ], "f64"), own, "data", global_shape = c(8, 8))
  expect_identical(as_array(xla_shards(buffer)[[3]]$buffer), x[3:4, ])
  expect_snapshot(error = TRUE, {
    as_array(near)
    xla_shard(x[1:2, ], own, "data", global_shape = c(8, 8))
    xla_shard(1, own, "data", global_shape = c(8, 8))
  })
  expect_snapshot(near)
  expect_identical(as_array(xla_shard(x, mesh, "data", global_shape = c(8, 8))), x)
})

test_that("indices read elements", {
  x <- matrix(as.double(1:64), 8)
  a <- xla_shard(x, mesh, c("data", "model"))
  expect_identical(a[2, 7], x[2, 7])
  expect_identical(a[c(8, 1, 1), ], x[c(8, 1, 1), ])
  expect_identical(a[-(1:6), c(TRUE, FALSE)], x[-(1:6), c(TRUE, FALSE)])
  expect_identical(a[, 3, drop = FALSE], x[, 3, drop = FALSE])
  expect_identical(a[integer(), ], x[integer(), ])
  expect_identical(a[], x)
  expect_identical(a[10:12], x[10:12])
  expect_identical(a[x > 60], x[x > 60])
  expect_identical(a[cbind(1:2, 3:4)], x[cbind(1:2, 3:4)])
  expect_identical(head(a, 2), head(x, 2))
  long <- xla_shard(bit64::as.integer64(1:8), mesh, "data")
  expect_identical(long[3], bit64::as.integer64(3))
  expect_snapshot(error = TRUE, a[9, 1])
})

test_that("they look like arrays", {
  x <- xla_shard(matrix(c(1.5, 2, 3, 4), 4, 2), mesh, c("data", "model"))
  expect_identical(dim(x), c(4L, 2L))
  expect_true(is.matrix(x) && is.array(x))
  expect_identical(length(x), 8L)
  expect_identical(platform(x), "cpu")
  expect_identical(devices(x), devices())
  expect_true(is_ready(await(x)))
  expect_identical(value(as_array_async(x)), as_array(x))
  expect_snapshot({
    x
    mesh
    xla_shard(1:8, mesh, list(c("data", "model")))
    xla_shard(pjrt_scalar(TRUE), mesh)
    format(x)
    str(x)
  })
})

test_that("testthat compares what they hold and where they lie", {
  x <- as.double(1:8)
  expect_equal(xla_shard(x, mesh, "data"), xla_shard(x, mesh, "data"))
  expect_failure(expect_equal(xla_shard(x, mesh, "data"), xla_shard(x + 1, mesh, "data")))
  expect_failure(expect_equal(xla_shard(x, mesh, "data"), xla_shard(x, mesh, "model")))
})

test_that("what cannot be sharded is refused", {
  expect_snapshot(error = TRUE, {
    xla_shard(matrix(1:6, 3), mesh, "data")
    xla_shard(1:12, mesh, list(c("data", "model")))
    xla_shard(1:8, mesh, "rows")
    xla_shard(1:8, mesh, c("data", "model"))
    xla_shard("a", mesh)
    xla_shard(1:8, 1)
    xla_shard(1:8, mesh, 3)
    xla_shard(c(1L, NA), mesh, check = TRUE)
    xla_shard(pjrt_buffer(1:8), mesh, dtype = "f32")
    xla_shards(1)
  })
})

test_that("functions of R refuse sharded arrays", {
  skip_unless_all()
  x <- xla_shard(matrix(as.double(1:8), 4), mesh, "data")
  groups <- unlist(lapply(c("Math", "Summary", "Complex"), methods::getGroupMembers))
  generics <- setdiff(.S3PrimitiveGenerics, c(
    "dim", "length", "dimnames", "names", "levels", "is.array", "is.matrix", "is.numeric", "as.environment", "as.call"
  ))
  others <- c("t", "mean", "solve", "rev", "sort", "summary", "median", "as.list", "as.matrix")
  for (name in one_in(5L, c(groups, generics, others))) {
    f <- get(name, envir = asNamespace("stats"))
    arguments <- if (endsWith(name, "<-")) list(x, value = 1) else list(x)
    expect_error(do.call(f, arguments), class = "xlaffi_error_unimplemented", label = name)
  }
  for (name in methods::getGroupMembers("Arith")) {
    f <- get(name)
    expect_error(f(x, 1), class = "xlaffi_error_unimplemented", label = name)
    expect_error(f(1, x), class = "xlaffi_error_unimplemented", label = name)
    expect_error(f(x, x), class = "xlaffi_error_unimplemented", label = name)
  }
  for (f in list(
    function() x[1] <- 1, function() x[[1]], function() x$shards, function() c(x, 1), function() c(1, x)[[2]] + 1,
    function() x %*% 1, function() diag(2) %*% x, function() x %*% x, function() cbind(x, 1), function() rowSums(x),
    function() sapply(x, identity), function() matrix(x), function() as.vector(x), function() var(x),
    function() as.data.frame(x), function() ifelse(x, 1, 2), function() paste(x), function() order(x),
    function() apply(x, 1, sum), function() outer(x, 1), function() if (x) 1,
    function() pmax(x, 1), function() crossprod(x), function() quantile(x),
    function() unlist(list(x)) + 1
  )) {
    expect_error(f(), label = deparse1(body(f)))
  }
  expect_snapshot(error = TRUE, {
    x + 1
    sum(x)
    x %*% x
    x$shards
    device(x)
    xla_jit(function(y) y + x)(1)
    xla_jit(function(y) x %*% y)(c(1, 2))
  })
})
