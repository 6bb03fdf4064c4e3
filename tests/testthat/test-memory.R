# Megabytes that the process has of the machine's memory, now and at most.
status <- "
  status <- function(what) {
    lines <- readLines('/proc/self/status')
    as.numeric(gsub('[^0-9]', '', grep(paste0('^', what, ':'), lines, value = TRUE))) / 1024
  }"

test_that("buffers that nobody needs do not pile up", {
  skip_without_plugin()
  skip_unless_all()
  skip_on_os(c("mac", "windows"))
  run <- run_r(c(status, "
    x <- rnorm(1e7)
    invisible(pjrt_buffer(1))
    before <- status('VmRSS')
    for (i in 1:40) b <- pjrt_buffer(x, 'f64')
    status('VmHWM') - before < 1000
    # Results, too.
    double <- pjrt_compile(pjrt_program('func.func @main(%x: tensor<10000000xf64>) -> tensor<10000000xf64> {
      %r = stablehlo.add %x, %x : tensor<10000000xf64>
      return %r : tensor<10000000xf64>
    }'))
    for (i in 1:40) r <- await(pjrt_execute(double, b))
    status('VmHWM') - before < 1500
    # What is needed may grow beyond the bound.
    kept <- lapply(1:12, function(i) pjrt_buffer(x, 'f64'))
    sum(vapply(kept, function(b) as.numeric(as_array(b)[[1]] == x[[1]]), 0))
  "), timeout = 300)
  # They would be 3200 MB, twice.
  expect_identical(run$output, c("[1] TRUE", "[1] TRUE", "[1] 12"))
})

test_that("results in a loop have the memory of those before, which goes back after a while", {
  skip_without_plugin()
  skip_unless_all()
  skip_on_os(c("mac", "windows"))
  run <- run_r(c(status, "
    faults <- function() as.numeric(strsplit(readLines('/proc/self/stat'), ' ')[[1]][[10]])
    add <- xla_jit(function(x) x + 1)
    # 32 MB, of 8,192 pages
    x <- pjrt_buffer(numeric(2^22), 'f64')
    for (i in 1:80) x <- add(x)
    before <- c(status('VmHWM'), faults())
    for (i in 1:40) x <- add(x)
    as_array(x)[1]
    c(status('VmHWM'), faults())[1:2] - before < c(300, 40 * 2000)
    rm(x)
    invisible(gc())
    held <- status('VmRSS')
    Sys.sleep(4)
    held - status('VmRSS') > 30
  "), timeout = 300)
  expect_identical(run$output, c("[1] 120", "[1] TRUE TRUE", "[1] TRUE"))
})

test_that("where memory is short R collects, and tries once more", {
  skip_without_plugin()
  skip_unless_all()
  skip_on_os(c("mac", "windows"))
  skip_if_not(nzchar(Sys.which("prlimit")), "there is no program prlimit")
  # Each arena of glibc's, of which threads have their own, takes 64 MB of the room.
  run <- run_r(c(status, "
    x <- numeric(3.2e7)
    exec <- pjrt_compile(pjrt_program('func.func @main(%x: tensor<f64>) -> tensor<32000000xf64> {
      %r = stablehlo.broadcast_in_dim %x, dims = [] : (tensor<f64>) -> tensor<32000000xf64>
      return %r : tensor<32000000xf64>
    }'))
    one <- pjrt_scalar(1, 'f64')
    invisible(as_array(pjrt_buffer(1)))
    invisible(as_array(pjrt_execute(exec, one))[[1]])
    invisible(gc())
    # What nobody takes for two seconds goes back to the system.
    Sys.sleep(4)
    # Room for one array of 256 MB, not for two, and for what R and XLA's threads need beside it, which was 80 MB.
    limit <- (status('VmSize') + 440) * 2^20
    system2('prlimit', c('--pid', Sys.getpid(), paste0('--as=', format(limit, scientific = FALSE))))
    for (i in 1:4) pjrt_buffer(x, 'f64')
    for (i in 1:4) await(pjrt_execute(exec, one))
    kept <- pjrt_buffer(x, 'f64')
    met <- tryCatch(pjrt_buffer(x, 'f64'), error = identity)
    class(met)[[1]]
  "), env = c(MALLOC_ARENA_MAX = "1"), timeout = 300)
  expect_identical(run$output, '[1] "xlaffi_error_resource_exhausted"')
})

test_that("programs that were written leave nothing in R's memory", {
  f <- function(x) {
    for (i in 1:8) x <- sin(x) * 1.5 + hlo_fori(1, 3, function(i, s) s * x, x)
    sum(x)
  }
  written <- function() xla_program(xla_vmap(xla_grad(f)), ffi_type("f64", c(2, 3)))
  cells <- function() gc()[["Ncells", "used"]]
  for (i in 1:2) written()
  before <- c(cells(), xlaffi:::trace_state$node_count)
  for (i in 1:4) written()
  after <- c(cells(), xlaffi:::trace_state$node_count)
  # Names that R keeps would be some cells for each node.
  expect_lt((after - before)[[1L]], (after - before)[[2L]] / 4)
})
