# The sampler's parts beside recursions and differences

# The numbers of the draws with a flag
flagged <- function(flags, bit) which(bitwAnd(flags, bit) > 0)

test_that("windows of the warm-up are Stan's", {
  # As Stan's windowed_adaptation goes from draw to draw, counted from 0
  stan <- function(warmup, first = 75, last = 50, width = 25) {
    inside <- ends <- integer()
    if (warmup < 20) {
      return(list(inside = inside, ends = ends))
    }
    if (first + width + last > warmup) {
      first <- trunc(0.15 * warmup)
      last <- trunc(0.1 * warmup)
      width <- warmup - first - last
    }
    end <- first + width - 1
    for (i in seq_len(warmup) - 1L) {
      if (i >= first && i < warmup - last) inside <- c(inside, i + 1L)
      if (i == end) {
        ends <- c(ends, i + 1L)
        if (end != warmup - last - 1) {
          width <- 2 * width
          end <- i + width
          if (end != warmup - last - 1 && end + 2 * width >= warmup - last) end <- warmup - last - 1
        }
      }
    }
    list(inside = inside, ends = ends)
  }
  for (warmup in one_in(7L, c(0:150, 200:260, 350, 500, 999:1001, 4000))) {
    flags <- warmup_flags(warmup)
    known <- stan(warmup)
    expect_equal(list(inside = flagged(flags, flag_collect), ends = flagged(flags, flag_window)), known)
    expect_equal(flagged(flags, flag_final), if (warmup) warmup else integer())
    expect_identical(flagged(flags, flag_step), seq_len(warmup))
  }
  expect_equal(flagged(warmup_flags(1000), flag_window), c(100, 150, 250, 450, 950))
  # Where Stan has a window of a single draw there is one window.
  expect_equal(flagged(warmup_flags(151), flag_window), 101)
  expect_equal(flagged(draw_flags(7, 3, 4), flag_keep), c(2, 5))
})

# Whether momenta, a row each, make a U-turn, by Stan's recursion over halves with its three checks
stan_turns <- function(p) {
  count <- nrow(p)
  if (count == 1L) {
    return(FALSE)
  }
  left <- p[seq_len(count / 2), , drop = FALSE]
  right <- p[count / 2 + seq_len(count / 2), , drop = FALSE]
  if (stan_turns(left) || stan_turns(right)) {
    return(TRUE)
  }
  straight <- function(begin, end, sum) sum(begin * sum) > 0 && sum(end * sum) > 0
  before <- left[count / 2, ]
  after <- right[1, ]
  !(straight(p[1, ], p[count, ], colSums(p)) && straight(p[1, ], after, colSums(left) + after) &&
    straight(before, p[count, ], colSums(right) + before))
}

test_that("subtrees without recursion turn where Stan's do", {
  skip_without_plugin()
  depth <- 6L
  walks <- function(size) {
    xla_jit(function(p) {
      own <- list(n = i32(0L), sum = filled(0, row_of(p, 1L)), turned = flag(FALSE))
      init <- c(own, new_rows(size, "f64", depth + 1L))
      out <- state_loop(init, function(s) (s$n < 2L^depth) & !s$turned, function(s) {
        here <- get_row(p, s$n)
        sum <- s$sum + here
        rows <- s[c("begin", "middle")]
        turned <- turns_in_subtree(rows, s$n, here, sum)
        c(put_rows(rows, s$n, here, s$sum, turned), list(n = s$n + 1L, sum = sum, turned = turned))
      })
      list(out$n, out$turned)
    })
  }
  set.seed(2)
  lengths <- list()
  # The longer vectors are carried in another way than the short ones.
  for (size in c(3L, if (all_run()) c(1L, 20L))) {
    walk <- walks(size)
    lengths[[size]] <- vapply(1:40, function(i) {
      # Momenta that turn slowly, later or sooner
      angle <- cumsum(stats::runif(2^depth, 0, i / 60))
      p <- outer(cos(angle), stats::rnorm(size)) + outer(sin(angle), stats::rnorm(size))
      found <- walk(p)
      known <- 2^depth
      turned <- FALSE
      for (n in seq(2, 2^depth, 2)) {
        ends <- 2^seq_len(depth)
        ends <- ends[n %% ends == 0]
        if (any(vapply(ends, function(k) stan_turns(p[n - k + seq_len(k), , drop = FALSE]), NA))) {
          known <- n
          turned <- TRUE
          break
        }
      }
      expect_equal(found, list(known, turned))
      known
    }, 0)
  }
  skip_unless_all()
  # All lengths come up.
  expect_true(all(range(unlist(lengths)) == c(2, 64)), length(unique(unlist(lengths))) > 10)
})

