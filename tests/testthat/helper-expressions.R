# Everyday expressions, each run in R and in a program. `tools/` and tests go through these tables.

expression_data <- list(
  x = c(0.7, -1.3, 2.5, 0.2, 3.1, -0.4), y = c(1.5, 0.3, 0.9, 2.2, 0.6, 1.1), p = c(0.2, 0.7, 0.5, 0.9, 0.35, 0.05),
  m = matrix(c(2.5, -1, 0.5, 3, 1.2, -0.7), 3), s = matrix(c(4, 1, 0.5, 1, 3, 0.2, 0.5, 0.2, 2), 3),
  i = c(3L, -2L, 7L, 0L, 5L, 1L), l = c(TRUE, FALSE, TRUE, TRUE, FALSE, FALSE),
  z = complex(real = c(1, -0.5, 0.3), imaginary = c(0.2, 2, -1)), k = 3, n = 4L
)

# As in R
equal_expressions <- list(
  arithmetic = c(
    "x + y", "x - 1", "2 * x", "x / 3", "x / y", "x^2", "x^3", "y^0.5", "y^x", "2^x", "-x", "+x", "x %% 2", "x %/% 2",
    "x %% y", "x %/% y", "(0.3 * 10) %/% 3", "x * c(1, 2)", "x + 1:6", "1:3 * x", "x * numeric(0)", "x + TRUE",
    "i + 1L", "i + 1", "i * 0.5", "i / 2L", "i %/% 2L", "i %% 3L", "i %% -3L", "i^2", "i^2L", "-i", "i * i",
    "i %/% i[1]",
    "l + l", "l * 2.5", "-l", "sum(l)", "mean(l)", "l & !l", "l | x > 0", "xor(l, x > 0)", "!l", "i & l", "!i",
    "x > 0", "x >= y", "x == 2.5", "x != y", "i > 2", "i == 3L", "l == TRUE", "l > FALSE", "(x > 0) + 0",
    "x * (x > 0)", "replace(x, 2, 0)"
  ),
  mathematics = c(
    "exp(x)", "log(y)", "log(y, 3)", "log(y, base = 2)", "log2(y)", "log10(y)", "log1p(y)", "expm1(x)", "sqrt(y)",
    "abs(x)",
    "sin(x)", "cos(x)", "tan(x)", "asin(p)", "acos(p)", "atan(x)", "sinh(x)", "cosh(x)", "tanh(x)", "asinh(x)",
    "acosh(y + 1)", "atanh(p)", "sinpi(x)", "cospi(x)", "tanpi(x)", "atan2(x, y)", "floor(x)", "ceiling(x)",
    "trunc(x)",
    "round(x)", "round(x, 1)", "signif(x, 1)", "sign(x)", "sqrt(i + 2L)", "exp(i)", "abs(i)", "cumsum(x)",
    "cumprod(x)",
    "cummax(x)", "cummin(x)", "cumsum(i)", "gamma(y)", "lgamma(y)", "digamma(y)", "trigamma(y)", "beta(y, p)",
    "lbeta(y, p)", "choose(5, 2) * x", "choose(10, i)", "lchoose(10, i + 2L)", "factorial(i + 2L)", "factorial(y)",
    "lfactorial(y)", "besselJ(y, 0)", "besselI(y, 1)", "besselK(y, 0)", "besselY(y, 1)", "psigamma(y, 2)"
  ),
  summaries = c(
    "sum(x)", "sum(x, y)", "sum(x, 1, 2)", "prod(x)", "max(x)", "min(x)", "max(x, y)", "min(x, 0)", "max(x, 1)",
    "max(0, x)", "sum(1, x)", "range(0, x)", "range(x)",
    "mean(x)", "any(x > 3)", "all(x > 3)", "any(l)", "all(l)", "which.max(x)", "which.min(x)", "var(x)", "sd(x)",
    "var(x, y)",
    "median(x)", "median(x[1:5])", "quantile(x, 0.3, names = FALSE)", "quantile(x, c(0.1, 0.5, 0.9), names = FALSE)",
    "cor(x, y)", "cov(x, y)", "scale(x)[, 1]", "pmin(x, y)", "pmax(x, 0)", "pmax(x, y, 1)", "sum(x * y)", "length(x)",
    "mean(x, na.rm = TRUE)", "sum(x, na.rm = TRUE)", "sum(x > 0)", "mean(x > 0)", "max(i)",
    "sum(i)",
    "mean(i)", "range(i)", "prod(i)", "sum(x^2) / length(x)", "sqrt(sum((x - mean(x))^2))", "(x - mean(x)) / sd(x)",
    "x / sum(x)", "exp(x) / sum(exp(x))", "log(sum(exp(x)))", "max(abs(x - y))", "diff(range(x))", "mad(x)", "IQR(x)",
    "fivenum(x)", "weighted.mean(x, y)", "cor(m)", "var(m)", "colMeans(m)", "rowMeans(m)", "rowSums(m)", "colSums(m)",
    "mean(m)", "sum(m)", "max(m)", "range(m)", "tabulate(n, 5)"
  ),
  matrices = c(
    "m %*% t(m)", "t(m) %*% m", "m * 2", "m + 1:3", "m * c(1, 2, 3)", "m^2", "m > 0", "t(m)", "dim(m)", "nrow(m)",
    "ncol(m)",
    "NROW(x)", "NCOL(x)", "crossprod(m)", "tcrossprod(m)", "crossprod(m, m)", "crossprod(x, y)", "outer(x, y)",
    "outer(x, y, '+')", "x %o% y", "outer(x, y, function(a, b) a - b)", "kronecker(m, s)", "m %x% s", "diag(s)",
    "diag(x)",
    "diag(3) * s", "sum(diag(s))", "solve(s)", "solve(s, c(1, 2, 3))", "det(s)", "chol(s)", "norm(m)",
    "norm(m, 'F')",
    "norm(m, 'I')", "norm(m, 'M')", "sweep(m, 2, colMeans(m))", "sweep(m, 1, c(1, 2, 3), '*')",
    "scale(m, scale = FALSE)[, 1]",
    "apply(m, 1, sum)", "apply(m, 2, max)", "apply(m, 1, function(r) r * 2)", "apply(m, c(1, 2), function(v) v + 1)",
    "cbind(x, y)", "rbind(x, y)", "cbind(1, x)", "cbind(m, m)", "rbind(m, 1:2)", "rbind(m, m)",
    "array(x, c(1, 2, 3))",
    "matrix(x, 2)", "matrix(x, 2, 3, byrow = TRUE)", "matrix(x, ncol = 2)", "matrix(x[1], 2, 2)",
    "aperm(array(x, c(1, 2, 3)))",
    "m[1, ]", "m[, 2]", "m[2, 1]", "m[1:2, ]", "m[-1, ]", "m[c(3, 1), 2]", "m[, 1, drop = FALSE]", "m[2]",
    "m[cbind(c(1, 3), c(2, 1))]", "m[5:2]", "upper.tri(s) * s", "lower.tri(s) * s", "row(m) + m", "col(m) * m",
    "as.vector(m)", "c(m)", "c(m, x)", "rev(m)", "drop(m[, 1, drop = FALSE])", "{dim(x) <- c(2, 3); x}",
    "backsolve(chol(s), c(1, 2, 3))",
    "forwardsolve(t(chol(s)), c(1, 2, 3))",
    "determinant(s)$modulus[1]", "{diag(s) <- 1; s}", "s[upper.tri(s)]", "t(x)", "x %*% y", "m %*% c(1, 2)",
    "head(m, 2)"
  ),
  shapes = c(
    "c(x, 1)", "c(x, y)", "c(1, x)", "rev(x)", "rep(x, 2)", "rep(x, each = 2)", "rep(x, times = 3)",
    "rep(x, length.out = 4)",
    "rep_len(x, 8)", "head(x, 2)", "head(x, -2)", "tail(x, 2)", "tail(x, -1)", "x[1]", "x[2:4]", "x[-1]", "x[-(1:2)]",
    "x[c(2, 5, 1)]", "x[c(TRUE, FALSE)]", "x[length(x)]", "x[[2]]", "x[seq(1, 5, 2)]", "x[6:1]", "x[i[1]]",
    "x[c(1, 1, 2)]",
    "{x[2] <- 10; x}", "{x[1:2] <- c(5, 6); x}", "{x[x > 1] <- 0; x}", "{x[-1] <- 0; x}", "{x[[3]] <- y[1]; x}",
    "{m[1, 2] <- 9; m}", "{m[2, ] <- c(7, 8); m}", "{m[, 1] <- 0; m}", "{m[m < 0] <- 0; m}", "append(x, 1)",
    "diff(x)",
    "diff(x, lag = 2)", "diff(x, differences = 2)", "array(0, c(2, 3)) + matrix(x, 2)", "as.numeric(x)",
    "as.vector(x)",
    "as.double(i)", "as.integer(y)", "as.logical(i)", "as.numeric(l)", "unlist(list(x, y))", "seq_along(x)",
    "length(c(x, y))",
    "ifelse(x > 0, x, 0)", "setdiff(1:3, 2) * k", "sapply(1:3, function(j) x[j] * 2)",
    "vapply(1:3, function(j) sum(x^j), 0)",
    "unlist(lapply(1:3, function(j) x[j]))", "sapply(x, function(v) v^2)", "Reduce(`+`, list(x, y, 1))",
    "Reduce(function(a, b) a * b, x)", "do.call(rbind, list(x, y))", "mapply(function(a, b) a + b, x, y)",
    "Map(function(a) a * 2, list(x))[[1]]", "Reduce(`+`, x, accumulate = TRUE)", "embed(x, 2)",
    "stack <- c(x[1], y[1])"
  ),
  logic = c(
    "is.na(x)", "is.nan(x)", "is.finite(x)", "is.infinite(x)", "anyNA(x)", "is.numeric(x)", "is.logical(l)",
    "is.integer(i)",
    "is.double(x)", "is.character(x)", "is.null(x)", "is.function(x)", "is.matrix(m)", "is.matrix(x)", "is.array(m)",
    "is.vector(x)", "is.list(x)", "is.complex(z)", "ifelse(l, x, y)", "ifelse(x > y, 1, 0)", "any(is.na(x))",
    "x %in% c(0.7, 3.1)",
    "is.element(2.5, x)", "match(x, y)", "match(x, c(0.2, 2.5), 0L)",
    "which(c(TRUE, FALSE, TRUE)) * k", "if (length(x) > 3) x else y",
    "if (is.numeric(x)) sum(x) else 0",
    "typeof(x)", "mode(x)", "switch('b', a = x, b = y)", "isTRUE(x[1] > 0)",
    "isFALSE(x[1] > 0)", "!is.na(x) & x > 0", "all(x > -5 & x < 5)",
    "{s <- 0; for (v in x) s <- s + v; s}", "{s <- 0; for (j in seq_along(x)) s <- s + x[j] * j; s}",
    "{f <- function(a) pmax(a, 0); f(x)}", "{r <- x; while (length(r) > 2) r <- r[-1]; r}", "local({a <- x; a * 2})",
    "(function(a) a + 1)(x)", "identity(x)", "bitwAnd(i + 2L, 5L)", "bitwOr(i + 2L, 1L)", "bitwXor(i + 2L, 3L)",
    "all.equal(1, 1)", "TRUE || x[1] > 0", "FALSE && x[1] > 0",
    "stopifnot(length(x) == 6)", "invisible(x)", "nchar('abc') * k", "with(list(a = x), a + 1)", "Negate(is.null)(x)"
  ),
  numbers = c(
    "Re(z)", "Im(z)", "Mod(z)", "Arg(z)", "Conj(z)", "z * z", "z + 1", "abs(z)", "exp(z)", "sqrt(z)", "sum(z)",
    "complex(real = x, imaginary = y)",
    "x * 1i", "fft(x)", "fft(z)", "Re(fft(fft(x), inverse = TRUE)) / 6", "mean(z)", "z / 2", "prod(z)", "cumsum(z)",
    "complex(modulus = y, argument = x)", "Re(x)", "Conj(x)", "t(z)", "z == z", "log(z)", "mvfft(m)", "convolve(x, y)",
    "convolve(x, rev(y), type = 'open')"
  ),
  sorting = c(
    "sort(x)", "sort(x, decreasing = TRUE)", "order(x)", "order(x, decreasing = TRUE)", "rank(x)", "rev(sort(x))",
    "x[order(y)]",
    "findInterval(x, c(-1, 0, 1))", "sort(i)", "order(-x)", "x[rev(order(x))[1:2]]", "sort(x)[1:3]", "order(i)",
    "cut(1, 3)[1] == 'a'",
    "is.unsorted(c(1, 2)) * k"
  ),
  distributions = c(
    "dnorm(x)", "pnorm(x)", "qnorm(p)", "dnorm(x, 1, 2, log = TRUE)", "pnorm(x, lower.tail = FALSE)",
    "pnorm(x, log.p = TRUE)",
    "dgamma(y, 2, 3)", "pgamma(y, 2)", "qgamma(p, 2)", "dbeta(p, 2, 3)", "pbeta(p, 2, 3)", "qbeta(p, 2, 3)",
    "dt(x, 5)", "pt(x, 5)",
    "qt(p, 5)", "dchisq(y, 3)", "pchisq(y, 3)", "qchisq(p, 3)", "df(y, 3, 4)", "pf(y, 3, 4)", "qf(p, 3, 4)",
    "dexp(y)", "pexp(y, 2)", "qexp(p)",
    "dweibull(y, 2, 1)", "pweibull(y, 2)", "qweibull(p, 2)", "dlnorm(y)", "plnorm(y)", "qlnorm(p)", "dlogis(x)",
    "plogis(x)", "qlogis(p)",
    "dpois(i + 2L, 3)", "ppois(i + 2L, 3)", "qpois(p, 3)", "dbinom(i, 8, 0.3)", "pbinom(i, 8, 0.3)",
    "qbinom(p, 8, 0.3)", "dnbinom(i + 2L, 3, 0.5)",
    "pnbinom(i + 2L, 3, 0.5)", "dcauchy(x)", "pcauchy(x)", "qcauchy(p)", "dunif(p)", "punif(p)", "qunif(p)",
    "sum(dnorm(x, mean(x), sd(x), log = TRUE))"
  )
)

