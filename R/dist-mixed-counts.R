#' Densities of families that mixed models have
#'
#' Densities for which R has no function: of counts that vary more, or less, than Poisson and binomial ones, of counts
#' without zeros or with more of them, of sums of gamma numbers, and of shares with zeros and ones. \pkg{glmmTMB} has
#' them as families.
#'
#' @details
#' * `hlo_dbetabinom()`: binomial counts whose probability has a beta distribution with shapes `mu * phi` and
#'   `(1 - mu) * phi`. glmmTMB's `betabinomial`, \pkg{TMB}'s `dbetabinom()` by its shapes.
#' * `hlo_dtweedie()`: sums of a Poisson number of gamma numbers, with mean `mu` and variance `phi * mu^power`, for
#'   `power` between 1 and 2: a density for positive `x`, and a probability of 0. glmmTMB's `tweedie`.
#' * `hlo_dcompois()`: the Conway-Maxwell-Poisson distribution, probabilities in proportion to
#'   `lambda^x / factorial(x)^nu`, by its exact mean or by `lambda`. glmmTMB's `compois`, whose dispersion is `1 / nu`.
#' * `hlo_dgenpois()`: the generalised Poisson distribution of Consul, with mean `mu` and variance `mu * phi`. glmmTMB's
#'   `genpois`. With `phi` below 1 the support ends, and probabilities do not quite sum up to 1, as there.
#' * `hlo_dztpois()` and `hlo_dztnbinom()`: Poisson and negative binomial counts given that they are not 0, with
#'   [dpois()]'s and [dnbinom()]'s parameters. glmmTMB's `truncated_poisson`, `truncated_nbinom2` (by `mu` and `size`),
#'   and with `size = mu / phi` its `truncated_nbinom1`.
#' * `hlo_dzerotruncated()`: that for any distribution of counts, by logarithms: of the density at `x` and of the
#'   probability of 0. `hlo_dgenpois()` and `hlo_dcompois()` at 0 give it for `truncated_genpois` and
#'   `truncated_compois`.
#' * `hlo_dzeroinflated()`: 0 with the probability `prob`, else a count with the density `log_density` (a logarithm). Of
#'   a truncated density it is a hurdle model. glmmTMB's `ziformula`.
#' * `hlo_dordbeta()`: ordered beta regression of shares with zeros and ones. A logistic number around `eta` is below
#'   `lower` (0), above `upper` (1), or between them, and then beta with mean `plogis(eta)` and precision `phi`.
#'   glmmTMB's `ordbeta`.
#'
#' [dt()] by location and scale is `dt((x - mu) / sigma, df, log = TRUE) - log(sigma)`, glmmTMB's `t_family`.
#'
#' Arguments are recycled as by R's densities, and f32 is computed in f64. What is no count, or outside of the support,
#' has density 0; parameters that are none give NaN. All have derivatives of every order in the parameters, and, where
#' `x` is not a count, in `x` inside the support. Series of the Tweedie and of the Conway-Maxwell-Poisson distribution
#' are summed up as far as doubles see them, which takes longer the more counts are likely: about `20 * sd` terms.
#' Beyond a million terms the result is NaN.
#'
#' @param x The numbers: [values][xlaffi_value], or R numbers beside a value.
#' @param size The number of trials; the dispersion, as in [dnbinom()].
#' @param mu,mean The mean; for `hlo_dbetabinom()` that of one trial.
#' @param phi Precision or dispersion, positive.
#' @param power The power of the mean that the variance goes with.
#' @param nu,lambda The parameters of the Conway-Maxwell-Poisson distribution, positive; for `hlo_dztpois()` the
#'   mean before zeros are left out.
#' @param prob The probability: of success as in [dnbinom()], or of additional zeros.
#' @param log_density,log_zero Logarithms of a density at `x`, and of the probability of 0.
#' @param eta,lower,upper On the logistic scale: the place of the distribution, and where 0 ends and 1 begins.
#' @param log Whether to give the logarithm of the density.
#' @return A value of the arguments' shape.
#' @section Errors:
#' Arguments that are no numbers, or cannot be recycled, and both of `mean` and `lambda`, or of `prob` and `mu`, are an
#' error (`xlaffi_error_invalid_argument`).
#' @references
#' P. Dunn, G. Smyth, "Series evaluation of Tweedie exponential dispersion model densities", Statistics and Computing 15
#' (2005). A. Huang, "Mean-parametrized Conway-Maxwell-Poisson regression models for dispersed counts", Statistical
#' Modelling 17 (2017). P. Consul, F. Famoye, "Generalized Poisson regression model", Communications in Statistics -
#' Theory and Methods 21 (1992). R. Kubinec, "Ordered beta regression", Political Analysis 31 (2023).
#' @examplesIf plugins_downloaded()
#' counts <- c(0, 1, 4)
#' f <- function(mu, phi) {
#'   list(
#'     hlo_dbetabinom(counts, 5, plogis(mu), phi), hlo_dtweedie(counts, mu, phi, 1.5),
#'     hlo_dcompois(counts, mu, 1 / phi), hlo_dztpois(counts, mu),
#'     hlo_dztnbinom(counts, size = phi, mu = mu), hlo_dordbeta(c(0, 0.2, 1), mu, phi, -1, 3)
#'   )
#' }
#' xla_jit(f)(2, 1.3)
#' # A likelihood of counts with more zeros, and its gradient
#' nll <- function(p) {
#'   -sum(hlo_dzeroinflated(counts, plogis(p[1]), dpois(counts, exp(p[2]), log = TRUE), log = TRUE))
#' }
#' xla_grad(nll)(c(0, 1))
#' # Without zeros
#' xla_jit(function(mu) {
#'   log_density <- function(x) hlo_dgenpois(x, mu, 2, log = TRUE)
#'   hlo_dzerotruncated(counts, log_density(counts), log_density(0))
#' })(2)
#' @name hlo_densities
NULL

