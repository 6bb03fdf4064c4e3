# Derivatives of the largest and smallest numbers: the weights of elements sum to 1, also where XLA computes the
# elements twice and rounds them differently.

q <- c(-1.395, 1.5862, 1.0431, 1.082)
recurrent <- function(w) {
  for (j in 2:length(w)) w[j] <- w[j - 1] * 0.5 + w[j]^2 * 0.1
  w
}

# Of a vector of four, in R and compiled
operands <- list(
  argument = identity, ordered = function(q) recurrent(q[order(q)]), recurrent = recurrent,
  affine = function(q) q * 0.5 + q^2 * 0.1, exp = function(q) exp(q - 0.3) * q, product = function(q) {
    (matrix(cos(1:12), 3) %*% q)[, 1] * q[1]
  },
  cumsum = function(q) cumsum(q * sin(q)), sort = function(q) sort(q^2) * q,
  chosen = function(q) ifelse(q > 0, q^2, -q),
  outer = function(q) outer(q, sin(q)), solve = function(q) solve(diag(4) + tcrossprod(q), cos(1:4)),
  density = function(q) dnorm(q, 0.2, 2, log = TRUE) * q, fft = function(q) Re(fft(q * q))
)
extrema <- list(
  max = function(x) max(x), min = function(x) min(x),
  log_sum_exp = function(x) {
    m <- max(x)
    m + log(sum(exp(x - m)))
  },
  scaled = function(x) sum((x / max(abs(x)))^3)
)

differences <- function(f, x, h) {
  sapply(seq_along(x), function(i) {
    e <- replace(0 * x, i, h)
    (f(x + e) - f(x - e)) / (2 * h)
  })
}

test_that("gradients and Hessians of extrema are those of differences, whatever the elements are computed by", {
  skip_without_plugin()
  # Of each operand the largest number and in turn one of the others
  of <- function(operand, extremum) function(q) extremum(operand(q))
  others <- extrema[rep_len(2:4, length(operands))]
  cases <- c(Map(of, operands, extrema[1]), if (all_run()) Map(of, operands, others))
  names(cases) <- paste(names(operands), c(rep("max", length(operands)), if (all_run()) names(others)))
  found <- xla_jit(function(q) {
    lapply(cases, function(f) {
      list(value = f(q), gradient = xla_grad(f)(q), forward = xla_jvp(f)(q, cos(1:4))$tangent)
    })
  })(q)
  for (name in names(cases)) {
    f <- cases[[name]]
    slopes <- differences(f, q, 1e-5)
    expect_equal(found[[name]]$value, f(q), tolerance = 1e-12, label = name)
    expect_equal(c(found[[name]]$gradient), slopes, tolerance = 1e-7, label = name)
    expect_equal(found[[name]]$forward, sum(slopes * cos(1:4)), tolerance = 1e-7, label = name)
  }
  skip_unless_all()
  single <- xla_jit(function(q) lapply(cases[seq_along(operands)], function(f) xla_grad(f)(q)))(pjrt_buffer(q, "f32"))
  for (name in names(single)) {
    slopes <- differences(cases[[name]], q, 1e-5)
    expect_equal(as.vector(as_array(single[[name]])), slopes, tolerance = 1e-4, label = paste(name, "in f32"))
  }
  second <- cases[grep("(ordered|recurrent|exp|outer|density) ", names(cases))]
  found <- xla_jit(function(q) lapply(second, function(f) xla_hessian(f)(q)))(q)
  for (name in names(second)) {
    wanted <- differences(function(q) differences(second[[name]], q, 1e-3), q, 1e-3)
    expect_equal(found[[name]], wanted, tolerance = 1e-4, ignore_attr = TRUE, label = name)
  }
})

