set.seed(6)
data <- list(
  x = c(3, -1, 2, 2, 0.5, -4, 7), m = matrix(rnorm(12), 3), a = array(rnorm(24), 2:4), k = c(4L, 2L, 2L, 9L, 1L),
  l = c(TRUE, FALSE, TRUE), q = matrix(rnorm(16), 4)
)

test_that("values are joined as in R", {
  skip_without_plugin()
  expect_as_r(
    c(x, 1), c(0, x), c(m, x), c(k, 1), c(k, 2L), c(k, x), c(l, k), c(NULL, x), c(l, 1), c(1 + 2i, x), c(x, numeric()),
    c(list(1), x)[[2]], unlist(list(x, list(m, 1))), append(x, 1:2), append(1:3, x, 1), append(x, m, 3),
    append(x, 1, 0),
    append(list(1), x)[[2]],
    cbind(x, x), cbind(1, x), rbind(m, 1:4), cbind(m, 9), rbind(x, 1), cbind(m, m), rbind(1:2, c(x[1], 3)),
    cbind(k, 1.5),
    rbind(m, m[1, ], 0), cbind(x, numeric()), cbind(1:3, m), cbind(NULL, x), cbind(x[0], x[0]),
    do.call(rbind, list(x, x)),
    do.call(cbind, lapply(1:3, function(i) x * i)), rbind(x[1:2], matrix(0, 2, 4)[, 1:2]),
    data = data
  )
})

test_that("dimensions are given as in R", {
  skip_without_plugin()
  expect_as_r(
    array(x[1:6], c(2, 3)), array(x, c(2, 2)), array(x[1], c(2, 2, 2)), array(m), array(x, c(2, 2, 3)), array(x[0], 2),
    matrix(x[1:6], 2), matrix(x[1:6], ncol = 2), matrix(x[1:6], 2, byrow = TRUE), matrix(x[1:2], 2, 3),
    matrix(x[1:3], 2, 3, byrow = TRUE), matrix(m, 4), matrix(x), matrix(x[1], 2, 2), matrix(k[1:4], 2),
    matrix(x[0], 0, 3),
    `dim<-`(x, c(7, 1)), `dim<-`(x[1:6], c(3, 2)), `dim<-`(m, NULL), `dim<-`(a, c(6, 4)),
    aperm(a), aperm(a, c(2, 1, 3)), aperm(a, c(3, 1, 2)), aperm(a, c(3, 1, 2), resize = FALSE), t(x), t(m), t(t(x)),
    t(x[1]), drop(a[1, , , drop = FALSE]), as.matrix(x), as.matrix(m), as.array(m), as.matrix(a),
    `names<-`(x, letters[1:7]), `dimnames<-`(m, list(letters[1:3], NULL)), `colnames<-`(m, letters[1:4]),
    setNames(x, 1:7),
    unname(m), `length<-`(x, 3), `length<-`(x, 9), `length<-`(m, length(m)), nrow(m), ncol(m), NROW(x), NCOL(x),
    NCOL(m), length(a), dim(a),
    dim(x),
    row(m), col(m), m[lower.tri(m)], upper.tri(m, TRUE), m * (row(m) > col(m)), seq_along(x), colnames(m),
    slice.index(a, 2),
    data = data
  )
})

test_that("elements are repeated, cut and turned as in R", {
  skip_without_plugin()
  expect_as_r(
    rep(x, 2), rep(x, each = 2), rep(x, times = 2, each = 2), rep(x, length.out = 10), rep(x, len = 3), rep(x, 2, 3),
    rep(x[1:3], times = c(1, 0, 2)), rep(m, 2), rep(x, 0), rep_len(x, 9), rep.int(x, 2), rep.int(x[1:2], c(2, 3)),
    rep(x[1], 5), rep(k, 2), rep(x[0], 3), rep(x[0], length.out = 2),
    head(x, 3), head(x, -2), tail(x, 2), tail(x, -3), head(m, 2), tail(m, 1), head(m, c(2, -1)), head(x), head(x, 0),
    tail(a, c(1, NA, 2)), head(x, 20), tail(x, -20), rev(x), rev(m), diff(x), diff(x, 2), diff(x, 1, 2), diff(m),
    diff(k),
    diff(x, 10), diff(m, lag = 2), diff(l), embed(x, 3), embed(t(m), 2), asplit(m, 1), asplit(a, c(1, 3)),
    combn(x[1:4], 2), combn(k[1:3], 3), combn(x[1:3], 2, sum), combn(x[1:3], 2, function(v) v * 2), combn(x[1:2], 1),
    combn(x[1:3], 2, simplify = FALSE), combn(x[1:3], 0), combn(m[1, ], 2, prod)[1],
    replace(x, 2, 9), replace(x, c(1, 3), x[2:1]), replace(x, x > 1, 0), replace(m, 2:3, k[1]), replace(1:3, 2, x[1]),
    data = data
  )
})

