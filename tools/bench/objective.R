# The models of the vignette "models" beside plain R, with a gradient written by hand and with differences, and beside
# TMB where it is installed: value and gradient at one point, and whole fits. Writes results-objective.md.

library(xlaffi)
here <- dirname(sub("^--file=", "", grep("^--file=", commandArgs(), value = TRUE)))
source(file.path(here, "timing.R"))
m <- new.env()
sys.source(system.file("examples/models.R", package = "xlaffi", mustWork = TRUE), m)

# Functions of R for each model: the value, and the gradient where somebody would write it.
plain_logistic <- function(x, y) {
  list(
    fn = function(beta) {
      eta <- drop(x %*% beta)
      sum(log1p(exp(eta)) - y * eta)
    },
    gr = function(beta) drop(crossprod(x, plogis(drop(x %*% beta)) - y))
  )
}

plain_gp <- function(d, y) {
  at <- function(p) {
    e <- exp(p)
    trend <- e[1]^2 * exp(-d^2 / (2 * e[2]^2))
    season <- e[3]^2 * exp(-2 * sin(pi * d)^2 / e[4]^2 - d^2 / (2 * e[5]^2))
    k <- trend + season
    diag(k) <- diag(k) + e[6]^2
    list(e = e, trend = trend, season = season, root = chol(k))
  }
  list(
    fn = function(p) {
      root <- at(p)$root
      sum(backsolve(root, y, transpose = TRUE)^2) / 2 + sum(log(diag(root))) + length(y) / 2 * log(2 * pi)
    },
    gr = function(p) {
      now <- at(p)
      e <- now$e
      inverse <- chol2inv(now$root)
      weights <- (inverse - tcrossprod(inverse %*% y)) / 2
      c(
        2 * sum(weights * now$trend), sum(weights * now$trend * d^2) / e[2]^2, 2 * sum(weights * now$season),
        4 * sum(weights * now$season * sin(pi * d)^2) / e[4]^2, sum(weights * now$season * d^2) / e[5]^2,
        2 * e[6]^2 * sum(diag(weights))
      )
    }
  )
}

plain_level <- function(y) {
  list(fn = function(p) {
    observed <- exp(p[[1]])
    level <- y[1]
    variance <- observed + exp(p[[2]])
    loss <- 0
    for (now in y[-1]) {
      total <- variance + observed
      gain <- variance / total
      error <- now - level
      loss <- loss + log(total) + error^2 / total
      level <- level + gain * error
      variance <- gain * observed + exp(p[[2]])
    }
    loss / 2
  })
}

plain_survival <- function(weeks, event, drug) {
  at <- function(p) exp(-p[3]) * (log(weeks) - p[1] - p[2] * drug)
  list(
    fn = function(p) {
      z <- at(p)
      sum(exp(z) - event * (z - p[3] - log(weeks)))
    },
    gr = function(p) {
      z <- at(p)
      slope <- exp(z) - event
      c(-exp(-p[3]) * c(sum(slope), sum(slope * drug)), sum(event - z * slope))
    }
  )
}

# A likelihood as R has it: a loop over days, for xlaffi and for R alone
garch_loss <- function(p, y) {
  omega <- exp(p[1])
  alpha <- plogis(p[2])
  beta <- plogis(p[3]) * (1 - alpha)
  variance <- omega / (1 - alpha - beta)
  loss <- 0
  for (t in seq_along(y)) {
    loss <- loss + (log(variance) + y[t]^2 / variance) / 2
    variance <- omega + alpha * y[t]^2 + beta * variance
  }
  loss
}

