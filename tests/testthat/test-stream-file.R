# A file with bytes.
file_of <- function(..., envir = parent.frame()) {
  path <- withr::local_tempfile(.local_envir = envir)
  writeBin(c(...), path)
  path
}

test_that("plain files are read in every type, order, place and range of rows", {
  skip_without_plugin()
  x <- matrix(as.double(1:12), 4)
  for (row_major in c(TRUE, FALSE)) {
    for (endian in c("little", "big")) {
      bytes <- writeBin(if (row_major) c(t(x)) else c(x), raw(), endian = endian)
      path <- file_of(as.raw(rep(255, 3)), bytes)
      read <- function(...) {
        as_array(pjrt_buffer_from_file(path, "f64", ..., row_major = row_major, endian = endian, offset = 3))
      }
      expect_identical(read(c(4, 3)), x)
      expect_identical(read(c(NA, 3)), x)
      expect_identical(read(c(NA, 3), rows = c(2, 3)), x[2:3, ])
      expect_identical(read(c(4, 3), rows = c(4, 3)), x[0, ])
    }
  }
  # The bytes of every type are what they are.
  for (dtype in xlaffi:::type_state$dtypes$name) {
    buffer <- pjrt_buffer(as_array(pjrt_buffer(c(0, 1, 1, 0, 1, 1), "f32", shape = 2:3)), dtype)
    path <- file_of(as_raw(buffer, row_major = TRUE))
    from <- pjrt_buffer_from_file(path, dtype, 2:3, row_major = TRUE)
    expect_identical(as_raw(from, row_major = TRUE), as_raw(buffer, row_major = TRUE))
  }
  expect_identical(as_array(pjrt_buffer_from_file(file_of(7L), "i32", integer(), row_major = TRUE)), 7L)
  expect_identical(shape(pjrt_buffer_from_file(file_of(raw()), "i32", c(0, 3), row_major = FALSE)), c(0L, 3L))
  seen <- list()
  progress <- function(...) seen <<- c(seen, list(c(...)))
  pjrt_buffer_from_file(file_of(as.double(1:9)), "f64", 9, row_major = TRUE, progress = progress)
  expect_identical(seen, list(c(72, 72)))
})

test_that("files that are not what they are said to be", {
  skip_without_plugin()
  local_edition(3)
  folder <- withr::local_tempdir()
  withr::local_dir(folder)
  writeBin(as.double(1:6), "six")
  writeBin(as.raw(0:2), "truths")
  # Nobody writes to it.
  if (.Platform$OS.type == "windows") writeLines("", "pipe") else system("mkfifo pipe")
  refused <- function(...) cat(conditionMessage(error_of(pjrt_buffer_from_file(...))), "\n\n")
  expect_snapshot({
    refused("nowhere", "f64", 6, row_major = TRUE)
    refused("pipe", "f64", NA, row_major = TRUE)
    refused("six", "f64", 7, row_major = TRUE)
    refused("six", "f64", 5, row_major = TRUE)
    refused("six", "f64", c(NA, 4), row_major = TRUE)
    refused("six", "f64", c(NA, 0), row_major = TRUE)
    refused("six", "f64", 6)
    refused("six", "f99", 6, row_major = TRUE)
    refused("six", "f64", 6, row_major = TRUE, rows = c(0, 2))
    refused("six", "f64", 6, row_major = TRUE, rows = c(5, 7))
    refused("six", "f64", 6, row_major = TRUE, rows = 2)
    refused("six", "f64", integer(), row_major = TRUE, rows = c(1, 1), trailing = TRUE)
    refused("six", "f64", 6, row_major = TRUE, offset = -1)
    refused("six", "f64", c(NA, 3), row_major = TRUE, offset = 49)
    refused("six", "f64", 6, row_major = TRUE, endian = "middle")
    refused("truths", "pred", 3, row_major = TRUE)
    refused(".", "f64", 6, row_major = TRUE, trailing = TRUE)
  })
  five <- pjrt_buffer_from_file("six", "f64", 5, row_major = TRUE, trailing = TRUE)
  expect_identical(as_array(five), array(as.double(1:5)))
  expect_s3_class(error_of(pjrt_buffer_from_file("nowhere", "f64", 6, row_major = TRUE)), "xlaffi_error_not_found")
})

