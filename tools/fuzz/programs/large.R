# Programs and derivatives over large arrays: XLA compiles those of 4096 elements and more in other ways, and leaves
# reductions of them to a library. One batch in eight is of these.

is_large_batch <- function(batch) batch %% 8L == 2L

# Programs of a batch, how many of them are compiled as one, and functions of a batch. One program that must do without
# the library takes it from all with which it is compiled.
large_batch_size <- 60L
large_together <- 3L
large_functions_size <- 15L

# Around where XLA's ways change, and where several threads share the work
large_size <- function() {
  if (stats::runif(1L) < 0.85) sample(c(4095L, 4096L, 4097L, 4225L, 8193L), 1L) else sample(c(65535:65537), 1L)
}

# As random_data(), with vectors of some 4096 or 65536 numbers and matrices of as many: with few rows or columns, or
# nearly square.
large_data <- function() {
  n <- large_size()
  wide <- sample(c(2L, 3L, 5L, 16L, 17L, 63L, 64L, 65L, 127L, 129L), 1L)
  sides <- c(wide, ceiling(n / wide))
  if (stats::runif(1L) < 0.5) sides <- rev(sides)
  few <- sample(2:4, 1L)
  numbers <- function(n) short_numbers(n, 1)
  list(
    x = numbers(n), y = replace(numbers(n), sample.int(n, 2L), 0), u = abs(numbers(n)) + 0.25,
    p = sample(1:63, n, TRUE) / 64, m = matrix(numbers(prod(sides)), sides[[1L]]),
    w = matrix(numbers(few * sides[[2L]]), sides[[2L]]), a3 = array(numbers(6L * ceiling(n / 6)), c(2L, 3L, n / 6)),
    i = sample(-4:7, n, TRUE), j = sample(1:3, 2L, TRUE), l = sample(c(TRUE, FALSE), n, TRUE),
    h = sample(0:6, n, TRUE) + 0, z = complex(real = numbers(n), imaginary = numbers(n)), k = numbers(1),
    b = sample(c(1.5, -2, 0, 7), n, TRUE), o = with_odd_numbers(numbers(n), c(NaN, Inf, -Inf, -0, 0, NA), 1:3),
    oo = with_odd_numbers(numbers(n), c(0, -0, NaN, Inf), 1L), codes = sample(1:3, n, TRUE)
  )
}

# Numbers without zeros, but for twelve of some of these kinds, anywhere
with_odd_numbers <- function(x, kinds, count) {
  kinds <- kinds[sample.int(length(kinds), count[sample.int(length(count), 1L)])]
  replace(ifelse(x == 0, 0.5, x), sample.int(length(x), 12L), kinds[sample.int(length(kinds), 12L, TRUE)])
}

# What takes one element with each other one, or a step for each, is for small arrays.
without_functions <- function(patterns, names) {
  patterns[!vapply(patterns, function(pattern) any(names %in% all.names(pattern)), NA)]
}

