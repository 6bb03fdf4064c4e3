test_that("each device of a mesh reads its rows", {
  skip_without_plugin()
  path <- withr::local_tempfile()
  writeBin(as.double(1:24), path)
  run <- run_r(sprintf("
    invisible(pjrt_client('cpu', cpu_device_count = 4L))
    x <- matrix(as.double(1:24), 8)
    seen <- list()
    read <- function(rows, device) {
      seen[[format(device)]] <<- rows
      pjrt_buffer_from_file('%s', 'f64', c(8, 3), device, row_major = FALSE, rows = rows)
    }
    mesh <- xla_mesh(c(data = 2, model = 2))
    both <- xla_shard_from(read, mesh, xla_spec(c('data', 'model')), c(8, 3))
    str(unname(seen))
    identical(as_array(both), x)
    seen <- list()
    half <- xla_shard_from(read, mesh, 'data', c(8, 3))
    length(seen)
    identical(as_array(half), x)
    is_part <- function(shard) identical(as_array(shard$buffer), x[seq(shard$start[1], shard$end[1]), ])
    vapply(xla_shards(half), is_part, NA)
    refused <- function(...) {
      met <- tryCatch(xla_shard_from(...), error = identity)
      cat(gsub('\\n *', ' ', conditionMessage(met)), '\\n')
    }
    refused(function(rows, device) pjrt_buffer(x, 'f64', device), mesh, 'data', c(8, 3))
    refused(function(rows, device) pjrt_buffer(x[1:4, ], 'f64', 'cpu:3'), mesh, 'data', c(8, 3))
    refused(function(rows, device) x, mesh, 'data', c(8, 3))
    changing <- function(rows, device) pjrt_buffer(x[1:4, ], if (rows[1] == 1) 'f64' else 'f32', device)
    refused(changing, mesh, 'data', c(8, 3))
    refused(read, mesh, xla_spec(NULL, 'data'), c(8, 4))
    refused(3, mesh, 'data', c(8, 3))
  ", path))
  expect_identical(run$output, c(
    "List of 4", " $ : int [1:2] 1 2", " $ : int [1:2] 3 4", " $ : int [1:2] 5 6", " $ : int [1:2] 7 8", "[1] TRUE",
    "[1] 2", "[1] TRUE", "[1] TRUE TRUE TRUE TRUE",
    "for the rows 1 to 4 `read` gave a buffer of shape (8, 3), not (4, 3) ",
    "for the rows 1 to 4 `read` gave a buffer on CpuDevice(id=3), not on CpuDevice(id=0) ",
    "for the rows 1 to 4 `read` gave a vector of type double and length 24, which is no buffer ",
    "for the rows 5 to 8 `read` gave a buffer of dtype f32, and f64 before ",
    "`spec` must cut the rows only, the first dimension ",
    "`read` must be a function, not 3 "
  ))
})

test_that("a program computes with rows that the devices of a mesh have read", {
  skip_unless_all()
  skip_unless_included("programs over several devices")
  run <- run_r("
    invisible(pjrt_client('cpu', cpu_device_count = 2L))
    x <- matrix(as.double(1:24), 8)
    read <- function(rows, device) pjrt_buffer(x[rows[[1]]:rows[[2]], ], 'f64', device)
    half <- xla_shard_from(read, xla_mesh(c(data = 2)), 'data', c(8, 3))
    identical(as.vector(as_array(xla_jit(function(x) colSums(x))(half))), colSums(x))
  ")
  expect_identical(run$output, "[1] TRUE")
})