#' @rdname hlo_densities
#' @export
hlo_dbetabinom <- function(x, size, mu, phi, log = FALSE) {
  call <- sys.call()
  check_density(log, call)
  arguments <- list(x = x, size = size, mu = mu, phi = phi)
  distribution("hlo_dbetabinom", arguments, function(x, size, mu, phi) {
    valid <- mu >= 0 & mu <= 1 & phi > 0 & size >= 0 & is_whole(size) & finite(size)
    n <- hlo_select(valid, round(size), 0)
    mixed <- valid & mu > 0 & mu < 1 & phi < Inf
    m <- hlo_select(mixed, mu, 0.5)
    s <- hlo_select(valid & phi < Inf, phi, 1)
    density <- of_counts(x, function(k) {
      inside <- k <= n
      k <- hlo_select(inside, k, 0)
      plain <- log_binomial(k, n - k, hlo_select(mixed, 0.5, mu), hlo_select(mixed, 0.5, 1 - mu))
      hlo_select(inside, hlo_select(mixed, log_beta_binomial(k, n - k, m, s), plain), -Inf)
    })
    possible <- valid & phi < Inf & is_count(x) & x <= n
    k <- hlo_min(count_of(x), n)
    end <- either_end(
      possible & mu == 0, possible & mu == 1, list(mu, k, n - k, s), list(1 - mu, n - k, k, s), beta_binomial_end
    )
    density_of(density, valid & x == x, log, list(end))
  }, call, log)
}

# choose(x + y, x) B(x + a, y + b) / B(a, b) for counts x and y, where a = mu * phi and b = (1 - mu) * phi. Powers of
# `mu` cancel.
log_beta_binomial <- function(...) {
  value <- function(x, y, mu, phi) {
    q <- 1 - mu
    a <- mu * phi
    b <- q * phi
    part <- function(x, y) log_binomial(x, y, mu, q)
    part(x, y) + part(a, b) - part(x + a, y + b) + log(a / (x + a)) + log(b / (y + b)) + log1p((x + y) / phi)
  }
  jvp <- function(primals, results, tangents) {
    x <- primals[[1L]]
    y <- primals[[2L]]
    mu <- primals[[3L]]
    phi <- primals[[4L]]
    of_x <- digamma_rise(x, mu * phi)
    of_y <- digamma_rise(y, (1 - mu) * phi)
    hlo_add(
      along(tangents[[3L]], function(t) t * (phi * (of_x - of_y))),
      along(tangents[[4L]], function(t) t * (mu * of_x + (1 - mu) * of_y - digamma_rise(x + y, phi)))
    )
  }
  op_once("log_beta_binomial", value, jvp)(...)
}

#' @rdname hlo_densities
#' @export
hlo_dgenpois <- function(x, mu, phi, log = FALSE) {
  check_given(x, mu, phi)
  call <- sys.call()
  check_density(log, call)
  distribution("hlo_dgenpois", list(x = x, mu = mu, phi = phi), function(x, mu, phi) {
    valid <- mu > 0 & finite(mu) & phi > 0 & finite(phi)
    root <- sqrt(hlo_select(valid, phi, 1))
    first <- hlo_select(valid, mu, 1) / root
    density <- of_counts(x, function(k) {
      rate <- first + k * (1 - 1 / root)
      inside <- rate > 0
      rate <- hlo_select(inside, rate, 1)
      hlo_select(inside, log_poisson(k, rate) + log(first) - log(rate), -Inf)
    })
    density_of(density, valid & x == x, log)
  }, call, log)
}

#' @rdname hlo_densities
#' @export
hlo_dztpois <- function(x, lambda, log = FALSE) {
  check_given(x, lambda)
  call <- sys.call()
  check_density(log, call)
  distribution("hlo_dztpois", list(x = x, lambda = lambda), function(x, lambda) {
    valid <- lambda > 0 & finite(lambda)
    rate <- hlo_select(valid, lambda, 1)
    density <- of_counts(x, function(k) without_zero(k, log_poisson(k, rate), -rate))
    density_of(density, valid & x == x, log)
  }, call, log)
}

