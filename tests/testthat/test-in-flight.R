# A program that runs on XLA's own threads for some tenths of a second.
product <- function(n) {
  sprintf("func.func @main(%%x: %1$s) -> %1$s {
    %%r = stablehlo.dot_general %%x, %%x, contracting_dims = [1] x [0] : (%1$s, %1$s) -> %1$s
    return %%r : %1$s
  }", sprintf("tensor<%dx%dxf64>", n, n))
}

test_that("no more programs are under way than the limit says, on several devices too", {
  skip_without_plugin()
  skip_unless_all()
  run <- run_r(sprintf("
    invisible(pjrt_client('cpu', cpu_device_count = 2L))
    program <- pjrt_program('%s')
    programs <- list(pjrt_compile(program, device = 'cpu:0'), pjrt_compile(program, device = 'cpu:1'))
    x <- lapply(c('cpu:0', 'cpu:1'), function(device) pjrt_buffer(diag(1000), 'f64', device))
    pjrt_in_flight()
    for (limit in c(1, 3)) {
      pjrt_in_flight(limit)
      running <- integer()
      results <- list()
      for (i in 1:8) {
        results[[i]] <- pjrt_execute(programs[[i %%%% 2 + 1]], x[[i %%%% 2 + 1]])
        running[[i]] <- sum(!vapply(results, is_ready, NA))
      }
      cat(max(running) <= limit, all(vapply(results, function(r) as_array(r)[1, 1] == 1, NA)), '\\n')
    }
    try(pjrt_in_flight(0))
  ", product(1000)))
  expect_identical(trimws(run$output[1:3]), c("[1] 24", "TRUE TRUE", "TRUE TRUE"))
  expect_match(paste(trimws(run$output), collapse = " "), "must be one whole number from 1, not 0")
})

test_that("ten thousand launches that nobody reads neither fill memory nor lock up", {
  skip_without_plugin()
  skip_unless_all()
  skip_on_os(c("mac", "windows"))
  run <- run_r("
    status <- function(what) {
      lines <- readLines('/proc/self/status')
      as.numeric(gsub('[^0-9]', '', grep(paste0('^', what, ':'), lines, value = TRUE))) / 1024
    }
    invisible(pjrt_client('cpu', cpu_device_count = 2L))
    add <- pjrt_program('func.func @main(%x: tensor<100000xf64>) -> tensor<100000xf64> {
      %r = stablehlo.add %x, %x : tensor<100000xf64>
      return %r : tensor<100000xf64>
    }')
    for (device in c('cpu:0', 'cpu:1')) {
      double <- pjrt_compile(add, device = device)
      x <- pjrt_buffer(rep(0, 1e5), 'f64', device)
      before <- status('VmRSS')
      for (i in 1:10000) x <- pjrt_execute(double, x)
      # Each result has 0.8 MB.
      cat(as_array(x)[[1]] == 0, status('VmHWM') - before < 700, '\\n')
    }
  ", timeout = 300)
  expect_identical(trimws(run$output), c("TRUE TRUE", "TRUE TRUE"))
})

test_that("Ctrl-C ends a loop of launches that wait for room", {
  skip_without_plugin()
  skip_unless_all()
  skip_on_os("windows")
  run <- run_r(sprintf("
    slow <- pjrt_compile(pjrt_program('%s'))
    x <- pjrt_buffer(diag(2000), 'f64')
    system(paste('(sleep 2; kill -INT', Sys.getpid(), ') &'))
    start <- Sys.time()
    tryCatch(for (i in 1:2000) y <- pjrt_execute(slow, x), interrupt = function(e) cat('interrupted\\n'))
    # A launch every few tenths of a second, and R itself looks after hundreds of them.
    cat('quick:', as.numeric(Sys.time() - start, units = 'secs') < 10, '\\n')
    as_array(pjrt_buffer(1:3))
  ", product(2000)), timeout = 300)
  expect_identical(trimws(run$output), c("interrupted", "quick: TRUE", "[1] 1 2 3"))
})

test_that("R goes on while a result is on its way", {
  skip_unless_included("work beside the thread that launches")
  slow <- compile(product(1500))
  x <- pjrt_buffer(diag(1500), "f64")
  promises <- lapply(1:3, function(i) as_array_async(pjrt_execute(slow, x)))
  was_ready <- vapply(promises, is_ready, NA)
  expect_false(was_ready[[3]])
  # They are computed in their order, and read side by side.
  for (promise in rev(promises)) expect_identical(value(promise), diag(1500))
  expect_true(all(vapply(promises, is_ready, NA)))
})
