# JAX's example of a handler with a gradient, in every language: y = x / sqrt(mean(x^2) + eps).

loops_in_c <- list(
  forward = "
    double sum = 0;
    for (int64_t i = 0; i < n; i++) sum += (double) x[i] * x[i];
    const double r = 1 / sqrt(sum / n + eps);
    for (int64_t i = 0; i < n; i++) y[i] = (T) (x[i] * r);
    *scale = (T) r;",
  backward = "
    double sum = 0;
    const double r = *scale;
    for (int64_t i = 0; i < n; i++) sum += (double) x[i] * g[i];
    for (int64_t i = 0; i < n; i++) d[i] = (T) (g[i] * r - x[i] * (sum * r * r * r / n));"
)

bodies <- list(
  c = loops_in_c, "c++" = loops_in_c,
  fortran = list(
    forward = "
      scale = real(1 / sqrt(sum(real(x, c_double)**2) / n + eps), T)
      y = x * scale",
    backward = "
      d = g * scale - x * real(sum(real(x, c_double) * g) * scale**3 / n, T)"
  ),
  rust = list(
    forward = "
      let sum: f64 = x.iter().map(|&x| x as f64 * x as f64).sum();
      let r = 1.0 / (sum / n as f64 + eps).sqrt();
      for (y, &x) in y.iter_mut().zip(x) {
          *y = (x as f64 * r) as T;
      }
      *scale = r as T;",
    backward = "
      let r = *scale as f64;
      let sum: f64 = x.iter().zip(g).map(|(&x, &g)| x as f64 * g as f64).sum();
      for i in 0..n {
          d[i] = (g[i] as f64 * r - x[i] as f64 * (sum * r * r * r / n as f64)) as T;
      }"
  )
)

# The derivative is a symmetric matrix, so the op for reverse mode is its own transpose.
rms_norm <- function(language) {
  name <- paste0("rms_norm_", sub("++", "pp", language, fixed = TRUE))
  forward <- ffi_source("x: T[..., n]; eps: f64 = 1e-5 -> y: T[..., n], scale: T[...]", bodies[[language]]$forward,
    language,
    name = name
  )
  backward <- ffi_source("x: T[..., n], scale: T[...], g: T[..., n] -> d: T[..., n]", bodies[[language]]$backward,
    language,
    name = paste0(name, "_backward"),
    transpose = function(primals, cotangents) list(NULL, NULL, backward(primals$x, primals$scale, cotangents))
  )
  ffi_op(function(x) forward(x)$y, name = "rms_norm", vjp = list(
    forward = function(primals) {
      out <- forward(primals$x)
      list(results = out$y, residuals = list(x = primals$x, scale = out$scale))
    },
    reverse = function(residuals, cotangents) list(backward(residuals$x, residuals$scale, cotangents))
  ))
}

by_formula <- function(x) x / sqrt(mean(x^2) + 1e-5)

gradient_by_formula <- function(x, g) {
  scale <- 1 / sqrt(mean(x^2) + 1e-5)
  g * scale - x * sum(x * g) * scale^3 / length(x)
}

for (language in names(bodies)) {
  test_that(sprintf("rms_norm in %s has the results, gradients and batches of the formula", language), {
    skip_without_plugin()
    skip_without_compiler(language)
    if (language != "c") skip_unless_all()
    x <- c(1, -2, 3.5, 0.25)
    g <- c(0.5, 1, -1, 2)
    batch <- rbind(x, 2 * g, x + g)
    norm <- rms_norm(language)
    expect_equal(norm(x), by_formula(x), tolerance = 1e-14)
    out <- xla_vjp(norm)(x, g)
    expect_equal(out, list(value = by_formula(x), gradients = gradient_by_formula(x, g)), tolerance = 1e-14)
    expect_equal(xla_jvp(norm)(x, g)$tangent, gradient_by_formula(x, g), tolerance = 1e-14)
    each <- t(apply(batch, 1, gradient_by_formula, g))
    found <- xla_vmap(xla_vjp(norm), list(1, NULL))(batch, g)$gradients
    expect_equal(found, each, ignore_attr = TRUE, tolerance = 1e-14)
    expect_equal(xla_grad(function(x) sum(xla_vmap(norm)(x) * g[1]))(batch),
      t(apply(batch, 1, gradient_by_formula, rep(g[1], 4))),
      ignore_attr = TRUE, tolerance = 1e-14
    )
    check <- ffi_check(norm, x)
    expect_true(all(check$table$ok))
  })
}

test_that("second derivatives go through the ops of both modes where these have rules", {
  skip_without_plugin()
  skip_unless_all()
  skip_without_compiler("c")
  in_values <- function(x) x * hlo_rsqrt(sum(x * x) / 4 + 1e-5)
  scale_change <- function(x, scale, dx) -scale * scale * scale * sum(x * dx) / length(x)
  forward <- ffi_source("x: T[n]; eps: f64 = 1e-5 -> y: T[n], scale: T[]", loops_in_c$forward,
    name = "rms_forward_twice", jvp = function(primals, results, tangents) {
      change <- scale_change(primals$x, results$scale, tangents$x)
      list(tangents$x * results$scale + primals$x * change, change)
    }
  )
  backward <- ffi_source("x: T[n], scale: T[], g: T[n] -> d: T[n]", loops_in_c$backward,
    name = "rms_backward_twice", jvp = function(primals, results, tangents) {
      formula <- function(x, scale, g) g * scale - x * (sum(x * g) * scale * scale * scale / length(x))
      xla_jvp(formula)(primals, tangents)$tangent
    },
    transpose = function(primals, cotangents) list(NULL, NULL, backward(primals$x, primals$scale, cotangents))
  )
  norm <- ffi_op(function(x) forward(x)$y, name = "norm", vjp = list(
    forward = function(primals) {
      out <- forward(primals$x)
      list(out$y, c(primals, out["scale"]))
    },
    reverse = function(residuals, cotangents) list(backward(residuals$x, residuals$scale, cotangents))
  ))
  x <- c(1, -2, 3.5, 0.25)
  loss <- function(norm) function(x) sum(norm(x)^3)
  expect_equal(xla_hessian(loss(norm))(x), xla_hessian(loss(in_values))(x), tolerance = 1e-12)
  twice <- function(norm) xla_grad(function(x) sum(xla_grad(loss(norm))(x) * c(1, 2, 3, 4)))(x)
  expect_equal(twice(norm), twice(in_values), tolerance = 1e-12)
  expect_true(all(ffi_check(norm, x, second_order = TRUE, dtypes = "f64")$table$ok))
})
