# cumsum() and its kin, along R's order of the elements.

running <- function(op, x) cumulated(op, as_column(x), 1L)

math_members$cumsum <- function(x, shown, call) {
  check_kind(x, "a number", shown, "x", call)
  running("add", x)
}

word("cumsum", "base",
  by = "group", topic = "Summaries", dtypes = "all numbers", differs = "Sums of integers that are too large wrap round."
)

math_members$cumprod <- function(x, shown, call) running("multiply", math_operand(x, "inexact", shown, call))

word("cumprod", "base", by = "group", topic = "Summaries", dtypes = "real and complex numbers")

for (name in c("cummax", "cummin")) {
  math_members[[name]] <- local({
    op <- c(cummax = "maximum", cummin = "minimum")[[name]]
    function(x, shown, call) {
      check_kind(x, "a real number", shown, "x", call)
      running(op, x)
    }
  })
  word(name, "base", by = "group", topic = "Summaries", dtypes = "real numbers")
}
rm(name)
