test_that("Ctrl-C ends the wait for a long execution, and R goes on", {
  skip_without_plugin()
  skip_on_os("windows")
  file <- withr::local_tempfile(lines = slow_program())
  run <- run_r(sprintf("
    exec <- pjrt_compile(pjrt_program(path = '%s'))
    interrupted <- function(code) {
      system(paste('(sleep 1; kill -INT', Sys.getpid(), ') &'))
      start <- Sys.time()
      tryCatch({code; cat('finished\\n')}, interrupt = function(e) cat('interrupted\\n'))
      cat('quick:', as.numeric(Sys.time() - start, units = 'secs') < 8, '\\n')
    }
    n <- pjrt_scalar(1e12, 'i64')
    interrupted(pjrt_execute(exec, n))
    # Again, while the first one is still running.
    interrupted(pjrt_execute(exec, n))
    # What they work on can be read: they take nothing of it.
    as_array(n)
    as_array(pjrt_buffer(c(1, 2)))
    short <- pjrt_execute(exec, pjrt_scalar(10L, 'i64'))
    dtype(short)
  ", file))
  expect_identical(run$output, c(
    rep(c("interrupted", "quick: TRUE "), 2), "integer64", "[1] 1000000000000", "[1] 1 2", "<i64>"
  ))
})

test_that("Ctrl-C comes between two uploads, and between two reads", {
  skip_without_plugin()
  skip_on_os("windows")
  run <- run_r("
    x <- numeric(1e6)
    b <- pjrt_buffer(x)
    # The signal comes while the third one is under way, as it were.
    interrupted <- function(work) {
      done <- 0
      tryCatch(
        for (i in 1:12) {
          work()
          done <- i
          if (i == 3) tools::pskill(Sys.getpid(), tools::SIGINT)
        },
        interrupt = function(e) NULL
      )
      done
    }
    interrupted(function() .Call(xlaffi:::wrap__buffer_from_r, x, NULL, NULL, NULL))
    interrupted(function() .Call(xlaffi:::wrap__buffer_to_r, b))
    interrupted(function() .Call(xlaffi:::wrap__buffer_to_raw, b, TRUE))
  ")
  expect_identical(run$output, rep("[1] 3", 3))
})
