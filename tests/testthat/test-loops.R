# Loops of R's, found in the graph: how many loops a program has, values beside R's, and derivatives and batches beside
# those of the same program turn by turn.

lines_in <- function(f, ...) length(strsplit(xla_program(f, ...), "\n")[[1]])

# Hessian, gradients of a batch and sparse Hessian of `f`, beside those of the same program turn by turn
expect_as_turn_by_turn <- function(f, p, tolerance, label) {
  all <- function(p) {
    list(hessian = xla_hessian(f)(p), value = xla_vmap(xla_grad(f, value = TRUE))(rbind(p, p * 1.1)))
  }
  found <- xla_jit(all)(p)
  expect_equal(found, turn_by_turn(xla_jit(function(p) all(p))(p)), tolerance = tolerance, label = label)
  sparse <- function(p) as.matrix(xla_hessian(f, sparse = TRUE)(p))
  expect_equal(sparse(p), unname(found$hessian), tolerance = 1e-12, ignore_attr = TRUE, label = label)
}

# Values of functions beside R's, and Hessians of `some` of them beside those turn by turn
expect_values_and_hessians <- function(functions, some, p, tolerance) {
  values <- function(p) lapply(functions, function(f) f(p))
  expect_equal(xla_jit(values)(p), values(p), tolerance = 1e-13)
  if (!length(some)) {
    return(invisible())
  }
  hessians <- function(p) lapply(some, function(f) xla_hessian(f)(p))
  expect_equal(xla_jit(hessians)(p), turn_by_turn(xla_jit(function(p) hessians(p))(p)), tolerance = tolerance)
}

n <- 12L
set.seed(7)
y <- rnorm(n)
Y <- matrix(rnorm(3L * n), n)
order <- sample(n)

