#' @rdname hlo_random_numbers
#' @export
hlo_rgamma <- function(key, n, shape, rate = 1, scale = 1 / rate, dtype = NULL) {
  given <- scale_given("hlo_rgamma", environment())
  draw <- random_draw("hlo_rgamma", key, n, c(list(shape = shape), given), dtype)
  scale <- as_scale(draw[[names(given)]], given)
  valid <- draw$shape >= 0 & scale >= 0
  only_where(valid, hlo_select(draw$shape == 0 | scale == 0, 0, scale * exp(log_gamma_number(draw, draw$shape))))
}

#' @rdname hlo_random_numbers
#' @export
hlo_rchisq <- function(key, n, df, dtype = NULL) {
  draw <- random_draw("hlo_rchisq", key, n, list(df = df), dtype)
  only_where(draw$df >= 0 & draw$df < Inf, chi_square(draw, draw$df))
}

chi_square <- function(draw, df) hlo_select(df == 0, 0, 2 * exp(log_gamma_number(draw, 0.5 * df)))

#' @rdname hlo_random_numbers
#' @export
hlo_rbeta <- function(key, n, shape1, shape2, dtype = NULL) {
  draw <- random_draw("hlo_rbeta", key, n, list(shape1 = shape1, shape2 = shape2), dtype)
  a <- draw$shape1
  b <- draw$shape2
  # Of infinite shapes, and of those that are 0, the ratio decides.
  point <- a == b & (a == 0 | a == Inf)
  odds <- log_gamma_number(draw, a) - log_gamma_number(draw, b, part = 1L)
  at_point <- hlo_select(a == 0, hlo_select(uniform(draw) < 0.5, 0, filled(1, a)), 0.5)
  only_where(a >= 0 & b >= 0, hlo_select(point, at_point, hlo_logistic(hlo_select(point, 0, odds))))
}

#' @rdname hlo_random_numbers
#' @export
hlo_rt <- function(key, n, df, dtype = NULL) {
  draw <- random_draw("hlo_rt", key, n, list(df = df), dtype)
  df <- draw$df
  endless <- df == Inf
  usual <- hlo_select(endless, 1, df)
  # The logarithm of chi-square / df
  spread <- log(2) + log_gamma_number(draw, 0.5 * usual, part = 1L) - log(usual)
  only_where(df > 0, normal(draw) * exp(-0.5 * hlo_select(endless, 0, spread)))
}

#' @rdname hlo_random_numbers
#' @export
hlo_rf <- function(key, n, df1, df2, dtype = NULL) {
  draw <- random_draw("hlo_rf", key, n, list(df1 = df1, df2 = df2), dtype)
  mean_square <- function(df, part) {
    endless <- df == Inf
    usual <- hlo_select(endless, 1, df)
    hlo_select(endless, 0, log(2) + log_gamma_number(draw, 0.5 * usual, part) - log(usual))
  }
  ratio <- mean_square(draw$df1, 0L) - mean_square(draw$df2, 1L)
  only_where(draw$df1 > 0 & draw$df2 > 0, exp(ratio))
}

# The logarithm of gamma numbers of scale 1: of a shape of 1e-3 half of the numbers themselves would underflow.
# `part` numbers what one call draws at a place.
log_gamma_number <- function(draw, shape, part = 0L) {
  double <- converted(shape, "f64")
  converted(log_gamma_op(part)(draw$high, draw$low, draw$number, double), shape@dtype)
}

log_gamma_op <- function(part) {
  made_once(paste("op log gamma number", part), function() {
    elementwise_op("log_gamma_number", function(high, low, number, shape) {
      places <- list(high = high, low = low, number = number, dtype = "f64")
      marsaglia_tsang(places, shape, part)
    }, jvp = log_gamma_number_jvp)
  })
}

# Marsaglia and Tsang (2000): of normal numbers, some of which are rejected. A shape below 1 is raised by 1, and the
# number multiplied by a power of a uniform one.
marsaglia_tsang <- function(places, shape, part) {
  usual <- shape > 0 & shape < Inf
  a <- hlo_select(usual, shape, 1)
  raised <- hlo_select(a < 1, a + 1, a)
  d <- raised - 1 / 3
  width <- 1 / (3 * sqrt(d))
  # Draws 0 and 1 of a part: the power; then two a turn.
  first <- 2^30 * part
  turn <- function(leaves) {
    at <- leaves[[1L]]
    z <- normal(places, at)
    u <- between(places, at + 1L)
    t <- 1 + width * z
    positive <- t > 0
    log_v <- 3 * log(hlo_select(positive, t, 1))
    v <- t * t * t
    fine <- positive & log(u) < 0.5 * z * z + d * (1 - v + log_v)
    list(at + 2L, leaves[[2L]] | fine, hlo_select(fine & !leaves[[2L]], log(d) + log_v, leaves[[3L]]))
  }
  start <- list(constant(first + 2, "ui32", integer(), "turn"), !usual, filled(0, shape))
  number <- while_loop(function(leaves) list(any_open(leaves[[2L]])), turn, start)[[3L]]
  power <- hlo_select(a < 1, log(between(places, first)) / a, 0)
  hlo_select(usual, number + power, hlo_select(shape == Inf, Inf, -Inf))
}

any_open <- function(done) hlo_sum(converted(!done, "i32")) > 0L

# A number x with P(a, x) kept moves by dx = -dP/da / (the density at x). Near 0, where P is x^a / Gamma(a + 1), and
# where x itself underflows, by d log(x) = -(log(x) - digamma(a + 1)) / a.
log_gamma_number_jvp <- function(primals, results, tangents) {
  a <- primals[[4L]]
  along(tangents[[4L]], function(t) {
    tiny <- results < -30
    log_x <- hlo_select(tiny, 0, results)
    x <- exp(log_x)
    usual <- a > 0 & a < Inf
    shape <- hlo_select(usual, a, 1)
    moved <- special_jvp("gammainc_p")(list(shape, x), sf("gammainc_p", shape, x), list(t, NULL))
    # The density of log(x)
    density <- exp(log_poisson(shape, x)) * shape
    change <- hlo_select(tiny, t * ((digamma(shape + 1) - results) / shape), -moved / density)
    hlo_select(usual, change, 0)
  })
}

for (name in c("rgamma", "rchisq", "rbeta", "rt", "rf")) {
  overload(paste0("hlo_", name), "xlaffi", get(paste0("hlo_", name)),
    by = "own", topic = "Random numbers", dtypes = "f32, f64", derivative = "in the parameters"
  )
}
rm(name)
