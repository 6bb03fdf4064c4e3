# Random functions with loops of R's, whose rows of equal turns become loops of the program (R/jit-loops.R): what they
# give is compared with what R computes, and all derivatives with those of the same function turn by turn.

loop_turns <- 16L

# Functions of `q`: two numbers, then one for each turn. `y`, `w` and `Y` are numbers for the turns, `o` an order of
# them, `f` the name of a variable.
loop_data <- function() {
  list(
    q = round(stats::rnorm(loop_turns + 2L, sd = 0.5), 3), y = round(stats::rnorm(loop_turns), 2),
    w = round(stats::rnorm(loop_turns), 2), Y = matrix(round(stats::rnorm(3 * loop_turns), 2), loop_turns),
    o = sample(loop_turns), big = matrix(round(stats::rnorm(40L * loop_turns), 2), 40L)
  )
}

# Holes: `.x` one number that a turn computes, `.a` one that is there, `.k` one of three places, `.t` a turn.
loop_numbers <- alist(
  .x + .x, .x - .x, .x * .x, sin(.x), tanh(.x), .x / (1 + (.x)^2), exp(-(.x)^2), ifelse(.a > .a, .x, .x), max(.x, .a),
  min(.x, .x), sum(tanh(v) * .x), sum(Y[i, ] * .a), dnorm(.x, .x, 1.3, log = TRUE), (A %*% v[1:2])[1] * .a,
  plogis(.x), sum(solve(diag(3) * 2 + tcrossprod(v), Y[i, ])) * .a, log1p((.x)^2), sqrt(1 + (.x)^2), mean(v[-.k]),
  prod(tanh(v)), abs(.x), sum(cumsum(v) * .a), sum(big[, i] * .a) / 40, mean(B * .a), (.x)^2, atan2(.x, 2),
  smooth(.x), smooth(.x, .a), smooth(log = FALSE, .a), row_of(i, .x), row_of(j, .a), inner(v, Y[i, ]), inner(X[i, ], v),
  uniroot(function(r) r + r^3 - tanh(.x), c(-9, 9), tol = 1e-13)$root,
  integrate(function(r) exp(-r^2 + r * tanh(.x)), 0, 1, rel.tol = 1e-11)$value
)

loop_atoms <- alist(
  a, b, k, v[1], v[2], v[3], y[i], w[loop_turns + 1 - i], q[1], q[2], 0.3, 1.7, i / 16, Y[i, 2], x[i], x[j], u[i], s,
  u[(i * 5) %% loop_turns + 1], u[r[i]], v[r[j] %% 3 + 1], Y[r[i], 2], x[r[i]], X[r[j], .k], Y[i, 1], A[1, 2], A[2, 2],
  i %% 3, X[i, .k], big[.k, i], B[.k, .k], Y[j, .k], u[j]
)

