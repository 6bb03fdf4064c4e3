#' R's functions for values of programs
#'
#' Which of R's functions, and which of this package's, take [values][xlaffi_value] inside [xla_jit()] and its kin: on
#' what dtypes, with which derivatives, and what is not as in R. `xla_supported()` gives the same table as data.
#'
#' @details
#' Most functions of R do not dispatch on what they are given. So a function that is traced runs in a scope of its own,
#' in which R's functions know values; this holds for your functions that it calls, too, but not for those in other
#' packages. A function of R that is not in the table gives an error for a value.
#'
#' `if`, `while`, `switch()`, `&&` and `||` are decided while the program is written, so a value there is an error;
#' `for` goes through the elements of a value. R's own random numbers are an error, since they would be drawn once:
#' there are `hlo_rnorm()` and its kin. What is computed has no names. Everywhere NA is NaN, and integers and logicals
#' have none; comparisons with NaN are FALSE. Numbers below 2.3e-308 (f32: 1.2e-38) in size count as 0, as XLA has it.
#'
#' Where the derivative is "none" the function is flat, or gives no floating-point numbers.
#'
#' At the ends of the support of a distribution the derivatives of densities and probabilities are the limits from
#' inside, which may be infinite: the slope of `dexp(x, 2)` at 0 is -4, that of `dgamma(x, 1.5)` infinite. The same
#' holds for parameters that are at an end, such as a probability of 1. At a knot `approx()` has the slope of the piece
#' to its right. Quantiles of 0 and of 1 have slope 0.
#'
#' @param topic One of the headings below; `NULL` means all.
#' @return A data frame with the columns `name`, `package`, `topic`, `dtypes`, `derivative` and `differs`.
#' @examples
#' xla_supported("Sorting")$name
#' @eval overload_sections()
#' @export
xla_supported <- function(topic = NULL) {
  if (!is.null(topic)) {
    topic <- check_choice(topic, "topic", overload_topics)
  }
  entries <- sorted_overloads(if (is.null(topic)) overload_topics else topic)
  columns <- stats::setNames(nm = c("name", "package", "topic", "dtypes", "derivative", "differs"))
  as.data.frame(lapply(columns, function(column) vapply(entries, function(entry) entry[[column]], "")))
}

sorted_overloads <- function(topics) {
  entries <- unname(as.list(overloads))
  place <- match(vapply(entries, function(entry) entry$topic, ""), topics)
  names <- vapply(entries, function(entry) entry$name, "")
  entries[order(place, tolower(names), names)][seq_len(sum(!is.na(place)))]
}

# Each topic as a section of the help page
overload_sections <- function() {
  unlist(lapply(overload_topics, function(topic) {
    entries <- sorted_overloads(topic)
    if (!length(entries)) {
      return(NULL)
    }
    rows <- vapply(entries, function(entry) {
      cells <- c(sprintf("\\code{%s}", escaped(entry$name)), entry$dtypes, entry$derivative, entry$differs)
      paste(cells, collapse = " \\tab ")
    }, "")
    head <- "\\strong{Function} \\tab \\strong{dtypes} \\tab \\strong{Derivative} \\tab \\strong{Not as in R}"
    c(
      sprintf("@section %s:", topic), "", "\\tabular{llll}{",
      paste("  ", c(head, rows), c(rep("\\cr", length(rows)), "")),
      "}"
    )
  }))
}

# Code as R's help format and roxygen2 want it; roxygen2 does the rest of the text.
escaped <- function(code) gsub("%", "\\%", gsub("@", "@@", code, fixed = TRUE), fixed = TRUE)