test_that("types are changed as in R", {
  skip_without_plugin()
  expect_as_r(
    as.vector(m), as.numeric(m), as.double(k), as.integer(x), as.integer(c(x[1] * 1e12, NaN, -2147483647.5)),
    as.logical(x),
    as.complex(x), as.vector(x, "list"), as.numeric(l), as.integer(l), as.logical(k), as.vector(k, "numeric"),
    as.integer(-x / 3), as.vector(x, "integer"), is.vector(x), is.vector(m), is.numeric(x), is.integer(k), is.double(x),
    is.logical(l), is.complex(x), is.atomic(x), is.matrix(m), is.array(a), is.vector(k, "numeric"),
    is.vector(x, "logical"),
    data = data
  )
  narrow <- xla_jit(function(x) {
    list(as.integer(hlo_convert(x, "f32")), as.integer(hlo_convert(x, "i64")), as.integer(hlo_convert(x, "i64") - 2L))
  })
  expect_identical(narrow(c(2^31 - 1, -2^31, 5)),
    list(c(NA, NA, 5L), c(.Machine$integer.max, NA, 5L), c(2147483645L, NA, 3L)))
  expect_match(xla_program(function(x) as.numeric(x), ffi_type("f32", 2)), "-> (tensor<2xf32>)", fixed = TRUE)
})

test_that("diagonals and pairs are R's", {
  skip_without_plugin()
  expect_as_r(
    diag(m), diag(t(m)), diag(x), diag(q), diag(x[1], 3), diag(x, 3), diag(x[1:2], 4), diag(x[1:2], 2, 3), diag(l),
    diag(x[1:2], nrow = 3, ncol = 2), `diag<-`(q, 0), `diag<-`(q, x[1:4]), `diag<-`(m, x[1:3]), `diag<-`(t(m), 1:3),
    diag(nrow(m)), diag(a[, , 1]), diag(k), sum(diag(q)), diag(2) * x[1], diag(x[1:3], ncol = 3),
    diag(m[0, , drop = FALSE]),
    outer(x, x), outer(x, 1:3, "+"), outer(1:3, x, function(a, b) a - b^2), outer(m, x), x %o% x, outer(1:3, 1:2),
    outer(x, x, "-"), outer(x[1:2], x[1:3], function(a, b) a / b), outer(k, k),
    outer(1:2, 1:3, function(i, j) x[1] * i + j),
    outer(x[0], x), kronecker(m, q), m %x% q, kronecker(diag(2), m), kronecker(x, m), kronecker(1:2, x),
    kronecker(m, x, "+"),
    data = data
  )
})

test_that("functions of shape have derivatives and batches", {
  skip_without_plugin()
  skip_unless_all()
  f <- function(x, m) {
    joined <- rbind(c(x[1:3], 1), t(embed(x, 4))[c(2, 1), ] * 2, matrix(rev(m)[1:4], 1))
    turned <- aperm(array(rep(x, each = 2), c(2, 1, 7)), c(3, 2, 1))
    sum(sin(joined)) + sum(diag(t(m) %*% m) * diff(x, 2)[1:4]) + sum(diag(x)^2) + sum(cos(outer(x, m))) +
      sum(turned[, 1, ]^3) + sum(tail(m, 1) * kronecker(m, x[1:2])[1:4]) + sum(as.vector(m) * c(x, 1:5)^2)
  }
  x <- data$x
  m <- data$m
  expect_gradient(f, x, m)
  expect_gradient(f, x, m, wrt = 2)
  slope <- xla_grad(f)
  expect_gradient(function(x, m) sum(slope(x, m)^2), x, m, tolerance = 1e-5)
  batch <- xla_vmap(f, list(1, NULL))(rbind(x, 2 * x), m)
  expect_equal(batch, c(xla_jit(f)(x, m), xla_jit(f)(2 * x, m)), tolerance = 1e-12)
  batch <- xla_vmap(f, list(NULL, 3))(x, array(c(m, m / 2), c(3, 4, 2)))
  expect_equal(batch, c(xla_jit(f)(x, m), xla_jit(f)(x, m / 2)), tolerance = 1e-12)
})

