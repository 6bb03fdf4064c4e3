# Long loops of R's that are traced ahead: values beside R's, derivatives beside those turn by turn, and how many nodes
# tracing made, which tells whether turns were left out.

n <- 16L
set.seed(11)
y <- rnorm(n)
Y <- matrix(rnorm(3L * n), n)
missing <- replace(y, c(5L, 11L, 12L), NA)
order <- sample(n)
local_normal <- function(x) -x^2 / 2
scaled <- function(x, m, s = abs(m) + 1, log = TRUE) {
  z <- (x - m) / s
  if (log) return(local_normal(z) - log(s)) else 0
}
late_default <- function(x, d = x * 2) {
  x <- x + 1
  x * d
}
dotted <- function(v, b) sum(v * b)

nodes_of_trace <- function(f, ...) {
  state <- get("trace_state", asNamespace("xlaffi"))
  before <- state$node_count
  xla_program(f, ...)
  state$node_count - before
}

# Name, function, and whether turns are left out
ahead <- list(
  garch = function(p) {
    h <- numeric(n)
    h[1] <- 0.7
    for (i in 2:n) h[i] <- exp(p[1]) + plogis(p[2]) * y[i - 1]^2 + plogis(p[3]) * h[i - 1]
    -sum(dnorm(y, 0, sqrt(h), log = TRUE))
  },
  kalman = function(p) {
    a <- 0
    v <- 10
    ll <- 0
    level <- numeric(length(y))
    for (t in seq_along(y)) {
      f <- v + exp(p[1])
      e <- y[t] - a
      ll <- ll - dnorm(e, 0, sqrt(f), log = TRUE)
      K <- v / f
      a <- a + K * e
      v <- v * (1 - K) + exp(p[2])
      level[t] <- a
    }
    ll + sum(level^2) / 50 + e + K
  },
  sums = function(p) {
    s <- p[1]
    r <- p[1:2]
    for (i in 1:n) {
      mu <- p[1] + p[2] * y[i]
      s <- s - dnorm(Y[i, 2], mu, exp(p[3]), log = TRUE) + mu
      r <- r + c(mu, i * p[3])
    }
    s + sum(r * 1:2) + mu
  },
  lags = function(p) {
    x <- rep(p[1], n + 2L)
    z <- numeric(n + 2L)
    for (i in n:1) {
      x[i] <- tanh(p[2] * x[i + 1] + p[3] * x[i + 2] + y[i])
      z[i] <- x[i] * x[i + 1]
    }
    sum(x * cos(seq_along(x))) + sum(z)
  },
  rows = function(p) {
    X <- matrix(p[1], n, 3)
    Z <- matrix(0, 2, n)
    for (i in 2:n) {
      X[i, ] <- tanh(X[i - 1, ] * p + Y[i, ])
      Z[, i] <- X[i, 1:2] * p[2]
    }
    sum(X * Y) + sum(Z[1, ] * y)
  },
  places = function(p) {
    u <- p[1] * y
    x <- numeric(n)
    for (i in 1:(n - 2)) {
      j <- order[i]
      x[j] <- sin(u[j] + u[i + 2] * p[2]) + sum(u[i:(i + 2)]) * p[3] + Y[i, j %% 3 + 1]
    }
    sum(x * y)
  },
  inner = function(p) {
    state <- list(v = p, k = 2)
    a <- p
    s <- 0
    for (i in 1:n) {
      for (m in 1:3) a[m] <- tanh(a[m] + Y[i, m] * p[m])
      s <- s + (if (i > 0) a[1] else p[1]) * y[i]
    }
    s + sum(a)
  },
  counters = function(p) {
    k <- 1
    seen <- integer(3)
    a <- p[1]
    for (i in 1:n) {
      k <- (k * 3 + i) %% 5
      seen[k %% 3 + 1] <- seen[k %% 3 + 1] + 1L
      a <- tanh(a + k * p[2] / 5)
    }
    a + k + sum(seen * 1:3)
  },
  made = function(p) {
    x <- numeric(n)
    s <- 0
    for (i in 2:n) {
      x <- y * p[1]
      x[i] <- x[i - 1] * p[2] + sum(x)
      w <- numeric(3)
      w[2] <- tanh(x[i] + x[i - 1])
      z <- w[2] * p[3]
      s <- s + z * w[i %% 3 + 1]
    }
    s + sum(x * y) + sum(w) + z
  },
  last = function(p) {
    a <- p[1]
    b <- 0
    for (i in 1:n) {
      a <- tanh(a * p[2] + y[i])
      if (i == n) b <- a
    }
    a + 2 * b
  },
  states = function(p) {
    P <- matrix(c(0.9, 0.2, 0.1, 0.8), 2)
    a <- c(0.5, 0.5)
    l <- 0
    for (t in seq_along(y)) {
      a <- as.vector(a %*% P) * dnorm(y[t], p[1:2], exp(p[3]))
      l <- l + log(sum(a))
      a <- a / sum(a)
    }
    l + a[1]
  },
  groups = function(p) {
    g <- order %% 3 + 1 + 0 * p[1]
    u <- c(p[1], p[2], p[3])
    X <- cbind(one = y, other = p[1] * y)
    known <- c(0.5, 2, 4)
    count <- numeric(3) + 0 * p[1]
    s <- 0
    for (i in 1:n) {
      m <- u[g[i]] * sum(X[i, 2]) + sum(X[i, ] * Y[i, 1:2]) + known[g[i]] * Y[i, 3]
      s <- s + m^2
      count[g[i]] <- count[g[i]] + m
    }
    s + sum(count * 1:3)
  },
  called = function(p) {
    s <- p[1]
    X <- cbind(one = y, other = p[1] * y)
    half <- function(i) (y[i] - p[2]) / scale
    tail <- function(x) tanh(x + s)
    r <- p[2]
    for (i in 1:n) {
      scale <- 1 + (i %% 2)
      s <- s + sum(scaled(y[i], c(p[3], half(i)))) / 9 + dotted(X[i, ], p[1:2])
      r <- r + tail(half(i) * 0.1)
    }
    s + r
  }
)
in_turn <- list(
  kinds = function(p) {
    a <- p[1]
    for (i in 1:n) if (is.na(missing[i])) a <- a * p[2] else a <- tanh(a + missing[i])
    a
  },
  late = function(p) {
    s <- 0
    for (i in 1:n) s <- s + late_default(p[1] * y[i])
    s
  },
  recursive = function(p) {
    down <- function(k, x) if (k > 0) down(k - 1, tanh(x)) else x
    s <- 0
    for (i in 1:n) s <- s + down(20, p[1] * y[i])
    s
  },
  again = function(p) {
    x <- numeric(n)
    for (i in 1:n) x[i %/% 2 + 1] <- sin(x[i %/% 2 + 1] + p[1] * y[i])
    sum(x * y)
  },
  own = function(p) {
    dnorm <- function(x, ...) -x^2 * p[2]
    s <- 0
    for (i in 1:n) s <- s + dnorm(y[i] * p[1], 0, 1)
    s + local_normal(p[1])
  },
  stops = function(p) {
    a <- p[1]
    z <- 0
    for (i in 1:n) {
      if (i > 14) break
      if (i > 13) next
      a <- tanh(a + y[i] * p[2] + z / 9)
      z <- a
      z <- i
    }
    a + i + z
  },
  powers = function(p) {
    a <- p[1]
    for (i in 1:n) a <- tanh(a^2 + p[2]^(i %% 3))
    a
  },
  beyond = function(p) {
    s <- 0
    for (i in 1:n) s <- sum(c(s, p[i %% 4], y[i] * p[2]))
    s
  }
)

