# ?"xlaffi-types", row by row: what each way into XLA makes of R objects, and that all say the same of what they refuse.

mesh_of_one <- function() xla_mesh(c(data = 1))

# Ways into XLA: each takes an R object and gives it back as it comes out.
entries <- list(
  pjrt_buffer = function(x) as_array(pjrt_buffer(x)),
  xla_jit = function(x) xla_jit(function(x) x)(x),
  beside_buffer = function(x) as_array(xla_jit(function(x, b) list(x, b))(x, pjrt_buffer(1, "f64"))[[1L]]),
  in_list = function(x) xla_jit(function(l) l)(list(a = list(x)))$a[[1L]],
  inlined = function(x) xla_jit(function(one) xla_jit(function(x) x)(x))(1),
  xla_program = function(x) xla_program(function(x) x, x),
  ffi_op = function(x) ffi_op(function(x) x)(x),
  xla_shard = function(x) as_array(xla_shard(x, mesh_of_one())),
  hlo_constant = function(x) xla_jit(function() hlo_constant(x))(),
  beside_value = function(x) xla_jit(function(v) c(v, x))(x[0])
)

# Those that give what they were given, in R's own precision
faithful <- entries[c("xla_jit", "beside_buffer", "in_list", "inlined", "ffi_op", "xla_shard", "hlo_constant")]

plain_of <- function(x) {
  if (length(dim(x)) == 1L) dim(x) <- NULL
  x
}

test_that("base arrays enter in R's own precision and leave as they were", {
  skip_without_plugin()
  data <- list(
    c(TRUE, FALSE), 1:3, c(0.1, -0, NaN, Inf, -Inf), c(1i, 2 + 0.1i), matrix(1:6, 2), array(1:24 / 7, c(2, 3, 4)),
    integer(), double(), logical(), complex(), matrix(0, 0, 3), array(1L, c(2, 0, 3)),
    .Machine$integer.max, -.Machine$integer.max, 5e-324 * 2^60, .Machine$double.xmax
  )
  for (x in one_in(3L, data)) {
    for (entry in names(faithful)) {
      out <- plain_of(faithful[[entry]](x))
      expect_identical(out, x, info = paste(entry, deparse(x)))
      expect_identical(1 / as.complex(out), 1 / as.complex(x), info = paste("signs of zeros:", entry))
    }
  }
})

test_that("one number beside buffers takes their dtype, or is refused", {
  skip_without_plugin()
  f <- xla_jit(function(x, b) x + b)
  single <- pjrt_buffer(1, "f32")
  expect_identical(as.character(dtype(f(2, single))), "f32")
  expect_error(f(1e39, single), "argument `x` is a number that dtype f32 cannot hold: 1e[+]39",
    class = "xlaffi_error_invalid_argument"
  )
  expect_identical(plain_of(as_array(f(Inf, single))), Inf)
})