# What numpy.save() writes: magic, version, length of the header, header.
npy <- function(header, data, version = 1L, magic = as.raw(c(0x93, 0x4e, 0x55, 0x4d, 0x50, 0x59))) {
  size <- if (version == 1L) 2L else 4L
  header <- charToRaw(paste0(header, "\n"))
  c(magic, as.raw(c(version, 0)), writeBin(length(header), raw(), size = size, endian = "little"), header, data)
}

test_that("files of numpy's are read as numpy wrote them", {
  skip_without_plugin()
  python <- plugin_python()
  folder <- withr::local_tempdir()
  script <- withr::local_tempfile(fileext = ".py", lines = c(
    "import sys, numpy as np",
    "x = np.arange(24.0).reshape(2, 3, 4)",
    "for t in ['f8', '>f8', 'f4', 'f2', 'i1', '>i2', 'i4', 'i8', 'u1', 'u2', 'u4', '>u8', 'c8', '>c16', '?']:",
    "  for name, a in [('c', x), ('f', np.asfortranarray(x)), ('v', x[0, 0]), ('s', np.array(1.0)), ('e', x[:0])]:",
    "    np.save(f'{sys.argv[1]}/{t.replace(chr(62), \"big\").replace(chr(63), \"b\")}-{name}.npy', a.astype(t))"
  ))
  expect_identical(system2(python, c(shQuote(script), shQuote(folder))), 0L)
  files <- list.files(folder, full.names = TRUE)
  expect_length(files, 75)
  x <- aperm(array(as.double(0:23), c(4, 3, 2)))
  for (path in files) {
    kind <- substring(path, nchar(path) - 4, nchar(path) - 4)
    want <- switch(kind, c = , f = x, v = array(x[1, 1, ]), s = 1, e = x[0, , , drop = FALSE])
    buffer <- pjrt_buffer_from_npy(path)
    if (elt_type(buffer) == "pred") {
      want[] <- want != 0
    }
    got <- as_array(buffer)
    storage <- if (inherits(got, "integer64")) bit64::as.double.integer64(got) else got
    expect_equal(as.complex(storage), as.complex(want), info = basename(path))
    expect_identical(shape(buffer), as.integer(dim(want)), info = basename(path))
    if (kind %in% c("c", "f")) {
      bytes <- as_raw(buffer, row_major = TRUE)
      second <- as_raw(pjrt_buffer_from_npy(path, rows = c(2, 2)), row_major = TRUE)
      expect_identical(second, tail(bytes, length(bytes) / 2))
    }
  }
})

test_that("files that are not numpy's, or hold what no buffer can, are refused", {
  skip_without_plugin()
  local_edition(3)
  withr::local_dir(withr::local_tempdir())
  refused <- function(...) {
    writeBin(npy(...), "x.npy")
    cat(conditionMessage(error_of(pjrt_buffer_from_npy("x.npy"))), "\n\n")
  }
  eight <- writeBin(1, raw())
  header <- "{'descr': '<f8', 'fortran_order': False, 'shape': (1,), }"
  writeBin(npy(header, eight, 2L), "two.npy")
  expect_identical(as_array(pjrt_buffer_from_npy("two.npy")), array(1))
  expect_snapshot({
    refused(header, raw())
    refused(header, c(eight, eight))
    refused(header, eight, magic = as.raw(1:6))
    refused(header, eight, version = 4L)
    refused("{'descr': '<f8', 'shape': (1,), }", eight)
    refused("{'descr': [('a', '<f8')], 'fortran_order': False, 'shape': (1,), }", eight)
    refused("{'descr': '<U2', 'fortran_order': False, 'shape': (1,), }", eight)
    refused("{'descr': 'xf8', 'fortran_order': False, 'shape': (1,), }", eight)
    refused("{'descr': [('\xe9', '<f8')], 'fortran_order': False, 'shape': (1,), }", eight)
    refused("{'descr': '|O', 'fortran_order': False, 'shape': (1,), }", eight)
    refused("{'descr': '<f8', 'fortran_order': False, 'shape': (9999999999,), }", eight)
  })
  writeBin(as.raw(c(0x93, 0x4e, 0x55, 0x4d, 0x50, 0x59, 1, 0, 200, 0, 1)), "x.npy")
  expect_match(conditionMessage(error_of(pjrt_buffer_from_npy("x.npy"))), "cut off")
})

