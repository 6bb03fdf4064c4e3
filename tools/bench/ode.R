# Differential equations: xlaffi beside deSolve with models in C (ode.c) and beside diffrax (ode.py), where these are
# installed. Writes results-ode.md. DIFFRAX names a Python that has diffrax.

library(xlaffi)
here <- dirname(sub("^--file=", "", grep("^--file=", commandArgs(), value = TRUE)))
source(file.path(here, "timing.R"))

lotka <- function(t, y, p) c(p[1] * y[1] - p[2] * y[1] * y[2], p[3] * y[1] * y[2] - p[4] * y[2])
robertson <- function(t, y, p) {
  slow <- p[1] * y[1]
  back <- p[2] * y[2] * y[3]
  fast <- p[3] * y[2]^2
  c(back - slow, slow - back - fast, fast)
}
pk <- function(t, y, p) {
  absorbed <- p[5] * y[1]
  forth <- p[4] / p[1] * y[2]
  back <- p[4] / p[2] * y[3]
  c(-absorbed, absorbed - p[3] / p[1] * y[2] - forth + back, forth - back)
}

models <- list(
  lotka = list(
    p = c(1.1, 0.4, 0.1, 0.4), y = c(10, 5), times = 0:20, f = lotka, method = "ode45", rtol = 1e-8, atol = 1e-8,
    peer = "lsoda", loss = function(y) sum(y^2)
  ),
  robertson = list(
    p = c(0.04, 1e4, 3e7), y = c(1, 0, 0), times = c(0, 10^(-1:6)), f = robertson, method = "rodas5p", rtol = 1e-8,
    atol = 1e-10, peer = "lsoda", loss = function(y) sum(log(y[-1, ]))
  )
)

with_desolve <- requireNamespace("deSolve", quietly = TRUE)
if (with_desolve) {
  folder <- file.path(dirname(tempdir()), "xlaffi-bench-ode")
  dir.create(folder, showWarnings = FALSE)
  file.copy(file.path(here, "ode.c"), file.path(folder, "bench_ode.c"), overwrite = TRUE)
  withr::with_dir(folder, stopifnot(system2(file.path(R.home("bin"), "R"), "CMD SHLIB bench_ode.c") == 0))
  dyn.load(file.path(folder, paste0("bench_ode", .Platform$dynlib.ext)))
}
by_desolve <- function(name, y, times, p, method, rtol, atol, ...) {
  deSolve::ode(y, times, name, p,
    method = method, dllname = "bench_ode", initfunc = paste0(name, "_parms"), rtol = rtol, atol = atol, ...
  )
}

# Milliseconds of diffrax for the value and for both, and its gradient
by_diffrax <- function(name, rounds = 30) {
  python <- Sys.getenv("DIFFRAX")
  if (nzchar(python)) {
    out <- system2(python, c(file.path(here, "ode.py"), name, rounds), stdout = TRUE)
    scan(text = tail(out, 1), quiet = TRUE)
  }
}

best <- function(f, seconds, rounds = 15) {
  run <- batches(f, seconds)
  min(vapply(seq_len(rounds), function(i) run(), 0))
}

rows <- lapply(names(models), function(name) {
  m <- models[[name]]
  loss_at <- function(sharper) {
    function(p) {
      m$loss(hlo_ode(m$y, m$times, m$f, p, method = m$method, rtol = m$rtol / sharper, atol = m$atol / sharper^2)$y)
    }
  }
  loss <- loss_at(1)
  value <- xla_jit(loss)
  both <- xla_grad(loss, value = TRUE)
  first <- system.time(found <- both(m$p)$gradient)[["elapsed"]]
  peer <- by_diffrax(name)
  if (!is.null(peer)) stopifnot(all.equal(found, peer[-(1:2)], tolerance = 1e-4))
  # Both where the solution is exact enough for differences
  scale <- m$p
  exact <- xla_jit(loss_at(1000))
  slope <- scale * xla_grad(loss_at(1000))(scale)
  logs <- function(q) exact(scale * exp(q))
  # Of the fourth order
  differences <- vapply(seq_along(scale), function(i) {
    at <- function(h) logs(replace(numeric(length(scale)), i, h))
    (8 * (at(3e-3) - at(-3e-3)) - (at(6e-3) - at(-6e-3))) / 3.6e-2
  }, 0)
  desolve <- if (with_desolve) {
    best(function() m$loss(by_desolve(name, m$y, m$times, m$p, m$peer, m$rtol, m$atol)[, -1]), 0.05)
  }
  list(
    value = best(function() value(m$p), 0.05), both = best(function() both(m$p), 0.05), first = first,
    desolve = desolve, diffrax = 1e3 * peer[1:2], error = max(abs(slope - differences)) / max(abs(differences))
  )
})
names(rows) <- names(models)

