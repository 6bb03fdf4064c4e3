integers <- c("i8", "i16", "i32", "i64", "ui8", "ui16", "ui32", "ui64")
floats <- c("f16", "bf16", "f32", "f64")

round_trip <- function(x, dtype = NULL, ...) as_array(pjrt_buffer(x, dtype, ...))

test_that("every dtype comes back as it went", {
  skip_without_plugin()
  for (name in integers) {
    back <- round_trip(c(0L, 1L, 100L, 127L), name)
    expect_identical(as.integer(back), c(0L, 1L, 100L, 127L), info = name)
    expect_identical(bit64::is.integer64(back), name %in% c("ui32", "i64", "ui64"), info = name)
    if (startsWith(name, "i")) {
      expect_identical(as.integer(round_trip(c(-1L, -128L), name)), c(-1L, -128L), info = name)
    }
  }
  for (name in floats) {
    x <- c(0, -0.5, 1.25, Inf, -Inf, NaN)
    expect_identical(as.vector(round_trip(x, name)), x, info = name)
  }
  x <- c(TRUE, FALSE, TRUE)
  expect_identical(round_trip(x), array(x))
  for (name in c("c64", "c128")) {
    x <- c(1 + 2i, -0.5 - 0.25i, 0i)
    expect_identical(as.vector(round_trip(x, name)), x, info = name)
  }
})

test_that("the dtype follows from the data, and names have aliases", {
  skip_without_plugin()
  default <- function(x) as.character(dtype(pjrt_buffer(x)))
  expect_identical(default(TRUE), "pred")
  expect_identical(default(1L), "i32")
  expect_identical(default(1), "f32")
  expect_identical(default(1i), "c64")
  expect_identical(default(bit64::as.integer64(1)), "i64")
  aliases <- c(i1 = "pred", bool = "pred", s8 = "i8", s64 = "i64", u8 = "ui8", u32 = "ui32")
  for (name in names(aliases)) {
    expect_identical(as.character(elt_type(pjrt_buffer(1L, name))), aliases[[name]])
  }
  expect_identical(as.character(dtype(pjrt_buffer(1, dtype(pjrt_buffer(1L))))), "i32")
})

test_that("numbers are converted between types", {
  skip_without_plugin()
  expect_identical(as.vector(round_trip(1:3, "f64")), c(1, 2, 3))
  expect_identical(as.vector(round_trip(c(1.9, -1.9), "i32")), c(1L, -1L))
  expect_identical(as.vector(round_trip(c(TRUE, FALSE), "f32")), c(1, 0))
  expect_identical(as.vector(round_trip(c(2, 0), "pred")), c(TRUE, FALSE))
  expect_equal(as.vector(round_trip(0.1, "f32")), 0.1, tolerance = 1e-7)
  expect_false(as.vector(round_trip(0.1, "f32")) == 0.1)
  expect_identical(as.vector(round_trip(70000, "f16")), Inf)
  expect_identical(as.vector(round_trip(c(1, 2), "c64")), c(1 + 0i, 2 + 0i))
  expect_snapshot(error = TRUE, pjrt_buffer(1i, "f32"))
})

test_that("64-bit integers keep all their bits", {
  skip_without_plugin()
  x <- bit64::as.integer64(c("9007199254740993", "-9223372036854775807", "9223372036854775807"))
  back <- round_trip(x, "i64")
  expect_identical(as.character(back), as.character(x))
  expect_identical(dim(back), 3L)
  big <- pjrt_buffer(as.raw(rep(255, 8)), dtype = "ui64", shape = integer(), row_major = TRUE)
  expect_identical(format_buffer(big), "18446744073709551615")
})