test_that("NA of doubles is NA or NaN, and that of logicals and integers is refused by each", {
  skip_without_plugin()
  for (entry in names(faithful)) {
    out <- faithful[[entry]](c(1, NA))
    expect_true(is.na(out[[2L]]), info = entry)
  }
  missing <- list(pred = c(TRUE, NA), i32 = c(1L, NA), i64 = bit64::as.integer64(c("1", NA)))
  mesh <- mesh_of_one()
  captured <- 1L
  further <- list(
    beside_value = function(x) xla_jit(function(v) c(v, x))(x[1L]),
    captured = function(x) {
      captured <- x
      xla_jit(function(v) list(v, captured))(1)
    },
    assigned = function(x) xla_jit(function(v) replace(v, 1:2, x))(x[c(1L, 1L)]),
    buffer = function(x) xla_jit(function(v) v)(pjrt_buffer(x)),
    beside_data = function(x) xla_jit(function(v, b) list(v, b))(1, copy_buffer(pjrt_buffer(x), "cpu")),
    on_mesh = function(x) xla_jit(function(v) v, mesh = mesh)(x),
    buffer_on_mesh = function(x) xla_jit(function(v) v, mesh = mesh)(pjrt_buffer(x)),
    buffer_in_shard = function(x) xla_shard(pjrt_buffer(x), mesh),
    read_in_shard = function(x) xla_shard_from(function(rows, device) pjrt_buffer(x, device = device), mesh, "data", 2),
    parts = function(x) xla_jit(function(v) v)(pjrt_buffer_from(list(x[1L], x[2L]))),
    fori = function(x) xla_jit(function(v) hlo_fori(1, 3, function(i, s) s, x))(1),
    scan = function(x) xla_jit(function(v) hlo_scan(function(s, i) list(s, i), v, x))(1),
    gradient = function(x) xla_grad(function(p, y) sum(p))(1, x),
    batch = function(x) xla_vmap(function(y) y)(x),
    objective = function(x) xla_objective(function(p, y) sum(p), 1, y = pjrt_buffer(x))$fn(1),
    callback = function(x) ffi_callback(function(v) x, sprintf("v: f64[] -> y: %s[2]", xlaffi:::r_dtype(x)))(1)
  )
  refusing <- c(faithful, further)
  for (entry in names(refusing)) {
    for (dtype in names(missing)) {
      error <- with_plain_errors(error_of(refusing[[entry]](missing[[dtype]])))
      expect_s3_class(error, "xlaffi_error_invalid_argument")
      expect_match(conditionMessage(error), "NA, which|of data with NA|have no NA", info = paste(entry, dtype))
    }
  }
  # Compiled for data without NA before
  f <- xla_jit(function(x) x)
  for (x in missing) {
    expect_identical(f(x[1L]), x[1L])
    expect_identical(f(x[c(1L, 1L)]), x[c(1L, 1L)])
    expect_match(conditionMessage(error_of(f(x))), "argument `x` has NA, which")
  }
  # As documented
  expect_error(pjrt_buffer(NA, check = TRUE), class = "xlaffi_error_invalid_argument")
  expect_error(xla_shard(NA_real_, mesh, check = TRUE), class = "xlaffi_error_invalid_argument")
  expect_identical(plain_of(as_array(pjrt_buffer(NA))), TRUE)
  expect_identical(plain_of(as_array(pjrt_buffer(c(1L, NA)))), c(1L, NA))
  # Floating-point types have NaN for it.
  ways <- list(
    buffer = function(x, dtype) pjrt_buffer(x, dtype),
    repeated = function(x, dtype) pjrt_buffer(x[[1L]], dtype, shape = 2L),
    parts = function(x, dtype) pjrt_buffer_from(list(x[1L], x[2L]), dtype),
    shard = function(x, dtype) xla_shard(x, mesh, dtype = dtype),
    callback = function(x, dtype) ffi_callback(function(v) x, sprintf("v: f64[] -> y: %s[2]", dtype))(1)
  )
  for (x in missing) {
    for (dtype in c("f32", "f64", "c64", "c128", if (all_run()) c("f16", "bf16"))) {
      for (way in names(ways)) {
        given <- if (way == "repeated") x[c(2L, 2L)] else x
        out <- f(ways[[way]](given, dtype))
        if (is.object(out)) out <- as_array(out)
        # Shorter types have NaN, and no NA.
        out <- Re(as.vector(out))
        expect_identical(is.na(out), is.na(given), label = paste(way, dtype))
        expect_identical(out[!is.na(out)], as.double(given[!is.na(given)]), label = paste(way, dtype))
      }
    }
  }
  # A program without R's meaning takes the bits.
  plain <- pjrt_compile(pjrt_program(xla_program(function(x) x, missing$i32)))
  expect_identical(plain_of(as_array(pjrt_execute(plain, pjrt_buffer(missing$i32)))), missing$i32)
})

test_that("names and dimnames are dropped", {
  skip_without_plugin()
  x <- matrix(1:4 + 0.5, 2, dimnames = list(c("a", "b"), c("c", "d")))
  for (entry in names(faithful)) {
    expect_identical(faithful[[entry]](x), unname(x), info = entry)
    expect_identical(plain_of(faithful[[entry]](c(a = 1L, b = 2L))), 1:2, info = entry)
  }
})

