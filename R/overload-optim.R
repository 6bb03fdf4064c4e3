# optim(), nlminb() and nlm() on values: hlo_minimize() with R's arguments and results.

optim_of_values <- function(par, fn, gr = NULL, ..., method = "Nelder-Mead", lower = -Inf, upper = Inf,
                            control = list(), hessian = FALSE, .call) {
  check_flag(hessian, "hessian", .call)
  ours <- c("BFGS", "L-BFGS-B")
  if (!identical(method, "BFGS") && !identical(method, "L-BFGS-B")) {
    abort(sprintf("optim(): for values of programs `method` must be one of %s, not %s", toString(dQuote(ours, FALSE)),
      describe(first_string(method))
    ), "UNIMPLEMENTED",
    op = "optim", operand = "method", call = .call,
    hint = "`hlo_minimize()` has other methods, and `optimize()` searches an interval."
    )
  }
  check_unbounded(lower, upper, "optim", .call)
  check_control(control, c("fnscale", "maxit", "lmm"), "optim", "hlo_minimize", .call)
  scale <- if (is.null(control$fnscale)) 1 else control$fnscale
  f <- with_arguments(fn, list(...))
  scaled <- if (identical(scale, 1)) f else function(p) f(p) / scale
  fit <- hlo_minimize(scaled, par,
    method = if (method == "BFGS") "BFGS" else "L-BFGS",
    max_iter = if (is.null(control$maxit)) 100L else control$maxit,
    history = if (is.null(control$lmm)) 5L else control$lmm
  )
  code <- hlo_select(fit$converged, 0L, hlo_select(fit$reason == solver_reasons[["max_iter reached"]], 1L, 52L))
  evaluations <- reshaped(fit$evaluations, 1L)
  result <- list(
    par = fit$par, value = fit$value * scale,
    counts = labelled(joined(list(evaluations, evaluations)), list(c("function", "gradient"))), convergence = code
  )
  if (hessian) result$hessian <- hessian_of(f, fit$par, "optim", .call)
  result
}

hessian_of <- function(f, par, name, call) {
  par <- solver_start(par, name, call, "par")
  objective <- function(x) {
    value <- as_value(f(x), "fn", call = call, op = name)
    if (length(value) != 1L || value@dtype != x@dtype) {
      abort(sprintf("%s(): `fn` must return one number of dtype %s, not %s", name, x@dtype, type_text(value)),
        op = name, operand = "fn", call = call
      )
    }
    reshaped(value, integer())
  }
  second_order_at(objective)(par)$hessian
}

solver_overload("optim", optim_of_values, paste(
  "Methods \"BFGS\" and \"L-BFGS-B\", without bounds; of `control` fnscale, maxit and lmm. Derivatives are exact, and",
  "`gr` is not called. It stops by the gradient, see ?hlo_minimize. There is no message; `convergence` is 52 where no",
  "better point was found."
))

optimhess_of_values <- function(par, fn, gr = NULL, ..., control = list(), .call) {
  check_control(control, character(), "optimHess", "xla_hessian", .call)
  hessian_of(with_arguments(fn, list(...)), par, "optimHess", .call)
}

solver_overload("optimHess", optimhess_of_values, "It is exact, and `gr` is not called; `control` is refused.", "yes")

nlminb_of_values <- function(start, objective, gradient = NULL, hessian = NULL, ..., scale = 1, control = list(),
                             lower = -Inf, upper = Inf, .call) {
  check_defaults(list(scale = scale), list(scale = 1), "nlminb", "hlo_minimize", .call)
  check_unbounded(lower, upper, "nlminb", .call)
  check_control(control, "iter.max", "nlminb", "hlo_minimize", .call)
  fit <- hlo_minimize(with_arguments(objective, list(...)), start,
    method = "Newton", max_iter = if (is.null(control$iter.max)) 150L else control$iter.max
  )
  evaluations <- reshaped(fit$evaluations, 1L)
  list(
    par = fit$par, objective = fit$value, convergence = converted(!fit$converged, "i32"), iterations = fit$iterations,
    evaluations = labelled(joined(list(evaluations, evaluations)), list(c("function", "gradient")))
  )
}

solver_overload("nlminb", nlminb_of_values, paste(
  "Without bounds; of `control` iter.max. Derivatives are exact, and `gradient` and `hessian` are not called. It stops",
  "by the gradient, see ?hlo_minimize. There is no message."
))

nlm_of_values <- function(f, p, ..., hessian = FALSE, typsize = NULL, fscale = 1, print.level = 0, ndigit = 12,
                          gradtol = 1e-6, stepmax = NULL, steptol = 1e-6, iterlim = 100, check.analyticals = TRUE,
                          .call) {
  check_flag(hessian, "hessian", .call)
  check_defaults(
    list(typsize = typsize, fscale = fscale, print.level = print.level, ndigit = ndigit, steptol = steptol),
    list(typsize = rep(1, length(typsize)), fscale = 1, print.level = 0, ndigit = 12, steptol = 1e-6), "nlm",
    "hlo_minimize", .call
  )
  if (!is.null(stepmax)) refuse_argument("nlm", "stepmax", "hlo_minimize", .call)
  g <- with_arguments(f, list(...))
  fit <- hlo_minimize(g, p, tol = gradtol, max_iter = iterlim)
  # R's codes: 1 the gradient is small, 3 no better point, 4 the limit of iterations, 5 unbounded
  codes <- constant(c(1L, 4L, 3L, 3L, 5L), "i32", 5L, "codes")
  result <- list(
    minimum = fit$value, estimate = fit$par, gradient = fit$gradient,
    code = reshaped(gathered(codes, reshaped(fit$reason, 1L), 1L), integer()), iterations = fit$iterations
  )
  if (hessian) append(result, list(hessian = hessian_of(g, fit$par, "nlm", .call)), 3L) else result
}

solver_overload("nlm", nlm_of_values, paste(
  "`gradtol` is the tolerance of ?hlo_minimize, and `iterlim` its bound; `typsize`, `fscale`, `stepmax` and `steptol`",
  "are refused. Derivatives are exact, and attributes of the result of `f` are not looked at."
))