set.seed(1)
large <- local({
  x <- cbind(1, matrix(rnorm(1e5 * 9), ncol = 9))
  list(x = x, y = as.numeric(runif(1e5) < plogis(x %*% seq(-1, 1, length.out = 10))))
})
year <- m$time[m$known]
gp_data <- list(d = outer(year, year, "-"), y = m$co2_known)
nile <- as.vector(Nile)
dax <- 100 * diff(log(as.vector(EuStockMarkets[1:501, "DAX"])))
design <- cbind(1, m$drug)
cases <- list(
  `logistic regression, 111 x 3` = list(
    objective = m$logistic, plain = plain_logistic(m$x, m$bad_air),
    tmb = list(model = "logistic", x = m$x, y = m$bad_air)
  ),
  `logistic regression, 100,000 x 10` = list(
    objective = xla_objective(m$minus_log_likelihood, numeric(10), x = large$x, y = large$y),
    plain = plain_logistic(large$x, large$y), tmb = c(model = "logistic", large)
  ),
  `Gaussian process, 322 x 322, 6 parameters` = list(
    objective = m$gp, plain = do.call(plain_gp, gp_data), tmb = c(model = "gp", gp_data)
  ),
  `local level, 100 years` = list(
    objective = m$level, plain = plain_level(nile), tmb = list(model = "level", y = nile)
  ),
  `GARCH(1, 1), 500 days, R's loop` = list(
    objective = xla_objective(garch_loss, c(-2, -2, 2), y = dax), plain = list(fn = function(p) garch_loss(p, dax)),
    tmb = list(model = "garch", y = dax)
  ),
  `Weibull regression, 42 patients` = list(
    objective = m$survival, plain = plain_survival(m$weeks, m$event, m$drug),
    tmb = list(model = "weibull", x = design, time = m$weeks, event = m$event)
  )
)

# TMB's functions of a case, NULL without TMB. What is compiled is kept for the next run.
with_tmb <- requireNamespace("TMB", quietly = TRUE)
if (with_tmb) {
  folder <- file.path(dirname(tempdir()), "xlaffi-bench-tmb")
  dir.create(folder, showWarnings = FALSE)
  source <- file.path(folder, "objective.cpp")
  if (!identical(unname(tools::md5sum(source)), unname(tools::md5sum(file.path(here, "objective.cpp"))))) {
    file.copy(file.path(here, "objective.cpp"), source, overwrite = TRUE)
  }
  withr::with_dir(folder, TMB::compile("objective.cpp", "-O2 -Wno-ignored-attributes", framework = "TMBad"))
  dyn.load(TMB::dynlib(file.path(folder, "objective")))
}
tmb_of <- function(case) {
  if (!with_tmb) {
    return(NULL)
  }
  start <- unname(case$objective$par)
  name <- if (case$tmb$model == "logistic") "beta" else "p"
  TMB::MakeADFun(case$tmb, stats::setNames(list(start), name), DLL = "objective", silent = TRUE)
}

# The best of many rounds in turn: the others share the processor.
best_of <- function(runs, rounds, seconds = 0.02) {
  runs <- lapply(runs, batches, seconds)
  us <- replicate(rounds, vapply(runs, function(run) run(), 0))
  apply(matrix(us, length(runs)), 1, min)
}

# Value and gradient at a point that is new each time
at_new_points <- function(fn, gr, start) {
  turn <- 0
  function() {
    turn <<- turn + 1
    x <- start + 1e-7 * turn
    fn(x)
    gr(x)
  }
}
differences <- function(fn) {
  at <- function(x, i, step) fn(replace(x, i, x[i] + step))
  function(x) vapply(seq_along(x), function(i) (at(x, i, 5e-4) - at(x, i, -5e-4)) / 1e-3, 0)
}
fit <- function(start, fn, gr = NULL, he = NULL) {
  function() nlminb(start, fn, gr, he, control = list(iter.max = 500, eval.max = 1000))
}

measured <- lapply(cases, function(case) {
  o <- case$objective
  start <- unname(o$par)
  plain <- case$plain
  tmb <- tmb_of(case)
  written <- !is.null(plain$gr)
  stopifnot(
    isTRUE(all.equal(o$fn(start), plain$fn(start))),
    !written || isTRUE(all.equal(unname(o$gr(start)), unname(plain$gr(start)))),
    !with_tmb || isTRUE(all.equal(unname(o$gr(start)), as.vector(tmb$gr(start))))
  )
  points <- list(
    xlaffi = at_new_points(o$fn, o$gr, start), differences = at_new_points(plain$fn, differences(plain$fn), start),
    written = if (written) at_new_points(plain$fn, plain$gr, start),
    TMB = if (with_tmb) at_new_points(tmb$fn, tmb$gr, start)
  )
  fits <- list(
    xlaffi = fit(start, o$fn, o$gr), hessian = fit(start, o$fn, o$gr, o$he), differences = fit(start, plain$fn),
    written = if (written) fit(start, plain$fn, plain$gr), TMB = if (with_tmb) fit(start, tmb$fn, tmb$gr)
  )
  rows <- Map(function(runs, rounds) {
    runs <- Filter(Negate(is.null), runs)
    stats::setNames(best_of(runs, rounds), names(runs))
  }, list(points = points, fits = fits), c(15L, 5L))
  ends <- vapply(Filter(Negate(is.null), fits), function(run) run()$objective, 0)
  c(rows, list(ends = ends))
})

