# Functions that R makes of data, outside of the program and inside, and of values; and those it makes of functions.

x <- c(1, 2, 4, 5, 7)
y <- c(1, 4, 2, 5, 3)
between <- c(-1, 0, 1.5, 3, 4.7, 6.9, 8.5)
at <- c(x, between)
heights <- list(fmm = y, natural = y, periodic = c(1, 4, 2, 5, 1), monoH.FC = y, hyman = sort(y))

test_that("what was made outside takes values", {
  skip_without_plugin()
  made <- list(
    approxfun(x, y), approxfun(x, y, "constant", rule = 2:1, f = 0.3), approxfun(x, y, yleft = -1, yright = 9),
    approxfun(x, c(1, NA, 3, 4, 5)), approxfun(x, c(1, NA, 3, 4, 5), na.rm = FALSE), approxfun(rev(x), y),
    stepfun(x, c(0, y)), stepfun(x, c(0, y), right = TRUE), ecdf(c(y, 2, NaN)), approxfun(3, 2, "constant", rule = 2)
  )
  found <- xla_jit(function(v) lapply(made, function(f) f(v)))(c(at, NaN))
  for (i in seq_along(made)) expect_equal(found[[i]], made[[i]](c(at, NaN)), tolerance = 1e-14, label = i)

  skip_unless_all()
  # Each function of values with its argument, and what it is to give; all are computed by one program.
  cases <- list()
  gives <- function(f, v, want, tolerance) {
    cases <<- c(cases, list(list(f = f, v = v, want = want, tolerance = tolerance)))
  }
  for (method in names(heights)) local({
    f <- splinefun(x, heights[[method]], method)
    # At knots R's second and third derivatives depend on what came before.
    for (deriv in 0:3) local({
      deriv <- deriv
      places <- if (deriv < 2L) at else between
      if (method == "monoH.FC" && deriv == 3L) {
        # R's is not divided by the distance of the knots.
        lapply(c("linear", "cubic"), function(extrapol) {
          slope <- (f(between + 1e-3, 2, extrapol) - f(between - 1e-3, 2, extrapol)) / 2e-3
          gives(function(v) f(v, 3, extrapol), between, slope, 1e-9)
        })
      } else {
        gives(function(v) f(v, deriv), places, f(places, deriv), 1e-13)
        if (method == "monoH.FC") {
          gives(function(v) f(v, deriv, extrapol = "cubic"), places, f(places, deriv, "cubic"), 1e-13)
        } else {
          gives(function(v) f(v, deriv), NaN, NaN, 0)
        }
      }
    })
    if (method != "monoH.FC") gives(function(v) f(v), c(Inf, -Inf), f(c(Inf, -Inf)), 1e-13)
    gives(xla_grad(function(v) f(v)), 2.3, f(2.3, 1), 1e-13)
    gives(xla_hessian(function(v) f(v)), 4.2, f(4.2, 2), 1e-12)
  })
  found <- xla_jit(function(arguments) Map(function(case, v) case$f(v), cases, arguments))(lapply(cases, `[[`, "v"))
  for (i in seq_along(cases)) {
    expect_equal(c(found[[i]]), cases[[i]]$want, tolerance = cases[[i]]$tolerance, label = paste("case", i))
  }
})

test_that("they are found wherever functions are", {
  skip_without_plugin()
  f <- splinefun(x, y)
  g <- ecdf(y)
  both <- list(f = f, more = list(g = g))
  expect_equal(xla_jit(f)(3), f(3))
  expect_equal(xla_jit(function(v) both$f(v) + both[["more"]]$g(v))(3), f(3) + g(3))
  expect_equal(xla_jit(function(v) sapply(v, both$f))(c(3, 4)), f(c(3, 4)))
  expect_equal(xla_jit(function(v) vapply(both[1], function(one) one(v), 0))(3), f(3))
  expect_equal(xla_jit(function(v) f(v) + f(1))(3), f(3) + f(1))
  expect_equal(xla_jit(function(v) knots(g) + length(knots(g)) * v)(0), sort(y))
  h <- local({
    inner <- approxfun(x, y)
    function(v) inner(v)
  })
  expect_equal(xla_jit(h)(3), h(3))
  changing <- approxfun(x, y)
  compiled <- xla_jit(function(v) changing(v))
  expect_equal(compiled(3), 3)
  changing <- approxfun(x, -y)
  expect_equal(compiled(3), -3)
  expect_identical(shape(xla_jit(f)(pjrt_scalar(3, "f64"))), integer())
  expect_identical(xla_jit(f)(matrix(c(1, 2, 4, 5), 2)), y[1:4])
  single <- xla_jit(f)(pjrt_buffer(between, "f32"))
  expect_identical(as.character(elt_type(single)), "f32")
  expect_equal(as.vector(as_array(single)), f(between), tolerance = 1e-6)
})