test_that("errors say what shapes there are", {
  skip_without_plugin()
  trace <- function(f) invisible(xla_program(f, data$x, data$m))
  expect_snapshot(error = TRUE, {
    trace(function(x, m) rbind(m, x))
    trace(function(x, m) cbind(m, m[1:2, ]))
    trace(function(x, m) cbind(x, "a"))
    trace(function(x, m) c(x, "a"))
    trace(function(x, m) matrix(x, 2))
    trace(function(x, m) matrix(x, x[1]))
    trace(function(x, m) `dim<-`(x, c(2, 3)))
    trace(function(x, m) array(x, -1))
    trace(function(x, m) aperm(m, c(1, 1)))
    trace(function(x, m) rep(x, x[1]))
    trace(function(x, m) rep(x, c(1, 2)))
    trace(function(x, m) head(x, c(1, 2)))
    trace(function(x, m) tail(x, 1.5))
    trace(function(x, m) diff(x, 0))
    trace(function(x, m) embed(x, 9))
    trace(function(x, m) combn(x, 9))
    trace(function(x, m) combn(x[1], 1))
    trace(function(x, m) combn(x, x))
    trace(function(x, m) diag(x[1]))
    trace(function(x, m) `diag<-`(m, 1:2))
    trace(function(x, m) outer(x, x, function(a, b) 1))
    trace(function(x, m) as.vector(x, "character"))
    trace(function(x, m) as.integer(x * 1i))
    trace(function(x, m) row(x))
    trace(function(x, m) append(x, 1, after = x[1]))
  })
})

test_that("diff() and aperm() take arrays as R does", {
  skip_without_plugin()
  a <- array(sin(1:12), c(2, 3, 2))
  expect_as_r(diff(a), diff(a, 2), diff(a[, , 1]), diff(t(a[, 1, ])), data = list(a = a))
  expect_snapshot(error = TRUE, {
    invisible(xla_program(function(x) aperm(x), c(1, 2)))
    invisible(xla_program(function(x) lower.tri(matrix(x, 1), diag = x[1] > 1), c(1, 2)))
  })
})

test_that("c() of lists keeps their names", {
  skip_without_plugin()
  names_of <- NULL
  traced <- function(x) {
    names_of <<- list(
      names(c(list(x = x), lower.tail = TRUE)), names(c(list(a = 1), b = x)), names(c(list(a = 1), b = x[1], 2)),
      names(c(list(1), x))
    )
    x
  }
  invisible(xla_program(traced, c(1, 2)))
  in_program <- names_of
  traced(c(1, 2))
  expect_identical(in_program, names_of)
})

test_that("lists of lists are unlisted to the last leaf", {
  skip_without_plugin()
  expect_as_r(
    unlist(list(list(x), list(x))), length(unlist(list(a = list(u = x), b = list(v = 1:3)))) + 0 * x[1],
    unlist(list(list(list(x)), NULL, list(NULL, 2))), unlist(lapply(1:2, function(i) list(x[i], i))),
    c(list(list(x)), list(list(x)), recursive = TRUE), c(a = list(x), b = 2, recursive = TRUE),
    unlist(list(list(x), list(2)), recursive = FALSE), sum(unlist(list(a = list(b = x), c = list(2)))),
    unlist(structure(list(a = x, b = list(3)), class = "parameters")),
    data = list(x = c(1, 2))
  )
  p <- list(a = list(b = 1, c = 2), d = list(3))
  expect_equal(xla_grad(function(p) sum(unlist(p)^2))(p), list(a = list(b = 2, c = 4), d = list(6)))
  expect_error(xla_program(function(x) unlist(list(list(x), list("a"))), 1), "do not go together with text",
    class = "xlaffi_error"
  )
})

test_that("lists of single numbers become vectors", {
  skip_without_plugin()
  expect_as_r(
    as.numeric(list(x[1], 2)), as.double(list(x[1], TRUE)), as.integer(list(x[1], 2)), as.logical(list(0, x[2])),
    as.complex(list(x[1], 1i)), as.vector(list(x[1], 2), "numeric"), as.vector(list(x[1], 2)),
    sapply(list(x[1], 3L), as.numeric), as.numeric(list(1, 2)) + x, as.numeric(x),
    data = list(x = c(1.5, 2.5))
  )
  expect_error(xla_program(function(x) as.numeric(list(x, 2)), c(1, 2)), "must be one number, not f64\\(2\\)",
    class = "xlaffi_error"
  )
})

