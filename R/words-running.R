# cumsum() and its kin, along R's order of the elements.

running <- function(op, x) cumulated(op, as_column(x), 1L)

math_members$cumsum <- function(x, shown, call) {
  check_kind(x, "a number", shown, "x", call)
  if (x@dtype != "i32") {
    return(running("add", x))
  }
  # R gives up at the first sum that is too large.
  sums <- running("add", converted(x, "i64"))
  fine <- converted(r_integer_range(sums), "i32")
  r_integers(sums, cumulated("minimum", fine, 1L) == 0L)
}

word("cumsum", "base",
  by = "group", topic = "Summaries", dtypes = "all numbers",
  differs = paste(
    "Sums are of the dtype's precision and in another order than R's longer ones: what is left of large numbers that",
    "cancel may differ. Sums of other integers than R's wrap round."
  )
)

math_members$cumprod <- function(x, shown, call) {
  x <- as_column(math_operand(x, "inexact", shown, call))
  products <- running("multiply", x)
  if (!is_float(x@dtype)) {
    return(products)
  }
  # 1 from a zero on, 2 from what is not finite on
  kind <- function(number) filled(number, new_type("i32", x@shape))
  seen <- selected(is.finite(x), selected(x == filled(0, x), kind(1L), kind(0L)), kind(2L))
  with_zeros(products, cumulated("maximum", seen, 1L) == kind(1L))
}

word("cumprod", "base", by = "group", topic = "Summaries", dtypes = "real and complex numbers")

for (name in c("cummax", "cummin")) {
  math_members[[name]] <- local({
    op <- c(cummax = "maximum", cummin = "minimum")[[name]]
    function(x, shown, call) {
      check_kind(x, "a real number", shown, "x", call)
      found <- running(op, x)
      if (!may_have_na(x)) {
        return(found)
      }
      # From an NA on
      unknown <- running("maximum", converted(is_na_integer(x), "i32")) == 1L
      selected(unknown, filled(missing_number(x@dtype), found), found)
    }
  })
  word(name, "base", by = "group", topic = "Summaries", dtypes = "real numbers")
}
rm(name)
