#' Nodes and weights of Gauss's rules
#'
#' `hlo_quadrature()` gives the nodes and weights by which `sum(weights * f(nodes))` is the integral of `f` times a
#' weight function, exact where `f` is a polynomial of degree less than `2 * n`.
#'
#' @details
#' | `kind` | interval | weight function |
#' |---|---|---|
#' | `"legendre"` | -1 to 1 | 1 |
#' | `"jacobi"` | -1 to 1 | `(1 - x)^alpha * (1 + x)^beta` |
#' | `"laguerre"` | 0 to Inf | `x^alpha * exp(-x)` |
#' | `"hermite"` | -Inf to Inf | `exp(-x^2)` |
#'
#' The mean of `f` of a normal variable is `sum(weights * f(mean + sqrt(2) * sd * nodes)) / sqrt(pi)` by `"hermite"`.
#' The numbers are constants of the program, which are computed while it is written: nodes as eigenvalues of the matrix
#' of the recurrence of the orthogonal polynomials (Golub and Welsch, "Calculation of Gauss quadrature rules",
#' Mathematics of Computation 23 (1969)), weights from these polynomials at the nodes. Integrals by them have
#' derivatives as any sum.
#'
#' @param n How many nodes.
#' @param kind `"legendre"`, `"jacobi"`, `"laguerre"` or `"hermite"`.
#' @param alpha,beta Exponents above -1: of `"jacobi"`, and `alpha` of `"laguerre"`.
#' @param dtype f32 or f64.
#' @return `list(nodes = , weights = )`, two values of `n` elements, nodes ascending. For `n = 0` they are empty.
#' @section Errors:
#' An `n` that is no known whole number, another `kind`, exponents of other kinds or not above -1, and other dtypes are
#' errors.
#' @seealso [hlo_integrate()] for integrals to a tolerance.
#' @examplesIf plugins_downloaded()
#' # The mean of exp(x) of a normal variable
#' f <- xla_jit(function(mean, sd) {
#'   rule <- hlo_quadrature(20, "hermite")
#'   sum(rule$weights * exp(mean + sqrt(2) * sd * rule$nodes)) / sqrt(pi)
#' })
#' f(0.5, 1) - exp(0.5 + 1 / 2)
#' @export
hlo_quadrature <- function(n, kind = c("legendre", "jacobi", "laguerre", "hermite"), alpha = 0, beta = 0,
                           dtype = "f64") {
  call <- environment()
  n <- check_count(n, "n", call, whole = TRUE)
  kind <- check_choice(kind, "kind", c("legendre", "jacobi", "laguerre", "hermite"))
  exponents <- list(alpha = alpha, beta = beta)
  used <- switch(kind, jacobi = c("alpha", "beta"), laguerre = "alpha", character())
  for (name in names(exponents)) {
    x <- exponents[[name]]
    fine <- is.numeric(x) && !is.object(x) && length(x) == 1L && isTRUE(x > -1) && is.finite(x)
    if (!fine || (x != 0 && !name %in% used)) {
      abort(
        sprintf("hlo_quadrature: `%s` must be %s, not %s", name,
          if (name %in% used) "a number above -1" else sprintf("0 for \"%s\"", kind), describe_leaf(x)
        ),
        op = "hlo_quadrature", operand = name, call = call
      )
    }
  }
  dtype <- check_choice(dtype, "dtype", c("f64", "f32"))
  rule <- gauss_rule(n, kind, alpha, beta)
  lapply(rule, function(x) constant(x, dtype, n, "n"))
}

overload("hlo_quadrature", "xlaffi", hlo_quadrature,
  by = "own", topic = "Solvers", dtypes = "f32, f64", derivative = "none"
)

# The coefficients of the recurrence of the monic polynomials, x p_k = p_{k+1} + a_k p_k + b_k p_{k-1}, and the integral
# of the weight function (W. Gautschi, "Orthogonal Polynomials: Computation and Approximation" (2004), table 1.1)
gauss_recurrence <- function(n, kind, alpha, beta) {
  k <- seq_len(n) - 1
  j <- seq_len(max(n - 1, 0))
  switch(kind,
    legendre = list(a = numeric(n), b = j^2 / (4 * j^2 - 1), total = 2),
    hermite = list(a = numeric(n), b = j / 2, total = sqrt(pi)),
    laguerre = list(a = 2 * k + 1 + alpha, b = j * (j + alpha), total = gamma(1 + alpha)),
    jacobi = {
      sum <- alpha + beta
      s <- 2 * k + sum
      a <- (beta - alpha) * sum / (s * (s + 2))
      # The first ones, in which alpha + beta = 0 or -1 divides zero by zero
      a[k == 0] <- (beta - alpha) / (sum + 2)
      t <- 2 * j + sum
      b <- 4 * j * (j + alpha) * (j + beta) * (j + sum) / (t^2 * (t + 1) * (t - 1))
      b[j == 1] <- 4 * (1 + alpha) * (1 + beta) / ((2 + sum)^2 * (3 + sum))
      list(a = a, b = b, total = 2^(sum + 1) * base::beta(alpha + 1, beta + 1))
    }
  )
}

gauss_rule <- function(n, kind, alpha = 0, beta = 0) {
  if (n == 0L) {
    return(list(nodes = numeric(), weights = numeric()))
  }
  parts <- gauss_recurrence(n, kind, alpha, beta)
  off <- sqrt(parts$b)
  matrix <- diag(parts$a, n)
  matrix[cbind(seq_along(off), seq_along(off) + 1)] <- off
  matrix[cbind(seq_along(off) + 1, seq_along(off))] <- off
  nodes <- sort(eigen(matrix, symmetric = TRUE, only.values = TRUE)$values)
  if (kind %in% c("legendre", "hermite") || (kind == "jacobi" && alpha == beta)) nodes <- (nodes - rev(nodes)) / 2
  # The polynomials of norm 1: weights are the reciprocals of their sums of squares.
  before <- numeric(n)
  now <- rep(1 / sqrt(parts$total), n)
  squares <- now^2
  for (k in seq_len(n - 1)) {
    after <- ((nodes - parts$a[[k]]) * now - (if (k > 1) off[[k - 1]] else 0) * before) / off[[k]]
    before <- now
    now <- after
    squares <- squares + now^2
  }
  list(nodes = nodes, weights = 1 / squares)
}
