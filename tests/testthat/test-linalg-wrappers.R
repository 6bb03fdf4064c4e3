# What the functions xla_*() of linear algebra have in common.

test_that("buffers give buffers, in their own dtype", {
  skip_without_plugin()
  x <- random_array(c(4, 3))
  f <- xla_qr(pjrt_buffer(x, "f32"))
  expect_s3_class(f$q, "xlaffi_buffer")
  expect_identical(as.character(dtype(f$r)), "f32")
  expect_equal(as_array(f$q) %*% as_array(f$r), x, tolerance = 1e-5)
  a <- pjrt_buffer(diag(2), "f64")
  expect_s3_class(xla_solve(a, 1:2), "xlaffi_buffer")
  expect_identical(as.character(dtype(xla_solve(a, 1:2 + 1i))), "c128")
})

test_that("dtype converts", {
  skip_without_plugin()
  x <- random_definite(c(3, 3))
  r <- xla_chol(x, dtype = "f32")
  expect_equal(r, chol(x), tolerance = 1e-5)
  expect_gt(max(abs(r - chol(x))), 1e-12)
  expect_equal(xla_chol(pjrt_buffer(x, "f32"), dtype = "f64") |> dtype() |> as.character(), "f64")
  expect_equal(xla_solve(x, 1:3, dtype = "c64"), solve(x, 1:3) + 0i, tolerance = 1e-5)
})

test_that("integers and logicals are computed as doubles, dimnames go", {
  skip_without_plugin()
  x <- matrix(c(2L, 1L, 1L, 3L), 2, dimnames = list(c("a", "b"), NULL))
  expect_equal(xla_chol(x), unname(chol(x)))
  expect_equal(xla_solve(x, c(1L, 2L)), solve(unname(x), 1:2))
  expect_equal(xla_svd(diag(2) == 1)$d, c(1, 1))
  expect_true(all(is.nan(xla_chol(matrix(c(2L, 1L, NA, 3L), 2))[1, ])))
})

test_that("values give values, and functions compose", {
  skip_without_plugin()
  # One number is a matrix, as in R.
  found <- xla_jit(function(x) list(solve(var(x)), solve(var(x), 2), chol(sum(x)), solve(x[1:1], x[2])))(c(1, 2, 4))
  expect_equal(found, list(solve(var(c(1, 2, 4))), solve(var(c(1, 2, 4)), 2), chol(7), 2))
  x <- random_definite(c(3, 3))
  log_det <- xla_jit(function(x) sum(log(abs(hlo_sum(xla_lu(x)$u * hlo_constant(diag(3)), 2)))))
  expect_equal(as.vector(log_det(x)), as.vector(determinant(x)$modulus))
  expect_s3_class(xla_svd(x, program = TRUE), "xlaffi_text")
  expect_match(xla_eigh(x, program = TRUE), "@xlaffi.eigh", fixed = TRUE)
  expect_match(xla_chol(ffi_type("c64", c(5, 2, 2)), program = TRUE), "@xlaffi.cholesky", fixed = TRUE)
})

test_that("programs are compiled once for each dtype and shape", {
  skip_without_plugin()
  # A full cache keeps its size.
  forget_session()
  x <- random_array(c(2, 2))
  xla_qr(x)
  before <- nrow(xla_cache())
  xla_qr(x + 1)
  expect_identical(nrow(xla_cache()), before)
  xla_qr(x, dtype = "f32")
  expect_identical(nrow(xla_cache()), before + 1L)
})

test_that("what passed the checks once spares no other arguments them", {
  skip_without_plugin()
  x <- random_definite(c(3, 3))
  single <- pjrt_buffer(x, "f32")
  for (turn in 1:3) {
    if (turn == 3) forget_session()
    expect_equal(xla_chol(x), chol(x))
    expect_identical(as.character(dtype(xla_chol(single))), "f32")
    expect_identical(as.character(dtype(xla_chol(single, dtype = "f64"))), "f64")
    expect_equal(as.vector(xla_solve(x, 1:3)), solve(x, 1:3))
    expect_equal(as.vector(xla_solve(x, c(1, 2, 3))), solve(x, 1:3))
    expect_equal(xla_solve(x), solve(x))
    expect_true(all(is.nan(xla_chol(matrix(c(NA, 1L, 1L, 3L), 2)))))
    expect_error(xla_chol(x[1:2, ]), "square matrices")
    expect_error(xla_chol(as.vector(x)), "must be a matrix")
    expect_error(xla_chol(pjrt_buffer(x, "i32")), "dtype i32")
    expect_error(xla_chol(x, program = NA), "TRUE or FALSE")
    expect_error(xla_eigh(x, vectors = "TRUE"), "TRUE or FALSE")
    expect_error(xla_solve(x, c(1, 2)), "must be of shape")
    expect_error(xla_solve(single, pjrt_buffer(c(1, 2, 3), "f64")), "dtype f64")
  }
})

