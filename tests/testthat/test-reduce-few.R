# Reductions of a few numbers each in large arrays, which are written as additions or as a product with ones.

counts <- c(2L, 8L, 16L, 17L, 127L, 128L)

few_data <- function() {
  set.seed(1)
  lapply(counts, function(k) {
    x <- matrix(rnorm(k * (4096 %/% k + 1)), k)
    x[k, 2] <- NaN
    x[, 3] <- -0
    x[1, 4] <- Inf
    x
  })
}

# Sums and extrema of columns, of the same as rows, and along two axes of three
few_reduced <- function(x, sum, max, min) {
  cube <- array(x, c(1, dim(x)))
  list(
    sum(x, 1), sum(t(x), 2), sum(cube, c(1, 2)), max(x, 1), max(t(x), 2), min(x, 1), min(cube, 1:2), sum(abs(x) * 2, 1)
  )
}

in_r <- function(f) function(x, axes) as.vector(apply(x, setdiff(seq_along(dim(x)), axes), f))

test_that("sums and extrema of a few are R's, with NaN, infinities and zeros of both signs", {
  skip_without_plugin()
  data <- few_data()
  reduced_as <- function(op) function(x, axes) reduced(op, x, axes, "test")
  ours <- xla_jit(function(...) {
    lapply(list(...), few_reduced, reduced_as("reduce_add"), reduced_as("reduce_max"), reduced_as("reduce_min"))
  })
  for (dtype in c("f64", if (all_run()) "f32")) {
    tolerance <- if (dtype == "f64") 1e-13 else 2e-5
    given <- lapply(data, pjrt_buffer, dtype)
    found <- do.call(ours, given)
    for (k in seq_along(data)) {
      x <- as_array(given[[k]])
      expected <- few_reduced(x, in_r(sum), in_r(max), in_r(min))
      for (i in seq_along(expected)) {
        came <- as.vector(as_array(found[[k]][[i]]))
        label <- sprintf("%s, %d, %d", dtype, counts[[k]], i)
        expect_identical(is.nan(came), is.nan(expected[[i]]), label = label)
        expect_equal(came, expected[[i]], tolerance = tolerance, label = label)
        # A sum of negative zeros is 0; an extremum of them has their sign.
        if (i %in% c(1:3, 8L)) expect_identical(1 / came[[3]], Inf, label = label)
      }
    }
  }
})

test_that("they are written without a reduction, whose library is slow at them", {
  reductions_of <- function(k, n, dtype = "f64") {
    x <- new_type(dtype, c(k, n))
    traced <- trace_program(function(x) list(hlo_sum(x, 1), reduced("reduce_max", x, 1, "max()")), list(x))
    text <- written_program(traced$region, NULL, "cpu", FALSE)$text
    sum(lengths(regmatches(text, gregexpr("stablehlo.reduce\"?\\(", text))))
  }
  expect_identical(reductions_of(16L, 256L), 0L)
  expect_identical(reductions_of(17L, 256L), 1L)
  expect_identical(reductions_of(128L, 256L), 2L)
  expect_identical(reductions_of(16L, 255L), 2L)
  expect_identical(reductions_of(1L, 4096L), 2L)
  expect_identical(reductions_of(16L, 256L, "f16"), 2L)
})

test_that("derivatives and batches go through them", {
  skip_without_plugin()
  set.seed(2)
  x <- matrix(rnorm(3 * 1500), 3)
  f <- function(x) sum(colSums(x^3)^2) / 2
  direction <- matrix(1, 3, 1500)
  came <- xla_jit(function(x, direction) {
    slope <- xla_grad(f)
    list(slope(x), xla_jvp(slope)(x, direction), xla_vmap(function(x) hlo_sum(x, 1))(x), xla_vmap(sum)(x))
  })(x, direction)
  column <- rep(colSums(x^3), each = 3)
  expect_equal(came[[1]], column * 3 * x^2)
  tangent <- rep(colSums(3 * x^2), each = 3) * 3 * x^2 + column * 6 * x
  expect_equal(tree_leaves(came[[2]])[[2]], tangent)
  expect_equal(as.vector(came[[3]]), rowSums(x))
  expect_equal(as.vector(came[[4]]), rowSums(x))
})

test_that("maxima and minima of large arrays keep NaN, alone and within sums, in programs of all origins", {
  skip_without_plugin()
  skip_unless_all()
  n <- 5000
  for (dtype in c("f64", "f32")) {
    x <- pjrt_buffer(replace(seq_len(n) / n, 7, NaN), dtype)
    came <- xla_jit(function(x) {
      m <- hlo_reshape(x, c(50L, 100L))
      list(
        max(x), min(x * 2), range(x)[2], sum(pmax(x, 0.5)), colSums(pmin(m, 0.5)), rowSums(pmax(m, 0.5)),
        apply(m, 1, max)
      )
    })(x)
    nan <- vapply(came, function(value) sum(is.nan(as_array(value))), 0)
    expect_identical(nan, rep(1, 7), label = dtype)
    clean <- pjrt_buffer(seq_len(n) / n, dtype)
    largest <- xla_jit(function(x) list(max(x), min(x), sum(pmax(x, 0.5))))(clean)
    found <- vapply(largest, as_array, 0)
    expect_equal(found, c(1, 1 / n, sum(pmax(seq_len(n) / n, 0.5))), tolerance = 1e-5)
  }
  # As JAX writes it
  program <- pjrt_program(sprintf("func.func @main(%%x: tensor<%dxf64>) -> tensor<f64> {
    %%0 = stablehlo.constant dense<0xFFF0000000000000> : tensor<f64>
    %%1 = stablehlo.reduce(%%x init: %%0) applies stablehlo.maximum across dimensions = [0]
      : (tensor<%dxf64>, tensor<f64>) -> tensor<f64>
    return %%1 : tensor<f64>
  }", n, n))
  data <- pjrt_buffer(replace(seq_len(n) / n, 7, NaN), "f64")
  expect_identical(as_array(pjrt_execute(pjrt_compile(program), data)), NaN)
})

test_that("in sums of large arrays zeros that divide keep their sign, and conversions are made", {
  skip_without_plugin()
  skip_unless_all()
  data <- replace(rep(1.501, 5000), 7, 0)
  functions <- list(
    function(x) sum(1 / -x), function(x) sum(1 / tanh(-x)), function(x) sum(rev(x) / expm1(-x)),
    function(x) sum(1 / log1p(-x), na.rm = TRUE), function(x) sum(1 / sign(x))
  )
  converted <- function(to, from) {
    function(x) sum(hlo_convert(hlo_reshape(hlo_convert(x, to), c(50L, 100L)), from))
  }
  for (dtype in c("f64", "f32")) {
    x <- pjrt_buffer(data, dtype)
    came <- vapply(functions, function(f) as_array(xla_jit(f)(x)), 0)
    expect_identical(came, c(-Inf, -Inf, -Inf, -Inf, Inf), label = dtype)
    came <- vapply(c("i8", "ui8", "bf16"), function(to) as_array(xla_jit(converted(to, dtype))(x)), 0)
    expect_equal(unname(came), 4999 * c(1, 1, 1.5), label = dtype)
  }
  expect_equal(xla_jit(converted("f32", "f64"))(data), 4999 * 1.50100004673004150390625, tolerance = 1e-13)
})