test_that("identical() does not take values for what stands for them", {
  skip_without_plugin()
  known <- NULL
  invisible(xla_program(function(x) {
    known <<- c(identical(list(x), list(x)), identical(list(x), NULL), identical(list(x, 1), list(x, 2)))
    x
  }, 1))
  expect_identical(known, c(TRUE, FALSE, FALSE))
  expect_error(xla_program(function(x, y) identical(list(x), list(y)), 1, 1), class = "xlaffi_error")
})

test_that("numbers of times and places of 0 and NA are R's, or an error", {
  skip_without_plugin()
  expect_as_r(
    rep(x, each = 0), rep(x, each = 0, times = 3), rep(matrix(x, 1), each = 0), rep(x, each = 0, length.out = 0),
    rep(x, each = NA), rep(x[0], each = 2), matrix(x, 0, 3), matrix(x[0], nrow = 0), rep(list(x, 3), 2),
    rep(list(x, 3), each = 2, length.out = 3), rep_len(list(x), 2), rep.int(list(x), 2), rep(list(x, 1), c(1, 0)),
    data = list(x = c(1, 2))
  )
  refused <- function(f, message) expect_error(xla_program(f, c(1, 2)), message, class = "xlaffi_error")
  refused(function(x) rep(x, each = 0, length.out = 2), "`each` must be 1 or more")
  refused(function(x) rep_len(x, NA), "`length.out` must be")
  refused(function(x) rep(list(x), x[1]), "`times` must be known")
  refused(function(x) c(hlo_convert(x, "f32"), hlo_convert(x, "i64")), "`...` must have one dtype, not f32 and i64")
  refused(function(x) matrix(x, nrow = 0), "do not fit into no rows")
  refused(function(x) matrix(x, ncol = 0), "do not fit into no columns")
  refused(function(x) embed(x, 1.5), "`dimension` must be a whole number")
  refused(function(x) append(x, 3, 1.5), "`after` must be a whole number")
  refused(function(x) asplit(matrix(x), numeric(0)), "`MARGIN` must have one axis")
  refused(function(x) apply(matrix(x), numeric(0), sum), "`MARGIN` must have one axis")
  refused(function(x) mapply(function(a, b) a + b, x, MoreArgs = 1), "`MoreArgs` must be a list")
  refused(function(x) Reduce(`+`, x, simplify = NULL), "`simplify` must be TRUE or FALSE")
  refused(function(x) replace(x, 1), "`values` is missing")
  refused(function(x) replace(x, values = 1), "`list` is missing")
})

test_that("names of axes are made or looked at as in R", {
  skip_without_plugin()
  names_of <- NULL
  traced <- function(x) {
    names_of <<- list(
      rownames(x, do.NULL = FALSE), colnames(x, do.NULL = FALSE, prefix = "k"), rownames(x), colnames(x[, 1], FALSE),
      rownames(x[, 1], FALSE)
    )
    x
  }
  invisible(xla_program(traced, matrix(0, 2, 3)))
  in_program <- names_of
  traced(matrix(0, 2, 3))
  expect_identical(in_program, names_of)
  refused <- function(f, message) expect_error(xla_program(f, c(1, 2)), message, class = "xlaffi_error")
  refused(function(x) array(x, 4, dimnames = "a"), "`dimnames` must be a list")
  refused(function(x) array(x, 4, dimnames = list("a")), "`dimnames` must be a list")
  refused(function(x) matrix(x, dimnames = "a"), "`dimnames` must be a list")
  refused(function(x) array(x, dimnames = sum), "`dimnames` must be a list")
  expect_no_error(xla_program(function(x) matrix(x, 2, dimnames = list(c("a", "b"))), c(1, 2)))
})

test_that("classes, kinds and methods that are none are refused", {
  skip_without_plugin()
  refused <- function(f, message) expect_error(xla_program(f, c(1, 2)), message, class = "xlaffi_error")
  refused(function(x) is(x, NULL), "`class2` must be the name")
  refused(function(x) is.vector(x, mode = sum), "`mode` must be one name")
  refused(function(x) is.vector(x, NULL), "`mode` must be one name")
  refused(function(x) order(x, method = sum), "`method` must be")
  refused(function(x) sort.int(x, method = sum), "`method` must be")
  refused(function(x) optim(x, function(p) sum(p^2), method = numeric(0)), "`method` must be one of")
  refused(function(x) optim(x, function(p) sum(p^2), method = sum), "`method` must be one of")
  refused(function(x) uniroot(function(p) p - x[1], c(-5, 5), extendInt = numeric(0)), "`extendInt` is not supported")
})