# Name, function, argument, and how many loops its program has
cases <- list(
  garch = list(function(p) {
    h <- numeric(n)
    h[1] <- 0.7
    for (i in 2:n) h[i] <- exp(p[1]) + plogis(p[2]) * y[i - 1]^2 + plogis(p[3]) * h[i - 1]
    -sum(dnorm(y, 0, sqrt(h), log = TRUE))
  }, c(-2, -1, 0.5), 1),
  kalman = list(function(p) {
    G <- matrix(c(1, 0, p[1], p[2]), 2)
    P <- diag(2)
    a <- c(0, p[3])
    ll <- 0
    for (t in 1:n) {
      a <- G %*% a
      P <- G %*% P %*% t(G) + diag(2) * 0.1
      v <- y[t] - a[1]
      S <- P[1, 1] + exp(p[3])
      K <- P[, 1] / S
      a <- a + K * v
      P <- P - outer(K, P[1, ])
      ll <- ll - 0.5 * log(S) - 0.5 * v^2 / S
    }
    ll
  }, c(0.1, 0.3, 0.2), 1),
  lags = list(function(p) {
    x <- rep(p[1], n + 8L)
    for (i in 4:(n + 8)) x[i] <- 0.5 * x[i - 3] + sin(x[i - 1]) * p[2] + sin(i) * x[i - 2] * exp(p[1] * i / 9)
    sum(x^2)
  }, c(0.1, 0.3), 1),
  backwards = list(function(p) {
    b <- numeric(n)
    b[n] <- p[1]
    for (i in (n - 1):1) b[i] <- tanh(b[i + 1] * p[2]) + p[3] * y[i] * exp(b[i + 1])
    sum(b * y)
  }, c(0.1, 0.3, 0.2), 1),
  rows = list(function(p) {
    A <- matrix(c(p[1], p[2], 0.2, 0.3, p[3], 0.1, 0, 0.2, 0.4), 3)
    X <- matrix(0, n, 3)
    X[1, ] <- Y[1, ]
    for (i in 2:n) X[i, ] <- A %*% X[i - 1, ] + tanh(Y[i, ]) * X[i - 1, 2]
    sum(X^3)
  }, c(0.1, 0.3, 0.2), 1),
  diagonal = list(function(u) {
    M <- outer(u, u)
    s <- 0
    for (i in 1:n) s <- s * 0.5 + sin(M[i, i]) * M[i, 2] * cos(s)
    s
  }, y, 1),
  columns = list(function(u) {
    M <- outer(u, u)
    s <- u
    for (i in 1:n) s <- s * 0.5 + sin(M[, i]) * s[1]
    sum(s)
  }, y, 1),
  windows = list(function(u) {
    s <- 0
    for (i in 1:(n - 2)) s <- s * 0.5 + sum(sin(u[i:(i + 2)]) * c(1, 2, 3)) * cos(s)
    s
  }, y, 1),
  shuffled = list(function(u) {
    s <- 1
    x <- numeric(n)
    for (i in 1:n) {
      s <- s * 0.9 + sin(u[order[i]]) * s
      x[order[n + 1L - i]] <- s * 2
    }
    sum(x * y)
  }, y, 1),
  alternating = list(function(p) {
    s <- p[1]
    for (i in 1:(2 * n)) {
      if (i %% 2 == 0) s <- sin(s) * p[2] + y[i %/% 2] else s <- s * p[3] + cos(s) / (1 + s^2)
    }
    s
  }, c(0.1, 0.3, 0.2), 1),
  interrupted = list(function(p) {
    s <- p[1]
    for (i in 1:(2 * n)) {
      s <- s * cos(s) + p[1] / (2 + sin(s)^2)
      if (i == 11) s <- s * 2
    }
    s
  }, c(0.1, 0.3), 2),
  in_the_middle = list(function(p) {
    s <- p[1]
    all <- list()
    for (i in 1:n) all[[i]] <- s <- sin(s) * p[2] + y[i] * exp(s) / (1 + s^2)
    all[[4]] * all[[9]] + all[[n]]
  }, c(0.1, 0.3), 1),
  nested = list(function(p) {
    x <- c(p[1], p[2])
    for (i in 1:n) for (j in 1:2) x[j] <- sin(x[j]) + y[i] * p[3] * j
    sum(x)
  }, c(0.1, 0.3, 0.2), 1),
  overwritten = list(function(p) {
    x <- numeric(3)
    for (i in 1:n) {
      x[2] <- sin(x[2]) * p[1] + y[i]
      x[3] <- x[2] * x[3] + p[2] * cos(x[1])
      x[1] <- x[3] - 1
    }
    sum(x * c(1, 2, 3))
  }, c(0.1, 0.3), 1),
  complex = list(function(p) {
    z <- p[1] + 0i
    for (i in 1:n) z <- z^2 * 0.3 + exp(1i * p[2]) * y[i] * z
    Mod(z)^2
  }, c(0.1, 0.3), 1),
  integers = list(function(p) {
    k <- 1L
    s <- p[1]
    for (i in 1:n) {
      k <- (k * 3L) %% 7L
      s <- s * 0.5 + sin(p[1] + k) * i
    }
    s
  }, 0.1, 1),
  swapped = list(function(p) {
    a <- p[1]
    b <- p[2]
    for (i in 1:(2 * n)) {
      last <- a
      a <- sin(b) * 0.9 + 0.1
      b <- last * 0.5 + a * b
    }
    a * b
  }, c(0.1, 0.3), 1),
  the_same_in_all = list(function(p) {
    x <- numeric(n)
    s <- p[1]
    last <- 0
    for (i in 1:n) {
      a <- exp(p[2]) + sin(p[1])
      m <- solve(diag(2) * plogis(p[1]) + p[2])
      s <- s * sqrt(a) * 0.5 + y[i] * a + last + (m %*% c(s, 1))[2]
      last <- cos(p[2]) * 2
      x[i] <- a
    }
    s * a + sum(x * y) + last
  }, c(0.1, 0.3), 1),
  choices = list(function(p) {
    s <- p[1]
    for (i in 1:n) s <- ifelse(s > 0, s * p[2] + y[i], exp(s) - p[1] * y[i])
    s
  }, c(0.1, 0.3), 1),
  densities = list(function(p) {
    s <- 0
    m <- p[1]
    for (i in 1:n) {
      m <- m * 0.5 + p[2]
      s <- s + dgamma(abs(y[i]) + 0.1, 2, exp(m), log = TRUE)
    }
    s
  }, c(0.1, 0.3), 1),
  solves = list(function(p) {
    x <- c(1, p[2])
    for (i in 1:n) x <- solve(diag(2) * (2 + y[i]^2) + p[1], x) + p[1]
    sum(x)
  }, c(0.1, 0.3), 1),
  side_by_side = list(function(p) {
    x <- numeric(n)
    for (i in 1:n) x[i] <- sin(y[i] * p[1]) * exp(p[2] * i) + y[i]
    sum(x * y)
  }, c(0.1, 0.3), 0),
  applied = list(function(p) {
    x <- sapply(1:n, function(i) dnorm(y[i], p[1] * i, exp(p[2]), log = TRUE))
    sum(x * y)
  }, c(0.1, 0.3), 0)
)

