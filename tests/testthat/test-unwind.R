# R with a bound on the memory of its vectors, in a session of its own. `fill()` leaves a few
# megabytes of it: less than what is asked for below, which is less than what Rust tries first.
bounded <- "
  fill <- function() {
    pieces <- list()
    more <- function() tryCatch(numeric(2^18), error = function(e) NULL)
    while (!is.null(piece <- more())) pieces[[length(pieces) + 1]] <- piece
    pieces[-(1:4)]
  }
  failed <- function(code) {
    met <- tryCatch({ force(code); 'nothing' }, error = conditionMessage)
    grepl('cannot allocate|memory exhausted|memory limit', met)
  }"
run_bounded <- function(code) run_r(c(bounded, code), env = c(R_MAX_VSIZE = "100M"))

test_that("where R cannot allocate a result, nothing of it stays behind", {
  skip_without_plugin()
  skip_unless_all()
  skip_on_os(c("mac", "windows"))
  run <- run_bounded("
    resident <- function() {
      as.numeric(strsplit(readLines('/proc/self/statm'), ' ')[[1]][[2]]) * 4096 / 2^20
    }
    plus <- xla_jit(function(x) x + 1)
    x <- rnorm(4e6)
    sum(plus(x)) != 0
    ballast <- fill()
    before <- resident()
    all(vapply(1:40, function(i) failed(plus(x)), NA))
    resident() - before < 300
    rm(ballast)
    sum(plus(x)) != 0
  ")
  # Forty arguments and results that are left behind would be 1280 MB.
  expect_identical(run$output, rep("[1] TRUE", 4))
})

test_that("R may jump out of each function, which then works as before", {
  skip_without_plugin()
  run <- run_bounded(c(sprintf("turns <- %d", if (all_run()) 5L else 1L), "
    long <- pjrt_buffer(rep(1, 3e6), 'f64')
    ballast <- fill()
    for (i in 1:turns) {
      stopifnot(
        failed(as_array(long)), failed(as_raw(long, row_major = TRUE)),
        failed(.Call(xlaffi:::wrap__buffer_literals, long)),
        # A sequence has no memory for its elements until it is asked for it.
        failed(pjrt_buffer(seq_len(6e6)))
      )
    }
    rm(ballast)
    sum(as_array(long))
    as_array(pjrt_buffer(1:3))
  "))
  expect_identical(run$output, c("[1] 3e+06", "[1] 1 2 3"))
})
