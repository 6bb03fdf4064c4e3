# Sums over whole numbers, of terms that rise to a peak and fall behind it, as long as each element needs.

# The `count` sums of what `terms(j)`, a list of values, gives for j = from, from + 1, ..., to: a loop over all elements
# together.
series_loop <- function(from, to, count, terms) {
  most <- reduced("reduce_max", reshaped(to - from, length(from)), 1L, "series_loop")
  turn <- function(state) {
    j <- from + state[[1L]]
    inside <- j <= to
    added <- Map(function(sum, term) sum + hlo_select(inside, term, 0), state[-1L], terms(j))
    c(list(state[[1L]] + 1), added)
  }
  start <- c(list(filled(0, most)), rep(list(filled(0, from)), count))
  while_loop(function(state) list(state[[1L]] <= most), turn, start)[-1L]
}

# Where the terms are that matter, for terms which fall as probabilities of a Poisson distribution to the power `power`
# do whose mean is `peak`: the others are less than exp(-45) of the largest. Where there are more than a loop can add up
# `known` is false.
series_window <- function(peak, power, least) {
  peak <- xla_stop_gradient(hlo_max(peak, 1))
  reach <- 45 / xla_stop_gradient(power)
  width <- reach / 3 + sqrt(reach * reach / 9 + 2 * reach * peak)
  known <- width < 1e6
  from <- hlo_select(known, hlo_max(floor(peak - width), least), 1)
  list(from = from, to = hlo_select(known, ceiling(peak + width), 1), known = known)
}