test_that("turns of R's loops are one loop of the program, with R's values", {
  for (name in names(one_in(3, cases))) {
    f <- cases[[name]][[1]]
    p <- cases[[name]][[2]]
    expect_identical(loops_in(f, p), as.integer(cases[[name]][[3]]), label = name)
    expect_equal(xla_jit(f)(p), f(p), tolerance = 1e-13, label = name)
    if (cases[[name]][[3]] == 0) expect_lt(lines_in(f, p), turn_by_turn(lines_in(f, p)) / 2)
  }
})

test_that("loops have the derivatives and batches of the same program turn by turn", {
  several <- "shuffled"
  if (all_run()) {
    more <- c("the_same_in_all", "lags", "kalman", "windows", "columns", "overwritten", "complex", "densities")
    several <- c(several, "side_by_side", more)
  }
  for (name in several) expect_as_turn_by_turn(cases[[name]][[1]], cases[[name]][[2]], 1e-12, name)
})

test_that("what is the same in all turns is computed once", {
  body_of <- function(f, ...) {
    text <- xla_program(f, ...)
    regmatches(text, regexpr("(?s)do \\{.*?\n    \\}", text, perl = TRUE))
  }
  expect_no_match(body_of(cases$garch[[1]], cases$garch[[2]]), "exponential")
  expect_match(body_of(cases$interrupted[[1]], cases$interrupted[[2]]), "cosine")
  same <- cases$the_same_in_all
  expect_no_match(body_of(same[[1]], same[[2]]), "sine |exponential|sqrt|custom_call")
  # Nothing but such values
  many <- function(p) sum(sapply(1:40, function(i) exp(p) + sin(exp(p))))
  expect_equal(xla_jit(many)(0.3), many(0.3), tolerance = 1e-13)
  expect_equal(xla_grad(many)(0.3), 40 * exp(0.3) * (1 + cos(exp(0.3))), tolerance = 1e-12)
  skip_unless_all()
  # What an op calls has no derivatives of its own, and stays within it.
  rows <- matrix(sin(1:24), 8)
  normal <- function(p) {
    s <- 0
    for (i in 1:8) {
      sigma <- diag(3) * exp(p[1]) + p[2]
      s <- s * 0.9 + hlo_dmvnorm(rows[i, ], sigma = sigma, log = TRUE) + sum(solve(sigma, rows[i, ]) * svd(sigma)$d)
    }
    s
  }
  values <- xla_vmap(normal)(rbind(c(0.3, 0.2), c(0.3 + 1e-5, 0.2), c(0.3 - 1e-5, 0.2)))
  expect_equal(xla_grad(normal)(c(0.3, 0.2))[1], (values[2] - values[3]) / 2e-5, tolerance = 1e-8)
  expect_equal(xla_hessian(normal)(c(0.3, 0.2)), turn_by_turn(xla_hessian(normal)(c(0.3, 0.2))), tolerance = 1e-11)
})