test_that("leapfrog steps are reversible and keep the energy to second order, whatever the metric", {
  skip_without_plugin()
  size <- 3L
  density <- function(q) -sum(q^4) / 4 - sum(q[1:2] * q[2:3]) / 2
  for (metric in c("diag", "dense")) {
    path <- xla_jit(function(q, p, step, scale) {
      system <- list(at = density_and_gradient(density))
      system$scale <- function(p) metrics[[metric]]$scale(list(scale = scale), p)
      system$force <- function(g) metrics[[metric]]$force(list(scale = scale), g)
      first <- system$at(q)
      from <- list(q = q, p = p, force = system$force(first$gradient), value = first$value)
      energy <- function(s) kinetic(s$p) - s$value
      there <- leapfrog(system, from, step)
      back <- leapfrog(system, there, -step)
      list(q = there$q, p = there$p, error = energy(there) - energy(from), back_q = back$q, back_p = back$p)
    })
    scale <- if (metric == "diag") c(0.5, 1, 2) else chol(crossprod(matrix(c(1, 0.2, 0, 0.3, 2, 0.1, 0.5, 0, 1), 3)))
    q <- c(0.3, -0.5, 1)
    p <- c(1, -0.4, 0.2)
    at <- path(q, p, 0.1, scale)
    expect_equal(at[c("back_q", "back_p")], list(back_q = q, back_p = p))
    expect_equal(path(q, p, 0.01, scale)$error / path(q, p, 0.005, scale)$error, 8, tolerance = 0.05)
    # By hand: positions move by L p, and the force is L' times the gradient.
    gradient <- function(q) -q^3 - c(q[2], q[1] + q[3], q[2]) / 2
    l <- if (metric == "diag") diag(scale) else t(scale)
    half_p <- p + 0.05 * drop(t(l) %*% gradient(q))
    there <- q + 0.1 * drop(l %*% half_p)
    expect_equal(at$q, there)
    expect_equal(at$p, half_p + 0.05 * drop(t(l) %*% gradient(there)))
  }
})

test_that("moments of a window and dual averaging are those of their formulas", {
  skip_without_plugin()
  x <- matrix(c(0.3, -1, 2, 0.5, 1.5, 0.1, -0.7, 0.4), 4)
  made <- function(name) {
    metric <- metrics[[name]]
    xla_jit(function(x, scale) {
      s <- list(scale = scale, seen = f64(0), mean = filled(0, row_of(x, 1L)), moment = filled(0, scale))
      for (i in 1:4) s <- collected(metric, s, row_of(x, i))
      new <- renewed(metric, s)
      list(new$scale, new$seen, new$mean, new$moment)
    })
  }
  shrunk <- 4 / 9 * stats::cov(x) + 5 / 9 * 1e-3 * diag(2)
  diagonal <- made("diag")(x, c(1, 1))
  expect_equal(diagonal, list(sqrt(diag(shrunk)), 0, c(0, 0), c(0, 0)))
  dense <- made("dense")(x, diag(2))
  expect_equal(crossprod(dense[[1L]]), shrunk)
  steps <- xla_jit(function(accept) {
    s <- new_averaging(f64(0.5))
    for (i in 1:3) s <- averaged(s, reshaped(sliced(accept, i, i), integer()), f64(0.8))
    list(s$step, s$x_bar)
  })(c(0.9, 0.2, 0.7))
  s_bar <- x_bar <- 0
  for (m in 1:3) {
    s_bar <- (1 - 1 / (m + 10)) * s_bar + (0.8 - c(0.9, 0.2, 0.7)[[m]]) / (m + 10)
    x <- log(5) - sqrt(m) / 0.05 * s_bar
    x_bar <- m^-0.75 * x + (1 - m^-0.75) * x_bar
  }
  expect_equal(steps, list(exp(x), x_bar))
})
