# R code in a process that has room for one array of 112 MB beside what it has, and not for two. glibc would reserve
# 64 MB for each thread that allocates for the first time, and keep freed memory by what was freed before: settings of
# its own take both away, so that the room does not depend on which threads come when.
run_in_little_room <- function(prepare, code) {
  code <- c("
    status <- function(what) {
      lines <- readLines('/proc/self/status')
      as.numeric(gsub('[^0-9]', '', grep(paste0('^', what, ':'), lines, value = TRUE))) / 1024
    }
    invisible(pjrt_client('cpu', cpu_device_count = 2L))
    x <- rnorm(1.4e7)", prepare, "
    invisible(gc())
    limit <- (status('VmSize') + 190) * 2^20
    system2('prlimit', c('--pid', Sys.getpid(), paste0('--as=', format(limit, scientific = FALSE))))", code)
  run_r(code, c(MALLOC_ARENA_MAX = "1", MALLOC_MMAP_THRESHOLD_ = "131072"), timeout = 300)
}

skip_without_prlimit <- function() {
  skip_without_plugin()
  skip_on_os(c("mac", "windows"))
  skip_if_not(nzchar(Sys.which("prlimit")), "there is no program prlimit")
}

test_that("where memory is short for parts R collects, and tries once more", {
  skip_unless_all()
  skip_without_prlimit()
  path <- withr::local_tempfile()
  writeBin(as.double(1:1.4e7), path)
  run <- run_in_little_room(
    "
    parts <- lapply(1:14, function(i) x[1:1e6])
    invisible(as_array(pjrt_buffer_from(list(1, 2))))",
    sprintf("
      for (i in 1:4) pjrt_buffer_from(parts, 'f64', 1.4e7)
      for (i in 1:4) pjrt_buffer_from_file('%s', 'f64', 1.4e7, row_major = TRUE)
      shape(pjrt_buffer(1:3))
      # What is needed stays.
      b <- pjrt_buffer_from_file('%s', 'f64', 1.4e7, row_major = TRUE)
      met <- tryCatch(pjrt_buffer_from(parts, 'f64', 1.4e7), error = identity)
      class(met)[[1]]
    ", path, path)
  )
  expect_identical(run$output, c("[1] 3", '[1] "xlaffi_error_resource_exhausted"'))
})

# Devices find that they have no room when the program runs, and not when it is launched.
test_that("a program on two devices that finds no memory can be called again", {
  skip_unless_all()
  skip_unless_included("programs over several devices")
  skip_without_prlimit()
  run <- run_in_little_room("
    exec <- pjrt_compile(pjrt_program('func.func @main(%x: tensor<f64>) -> tensor<7000000xf64> {
      %r = stablehlo.broadcast_in_dim %x, dims = [] : (tensor<f64>) -> tensor<7000000xf64>
      return %r : tensor<7000000xf64>
    }'), pjrt_compile_options(num_replicas = 2L))
    one <- lapply(c('cpu:0', 'cpu:1'), function(device) pjrt_scalar(1, 'f64', device))
    invisible(as_array(pjrt_execute(exec, one)[[2]])[[1]])", "
    all_there <- function(results) for (result in results) await(result)
    kept <- list()
    met <- tryCatch(
      for (i in 1:6) {
        kept[[i]] <- pjrt_execute(exec, one)
        all_there(kept[[i]])
      },
      error = identity
    )
    class(met)[[1]]
    rm(kept, met)
    for (i in 1:2) {
      invisible(gc())
      all_there(pjrt_execute(exec, one))
    }
    cat('again\n')
  ")
  expect_identical(run$output, c('[1] "xlaffi_error_resource_exhausted"', "again"))
})