# Name, function and argument: turns of several kinds, by what is known when the program is written
censored <- sin((1:40)^2) > 0.2
group <- 1 + floor(1.5 + 1.49 * cos((1:40)^2))
times <- abs(sin(1:40)) + 0.1
absent <- times > 0.9 | times < 0.2
rows <- matrix(cos(1:120), 40)
differing <- list(
  missing = function(p) {
    m <- s <- 0
    P <- 10
    for (i in seq_along(times)) {
      P <- P + exp(p[1])
      if (!absent[i]) {
        S <- P + exp(p[2])
        v <- times[i] - m
        s <- s + 0.5 * (log(S) + v^2 / S)
        m <- m + P / S * v
        P <- P - P^2 / S
      }
    }
    s
  },
  left_out = function(p) {
    s <- p[1]
    for (i in seq_along(times)) {
      if (group[i] == 1) next
      eta <- sum(rows[i, 1:2] * p) + s * 0.1
      if (censored[i]) s <- s * 0.9 + log1p(exp(eta)) else s <- s * 0.9 + (times[i] - eta)^2
    }
    s
  },
  groups = function(p) {
    mean1 <- p[1] * p[2]
    mean2 <- sin(p[1])
    s <- 0
    for (i in seq_along(times)) {
      m <- if (group[i] == 1) mean1 else if (group[i] == 2) mean2 else p[2]
      s <- s * 0.5 + (times[i] - m)^3
    }
    s
  },
  stored = function(p) {
    m <- numeric(40)
    m[1] <- p[1]
    for (i in 2:40) m[i] <- if (censored[i]) m[i - 1] * 0.5 + sin(p[2]) else 0.9 * m[i - 1] + cos(p[1] * times[i])
    sum(m^2 * times)
  },
  nested = function(p) {
    k <- s <- 0
    for (j in 1:10) {
      a <- p[1]
      s <- s + j * p[2]^2
      for (l in 1:4) {
        k <- k + 1
        a <- if (censored[k]) a * tanh(p[2] + times[k]) else a + p[1] * sin(times[k])
      }
      s <- s + a^2
    }
    s
  },
  reduced = function(p) {
    Reduce(function(a, i) if (censored[i]) a * 0.5 + p[1] else sin(a * p[2]) + times[i] / 2, seq_along(times), p[1])
  },
  while_loop = function(p) {
    i <- 0
    a <- p
    while (i < 40) {
      i <- i + 1
      if (absent[i]) a <- rev(a) * 0.7 else a <- tanh(a * p[1] + times[i]) + rows[i, 2:3]
    }
    sum(a)
  },
  lags = function(p) {
    x <- p[1] * times
    for (i in 4:40) x[i] <- if (censored[i]) x[i - 2] * p[2] + sin(i) else sin(x[i - 1]) * x[i - 3]
    sum(x * times)
  },
  apart = function(p) {
    sum(sapply(seq_along(times), function(i) if (censored[i]) exp(-p[1] * times[i]) else sin(p[2] * times[i])) * times)
  }
)

test_that("turns of several kinds are one loop with a branch for each", {
  skip_without_plugin()
  p <- c(0.3, 0.7)
  for (name in names(differing)) {
    f <- differing[[name]]
    text <- xla_program(f, p)
    expect_identical(times_in(text, "stablehlo.while"), if (name == "apart") 0L else 1L, label = name)
    expect_identical(grepl("stablehlo.case", text, fixed = TRUE), name != "apart", label = name)
    if (all_run()) expect_lt(lines_in(f, p), turn_by_turn(lines_in(f, p)) / 2)
  }
  all <- function(p) lapply(differing, function(f) f(p))
  expect_equal(xla_jit(all)(p), all(p), tolerance = 1e-13)
})

test_that("loops one after the other may have several kinds of turns each", {
  skip_without_plugin()
  skip_unless_all()
  three <- function(p, between) {
    a <- p[1]
    x <- numeric(40)
    s <- 0
    for (i in 1:40) {
      a <- if (censored[i]) a * 0.5 + p[2] else sin(a * times[i]) + p[1]
      if (absent[i]) x[i] <- a^2
    }
    a <- between(a)
    for (i in 1:40) a <- if (absent[i]) a * 0.9 - p[1] else cos(a * p[2]) + times[i]
    for (i in 40:2) {
      if (absent[i]) next
      s <- s + x[i - 1] * (if (censored[i]) x[i] else times[i]) * p[2]
    }
    a + s
  }
  p <- c(0.3, 0.7)
  f <- function(p) three(p, function(a) hlo_cond(a > 0, function() a * 2, function() a - 1))
  r <- function(p) three(p, function(a) if (a > 0) a * 2 else a - 1)
  expect_identical(loops_in(f, p), 3L)
  expect_equal(xla_jit(f)(p), r(p), tolerance = 1e-13)
  slope <- function(d) (r(p + d) - r(p - d)) / 2e-6
  expect_equal(xla_grad(f)(p), c(slope(c(1e-6, 0)), slope(c(0, 1e-6))), tolerance = 1e-8)
})

test_that("loops of several kinds of turns have the derivatives and batches of the same program turn by turn", {
  skip_without_plugin()
  skip_unless_all()
  for (name in names(differing)) {
    expect_as_turn_by_turn(differing[[name]], c(0.3, 0.7), 1e-11, name)
  }
})

