# One trajectory of the no-U-turn sampler: M. D. Hoffman and A. Gelman, "The No-U-Turn Sampler", JMLR 15 (2014), with
# multinomial sampling and the generalised criterion of M. Betancourt, "A Conceptual Introduction to Hamiltonian Monte
# Carlo" (2017, arXiv 1701.02434), and the checks across subtrees that Stan has since 2.21. A subtree is built leaf by
# leaf: D. Phan, N. Pradhan and M. Jankowiak (2019, arXiv 1912.11554) and J. Lao and J. V. Dillon (2020, arXiv
# 2002.01184) tell which of the momenta seen so far the criterion needs.
#
# Momenta are those of standardised parameters: with the metric's inverse Sigma = L L' positions move by L p, the force
# is L' times the gradient, and the momenta are standard normal. So what is in here does not know the metric.

# `at(q)` gives list(value = , gradient = ) of the logarithm of the density; `scale(p)` is L p, and `force(g)` is L' g.

max_energy_error <- 1000

# A loop that carries a named list of values. Each value that a loop carries is an operation of its own at the end of a
# turn, and one that costs more than what it computes where there are few elements. So scalars of one dtype are carried
# as one vector, and short vectors of one kind as one matrix.
state_loop <- function(init, test, turn) {
  types <- lapply(init, type_of)
  groups <- carry_groups(types)
  ungrouped(packed_loop(grouped(init, groups), types, groups, test, turn), types, groups)
}

# ... that is packed before and behind
packed_loop <- function(leaves, types, groups, test, turn) {
  body <- function(leaves) {
    new <- turn(ungrouped(leaves, types, groups))[names(types)]
    check_carried(new, types, "xla_sample", "turn", NULL)
    grouped(new, groups)
  }
  while_loop(function(leaves) list(test(ungrouped(leaves, types, groups))), body, leaves)
}

# Longer vectors are better left alone: where they are put together, each element asks which vector it belongs to.
most_packed <- 16L

# The names of the values that are carried together
carry_groups <- function(types) {
  alike <- vapply(types, function(type) {
    if (!length(type@shape) || (length(type@shape) == 1L && length(type) <= most_packed)) type_text(type) else ""
  }, "")
  alone <- !nzchar(alike)
  alike[alone] <- names(types)[alone]
  unname(split(names(types), factor(alike, unique(alike))))
}

grouped <- function(values, groups) {
  lapply(groups, function(names) {
    rows <- unname(values[names])
    if (length(rows) == 1L) return(rows[[1L]])
    joined(lapply(rows, function(x) reshaped(x, c(1L, x@shape))))
  })
}

ungrouped <- function(leaves, types, groups) {
  values <- Map(function(x, names) {
    if (length(names) == 1L) return(stats::setNames(list(x), names))
    rest <- x@shape[-1L]
    stats::setNames(lapply(seq_along(names), function(i) {
      reshaped(sliced(x, c(i, rep(1L, length(rest))), c(i, rest)), rest)
    }), names)
  }, leaves, groups)
  do.call(c, unname(values))[names(types)]
}

i32 <- function(x) constant(x, "i32", integer(), "number")

f64 <- function(x) constant(x, "f64", integer(), "number")

flag <- function(x) constant(x, "pred", integer(), "flag")

as_f64 <- function(x) if (x@dtype == "f64") x else converted(x, "f64")

like_vector <- function(x, vector) if (x@dtype == vector@dtype) x else converted(x, vector@dtype)

# log(exp(a) + exp(b)), also of -Inf
log_sum <- function(a, b) {
  larger <- hlo_max(a, b)
  hlo_select(larger == -Inf, larger, larger + log(1 + exp(hlo_min(a, b) - larger)))
}

# Of two lists with the same names, value by value
selected_all <- function(pred, x, y) Map(function(x, y) hlo_select(pred, x, y), x, y[names(x)])

# Whether a trajectory has made no U-turn: the momenta at both ends point along `left + right`, the sum of all momenta,
# and the same for the left half with the next state, and for the right half with the state before. `begin` and `end`
# are momenta at the ends, `before` and `after` those to both sides of the middle. Of short vectors the six products
# are one operation.
goes_on <- function(begin, before, after, end, left, right) {
  whole <- left + right
  first <- left + after
  second <- right + before
  along <- list(begin, end, begin, after, before, end)
  sums <- list(whole, whole, first, first, second, second)
  if (length(begin) > most_packed) {
    return(Reduce(`&`, Map(function(x, y) hlo_sum(x * y) > 0, along, sums)))
  }
  rows <- function(x) joined(lapply(x, function(x) reshaped(x, c(1L, length(x)))))
  reduced("reduce_min", reduced("reduce_add", rows(along) * rows(sums), 2L, "sum"), 1L, "min") > 0
}

# How many of the last bits of n are set: so many subtrees with two halves end with leaf n, counted from 0.
ending_subtrees <- function(n) {
  next_leaf <- n + 1L
  bind("popcnt", list(both_bits(next_leaf, -next_leaf) - 1L), "i32", integer())
}

both_bits <- function(x, y) bind("and", list(x, y), x@dtype, x@shape)

is_odd <- function(n) both_bits(n, i32(1L)) == 1L

