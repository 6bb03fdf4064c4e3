# Where derivatives of R's functions of distributions are checked: points inside and far out by family, those of d and p
# functions first, and ends of the support. `unit_interval` names what ends at 1, too, `held` what has no derivatives.
# An end has the argument that is at it, with the sign of the way inside, as `inward`.

distribution_points <- list(
  norm = list(at = list(x = c(0.3, -2, 25, -25, 1), mean = c(0, 1, 0.5, 0, 1), sd = c(1, 2, 0.7, 0.9, 2))),
  lnorm = list(
    at = list(x = c(0.3, 2, 1e6, 1e-6), meanlog = c(0, 1, 0.5, 1), sdlog = c(1, 2, 0.7, 1)),
    ends = list(list(x = 0, meanlog = 0.3, sdlog = 1.5, inward = c(x = 1)))
  ),
  exp = list(
    at = list(x = c(0.3, 2, 90, 1e-7), rate = c(1, 3, 5, 2)), ends = list(list(x = 0, rate = 2, inward = c(x = 1)))
  ),
  unif = list(
    at = list(x = c(0.3, 2), min = c(-1, 0.5), max = c(1, 7)),
    ends = list(list(x = 1, min = 1, max = 3, inward = c(x = 1)), list(x = 3, min = 1, max = 3, inward = c(x = -1)))
  ),
  cauchy = list(at = list(x = c(0.3, -2, 1e6, -1e6, 1), location = c(0, 1, 0.5, 1, 1), scale = c(1, 2, 0.7, 3, 2))),
  logis = list(at = list(x = c(0.3, -2, 400, -400, 1), location = c(0, 1, 0.5, 1, 1), scale = c(1, 2, 0.7, 0.8, 2))),
  weibull = list(
    at = list(x = c(0.3, 2, 30, 1e-5), shape = c(0.7, 1, 2.5, 1.5), scale = c(1, 2, 7, 2)),
    ends = list(list(x = 0, shape = c(0.7, 1, 1.5, 2, 3, 4.5), scale = 2, inward = c(x = 1)))
  ),
  gamma = list(
    at = list(x = c(0.3, 2, 300, 1e-5), shape = c(0.7, 1, 2.5, 3), rate = c(1, 2, 0.7, 1)),
    ends = list(list(x = 0, shape = c(0.7, 1, 1.5, 2, 3, 4.5), rate = 2, inward = c(x = 1)))
  ),
  chisq = list(
    at = list(x = c(0.3, 2, 300, 1e-5), df = c(0.7, 2, 2.5, 5)),
    ends = list(list(x = 0, df = c(1.4, 2, 3, 4, 6, 9), inward = c(x = 1)))
  ),
  beta = list(
    at = list(x = c(0.3, 0.9, 1e-5, 0.999), shape1 = c(0.7, 1, 2.5, 3), shape2 = c(2, 1, 4, 30)),
    unit_interval = "x",
    ends = list(
      list(x = 0, shape1 = c(0.7, 1, 1.5, 2, 3, 4.5), shape2 = 1.7, inward = c(x = 1)),
      list(x = 1, shape1 = 1.7, shape2 = c(0.7, 1, 1.5, 2, 3, 4.5), inward = c(x = -1))
    )
  ),
  t = list(at = list(x = c(0.3, -2, 1e4, 0, -1e4, 1.3), df = c(0.7, 5, 2.5, 3, 4, 5000))),
  f = list(
    at = list(x = c(0.3, 2, 300, 1e-5, 1.1), df1 = c(0.7, 2, 2.5, 5, 5), df2 = c(3, 2, 7, 4, 800)),
    ends = list(list(x = 0, df1 = c(1.4, 2, 3, 4, 6, 9), df2 = 3.4, inward = c(x = 1)))
  ),
  pois = list(
    at = list(lambda = c(0.7, 2.5, 3)), held = list(x = c(0, 3, 60)),
    ends = list(list(lambda = 0, x = c(0, 1, 2, 5), inward = c(lambda = 1)))
  ),
  binom = list(
    at = list(prob = c(0.3, 0.8, 0.1)), held = list(x = c(0, 3, 60), size = c(4, 7, 80)),
    ends = list(
      list(prob = 0, x = c(0, 1, 2, 4), size = 6, inward = c(prob = 1)),
      list(prob = 1, x = c(6, 5, 4, 2), size = 6, inward = c(prob = -1))
    )
  ),
  geom = list(
    at = list(prob = c(0.3, 0.8, 0.5)), held = list(x = c(0, 3, 60)),
    ends = list(list(prob = 1, x = c(0, 1, 2, 5), inward = c(prob = -1)))
  ),
  nbinom = list(
    at = list(size = c(0.7, 2.5, 4), prob = c(0.3, 0.8, 0.5)), held = list(x = c(0, 3, 60)),
    ends = list(list(size = 2.3, prob = 1, x = c(0, 1, 2, 5), inward = c(prob = -1)))
  ),
  nbinom_mu = list(
    at = list(size = c(0.7, 2.5, 4), mu = c(1, 3, 40)), held = list(x = c(0, 3, 60)),
    ends = list(list(size = 2.3, mu = 0, x = c(0, 1, 2, 5), inward = c(mu = 1)))
  )
)