test_that("wrong arguments are named", {
  skip_without_plugin()
  expect_snapshot(error = TRUE, {
    xla_qr(c(1, 2))
    xla_qr("a")
    xla_qr(data.frame(a = 1))
    xla_qr(NULL)
    xla_qr(matrix("a"))
    xla_qr(pjrt_buffer(c(1, 2)))
    xla_qr(pjrt_buffer(matrix(1:4, 2)))
    xla_qr(diag(2), dtype = "i32")
    xla_qr(diag(2) + 0i, dtype = "f64")
    xla_qr(diag(2), program = NA)
    xla_eigh(matrix(1, 2, 3))
    xla_eigh(diag(2), uplo = "lower")
    xla_eigh(diag(2), vectors = 1)
    xla_svd(diag(2), full = "yes")
    xla_chol(array(1, c(2, 3, 4)))
    xla_lu(1)
    xla_solve(matrix(1, 2, 3))
    xla_solve(diag(2), 1:3)
    xla_solve(diag(2), array(1, c(2, 2, 2)))
    xla_solve(diag(2), "b")
    xla_solve(pjrt_buffer(diag(2), "f32"), pjrt_buffer(diag(2), "f64"))
  })
})

test_that("a full decomposition of other than square matrices has no derivative", {
  skip_without_plugin()
  x <- random_array(c(3, 2))
  expect_snapshot(error = TRUE, xla_jvp(function(x) xla_svd(x, full = TRUE))(x, x))
})

test_that("xla_vmap() adds a batch axis", {
  skip_without_plugin()
  x <- random_array(c(3, 4, 4))
  expect_equal(xla_vmap(xla_lu)(x), xla_lu(x))
  b <- random_array(c(4, 2))
  solved <- xla_vmap(xla_solve, in_axes = list(1, NULL))(x, b)
  for (i in 1:3) expect_equal(solved[i, , ], solve(x[i, , ], b))
  slope <- function(x) xla_jvp(function(x) xla_qr(x)$r)(x, x)$tangent
  expect_equal(xla_vmap(slope)(x), xla_jit(slope)(x))
})

test_that("a program for CUDA calls no handler of the CPU", {
  withr::local_envvar(PJRT_PLATFORM = "cuda")
  targets <- function(f) {
    text <- xla_program(f, matrix(c(2, 1, 1, 3), 2))
    sort(unique(regmatches(text, gregexpr("(?<=custom_call @xlaffi[.])\\w+", text, perl = TRUE))[[1L]]))
  }
  on_cuda <- ffi_targets()
  on_cuda <- on_cuda$target[grepl("cuda", on_cuda$platforms)]
  used <- targets(function(x) {
    list(
      xla_qr(x), xla_lu(x), xla_svd(x), xla_svd(x, full = TRUE), xla_svd(x, vectors = FALSE), xla_eigh(x),
      xla_eigh(x, vectors = FALSE), xla_chol(x), xla_solve(x), xla_solve(x, x)
    )
  })
  expect_true("cusolver_potrf_ffi" %in% used)
  expect_equal(setdiff(used, on_cuda), character())
})

test_that("the sign of a determinant is an integer, and sizes are no NULL", {
  skip_without_plugin()
  m <- matrix(c(0, 2, 1, 3), 2)
  got <- xla_jit(function(x) list(determinant(x)$sign, det(x)))(m)
  expect_identical(got[[1L]], -1L)
  expect_equal(got[[2L]], det(m))
  single <- xla_jit(function(x) {
    x <- hlo_convert(x, "f32")
    list(determinant(x)$sign * determinant(x)$modulus, det(x))
  })(m)
  expect_equal(single, list(-log(2), -2), tolerance = 1e-6)
  refused <- function(f, message) expect_error(xla_program(f, m), message, class = "xlaffi_error")
  refused(function(x) backsolve(x, 1:2, k = NULL), "`k` must be a whole number")
  refused(function(x) chol2inv(x, size = NULL), "`size` must be a whole number")
  refused(function(x) svd(x, LINPACK = FALSE), "no `LINPACK`")
})