test_that("values are R's, derivatives those turn by turn, and turns are left out", {
  local_least_ahead(8L)
  p <- c(0.3, 0.7, -0.4)
  functions <- c(one_in(2L, ahead), one_in(2L, in_turn))
  values <- function(p) lapply(functions, function(f) f(p))
  expect_equal(xla_jit(values)(p), values(p), tolerance = 1e-12)
  part <- vapply(one_in(4L, ahead), function(f) nodes_of_trace(f, p) / turn_by_turn(nodes_of_trace(f, p)), 0)
  expect_identical(names(part)[part > 0.8], character())
  some <- one_in(8L, ahead[c("garch", "kalman", "sums", "lags", "groups", "called", "rows", "places")])
  derivatives <- function(p) {
    lapply(some, function(f) list(xla_hessian(f)(p), xla_vmap(xla_grad(f, value = TRUE))(rbind(p, p * 1.1))))
  }
  expect_equal(xla_jit(derivatives)(p), turn_by_turn(xla_jit(function(p) derivatives(p))(p)), tolerance = 1e-10)
})

test_that("dtypes, data and lists of a program are what they are turn by turn", {
  local_least_ahead(8L)
  f <- function(q, counts, x, parts) {
    s <- q[1] * 0
    for (i in seq_along(counts)) {
      s <- s - dpois(counts[i], exp(q[1] + q[2] * x[i]), log = TRUE) + parts$u[i] * parts$v[[2]][1]
    }
    s
  }
  counts <- rpois(n, 2)
  parts <- list(u = y, v = list(1, c(0.3, 2)))
  expect_equal(xla_jit(f)(c(0.2, 0.1), counts, y, parts), f(c(0.2, 0.1), counts, y, parts), tolerance = 1e-12)
  single <- do.call(xla_jit(f), tree_map(list(c(0.2, 0.1), counts, y, parts), pjrt_buffer, "f32"))
  expect_equal(as.vector(as_array(single)), f(c(0.2, 0.1), counts, y, parts), tolerance = 1e-5)
  g <- function(q) {
    state <- list(a = q[1], b = list(q[2]))
    for (i in 1:n) state <- list(a = tanh(state$a + y[i]), b = list(state$b[[1]] * 0.5))
    state
  }
  expect_equal(xla_jit(g)(c(0.2, 0.1)), g(c(0.2, 0.1)), tolerance = 1e-13)
})