test_that("sparse derivatives of loops of several kinds of turns are no fuller", {
  skip_without_plugin()
  skip_unless_all()
  f <- function(u) {
    s <- 0
    for (i in 2:40) {
      s <- s + if (censored[i]) (u[i] - u[i - 1])^2 * u[i] else exp(u[i])
    }
    s
  }
  u <- sin(1:40)
  expect_match(xla_program(f, u), "stablehlo.case", fixed = TRUE)
  found <- xla_hessian(f, sparse = TRUE)(u)
  expect_equal(as.matrix(found), xla_hessian(f)(u), tolerance = 1e-13, ignore_attr = TRUE)
  expect_lte(length(found@x), 40 + 2 * 39)
})

test_that("loops take what loops before them have computed, in any order", {
  skip_without_plugin()
  after <- list(
    means = function(p) {
      m <- numeric(40)
      for (i in 1:40) m[i] <- p[1] + p[2] * times[i]
      s <- 0
      for (i in 1:40) s <- s - dnorm(rows[i], m[i], exp(p[1]), log = TRUE)
      s
    },
    reversed = function(p) {
      h <- rep(p[1], 40)
      for (i in 2:40) h[i] <- exp(p[1]) + plogis(p[2]) * rows[i]^2 + 0.3 * h[i - 1]
      b <- h[40]
      for (i in 40:1) b <- b * 0.5 + h[i] * sin(b) * p[2] + h[41 - i]
      b
    },
    lists = function(p) {
      l <- lapply(1:40, function(i) c(p[1] * times[i], p[2]^2 + i / 9))
      s <- 0
      for (i in order(times)) s <- s * 0.9 + sum(l[[i]] * tanh(l[[i]] * s))
      s
    },
    kinds = function(p) {
      x <- numeric(40)
      for (i in 1:40) if (absent[i]) x[i] <- sin(p[1] * i) else x[i] <- p[2]^2 * times[i]
      s <- 0
      for (i in 1:40) {
        if (censored[i]) next
        s <- s * 0.9 + x[i] * (if (absent[41 - i]) cos(x[41 - i] * s) else p[1])
      }
      s
    }
  )
  p <- c(0.3, 0.7)
  after <- if (all_run()) after else after[c("reversed", "kinds")]
  for (name in names(after)) {
    f <- after[[name]]
    expect_lt(lines_in(f, p), turn_by_turn(lines_in(f, p)) / 2, label = name)
  }
  expect_values_and_hessians(after, if (all_run()) after, p, 1e-11)
  skip_unless_all()
  # Those of each turn alone
  f <- function(u) {
    e <- lapply(1:40, function(i) exp(u[i]) + u[i]^2)
    s <- 0
    for (i in 40:1) s <- s + sin(e[[i]]) * times[i] + if (absent[i]) e[[i]] else 0
    s
  }
  u <- sin(1:40)
  found <- xla_hessian(f, sparse = TRUE)(u)
  expect_equal(as.matrix(found), xla_hessian(f)(u), tolerance = 1e-13, ignore_attr = TRUE)
  expect_identical(length(found@x), 40L)
})

test_that("what is put together of a loop's results is read as it lies", {
  skip_without_plugin()
  together <- list(
    function(p) sum(sapply(1:40, function(i) sin(p[1] * times[i]) * exp(p[2] * i / 9) + tanh(p[1] + i)) * times),
    function(p) sum(sapply(1:40, function(i) rows[i, ] * p[2] + cos(p[1] * i)) * t(rows)),
    function(p) sum(unlist(lapply(1:40, function(i) c(i * p[1]^2, exp(p[2] * times[i])))[40:3]) * times[2:39]),
    function(p) sum(do.call(rbind, lapply(1:40, function(i) if (censored[i]) p * times[i] else rev(p)^2)) * rows[, 1:2])
  )
  p <- c(0.3, 0.7)
  for (f in together) expect_lt(lines_in(f, p), turn_by_turn(lines_in(f, p)) / 1.5)
  expect_values_and_hessians(together, if (all_run()) together else together[4], p, 1e-12)
})

test_that("sparse derivatives of loops are no fuller", {
  f <- function(u) {
    s <- 0
    for (i in 2:length(u)) s <- s + dnorm(u[i], 0.9 * u[i - 1], 0.5, log = TRUE)
    s
  }
  hessian <- xla_hessian(f, sparse = TRUE)(y)
  expect_identical(length(hessian@x), 2L * n - 1L)
  expect_identical(loops_in(f, y), 1L)
})

