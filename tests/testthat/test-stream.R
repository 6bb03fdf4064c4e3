parts_of <- function(x, rows) {
  starts <- seq(1, nrow(x), by = rows)
  lapply(starts, function(from) x[from:min(from + rows - 1, nrow(x)), , drop = FALSE])
}

test_that("parts of every kind make the array", {
  skip_without_plugin()
  x <- matrix(rnorm(60), 20)
  for (shape in list(NULL, c(20, 3), c(NA, 3))) {
    expect_identical(as_array(pjrt_buffer_from(parts_of(x, 7), "f64", shape)), x)
  }
  # Vectors, without a dtype; types of R.
  for (whole in list(1:9, c(TRUE, FALSE, TRUE), as.double(1:4), c(1 + 2i, 3i), bit64::as.integer64(1:3))) {
    from <- pjrt_buffer_from(list(whole[1], whole[-1]))
    expect_identical(as_array(from), as_array(pjrt_buffer(whole)))
    expect_identical(elt_type(from), elt_type(pjrt_buffer(whole)))
  }
  # Arrays with more axes, parts without rows, and an integer part where the dtype is given.
  y <- array(as.double(1:24), c(4, 3, 2))
  parts <- list(y[0, , , drop = FALSE], y[1, , , drop = FALSE], array(as.integer(y[2:4, , ]), c(3, 3, 2)))
  expect_identical(as_array(pjrt_buffer_from(parts, "f64")), y)
  # Bytes in row-major order, which need not end with a row.
  bytes <- writeBin(as.double(t(x)), raw())
  bytes <- split(bytes, rep(1:4, length.out = length(bytes)) |> sort())
  bytes <- list(bytes[[1]][1:104], c(bytes[[1]][-(1:104)], bytes[[2]]), c(bytes[[3]], bytes[[4]]))
  expect_identical(as_array(pjrt_buffer_from(bytes, "f64", c(NA, 3))), x)
  # Nothing at all.
  expect_identical(shape(pjrt_buffer_from(list(), "f32", c(NA, 3))), c(0L, 3L))
})

test_that("functions, connections and data frames give parts", {
  skip_without_plugin()
  at <- 0
  next_part <- function() {
    at <<- at + 1
    if (at <= 3) rep(at, at)
  }
  expect_identical(as.vector(as_array(pjrt_buffer_from(next_part, "f64"))), c(1, 2, 2, 3, 3, 3))
  file <- withr::local_tempfile()
  writeBin(as.double(1:6), file)
  expect_identical(as_array(pjrt_buffer_from(file(file), "f64", c(NA, 2))), matrix(as.double(1:6), 3, byrow = TRUE))
  connection <- gzfile(file, "rb")
  withr::defer(close(connection))
  expect_identical(as_array(pjrt_buffer_from(connection, "f64", 6L)), array(as.double(1:6)))
  expect_true(isOpen(connection))
  text <- file(file, "r")
  withr::defer(close(text))
  expect_match(error_of(pjrt_buffer_from(text, "f64", 6))$message, "binary mode")
  frames <- list(data.frame(a = 1:2, b = c(0.5, NA), c = c(TRUE, FALSE)), data.frame(a = 3L, b = 1, c = NA))
  expect_equal(as_array(pjrt_buffer_from(frames, "f64")), cbind(1:3, c(0.5, NaN, 1), c(1, 0, NaN)))
  whole <- bit64::as.integer64(2)^60 + 1L
  exact <- data.frame(a = c(whole, whole), b = 1:2)
  expect_identical(format(as_array(pjrt_buffer_from(list(exact)))[, 1]), format(c(whole, whole)))
})

test_that("what does not fit is an error that names the part", {
  skip_without_plugin()
  x <- matrix(as.double(1:12), 4)
  local_edition(3)
  refused <- function(...) cat(conditionMessage(error_of(pjrt_buffer_from(...))), "\n\n")
  expect_snapshot({
    refused(list(x, x), "f64", c(7, 3))
    refused(list(x, x), "f64", c(9, 3))
    refused(list(x, x[, 1:2]), "f64")
    refused(list(x, 1:3), "f64")
    refused(list(1:3, 2.5))
    refused(list(1:3, c(1, 300)), "i8")
    refused(list(1:3, "a"), "i8")
    refused(list(1:3, factor("a")), "i8")
    refused(list(1:3, NULL), "i8")
    refused(list(data.frame(a = 1, b = "x")))
    refused(list(data.frame(a = 1, b = bit64::as.integer64(1))))
    refused(list(1:2, c(3L, NA)), check = TRUE)
    refused(list())
    refused(list(raw(8)))
    refused(list(raw(8)), "f64")
    refused(list(raw(12)), "f64", NA)
    refused(list(raw(8)), "f64", c(NA, 2))
    refused(list(1), "f64", integer())
    refused(list(x), "f64", c(NA, 0))
    refused(1:3)
    refused(list(1), progress = 3)
    refused(list(1), "f64", c(2, NA))
  })
  expect_s3_class(error_of(pjrt_buffer_from(list(1), "f64", 2)), "xlaffi_error_invalid_argument")
})

