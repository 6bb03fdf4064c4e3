# Random programs: patterns of grammar.R with their holes filled by data or smaller programs, each tried in R.

# Numbers with at most six binary places, so that sums and products of a few are exact in f64 and f32.
short_numbers <- function(n, size = 3) round(stats::rnorm(n, sd = size) * 64) / 64

# The arguments of a batch of programs. The names are what programs are written with.
random_data <- function() {
  n <- sample(3:6, 1L)
  r <- sample(2:4, 1L)
  q <- sample(2:3, 1L)
  root <- matrix(short_numbers(q * q, 1), q)
  odd <- c(NaN, Inf, -Inf, -0, 0, NA, 1, -1.5, 2.5, 1e-3)
  list(
    x = short_numbers(n), y = sample(c(short_numbers(n - 1L), 0)), u = abs(short_numbers(n)) + 0.25,
    p = sample(1:63, n) / 64, m = matrix(short_numbers(2 * r), r, 2), w = matrix(short_numbers(6), 2, 3),
    q = matrix(short_numbers(q * q), q), spd = crossprod(root) + diag(q), a3 = array(short_numbers(12), c(2, 3, 2)),
    i = sample(-4:7, n, TRUE), j = sample(1:3, 2L, TRUE), l = sample(c(TRUE, FALSE), n, TRUE), h = sample(0:6, n,
    TRUE) + 0,
    z = complex(real = short_numbers(n), imaginary = short_numbers(n)), k = short_numbers(1), b = c(1.5, -2, 1.5, 0,
    -2, 7)[1:n],
    o = sample(odd, n), oo = sample(odd, n), g = -abs(short_numbers(1)), one = sample(1:3, 1L)
  )
}

is_vector <- function(x) is.null(dim(x))
is_doubles <- function(x) is.double(x) && length(x) > 0L && all(is.finite(x))
is_square <- function(x) is.matrix(x) && nrow(x) == ncol(x) && nrow(x) > 1L
is_definite <- function(x) {
  is_doubles(x) && is_square(x) && isTRUE(all.equal(x, t(x), tolerance = 1e-14)) && min(eigen(x, TRUE,
  TRUE)$values) > 0.05
}

# What may stand in a hole, as a condition on its value
hole_fits <- list(
  .a = function(x) (is.numeric(x) || is.logical(x)) && !anyNA(x) && all(is.finite(x)),
  .d = is_doubles, .v = function(x) is_doubles(x) && is_vector(x) && length(x) > 1L,
  .s = function(x) is_doubles(x) && is_vector(x) && length(x) == 1L,
  .m = function(x) is_doubles(x) && is.matrix(x) && min(dim(x)) > 1L, .q = function(x) is_doubles(x) && is_square(x),
  .S = is_definite, .A = function(x) is_doubles(x) && length(dim(x)) == 3L,
  .u = function(x) is_doubles(x) && min(x) > 1e-3 && max(x) < 50,
  .p = function(x) is_doubles(x) && min(x) > 0.01 && max(x) < 0.99,
  .h = function(x) is_doubles(x) && all(x == round(x), x >= 0, x < 30),
  .i = function(x) is.integer(x) && length(x) && !anyNA(x),
  .i1 = function(x) is.integer(x) && is_vector(x) && length(x) > 0L && all(x %in% 1:3),
  .j = function(x) is.integer(x) && length(x) > 0L,
  .l = function(x) is.logical(x) && length(x) && !anyNA(x),
  .z = function(x) is.complex(x) && length(x) && !anyNA(x), .e = function(x) is.double(x)
)
# Where nothing fits: what makes a number of `x` fit.
hole_casts <- list(
  .u = quote(abs(.d) + 0.5), .p = quote(plogis(.d)), .i = quote(as.integer(.d)), .l = quote(.d > .c),
  .j = quote(c(.i, .i[max(.i1) + 8L])),
  .z = quote(.d + 1i),
  .S = quote(crossprod(.m) + diag(ncol(.m)))
)

random_static <- function(hole) {
  any_of <- function(...) sample(list(...), 1L)[[1L]]
  switch(hole,
    .k = any_of(1, 2, 3, 1L, 2L), .n = any_of(2, 3), .c = any_of(0, 1, -1, 0.5, 2, 2.5, 3L, -1.25, 4),
    .K = any_of(quote(c(1, 3)), quote(2:3), quote(c(3, 1, 1)), quote(c(TRUE, FALSE, TRUE)), 2L, quote(3:1), quote(-2)),
    .group_v = quote(rep_len(c(1, 2), length(.v))), .group_m = quote(rep_len(c(1, 2), nrow(.m)))
  )
}

