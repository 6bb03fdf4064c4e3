# What families of generalized linear models compute in C (stats' family.c): the functions of binomial() for logits, and
# its deviance; and the deviance of poisson(), which leaves zeros out by their positions, in the value but not in
# derivatives. The other functions of families are R code, and are copied as the user's functions are.

family_parts <- list(
  C_logit_link = function(mu) log(mu / (1 - mu)),
  # Beyond 30 R's is as near to 0 or 1 as a double can be.
  C_logit_linkinv = function(eta) {
    eps <- filled(.Machine$double.eps, eta)
    odds <- selected(eta < -30, eps, selected(eta > 30, 1 / eps, exp(eta)))
    odds / (1 + odds)
  },
  C_logit_mu_eta = function(eta) {
    odds <- exp(eta)
    selected(abs(eta) > 30, filled(.Machine$double.eps, eta), odds / (1 + odds)^2)
  },
  C_binomial_dev_resids = function(y, mu, wt) 2 * wt * (y_log_y(y, mu) + y_log_y(1 - y, 1 - mu)),
  poisson_dev_resids = function(y, mu, wt) 2 * wt * (y_log_y(y, mu) - (y - mu))
)

y_log_y <- function(y, mu) {
  none <- y == 0
  y * log(hlo_select(none, filled(1, y), y) / hlo_select(none, filled(1, mu), mu))
}

# The name of what `f` calls in C, or is, if it is one of these.
family_part <- function(f) {
  code <- body(f)
  if (identical(names(formals(f)), c("y", "mu", "wt")) && identical(code, body(stats::poisson()$dev.resids))) {
    return("poisson_dev_resids")
  }
  if (is.call(code) && identical(code[[1L]], quote(.Call)) && is.symbol(code[[2L]])) {
    name <- as.character(code[[2L]])
    if (name %in% names(family_parts)) name
  }
}

convert_family <- function(f) {
  part <- family_parts[[family_part(f)]]
  names <- names(formals(f))
  shown <- "a family's function"
  at <- function() {
    frame <- environment()
    given <- lapply(names, get, envir = frame)
    if (!has_values(given)) {
      return(do.call(f, given))
    }
    call <- sys.call(-1L)
    # With a double, so that integers become doubles.
    given <- common(c(given, 0), shown, c(names, names[[1L]]), call)[seq_along(given)]
    Map(function(part, name) check_kind(part, "a floating-point number", shown, name, call), given, names)
    do.call(part, given)
  }
  formals(at) <- formals(f)
  at
}
