# Profile likelihoods, and intervals of both kinds

#' @rdname xla_fit
#' @importFrom stats confint
#' @export
confint.xlaffi_fit <- function(object, parm, level = 0.95, method = c("Wald", "profile"), ...) {
  check_dots_empty(...)
  method <- check_choice(if (missing(method)) "Wald" else method, "method", c("Wald", "profile"))
  if (!is.numeric(level) || length(level) != 1L || is.na(level) || level <= 0 || level >= 1) {
    abort(sprintf("`level` must be a number between 0 and 1, not %s", describe(level)), operand = "level")
  }
  chosen <- chosen_parameters(object, if (!missing(parm)) parm, "parm")
  tails <- c((1 - level) / 2, (1 + level) / 2)
  ends <- if (method == "Wald") {
    wald_ends(object, chosen, stats::qnorm(tails))
  } else {
    without <- if (missing(parm)) without_profile(object)
    t(vapply(chosen, function(which) {
      if (which %in% without) {
        return(c(NA_real_, NA_real_))
      }
      profile <- profile_of(object, own_place(object, which))
      ends <- vapply(c(-1, 1), function(side) profile_end(profile, side, stats::qnorm(tails[[2L]])), 0)
      sort(coefficient_at(object, which, ends))
    }, numeric(2L)))
  }
  # As far as a positive number goes
  ends[ends %in% .Machine$double.xmin] <- 0
  dimnames(ends) <- list(names(stats::coef(object))[chosen], paste(
    format(100 * tails, trim = TRUE, scientific = FALSE, digits = 3), "%"
  ))
  ends
}

# By the numbers without constraints where the coefficient is made of one: the interval keeps to the constraint.
wald_ends <- function(fit, chosen, quantiles) {
  ends <- stats::coef(fit)[chosen] + outer(sqrt(diag(stats::vcov(fit)))[chosen], quantiles)
  if (is.null(self_of(fit)$form)) {
    return(ends)
  }
  places <- coefficient_places(fit)[chosen]
  errors <- sqrt(diag(free_vcov(fit)))
  for (k in which(!is.na(places))) {
    at <- places[[k]]
    ends[k, ] <- sort(coefficient_at(fit, chosen[[k]], fit$par[[at]] + errors[[at]] * quantiles), na.last = TRUE)
  }
  ends
}

# The element of the optimiser's vector that a coefficient is made of
own_place <- function(fit, chosen, call = rlang::caller_env()) {
  at <- coefficient_places(fit)[[chosen]]
  if (is.na(at)) {
    abort(sprintf("`%s` has no profile: it is made of several numbers", names(stats::coef(fit))[[chosen]]),
      operand = "parm", hint = "`method = \"Wald\"` has intervals.", call = call
    )
  }
  at
}

# Which coefficients have no profile where all are asked for, of which a warning tells
without_profile <- function(fit) {
  without <- which(is.na(coefficient_places(fit)))
  if (length(without)) {
    warning(sprintf(
      "xla_fit: no profile of %s: each is made of several numbers",
      toString(names(stats::coef(fit))[without], width = 200)
    ), call. = FALSE)
  }
  without
}

chosen_parameters <- function(fit, parm, name, call = rlang::caller_env()) {
  names <- names(stats::coef(fit))
  if (is.null(parm)) {
    return(seq_along(names))
  }
  if (is.character(parm)) check_one_meaning(parm, names, name, call)
  at <- if (is.character(parm)) match(parm, names) else parm
  if (!is.numeric(at) || anyNA(at) || !all(at %in% seq_along(names))) {
    abort(sprintf("`%s` must name parameters or be their numbers, not %s", name, toString(parm)),
      operand = name, hint = sprintf("The parameters are: %s.", toString(names, width = 200)), call = call
    )
  }
  as.integer(at)
}

