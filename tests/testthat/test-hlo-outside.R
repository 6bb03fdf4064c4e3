# Functions `hlo_...` where no program is being written.

# A call of each that a program takes
whole_calls <- c(
  "hlo_and(l, l)", "hlo_ar1_precision(3, 0.5)", "hlo_atan2(v, v)", "hlo_betainc(v, v, v)", "hlo_betainc_inv(v, v, v)",
  "hlo_bitcast_convert(v, 'i64')", "hlo_block_sum(function(x) sum(x), v)", "hlo_broadcast(1, 2)",
  "hlo_case(0L, list(function() 1, function() 2))", "hlo_complex(v, v)", "hlo_concatenate(v, v, axis = 1)",
  "hlo_cond(TRUE, function() 1, function() 2)", "hlo_conj(z)", "hlo_constant(m)", "hlo_convert(v, 'f32')",
  "hlo_corr_chol(v[1])", "hlo_dar1(v, 0.5)", "hlo_dbetabinom(1, 2, v, 1)", "hlo_dcompois(1, v, 1)",
  "hlo_dgenpois(1, v, 1)", "hlo_dmvnorm(v, 0, m)", "hlo_dordbeta(v, 0, 1, -1, 1)", "hlo_dseparable(v, list(m))",
  "hlo_dtweedie(v, 1, 1, 1.5)", "hlo_dzeroinflated(1, v, -v)", "hlo_dzerotruncated(1, -v, -v)",
  "hlo_dztnbinom(1, 1, v)", "hlo_dztpois(1, v)",
  "hlo_spde_precision(1:2, list(i = 1:2, j = 1:2, x = 1:2), 1)",
  "hlo_count_leading_zeros(i)", "hlo_custom_call('xlaffi.none', list(v), ffi_type('f64', 2))",
  "hlo_dot(m, m, list(2, 1))", "hlo_dynamic_slice(v, list(1L), 1)", "hlo_dynamic_update_slice(v, 1, list(1L))",
  "hlo_erf(v)", "hlo_erfc(v)", "hlo_erfcinv(v)", "hlo_erfcx(v)", "hlo_erfinv(v)", "hlo_expint(v, 1)",
  "hlo_expint_ei(v)", "hlo_fold_in(hlo_key(1), 2L)", "hlo_fori(0L, 2L, function(i, x) x + 1, v)",
  "hlo_gammainc_p(v, v)", "hlo_gammainc_p_inv(v, v)", "hlo_gammainc_q(v, v)", "hlo_gammainc_q_inv(v, v)",
  "hlo_imag(z)", "hlo_iota('f64', 3)", "hlo_irfft(z, 2)", "hlo_key(1)", "hlo_lambert_w(v)", "hlo_log_ndtr(v)",
  "hlo_log1mexp(-v)", "hlo_log1pexp(v)", "hlo_logaddexp(v, v)", "hlo_logistic(v)", "hlo_logsumexp(m)",
  "hlo_matmul(m, m)", "hlo_max(v, v)", "hlo_min(v, v)", "hlo_ndtr(v)", "hlo_ndtri(v)", "hlo_ndtri_exp(-v)",
  "hlo_not(l)", "hlo_or(l, l)", "hlo_owens_t(v, v)", "hlo_pad(v, 0, 1, 1)", "hlo_polygamma(1, v)", "hlo_popcnt(i)",
  "hlo_random_bits(hlo_key(1), 3, 'ui32')", "hlo_rbeta(hlo_key(1), 2, 1, 1)", "hlo_rbinom(hlo_key(1), 2, 5, 0.5)",
  "hlo_rcauchy(hlo_key(1), 2)", "hlo_rchisq(hlo_key(1), 2, 1)", "hlo_rdirichlet(hlo_key(1), 2, v)", "hlo_real(z)",
  "hlo_reshape(m, 4)", "hlo_reverse(v, 1)", "hlo_rexp(hlo_key(1), 2)", "hlo_rf(hlo_key(1), 2, 1, 1)", "hlo_rfft(v)",
  "hlo_rgamma(hlo_key(1), 2, 1)", "hlo_rgeom(hlo_key(1), 2, 0.5)", "hlo_rlnorm(hlo_key(1), 2)",
  "hlo_rlogis(hlo_key(1), 2)", "hlo_rmvnorm(hlo_key(1), 2, v, m)", "hlo_rnbinom(hlo_key(1), 2, 1, 0.5)",
  "hlo_rnorm(hlo_key(1), 2)", "hlo_rpois(hlo_key(1), 2, 1)", "hlo_rsqrt(v)", "hlo_rt(hlo_key(1), 2, 1)",
  "hlo_runif(hlo_key(1), 2)", "hlo_rweibull(hlo_key(1), 2, 1)", "hlo_sample(hlo_key(1), v, 1)",
  "hlo_scan(function(a, x) list(a + x, x), 0, v)", "hlo_searchsorted(v, v)", "hlo_select(l, 1, 2)",
  "hlo_shift_left(i, i)", "hlo_shift_right_arithmetic(i, i)", "hlo_shift_right_logical(i, i)", "hlo_slice(v, 1, 1)",
  "hlo_sparse(v, 1:2, 1:2)", "hlo_nonzeros(hlo_sparse(v, 1:2, 1:2))",
  "hlo_sparse_inverse(hlo_sparse(v, 1:2, 1:2, symmetric = TRUE))",
  "hlo_split(hlo_key(1), 2)", "hlo_sum(m)", "hlo_t(m)", "hlo_token()", "hlo_top_k(v, 1)", "hlo_transpose(m)",
  "hlo_triangular_solve(m, m)", "hlo_while(function(x) x < 3, function(x) x + 1, 0)", "hlo_xor(l, l)",
  "hlo_zeta(v + 2, v)",
  "hlo_minimize(function(x) sum(x^2), v)", "hlo_root(function(x) x - 1, v)", "hlo_fixed_point(function(x) x / 2, v)",
  "hlo_integrate(function(x) x, 0, 1)", "hlo_quadrature(3)", "hlo_ode(v, c(0, 1), function(t, y, p) -y)",
  "hlo_ddirichlet(v, v)", "hlo_dlkj_cholesky(m, 1)"
)

