# What random differentiable functions of `q`, four numbers, are made of; holes as in grammar.R.
smooth_grammar <- list(
  arithmetic = alist(
    .d + .d, .d - .d, .d * .d, .d / .u, .d^2, .d^3, .u^.d, .u^0.5, .u^-1.5, -.d, .c * .d, .d + .c, .d / .c,
    1 / (1 + .d^2)
  ),
  math = alist(
    exp(.p), log(.u), log(.u, 3), log2(.u), log10(.u), log1p(.u), expm1(.p), sqrt(.u), sin(.d), cos(.d), tan(.p),
    asin(.p),
    acos(.p), atan(.d), sinh(.p), cosh(.p), tanh(.d), asinh(.d), acosh(.u + 1.5), atanh(.p), sinpi(.d), cospi(.d),
    atan2(.d, .u), abs(.d), plogis(.d)
  ),
  special = alist(
    gamma(.u), lgamma(.u), digamma(.u), trigamma(.u), beta(.u, .u), lbeta(.u, .p), besselJ(.u, 0), besselI(.u, 1),
    besselK(.u, 1), choose(.u, 2), psigamma(.u, 2), factorial(.p)
  ),
  sums = alist(
    sum(.d), mean(.d), prod(.p), sum(.d * .d), var(.v), sd(.v), cor(.v, .v), cov(.m), cumsum(.v), cumprod(.p), max(.d),
    min(.d), median(.v), quantile(.v, 0.3), colSums(.m), rowMeans(.m), diff(.v), pmax(.d, .c), pmin(.d, .d),
    scale(.m), weighted.mean(.v, .u), range(.v), cummax(.v), log(sum(exp(.p))), IQR(.v), prop.table(.u), mad(.v)
  ),
  matrices = alist(
    .m %*% t(.m), t(.m), crossprod(.m), crossprod(.m, .m), tcrossprod(.m), outer(.v, .v), solve(.S), solve(.S, .v),
    det(.S), chol(.S),
    chol2inv(chol(.S)), diag(.v), diag(.S), determinant(.S)$modulus[1], eigen(.S, symmetric = TRUE)$values,
    svd(.m)$d, backsolve(chol(.S), .v), kronecker(.v, .m), norm(.m, "F"), .S %*% .v, .v %*% .S, cbind(.v, .v),
    mahalanobis(.m, colMeans(.m), diag(ncol(.m))), upper.tri(.S) * .S, sum(diag(.S)), qr.solve(.S, .v), toeplitz(.v),
    cov2cor(.S)
  ),
  sparse = sparse_grammar,
  shapes = alist(
    c(.d, .d), rev(.v), rep(.v, 2), head(.v, 2), matrix(.v, 2), matrix(rep(.v, 2), 2), as.vector(.m), .v[.k], .v[-1],
    .v[c(1, 1, 2)], .m[1, ], .m[, 1], .m[1:2, 1], sort(.v), .v[order(.v)], t(.v), .v[c(2, 1)], ifelse(.d > 0, .d, .d^2),
    local({
      r <- .v
      r[.k] <- .s
      r
    }),
    local({
      r <- .v
      r[1:2] <- .v[2:1] * .s
      r
    }),
    local({
      r <- .m
      r[1, ] <- .s
      r
    }),
    local({
      r <- .v
      r[r > .c] <- .s
      r
    })
  ),
  elements = alist(
    sapply(.v, function(t) t^2 + .s), apply(.m, 1, function(r) sum(r^2)), apply(.m, 2, function(w) w / (1 + sum(w^2))),
    Reduce(function(a, b) a * 0.5 + b, .v), vapply(1:3, function(j) .s * j, 0), unlist(lapply(.v,
    function(t) sin(t) * .s)),
    mapply(function(t, u) t * u, .v, .v), Reduce(`+`, .v, accumulate = TRUE),
    local({
      r <- .s
      for (j in 1:3) r <- tanh(r) * 0.5 + .s
      r
    }),
    local({
      w <- .v
      for (j in 2:length(w)) w[j] <- w[j - 1] * 0.5 + w[j]^2 * 0.1
      w
    }),
    local({
      r <- 0
      for (t in .v) r <- r + dnorm(t, 0, 2, log = TRUE)
      r
    })
  ),
  distributions = alist(
    dnorm(.d, .d, .u, log = TRUE), dnorm(.d, .s, .u), pnorm(.d, .s, .u), pnorm(.d, log.p = TRUE), qnorm(.p, .s, .u),
    dgamma(.u, .u, .u, log = TRUE), dgamma(.u, .u), dbeta(.p, .u, .u, log = TRUE), dt(.d, .u, log = TRUE), dt(.d, .u),
    dchisq(.u, .u), df(.u, .u, .u), dexp(.u, .u), pexp(.u, .u), dweibull(.u, .u, .u), pweibull(.u, .u, .u),
    dlnorm(.u, .s, .u), plnorm(.u, .s, .u), dlogis(.d, .s, .u), plogis(.d, .s, .u, log.p = TRUE), qlogis(.p),
    dcauchy(.d, .s, .u), pcauchy(.d, .s, .u), dpois(2, .u, log = TRUE), dbinom(c(1, 3), 5, .p), dnbinom(2, .u, .p,
    log = TRUE),
    dgeom(3, .p), ppois(2, .u), pbinom(2, 5, .p), qexp(.p, .u), qweibull(.p, .u, .u), dunif(.p, 0, .u + 1), qcauchy(.p,
    .s, .u)
  ),
  dear = alist(
    pgamma(.u, .u), pgamma(.u, .u, lower.tail = FALSE, log.p = TRUE), pbeta(.p, .u, .u), pbeta(.p, .u, .u,
    log.p = TRUE), pt(.d, .u),
    pt(.d, .u, log.p = TRUE), pchisq(.u, .u), pf(.u, .u, .u), qgamma(.p, .u), qt(.p, .u), qbeta(.p, .u, .u), qchisq(.p,
    .u), pnbinom(2, .u, .p)
  )
)
smooth_weights <- c(distributions = 0.5, special = 0.5, dear = 0.06)

# One number from any
smooth_ends <- alist(
  sum(.), sum(.^2), mean(sin(.)), sum(. * seq_along(.)), log(1 + sum(.^2)), sum(. / (2 + .^2)), sum(exp(-.^2))
)

smooth_data <- function() {
  list(
    q = c(-1, 1, 1, 1) * round(stats::runif(4, 0.3, 1.7), 3) * sample(c(0.9, 1, 1, 1.1)), y = round(stats::rnorm(4), 2),
    X = matrix(round(stats::rnorm(8), 2), 4), k = round(stats::rnorm(1), 2) + 2
  )
}