test_that("safetensors files give their arrays without R's memory", {
  skip_without_plugin()
  skip_if_not_installed("jsonlite")
  local_edition(3)
  withr::local_dir(withr::local_tempdir())
  write <- function(header, data) {
    header <- charToRaw(enc2utf8(header))
    writeBin(c(writeBin(length(header), raw(), size = 8L, endian = "little"), header, data), "x.safetensors")
  }
  x <- matrix(as.double(1:6), 2)
  data <- c(writeBin(c(t(x)), raw(), endian = "little"), as.raw(c(1, 0)), writeBin(2.5, raw(), endian = "little"))
  header <- paste0(
    "{\"__metadata__\":{\"format\":\"pt\"},\"b\":{\"dtype\":\"BOOL\",\"shape\":[2],\"data_offsets\":[48,50]},",
    "\"W \u00e4\":{\"dtype\":\"F64\",\"shape\":[2,3],\"data_offsets\":[0,48]},",
    "\"s\":{\"dtype\":\"F64\",\"shape\":[],\"data_offsets\":[50,58]}}   "
  )
  write(header, data)
  arrays <- pjrt_buffers_from_safetensors("x.safetensors")
  expect_setequal(names(arrays), c("b", "W \u00e4", "s"))
  expect_identical(as_array(arrays[["W \u00e4"]]), x)
  expect_identical(as_array(arrays$b), array(c(TRUE, FALSE)))
  expect_identical(as_array(arrays$s), 2.5)
  some <- pjrt_buffers_from_safetensors("x.safetensors", c("s", "b"))
  expect_named(some, c("s", "b"))
  refused <- function(header, data, ...) {
    write(header, data)
    cat(conditionMessage(error_of(pjrt_buffers_from_safetensors("x.safetensors", ...))), "\n\n")
  }
  one <- function(dtype = "F64", shape = "[1]", from = 0, to = 8) {
    sprintf("{\"a\":{\"dtype\":\"%s\",\"shape\":%s,\"data_offsets\":[%d,%d]}}", dtype, shape, from, to)
  }
  eight <- raw(8)
  expect_snapshot({
    refused(header, data, "w")
    refused(header, data, 3)
    refused(one(), raw(7))
    refused(one(), raw(9))
    refused(one(from = 1, to = 9), raw(9))
    refused(one(shape = "[2]"), eight)
    refused(one(shape = "[1.5]"), eight)
    refused(one(shape = "[-1]"), eight)
    refused(one(dtype = "F8_E4M3"), eight)
    refused("{\"a\":3}", eight)
    refused("[1]", eight)
    refused("{\"a\":", eight)
    refused("{\"a\":{},\"a\":{}}", eight)
  })
  writeBin(as.raw(rep(255, 20)), "x.safetensors")
  expect_match(conditionMessage(error_of(pjrt_buffers_from_safetensors("x.safetensors"))), "no header")
})

test_that("Ctrl-C ends the reading of a file, and what has come is freed", {
  skip_without_plugin()
  skip_unless_all()
  skip_on_os("windows")
  path <- withr::local_tempfile()
  connection <- file(path, "wb")
  for (i in 1:8) writeBin(rep(as.double(i), 1e6), connection)
  close(connection)
  run <- run_r(sprintf("
    press <- function(done, total) tools::pskill(Sys.getpid(), tools::SIGINT)
    read <- function(...) pjrt_buffer_from_file('%s', 'f64', c(NA, 8), row_major = FALSE, ...)
    for (i in 1:3) tryCatch(read(progress = press), interrupt = function(e) cat('interrupted\\n'))
    as_array(read())[1e6, ]
  ", path))
  expect_identical(run$output, c(rep("interrupted", 3), "[1] 1 2 3 4 5 6 7 8"))
})