loop_statements <- alist(
  a <- tanh(.x), b <- sin(.x), x[i] <- sin(.x), x[j] <- cos(.x), v[.k] <- tanh(.x), v <- rev(v), v <- tanh(v * .x),
  if (i %% 2 == 0) a <- sin(.x),
  {
    z <- a
    a <- tanh(.x)
    b <- z
  },
  x[i] <- tanh(x[max(i - 1, 1)] + .x), x[i] <- tanh(x[max(i - 2, 1)] + .x), A <- tanh(A %*% A * .a),
  A[2, ] <- v[2:3] * .a, X[i, ] <- tanh(v + .x), X[i, .k] <- sin(.x), s <- s + .x, l[[i]] <- .x,
  k <- (k * 3 + i) %% 5, if (i == .t) b <- sin(.x), for (m in 1:3) a <- tanh(a + v[m] * .a),
  for (m in 1:2) v[m] <- sin(v[m + 1] + .a), B <- tanh(B * .a), B[, i] <- big[, i] * .a, g <- c(g, .x),
  if (i > .t) s <- s + .x, v[-.k] <- tanh(v[-.k] + .a), state <- list(p = tanh(.x), q = state$p),
  a <- tanh(state$p + state$q * .a), x[i:min(i + 1, loop_turns)] <- tanh(.x), step <- step + 1L, b <- b / (step + 1),
  C[, , i] <- A * .a, above <- .x > .a, a <- ifelse(above, a, sin(.x)), A <- crossprod(A) / (1 + sum(A^2)),
  M <- chol(crossprod(A) + diag(2)), s <- s + sum(backsolve(M, v[1:2])), total <- total + big[, i] * .a,
  s <- s + tanh(sum(total) / 40), v <- c(v[2:3], tanh(.x)),
  if (i %% 3 == 1) for (m in 1:8) e[m] <- tanh(e[m] + e[(i - 1) %% 8 + 1] * .a),
  if (i %% 3 == 2) for (m in 1:8) e[m] <- min(e[m], e[(i + 3) %% 8 + 1] * tanh(.a) + .a),
  if (y[i] > 0) a <- tanh(.x) else s <- s + .x, if (w[i] > 0) next, if (y[i] < w[i]) x[i] <- .x else x[j] <- .x,
  s <- s + (if (i %in% o[1:6]) a else b) * .a, if (Y[i, 1] < 0) v[.k] <- tanh(.x) else A <- tanh(A %*% A * .a),
  for (m in 1:3) if (Y[i, m] > 0) v[m] <- tanh(.x) else b <- sin(b + .a), if (y[i] > 0) g <- c(g, .x),
  s <- s + sum(sapply(1:3, function(m) if (Y[j, m] > 0) tanh(v[m] * .a) else .x)), if (w[j] < 0) l[[i]] <- .x,
  if (i %% 5 == 1) for (m in 1:8) for (h in 1:2) E[m, h] <- tanh(E[m, h] + E[i %/% 2 + 1, h])
)

loop_orders <- list(
  quote(1:16), quote(16:1), quote(2:16), quote(seq(1, 16, 2)), quote(o), quote(rep(1:8, 2)), quote(3:14),
  quote(seq_along(y))
)

# What a function is made of
loop_start <- quote({
  a <- q[1]
  b <- q[2]
  u <- q[3:18]
  v <- c(q[1], 0.2, u[1])
  e <- u[1:8]
  E <- matrix(u, 8)
  A <- matrix(c(0.1, q[2], 0.3, 0.4), 2)
  B <- matrix(u[2], 40, 16)
  C <- array(0, c(2, 2, 16))
  X <- matrix(0, 16, 3)
  x <- numeric(16)
  total <- numeric(40)
  M <- diag(2)
  l <- list()
  g <- s <- 0
  k <- 1
  step <- 0L
  above <- FALSE
  state <- list(p = a, q = b)
  # Places that are values
  r <- o + 0 * a
  smooth <- function(x, by = x * 0.5, log = TRUE) {
    z <- atan(x) + by
    if (log) log1p(z^2) else return(sin(z))
  }
  row_of <- function(i, y) {
    k <- i %% 3 + 1
    y <- y + w[i]
    atan(smooth(y) * Y[i, k] + a)
  }
  inner <- function(x, y) sum(x * y) / 9
  scaled <- function(x, size) {
    for (m in 1:2) x[m] <- x[m + 1] * size
    x
  }
})

loop_end <- quote(
  sum(x * y) + a + b * 2 + s + k + sum(v * 1:3) + sum(X * Y) + sum(A) + mean(B[, o]) + sum(C[1, 2, ]) + sum(g) +
    sum(sin(c(0, unlist(l)))) + sum(e * 1:8) + sum(E[, 1]) + state$q + above + step + sum(M) + mean(total)
)

random_hole <- function(hole, depth) {
  one_of <- function(all) all[[sample.int(length(all), 1L)]]
  switch(hole,
    .x = filled_holes(one_of(if (depth > 0L) loop_numbers else loop_atoms), depth - 1L),
    .a = filled_holes(one_of(loop_atoms), 0L), .k = sample.int(3L, 1L), .t = sample.int(loop_turns, 1L)
  )
}

