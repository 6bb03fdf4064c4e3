# Functions that the code of a turn may call (overload-turns-code.R), by what is done with numbers and values.

# What gives the same values if a number is a value
turn_operators <- c("+", "-", "*", "/", "==", "!=", "<", ">", "<=", ">=", "%*%")
distributions_of_r <- c(
  "norm", "gamma", "beta", "binom", "pois", "exp", "weibull", "t", "lnorm", "unif", "cauchy", "logis", "nbinom", "geom",
  "chisq"
)
# Of our own; numbers alone give no numbers of R.
turn_densities <- c(
  "hlo_dbetabinom", "hlo_dcompois", "hlo_dgenpois", "hlo_dordbeta", "hlo_dtweedie", "hlo_dzeroinflated",
  "hlo_dzerotruncated", "hlo_dztnbinom", "hlo_dztpois", "hlo_logaddexp", "hlo_log1mexp", "hlo_log1pexp"
)
turn_functions <- c(
  turn_operators, turn_densities, "max", "min", "pmax", "pmin", "sum", "c", "crossprod", "tcrossprod", "ifelse",
  as.vector(outer(c("d", "p"), distributions_of_r, paste0))
)

# What values are given to, with numbers that are the same in all turns
turn_words <- c(
  turn_functions, "^", "exp", "log", "log1p", "expm1", "log2", "log10", "sqrt", "abs", "sign", "floor", "ceiling",
  "trunc", "sin", "cos", "tan", "asin", "acos", "atan", "atan2", "sinh", "cosh", "tanh", "gamma", "lgamma", "digamma",
  "trigamma", "beta", "lbeta", "cumsum", "cumprod", "prod", "mean", "var", "rev", "t", "solve", "chol", "chol2inv",
  "backsolve", "forwardsolve", "diag", "det", "matrix", "array", "rep", "as.vector", "as.numeric", "as.double", "drop",
  "rbind", "cbind", "rowSums", "colSums", "rowMeans", "colMeans", "outer", "kronecker", "&", "|", "!", "list", "(",
  as.vector(outer("q", distributions_of_r, paste0))
)

# What depends on the numbers that it is given alone
turn_numbers <- c(
  setdiff(turn_words, c("list", turn_densities)), "&&", "||", "xor", "%%", "%/%", "%in%", ":", "seq", "seq_len",
  "seq_along", "length", "nrow", "ncol", "NROW", "NCOL", "dim", "round", "signif", "is.na", "is.nan", "is.finite",
  "is.infinite", "any", "all", "which", "which.max", "which.min", "match", "as.integer", "as.logical", "isTRUE",
  "isFALSE", "identical", "choose", "lchoose", "factorial", "lfactorial", "diff", "order", "sort", "unlist", "[", "[[",
  "$", "bitwAnd", "range", "median", "numeric", "integer", "logical"
)

# Whose results have no names, whatever names their arguments have
turn_nameless <- c(
  turn_operators, turn_densities, "max", "min", "pmax", "pmin", "sum", "prod", "mean", "var", "crossprod", "tcrossprod",
  "^", "exp", "log", "log1p", "expm1", "sqrt", "abs", "sin", "cos", "tan", "tanh", "gamma", "lgamma", "digamma",
  "cumsum",
  as.vector(outer(c("d", "p", "q"), distributions_of_r, paste0))
)

# What is known of a value whose elements are not
turn_sizes <- c("length", "nrow", "ncol", "NROW", "NCOL", "dim", "seq_along")
