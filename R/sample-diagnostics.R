# Convergence and accuracy of Markov chains: A. Vehtari, A. Gelman, D. Simpson, B. Carpenter, P.-C. Buerkner,
# "Rank-normalization, folding, and localization: an improved Rhat for assessing convergence of MCMC", Bayesian Analysis
# 16, 2021. Numbers are those of {posterior}. What is computed of one variable is computed of many at once: arrays `x`
# are iterations x chains x variables.

# As posterior::summarise_draws() has them, and with `errors` Monte Carlo standard errors. The variables are taken some
# at a time, which bounds memory.
summary_columns <- function(x, probs = c(0.05, 0.95), errors = TRUE) {
  count <- dim(x)[[3L]]
  at_once <- max(1, floor(2^19 / max(1, prod(dim(x)[1:2]))))
  blocks <- split(seq_len(count), ceiling(seq_len(count) / at_once))
  parts <- lapply(blocks, function(block) summary_block(x[, , block, drop = FALSE], probs, errors))
  if (count) do.call(rbind, unname(parts)) else summary_block(x, probs, errors)
}

# A matrix, a row for each variable
summary_block <- function(x, probs, errors) {
  shape <- dim(x)
  flat <- matrix(x, shape[[1L]] * shape[[2L]], shape[[3L]])
  usable <- is_varied(flat)
  only_usable <- function(numbers) replace(numbers, !usable, NA)
  # Ranks do without finite numbers.
  unless_constant <- function(numbers) replace(numbers, !usable & colSums(!is.finite(flat)) == 0, NA)
  sorted <- apply_columns(flat, sort, na.last = TRUE)
  median <- c(quantiles_of(sorted, 0.5))
  quantiles <- quantiles_of(sorted, probs)
  away <- abs(flat - rep(median, each = nrow(flat)))
  sd <- sqrt(variance_of(flat))
  bulk <- normal_scores(split_chains(x))
  folded <- normal_scores(split_chains(array(away, shape)))
  tails <- c(0.05, 0.95)
  needed <- if (errors) union(tails, probs) else tails
  below <- ess_below(x, quantiles_of(sorted, needed))
  columns <- cbind(
    mean = colMeans(flat), median = median, sd = sd,
    mad = 1.4826 * c(quantiles_of(apply_columns(away, sort, na.last = TRUE), 0.5)), t(quantiles),
    rhat = unless_constant(larger_of(rhat_of(bulk), rhat_of(folded))), ess_bulk = unless_constant(ess_of(bulk)),
    ess_tail = only_usable(-larger_of(-below[1L, ], -below[2L, ]))
  )
  colnames(columns)[4L + seq_along(probs)] <- sprintf("q%s", format_each(100 * probs))
  if (!errors) {
    return(columns)
  }
  chosen <- match(probs, needed)
  at_quantiles <- vapply(seq_along(probs), function(k) {
    mcse_quantile_of(sorted, probs[[k]], only_usable(below[chosen[[k]], ]))
  }, numeric(shape[[3L]]))
  dim(at_quantiles) <- c(shape[[3L]], length(probs))
  colnames(at_quantiles) <- sprintf("mcse_%s", colnames(columns)[4L + seq_along(probs)])
  cbind(columns,
    mcse_mean = sd / sqrt(only_usable(ess_of(split_chains(x)))), mcse_sd = only_usable(mcse_sd_of(flat, shape)),
    at_quantiles
  )
}

apply_columns <- function(x, f, ...) {
  columns <- lapply(seq_len(ncol(x)), function(j) f(x[, j], ...))
  matrix(as.double(unlist(columns, use.names = FALSE)), nrow(x), ncol(x))
}

# NA where one of them is: pmax() tells NaN from NA by position.
larger_of <- function(a, b) ifelse(is.na(a) | is.na(b), NA_real_, pmax(a, b))