# These need devices, or arguments of a program.
other_calls <- c(
  "hlo_add(v, v)", "hlo_all_gather(v, 'd')", "hlo_all_to_all(v, 'd', 1, 1)", "hlo_axis_index('d')",
  "hlo_axis_size('d')", "hlo_pmax(v, 'd')", "hlo_pmean(v, 'd')", "hlo_pmin(v, 'd')",
  "hlo_ppermute(v, 'd', cbind(1, 2))", "hlo_psum(v, 'd')", "hlo_psum_scatter(v, 'd', 1)", "hlo_shard(v, 'd')"
)

data <- list(
  m = matrix(c(2, 1, 1, 3), 2), v = c(0.25, 0.5), i = 1:3, l = c(TRUE, FALSE), z = c(1i, 2 + 0i)
)

test_that("outside of programs every function hlo_... is an error that names it", {
  calls <- c(whole_calls, other_calls)
  names <- sub("\\(.*", "", calls)
  expect_setequal(names, grep("^hlo_", getNamespaceExports("xlaffi"), value = TRUE))
  for (k in one_in(3L, seq_along(calls))) {
    code <- str2lang(calls[[k]])
    error <- error_of(eval(code, data))
    expect_s3_class(error, "xlaffi_error")
    # What is in a call is called before, or with it.
    is_named <- startsWith(cli::ansi_strip(error$message), unique(c(names[[k]], all.names(code))))
    expect_true(any(is_named), label = sprintf("that the error of %s names it", calls[[k]]))
  }
  traced <- xlaffi:::trace_program(function() {
    for (call in one_in(5L, whole_calls)) {
      tryCatch(eval(str2lang(call), data), error = function(e) stop(call, ": ", conditionMessage(e)))
    }
    1
  }, list())
  expect_type(traced, "list")
  expect_snapshot(error = TRUE, {
    hlo_logsumexp(data$m)
    (hlo_erf)(1)
  })
})

test_that("a finalizer that R calls in the middle of a trace is no part of the program", {
  skip_without_plugin()
  square <- xla_jit(function(x) sum(x^2))
  tripled <- ffi_op(function(x) 3 * x)
  square(c(1, 2))
  found <- list()
  outer <- NULL
  finalizer <- function(e) {
    found <<- list(
      square(c(1, 2)), square(1:3), xla_jit(function(x) x + 1)(1), tripled(2), xla_grad(function(x) sum(x^3))(c(1, 2)),
      xla_chol(matrix(c(4, 0, 0, 9), 2)), conditionMessage(error_of(hlo_erf(1))),
      conditionMessage(error_of(outer + 1))
    )
  }
  f <- xla_jit(function(x) {
    outer <<- x
    local(reg.finalizer(new.env(), finalizer))
    y <- 2 * x
    while (!length(found)) numeric(1e6)
    y + square(x)
  })
  expect_identical(f(c(1, 2, 3)), 2 * c(1, 2, 3) + 14)
  expect_identical(found[1:6], list(5, 14, 2, 6, c(3, 12), diag(c(2, 3))))
  expect_match(found[[7]], "hlo_erf: it is a part of programs, and none is being written here")
  expect_match(found[[8]], "a value of another program is used where none is being written")
})