# The first leaf of the subtrees that begin with an even leaf n is kept in this row, until no subtree needs it.
row_of_leaf <- function(n) bind("popcnt", list(bits_right(n, 1)), "i32", integer())

set_row <- function(x, row, value) {
  dynamic_updated(x, reshaped(value, c(1L, value@shape)), c(list(row), rep(list(i32(0L)), length(value@shape))))
}

get_row <- function(x, row) {
  rest <- x@shape[-1L]
  reshaped(dynamic_sliced(x, c(list(row), rep(list(i32(0L)), length(rest))), c(1L, rest)), rest)
}

two_rows <- function(x, y) joined(list(reshaped(x, c(1L, x@shape)), reshaped(y, c(1L, y@shape))))

# The momenta that checks of subtrees need. `begin` has the first momentum of a subtree and the sum of the momenta that
# come before it in the doubling, `middle` the last momentum of the left half of a subtree of 2, 4, 8... leaves. The
# last row of `begin` takes what nobody needs.
new_rows <- function(size, dtype, max_treedepth) {
  depth <- max(max_treedepth, 2L)
  zero <- function(shape) constant(0, dtype, shape, "rows")
  list(begin = zero(c(depth + 1L, 2L, size)), middle = zero(c(depth + 1L, size)))
}

# Leaf n's momentum for later checks. After the last one, which `turned`, nobody needs it: that the rows wait for this
# answer lets XLA write them where they are.
put_rows <- function(rows, n, momentum, sum_before, turned) {
  none <- i32(rows$begin@shape[[1L]] - 1L)
  list(
    begin = set_row(rows$begin, hlo_select(is_odd(n) | turned, none, row_of_leaf(n)), two_rows(momentum, sum_before)),
    middle = set_row(rows$middle, hlo_select(turned, none, ending_subtrees(n)), momentum)
  )
}

# Whether one of the subtrees that end with leaf n makes a U-turn. `sum` is that of all momenta up to this leaf.
turns_in_subtree <- function(rows, n, momentum, sum) {
  last <- row_of_leaf(n)
  state <- list(level = i32(0L), after = two_rows(momentum, sum - momentum), turned = flag(FALSE))
  levels <- ending_subtrees(n)
  state_loop(state, function(s) (s$level < levels) & !s$turned, function(s) {
    begin <- get_row(rows$begin, last - s$level)
    left <- row_of(s$after, 2L) - row_of(begin, 2L)
    straight <- goes_on(row_of(begin, 1L), get_row(rows$middle, s$level), row_of(s$after, 1L), momentum, left,
      sum - row_of(s$after, 2L)
    )
    list(level = s$level + 1L, after = begin, turned = !straight)
  })$turned
}

# A leapfrog step of the signed size `step` from the point `from`, list(q = , p = , force = )
leapfrog <- function(system, from, step) {
  step <- like_vector(step, from$p)
  half <- from$p + (step / 2) * from$force
  q <- from$q + step * system$scale(half)
  here <- system$at(q)
  pull <- system$force(here$gradient)
  list(q = q, p = half + (step / 2) * pull, force = pull, gradient = here$gradient, value = as_f64(here$value))
}

kinetic <- function(p) as_f64(hlo_sum(p * p)) / 2

# A doubling: 2^depth leaves from the point `from`, with steps of the signed size `step`, until one diverges or a
# subtree makes a U-turn. `energy` is that at the beginning of the trajectory. The proposal, `chosen`, is one of the
# leaves, each with the probability of its weight exp(energy - H).
subtree <- function(system, from, depth, energy, step, seed, rows) {
  q <- from$q
  zero <- filled(0, q)
  init <- c(
    list(n = i32(0L), q = q, p = from$p, force = from$force),
    list(chosen = q, chosen_gradient = zero, chosen_value = f64(0), chosen_energy = f64(0)),
    list(sum = zero, weight = f64(-Inf), accept = f64(0), diverged = flag(FALSE), turned = flag(FALSE)),
    list(seed = seed), rows
  )
  size <- bind("shift_left", list(i32(1L), depth), "i32", integer())
  state_loop(init, function(s) (s$n < size) & !(s$diverged | s$turned), function(s) {
    to <- leapfrog(system, s, step)
    here <- kinetic(to$p) - to$value
    error <- here - energy
    # Of NaN, too
    error <- hlo_select(error < Inf, error, f64(Inf))
    weight <- log_sum(s$weight, -error)
    seed <- next_seed(s$seed)
    u <- unit_number(mixed(seed))
    take <- (s$n == 0L) | (u < exp(-error - weight))
    keep <- function(new, old) hlo_select(take, new, old)
    sum <- s$sum + to$p
    rows <- s[c("begin", "middle")]
    turned <- turns_in_subtree(rows, s$n, to$p, sum)
    rows <- put_rows(rows, s$n, to$p, s$sum, turned)
    c(rows, list(
      n = s$n + 1L, q = to$q, p = to$p, force = to$force,
      chosen = keep(to$q, s$chosen), chosen_gradient = keep(to$gradient, s$chosen_gradient),
      chosen_value = keep(to$value, s$chosen_value), chosen_energy = keep(here, s$chosen_energy),
      sum = sum, weight = weight, accept = s$accept + exp(hlo_min(-error, f64(0))),
      diverged = error > max_energy_error, turned = turned, seed = seed
    ))
  })
}