test_that("weights sum to 1 beside ties of elements that are computed in different ways", {
  skip_without_plugin()
  skip_unless_all()
  one <- function(u, v) u * 0.5 + v^2 * 0.1
  other <- function(u, v) v * (v * 0.1) + 0.5 * u
  row <- function(w, form) {
    for (j in 2:length(w)) w[j] <- form(w[j - 1], w[j])
    w
  }
  # All elements move as s does: so does what is chosen of them.
  moved <- function(reduce) {
    function(s, x) reduce(row(x[order(x)], one) + s, row(x[order(x)], other) + s)
  }
  reduced <- lapply(list(
    max = function(x, y) max(c(x, y)), min = function(x, y) min(c(x, y)), range = function(x, y) range(c(y, x)),
    rows = function(x, y) apply(cbind(x, y, x), 1, max), columns = function(x, y) apply(rbind(x, y, x), 2, min),
    pmax = function(x, y) pmax(x, y, x), hlo_min = function(x, y) hlo_min(x, y),
    cummax = function(x, y) cummax(c(x, y)),
    cummin = function(x, y) cummin(c(rbind(x, y))), sort = function(x, y) sort(c(x, y)),
    median = function(x, y) median(c(x, y)), quantile = function(x, y) quantile(c(x, y), c(0.2, 0.9)),
    nested = function(x, y) max(apply(cbind(x, y), 1, max))
  ), moved)
  sums <- xla_jit(function(x) {
    s <- x * 0
    lapply(reduced, function(f) {
      tangent <- xla_jvp(function(s) f(s, x))(s, s + 1)$tangent
      list(tangent = tangent, gradient = sum(xla_grad(function(s) sum(f(s, x)))(s)) / length(tangent))
    })
  })
  for (x in list(c(-0.6264538, 0.1836433, -0.8356286, 1.5952808, 0.3295078), sin(1:7))) {
    found <- sums(x)
    for (name in names(found)) {
      expect_equal(as.vector(found[[name]]$tangent), rep(1, length(found[[name]]$tangent)), label = name)
      expect_equal(found[[name]]$gradient, 1, label = name)
    }
  }
})

test_that("equal elements share: all that are arguments, the first and the last of those that are computed", {
  skip_without_plugin()
  weights <- xla_jit(function(two, three, all, one, m) {
    lapply(list(two, three, all, one, m), function(x) {
      list(
        max = xla_grad(max)(x), min = xla_grad(function(x) min(-x))(x), computed = xla_grad(function(x) max(x / 2))(x),
        least = xla_grad(function(x) min(-x / 2))(x)
      )
    })
  })
  m <- matrix(c(1, 3, 2, 3, 3, 0), 2)
  x <- list(c(1, 5, 5), c(2, 7, 1, 7, 7), rep(4, 6), 3, m)
  found <- do.call(weights, x)
  for (i in seq_along(x)) {
    here <- 1 * (x[[i]] == max(x[[i]]))
    # StableHLO counts by rows.
    at <- if (is.matrix(x[[i]])) which(t(here) == 1) else which(here == 1)
    ends <- tabulate(c(at[[1]], at[[length(at)]]), length(here)) / 2
    if (is.matrix(x[[i]])) ends <- matrix(ends, 2, byrow = TRUE)
    wanted <- list(max = here / sum(here), min = -here / sum(here), computed = ends / 2, least = -ends / 2)
    expect_equal(found[[i]], wanted, ignore_attr = TRUE)
  }
  # Along some axes
  a <- array(c(3, 1, 3, 3, 2, 3, 0, 3, 1, 1, 2, 2), c(2, 3, 2))
  over <- function(axes, f) xla_grad(function(x) sum(apply(f(x), axes, max)))(a)
  for (axes in list(1, 2, c(1, 3), c(2, 3))) {
    largest <- apply(a, axes, max)
    here <- sweep(a, axes, largest, "==")
    expect_equal(over(axes, identity), sweep(here, axes, apply(here, axes, sum), "/"))
    expect_equal(apply(over(axes, function(x) x / 2), axes, sum), largest * 0 + 0.5)
  }
  of_two <- xla_grad(function(x, y) sum(hlo_max(x, y)), 1:2)(c(1, 2, 3), c(3, 2, 1))
  expect_equal(of_two, list(c(0, 0.5, 1), c(1, 0.5, 0)), ignore_attr = TRUE)
})

