on_each <- function(exec, ...) Map(pjrt_buffer, list(...), "f64", devices(exec))

# as.vector() would take the class of 64-bit integers, and leave their bits.
values <- function(buffers) {
  lapply(buffers, function(buffer) {
    x <- as_array(buffer)
    dim(x) <- NULL
    x
  })
}

test_that("a program that is partitioned runs on parts and gives parts", {
  exec <- compile(halves, pjrt_compile_options(num_partitions = 2L))
  expect_identical(devices(exec), devices("cpu")[1:2])
  found <- pjrt_execute(exec, on_each(exec, c(1, 2), c(3, 4)))
  expect_identical(lapply(found, values), list(list(10, 10), list(c(2, 4), c(6, 8))))
  expect_identical(lapply(found[[2]], device), devices(exec))
  info <- .Call(xlaffi:::wrap__executable_info, exec)
  expect_identical(c(info$replicas, info$partitions), c(1L, 2L))
  split <- list(kind = "tiled", tiles = 2L, last_replicated = 1L, devices = 0:1)
  whole <- list(kind = "replicated", tiles = integer(), last_replicated = 1L, devices = integer())
  expect_identical(pjrt_shardings(exec), list(
    parameters = list(c(split, dtype = "f64", shape = 2L)), results = list(whole, split)
  ))
})

test_that("the devices are those that are named, in their order", {
  exec <- compile(halves, pjrt_compile_options(num_partitions = 2L, devices = c("cpu:5", "cpu:3")))
  expect_identical(devices(exec), devices("cpu")[c(6, 4)])
  found <- pjrt_execute(exec, on_each(exec, c(1, 2), c(3, 4)))
  expect_identical(values(found[[2]]), list(c(2, 4), c(6, 8)))
  expect_identical(lapply(found[[2]], device), devices(exec))
})

test_that("replicas run side by side", {
  skip_unless_all()
  exec <- compile(
    'func.func @main(%x: tensor<2xf64>) -> tensor<2xf64> {
      %0 = "stablehlo.all_reduce"(%x) ({
      ^bb0(%a: tensor<f64>, %b: tensor<f64>):
        %1 = stablehlo.add %a, %b : tensor<f64>
        stablehlo.return %1 : tensor<f64>
      }) {replica_groups = dense<[[0, 1, 2]]> : tensor<1x3xi64>} : (tensor<2xf64>) -> tensor<2xf64>
      return %0 : tensor<2xf64>
    }',
    pjrt_compile_options(num_replicas = 3L)
  )
  # One result alone is its list.
  found <- pjrt_execute(exec, on_each(exec, c(1, 2), c(3, 4), c(5, 6)))
  expect_identical(values(found), rep(list(c(9, 12)), 3))
  found <- pjrt_execute(exec, on_each(exec, c(1, 2), c(3, 4), c(5, 6)), simplify = FALSE)
  expect_identical(lengths(found), 3L)
})

test_that("what is donated is gone on each device, unless it is kept", {
  exec <- compile(
    'sdy.mesh @mesh = <["x"=2]>
    func.func @main(%x: tensor<8xf64> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>, tf.aliasing_output = 0 : i32})
        -> (tensor<8xf64> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>}) {
      %0 = stablehlo.add %x, %x : tensor<8xf64>
      return %0 : tensor<8xf64>
    }',
    pjrt_compile_options(num_partitions = 2L)
  )
  x <- on_each(exec, 1:4, 5:8)
  keep <- pjrt_execution_options(non_donatable_input_indices = 0L)
  found <- pjrt_execute(exec, x, execution_options = keep)
  expect_identical(values(found), list(2 * 1:4, 2 * 5:8))
  expect_identical(values(x), list(as.double(1:4), as.double(5:8)))
  expect_identical(values(pjrt_execute(exec, x)), list(2 * 1:4, 2 * 5:8))
  expect_snapshot(error = TRUE, {
    as_array(x[[1]])
    as_array(x[[2]])
    pjrt_execute(exec, x)
    pjrt_execute(exec, list(pjrt_buffer(1:4, "f64"), x[[2]]))
    pjrt_execute(exec, list(pjrt_buffer(1:4, "f64"), x[[2]]), check = FALSE)
  })
})