test_that("groups, data with names and densities of the package are no reason to write out turns", {
  local_least_ahead(8L)
  f <- function(p, x, group, counts) {
    s <- 0
    for (i in seq_along(counts)) {
      m <- exp(sum(x[i, ] * p$beta) + p$u[group[i]])
      s <- s - hlo_dgenpois(counts[i], m, 1 + exp(p$u[3]), log = TRUE) - dpois(counts[i], m, log = TRUE)
    }
    s
  }
  p <- list(beta = c(one = 0.2, x = -0.1), u = c(0.1, -0.3, 0.2))
  x <- cbind(one = 1, x = y)
  group <- order %% 3L + 1L
  counts <- c(a = 1, b = 0, rpois(n - 2L, 2))
  expect_lt(nodes_of_trace(f, p, x, group, counts) / turn_by_turn(nodes_of_trace(f, p, x, group, counts)), 0.5)
  skip_unless_all()
  value <- xla_grad(f, value = TRUE)
  expect_equal(xla_jit(value)(p, x, group, counts), turn_by_turn(xla_jit(value)(p, x, group, counts)))
})

test_that("what a turn cannot do is R's error, and its warnings come", {
  local_least_ahead(8L)
  f <- function(q) {
    a <- q
    for (i in 1:n) a <- tanh(a + y[1:10][[i]])
    a
  }
  expect_error(xla_jit(f)(1), "subscript out of bounds")
  g <- function(q) {
    a <- q
    for (i in 1:n) a <- tanh(a + sum(1:(if (i == 9) 3 else 4) + 1:2) / 99)
    a
  }
  expect_warning(expect_equal(xla_jit(g)(1), suppressWarnings(g(1))), "longer object length")
})
