# Where the derivatives of functions that work element by element are checked: columns of arguments, by the function's
# name. The first points are inside of the support, the last ones far in its tails.

distribution_tails <- list(
  list(lower.tail = TRUE, log.p = FALSE), list(lower.tail = FALSE, log.p = FALSE),
  list(lower.tail = TRUE, log.p = TRUE), list(lower.tail = FALSE, log.p = TRUE)
)

# The parameters of continuous distributions with x, q
distribution_points <- list(
  norm = list(c(0.3, -1.2, 8, -30, 25), mean = c(0.1, 0.5, -1, 2, 1), sd = c(1, 0.5, 2, 1, 0.9)),
  lnorm = list(c(0.3, 1.2, 40, 1e-9, 1e9), meanlog = c(0.1, 0.5, -1, 2, 1), sdlog = c(1, 0.5, 2, 1, 0.9)),
  exp = list(c(0.3, 1.2, 8, 1e-9, 300), rate = c(0.5, 2, 0.1, 3, 1.5)),
  weibull = list(
    c(0.3, 1.2, 2, 1e-6, 40), shape = c(0.7, 1.5, 3, 1.2, 1.5), scale = c(0.5, 2, 1.5, 3, 1)
  ),
  logis = list(c(0.3, -1.2, 8, -300, 250), location = c(0.1, 0.5, -1, 2, 1), scale = c(1, 0.5, 2, 1, 0.9)),
  cauchy = list(c(0.3, -1.2, 8, -1e6, 1e7), location = c(0.1, 0.5, -1, 2, 1), scale = c(1, 0.5, 2, 1, 0.9)),
  unif = list(c(0.3, 0.9, 2), min = c(-1, 0.5, -3), max = c(2, 1, 10)),
  gamma = list(
    c(0.3, 1.2, 8, 1e-9, 300, 1030), shape = c(0.7, 2.3, 5, 1.5, 3, 1000), rate = c(1, 0.5, 2, 1, 0.9, 1)
  ),
  chisq = list(c(0.3, 1.2, 8, 1e-9, 300), df = c(0.7, 2.3, 5, 1.5, 3)),
  beta = list(
    c(0.3, 0.9, 0.5, 1e-9, 1 - 1e-6, 0.29), shape1 = c(0.7, 2.3, 5, 1.5, 3, 300), shape2 = c(1.3, 0.8, 5, 2, 1.5, 700)
  ),
  t = list(c(0.3, -1.2, 2, -40, 1e3, 1e-7), df = c(0.7, 2.3, 5, 1.5, 30, 4)),
  f = list(c(0.3, 1.2, 8, 1e-9, 300), df1 = c(0.7, 2.3, 5, 1.5, 3), df2 = c(1.3, 10, 5, 2, 8))
)

# Those of counts, which are constant
count_points <- list(
  pois = list(c(0, 3, 20, 0, 400), lambda = c(0.5, 2.5, 18, 200, 100)),
  binom = list(c(0, 3, 20, 1, 400), size = c(4, 7, 31, 300, 500), prob = c(0.2, 0.5, 0.7, 0.9, 0.3)),
  geom = list(c(0, 3, 20, 500), prob = c(0.2, 0.5, 0.1, 0.3)),
  nbinom = list(c(0, 3, 20, 1, 400), size = c(0.4, 7, 3.1, 300, 5), prob = c(0.2, 0.5, 0.1, 0.3, 0.6)),
  nbinom_mu = list(c(0, 3, 20, 1, 400), size = c(0.4, 7, 3.1, 300, 5), mu = c(0.5, 2.5, 18, 200, 10))
)

probability_points <- c(0.3, 0.9, 0.5, 1e-9, 1 - 1e-6, 0.7)