#' @rdname hlo_densities
#' @export
hlo_dztnbinom <- function(x, size, prob, mu, log = FALSE) {
  call <- sys.call()
  check_density(log, call)
  given <- one_given(c("prob", "mu"), "hlo_dztnbinom", call)
  by_mean <- names(given) == "mu"
  distribution("hlo_dztnbinom", c(list(x = x, size = size), given), function(x, size, by) {
    valid <- size > 0 & finite(size) & (if (by_mean) by > 0 & finite(by) else by > 0 & by < 1)
    n <- hlo_select(valid, size, 1)
    by <- hlo_select(valid, by, 0.5)
    p <- if (by_mean) n / (n + by) else by
    q <- if (by_mean) by / (n + by) else 1 - by
    zero <- if (by_mean) -n * log1p(by / n) else n * log(by)
    density <- of_counts(x, function(k) without_zero(k, log_negative_binomial(k, n, p, q), zero))
    density_of(density, valid & x == x, log)
  }, call, log)
}

# Logarithms of probabilities given that counts are not 0
without_zero <- function(x, log_density, log_zero) {
  hlo_select(x == 0, -Inf, log_density - hlo_log1mexp(-log_zero))
}

#' @rdname hlo_densities
#' @export
hlo_dzerotruncated <- function(x, log_density, log_zero, log = FALSE) {
  call <- sys.call()
  check_density(log, call)
  arguments <- list(x = x, log_density = log_density, log_zero = log_zero)
  distribution("hlo_dzerotruncated", arguments, function(x, log_density, log_zero) {
    valid <- log_zero < 0
    zero <- hlo_select(valid, log_zero, -1)
    density_of(without_zero(x, log_density, zero), valid & x == x, log)
  }, call, log)
}

#' @rdname hlo_densities
#' @export
hlo_dzeroinflated <- function(x, prob, log_density, log = FALSE) {
  call <- sys.call()
  check_density(log, call)
  arguments <- list(x = x, prob = prob, log_density = log_density)
  distribution("hlo_dzeroinflated", arguments, function(x, prob, log_density) {
    valid <- prob >= 0 & prob <= 1
    # Logarithms of both probabilities; of one that is 0 no slope is met
    certain <- hlo_select(prob > 0, log(hlo_select(prob > 0, prob, 1)), -Inf)
    other <- hlo_select(prob < 1, log1p(-hlo_select(prob < 1, prob, 0)), -Inf)
    possible <- log_density > -Inf
    counted <- hlo_select(possible, hlo_select(possible, log_density, 0) + other, -Inf)
    # At an end of `prob` with the slope from inside: log(prob + (1 - prob) exp(d)) by what differs from d, or from 1
    d <- hlo_select(possible, log_density, 0)
    from_zero <- d + log1p(hlo_select(prob == 0, prob, 0) * expm1(hlo_min(-d, 700)))
    from_one <- log1p(hlo_select(prob == 1, prob - 1, 0) * -expm1(d))
    either <- hlo_select(prob == 0 & possible, from_zero, hlo_logaddexp(certain, counted))
    density <- hlo_select(x == 0, hlo_select(prob == 1 & possible, from_one, either), counted)
    # Where only the rarer kind is possible its probability goes as its share.
    share <- function(distance, rest) list(power = filled(1, distance), rest = rest)
    ends <- list(
      end_of(valid & prob == 1 & x != 0 & possible, 1 - prob, list(d), share),
      end_of(valid & prob == 0 & x == 0 & log_density == -Inf, prob, list(filled(0, d)), share)
    )
    density_of(density, valid & x == x & log_density == log_density, log, ends)
  }, call, log)
}

#' @rdname hlo_densities
#' @export
hlo_dordbeta <- function(x, eta, phi, lower, upper, log = FALSE) {
  call <- sys.call()
  check_density(log, call)
  arguments <- list(x = x, eta = eta, phi = phi, lower = lower, upper = upper)
  distribution("hlo_dordbeta", arguments, function(x, eta, phi, lower, upper) {
    valid <- finite(eta) & phi > 0 & finite(phi) & lower < upper
    place <- hlo_select(valid, eta, 0)
    s <- hlo_select(valid, phi, 1)
    from <- hlo_select(valid, lower, -1)
    to <- hlo_select(valid, upper, 1)
    log_below <- function(z) -hlo_log1pexp(-z)
    # Of logistic numbers: above `lower` and below `upper`
    between <- log_below(place - from) + log_below(to - place) + hlo_log1mexp(to - from)
    inside <- x > 0 & x < 1
    share <- log_beta_density(hlo_select(inside, x, 0.5), s * hlo_logistic(place), s * hlo_logistic(-place))
    density <- hlo_select(inside, between + share, -Inf)
    density <- hlo_select(x == 0, log_below(from - place), hlo_select(x == 1, log_below(place - to), density))
    density_of(density, valid & x == x, log)
  }, call, log)
}

for (name in c("hlo_dbetabinom", "hlo_dgenpois", "hlo_dztpois", "hlo_dztnbinom", "hlo_dzerotruncated",
  "hlo_dzeroinflated", "hlo_dordbeta"
)) {
  overload(name, "xlaffi", get(name),
    by = "own", topic = "Distributions", dtypes = "f32, f64; integers become f64", derivative = "in the parameters"
  )
}
rm(name)