test_that("errors and interrupts of the user's functions pass, and all that has come is freed", {
  skip_without_plugin()
  closed <- 0
  stops <- function() stop("no more of this")
  expect_error(pjrt_buffer_from(stops, "f64", 3), "no more of this", class = "simpleError")
  expect_error(pjrt_buffer_from(list(1, 2), progress = function(done, total) stop("seen enough")), "seen enough")
  seen <- list()
  pjrt_buffer_from(list(1, 2:3 / 2), "f64", 3, progress = function(done, total) seen <<- c(seen, list(c(done, total))))
  expect_identical(seen, list(c(8, 24), c(24, 24)))
  pjrt_buffer_from(list(1), progress = function(done, total) seen <<- c(done, total))
  expect_identical(seen, c(4, NA))
  expect_match(capture.output(pjrt_buffer_from(list(1), progress = TRUE), type = "message"), "^\\s*0 MB$", all = FALSE)
})

test_that("a buffer by parts takes one copy and a part of memory", {
  skip_without_plugin()
  skip_unless_all()
  skip_on_os(c("mac", "windows"))
  file <- withr::local_tempfile()
  connection <- file(file, "wb")
  for (i in 1:32) writeBin(rep(as.double(i), 1e6), connection)
  close(connection)
  kinds <- c("rows", "columns", "function", "open", "connection", "empty")
  run <- run_r(sprintf("
    status <- function(what) {
      lines <- readLines('/proc/self/status')
      as.numeric(gsub('[^0-9]', '', grep(paste0('^', what, ':'), lines, value = TRUE))) / 1024
    }
    invisible(pjrt_buffer(1))
    # Whether a buffer of 244 MiB takes little more than that at its peak, and R itself next to nothing.
    measure <- function(make, name) {
      if (!name %%in%% %2$s) return(invisible())
      invisible(gc(reset = TRUE))
      writeLines('5', '/proc/self/clear_refs')
      before <- status('VmRSS')
      x <- make()
      stopifnot(identical(shape(x), c(1000000L, 32L)))
      peak <- status('VmHWM') - before - 244
      cat(name, peak < 120, sum(gc()[, 6]) < 150, '\\n')
    }
    at <- 0
    rows <- function() {
      at <<- at + 1
      if (at <= 25) matrix(at, 40000, 32)
    }
    from_function <- function(shape) { at <<- 0; pjrt_buffer_from(rows, 'f64', shape) }
    measure(function() pjrt_buffer_from_file('%1$s', 'f64', c(NA, 32), row_major = TRUE), 'rows')
    measure(function() pjrt_buffer_from_file('%1$s', 'f64', c(NA, 32), row_major = FALSE), 'columns')
    measure(function() from_function(c(1e6, 32)), 'function')
    measure(function() from_function(c(NA, 32)), 'open')
    measure(function() pjrt_buffer_from(file('%1$s'), 'f64', c(1e6, 32)), 'connection')
    measure(function() pjrt_empty('f64', c(1e6, 32)), 'empty')
    # What is given up is given back.
    before <- status('VmRSS')
    fails <- function() {
      at <<- at + 1
      if (at < 20) matrix(at, 40000, 32) else stop('the disk is gone')
    }
    for (i in 1:3) {
      at <- 0
      try(pjrt_buffer_from(fails, 'f64', c(1e6, 32)), silent = TRUE)
    }
    invisible(gc())
    cat('given up', status('VmRSS') - before < 120, '\\n')
  ", file, paste(deparse(kinds), collapse = "")), timeout = 300)
  expect_identical(
    trimws(run$output),
    c(paste(kinds, "TRUE TRUE"), "given up TRUE")
  )
})
