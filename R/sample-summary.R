# Tables of draws.

#' @rdname xlaffi_draws
#' @export
summary.xlaffi_draws <- function(object, variables = NULL, probs = c(0.05, 0.95), ...) {
  check_dots_empty(...)
  if (!is.numeric(probs) || !all(is.finite(probs)) || any(probs < 0 | probs > 1) || anyDuplicated(probs)) {
    abort(sprintf("`probs` must be probabilities, each once, not %s", values_text(probs)), operand = "probs")
  }
  x <- chosen_draws(object, variables, diagnostics = TRUE)
  frame <- data.frame(variable = dimnames(x)[[3L]], summary_columns(x, probs), check.names = FALSE)
  structure(frame, class = c("summary.xlaffi_draws", "data.frame"))
}

#' @export
print.summary.xlaffi_draws <- function(x, digits = 3L, ...) {
  check_print_dots(...)
  columns <- names(x)
  known <- c("variable", "mean", "sd", "rhat", "ess_bulk", "ess_tail")
  # A part of the table, or one that was changed
  if (!all(known %in% columns)) {
    print.data.frame(x, digits = digits, ...)
  } else {
    print_table(as.data.frame.list(x, optional = TRUE), digits)
  }
  invisible(x)
}

# Digits of a row follow its standard deviation.
print_table <- function(table, digits) {
  counts <- c("ess_bulk", "ess_tail")
  numbers <- setdiff(names(table), c("variable", "rhat", counts))
  cells <- lapply(numbers, function(name) cells_by_scale(table[[name]], table$sd, digits))
  names(cells) <- numbers
  cells$rhat <- cells_of(table$rhat, "%.3f")
  cells[counts] <- lapply(table[counts], cells_of, format = "%.0f")
  shown <- do.call(cbind, cells[setdiff(names(table), "variable")])
  rownames(shown) <- table$variable
  print(shown, quote = FALSE, right = TRUE)
}

cells_of <- function(x, format) ifelse(is.na(x), "NA", sprintf(format, x))

cells_by_scale <- function(x, sd, digits) {
  places <- digits - 1 - floor(log10(sd))
  plain <- is.finite(places) & places >= -4 & places <= 7 & is.finite(x) & abs(x) < 1e7
  text <- ifelse(is.na(x), "NA", formatC(x, digits = digits, format = "g"))
  text[plain] <- sprintf("%.*f", as.integer(pmax(places[plain], 0)), x[plain])
  text
}

#' @rdname xlaffi_draws
#' @export
print.xlaffi_draws <- function(x, digits = 3L, n = 20L, ...) {
  check_dots_empty(...)
  shape <- draws_shape(x)
  count <- length(shape$variables)
  cat(draws_title(x), "\n", sep = "")
  # Of many numbers only what is shown is looked at.
  all <- length(x$draws) <= 1e6
  shown <- seq_len(min(n, count))
  columns <- summary_columns(x$draws[, , if (all) seq_len(count) else shown, drop = FALSE], c(0.05, 0.5, 0.95), FALSE)
  if (length(shown)) {
    table <- columns[shown, c("mean", "sd", "q5", "q50", "q95", "rhat", "ess_bulk", "ess_tail"), drop = FALSE]
    colnames(table)[3:5] <- c("5%", "50%", "95%")
    print_table(data.frame(variable = shape$variables[shown], table, check.names = FALSE), digits)
  }
  if (count > n) cat(sprintf("... and %d more variables, which `summary()` has\n", count - n))
  convergence <- convergence_lines(columns[, "rhat"], columns[, "ess_bulk"], columns[, "ess_tail"], x, all)
  cat(c(convergence, sampler_line(x), time_line(x)), sep = "\n")
  invisible(x)
}

plural <- function(count, word) sprintf("%s %s%s", format(count, big.mark = ","), word, if (count == 1L) "" else "s")

draws_title <- function(x) {
  shape <- draws_shape(x)
  info <- x$info
  paste0(
    plural(shape$chains, "chain"), " of ", plural(shape$iterations, "draw"),
    if (length(info$warmup)) sprintf(" after %s of warm-up", format(info$warmup, big.mark = ",")),
    if (isTRUE(info$thin > 1)) sprintf(", one in %d kept", as.integer(info$thin)),
    ", ", plural(length(shape$variables), "variable"), if (isTRUE(info$interrupted)) " (interrupted)"
  )
}

# What says that the chains are too short, or have not met
convergence_lines <- function(rhat, bulk, tail, x, all) {
  shape <- draws_shape(x)
  ess <- pmin(bulk, tail)
  enough <- 100 * shape$chains
  variables <- function(bad) {
    names <- shape$variables[seq_along(bad)][bad]
    sprintf("%s: %s", plural(length(names), "variable"), toString(names, width = 60))
  }
  high <- !is.na(rhat) & rhat > 1.01
  few <- !is.na(ess) & ess < enough
  c(
    if (any(high)) sprintf("rhat above 1.01 for %s", variables(high)),
    if (any(few)) sprintf("fewer effective draws than %d for %s", enough, variables(few)),
    if (!all) "(of the variables shown only)"
  )
}

# Divergences, trees at the largest depth and E-BFMI, as far as the sampler tells
sampler_line <- function(x) {
  found <- sampler_troubles(x)
  draws <- prod(dim(x$draws)[1:2])
  parts <- c(
    if (length(found$divergent)) {
      share <- sprintf(" (%s %%)", format(100 * found$divergent / max(draws, 1), digits = 2))
      if (found$divergent) paste0(plural(found$divergent, "divergence"), share) else "no divergences"
    },
    if (isTRUE(found$deepest > 0)) {
      sprintf("%s at the largest depth %d", plural(found$deepest, "tree"), as.integer(x$info$max_treedepth))
    },
    if (any(is.finite(found$ebfmi))) {
      sprintf("E-BFMI %s", paste(unique(sprintf("%.2f", range(found$ebfmi, na.rm = TRUE))), collapse = " to "))
    }
  )
  if (length(parts)) paste(parts, collapse = ", ")
}

sampler_troubles <- function(x) {
  diagnostics <- x$diagnostics
  depth <- diagnostics$treedepth__
  list(
    divergent = if (!is.null(diagnostics$divergent__)) sum(diagnostics$divergent__),
    deepest = if (!is.null(depth) && length(x$info$max_treedepth)) sum(depth >= x$info$max_treedepth),
    ebfmi = if (!is.null(diagnostics$energy__)) ebfmi(diagnostics$energy__)
  )
}

time_line <- function(x) {
  info <- x$info
  range_of <- function(times) paste(unique(format_seconds(range(times))), collapse = " to ")
  parts <- c(
    if (length(info$compile_time)) sprintf("compiled in %s", format_seconds(info$compile_time)),
    if (length(info$warmup_time)) sprintf("warm-up %s", range_of(info$warmup_time)),
    if (length(info$sampling_time)) sprintf("sampling %s per chain", range_of(info$sampling_time))
  )
  if (length(parts)) paste(parts, collapse = ", ")
}