# How often topics are drawn: programs of these take XLA ten times as long, or five.
topic_weights <- c(distributions = 0.15, special = 0.5)

# The program maker of a batch: a list of functions over its data.
program_maker <- function(data, kinds, patterns = grammar, weights = topic_weights, casts = hole_casts) {
  scopes <- lapply(c(0, 1, -1), rounding_scope, kinds)
  weights <- ifelse(names(patterns) %in% names(weights), weights[names(patterns)], 1)
  leaves <- lapply(hole_fits, function(fits) names(data)[vapply(data, function(x) isTRUE(fits(x)), NA)])
  # Odd numbers stand in for .e mostly, elsewhere never.
  leaves$.e <- c(rep(c("o", "oo"), 4L), leaves$.d)
  value_of <- function(code) rounded_value(code, data, scopes)

  grown <- function(depth) {
    for (try in 1:6) {
      topic <- patterns[[sample.int(length(patterns), 1L, prob = weights)]]
      pattern <- topic[[sample.int(length(topic), 1L)]]
      code <- tryCatch(filled(pattern, depth), error = function(e) NULL)
      if (is.null(code)) next
      found <- value_of(code)
      if (!is.null(found) && length(found$kinds) == 0L) {
        return(list(code = code, found = found))
      }
    }
    NULL
  }

  # One piece of code for a hole
  piece <- function(hole, depth) {
    if (hole %in% names(grammar_bodies)) {
      bodies <- grammar_bodies[[hole]]
      return(filled(bodies[[sample.int(length(bodies), 1L)]], 0L))
    }
    if (!hole %in% names(hole_fits)) {
      static <- random_static(hole)
      return(if (is.call(static)) filled(static, 0L) else static)
    }
    fits <- hole_fits[[hole]]
    if (depth > 0L && stats::runif(1L) < 0.6) {
      for (try in 1:3) {
        smaller <- grown(depth - 1L)
        if (!is.null(smaller) && isTRUE(fits(smaller$found$value))) {
          return(smaller$code)
        }
      }
    }
    cast <- depth > 0L && stats::runif(1L) < 0.5 || !length(leaves[[hole]]) || hole == ".j"
    if (cast && hole %in% names(casts)) {
      code <- filled(casts[[hole]], max(depth - 1L, 0L))
      found <- value_of(code)
      if (!is.null(found) && isTRUE(fits(found$value))) {
        return(code)
      }
    }
    if (!length(leaves[[hole]])) stop("nothing fits ", hole)
    as.name(sample(leaves[[hole]], 1L, prob = ifelse(leaves[[hole]] == "q", 2, 1)))
  }

  # The holes of the groups are filled with what stands for .v or .m beside them.
  filled <- function(code, depth) {
    once <- list()
    shared <- any(c(".group_v", ".group_m", ".j_v") %in% all.names(code))
    walk <- function(code) {
      if (is.name(code)) {
        name <- as.character(code)
        if (!startsWith(name, ".") || nchar(name) < 2L) {
          return(code)
        }
        if (shared && name %in% c(".v", ".m")) {
          if (is.null(once[[name]])) once[[name]] <<- piece(name, depth)
          return(once[[name]])
        }
        if (name %in% c(".group_v", ".group_m")) {
          return(walk(random_static(name)))
        }
        return(piece(name, depth))
      }
      if (is.call(code)) {
        if (identical(code[[1L]], quote(`function`))) {
          code[[3L]] <- walk(code[[3L]])
          return(code)
        }
        # An argument that is left out stays so.
        for (at in seq_along(code)) if (!identical(code[[at]], quote(expr = ))) code[[at]] <- walk(code[[at]]) # nolint
      }
      code
    }
    walk(code)
  }
  list(grow = grown, value = value_of)
}

# `count` programs of the seed's generator: a list of `code` and `found`. Deterministic for a seed.
random_programs <- function(count, data, kinds, patterns = grammar, weights = topic_weights, depth = 3L) {
  maker <- program_maker(data, kinds, patterns, weights)
  programs <- list()
  seen <- character()
  while (length(programs) < count) {
    program <- maker$grow(sample.int(depth, 1L))
    if (is.null(program)) next
    text <- paste(deparse(program$code), collapse = " ")
    if (text %in% seen || nchar(text) > 400L) next
    seen <- c(seen, text)
    programs[[length(programs) + 1L]] <- program
  }
  programs
}