# Of quantiles: probabilities and where they are near an end
quantile_probabilities <- list(
  usual = c(0.3, 0.9, 1e-30), qbeta = c(0.3, 0.9, 1e-10), qf = c(0.3, 0.9, 1e-10), qunif = c(0.3, 0.9)
)

# The cases of a d, p or q function: one for each combination of tail and logarithm that it has. Outside of
# `make test-all` the last one, of the upper tail and of logarithms, which has the rules of all others.
distribution_cases <- function(name) {
  kind <- substr(name, 1L, 1L)
  families <- grep(sprintf("^%s(_|$)", substring(name, 2L)), names(distribution_points), value = TRUE)
  options <- list(lower.tail = c(TRUE, FALSE), log.p = c(FALSE, TRUE), log = c(FALSE, TRUE))
  options <- expand.grid(options[intersect(names(options), names(formals(get(name, asNamespace("stats")))))])
  if (!all_run()) {
    options <- utils::tail(options, 1L)
  }
  cases <- lapply(families, function(family) {
    lapply(seq_len(nrow(options)), function(i) {
      distribution_case_of(name, kind, distribution_points[[family]], as.list(options[i, , drop = FALSE]))
    })
  })
  unlist(cases, recursive = FALSE)
}

distribution_case_of <- function(name, kind, points, options) {
  first <- if (kind == "p") "q" else "x"
  renamed <- function(x) stats::setNames(as.list(x), sub("^x$", first, names(x)))
  log <- isTRUE(options$log) || isTRUE(options$log.p)
  if (kind == "q") {
    p <- quantile_probabilities[[if (name %in% names(quantile_probabilities)) name else "usual"]]
    parameters <- lapply(points$at[-1L], function(x) x[pmin(seq_along(p), length(x))])
    points <- list(at = c(list(p = if (log) log(p) else p), parameters))
  }
  arguments <- names(renamed(c(points$at, points$held)))
  call <- as.call(c(as.name(name), stats::setNames(lapply(arguments, as.name), arguments), options))
  list(
    name = deparse1(call), f = function_of(arguments, call), at = renamed(points$at), held = renamed(points$held),
    unit_interval = sub("^x$", first, points$unit_interval), relative = !log,
    ends = lapply(points$ends, function(end) {
      c(renamed(end[names(end) != "inward"]), list(inward = unlist(renamed(end$inward))))
    })
  )
}

# As users write it: a trace converts functions of the global environment.
function_of <- function(arguments, body) {
  as.function(c(stats::setNames(rep(alist(x = ), length(arguments)), arguments), body), envir = globalenv()) # nolint
}

# All cases of the words with names that begin so
distribution_cases_of <- function(kind) {
  entries <- Filter(function(entry) entry$topic == "Distributions", as.list(xlaffi:::overloads, sorted = TRUE))
  names <- names(Filter(function(entry) entry$derivative != "none" && startsWith(entry$name, kind), entries))
  unlist(lapply(setdiff(names, "dmultinom"), distribution_cases), recursive = FALSE)
}