test_that("what is made inside is R's", {
  skip_without_plugin()
  data <- list(v = between, y = y, closed = heights$periodic, o = c(4, 1, 7, 2, 5), u = c(3, 1, NaN, 2, 1), i = 5:1)
  expect_as_r(
    splinefun(1:5, c(1, 4, 2, 5, 3))(v), splinefun(c(1, 4, 2, 5, 3))(v, deriv = 1), splinefun(1:5, y)(v),
    splinefun(y)(v),
    splinefun(1:5, y, "nat")(v), splinefun(1:5, y, method = "natural")(v, 1), splinefun(1:5, closed, "periodic")(v),
    splinefun(c(4, 1, 7, 2, 5), y)(v), splinefun(list(x = 1:5, y = y))(v), splinefun(1, y[1])(v),
    splinefun(1:5, y)(c(1, 2.5)), splinefun(1:2, y[1:2], "periodic")(2.5)[0],
    spline(1:5, y, n = 7), spline(1:5, y, xout = v), spline(1:5, closed, method = "periodic", xout = v),
    spline(1:5, c(1, 4, 2, 5, 3), xout = v), spline(1:5, sort(c(1, 4, 2, 5, 3)), xout = v, method = "hyman"),
    spline(matrix(c(1, 2, 4, 3, 6, 5), 3), xout = v), splinefun(cbind(y))(v), spline(y), spline(y, n = 4,
    xmin = 0, method = "natural"), spline(y, n = 4, xmax = v[1])$y,
    approxfun(o, y)(v), approxfun(1:5, y, rule = 2)(v), approxfun(1:5, y, yright = y[1])(v), approxfun(y)(v),
    approxfun(1:5, c(1, 4, 2, 5, 3), "constant")(v), approxfun(o, y, method = "constant", f = 0.5)(3),
    stepfun(1:4, y)(v), stepfun(1:4, y, right = TRUE)(v), stepfun(1:2, c(0, 1, 2))(v),
    splinefun(1:5, i)(v), ecdf(i)(v), stepfun(2:5, i)(v), approxfun(1:5, i)(2:3),
    as.function(alist(z = , z + 1))(v), as.function(list(quote(y[1])))(),
    ecdf(u)(v), ecdf(u)(c(1, 2, NaN)), ecdf(c(3, 1, 2))(v), ecdf(y)(3),
    data = data
  )
  skip_unless_all()
  expect_gradient(function(y) sum(splinefun(1:5, y)(c(0.5, 2.5, 4))^2), y)
  expect_gradient(function(y) sum(splinefun(1:5, y, "natural")(c(0.5, 2.5, 4), 1)^2), y)
  expect_gradient(function(x, y) sum(approxfun(x, y)(c(1.5, 3))^2), x, y)
  batch <- xla_vmap(function(y) splinefun(x, y)(c(2.5, 3)))(rbind(y, 2 * y))
  expect_equal(batch, rbind(splinefun(x, y)(c(2.5, 3)), splinefun(x, 2 * y)(c(2.5, 3))))
  f <- splinefun(x, heights$periodic, "periodic")
  expect_equal(xla_vmap(function(v) f(v))(rbind(at, at + 9)), rbind(f(at), f(at + 9)))
})

test_that("errors say what they take", {
  skip_without_plugin()
  trace <- function(f) invisible(xla_program(f, c(1, -1, 2)))
  f <- splinefun(x, y)
  expect_snapshot(error = TRUE, {
    trace(function(v) splinefun(v, 1:3)(1))
    trace(function(v) splinefun(c(1, 1, 2), v)(1))
    trace(function(v) splinefun(1:4, v)(1))
    trace(function(v) splinefun(1:3, v, "hyman")(1))
    trace(function(v) splinefun(1:3, v, "cubic")(1))
    trace(function(v) f(v, 4))
    trace(function(v) f(v, v))
    trace(function(v) f(v + 1i))
    trace(function(v) spline(1:3, v, n = v))
    trace(function(v) splinefun(1:2, numeric())(v))
    trace(function(v) approxfun(1:2, v)(1))
    trace(function(v) stepfun(v, 1:4)(1))
    trace(function(v) stepfun(1:3, v)(1))
    trace(function(v) stepfun(c(1, NA), v)(1))
    trace(function(v) ecdf(v[0])(1))
  })
})

test_that("what Vectorize() and Negate() made outside works on values", {
  skip_without_plugin()
  largest <- function(a, b = 1.5) pmax(a, b)
  each <- Vectorize(largest)
  every <- Vectorize(function(x, p) sum(x^p), "p")
  from_r <- Vectorize(dnorm)
  large <- Negate(function(x) pmax(x, 1) <= 2)
  v <- c(1, 2, 3)
  on_both <- function(f) expect_equal(xla_jit(f)(v), f(v), tolerance = 1e-14)
  on_both(function(v) each(v))
  on_both(function(v) each(b = v, a = 2))
  on_both(function(v) each(1:3, 2) + v)
  on_both(function(v) every(v, 1:2))
  on_both(function(v) from_r(v, 1, 2))
  on_both(function(v) large(v))
  on_both(function(v) outer(v, v, each))
  list_of <- list(each = each)
  on_both(function(v) sapply(v, list_of$each))
  expect_equal(xla_grad(function(v) sum(each(v)^2))(v), ifelse(v > 1.5, 2 * v, 0))
  factor <- 2
  scaled <- Vectorize(function(a) a * factor)
  compiled <- xla_jit(function(v) scaled(v))
  expect_equal(compiled(v), 2 * v)
  factor <- 3
  expect_equal(compiled(v), 3 * v)
})