# The curve of one parameter: a function of its value that gives `zeta` and the whole vector. The search for the other
# parameters begins where they are expected if the likelihood is that of a normal distribution.
profile_of <- function(fit, which) {
  objective <- fit$objective
  v <- suppressWarnings(free_vcov(fit))
  scale <- sqrt(v[which, which])
  known <- is.finite(scale) && scale > 0
  direction <- if (known) v[, which] / v[which, which] else replace(0 * fit$par, which, 1)
  direction[!is.finite(direction)] <- 0
  bounds <- fit$bounds
  whole <- function(x, others) par_of(replace(x, -which, others), objective)
  search <- function(x, others) {
    stats::nlminb(others, function(others) objective$fn(whole(x, others)),
      function(others) objective$gr(whole(x, others))[-which],
      lower = bounds$lower[-which], upper = bounds$upper[-which]
    )
  }
  flat <- setdiff(flat_parameters(fit), which)
  at <- function(value) {
    x <- pmin(pmax(fit$par + (value - fit$par[[which]]) * direction, bounds$lower), bounds$upper)
    x[[which]] <- value
    others <- x[-which]
    if (length(others)) {
      # Where the start has no value the estimates of the others may have one.
      if (!is.finite(objective$fn(whole(x, others)))) {
        others <- fit$par[-which]
        if (!is.finite(objective$fn(whole(x, others)))) {
          return(list(zeta = sign(value - fit$par[[which]]) * Inf, par = whole(x, others)))
        }
      }
      found <- search(x, others)
      if (length(flat)) {
        again <- search(x, replace(x, flat, objective$par[flat])[-which])
        if (isTRUE(again$objective < found$objective)) found <- again
      }
      x[-which] <- found$par
    }
    lost <- objective$fn(par_of(x, objective)) - fit$value
    if (is.finite(lost) && lost < -1e-4) {
      chosen <- match(which, coefficient_places(fit))
      warning(sprintf(
        "xla_fit: at %s = %s the likelihood is higher than at the estimates: start the fit there",
        names(stats::coef(fit))[[chosen]], format(coefficient_at(fit, chosen, value))
      ), call. = FALSE)
    }
    list(zeta = sign(value - fit$par[[which]]) * sqrt(2 * max(if (is.nan(lost)) Inf else lost, 0)), par = x)
  }
  list(
    at = at, estimate = fit$par[[which]], scale = if (known) scale else 0.1 * (1 + abs(fit$par[[which]])),
    lower = bounds$lower[[which]], upper = bounds$upper[[which]]
  )
}

# Parameters that the likelihood does not depend on at the estimates, such as the logarithm of a standard deviation that
# is estimated as 0. For other values of a parameter it may, which no slope tells: so the search begins also from where
# they began.
flat_parameters <- function(fit) {
  kept <- fit$kept
  if (is.null(kept$flat)) {
    away <- unname(fit$objective$par - fit$par)
    curvature <- tryCatch(
      diag(suppressWarnings(fit$objective$he(par_of(fit$par, fit$objective)))),
      xlaffi_error = function(error) NA_real_
    )
    change <- abs(unname(fit$gradient) * away) + abs(unname(curvature)) * away^2 / 2
    kept$flat <- which(abs(away) > 1e-3 & change < 1e-3)
  }
  kept$flat
}

# What the curve has fallen by at a value, less `depth`, which is looked for: 0 where that is near enough. Where nothing
# is finite it is the largest number that there is.
missing_depth <- function(profile, depth) {
  function(value) {
    zeta <- abs(value_or(function(value) profile$at(value)$zeta, value, Inf))
    away <- (if (is.finite(zeta)) min(zeta, 0.999 * most_zeta) else most_zeta) - depth
    if (abs(away) <= 1e-5 * depth) 0 else away
  }
}

most_zeta <- 1e3

# Where the curve has fallen by `depth` on one side: nowhere if it has become flat before, of which two turns tell, or
# one behind which nothing is finite.
profile_end <- function(profile, side, depth) {
  bound <- if (side < 0) profile$lower else profile$upper
  most <- most_zeta - depth
  missing <- missing_depth(profile, depth)
  flat <- 0L
  step <- depth * profile$scale
  inner <- profile$estimate
  value_inner <- -depth
  root <- function(outer, value_outer) {
    ends <- c(inner, outer)
    values <- c(value_inner, value_outer)
    order <- order(ends)
    # The step may be out of proportion: how near is near enough is a matter of the curve alone.
    stats::uniroot(missing, ends[order],
      f.lower = values[order][[1L]], f.upper = values[order][[2L]], tol = .Machine$double.xmin, maxiter = 1e4
    )$root
  }
  for (turn in 1:20) {
    outer <- profile$estimate + side * step
    if (side * (bound - outer) < 0) outer <- bound
    value_outer <- missing(outer)
    nearer <- outer
    value_nearer <- value_outer
    # The error of an estimate that is infinite in truth may be 1e20 times what matters.
    for (half in seq_len(if (turn == 1L) 80L else 10L)) {
      if (flat || value_nearer < most) break
      nearer <- inner + (nearer - inner) / 2
      value_nearer <- missing(nearer)
    }
    if (half > 11L && value_nearer < most) {
      outer <- nearer
      value_outer <- value_nearer
      step <- abs(outer - inner)
    }
    if (outer == bound && value_outer >= most && value_nearer < 0) {
      # Where nothing is finite at the bound itself, a point just inside tells how far the curve falls.
      inside <- inside_bound(missing, bound, nearer, most)
      if (inside$value < 0) {
        return(bound)
      }
      if (inside$value < most) {
        inner <- nearer
        value_inner <- value_nearer
        return(root(inside$at, inside$value))
      }
    }
    flat <- if (abs(value_nearer - value_inner) <= 1e-4 * depth) flat + 1L else if (value_nearer < most) 0L else flat
    if (value_nearer < 0 && flat > 1L || value_outer >= most && flat) {
      return(side * Inf)
    }
    if (value_nearer < 0 && value_outer >= most) {
      inner <- nearer
      value_inner <- value_nearer
    }
    if (value_outer >= 0) {
      return(root(outer, value_outer))
    }
    if (outer == bound) {
      return(bound)
    }
    inner <- outer
    value_inner <- value_outer
    step <- 2 * step
  }
  side * Inf
}