# Whether columns are finite and not constant, but for rounding
is_varied <- function(x) {
  if (!nrow(x)) {
    return(logical(ncol(x)))
  }
  finite <- colSums(!is.finite(x)) == 0
  ends <- vapply(seq_len(ncol(x)), function(j) if (finite[[j]]) range(x[, j]) else c(0, 0), c(0, 0))
  finite & ends[2L, ] - ends[1L, ] > .Machine$double.eps * pmax(abs(ends[1L, ]), abs(ends[2L, ]))
}

variance_of <- function(x) {
  centred <- x - rep(colMeans(x), each = nrow(x))
  colSums(centred^2) / (nrow(x) - 1)
}

# Of columns whose rows are sorted, NA at the end
quantiles_of <- function(sorted, probs) {
  given <- nrow(sorted) > 0 & colSums(is.na(sorted)) == 0
  found <- matrix(NA_real_, length(probs), ncol(sorted))
  for (j in which(given)) found[, j] <- stats::quantile(sorted[, j], probs, names = FALSE)
  found
}

# Normal quantiles of the ranks of each variable's draws, which ties share
normal_scores <- function(x) {
  size <- prod(dim(x)[1:2])
  # Ranks are whole or half.
  score <- stats::qnorm((seq_len(2L * size) / 2 - 0.375) / (size + 0.25))
  scores <- apply_columns(matrix(x, size), function(column) {
    order <- order(column, method = "radix")
    column <- column[order]
    starts <- c(TRUE, column[-1L] != column[-size])
    if (anyNA(starts)) {
      return(rep(NA_real_, size))
    }
    first <- which(starts)
    last <- c(first[-1L] - 1L, size)
    column[order] <- if (all(starts)) score[2L * seq_len(size)] else rep(score[first + last], last - first + 1L)
    column
  })
  array(scores, dim(x))
}

# The halves of chains as chains. The middle of an odd number of iterations is left out.
split_chains <- function(x) {
  size <- dim(x)[[1L]]
  if (size < 2L) {
    return(x)
  }
  half <- size %/% 2L
  chains <- dim(x)[[2L]]
  halves <- array(0, c(half, 2L * chains, dim(x)[[3L]]))
  halves[, seq_len(chains), ] <- x[seq_len(half), , ]
  halves[, chains + seq_len(chains), ] <- x[size - half + seq_len(half), , ]
  halves
}

rhat_of <- function(x) {
  shape <- dim(x)
  if (shape[[1L]] < 2L || shape[[2L]] < 2L) {
    return(rep(NA_real_, shape[[3L]]))
  }
  flat <- matrix(x, shape[[1L]])
  within <- colMeans(matrix(variance_of(flat), shape[[2L]]))
  between <- variance_of(matrix(colMeans(flat), shape[[2L]]))
  constant <- !is_varied(matrix(x, ncol = shape[[3L]]))
  replace(sqrt(between / within + (shape[[1L]] - 1) / shape[[1L]]), constant, NA)
}

# Effective sample sizes: sums of autocorrelations up to where Geyer's initial positive sequence ends, after his initial
# monotone sequence (C. J. Geyer, "Practical Markov chain Monte Carlo", Statistical Science 7, 1992), as Stan has them.
ess_of <- function(x) {
  shape <- dim(x)
  size <- shape[[1L]]
  chains <- shape[[2L]]
  if (size < 3L || !shape[[3L]]) {
    return(rep(NA_real_, shape[[3L]]))
  }
  usable <- is_varied(matrix(x, ncol = shape[[3L]]))
  covariance <- autocovariances(x)
  within <- covariance[1L, ] * size / (size - 1)
  total <- covariance[1L, ]
  if (chains > 1L) total <- total + variance_of(matrix(colMeans(matrix(x, size)), chains))
  correlation <- 1 - (rep(within, each = size) - covariance) / rep(total, each = size)
  correlation[1L, ] <- 1
  ess <- size * chains / vapply(seq_len(ncol(correlation)), function(j) {
    if (usable[[j]]) max(geyer_time(correlation[, j]), 1 / log10(size * chains)) else NA_real_
  }, 0)
  ess
}

