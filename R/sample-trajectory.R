# The trajectory of a transition: doublings until it turns, diverges or is as deep as it may be.

# From the point `from`, list(q = , value = , gradient = ), with the momentum `p`. `limit` is the greatest depth. With
# `blind`, of a single leaf, the proposal is taken whatever it weighs. What is carried has both ends, of which `_here`
# is the one that moved last, in the direction `sign`.
trajectory <- function(system, from, p, step, seed, rows, limit, blind) {
  force <- system$force(from$gradient)
  ends <- function(name) stats::setNames(list(from$q, p, force), paste0(c("q", "p", "force"), name))
  energy <- kinetic(p) - from$value
  init <- c(ends("_here"), ends("_there"), list(
    sign = f64(1), depth = i32(0L), leaves = i32(0L),
    q = from$q, value = from$value, gradient = from$gradient, energy = energy,
    sum = p, weight = f64(0), last_weight = f64(0), accept = f64(0), diverged = flag(FALSE), ended = flag(FALSE),
    seed = seed
  ), rows)
  end_of <- function(s, name) {
    stats::setNames(s[paste0(c("q", "p", "force"), name)], c("q", "p", "force"))
  }
  state_loop(init, function(s) !s$ended, function(s) {
    seed <- next_seed(s$seed)
    bits <- mixed(seed)
    sign <- direction_of(bits)
    other <- sign != s$sign
    near <- selected_all(other, end_of(s, "_there"), end_of(s, "_here"))
    far <- selected_all(other, end_of(s, "_here"), end_of(s, "_there"))
    new <- subtree(system, near, s$depth, energy, step * sign, seed, s[names(rows)])
    valid <- !(new$diverged | new$turned)
    take <- blind | (valid & (unit_number(bits) < exp(new$weight - s$weight)))
    keep <- function(new, old) hlo_select(take, new, old)
    straight <- goes_on(far$p, near$p, row_of(row_of(new$begin, 1L), 1L), new$p, s$sum, new$sum)
    depth <- s$depth + hlo_select(valid, i32(1L), i32(0L))
    c(
      new[names(rows)],
      stats::setNames(new[c("q", "p", "force")], c("q_here", "p_here", "force_here")),
      stats::setNames(far, c("q_there", "p_there", "force_there")),
      list(
        sign = sign, depth = depth, leaves = s$leaves + new$n,
        q = keep(new$chosen, s$q), value = keep(new$chosen_value, s$value),
        gradient = keep(new$chosen_gradient, s$gradient), energy = keep(new$chosen_energy, s$energy),
        sum = s$sum + new$sum, weight = log_sum(s$weight, new$weight), last_weight = new$weight,
        accept = s$accept + new$accept, diverged = new$diverged, ended = !(valid & straight) | (depth >= limit),
        seed = new$seed
      )
    )
  })
}