test_that("choices one after the other take no time that doubles with each", {
  f <- function(p, n) {
    s <- p[1]
    for (i in seq_len(n)) s <- ifelse(s > 0, s * p[2] - 0.5, exp(s) - p[1] * 0.3)
    s
  }
  grown <- function(n) lines_in(xla_grad(function(p) f(p, n)), c(0.1, 0.3))
  expect_lt(grown(200), 2 * grown(20))
  p <- c(0.1, 0.3)
  step <- 1e-6
  slope <- vapply(1:2, function(i) {
    (f(replace(p, i, p[i] + step), 40) - f(replace(p, i, p[i] - step), 40)) / (2 * step)
  }, 0)
  expect_equal(xla_grad(function(p) f(p, 40))(p), slope, tolerance = 1e-6)
  # What only one branch is computed from has no derivative where the other is chosen.
  g <- function(x) sum(ifelse(x > 0, ifelse(x > 1, log(x - 1), log(x)), 0 * x))
  expect_identical(xla_grad(g)(c(-1, 0, 0.5, 1.5)), c(0, 0, 2, 2))
})

test_that("what differs from turn to turn is not taken for the same", {
  # Other numbers, other windows, other operands, other kinds
  f <- function(x) {
    s <- x[1]
    for (i in 1:10) s <- sin(s) * x[i] + i / (1 + s^2) - exp(-s^2 * (i %% 3))
    for (i in 10:1) s <- cos(s) * x[i] + x[11L - i] / (2 + s^2) - i
    s
  }
  x <- seq(0.1, 1, length.out = 10)
  expect_equal(xla_jit(f)(x), f(x), tolerance = 1e-13)
  g <- function(x, z) {
    s <- x[1]
    for (i in 1:20) {
      w <- if (i %in% c(3, 4, 11)) z else x
      s <- sin(s) * w[2] + w[1] / (1 + s^2) - exp(-s^2)
    }
    s
  }
  expect_equal(xla_jit(g)(x, -x), g(x, -x), tolerance = 1e-13)
  # Numbers alone are no loop.
  expect_identical(xla_jit(function(x) as.list(seq_len(600) + 0))(1), as.list(seq_len(600) + 0))
  # Prints stay where they are.
  h <- function(x) {
    s <- x[1]
    for (i in 1:10) {
      s <- sin(s) * x[2] + 1 / (1 + s^2) - exp(-s)
      hlo_custom_call("print_tensor", s, list(), has_side_effect = TRUE)
    }
    s
  }
  expect_identical(loops_in(h, x), 0L)
  silent <- function(x) {
    s <- x[1]
    for (i in 1:10) s <- sin(s) * x[2] + 1 / (1 + s^2) - exp(-s)
    s
  }
  expect_identical(loops_in(silent, x), 1L)
  out <- capture.output(found <- xla_jit(h)(x))
  expect_equal(found, silent(x), tolerance = 1e-13)
  expect_gte(length(out), 10L)
})

test_that("ops without a rule for batches, or with one that fails, are called turn after turn", {
  skip_without_plugin()
  x <- sin(1:20)
  refused <- ffi_op(function(x) sin(x) * 2, vmap = function(arguments, axes, size) stop("no batches"), name = "refused")
  called <- ffi_call("kepler", function(M, e) list(M, M))
  turns <- function(op) function(x) sum(sapply(seq_along(x), function(i) op(x[i]) + exp(x[i]) * cos(x[i])))
  by_call <- function(x) called(x, 0 * x)[[1L]]
  expect_equal(xla_jit(turns(refused))(x), sum(2 * sin(x) + exp(x) * cos(x)), tolerance = 1e-12)
  expect_equal(xla_jit(turns(by_call))(x), sum(sin(x) + exp(x) * cos(x)), tolerance = 1e-12)
  slopes <- 2 * cos(x) + exp(x) * (cos(x) - sin(x))
  expect_equal(xla_grad(turns(refused))(x), slopes, tolerance = 1e-12)
})