# What has no meaning for values: an error of ours
refused_expressions <- c(
  "sum(x[x > 100])", "diag(k)", "max.col(m)", "isSymmetric(s)",
  "if (x[1] > 0) x else y", "while (sum(x) > 0) x <- x - 1", "x[1] > 0 && TRUE", "which(x > 0)",
  "x[x > 0]", "unique(x)", "duplicated(x)", "table(i)", "paste(x)", "as.character(x)", "cat(x)", "sprintf('%f', x)",
  "nchar(x)",
  "identical(x, y)", "all.equal(x, y)", "1:k", "seq_len(n)", "seq(1, k)",
  "numeric(n)",
  "rep(1, n)", "rnorm(6) + x", "runif(n)", "sample(x)", "stopifnot(x > 0)", "switch(n, x, y)", "factor(i)",
  "split(x, i)", "cut(x, 3)",
  "hist(x)", "optim(c(1, 1), function(a) sum(x * a))", "lm(y ~ x)", "x$a", "qr(s)",
  "eigen(s)", "x + 'a'", "x + 1:4", "m %*% m", "x[[1:2]]", "as.data.frame(m)", "density(x)", "tapply(x, i, sum)",
  "aggregate(x, list(i), sum)",
  "integrate(function(t) t * k, 0, 1, keep.xy = TRUE)", "strtoi(x)", "as.Date(x)", "toupper(x)",
  "integer(n)", "vector('list', n)", "array(0, n)", "matrix(0, n, n)", "diag(n)", "is.na(x) <- 1", "levels(x) <- 'a'",
  "x[['a']]", "m[4, 1]",
  "attr(x, 'a')", "unclass(x)", "polyroot(x)", "nlm(function(a) sum(x), 1, stepmax = 1)",
  "uniroot(function(a) a - k, c(0, 5), extendInt = 'yes')",
  "sapply(k, function(j) 1:j)"
)

# The functions of these expressions; an expression sees `expression_data`.
expression_functions <- function(expressions) {
  formals <- stats::setNames(rep(alist(x = ), length(expression_data)), names(expression_data)) # nolint
  lapply(stats::setNames(expressions, expressions), function(text) {
    as.function(c(formals, list(str2lang(text))), envir = globalenv())
  })
}

# What the functions give in one program: a list of results; an error where there is one, "foreign" marking those that
# are not of this package.
expression_results <- function(functions) {
  failures <- list()
  given <- function(...) {
    lapply(stats::setNames(nm = names(functions)), function(name) {
      tryCatch(
        {
          result <- functions[[name]](...)
          if (is.character(result)) {
            failures[[name]] <<- result
            return(NULL)
          }
          if (is.null(result)) failures[name] <<- list(NULL)
          result
        },
        error = function(e) {
          failures[[name]] <<- e
          # Otherwise the trace would end with what could not be decided.
          notes <- xlaffi:::trace_state
          notes$undecided <- NULL
          NULL
        }
      )
    })
  }
  results <- do.call(xla_jit(given), expression_data)
  results[names(failures)] <- failures
  results
}