filled_holes <- function(pattern, depth) {
  if (is.name(pattern) && as.character(pattern) %in% c(".x", ".a", ".k", ".t")) {
    return(random_hole(as.character(pattern), depth))
  }
  if (is.call(pattern)) {
    for (at in seq_along(pattern)) {
      if (!identical(pattern[[at]], quote(expr = ))) pattern[[at]] <- filled_holes(pattern[[at]], depth) # nolint
    }
  }
  pattern
}

random_loop <- function(turn_of_j) {
  order <- loop_orders[[sample.int(length(loop_orders), 1L)]]
  body <- lapply(sample(loop_statements, sample(1:5, 1L)), filled_holes, sample(0:2, 1L))
  as.call(list(quote(`for`), quote(i), order, as.call(c(quote(`{`), bquote(j <- .(turn_of_j)), body))))
}

# A function's code: one loop or two
random_looped <- function() {
  turns <- alist(17 - i, o[i], (i * 3) %% 16 + 1, 1, i)
  loops <- lapply(sample(turns, sample(c(1L, 1L, 2L), 1L)), random_loop)
  as.call(c(as.list(loop_start), loops, loop_end))
}

looped_function <- function(code, data) {
  f <- function_of(code, data)
  assign("loop_turns", loop_turns, environment(f))
  f
}

# `code` with turns traced ahead from so many on
with_least_ahead <- function(count, code) {
  before <- xlaffi:::least_ahead
  on.exit(utils::assignInNamespace("least_ahead", before, "xlaffi"))
  utils::assignInNamespace("least_ahead", count, "xlaffi")
  force(code)
}

# `code` without looking for rows of turns, and with all solvers called where they stand
turn_by_turn <- function(code) {
  hooks <- xlaffi:::hooks
  found <- hooks$with_loops
  later <- xlaffi:::may_be_later
  ahead <- xlaffi:::least_ahead
  on.exit({
    hooks$with_loops <- found
    utils::assignInNamespace("may_be_later", later, "xlaffi")
    utils::assignInNamespace("least_ahead", ahead, "xlaffi")
  })
  utils::assignInNamespace("least_ahead", Inf, "xlaffi")
  hooks$with_loops <- function(values, first) values
  utils::assignInNamespace("may_be_later", function() FALSE, "xlaffi")
  force(code)
}

# All that is compared: a value, a gradient, a Hessian along a direction, a derivative by forward mode, and a batch
looped_results <- function(f, q, along, kind) {
  all <- switch(kind,
    value = f, gradient = xlaffi::xla_grad(f, value = TRUE),
    hessian = function(q) xlaffi::xla_grad(function(q) sum(xlaffi::xla_grad(f)(q) * along))(q),
    forward = function(q) xlaffi::xla_jvp(f)(q, along),
    batch = function(q) xlaffi::xla_vmap(xlaffi::xla_grad(f, value = TRUE))(rbind(q, q * 0.9, q + 0.1))
  )
  found <- xlaffi::xla_jit(all)(q)
  unlist(lapply(if (is.list(found)) found else list(found), function(x) as.vector(read_outcome(x))))
}

# The problem of one function, NULL for none, NA where R gives no number; `kind` is what is compared beside the value.
looped_problem <- function(code, data, kind, dtype = "f64") {
  f <- looped_function(code, data)
  expected <- tryCatch(f(data$q), error = function(e) NA, warning = function(e) NA)
  if (!is.double(expected) || length(expected) != 1L || !is.finite(expected) || abs(expected) > 1e6) {
    return(NA_character_)
  }
  q <- batch_data(list(q = data$q), dtype)$q
  along <- cos(seq_along(data$q))
  tolerance <- if (dtype == "f32") 1e-3 else 1e-9
  tryCatch(
    {
      value <- looped_results(f, q, along, "value")
      if (!isTRUE(abs(value - expected) <= tolerance * (1 + abs(expected)))) {
        return("value")
      }
      here <- looped_results(f, q, along, kind)
      there <- turn_by_turn(looped_results(f, q, along, kind))
      known <- is.finite(there)
      size <- 1 + max(abs(there[known]), 0)
      if (!identical(is.finite(here), known) || any(abs(here - there)[known] > tolerance * size)) kind
    },
    error = condition_problem
  )
}

