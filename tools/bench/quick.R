# Whether something has become slower by a factor of two: a few calls of all kinds beside work of R's own that takes
# about as long, in turns, in three minutes. What is compared is the ratio, so that the machine's speed matters little;
# quick.csv has the usual ones. Status 1 where one is more than twice as large.
#
#   Rscript quick.R [--write]     --write puts what was measured into quick.csv

library(xlaffi)
here <- dirname(sub("^--file=", "", grep("^--file=", commandArgs(), value = TRUE)))
source(file.path(here, "timing.R"))

set.seed(1)
small <- matrix(c(2, 1, 0, 3), 2)
x <- rnorm(1e6)
design <- cbind(1, matrix(rnorm(222), 111))
hits <- rbinom(111, 1, 0.4) * 1
square <- crossprod(matrix(rnorm(9e4), 300))
batch <- array(rnorm(200 * 64 * 64), c(200, 64, 64))
many <- array(rnorm(16e4), c(1e4, 4, 4))

objective <- xla_objective(function(beta, x, y) -sum(dbinom(y, 1, plogis(x %*% beta), log = TRUE)), numeric(3),
  x = design, y = hits
)
step <- 0
moved <- function() {
  step <<- step + 1
  c(step * 1e-6, 0.2, 0.3)
}
by_hand <- function(beta) {
  p <- plogis(drop(design %*% beta))
  c(-sum(dbinom(hits, 1, p, log = TRUE)), crossprod(design, p - hits))
}

# Nobody has traced or compiled it before.
fresh <- function(turns) {
  salt <- stats::runif(1)
  f <- xla_jit(function(x) {
    for (i in seq_len(turns)) x <- sin(x) + salt
    x
  })
  f(x[1:10])
}
in_r <- function(turns) for (i in seq_len(turns)) x <- sin(x[1:1000]) + i

multiply <- xla_jit(function(a, b) a %*% b)
total <- xla_jit(function(x) sum(exp(x)))
loop <- xla_jit(function(x) hlo_fori(0L, 100L, function(i, s) s + sum(x) / 2, 0))
several <- function(f, times) function() for (i in seq_len(times)) f()

cases <- list(
  "a program of two 2 x 2 matrices" = list(function() multiply(small, small), several(function() small %*% small, 40)),
  "value and gradient, 111 x 3" = list(
    function() {
      beta <- moved()
      objective$fn(beta)
      objective$gr(beta)
    },
    several(function() by_hand(moved()), 4)
  ),
  "a loop of 100 turns" = list(function() loop(x[1:100]), function() for (i in 1:100) sum(x[1:100]) / 2),
  "exp() and sum of 1e6 numbers" = list(function() total(x), function() sum(exp(x))),
  "upload and read back 1e6 numbers" = list(function() as_array(pjrt_buffer(x, "f64")), function() sqrt(abs(x))),
  "Cholesky, 300 x 300" = list(function() xla_chol(square), function() chol(square)),
  "eigenvalues and vectors, 300 x 300" = list(
    function() xla_eigh(square), function() eigen(square, symmetric = TRUE)
  ),
  "lu, 200 x 64 x 64" = list(function() xla_lu(batch), several(function() qr(batch[1, , ]), 50)),
  "singular values, 10,000 x 4 x 4" = list(function() xla_svd(many), several(function() svd(many[1, , ]), 500)),
  "200 operations traced and compiled" = list(function() fresh(100), function() in_r(2000))
)

new_session <- function(code) {
  function() system2(file.path(R.home("bin"), "Rscript"), c("--no-init-file", "-e", shQuote(code)), stdout = FALSE)
}
cases[["first result of a session"]] <- list(
  new_session("library(xlaffi); xla_chol(diag(2))"), new_session("library(stats4); library(splines)")
)

ratios <- vapply(cases, function(case) {
  us <- alternate(list(ours = batches(case[[1L]]), r = batches(case[[2L]])), rounds = 9L)
  us[["ours"]] / us[["r"]]
}, 0)

file <- file.path(here, "quick.csv")
if ("--write" %in% commandArgs(TRUE)) {
  utils::write.csv(data.frame(case = names(ratios), usual = signif(ratios, 2)), file, row.names = FALSE, quote = 1)
}
usual <- utils::read.csv(file)
stopifnot(setequal(usual$case, names(ratios)))
now <- ratios[usual$case]
slower <- now > 2 * usual$usual
print(data.frame(usual = usual$usual, now = signif(now, 2), ifelse(slower, "slower", ""),
  row.names = usual$case
) |> stats::setNames(c("usual", "now", "")))
if (any(slower)) {
  message("slower by more than a factor of two: ", toString(usual$case[slower]))
  quit("no", status = 1L)
}