test_that("ops that read what changes from turn to turn have the numbers of their turns", {
  skip_without_plugin()
  inner <- function(p, i) sin(p * i) * 0.3 + cos(p * i) / (1 + p^2) - exp(-(p * i)^2)
  f <- function(p) {
    x <- list()
    for (i in 1:20) x[[i]] <- ffi_op(function(x) x * i)(inner(p, i))
    unlist(x)
  }
  once <- function(p) {
    k <- 0
    op <- ffi_op(function(x) x * k)
    x <- list()
    for (i in 1:20) {
      k <- i
      x[[i]] <- op(inner(p, i))
    }
    unlist(x)
  }
  expected <- function(p) 1:20 * inner(p, 1:20)
  slope <- sum((expected(0.2 + 1e-5) - expected(0.2 - 1e-5)) / 2e-5)
  for (g in list(f, once)) {
    expect_equal(xla_jit(g)(0.2), expected(0.2), tolerance = 1e-12)
    expect_equal(xla_vmap(g)(c(0.2, 0.5)), rbind(expected(0.2), expected(0.5)), tolerance = 1e-12)
    expect_equal(xla_grad(function(p) sum(g(p)))(0.2), slope, tolerance = 1e-8)
  }
})

test_that("loops read what they compute at places that differ from turn to turn", {
  skip_without_plugin()
  at <- c(2, 4, 1, 1, 3, 2, 4, 3, 1, 2, 3, 4, 2, 1, 4, 3, 2, 4, 1, 3)
  mixing <- matrix(sin(1:16) / 4, 4)
  cases <- list(
    element = function(p) {
      s <- p
      sum <- 0
      for (t in 1:20) {
        s <- tanh(mixing %*% s + p)
        sum <- sum + dnorm(t / 20, s[at[t]], 1.2, log = TRUE)
      }
      sum
    },
    matrix = function(p) {
      a <- outer(p, p)
      sum <- 0
      for (t in 1:20) {
        a <- tanh(a %*% mixing)
        sum <- sum + sin(a[at[t], at[21 - t]]) * t + sum(a[at[t], ])
      }
      sum
    },
    window = function(p) {
      x <- c(p, p, p)
      for (t in 1:20) {
        x <- x * 0.97 + 0.02 * sin(5 * x)
        x <- x + sum(x[t %% 3 + c(1, 3, 5)]) / 100 * cos(x) + sum(x[t %% 9 + 1:3]) / 100
      }
      sum(x^2)
    },
    written = function(p) {
      x <- rep(p, 5)
      s <- p[1]
      for (t in 1:20) {
        j <- as.integer(floor(abs(s) * 7)) %% 20L + 1L
        s <- sin(s) * p[1] + cos(s) / (1 + s^2) - exp(-s^2) * p[2] + x[j] / 10
        x[j] <- s / 2 + x[t]
      }
      sum(x) + s
    }
  )
  if (!all_run()) cases <- cases["written"]
  p <- c(0.3, -0.2, 0.5, 0.1)
  all <- function(p) lapply(cases, function(f) list(f(p), xla_grad(f)(p), xla_vmap(f)(rbind(p, p * 2))))
  found <- xla_jit(all)(p)
  for (name in names(cases)) {
    f <- cases[[name]]
    slopes <- vapply(1:4, function(k) (f(p + 1e-5 * (1:4 == k)) - f(p - 1e-5 * (1:4 == k))) / 2e-5, 0)
    expect_equal(found[[name]], list(f(p), slopes, c(f(p), f(p * 2))), tolerance = 1e-7, label = name)
    expect_match(xla_program(f, p), "stablehlo.while", fixed = TRUE, label = name)
  }
})

test_that("what turns take at one place may be what they take at another one", {
  skip_without_plugin()
  skip_unless_all()
  # In one turn `x[k]` is `x[i]`.
  swept <- function(x) {
    for (k in 1:8) for (i in 1:8) x[i] <- sin(x[i]) * 0.5 + cos(x[k]) * 0.1
    sum(x * 1:8)
  }
  shortest <- function(x) {
    D <- outer(x, x, function(a, b) (a - b)^2 + a * 0.1)
    for (k in c(2, 5, 8)) for (i in 1:8) for (j in 1:8) D[i, j] <- min(D[i, j], D[i, k] + D[k, j])
    sum(D * row(D))
  }
  x <- cos(1:8)
  found <- xla_jit(function(x) list(swept(x), shortest(x), xla_jvp(swept)(x, x)$tangent))(x)
  slope <- (swept(x * (1 + 1e-6)) - swept(x * (1 - 1e-6))) / 2e-6
  expect_equal(found[1:2], list(swept(x), shortest(x)), tolerance = 1e-13)
  expect_equal(found[[3]], slope, tolerance = 1e-6)
})

