# Central differences: the matrix of a function of a vector, results by elements, in R's order.
slopes <- function(f, x, h = 1e-6) {
  columns <- lapply(seq_along(x), function(i) {
    at <- function(by) {
      x[[i]] <- x[[i]] + by
      as.vector(f(x))
    }
    (at(h) - at(-h)) / (2 * h)
  })
  do.call(cbind, columns)
}

modes <- c("auto", "forward", "reverse")

# All cases in one program, for each mode: lists of matrices.
in_modes <- function(f, ...) {
  lapply(stats::setNames(nm = modes), function(mode) xla_jit(function(...) f(mode, ...))(...))
}

test_that("Jacobians are R's differences in both modes, for all shapes", {
  skip_without_plugin()
  functions <- list(
    vector = function(x) c(x[1] * cos(x[2]), x[1] * sin(x[2]), x[1]^2, x[3] * x[2]),
    scalar = function(x) sum(x^3 * rev(x)),
    elementwise = function(x) exp(x) * 2,
    flat = function(x) floor(x) + c(1, 2, 3)
  )
  x <- c(2.1, 0.5, -0.3)
  m <- matrix(c(1, 2, 3, 4, 5, 6), 2)
  matrices <- list(
    function(m) m %*% t(m) * 2, function(m) colSums(m^2), function(m) m[2, 3]^2 * hlo_reshape(m[1, 1], 1)
  )
  found <- in_modes(function(mode, x, m) {
    list(
      lapply(functions, function(f) xla_jacobian(f, mode = mode)(x)),
      lapply(matrices, function(f) xla_jacobian(f, mode = mode)(m))
    )
  }, x, m)
  for (out in found) {
    for (name in names(functions)) {
      wanted <- slopes(functions[[name]], x)
      expect_equal(matrix(as.vector(out[[1]][[name]]), ncol = 3), wanted, tolerance = 1e-8, label = name)
    }
    wanted <- list(vector = c(4L, 3L), scalar = NULL, elementwise = c(3L, 3L), flat = c(3L, 3L))
    expect_identical(lapply(out[[1]], dim), wanted)
    products <- slopes(function(m) m %*% t(m) * 2, m)
    expect_equal(out[[2]][[1]], array(products, c(2, 2, 2, 3)), tolerance = 1e-8)
    expect_equal(out[[2]][[2]], array(slopes(function(m) colSums(m^2), m), c(3, 2, 3)), tolerance = 1e-8)
    expect_identical(dim(out[[2]][[3]]), c(1L, 2L, 3L))
    expect_identical(out[[1]]$flat, matrix(0, 3, 3))
  }
  expect_equal(found$forward, found$reverse, tolerance = 1e-13)
})

test_that("results by arguments are trees of trees, without what has no derivative", {
  skip_without_plugin()
  skip_unless_all()
  f <- function(p, t, n) list(fit = p$a * exp(-p$b * t), size = p$a^2, n = n, b = list(sum(t) * p$b))
  p <- list(a = 3, b = c(1, 0.5, 2), k = 2L)
  for (mode in modes) {
    one <- xla_jacobian(f, mode = mode)(p, c(0, 1, 2), 4L)
    expect_identical(names(one), c("fit", "size", "n", "b"))
    expect_identical(names(one$fit), c("a", "b", "k"))
    expect_null(one$n)
    expect_null(one$fit$k)
    expect_identical(list(dim(one$fit$a), dim(one$fit$b), dim(one$size$a)), list(c(3L, 1L), c(3L, 3L), c(1L, 1L)))
    expect_equal(one$fit$b, -diag(3 * c(0, 1, 2) * exp(-p$b * c(0, 1, 2))))
    expect_identical(one$size$b, matrix(0, 1, 3))
    two <- xla_jacobian(f, c("t", "p"), mode)(p, c(0, 1, 2), 4L)
    expect_equal(two$fit[[2]], one$fit)
    expect_equal(two$fit[[1]], diag(-3 * p$b * exp(-p$b * c(0, 1, 2))))
    expect_identical(two$b[[1]][[1]], outer(p$b, c(1, 1, 1)))
  }
  # Without elements, and of one argument that is a number
  expect_identical(dim(xla_jacobian(function(x) x^2)(numeric())), c(0L, 0L))
  expect_identical(xla_jacobian(function(x) x^2)(3), matrix(6))
  expect_identical(as.character(dtype(xla_jacobian(exp)(pjrt_buffer(c(1, 2), "f32")))), "f32")
})