test_that("wrong arguments are named with their devices", {
  exec <- compile(halves, pjrt_compile_options(num_partitions = 2L))
  x <- on_each(exec, c(1, 2), c(3, 4))
  expect_snapshot(error = TRUE, {
    pjrt_execute(exec)
    pjrt_execute(exec, x[[1]])
    pjrt_execute(exec, x, x)
    pjrt_execute(exec, x[1])
    pjrt_execute(exec, c(x, x))
    pjrt_execute(exec, list(x[[1]], c(3, 4)))
    pjrt_execute(exec, x[2:1])
    pjrt_execute(exec, on_each(exec, c(1, 2), c(3, 4, 5)))
  })
})

test_that("each program has the partitioner that it was written for", {
  gspmd <- function(result) {
    sprintf('func.func @main(%%x: tensor<4xf64> {mhlo.sharding = "{devices=[2]<=[2]}"}) -> (tensor<4xf64>%s) {
      %%0 = stablehlo.add %%x, %%x : tensor<4xf64>
      return %%0 : tensor<4xf64>
    }', result)
  }
  kinds <- function(result, ...) {
    options <- pjrt_compile_options(num_partitions = 2L, ...)
    shardings <- pjrt_shardings(compile(gspmd(result), options))
    vapply(unlist(unname(shardings), recursive = FALSE), function(sharding) sharding$kind, "")
  }
  split <- ' {mhlo.sharding = "{devices=[2]<=[2]}"}'
  expect_identical(kinds(split), c("tiled", "tiled"))
  expect_identical(kinds(split, shardy = FALSE), c("tiled", "tiled"))
  expect_identical(kinds(""), c("tiled", "replicated"))
  expect_snapshot(error = TRUE, compile(halves, pjrt_compile_options(num_partitions = 2L, shardy = FALSE)))
})

test_that("whole arrays are cut and put together as the program wants them", {
  skip_unless_all()
  exec <- compile('
    sdy.mesh @mesh = <["a"=2, "b"=3]>
    func.func @main(
        %x: tensor<6x4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"b"}, {"a"}]>}, %k: tensor<i64>,
        %y: tensor<6xi64> {sdy.sharding = #sdy.sharding<@mesh, [{"a", "b"}]>}
      ) -> (tensor<6x4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"a"}, {}]>},
        tensor<6xi64> {sdy.sharding = #sdy.sharding<@mesh, [{"b"}]>}, tensor<i64>) {
      %0 = stablehlo.negate %x : tensor<6x4xf32>
      return %0, %y, %k : tensor<6x4xf32>, tensor<6xi64>, tensor<i64>
    }', pjrt_compile_options(num_partitions = 6L))
  x <- matrix(as.double(1:24), 6)
  parts <- pjrt_shard(exec, x, 7, pjrt_buffer(11:16, "i64"))
  # Place i of the mesh is row i %/% 3 and column i %% 3.
  expect_identical(as_array(parts[[1]][[5]]), x[3:4, 3:4])
  expect_identical(lapply(parts[[2]], shape), rep(list(integer()), 6))
  expect_identical(values(parts[[3]]), lapply(11:16, bit64::as.integer64))
  results <- do.call(pjrt_execute, c(exec, parts))
  long <- bit64::as.integer64
  expect_identical(pjrt_gather(exec, results), list(-x, structure(long(11:16), dim = 6L), long(7)))
  mesh <- xla_mesh(c(a = 2L, b = 3L))
  sharded <- xla_shard(x, mesh, c("b", "a"), dtype = "f32")
  expect_identical(pjrt_shard(exec, sharded, 7, 11:16)[[1]], sharded@shards)
  replicated <- xla_shard(bit64::as.integer64(7), mesh, dtype = "i64")
  expect_snapshot(error = TRUE, {
    pjrt_shard(exec, xla_shard(x, mesh, "a", dtype = "f32"), 7, 11:16)
    pjrt_shard(exec, xla_shard(x, mesh, c("b", "a")), 7, 11:16)
    pjrt_shard(exec, sharded, replicated, 11:16)
    pjrt_shard(exec, x)
    pjrt_shard(exec, x[1:3, ], 7, 11:16)
    pjrt_shard(exec, pjrt_buffer(x, "f64"), 7, 11:16)
    pjrt_shard(exec, "x", 7, 11:16)
    pjrt_gather(exec, results[1:2])
    pjrt_gather(exec, lapply(results, `[`, 1:2))
    pjrt_shard(compile("func.func @main(%x: tensor<f32>) -> tensor<f32> { return %x : tensor<f32> }"), 1)
    pjrt_shard("program")
  })
})