test_that("the gradient of a filter that leaves out missing observations is a loop", {
  skip_without_plugin()
  y <- c(11.2, NA, 9.63, 12.1, 11.6, NA, NA, NA, 12.1, 10.3, 9.7, 10.2, NA, 8.9)
  filter <- function(p, y) {
    a <- 9
    P <- 10
    s <- 0
    for (i in seq_along(y)) {
      total <- P + exp(p[1])
      v <- y[i] - a
      missing <- is.na(y[i])
      s <- s + ifelse(missing, 0, 0.5 * (log(2 * pi * total) + v^2 / total))
      K <- ifelse(missing, 0, P / total)
      a <- a + ifelse(missing, 0, K * v)
      P <- P * (1 - K) + exp(p[2])
    }
    s
  }
  lines <- function(n) lines_in(xla_grad(filter), c(0.1, -0.3), rep_len(y, n))
  expect_lt(abs(lines(28) - lines(14)), 10)
  p <- c(0.1, -0.3)
  slope <- function(i) (filter(p + replace(c(0, 0), i, 1e-6), y) - filter(p - replace(c(0, 0), i, 1e-6), y)) / 2e-6
  expect_equal(xla_grad(filter)(p, y), c(slope(1), slope(2)), tolerance = 1e-8)
})

test_that("steps that turn an array round take no time that doubles with each", {
  skip_without_plugin()
  skip_unless_all()
  p <- c(0.3, -0.2, 0.5, 0.1, 0.2, 0.3)
  steps <- function(turned) {
    function(p) {
      for (i in 1:24) p <- sin(p) * 0.9 + turned(p) / 100
      sum(p^2)
    }
  }
  order <- c(3, 1, 5, 2, 6, 4)
  for (f in list(steps(rev), steps(function(x) x[order]))) {
    found <- turn_by_turn(xla_jit(function(p) list(f(p), xla_jvp(f)(p, p)$tangent))(p))
    expect_equal(found, list(f(p), (f(p * (1 + 1e-5)) - f(p * (1 - 1e-5))) / 2e-5), tolerance = 1e-8)
  }
})

test_that("loops of R's within loops, branches, and what solvers call are loops of the program", {
  skip_without_plugin()
  # A function of the user's with a row of turns
  sweep <- function(x, p) {
    s <- 0
    for (i in 1:24) s <- s * p[2] + sin(i) * exp(-x * i / 40)
    0.3 * x + 0.1 * s
  }
  kinds <- list(
    scan = function(p) hlo_scan(function(x, w) list(sweep(x, p), w * x), p[1], y)$carry,
    fori = function(p) hlo_fori(1, 5, function(i, x) sweep(x, p), p[1]),
    "while" = function(p) hlo_while(function(x, i) i < 5, function(x, i) list(sweep(x, p), i + 1), list(p[1], 0))[[1]],
    branch = function(p) hlo_cond(p[1] > 0, function(x) sweep(x, p), function(x) x, p[1]),
    again = function(p) xla_checkpoint(function(p) sweep(p[1], p))(p),
    ode = function(p) hlo_ode(p[1], c(0, 1), function(t, x, p) sweep(x, p) - x, p)$y[2],
    root = function(p) hlo_root(function(x) sweep(x, p) - x, p[1])$root
  )
  if (!all_run()) kinds <- kinds[c("fori", "root")]
  all <- function(p) lapply(kinds, function(f) xla_jvp(f)(p, c(1, 0.5)))
  p <- c(0.4, 0.3)
  expect_gte(loops_in(all, p), 2L * length(kinds))
  found <- xla_jit(all)(p)
  expect_equal(found$fori$value, Reduce(function(x, i) sweep(x, p), 1:5, p[1]), tolerance = 1e-13)
  root <- found$root$value
  expect_equal(sweep(root, p), root, tolerance = 1e-10)
  near <- xla_jit(function(p) lapply(kinds, function(f) (f(p + 1e-6 * c(1, 0.5)) - f(p - 1e-6 * c(1, 0.5))) / 2e-6))(p)
  expect_equal(lapply(found, `[[`, "tangent"), near, tolerance = 1e-7)
  skip_unless_all()
  expect_equal(found, turn_by_turn(xla_jit(function(p) all(p))(p)), tolerance = 1e-10)
})