test_that("complex results and arguments have one derivative in both modes", {
  skip_without_plugin()
  skip_unless_all()
  z <- c(1 + 2i, 0.5 - 1i)
  found <- in_modes(function(mode, z, x) {
    list(
      xla_jacobian(function(z) list(z^2, exp(z) * z[1], Mod(z), Conj(z) * z[1], sum(z * Conj(z))), mode = mode)(z),
      xla_jacobian(function(x) exp(1i * x) * x[1], mode = mode)(x)
    )
  }, z, c(1, 2))
  for (out in found) {
    by_z <- out[[1]]
    expect_equal(by_z[[1]], diag(2 * z))
    expect_equal(by_z[[2]], diag(exp(z) * z[1]) + cbind(exp(z), 0))
    # A real result: df/dx - i df/dy
    expect_equal(by_z[[3]], diag(Conj(z) / Mod(z)))
    # df/dz alone
    expect_equal(by_z[[4]], cbind(Conj(z), 0) + 0i)
    expect_equal(by_z[[5]], Conj(z))
    x <- c(1, 2)
    expect_equal(out[[2]], diag(1i * exp(1i * x)) + cbind(exp(1i * x), 0))
  }
  expect_equal(found$auto, found$reverse)
})

test_that("Jacobians are differentiated, batched and parts of programs; that of a gradient is the Hessian", {
  skip_without_plugin()
  f <- function(x, a) sum(exp(x[1] * x) * a) + prod(x)
  polar <- function(x) c(x[1] * cos(x[2]), x[1] * sin(x[2]))
  x <- c(0.3, -0.5, 1.2)
  a <- c(1, 2, 3)
  r <- c(2, pi / 6)
  out <- xla_jit(function(x, a, r) {
    list(
      lapply(modes, function(mode) xla_jacobian(xla_grad(f), mode = mode)(x, a)),
      xla_jacobian(xla_jacobian(polar, mode = "reverse"))(r), xla_jacobian(xla_jacobian(polar), mode = "reverse")(r),
      xla_vmap(xla_jacobian(polar))(rbind(r, r + 1)), xla_grad(function(r) sum(xla_jacobian(polar)(r)^3))(r)
    )
  })(x, a, r)
  hessian <- xla_hessian(f)(x, a)
  for (found in out[[1]]) expect_equal(found, hessian, tolerance = 1e-12)
  expect_equal(out[[2]], out[[3]])
  jacobian <- function(x) matrix(c(cos(x[2]), sin(x[2]), -x[1] * sin(x[2]), x[1] * cos(x[2])), 2)
  expect_equal(out[[2]], array(slopes(jacobian, r), c(2, 2, 2)), tolerance = 1e-8)
  expect_equal(out[[4]], aperm(array(c(jacobian(r), jacobian(r + 1)), c(2, 2, 2)), c(3, 1, 2)))
  expect_equal(out[[5]], as.vector(slopes(function(r) sum(jacobian(r)^3), r)), tolerance = 1e-8)
})

test_that("the smaller batch is taken, or the one that goes", {
  batch <- function(f, n, mode) {
    text <- xla_program(xla_jacobian(f, mode = mode), ffi_type("f64", n))
    sub("^.*multiply [^\n]*tensor<(([0-9]+x)*)[^\n]*$", "\\1", text)
  }
  wide <- function(x) x[1:2] * x[2:3]
  tall <- function(x) c(x, x, x) * 2
  expect_identical(batch(wide, 5L, "auto"), batch(wide, 5L, "reverse"))
  expect_identical(batch(tall, 2L, "auto"), batch(tall, 2L, "forward"))
  expect_false(batch(tall, 2L, "reverse") == batch(tall, 2L, "forward"))
  skip_without_plugin()
  # No reverse mode, though there is one result
  endless <- function(x) hlo_while(function(s) s < 100, function(s) s * 2, sum(x))
  expect_identical(xla_jacobian(endless)(c(1, 2, 3)), c(32, 32, 32))
})

test_that("what has no Jacobian is refused", {
  endless <- function(x) hlo_while(function(s) s < 100, function(s) s * 2, sum(x))
  call <- function(x) hlo_custom_call("kepler", list(x, x), list(x, x))[[1]]
  x <- ffi_type("f64", 2)
  expect_snapshot(error = TRUE, {
    xla_jacobian(1)
    xla_jacobian(sin, mode = "both")
    xla_jacobian(sin, wrt = NA)
    xla_program(xla_jacobian(sin, 2), x)
    xla_program(xla_jacobian(function(x, n) x, "n"), x, 1L)
    xla_program(xla_jacobian(function(x) as.integer(x)), x)
    xla_program(xla_jacobian(endless, mode = "reverse"), x)
    xla_program(xla_jacobian(call), x)
  })
})
