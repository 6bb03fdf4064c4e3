# R's optimisers, root finder and integral in traced functions. Where all is known they are R's own, called while the
# program is written; where they meet values they become solvers of the program.

# `ours` has the arguments of R's function, and `.call`.
solver_overload <- function(name, ours, differs, derivative = "yes, implicit") {
  f <- function(...) {
    call <- method_call(name)
    given <- list(...)
    if (!has_values(tree_leaves(given))) {
      asked <- lapply(given, known_or_signal)
      answer <- tryCatch(
        do.call(name, asked, quote = TRUE, envir = asNamespace("stats")),
        xlaffi_met_value = function(met) met,
        # R's own errors would show what was given in place of the call.
        error = function(e) {
          if (is.call(e$call) && identical(e$call[[1L]], as.name(name))) e$call <- call
          stop(e)
        }
      )
      if (!inherits(answer, "xlaffi_met_value")) {
        return(answer)
      }
    }
    ours(..., .call = call)
  }
  overload(name, "stats", f,
    topic = "Solvers", dtypes = "f32, f64", derivative = derivative, differs = differs, functional = TRUE
  )
}

# A function that may give values, for R's own solvers: the first value ends these.
known_or_signal <- function(part) {
  if (!is.function(part)) {
    return(part)
  }
  function(...) {
    x <- silently(function() part(...))
    if (has_values(tree_leaves(x))) {
      signalCondition(structure(class = c("xlaffi_met_value", "condition"), list(message = "a value", call = NULL)))
    }
    x
  }
}

refuse_argument <- function(name, argument, own, call) {
  abort(sprintf("%s(): `%s` is not supported for values of programs", name, argument), "UNIMPLEMENTED",
    op = name, operand = argument, call = call, hint = sprintf("`%s()` has what there is in programs.", own)
  )
}

# Each of `arguments`, by name, is what it is where nobody gave it: `defaults`.
check_defaults <- function(arguments, defaults, name, own, call) {
  for (argument in names(defaults)) {
    given <- arguments[[argument]]
    if (!is.null(given) && !isTRUE(all.equal(given, defaults[[argument]], check.attributes = FALSE))) {
      refuse_argument(name, argument, own, call)
    }
  }
}

# The elements of `control` by their names, of which `known` are supported
check_control <- function(control, known, name, own, call) {
  if (!is.list(control) || (length(control) && !is_named(control))) {
    abort(sprintf("%s(): `control` must be a named list, not %s", name, describe(control)),
      op = name, operand = "control", call = call
    )
  }
  unknown <- setdiff(names(control), known)
  if (length(unknown)) refuse_argument(name, sprintf("control$%s", unknown[[1L]]), own, call)
}

check_unbounded <- function(lower, upper, name, call) {
  known <- is_data(lower) && is_data(upper)
  if (!known || !all(lower == -Inf) || !all(upper == Inf)) {
    abort(sprintf("%s(): bounds are not supported for values of programs", name), "UNIMPLEMENTED",
      op = name, operand = "lower", call = call,
      hint = "Parameters on another scale, `exp(p)` or `plogis(p)`, have no bounds; `optimize()` takes an interval."
    )
  }
}

# `f` with R's further arguments, as a function of the parameters
with_arguments <- function(f, others) {
  f <- called_function(f)
  function(x) do.call(f, c(list(x), others), quote = TRUE)
}

nan_unless <- function(converged, x) hlo_select(converged, x, NaN)