test_that("an argument for which a batch or a call puts computed numbers counts as computed", {
  skip_without_plugin()
  skip_unless_all()
  inner <- xla_jit(xla_grad(max))
  found <- xla_jit(function(q) {
    x <- recurrent(q[order(q)])
    of_recurrent <- xla_vmap(xla_grad(function(q) max(recurrent(q))))
    list(inner(x), xla_vmap(xla_grad(max))(rbind(x, x * 0.5)), of_recurrent(rbind(q, q)))
  })(q)
  expect_equal(c(found[[1]]), c(0, 0, 0, 1))
  expect_equal(found[[2]], rbind(c(0, 0, 0, 1), c(0, 0, 0, 1)), ignore_attr = TRUE)
  expect_equal(found[[3]][2, ], differences(function(q) max(recurrent(q)), q, 1e-5), tolerance = 1e-7)
  # In loops too
  looped <- function(q) {
    hlo_scan(function(s, v) {
      s <- recurrent(s * v)
      list(s, max(s))
    }, q, c(0.9, 1.1))$y
  }
  turns <- function(q) {
    s1 <- recurrent(q * 0.9)
    c(max(s1), max(recurrent(s1 * 1.1)))
  }
  expect_equal(xla_jacobian(looped)(q), t(differences(turns, q, 1e-5) |> t()), tolerance = 1e-7, ignore_attr = TRUE)
})

test_that("numbers are compared where they are the same everywhere, and found by position elsewhere", {
  skip_without_plugin()
  by_position <- function(f) {
    grepl("x_first", xla_program(xla_grad(function(x) max(f(x))), c(1, 2, 3)), fixed = TRUE)
  }
  exact <- list(
    identity, function(x) x[2:3], rev, sort, function(x) x[order(-x)], function(x) c(x, 1), abs, function(x) -x, floor,
    function(x) ifelse(x > 2, x, 0), function(x) pmax(x, 1), cummax, function(x) t(x),
    function(x) replace(x, 2, x[1]), function(x) hlo_convert(x, "f32"), function(x) x[c(3L, 1L, 1L)]
  )
  rounded <- list(
    exp, function(x) x + 1, function(x) x * 2, function(x) x / 3, function(x) cumsum(x), function(x) x %*% t(x),
    function(x) ifelse(exp(x) > 2, x, 0), function(x) hlo_scan(function(s, v) list(s, v), 0, x)$y,
    function(x) hlo_convert(hlo_convert(x, "bf16"), "f64"), function(x) sort(exp(x)[1])
  )
  expect_identical(vapply(exact, by_position, NA), rep(FALSE, length(exact)))
  expect_identical(vapply(rounded, by_position, NA), rep(TRUE, length(rounded)))
  # With a `maximum` in the region of a reduction all sums of the program would be slower.
  for (f in c(which.max, which.min)) expect_no_match(xla_program(f, c(1, 2)), "stablehlo[.](max|min)imum")
  # Of more positions than 32 bits count
  large <- xla_program(xla_grad(function(x) max(exp(x))), ffi_type("f32", c(3, 70000, 70000)))
  expect_match(large, "stablehlo.constant dense<4900000000> : tensor<3x70000x70000xi64>", fixed = TRUE)
})

test_that("NaN, infinities and numbers in 16 bits have weights", {
  skip_without_plugin()
  skip_unless_all()
  slopes <- xla_jit(function(x) {
    list(xla_grad(max)(x), xla_grad(function(x) max(x / 2))(x), xla_grad(function(x) min(x * 1))(x))
  })
  for (x in list(c(1, NaN, 2), c(NaN, NaN, NaN))) expect_identical(lapply(slopes(x), c), rep(list(rep(NaN, 3)), 3))
  expect_equal(slopes(rep(-Inf, 3)), list(rep(1 / 3, 3), c(0.25, 0, 0.25), c(0.5, 0, 0.5)), ignore_attr = TRUE)
  expect_equal(slopes(rep(Inf, 3)), list(rep(1 / 3, 3), c(0.25, 0, 0.25), c(0.5, 0, 0.5)), ignore_attr = TRUE)
  for (dtype in c("f16", "bf16", "f32")) {
    x <- pjrt_buffer(c(0.3, 0.7, 0.1, 0.7), dtype)
    expect_equal(as.vector(as_array(xla_grad(function(x) max(x * 0.5 + 0.25))(x))), c(0, 0.25, 0, 0.25))
  }
  expect_identical(xla_jit(xla_grad(function(x) sum(x) + sum(apply(x, 1, max))))(matrix(0, 0, 2)), matrix(0, 0, 2))
})
