# Linear algebra from R: xla_*() on R matrices and on buffers beside base R, in turn, in f64. For
# batches base R loops over the matrices.

library(xlaffi)
here <- dirname(sub("^--file=", "", grep("^--file=", commandArgs(), value = TRUE)))
source(file.path(here, "timing.R"))

# What base R computes, given one matrix, and what we do, given one or a batch
ops <- list(
  qr = list(base = function(x) {
    f <- qr(x, LAPACK = TRUE)
    list(qr.Q(f), qr.R(f))
  }, ours = xla_qr),
  svd = list(base = svd, ours = xla_svd),
  eigh = list(base = function(x) eigen(x, symmetric = TRUE), ours = xla_eigh),
  chol = list(base = chol, ours = xla_chol),
  solve = list(base = function(x) solve(x, x[, 1L]), ours = function(x) xla_solve(x, first_column(x)))
)

# The right sides are cut off before the clock starts
right_sides <- list()
first_column <- function(x) if (inherits(x, "xlaffi_buffer")) right_sides$buffer else right_sides$array

cases <- list(
  "1 x 100 x 100" = c(100, 100), "1 x 500 x 500" = c(500, 500), "1 x 1000 x 1000" = c(1000, 1000),
  "10,000 x 4 x 4" = c(10000, 4, 4), "1,000 x 16 x 16" = c(1000, 16, 16),
  # Designs of regressions, for qr only
  "1 x 1000 x 3" = c(1000, 3), "100 x 1000 x 3" = c(100, 1000, 3)
)
square <- function(dims) length(unique(utils::tail(dims, 2L))) == 1L

# Symmetric and positive definite, so that all of them can be computed
definite <- function(dims) {
  n <- dims[[length(dims)]]
  one <- function() crossprod(matrix(stats::rnorm(n * n), n)) / n + diag(n)
  if (length(dims) == 2L) one() else aperm(replicate(dims[[1L]], one()), c(3L, 1L, 2L))
}

await_all <- function(x) if (is.list(x) && !is.object(x)) lapply(x, await) else await(x)

set.seed(1)
results <- list()
for (case in names(cases)) {
  dims <- cases[[case]]
  x <- if (square(dims)) definite(dims) else array(stats::rnorm(prod(dims)), dims)
  batch <- length(dim(x)) == 3L
  matrices <- if (batch) lapply(seq_len(dim(x)[[1L]]), function(i) x[i, , ])
  buffer <- pjrt_buffer(x, "f64")
  sides <- if (batch) x[, , 1L] else x[, 1L]
  right_sides <- list(array = sides, buffer = pjrt_buffer(sides, "f64"))
  for (op in if (square(dims)) names(ops) else "qr") {
    base <- ops[[op]]$base
    ours <- ops[[op]]$ours
    peers <- list(
      `base R` = function() if (batch) lapply(matrices, base) else base(x),
      `xlaffi, R arrays` = function() ours(x),
      `xlaffi, buffers` = function() await_all(ours(buffer))
    )
    results[[paste(op, case, sep = ", ")]] <- alternate(lapply(peers, batches), 9L)
  }
}

# What the project aims at: R's matrices of 100 x 100 in the time of base R, or in a little more where R's BLAS is an
# optimised one.
blas <- extSoftVersion()[["BLAS"]]
optimised <- grepl("openblas|mkl|blis|atlas|accelerate", normalizePath(blas, mustWork = FALSE), ignore.case = TRUE)
single <- paste0(names(ops), ", ", names(cases)[[1L]])
goals <- stats::setNames(rep(if (optimised) 1.2 else 1, length(single)), single)

cpu <- grep("model name", readLines("/proc/cpuinfo"), value = TRUE)
text <- c(
  as_markdown(results, goals),
  "",
  paste0(
    "xlaffi ", packageVersion("xlaffi"), ", R ", getRversion(), " with ",
    if (optimised) "an optimised BLAS" else "its own BLAS",
    " (", basename(normalizePath(blas, mustWork = FALSE)), "); ",
    parallel::detectCores(), " cores, ", sub(".*: ", "", cpu[1]), "; medians of rounds in turn; ", Sys.Date(), "."
  )
)
writeLines(text)
writeLines(text, file.path(here, "results-linalg-r.md"))