# One program of 4,000 draws by Hamiltonian Monte Carlo, and the same in R, chains side by side
plain_hmc <- function(q, step, draws = 1000, leaps = 16) {
  chains <- nrow(q)
  slope <- function(q) {
    tau <- exp(q[, 2])
    eta <- q[, 3:10]
    residual <- rep(m$effect, each = chains) - q[, 1] - tau * eta
    weighted <- residual / rep(m$error^2, each = chains)
    prior <- 1 + tau^2 / 25
    list(
      value = -rowSums(residual * weighted) / 2 - rowSums(eta^2) / 2 - q[, 1]^2 / 50 - log(prior) + q[, 2],
      gradient = cbind(
        rowSums(weighted) - q[, 1] / 25, tau * rowSums(weighted * eta) - 2 * tau^2 / 25 / prior + 1,
        tau * weighted - eta
      )
    )
  }
  at <- slope(q)
  kept <- array(0, c(draws, dim(q)))
  for (i in seq_len(draws)) {
    p <- momentum <- matrix(rnorm(length(q)), chains)
    moved <- q
    now <- at
    p <- p + step / 2 * now$gradient
    for (leap in seq_len(leaps)) {
      moved <- moved + step * p
      now <- slope(moved)
      p <- p + step * now$gradient
    }
    p <- p - step / 2 * now$gradient
    taken <- log(runif(chains)) < now$value - at$value + rowSums(momentum^2 - p^2) / 2
    q[taken, ] <- moved[taken, ]
    at$value[taken] <- now$value[taken]
    at$gradient[taken, ] <- now$gradient[taken, ]
    kept[i, , ] <- q
  }
  kept
}
start <- matrix(0, 4, 10)
sampling <- stats::setNames(best_of(list(
  function() m$sample_schools(1L, start, m$effect, m$error, 0.3), function() plain_hmc(start, 0.3)
), 3L), c("xlaffi", "written"))

head <- c(xlaffi = "xlaffi", written = "R, gradient by hand", differences = "R, differences", TMB = "TMB")
head_fits <- append(head, c(hessian = "xlaffi, with its Hessian"), 1L)
cells <- function(times, head) {
  vapply(names(head), function(peer) {
    if (!peer %in% names(times)) {
      return("")
    }
    time <- duration(times[[peer]])
    if (peer == "xlaffi") time else sprintf("%s (%.2g x)", time, times[[peer]] / times[["xlaffi"]])
  }, "")
}
table <- function(what, part, head) {
  rows <- vapply(names(measured), function(name) {
    sprintf("| %s | %s |", name, paste(cells(measured[[name]][[part]], head), collapse = " | "))
  }, "")
  c(sprintf("| %s | %s |", what, paste(head, collapse = " | ")), paste0("|", strrep("---|", length(head) + 1L)), rows)
}
schools <- "eight schools, 4 chains of 1,000 draws, 16 steps each"
peers <- sprintf("xlaffi %s, R %s, %s", packageVersion("xlaffi"), getRversion(),
  if (with_tmb) paste("TMB", packageVersion("TMB")) else "no TMB"
)
# Where fits by several ways end differently, it is said.
ends <- unlist(lapply(names(measured), function(name) {
  ends <- measured[[name]]$ends
  worse <- names(ends)[ends > min(ends) + 1e-4 * (1 + abs(min(ends)))]
  if (length(worse)) sprintf("%s: the fit by %s ends above the others.", name, toString(worse))
}))
text <- c(
  table("value and gradient", "points", head), "",
  table("fit by nlminb()", "fits", head_fits),
  sprintf("| %s | %s |", schools, paste(cells(sampling, head_fits), collapse = " | ")), "",
  sprintf("%s; the best of 15 rounds in turn (fits 5, sampling 3), programs compiled before; %s.", peers, Sys.Date()),
  ends
)
writeLines(text)
writeLines(text, file.path(here, "results-objective.md"))