test_that("integers of 64 bits keep them all, both ways", {
  skip_without_plugin()
  x <- bit64::as.integer64(c("9007199254740993", "-9223372036854775807", "9223372036854775807", "1", "0"))
  for (entry in names(faithful)) {
    out <- plain_of(faithful[[entry]](x))
    expect_s3_class(out, "integer64")
    expect_identical(unclass(out), unclass(x), info = entry)
  }
  expect_identical(unclass(plain_of(as_array(pjrt_buffer(x)))), unclass(x))
  m <- x[1:4]
  dim(m) <- c(2L, 2L)
  for (entry in names(faithful)) {
    out <- faithful[[entry]](m)
    expect_identical(dim(out), c(2L, 2L), info = entry)
    expect_identical(as.vector(unclass(out)), as.vector(unclass(m)), info = entry)
  }
  expect_identical(as.character(plain_of(xla_jit(function(x) x + 1L)(x))[[1L]]), "9007199254740994")
})

test_that("doubles become integers only where they are some", {
  skip_without_plugin()
  mesh <- mesh_of_one()
  typed <- list(
    function(x, dtype) as_array(pjrt_buffer(x, dtype)),
    function(x, dtype) as_array(xla_shard(x, mesh, dtype = dtype)),
    function(x, dtype) xla_jit(function() hlo_constant(x, dtype))()
  )
  for (entry in typed) {
    expect_identical(as.character(plain_of(entry(2^53, "i64"))), "9007199254740992")
    for (bad in list(2^31, -2^31 - 1, NaN, NA_real_, Inf)) {
      expect_error(entry(bad, "i32"), class = "xlaffi_error_invalid_argument", info = bad)
    }
    for (bad in list(2^63, -2^64, 1e300)) {
      expect_error(entry(bad, "i64"), class = "xlaffi_error_invalid_argument", info = bad)
    }
    expect_error(entry(-1, "ui8"), class = "xlaffi_error_invalid_argument")
    expect_error(entry(256L, "ui8"), class = "xlaffi_error_invalid_argument")
  }
})

# What is refused, and what of its hint
refused_data <- list(
  character = list("a", NULL), characters = list(c("a", "b"), NULL), raw = list(as.raw(1:3), "pjrt_buffer(x, dtype"),
  factor = list(factor(c("u", "v")), "as.integer(x)"), ordered = list(factor("u", ordered = TRUE), "as.integer(x)"),
  Date = list(as.Date("2024-02-29"), "days since 1970"),
  POSIXct = list(as.POSIXct(0, origin = "1970-01-01"), "seconds"),
  POSIXlt = list(as.POSIXlt("2024-02-29", tz = "UTC"), "as.POSIXct(x)"),
  difftime = list(as.difftime(3, units = "mins"), "units = \"secs\""),
  data.frame = list(data.frame(a = 1:2), "data.matrix(x)"),
  ts = list(stats::ts(1:4), "as.matrix(x)"), mts = list(stats::ts(matrix(1:4, 2)), "as.matrix(x)"),
  table = list(table(c(1, 1, 2)), "unclass(x)"), own = list(structure(1:3, class = "celsius"), "unclass(x)"),
  noquote = list(I(2), "unclass(x)"), fun = list(function(x) x, NULL), name = list(quote(a), NULL),
  env = list(emptyenv(), NULL),
  formula = list(y ~ x, NULL), object = list(structure(list(), class = "thing"), NULL),
  torch = list(structure(list(), class = "torch_tensor"), "as.array(x)"),
  nanoarrow = list(structure(list(), class = "nanoarrow_array"), "as.vector(x)"),
  nanoarrow_vctr = list(structure(1:3, class = "nanoarrow_vctr"), "as_nanoarrow_array_stream(x)"),
  nanoarrow_stream = list(structure(list(), class = "nanoarrow_array_stream"), "pjrt_buffer_from(x, dtype)"),
  arrow = list(structure(list(), class = c("Array", "ArrowDatum")), "as.vector(x)"),
  arrow_table = list(structure(list(), class = c("Table", "ArrowTabular")), "pjrt_buffer_from(x, dtype)")
)

# What they say, without the name of the argument: what came, and what mends it
said_of <- function(error) {
  lines <- strsplit(conditionMessage(error), "\n", fixed = TRUE)[[1L]]
  c(sub("^.*, not ", "not ", lines[[1L]]), lines[-1L])
}