# The sum of a row of autocorrelations from minus to plus infinity. The correlations come in pairs of an even and an odd
# lag, whose sums are positive and fall for a reversible chain.
geyer_time <- function(correlation) {
  size <- length(correlation)
  # Pairs that are looked at: one, and others as long as more than five lags are left
  pairs <- 1L + max(0L, (size - 4L) %/% 2L)
  even <- correlation[2L * seq_len(pairs) - 1L]
  sum <- even + correlation[2L * seq_len(pairs)]
  ended <- which(!(sum > 0))
  last <- if (length(ended)) ended[[1L]] else pairs
  kept <- cummin(sum[seq_len(last - 1L)])
  # The last even lag counts once if its own correlation is positive. posterior's sum is never empty: at the start it
  # has the first correlation, which is 1.
  end <- even[[last]]
  if (is.nan(end) || (end <= 0 && !(sum[[last]] >= 0))) end <- 0
  2 * (if (last > 1L) sum(kept) else 1) - 1 + end
}

# Autocovariances, means over chains, of lags from 0 on: a row for each lag, a column for each variable. Chains are
# halves of chains, so there is an even number of them; two are the real and the imaginary part of one transform, whose
# power spectrum has the sum of both autocovariances as its real part.
autocovariances <- function(x) {
  size <- dim(x)[[1L]]
  chains <- dim(x)[[2L]]
  count <- dim(x)[[3L]]
  flat <- matrix(x, size)
  # A constant chain is exactly 0 then.
  flat <- flat - rep(flat[1L, ], each = size)
  flat <- array(flat - rep(colMeans(flat), each = size), dim(x))
  pairs <- chains %/% 2L
  padded <- 2L * stats::nextn(size)
  pair <- matrix(0i, padded, pairs * count)
  pair[seq_len(size), ] <- complex(real = flat[, seq_len(pairs), ], imaginary = flat[, pairs + seq_len(pairs), ])
  transform <- stats::mvfft(pair)
  power <- array(Re(transform)^2 + Im(transform)^2, c(padded, pairs, count))
  spectrum <- 0
  for (k in seq_len(pairs)) spectrum <- spectrum + power[, k, ]
  back <- stats::mvfft(matrix(spectrum, padded), inverse = TRUE)
  # As integers the product ends at 2^31.
  Re(back[seq_len(size), , drop = FALSE]) / (as.double(padded) * size * chains)
}

# Of the indicators of what is not above a quantile: a row for each
ess_below <- function(x, quantiles) {
  shape <- dim(x)
  rows <- lapply(seq_len(nrow(quantiles)), function(k) {
    below <- x <= rep(quantiles[k, ], each = shape[[1L]] * shape[[2L]])
    ess_of(split_chains(array(as.double(below), shape)))
  })
  do.call(rbind, rows)
}

mcse_sd_of <- function(flat, shape) {
  square <- (flat - rep(colMeans(flat), each = nrow(flat)))^2
  variance <- colMeans(square)
  ess <- ess_of(split_chains(array(square, shape)))
  sqrt((colMeans(square^2) - variance^2) / ess / variance / 4)
}

# Half of what the order statistics are apart that a normal variable would have one standard error to either side
mcse_quantile_of <- function(sorted, prob, ess) {
  size <- nrow(sorted)
  ends <- vapply(stats::pnorm(c(-1, 1)), stats::qbeta, numeric(length(ess)), ess * prob + 1, ess * (1 - prob) + 1)
  dim(ends) <- c(length(ess), 2L)
  at <- seq_along(ess)
  lower <- sorted[cbind(pmax(floor(ends[, 1L] * size), 1), at)]
  upper <- sorted[cbind(pmin(ceiling(ends[, 2L] * size), size), at)]
  (upper - lower) / 2
}

# The estimated Bayesian fraction of missing information of each chain: small where the momenta's energies differ little
# beside those that the posterior has (M. Betancourt, "Diagnosing suboptimal cotangent disintegrations in Hamiltonian
# Monte Carlo", 2016).
ebfmi <- function(energy) {
  if (NROW(energy) < 3L) {
    return(rep(NA_real_, NCOL(energy)))
  }
  colSums(diff(energy)^2) / nrow(energy) / variance_of(energy)
}
