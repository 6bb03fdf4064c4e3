# `code` without looking for loops in graphs: R's loops are written turn by turn.
turn_by_turn <- function(code) {
  hooks <- get("hooks", asNamespace("xlaffi"))
  found <- hooks$with_loops
  withr::defer(hooks$with_loops <- found)
  hooks$with_loops <- function(values, first) values
  local_least_ahead(Inf)
  code
}

# From how many turns on they are traced ahead
local_least_ahead <- function(count, frame = parent.frame()) {
  before <- get("least_ahead", asNamespace("xlaffi"))
  withr::defer(utils::assignInNamespace("least_ahead", before, "xlaffi"), envir = frame)
  utils::assignInNamespace("least_ahead", count, "xlaffi")
}

# How often a text has a word
times_in <- function(text, word) lengths(regmatches(text, gregexpr(word, text, fixed = TRUE)))

# How many loops a program has
loops_in <- function(f, ...) times_in(xla_program(f, ...), "stablehlo.while")
