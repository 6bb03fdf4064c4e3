# Numbers and names as messages show them.

quoted <- function(names) toString(dQuote(names, FALSE))

values_text <- function(x) if (is.numeric(x) && length(x) <= 8L) sprintf("(%s)", toString(x)) else describe(x)

format_seconds <- function(x) {
  x <- signif(x, 3)
  unit <- cut(x, c(-Inf, 1e-6, 1e-3, 1, Inf), right = FALSE, labels = FALSE)
  sprintf("%.3g %s", x * c(1e9, 1e6, 1e3, 1)[unit], c("ns", "us", "ms", "s")[unit])
}

format_bytes <- function(x) {
  x <- signif(x, 3)
  unit <- cut(x, c(-Inf, 1e3, 1e6, 1e9, Inf), right = FALSE, labels = FALSE)
  sprintf("%.3g %s", x / c(1, 1e3, 1e6, 1e9)[unit], c("B", "kB", "MB", "GB")[unit])
}

# Each number with as many digits as it needs
format_each <- function(x) vapply(x, format, "")