# nolint start: brace_linter, semicolon_linter.
large_grammar <- list(
  arithmetic = grammar$arithmetic,
  comparison = without_functions(grammar$comparison, c("%in%", "match", "is.element")),
  math = without_functions(grammar$math, "zapsmall"),
  special = alist(gamma(.u), lgamma(.u), digamma(.u), beta(.u, .u), lgamma(.d), gamma(.e), choose(5, .h)),
  odd = alist(
    1 / .e, 1 / -.e, 1 / tanh(.e), 1 / sign(.e), .c / -.d, 1 / expm1(.e), 1 / log1p(abs(.e)), sqrt(-abs(.e)),
    pmax(.e, .c), pmin(.e, .e), pmax(.e, .d, na.rm = TRUE), is.na(.e) + 0, ifelse(is.na(.e), .c, .e), -.e, abs(.e),
    sum(1 / .e), sum(1 / -.e), sum(.c / tanh(.e)), sum(1 / expm1(.e)), sum(.c / sign(.e)), sum(1 / log1p(.e / 4)),
    .e * 0, .e - .e, exp(.e), cummax(.e), cummin(.e), cumsum(.e), replace(.e, is.na(.e), .s), .e %% .c, floor(.e)
  ),
  sums = alist(
    sum(.a), sum(.a, .a), sum(.a, 1), prod(.u^0.001), max(.a), min(.a), max(.a, .c), range(.a), mean(.a),
    which.max(.a), which.min(.a), var(.v), sd(.v), var(.v, .v), cor(.v, .v), mean(.l), sum(.l), sum(.i), prod(.l),
    weighted.mean(.v, .u), colMeans(.m), rowMeans(.m), rowSums(.m), colSums(.m), colSums(.m > .c), rowSums(.m^2),
    sum(.d * .d), sum(.d / .u), sum(.d^2), sum(exp(.p)), sum(abs(.d)), sum(-.d), mean(.d > .c), sum(sqrt(.u)),
    log(sum(exp(.d))), max(.d) + log(sum(exp(.d - max(.d)))), sum(pmax(.d, .c)), mean(pmin(.d, .d)), norm(.m),
    norm(.m, "F"), norm(.m, "I"), norm(.m, "M"), colSums(exp(.m)), rowSums(abs(.m)), colSums(pmax(.m, 0)),
    rowSums(pmin(.m, .c)), apply(.m, 1, max), apply(.m, 2, min), apply(.m, 2, range), apply(.m, 1, sum),
    apply(.A, 3, sum), apply(.A, c(1, 3), max), apply(.A, 1, sum), colSums(.A), any(.l), all(.l), any(.a > .c),
    sum(.z), prod(.p^0.01), crossprod(.v), sum(.v * rev(.v)), .v %*% .v, max(abs(.d)), sum(is.na(.e)), sum(.e),
    max(.e), min(.e), mean(.e), range(.e), sum(.e, na.rm = TRUE), mean(.e, na.rm = TRUE), max(.e, na.rm = TRUE),
    min(.e, na.rm = TRUE), range(.e, na.rm = TRUE), prod(.e), which.max(.e), which.min(.e), anyNA(.e),
    sum(pmax(.e, .c)), max(pmin(.e, .e)), any(.e > .c, na.rm = TRUE), colSums(matrix(.e, 1)),
    rowSums(matrix(.e, ncol = 1)), sum(.e[-1]), max(abs(.e)), sum(.e * .e), sum(is.finite(.e)), sum(.e > .c)
  ),
  sorting = alist(
    sort(.a), sort(.v, decreasing = TRUE), order(.a), rank(.v), rev(sort(.v)), .v[order(.v)], median(.v), median(.i),
    rank(.v, ties.method = "min"), findInterval(.v, c(-1, 0, 1)), order(.i, .v), sort(.e), sort(.e, na.last = TRUE),
    order(.e), is.unsorted(.v), tabulate(codes, 4), quantile(.v, c(0, 0.25, 1)), fivenum(.v), mad(.v), IQR(.v),
    quantile(.v, 0.3), mean(.v, trim = 0.2), cumsum(rev(.v)), order(.v, decreasing = TRUE), sum(sort(.v)[1:5])
  ),
  running = alist(
    cumsum(.a), cumprod(.u^0.001), cummax(.a), cummin(.a), diff(.v), diff(.v, lag = 2), diff(.m), cumsum(.l),
    rowsum(.v, .group_v), tapply(.v, .group_v, sum), ave(.v, .group_v), rev(cumsum(.v)), diff(cumsum(.v)), cumsum(.i)
  ),
  shapes = alist(
    c(.a, .a), c(.a, .c), rev(.a), head(.v, -1), tail(.v, 2), matrix(.a, 1), as.vector(.m), c(.m), t(.m), t(.v),
    aperm(.A, c(2, 3, 1)), .A[, , .k], .A[1, , ], .m[.k, ], .m[, 1], .m[, -1], .v[-1], .v[.k], cbind(.v, .v),
    rbind(.v, .v), rep(.v, 2), ifelse(.v > .s, .v, 0), ifelse(.l, .s, .c), ifelse(.i > 1L, .i, 0L), as.integer(.d),
    as.numeric(.l), as.integer(.l), as.numeric(.i), replace(.v, .k, .s), local({r <- .v; r[-1] <- 0; r}),
    local({r <- .v; r[r > .s] <- .c; r}), local({r <- .m; r[.k, ] <- .c; r}), local({r <- .m; r[, 1] <- .s; r}),
    sweep(.m, 2, colMeans(.m)), scale(.m), prop.table(.u), .m * rowSums(.m), row(.m) + .m, .v[rev(seq_along(.v))]
  ),
  products = alist(
    .m %*% t(.w), .m %*% .m, crossprod(.m[, 1:2]), .m[, 1] %*% .m, crossprod(.m, .m[, 1]), crossprod(.v, .v),
    .m %*% .m[1, ], tcrossprod(.m[1:2, ]), sum(.m %*% .m[1, ]), .z * .z, Mod(.z), Re(.z * Conj(.z)), exp(.z), sum(.z^2)
  ),
  distributions = alist(
    dnorm(.d, .s, .u, log = TRUE), sum(dnorm(.d, log = TRUE)), pnorm(.d), dexp(.u, .u), dpois(.h, .u, log = TRUE),
    plogis(.d), dgamma(.u, 2, log = TRUE), dbinom(.h, 8, .p, TRUE), qnorm(.p), punif(.d, -1, 2), dcauchy(.d), dnorm(.e)
  )
)
# nolint end

