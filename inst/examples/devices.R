# The models of the vignette "devices", on four devices of the CPU.

## ---- mesh ----
mesh <- xla_mesh(c(rows = 4))
rows <- xla_spec("rows")

## ---- data ----
set.seed(1)
n <- 20000
x <- cbind(1, matrix(rnorm(n * 5), n))
truth <- c(1, -2, 0.5, 0, 0.25, -0.125)
y <- drop(x %*% truth) + rnorm(n)
event <- as.numeric(runif(n) < plogis(x %*% truth))
shared <- list(x = xla_shard(x, mesh, rows), y = xla_shard(y, mesh, rows), event = xla_shard(event, mesh, rows))

## ---- linear ----
# Each device goes through its own rows; what they tell one another is a matrix of 6 x 6, a vector and a number.
least_squares <- function(x, y) {
  inverse <- solve(hlo_psum(crossprod(x), "rows"))
  beta <- drop(inverse %*% hlo_psum(crossprod(x, y), "rows"))
  rest <- hlo_psum(sum((y - drop(x %*% beta))^2), "rows")
  free <- nrow(x) * hlo_axis_size("rows") - ncol(x)
  list(beta = beta, error = sqrt(rest / free * diag(inverse)))
}
fit_linear <- xla_shard_map(least_squares, mesh, in_specs = rows, out_specs = xla_spec())
linear <- lapply(fit_linear(shared$x, shared$y), as_array)

## ---- logistic ----
# Newton's method: the score and the information are sums over rows.
newton <- function(x, event) {
  information <- function(p) hlo_psum(crossprod(x, x * (p * (1 - p))), "rows")
  probability <- function(beta) plogis(drop(x %*% beta))
  beta <- hlo_fori(1, 8, function(i, beta) {
    p <- probability(beta)
    beta + solve(information(p), hlo_psum(drop(crossprod(x, event - p)), "rows"))
  }, numeric(ncol(x)))
  list(beta = beta, error = sqrt(diag(solve(information(probability(beta))))))
}
fit_logistic <- xla_shard_map(newton, mesh, in_specs = rows, out_specs = xla_spec())
logistic <- lapply(fit_logistic(shared$x, shared$event), as_array)

## ---- blocks ----
# The same sums, one block of rows after the other
newton_in_blocks <- function(x, event) {
  sums <- function(beta) {
    function(x, event) {
      p <- plogis(drop(x %*% beta))
      list(information = crossprod(x, x * (p * (1 - p))), score = drop(crossprod(x, event - p)))
    }
  }
  hlo_fori(1, 8, function(i, beta) {
    all <- hlo_psum(hlo_block_sum(sums(beta), x, event, size = 1000), "rows")
    beta + solve(all$information, all$score)
  }, numeric(ncol(x)))
}
fit_in_blocks <- xla_shard_map(newton_in_blocks, mesh, in_specs = rows, out_specs = xla_spec())

## ---- hmc ----
# One chain of Hamiltonian Monte Carlo for the logistic regression, with a normal prior. Devices that differ along
# "rows" have their parts of the data and make the same draws.
chain <- function(key, beta, x, event, step, draws, leaps = 8) {
  likelihood <- xla_grad(function(beta) {
    odds <- drop(x %*% beta)
    sum(event * odds - hlo_log1pexp(odds))
  }, value = TRUE)
  at <- function(beta) {
    all <- hlo_psum(likelihood(beta), "rows")
    list(beta = beta, value = all$value - sum(beta^2) / 2, gradient = all$gradient - beta)
  }
  draw <- function(now, key) {
    keys <- hlo_split(key)
    momentum <- hlo_rnorm(keys[1, ], length(beta))
    end <- hlo_fori(1, leaps, function(i, path) {
      half <- path$momentum + step / 2 * path$at$gradient
      moved <- at(path$at$beta + step * half)
      list(at = moved, momentum = half + step / 2 * moved$gradient)
    }, list(at = now, momentum = momentum))
    gain <- end$at$value - now$value + sum(momentum^2 - end$momentum^2) / 2
    taken <- log(hlo_runif(keys[2, ], 1)[1]) < gain
    now <- Map(function(new, old) hlo_select(taken, new, old), end$at, now)
    list(now, list(beta = now$beta, taken = taken))
  }
  hlo_scan(draw, at(beta), hlo_split(key, draws))$y
}

## ---- hmc-run ----
# Two groups of devices have two chains each; within a group each device has half of the rows.
grid <- xla_mesh(c(chains = 2, rows = 2))
sample_chains <- xla_shard_map(
  function(keys, beta, x, event) {
    xla_vmap(function(key, beta) chain(key, beta, x, event, step = 0.02, draws = 250))(keys, beta)
  },
  grid,
  in_specs = list("chains", "chains", "rows", "rows"), out_specs = "chains"
)
keys <- xla_jit(function() hlo_split(hlo_key(1L), 4))()
samples <- sample_chains(keys, matrix(0, 4, 6), x[1:2000, ], event[1:2000])

## ---- gp ----
# The covariance of n points in blocks of rows, n / 4 on each device, and its Cholesky factor column by column of blocks.
covariance <- function(p, x, y) exp(2 * p$size - outer(x, y, "-")^2 / (2 * exp(2 * p$length)))

block_loss <- function(p, x, y) {
  own <- hlo_axis_index("rows")
  m <- length(x)
  k <- covariance(p, x, hlo_all_gather(x, "rows", 1, tiled = TRUE))
  loss <- 0
  for (block in seq_len(hlo_axis_size("rows"))) {
    first <- seq_len(m)
    # The block of the diagonal and what is left of y there, which this turn's device has and tells the others
    total <- hlo_psum(list(k = k[, first] * (own == block), y = y * (own == block)), "rows")
    root <- chol(total$k + exp(2 * p$noise) * diag(m))
    z <- backsolve(root, total$y, transpose = TRUE)
    loss <- loss + sum(z^2) / 2 + sum(log(diag(root))) + m / 2 * log(2 * pi)
    # What the columns of this block explain is taken out of the rows below.
    panel <- t(backsolve(root, t(k[, first]), transpose = TRUE))
    y <- y - drop(panel %*% z)
    if (ncol(k) > m) {
      right <- seq(block * m + 1, m * hlo_axis_size("rows"))
      k <- k[, -first] - panel %*% t(hlo_all_gather(panel, "rows", 1, tiled = TRUE)[right, ])
    }
  }
  loss
}
gp_loss <- xla_shard_map(block_loss, mesh, in_specs = list(NULL, rows, rows), out_specs = xla_spec())
place <- seq(0, 10, length.out = 200)
height <- sin(place) + 0.3 * rnorm(200)
gp <- xla_objective(gp_loss, list(size = 0, length = -1, noise = -1), x = place, y = height)

## ---- gp-fit ----
best <- nlminb(gp$par, gp$fn, gp$gr)