test_that("every way into XLA refuses the same objects, in the same words", {
  skip_without_plugin()
  all_entries <- c(entries, list(
    linalg = function(x) xla_lu(x), kepler = function(x) kepler(x, 0.5),
    ffi_call = function(x) ffi_call("kepler", function(M, e) list(M, M))(x, 0.5),
    operator = function(x) xla_jit(function(v) hlo_dot(v, x))(1), pjrt_scalar = function(x) pjrt_scalar(x)
  ))
  # c() of values gives lists of other things, as in R; bytes are for buffers, which ask for what they lack.
  all_entries$beside_value <- NULL
  with_plain_errors(
    for (name in one_in(3L, names(refused_data))) {
      x <- refused_data[[name]][[1L]]
      hint <- refused_data[[name]][[2L]]
      for (entry in setdiff(names(all_entries), if (name == "raw") c("pjrt_buffer", "pjrt_scalar"))) {
        info <- paste(name, entry)
        error <- error_of(all_entries[[entry]](x))
        expect_s3_class(error, "xlaffi_error_invalid_argument")
        said <- said_of(error)
        expect_identical(said[[1L]], paste("not", xlaffi:::describe(x)), info = info)
        if (!is.null(hint)) expect_match(said[[2L]], hint, fixed = TRUE, info = info)
      }
    }
  )
})

test_that("bytes are for buffers, with a dtype", {
  skip_without_plugin()
  expect_error(pjrt_buffer(as.raw(1:4)), "raw data need a `dtype`", class = "xlaffi_error_invalid_argument")
  expect_identical(as_array(pjrt_buffer(as.raw(1:4), "ui8", shape = 4L, row_major = TRUE)), array(1:4))
})

test_that("refusals are worded", {
  skip_without_plugin()
  f <- xla_jit(function(x) x)
  expect_snapshot(error = TRUE, {
    pjrt_buffer(Sys.Date())
    f(factor("a"))
    f(list(a = data.frame(x = 1)))
    f("a")
    f(as.raw(1))
    xla_shard(stats::ts(1:3), mesh_of_one())
    xla_jit(function() hlo_constant(as.difftime(1, units = "secs")))()
    xla_lu(data.frame(x = 1))
    xla_jit(function(x) x + as.Date("2020-01-01"))(1)
    f(c(TRUE, NA))
    f(c(1L, NA))
    f(pjrt_buffer(c(1L, NA)))
    f(list(a = c(1L, NA)))
    xla_jit(function(x) c(x, NA_integer_))(1L)
  })
})

as_general <- function(m) methods::as(methods::as(m, "denseMatrix"), "generalMatrix")

dense_matrices <- function() {
  m <- matrix(c(4, 1, 2, 1, 5, 3, 2, 3, 6), 3, dimnames = list(letters[1:3], NULL))
  general <- as_general(m)
  symmetric <- Matrix::forceSymmetric(general)
  triangular <- Matrix::triu(general)
  list(
    general = general, symmetric = symmetric, triangular = triangular, lower = Matrix::tril(general),
    unit = methods::as(Matrix::Diagonal(3), "denseMatrix"), packed = Matrix::pack(symmetric),
    packed_triangle = Matrix::pack(triangular), positive = methods::as(symmetric, "dpoMatrix"),
    logical = general > 2,
    empty = as_general(matrix(0, 0, 3)), factored = Matrix::chol(symmetric)
  )
}

test_that("dense matrices of Matrix enter with all of their elements", {
  skip_without_plugin()
  skip_if_not_installed("Matrix")
  matrices <- dense_matrices()
  for (name in names(matrices)) {
    x <- matrices[[name]]
    want <- unname(as.matrix(x))
    for (entry in names(faithful)) {
      expect_identical(faithful[[entry]](x), want, info = paste(name, entry))
    }
    expect_identical(as_array(pjrt_buffer(x, if (is.double(want)) "f64")), want, info = name)
  }
  x <- matrices$symmetric
  expect_equal(xla_solve(x, c(1, 2, 3)), unname(solve(as.matrix(x), c(1, 2, 3))))
  expect_identical(xla_lu(x), xla_lu(unname(as.matrix(x))))
  expect_identical(xla_eigh(x), xla_eigh(unname(as.matrix(x))))
})