large_weights <- c(
  sums = 5, odd = 1.5, special = 0.15, distributions = 0.3, comparison = 0.5, sorting = 0.7, products = 0.7
)

# What random differentiable functions of large arrays are made of. `v` is a vector that depends on the four numbers
# `q`: a derivative in one of them is one of the function along a direction. Of many numbers one is always near a bend,
# or near to another one in size, where differences say nothing: there are no abs() and pmax() of them, and no median().
large_smooth <- list(
  arithmetic = smooth_grammar$arithmetic,
  math = without_functions(smooth_grammar$math, "abs"),
  special = alist(lgamma(.u), digamma(.u), gamma(.u), lbeta(.u, .p)),
  sums = alist(
    sum(.d), mean(.d), sum(.d * .d), var(.v), sd(.v), cor(.v, .v), cumsum(.v), max(.d), min(.d), diff(.v),
    weighted.mean(.v, .u), range(.v), log(sum(exp(.p))), prop.table(.u), colSums(.m), rowMeans(.m), rowSums(.m),
    cumprod(.u^0.001), prod(.u^0.001), scale(.m), norm(.m, "F"), apply(.m, 1, sum), crossprod(.v), mean(sqrt(.u)),
    max(.d) + log(sum(exp(.d - max(.d)))), sum(.d / .u), pmax(.d, y * 1000), pmin(y * 1000, .d)
  ),
  shapes = alist(
    c(.d, .d), rev(.v), head(.v, 2), matrix(.v, 1), matrix(.v, ncol = 1), rep(.v, 2), as.vector(.m), .v[.k], .v[-1],
    sum(sort(.v)), .v[order(y)], ifelse(y > 0, .d, .d^2), .m[1, ], .m[, 1], t(.m), cbind(.v, .v), rbind(.v, .v),
    .m %*% t(.m[1:2, ]), crossprod(.m[, 1:2])
  ),
  distributions = alist(
    dnorm(.d, .d, .u, log = TRUE), pnorm(.d, log.p = TRUE), dgamma(.u, .u, log = TRUE), dexp(.u, .u), dt(.d, 3),
    plogis(.d, log.p = TRUE), dpois(2, .u, log = TRUE), dbinom(1, 5, .p, log = TRUE), dlnorm(.u, .s, .u)
  )
)

large_casts <- list(.u = quote(.d^2 + 0.5), .p = quote(plogis(.d)))

large_ends <- alist(
  sum(.), mean(.^2), sum(.) / 100, mean(sin(.)), sum(. / (2 + .^2)), log(1 + sum(.^2)), sum(exp(-.^2))
)

large_functions <- function(count, data) {
  shown <- data[c("v", "y", "X", "k")]
  codes <- random_functions(count, shown, "v", large_smooth, large_ends, large_casts)
  lapply(codes, function(code) {
    bquote(local({
      v <- drop(along %*% q)
      .(code)
    }))
  })
}

large_smooth_data <- function() {
  n <- if (stats::runif(1L) < 0.8) sample(c(4095L, 4096L, 4097L, 8193L), 1L) else 65537L
  q <- c(-1, 1, 1, 1) * round(stats::runif(4, 0.3, 1.7), 3)
  along <- matrix(round(stats::rnorm(4L * n), 2) / 4, n)
  rows <- sample(c(2L, 17L, 64L), 1L)
  list(
    q = q, y = round(stats::rnorm(n), 2), X = matrix(round(stats::rnorm(rows * ceiling(n / rows)), 2), rows),
    k = round(stats::rnorm(1), 2) + 2, along = along, v = drop(along %*% q)
  )
}
