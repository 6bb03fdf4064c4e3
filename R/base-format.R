# Numbers and names as messages show them.

quoted <- function(names) toString(dQuote(names, FALSE))

values_text <- function(x) {
  if (is.numeric(x) && !is.object(x) && length(x) <= 8L) sprintf("(%s)", toString(x)) else describe(x)
}

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

# Why nothing can be shown of an object, as print() and str() say it; NULL where `facts`, what is asked of it, are
# there. An error would make a list with such an object impossible to look at. In a forked child all is refused.
why_gone <- function(facts) {
  tryCatch(
    {
      force(facts)
      NULL
    },
    xlaffi_error_failed_precondition = function(e) {
      if (grepl("NULL external pointer", conditionMessage(e), fixed = TRUE)) {
        "gone, as it does not survive saving and loading"
      } else if (grepl("before this process was forked", conditionMessage(e), fixed = TRUE)) {
        rlang::cnd_signal(e)
      } else {
        sub("\n.*", "", conditionMessage(e))
      }
    }
  )
}

# `shown`, or what stands for it
shown_or_gone <- function(shown, what) {
  why <- why_gone(shown)
  if (is.null(why)) shown else sprintf("<%s: %s>", what, why)
}