test_that("beside values they are right, or refused by an error of ours", {
  skip_without_plugin()
  skip_if_not_installed("Matrix")
  diagonal <- list(Matrix::Diagonal(3, c(1, 2, 3)))
  for (x in one_in(4L, c(dense_matrices()[c("general", "symmetric", "triangular", "logical")], diagonal))) {
    own <- unname(as.matrix(x))
    calls <- list(
      function(v, m) v + m, function(v, m) m + v, function(v, m) v * m, function(v, m) m * v, function(v, m) v %*% m,
      function(v, m) m %*% v, function(v, m) crossprod(v, m), function(v, m) crossprod(m, v), function(v, m) v > m,
      function(v, m) m > v, function(v, m) rbind(v, m), function(v, m) cbind(m, v), function(v, m) solve(v, m),
      function(v, m) solve(m, v), function(v, m) ifelse(v > 1, v, m),
      function(v, m) pmax(v, m), function(v, m) pmax(m, v), function(v, m) outer(v, m), function(v, m) kronecker(m, v),
      function(v, m) tcrossprod(m, v), function(v, m) m - v, function(v, m) m / v, function(v, m) m == v
    )
    v <- matrix(c(2, 1, 0.5, 1, 3, 0, 0.5, 0, 4), 3)
    for (call in one_in(5L, calls)) {
      out <- tryCatch(xla_jit(function(v) call(v, x))(v), error = identity)
      if (inherits(out, "error")) {
        expect_s3_class(out, "xlaffi_error")
      } else {
        want <- xla_jit(function(v) call(v, own))(v)
        # Beside a diagonal matrix some results are sparse: what is no entry of theirs is zero, also over zero.
        if (isS4(out)) {
          out <- unname(as.matrix(out))
          want[is.nan(want)] <- 0
        }
        expect_equal(out, want, info = deparse(body(call)))
      }
    }
  }
})

test_that("sparse matrices go through programs; elsewhere they are refused, and what makes them dense is named", {
  skip_without_plugin()
  skip_if_not_installed("Matrix")
  x <- methods::as(matrix(c(1, 0, 3, 2), 2), "generalMatrix")
  sparse <- methods::as(x, "CsparseMatrix")
  for (entry in c("pjrt_buffer", "xla_shard", "hlo_constant", "beside_value")) {
    error <- error_of(entries[[entry]](sparse))
    expect_match(said_of(error)[[2L]], "`as[.]matrix[(]x?[)]`", info = entry)
  }
  through <- entries[c("xla_jit", "in_list", "inlined", "ffi_op")]
  through$beside_buffer <- function(x) xla_jit(function(x, b) list(x, b))(x, pjrt_buffer(1, "f64"))[[1L]]
  for (entry in names(through)) {
    expect_identical(through[[entry]](sparse), sparse, info = entry)
  }
  expect_s3_class(entries$xla_program(sparse), "xlaffi_text")
})

test_that("diagonal matrices go through programs as sparse ones, elsewhere with all of their elements", {
  skip_without_plugin()
  skip_if_not_installed("Matrix")
  for (x in list(Matrix::Diagonal(3, c(1, 2, 3)), Matrix::Diagonal(3))) {
    want <- unname(as.matrix(x))
    for (entry in c("xla_jit", "in_list", "inlined", "ffi_op")) {
      out <- entries[[entry]](x)
      expect_s4_class(out, "dsCMatrix")
      expect_identical(unname(as.matrix(out)), want, info = entry)
    }
    for (entry in c("xla_shard", "hlo_constant")) {
      expect_identical(entries[[entry]](x), want, info = entry)
    }
    expect_identical(as_array(pjrt_buffer(x, "f64")), want)
  }
})

test_that("matrices of polynomials and splines are data", {
  skip_without_plugin()
  x <- sin(1:20)
  for (basis in list(poly(x, 3), splines::bs(x, df = 5))) {
    plain <- matrix(as.vector(basis), 20)
    b <- seq_len(ncol(basis))
    expect_equal(xla_jit(function(b) basis %*% b)(b), plain %*% b)
    expect_equal(xla_jit(function(basis, b) crossprod(basis, basis %*% b))(basis, b), crossprod(plain) %*% b)
  }
})
