#' Plots of draws
#'
#' Chains as they ran, how they agree, what they found, and where the sampler had trouble.
#'
#' @details
#' * `"trace"`: draws in the order in which they were made, a colour for each chain; ticks below are divergences.
#' * `"rank"`: how many draws of each chain are in each class of ranks among all draws. Chains that agree stay
#'   in the grey band, in which 95 % of independent draws' counts are.
#' * `"density"`: the estimated density of each chain's draws.
#' * `"interval"`: medians with intervals of 50 % and 90 %.
#' * `"acf"`: autocorrelations of each chain.
#' * `"energy"`: for each chain, energies about their mean (filled) and what they change by from draw to draw (the
#'   line). Where the changes are much narrower, the chain is slow to reach the tails, and E-BFMI is small.
#' * `"pairs"`: each variable against each other, correlations above the diagonal, divergences in red. Where these
#'   gather is what the sampler cannot reach.
#'
#' @param x [Draws][xla_sample].
#' @param type What to plot.
#' @param variables Names or numbers of variables, names of parts of the parameters, or diagnostics such as `"lp__"`. By
#'   default those that vary, as many of the first as a page holds: 9, 40 for `"interval"`, 5 for `"pairs"`.
#' @param ... Nothing.
#' @return `x`, invisibly.
#' @references
#' For ranks: A. Vehtari and others, Bayesian Analysis 16, 2021; for energies: M. Betancourt, "Diagnosing suboptimal
#' cotangent disintegrations in Hamiltonian Monte Carlo", 2016; for pairs: J. Gabry and others, "Visualization in
#' Bayesian workflow", Journal of the Royal Statistical Society A 182, 2019.
#' @seealso [xla_sample()], [xlaffi_draws].
#' @examplesIf plugins_downloaded()
#' draws <- xla_sample(
#'   function(par) dnorm(par$x, log = TRUE) + sum(dnorm(par$y, 0, exp(par$x / 2), log = TRUE)),
#'   list(x = 0, y = c(0, 0)), draws = 500, seed = 1
#' )
#' plot(draws)
#' plot(draws, "rank", variables = "y")
#' plot(draws, "pairs")
#' @importFrom graphics plot
#' @export
plot.xlaffi_draws <- function(x, type = c("trace", "rank", "density", "interval", "acf", "energy", "pairs"),
                              variables = NULL, ...) {
  type <- check_choice(type, "type", c("trace", "rank", "density", "interval", "acf", "energy", "pairs"))
  check_dots_empty(...)
  if (!prod(dim(x$draws))) abort("there are no draws to plot", operand = "x")
  if (type == "energy") {
    if (!is.null(variables)) abort("plots of energies have no variables", operand = "variables")
    plot_energy(x)
    return(invisible(x))
  }
  call <- environment()
  room <- switch(type, interval = 40L, pairs = 5L, 9L)
  chosen <- if (is.null(variables)) first_varied(x$draws, room) else chosen_draws(x, variables, TRUE, call)
  if (!dim(chosen)[[3L]]) abort("there are no variables to plot", operand = "variables")
  divergent <- x$diagnostics$divergent__
  switch(type,
    interval = plot_intervals(chosen),
    pairs = plot_pairs(chosen, divergent, call),
    plot_panels(chosen, switch(type, trace = trace_panel, rank = rank_panel, density = density_panel, acf = acf_panel),
      divergent
    )
  )
  invisible(x)
}

# As many variables as there is room for, without constants such as the zeros of a triangular matrix
first_varied <- function(x, room) {
  count <- dim(x)[[3L]]
  flat <- matrix(x, ncol = count)
  constant <- vapply(seq_len(count), function(j) isTRUE(min(flat[, j]) == max(flat[, j])), NA)
  chosen <- which(!constant | nrow(flat) < 2L)
  if (length(chosen) > room) {
    inform(sprintf("plot: the first %d of %d variables; `variables = ` chooses others", room, length(chosen)))
    chosen <- chosen[seq_len(room)]
  }
  x[, , chosen, drop = FALSE]
}

blue <- "#1b6ca8"
red <- "#c8281e"

chain_colours <- function(chains) {
  colours <- c(blue, "#e08a1e", "#3f8f5f", "#a2478f", "#5bb0d8", "#8a5a2b", "#6b6b6b", "#c9b037")
  rep_len(colours, chains)
}

faint <- function(colour, alpha) grDevices::adjustcolor(colour, alpha)

# A panel for each variable, with the chains' colours above them all
plot_panels <- function(x, panel, divergent) {
  chains <- dim(x)[[2L]]
  colours <- chain_colours(chains)
  on_page(dim(x)[[3L]], top = if (chains > 1L) 1.6 else 0.2, function() {
    for (name in dimnames(x)[[3L]]) {
      own <- matrix(x[, , name], dim(x)[[1L]])
      # What is not finite has no place in a picture.
      if (all(is.finite(own))) panel(own, colours, divergent) else empty_panel()
      graphics::title(name, line = 0.4, cex.main = 1)
    }
    if (chains > 1L) name_chains(colours)
  })
}

