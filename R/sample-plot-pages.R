# Plots of draws that are no panels of one variable each.

plot_intervals <- function(x) {
  count <- dim(x)[[3L]]
  names <- dimnames(x)[[3L]]
  ends <- apply(x, 3L, function(own) {
    if (all(is.finite(own))) stats::quantile(own, c(0.05, 0.25, 0.5, 0.75, 0.95), names = FALSE) else rep(NA_real_, 5L)
  })
  at <- rev(seq_len(count))
  longest <- max(graphics::strwidth(names, "inches", cex = 0.8)) / graphics::par("csi")
  old <- graphics::par(mar = c(2.2, longest + 1.2, 1, 0.8), mgp = c(1.4, 0.45, 0), tcl = -0.25)
  on.exit(graphics::par(old))
  span <- if (any(is.finite(ends))) range(ends, na.rm = TRUE) else c(0, 1)
  plot(span, c(0.5, count + 0.5), type = "n", xlab = "", ylab = "", yaxt = "n", bty = "n")
  graphics::abline(v = 0, col = "grey80")
  graphics::axis(2, at, names, las = 1, tick = FALSE, cex.axis = 0.8, gap.axis = -1)
  graphics::segments(ends[1L, ], at, ends[5L, ], at, col = blue, lwd = 1.2)
  graphics::segments(ends[2L, ], at, ends[4L, ], at, col = blue, lwd = 4, lend = 1)
  graphics::points(ends[3L, ], at, pch = 21, bg = "white", col = blue, cex = 0.9, lwd = 1.5)
}

plot_energy <- function(x) {
  energy <- x$diagnostics$energy__
  if (is.null(energy)) abort("these draws have no energies", operand = "type")
  if (nrow(energy) < 3L || !all(is.finite(energy))) {
    abort("energies of three iterations at least are needed, all finite", operand = "x")
  }
  bfmi <- ebfmi(energy)
  about <- energy - rep(colMeans(energy), each = nrow(energy))
  change <- diff(energy)
  limits <- c(-1, 1) * max(abs(about), abs(change))
  breaks <- seq(limits[[1L]], limits[[2L]], length.out = 41L)
  counted <- function(numbers) graphics::hist(numbers, breaks, plot = FALSE)$density
  chains <- seq_len(ncol(energy))
  densities <- lapply(chains, function(k) list(about = counted(about[, k]), change = counted(change[, k])))
  top <- max(unlist(densities))
  on_page(length(chains), function() {
    for (k in chains) {
      plot(limits, c(0, top), type = "n", xlab = "", ylab = "", yaxt = "n")
      graphics::rect(breaks[-41L], 0, breaks[-1L], densities[[k]]$about, col = faint(blue, 0.35), border = NA)
      own <- densities[[k]]$change
      lines(breaks, c(own, own[[40L]]), type = "s", col = "#e08a1e", lwd = 1.8)
      graphics::title(sprintf("chain %d, E-BFMI %.2f", k, bfmi[[k]]), line = 0.4, cex.main = 1,
        col.main = if (bfmi[[k]] < 0.3) red else "black"
      )
      if (k == 1L) {
        graphics::legend("topright", c("about the mean", "from draw to draw"), text.col = c(blue, "#e08a1e"),
          bty = "n", cex = 0.75, text.font = 2
        )
      }
    }
  })
}

plot_pairs <- function(x, divergent, call) {
  count <- dim(x)[[3L]]
  if (count < 2L) abort("plots of pairs need two variables at least", operand = "variables", call = call)
  flat <- matrix(x, ncol = count)
  if (!all(is.finite(flat))) {
    bad <- dimnames(x)[[3L]][colSums(!is.finite(flat)) > 0]
    abort(sprintf("variables with numbers that are not finite have no plots of pairs: %s", toString(bad)),
      operand = "variables", call = call
    )
  }
  bad <- if (is.null(divergent)) logical(nrow(flat)) else as.vector(divergent) > 0
  # Some thousands of points are enough to see the form; divergences are all shown.
  shown <- which(!bad)
  if (length(shown) > 2000L) shown <- shown[round(seq(1, length(shown), length.out = 2000L))]
  names <- dimnames(x)[[3L]]
  on_page(count^2, shape = c(count, count), function() {
    graphics::par(mar = c(1.6, 2, 0.6, 0.4))
    for (row in seq_len(count)) {
      for (column in seq_len(count)) {
        if (row == column) {
          diagonal_panel(flat[, row], names[[row]])
        } else if (row < column) {
          correlation_panel(flat[, column], flat[, row])
        } else {
          plot(flat[shown, column], flat[shown, row], pch = 16, cex = 0.5, col = faint(blue, 0.3),
            xlim = range(flat[, column]), ylim = range(flat[, row]), xlab = "", ylab = ""
          )
          graphics::points(flat[bad, column], flat[bad, row], pch = 16, cex = 0.6, col = red)
        }
      }
    }
  })
}

diagonal_panel <- function(x, name) {
  bins <- graphics::hist(x, breaks = "Scott", plot = FALSE)
  plot(range(bins$breaks), c(0, 1.2 * max(bins$counts)), type = "n", xlab = "", ylab = "", yaxt = "n")
  graphics::rect(bins$breaks[-length(bins$breaks)], 0, bins$breaks[-1L], bins$counts, col = faint(blue, 0.35),
    border = "white", lwd = 0.5
  )
  graphics::text(mean(range(bins$breaks)), 1.14 * max(bins$counts), name, font = 2, cex = 1.1)
}

correlation_panel <- function(x, y) {
  varied <- min(x) < max(x) && min(y) < max(y)
  found <- if (varied) stats::cor(x, y) else NA_real_
  plot(c(0, 1), c(0, 1), type = "n", axes = FALSE, xlab = "", ylab = "")
  size <- 0.9 + if (varied) 0.9 * abs(found) else 0
  graphics::text(0.5, 0.5, sprintf("%.2f", round(found, 2) + 0), cex = size, col = "grey25")
}
