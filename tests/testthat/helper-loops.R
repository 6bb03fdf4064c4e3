# `code` without looking for loops in graphs: R's loops are written turn by turn.
turn_by_turn <- function(code) {
  hooks <- get("hooks", asNamespace("xlaffi"))
  found <- hooks$with_loops
  withr::defer(hooks$with_loops <- found)
  hooks$with_loops <- function(values, first) values
  code
}

# How many loops a program has
loops_in <- function(f, ...) {
  lengths(regmatches(text <- xla_program(f, ...), gregexpr("stablehlo.while", text, fixed = TRUE)))
}