has_loop <- function(code, data) {
  text <- tryCatch(as.character(xlaffi::xla_program(looped_function(code, data), data$q)), error = function(e) "")
  grepl("stablehlo.while", text, fixed = TRUE)
}

# `code` without the statements that the problem does not need, the last ones first
without_statements <- function(code, fails) {
  repeat {
    smaller <- Find(fails, lapply(rev(statement_paths(code)), function(path) `[[<-`(code, path, NULL)))
    if (is.null(smaller)) {
      return(code)
    }
    code <- smaller
  }
}

# Where statements stand in braces, but for the last one of all, which is the value
statement_paths <- function(code, path = integer()) {
  piece <- if (length(path)) code[[path]] else code
  calls <- setdiff(which(vapply(as.list(piece), is.call, NA)), 1L)
  inner <- unlist(lapply(calls, function(k) statement_paths(code, c(path, k))), recursive = FALSE)
  here <- if (identical(piece[[1L]], quote(`{`))) seq_along(piece)[-1L]
  if (!length(path)) here <- utils::head(here, -1L)
  c(lapply(here, function(k) c(path, k)), inner)
}

run_loops <- function(seconds, seed, most, say, first = 1L, size = 20L) {
  kinds <- list()
  looped <- 0
  done <- run_batches(seconds, seed, most, first, say, function(batch, left) {
    data <- loop_data()
    count <- min(size, left)
    ahead <- if (batch %% 2L == 0L) loop_turns else 4L
    with_least_ahead(ahead, for (at in seq_len(count)) {
      code <- random_looped()
      kind <- sample(c("gradient", "hessian", "forward", "batch"), 1L)
      dtype <- if (at %% 4L == 0L) "f32" else "f64"
      problem <- looped_problem(code, data, kind, dtype)
      looped <<- looped + has_loop(code, data)
      if (is.null(problem) || is.na(problem)) next
      place <- sprintf("seed %d, batch %d, %s, %s, least_ahead %d", seed, batch, kind, dtype, ahead)
      kinds <<- loop_finding(code, data, problem, kind, dtype, kinds, place, say)
    })
    count
  })
  tell_kinds(kinds, say)
  say(sprintf("%d functions, %d of them with loops, %d kinds of findings", done, looped, length(kinds)))
  length(kinds)
}

loop_finding <- function(code, data, problem, kind, dtype, kinds, place, say) {
  known <- counted_kinds(kinds, code, problem)
  if (!is.null(known)) {
    return(known)
  }
  code <- without_statements(code, function(code) is_same_problem(looped_problem(code, data, kind, dtype), problem))
  # Up to the first one that is the same
  problems_of <- function(codes) {
    problems <- list()
    for (code in codes) {
      problems <- c(problems, list(looped_problem(code, data, kind, dtype)))
      if (is_same_problem(problems[[length(problems)]], problem)) break
    }
    problems
  }
  code <- shrunk_function(code, data, problem, problems_of)
  say(sprintf("FOUND %s (%s)", problem, place))
  for (line in looped_text(code, data, kind)) say("  ", gsub("\n", "\n  ", line))
  c(kinds, list(new_kind(problem, code, data)))
}

looped_text <- function(code, data, kind) {
  data <- c(data[intersect(names(data), all.names(code))], list(loop_turns = loop_turns))
  c(
    sprintf("%s <- %s", names(data), vapply(data, literal_text, "")),
    sprintf("f <- function(q) %s", paste(deparse(code, width.cutoff = 110L), collapse = "\n")),
    sprintf("xlaffi::xla_jit(f)(q) # f(q), and %s", kind)
  )
}
