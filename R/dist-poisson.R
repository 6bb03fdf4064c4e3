# The Poisson distribution: density, probability and quantile.

overload_dpois <- function(x, lambda, log = FALSE) {
  call <- sys.call()
  check_density(log, call)
  distribution("dpois()", list(x = x, lambda = lambda), function(x, lambda) {
    end <- end_of(is_count(x) & lambda == 0, lambda, list(count_of(x)), poisson_end)
    density_of(of_counts(x, function(k) log_poisson(k, lambda)), lambda >= 0 & x == x, log, list(end))
  }, call, log)
}

poisson_tail <- function(x, lambda, lower, log) {
  k <- floor_count(x)
  inside <- k >= 0 & finite(k) & lambda > 0 & finite(lambda)
  inner <- gamma_probability(hlo_select(inside, k, 1) + 1, hlo_select(inside, lambda, 1), !lower, log)
  list(
    inner = inner, before = k < 0 | lambda == Inf & finite(k), behind = k >= 0 & (lambda == 0 | k == Inf),
    valid = lambda >= 0 & x == x,
    ends = list(end_of(k >= 0 & finite(k) & lambda == 0, lambda, list(k), poisson_end, lower = FALSE))
  )
}

overload_ppois <- function(q, lambda, lower.tail = TRUE, log.p = FALSE) {
  probability_overload("ppois()", list(q = q, lambda = lambda), lower.tail, log.p, sys.call(), function(x, lambda) {
    poisson_tail(x, lambda, lower.tail, log.p)
  })
}

overload_qpois <- function(p, lambda, lower.tail = TRUE, log.p = FALSE) {
  quantile_overload("qpois()", list(p = p, lambda = lambda), lower.tail, log.p, sys.call(), function(p, lambda) {
    valid <- lambda >= 0 & finite(lambda)
    inside <- valid & lambda > 0
    mean <- hlo_select(inside, lambda, 1)
    guess <- count_guess(p, mean, mean, 1 / sqrt(mean), lower.tail, log.p)
    inner <- count_quantile(p, guess, list(mean), function(k, mean, lower, log) {
      tail_value(poisson_tail(k, mean, lower, log), lower, log)
    }, lower.tail, log.p)
    end <- hlo_select(inside, filled(Inf, p), 0)
    list(inner = hlo_select(inside, inner, 0), valid = valid, begin = filled(0, p), end = end)
  })
}

distribution_overloads("pois", counts = TRUE)