test_that("shapes of rank 0 to 5, and empty ones", {
  skip_without_plugin()
  expect_identical(round_trip(1:3), array(1:3))
  expect_identical(as_array(pjrt_scalar(7L)), 7L)
  expect_identical(shape(pjrt_scalar(7L)), integer())
  expect_null(dim(pjrt_scalar(7L)))
  expect_length(pjrt_scalar(7L), 1L)
  for (dims in list(1L, c(2L, 3L), c(3L, 2L, 2L), c(2L, 1L, 3L, 2L), c(2L, 2L, 1L, 2L, 3L))) {
    x <- array(as.double(seq_len(prod(dims))), dims)
    for (name in c("i32", "f32", "f64", "i8")) {
      buffer <- pjrt_buffer(x, name)
      expect_identical(shape(buffer), dims)
      expect_identical(dim(buffer), dims)
      expect_identical(c(is.matrix(buffer), is.array(buffer)), c(is.matrix(x), is.array(x)))
      expect_length(buffer, length(x))
      expect_equal(as_array(buffer), x, info = paste(name, toString(dims)))
    }
  }
  expect_identical(round_trip(integer()), array(integer(), 0L))
  expect_identical(round_trip(matrix(0, 0, 3)), matrix(0, 0, 3))
  expect_identical(shape(pjrt_empty("f32", c(2, 0))), c(2L, 0L))
  expect_identical(dim(as_array(pjrt_empty("i8", c(2, 3)))), c(2L, 3L))
})

test_that("R's functions of buffers are right or refused", {
  skip_without_plugin()
  x <- pjrt_buffer(c(1, 2))
  expect_true(all.equal(x, pjrt_buffer(c(1, 2))))
  expect_match(all.equal(x, pjrt_buffer(c(1, 3))), "relative difference")
  expect_identical(all.equal(x, pjrt_buffer(1:2)), "dtypes are f32 and i32")
  expect_true(all.equal(x, array(c(1, 2))))
  expect_match(all.equal(x, array(1:3 + 0)), "lengths", all = FALSE, ignore.case = TRUE)
  expect_snapshot(error = TRUE, {
    is.na(x)
    anyNA(x)
    mean(x)
    x + 1
    2 * x
    -x
    sum(x)
    x[1]
    x$size
    x[1] <- 2
    summary(x)
    head(x)
    as.numeric(x)
    as.vector(x)
    cbind(1, x)
    xla_jit(function(y) y + x)(1)
    xla_jit(function(y) x[1] * y)(1)
  })
  for (f in list(t, exp, Re, rev, unique, as.list, as.matrix, as.data.frame, stats::median, `[[`)) {
    expect_error(f(x), "is not available for buffers", class = "xlaffi_error_unimplemented")
  }
  # Lists of buffers, and what looks at any object
  expect_identical(c(x, list(1)), list(x, 1))
  expect_output(utils::str(list(x)), "xlaffi_buffer")
  expect_identical(format(x, digits = 3), sprintf("<buffer f32(2) on %s>", format(device(x))))
  frame <- data.frame(a = 1)
  frame$x <- list(x)
  expect_output(print(frame), "pointer")
  expect_identical(format(pjrt_execution_options()), "<PJRTExecuteOptions: not donated none, launch 0>")
  expect_identical(as.vector(as_array(xla_jit(function(y) sum(y[1:2]) + y)(x))), c(4, 5))
  lost <- unserialize(serialize(x, NULL))
  for (f in list(dim, length)) expect_error(f(lost), "no longer exists")
})

test_that("a shape rearranges, and one value fills it", {
  skip_without_plugin()
  expect_identical(round_trip(1:6, shape = c(2, 3)), matrix(1:6, 2))
  expect_identical(round_trip(5L, shape = c(2, 2)), matrix(5L, 2, 2))
  expect_identical(round_trip(2i, "c128", shape = 3), array(rep(2i, 3)))
  expect_identical(as.vector(round_trip(TRUE, shape = 2)), c(TRUE, TRUE))
  expect_identical(
    as.character(round_trip(bit64::as.integer64(4), shape = 2)), c("4", "4")
  )
})

