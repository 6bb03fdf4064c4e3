test_that("objects may be collected in any order", {
  skip_without_plugin()
  skip_unless_all()
  make <- function() {
    exec <- program("%r = stablehlo.add %x, %x : tensor<2xf32>", c(x = "2xf32"), "2xf32")
    x <- pjrt_buffer(c(1, 2))
    list(exec = exec, x = x, out = pjrt_execute(exec, x), device = device(x))
  }
  orders <- list(1:4, 4:1, c(3, 1, 4, 2), c(2, 4, 1, 3))
  for (order in orders) {
    objects <- make()
    for (i in order) {
      objects[i] <- list(NULL)
      gc()
    }
  }
  kept <- make()$out
  gc()
  expect_identical(as.vector(as_array(kept)), c(2, 4))
})

test_that("R ends quietly with objects alive and work under way", {
  skip_without_plugin()
  run <- run_r("
    n <- 600
    src <- sprintf('func.func @main(%%x: tensor<%dx%dxf32>) -> tensor<%dx%dxf32> {
      %%0 = stablehlo.dot_general %%x, %%x, contracting_dims = [1] x [0] :
        (tensor<%dx%dxf32>, tensor<%dx%dxf32>) -> tensor<%dx%dxf32>
      return %%0 : tensor<%dx%dxf32>
    }', n, n, n, n, n, n, n, n, n, n, n, n)
    exec <- pjrt_compile(pjrt_program(src))
    x <- pjrt_buffer(matrix(runif(n * n), n))
    out <- list()
    for (i in 1:5) out[[i]] <- pjrt_execute(exec, x)
    quit(status = 7)
  ")
  expect_identical(run, list(output = character(), status = 7L))
})

test_that("R ends quietly where a program runs on that was interrupted", {
  skip_without_plugin()
  skip_on_os(c("mac", "windows"))
  for (i in seq_len(if (all_run()) 5 else 1)) {
    run <- run_r("
      endless <- xla_jit(function(x) hlo_while(function(s) s < 1, function(s) s * 0.5, x))
      options(xlaffi.program_cache = FALSE)
      invisible(xla_jit(function(x) x + 1)(1))
      system(sprintf('(sleep 1; kill -INT %d) &', Sys.getpid()))
      tryCatch(endless(0.5), interrupt = function(condition) cat('interrupted\n'))
      cat(xla_jit(function(x) sum(sin(x)))(0), '\n')
      quit(status = 3)
    ")
    expect_identical(run, list(output = c("interrupted", "0 "), status = 3L))
  }
})

test_that("an error and a forked child leave R's exit alone", {
  skip_without_plugin()
  skip_on_os("windows")
  run <- run_r("
    as_array(pjrt_buffer(1))
    unlist(parallel::mclapply(1:2, function(i) i * 10, mc.cores = 2))
    stop('the end')
  ")
  expect_identical(run$output[1:2], c("[1] 1", "[1] 10 20"))
  expect_identical(run$status, 1L)
})

test_that("many round trips do not let memory grow", {
  skip_without_plugin()
  skip_unless_all()
  skip_on_os(c("mac", "windows"))
  run <- run_r("
    resident <- function() as.numeric(strsplit(readLines('/proc/self/statm'), ' ')[[1]][[2]]) * 4096 / 2^20
    src <- 'func.func @main(%x: tensor<64x64xf32>) -> tensor<64x64xf32> {
      %0 = stablehlo.add %x, %x : tensor<64x64xf32>
      return %0 : tensor<64x64xf32>
    }'
    exec <- pjrt_compile(pjrt_program(src))
    m <- matrix(1, 64, 64)
    turn <- function(n) for (i in seq_len(n)) { as_array(pjrt_execute(exec, pjrt_buffer(m))); if (i %% 200 == 0) gc() }
    turn(2000)
    before <- resident()
    turn(10000)
    cat(resident() - before < 20, '\\n')
  ", timeout = 300)
  # 4,000 leaked buffers would be 64 MB.
  expect_identical(run$output, "TRUE ")
})