empty_panel <- function() {
  plot(0, type = "n", xlab = "", ylab = "", axes = FALSE)
  graphics::text(1, 0, "not finite", col = "grey40")
}

# Runs code on a page of panels, and puts the device's settings back. One panel goes where others of R's would.
on_page <- function(count, draw, top = 0.2, shape = NULL) {
  if (is.null(shape)) shape <- grDevices::n2mfrow(count)
  settings <- list(mar = c(2.2, 2.6, 1.8, 0.8), mgp = c(1.4, 0.45, 0), tcl = -0.25, las = 1)
  if (count > 1L) settings <- c(list(mfrow = shape, oma = c(0.2, 0.2, top, 0.2)), settings)
  old <- graphics::par(settings)
  on.exit(graphics::par(old))
  draw()
}

name_chains <- function(colours) {
  outer <- !identical(graphics::par("mfrow"), c(1L, 1L))
  labels <- sprintf(if (length(colours) > 8L) "%d" else "chain %d", seq_along(colours))
  if (outer) {
    at <- 0.5 + (seq_along(labels) - (length(labels) + 1) / 2) * min(0.11, 0.9 / length(labels))
    graphics::mtext(labels, side = 3, outer = TRUE, at = at, line = 0.2, col = colours, cex = 0.7, font = 2)
  } else {
    graphics::legend("topright", labels, text.col = colours, bty = "n", cex = 0.7, text.font = 2)
  }
}

trace_panel <- function(x, colours, divergent) {
  graphics::matplot(x, type = "l", lty = 1, lwd = 0.7, col = faint(colours, 0.8), xlab = "", ylab = "")
  at <- if (!is.null(divergent)) which(rowSums(divergent) > 0)
  if (length(at)) graphics::rug(at, col = red, ticksize = 0.04, lwd = 1, quiet = TRUE)
}

rank_panel <- function(x, colours, divergent) {
  classes <- max(2, min(20, floor(nrow(x) / 5)))
  ranks <- matrix(rank(x, ties.method = "average"), nrow(x))
  class <- ceiling(ranks / length(x) * classes)
  counts <- apply(class, 2L, tabulate, nbins = classes)
  band <- stats::qbinom(c(0.025, 0.975), nrow(x), 1 / classes)
  plot(c(0, length(x)), range(0, counts, band), type = "n", xlab = "", ylab = "", xaxs = "i")
  graphics::rect(0, band[[1L]], length(x), band[[2L]], col = "grey90", border = NA)
  graphics::abline(h = nrow(x) / classes, col = "grey60")
  ends <- seq(0, length(x), length.out = classes + 1L)
  for (k in seq_len(ncol(x))) {
    lines(ends, c(counts[, k], counts[classes, k]), type = "s", col = colours[[k]], lwd = 1.5)
  }
}

density_panel <- function(x, colours, divergent) {
  curves <- lapply(seq_len(ncol(x)), function(k) {
    own <- x[, k]
    if (length(own) < 2L || min(own) == max(own)) NULL else stats::density(own, from = min(own), to = max(own))
  })
  top <- max(0, unlist(lapply(curves, `[[`, "y")))
  plot(range(x), c(0, if (top > 0) top else 1), type = "n", xlab = "", ylab = "", yaxs = "r", yaxt = "n")
  graphics::abline(h = 0, col = "grey80")
  for (k in seq_len(ncol(x))) {
    curve <- curves[[k]]
    if (is.null(curve)) {
      graphics::abline(v = x[1L, k], col = colours[[k]], lwd = 1.5)
    } else {
      graphics::polygon(c(curve$x[[1L]], curve$x, max(curve$x)), c(0, curve$y, 0), col = faint(colours[[k]], 0.08),
        border = NA
      )
      lines(curve, col = colours[[k]], lwd = 1.5)
    }
  }
}

acf_panel <- function(x, colours, divergent) {
  size <- nrow(x)
  last <- min(30L, size - 1L)
  own <- lapply(seq_len(ncol(x)), function(k) {
    if (min(x[, k]) == max(x[, k])) rep(NA_real_, last + 1L) else c(stats::acf(x[, k], last, plot = FALSE)$acf)
  })
  plot(c(0, last), range(-0.1, 1, unlist(own), na.rm = TRUE), type = "n", xlab = "", ylab = "")
  width <- stats::qnorm(0.975) / sqrt(size)
  graphics::rect(-last, -width, 2 * last, width, col = "grey92", border = NA)
  graphics::abline(h = 0, col = "grey60")
  for (k in seq_len(ncol(x))) lines(0:last, own[[k]], type = "o", pch = 16, cex = 0.5, col = colours[[k]])
}