test_that("what R does with its memory later does not matter", {
  skip_without_plugin()
  x <- matrix(runif(300 * 300), 300)
  copy <- x + 0
  buffer <- pjrt_buffer(x, "f64")
  x[] <- 0
  rm(x)
  gc()
  expect_identical(as_array(buffer), copy)
})

test_that("bytes go and come in both orders", {
  skip_without_plugin()
  buffer <- pjrt_buffer(as.raw(1:6), dtype = "ui8", shape = c(2, 3), row_major = TRUE)
  expect_identical(as_array(buffer), matrix(1:6, 2, byrow = TRUE))
  expect_identical(as_raw(buffer, row_major = TRUE), as.raw(1:6))
  expect_identical(as_raw(buffer, row_major = FALSE), as.raw(c(1, 4, 2, 5, 3, 6)))
  buffer <- pjrt_buffer(as.raw(1:6), dtype = "ui8", shape = c(2, 3), row_major = FALSE)
  expect_identical(as_array(buffer), matrix(1:6, 2))
  bytes <- writeBin(c(1.5, -2), raw(), size = 4)
  expect_identical(as.vector(as_array(pjrt_buffer(bytes, "f32", shape = 2, row_major = TRUE))), c(1.5, -2))
  expect_identical(as_array(pjrt_scalar(as.raw(9), "i8")), 9L)
})

test_that("NA is an error if asked, for every type", {
  skip_without_plugin()
  expect_snapshot(error = TRUE, {
    pjrt_buffer(c(1, NA, 3, NA), check = TRUE)
    pjrt_buffer(NA_integer_, check = TRUE)
    pjrt_scalar(NA, check = TRUE)
    pjrt_buffer(bit64::as.integer64(NA), check = TRUE)
    pjrt_buffer(NA_complex_, check = TRUE)
  })
  expect_s3_class(pjrt_buffer(1:3, check = TRUE), "xlaffi_buffer")
  expect_identical(as.vector(round_trip(NA)), TRUE)
  expect_identical(as.vector(round_trip(NA_integer_)), NA_integer_)
  expect_true(is.nan(as.vector(round_trip(NA_real_))))
})

test_that("a buffer passes through unless something else is asked", {
  skip_without_plugin()
  buffer <- pjrt_buffer(1:4)
  expect_identical(pjrt_buffer(buffer), buffer)
  expect_identical(pjrt_buffer(buffer, dtype = "s32", device = "cpu", shape = 4), buffer)
  scalar <- pjrt_scalar(1)
  expect_identical(pjrt_scalar(scalar), scalar)
  expect_snapshot(error = TRUE, {
    pjrt_buffer(buffer, dtype = "f32")
    pjrt_buffer(buffer, shape = c(2, 2))
    pjrt_scalar(buffer)
  })
})

test_that("facts about a buffer", {
  skip_without_plugin()
  buffer <- pjrt_buffer(matrix(1:6, 2))
  expect_identical(shape(buffer), c(2L, 3L))
  expect_identical(platform(buffer), "cpu")
  expect_identical(device(buffer), pjrt_device("cpu:0"))
  expect_true(dtype(buffer) == elt_type(buffer))
  expect_false(dtype(buffer) != "i32")
  expect_snapshot(dtype(buffer))
})

test_that("bad arguments", {
  skip_without_plugin()
  expect_snapshot(error = TRUE, {
    pjrt_buffer("a")
    pjrt_buffer(NULL)
    pjrt_buffer(list(1))
    pjrt_buffer(factor("a"))
    pjrt_buffer(Sys.Date())
    pjrt_buffer(1, dtype = "f8")
    pjrt_buffer(1, dtype = 1)
    pjrt_buffer(1, shape = -1)
    pjrt_buffer(1, shape = 1.5)
    pjrt_buffer(1, shape = "a")
    pjrt_buffer(1:3, shape = c(2, 2))
    pjrt_buffer(1, device = "cpu:-1")
    pjrt_buffer(1, unknown = 2)
    pjrt_scalar(1:2)
    pjrt_buffer(as.raw(1))
    pjrt_buffer(as.raw(1), "i8")
    pjrt_buffer(as.raw(1), "i8", shape = 1)
    pjrt_buffer(as.raw(1:3), "i32", shape = 1, row_major = TRUE)
    pjrt_empty("f32", -1)
    as_raw(pjrt_buffer(1))
    copy_buffer(1, "cpu")
  })
})