# 1,000 subjects, four doses, eleven times
set.seed(1)
subjects <- t(c(10, 20, 2, 3, 1) * exp(matrix(rnorm(5000, 0, 0.3), 5)))
times <- c(0, 0.5, 1, 2, 4, 8, 12, 16, 24, 30, 36, 48)
doses <- data.frame(var = 1, time = c(0, 12, 24, 36), value = 100, method = "add")
one <- function(p) hlo_ode(c(0, 0, 0), times, pk, p, events = doses)$y
batch <- xla_jit(function(p) xla_vmap(one)(p))
slope <- xla_grad(function(p) sum(xla_vmap(function(p) sum(one(p)[, 2]^2))(p)), value = TRUE)
loop <- function() {
  lapply(seq_len(nrow(subjects)), function(i) {
    by_desolve("pk", c(a = 0, b = 0, c = 0), times, subjects[i, ], "lsoda", 1e-6, 1e-6,
      events = list(data = transform(doses, var = "a"))
    )
  })
}
if (with_desolve) {
  stopifnot(isTRUE(all.equal(batch(subjects)[7, , 2], unname(loop()[[7]][, 3]), tolerance = 1e-4)))
}
many <- list(
  value = best(function() batch(subjects), 0.05, 5), both = best(function() slope(subjects), 0.05, 5),
  desolve = if (with_desolve) best(loop, 0.05, 3)
)

cell <- function(us, by) {
  if (is.null(us) || is.na(us)) "" else if (missing(by)) duration(us) else sprintf("%s (%.2g x)", duration(us), us / by)
}
titles <- c(lotka = "Lotka-Volterra, 21 times", robertson = "Robertson, to 10^6, 9 times")
lines <- vapply(names(rows), function(name) {
  row <- rows[[name]]
  diffrax <- if (length(row$diffrax)) row$diffrax else c(NA, NA)
  sprintf("| %s | %s | %s | %s | %s | %s | %.1g | %.1f s |",
    titles[[name]], cell(row$value), cell(row$desolve, row$value), cell(diffrax[[1]], row$value), cell(row$both),
    cell(diffrax[[2]], row$both), row$error, row$first
  )
}, "")
load <- if (file.exists("/proc/loadavg")) strsplit(readLines("/proc/loadavg"), " ")[[1]][[1]] else "unknown"
peers <- c(
  if (with_desolve) sprintf("deSolve %s (lsoda, models in C)", utils::packageVersion("deSolve")),
  if (length(rows$lotka$diffrax)) "diffrax (Dopri5, Kvaerno5, default adjoint)"
)
writeLines(c(
  paste(
    "| tolerance 1e-8 | value | deSolve | diffrax | value and gradient | diffrax | gradient beside differences",
    "| first call |"
  ),
  "|---|---|---|---|---|---|---|---|", lines, "",
  "| 1,000 subjects, 4 doses, 12 times | xlaffi | loop of deSolve |", "|---|---|---|",
  sprintf("| value | %s | %s |", cell(many$value), cell(many$desolve, many$value)),
  sprintf("| value and gradient by all parameters | %s | |", cell(many$both)), "",
  sprintf("xlaffi %s, %s; the best of 15 rounds (batches 5), after the first call; load of the machine %s; %s.",
    utils::packageVersion("xlaffi"), toString(c(R.version.string, peers)), load, Sys.Date()
  )
), file.path(here, "results-ode.md"))