# The point next to the bound at which there is something finite
inside_bound <- function(missing, bound, nearer, most) {
  for (share in c(1e-6, 1e-3)) {
    at <- bound + share * (nearer - bound)
    value <- missing(at)
    if (value < most) break
  }
  list(at = at, value = value)
}

# `f` of x, or `other` where it fails
value_or <- function(f, x, other) tryCatch(without_expected(f(x)), error = function(error) other)

# That there is nothing finite far from the estimates needs no warning.
without_expected <- function(code) {
  expected <- "NA/NaN (function|gradient) evaluation|no optimum of the random effects"
  withCallingHandlers(code, warning = function(warning) {
    if (grepl(expected, conditionMessage(warning))) invokeRestart("muffleWarning")
  })
}

#' @rdname xla_fit
#' @importFrom stats profile
#' @export
profile.xlaffi_fit <- function(fitted, which = NULL, points = 8L, ...) {
  check_dots_empty(...)
  if (!is.numeric(points) || length(points) != 1L || !is.finite(points) || points < 1) {
    abort(sprintf("`points` must be a number from 1 on, not %s", describe(points)), operand = "points")
  }
  # As far as the interval of 99 %
  depth <- stats::qnorm(0.995)
  chosen <- chosen_parameters(fitted, which, "which")
  if (is.null(which)) chosen <- setdiff(chosen, without_profile(fitted))
  curves <- lapply(chosen, function(chosen) {
    profile <- profile_of(fitted, own_place(fitted, chosen))
    values <- unique(profile_points(profile, depth, as.integer(points)))
    at <- lapply(values, function(value) without_expected(profile$at(value)))
    estimates <- do.call(rbind, lapply(at, function(at) estimates_of(fitted, at$par)))
    shown <- unname(estimates[, chosen])
    zeta <- vapply(at, `[[`, 0, "zeta") * if (is_falling(shown)) -1 else 1
    data.frame(
      parameter = colnames(estimates)[[chosen]], value = shown, zeta = zeta, estimates, check.names = FALSE
    )[order(shown), ]
  })
  structure(do.call(rbind, curves), class = c("xlaffi_profile", "data.frame"))
}

# So many points on each side, as far as Wald's interval goes. Where that says little of the curve, as where an estimate
# is infinite in truth, as far as the curve's own; where that has no end, as far as on the other side.
profile_points <- function(profile, depth, count) {
  ends <- vapply(c(-1, 1), function(side) {
    end <- min(max(profile$estimate + side * depth * profile$scale, profile$lower), profile$upper)
    fallen <- missing_depth(profile, depth)(end)
    if (abs(fallen) <= depth / 2) end else profile_end(profile, side, depth)
  }, 0)
  away <- abs(ends - profile$estimate)
  reached <- is.finite(away)
  away[!reached] <- if (any(reached)) away[reached] else depth * profile$scale
  values <- profile$estimate + c(-away[[1L]] * (count:1), 0, away[[2L]] * seq_len(count)) / count
  pmin(pmax(values, profile$lower), profile$upper)
}

# A bound from above turns the direction.
is_falling <- function(x) length(x) > 1L && x[[1L]] > x[[length(x)]]

#' @importFrom graphics abline lines plot
#' @export
plot.xlaffi_profile <- function(x, level = 0.95, ...) {
  parts <- split(as.data.frame(x), factor(x$parameter, unique(x$parameter)))
  columns <- ceiling(sqrt(length(parts)))
  old <- graphics::par(mfrow = c(ceiling(length(parts) / columns), columns))
  on.exit(graphics::par(old))
  for (part in parts) {
    fallen <- -part$zeta^2 / 2
    plot(part$value, fallen, type = "n", xlab = part$parameter[[1L]], ylab = "log-likelihood - maximum", ...)
    abline(h = -stats::qchisq(level, 1) / 2, col = "grey60", lty = 2)
    curve <- stats::spline(part$value, part$zeta, n = 200L)
    lines(curve$x, -curve$y^2 / 2, col = "#1b6ca8", lwd = 2)
    graphics::points(part$value, fallen, pch = 16, col = "#1b6ca8")
  }
  invisible(x)
}