test_that("sizes beyond all memory are refused", {
  skip_without_plugin()
  skip_unless_all()
  expect_snapshot(error = TRUE, {
    pjrt_empty("f64", c(1e6, 1e6, 1e6))
    pjrt_buffer(1, shape = c(2^31, 2^31, 2^31))
  })
  # Addressable but not there: the allocator says no, and R goes on.
  expect_error(pjrt_empty("f64", c(2^24, 2^22)), class = "xlaffi_error_resource_exhausted")
})

test_that("integer64 keeps its bits in ui64, both ways", {
  skip_without_plugin()
  x <- bit64::as.integer64(c("-1", "-9223372036854775807", "0", "9223372036854775807", NA))
  back <- as_array(pjrt_buffer(x, "ui64"))
  expect_identical(as.character(back), as.character(x))
  expect_identical(
    as_raw(pjrt_scalar(x[[1L]], "ui64"), row_major = TRUE), as.raw(rep(255, 8))
  )
  expect_identical(as_array(pjrt_buffer(back, "ui64")), back)
})

test_that("numbers that an integer type does not have are refused", {
  skip_without_plugin()
  large <- bit64::as.integer64(2)^40
  expect_snapshot(error = TRUE, {
    pjrt_buffer(c(bit64::as.integer64(1), large), "i32")
    pjrt_scalar(bit64::as.integer64(NA), "ui8")
    pjrt_buffer(large, "ui32", shape = c(2, 2))
    pjrt_buffer(c(-1L, 3L), "ui64")
    pjrt_buffer(matrix(c(1, 2, 3e9, 4e9), 2), "i32")
    pjrt_buffer(1e300, "i64")
    pjrt_buffer(c(0, NaN), "i16")
  })
  error <- tryCatch(pjrt_buffer(large, "i32"), error = identity)
  expect_s3_class(error, "xlaffi_error_invalid_argument")
  expect_identical(error$operand, "data")
  expect_identical(as.vector(round_trip(c(-128.9, 127.9), "i8")), c(-128L, 127L))
  expect_identical(as.vector(round_trip(bit64::as.integer64(c(-5, 5)), "i8")), c(-5L, 5L))
  # An R number beside a buffer takes the buffer's type.
  expect_error(xla_jit(function(x, y) x + y)(pjrt_buffer(1:3, "i8"), 300L), class = "xlaffi_error_invalid_argument")
})

test_that("flags that are none are refused by name", {
  skip_without_plugin()
  exec <- program("%r = stablehlo.add %x, %x : tensor<1xf32>", c(x = "1xf32"), "1xf32")
  b <- pjrt_buffer(1)
  for (flag in list(NA, "x", NULL, c(TRUE, FALSE), 1)) {
    for (error in list(
      error_of(pjrt_buffer(1, check = flag)), error_of(pjrt_scalar(1, check = flag)),
      error_of(as_array(b, check = flag)), error_of(pjrt_execute(exec, b, check = flag))
    )) {
      expect_s3_class(error, "xlaffi_error_invalid_argument")
      expect_identical(error$operand, "check")
    }
    expect_identical(error_of(pjrt_execute(exec, b, simplify = flag))$operand, "simplify")
  }
  for (dtype in list(methods::new("externalptr"), 1, NA, list(), c("f32", "f64"), NA_character_)) {
    expect_identical(error_of(pjrt_buffer(1, dtype))$operand, "dtype")
  }
})
