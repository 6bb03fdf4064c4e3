# Precision matrices of random fields, and the factor of a correlation matrix.

#' @rdname hlo_dmvnorm
#' @export
hlo_ar1_precision <- function(n, phi, sd = 1) {
  check_given(n, phi)
  call <- environment()
  n <- check_count(n, "n", call, least = 1, whole = TRUE)
  given <- vector_parameters(list(phi = phi, sd = sd), "hlo_ar1_precision", call)
  given <- Map(one_number, given, names(given), "hlo_ar1_precision", list(call))
  phi <- given$phi
  inside <- abs(phi) < 1 & given$sd > 0
  scale <- only_where(inside, 1 / (given$sd * given$sd * (if (n > 1L) (1 - phi) * (1 + phi) else 1)))
  # Ends, inner elements and neighbours
  kinds <- joined(lapply(list(scale, scale * (1 + phi * phi), -phi * scale), reshaped, 1L))
  columns <- seq_len(n) - 1L
  before <- columns[-n]
  ends <- columns %in% c(0L, n - 1L)
  values <- taken(kinds, c(ifelse(ends, 1L, 2L), rep(3L, n - 1L)), 1L)
  sparse_from(c(columns, before + 1L), c(columns, before), values, n, n, TRUE)
}

# A number of the program, without axes
one_number <- function(x, name, op, call) {
  if (length(x) != 1L) {
    abort(sprintf("%s: `%s` must be one number, not %s", op, name, type_text(x)), op = op, operand = name, call = call)
  }
  reshaped(x, integer())
}

#' @rdname hlo_dmvnorm
#' @export
hlo_corr_chol <- function(theta, sd = 1) {
  check_given(theta)
  call <- environment()
  given <- vector_parameters(list(theta = theta, sd = sd), "hlo_corr_chol", call)
  theta <- reshaped(given$theta, length(given$theta))
  n <- as.integer(round((1 + sqrt(1 + 8 * length(theta))) / 2))
  if (n * (n - 1L) / 2L != length(theta)) {
    abort(sprintf("hlo_corr_chol: `theta` must be n (n - 1) / 2 numbers, such as 1, 3, 6 or 10, not %d", length(theta)),
      op = "hlo_corr_chol", operand = "theta", call = call
    )
  }
  if (rank_of(given$sd) > 1L || !length(given$sd) %in% c(1L, n)) {
    abort(sprintf("hlo_corr_chol: `sd` must be one number or %d, not %s", n, type_text(given$sd)),
      op = "hlo_corr_chol", operand = "sd", call = call
    )
  }
  # By rows, as values lie: the places of the numbers, those of a one and of a zero behind them
  at <- matrix(length(theta) + 2L, n, n)
  at[upper.tri(at)] <- seq_along(theta)
  diag(at) <- length(theta) + 1L
  entries <- joined(list(theta, constant(c(1, 0), theta@dtype, 2L, "ends")))
  whole <- reshaped(taken(entries, as.vector(t(at)), 1L), c(n, n))
  lengths <- sqrt(hlo_sum(whole * whole, 1L))
  whole * broadcast(repeated(given$sd, n) / lengths, c(n, n), 2L)
}

for (name in c("hlo_ar1_precision", "hlo_corr_chol")) {
  overload(name, "xlaffi", get(name),
    by = "own", topic = "Distributions", dtypes = "f32, f64; integers become f64", derivative = "in the parameters"
  )
}
rm(name)
