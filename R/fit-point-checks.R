# What is refused of the points of an objective.

check_one_number <- function(self, name, call = rlang::caller_env()) {
  if (self$count != 1L) {
    abort(sprintf("`%s` is for a function that gives one number; `f` gives %d", name, self$count),
      operand = "f", hint = "`jac` gives the Jacobian.", call = call
    )
  }
}

# A vector of as many numbers as there are parameters
check_point <- function(self, x, call, name = "par") {
  if (!is.numeric(x) || is.object(x) || length(x) != self$size) {
    what <- if (is.numeric(x) && !is.object(x)) sprintf("%d", length(x)) else describe(x)
    abort(sprintf("`%s` must be a vector of %d numbers, not %s", name, self$size, what),
      operand = name, hint = if (is_branch(x)) "`$unlist()` makes a vector of parameters in their form.", call = call
    )
  }
  shapes <- list(c(self$size, 1L), if (!is_branch(self$template)) dim(self$template))
  if (!is.null(dim(x)) && !list(dim(x)) %in% shapes) {
    abort(sprintf("`%s` must be a vector, not an array %s", name, shape_text(dim(x))), operand = name, call = call)
  }
  if (!is.null(names(x)) && !is.null(self$names) && !identical(names(x), self$names)) {
    abort(sprintf("the names of `%s` must be %s, not %s", name, toString(self$names), toString(names(x))),
      operand = name, call = call
    )
  }
  as.double(x)
}

# Of the columns of a gradient, a Jacobian or a Hessian
check_finite_slope <- function(self, slope, what, call) {
  if (all(is.finite(slope)) || !all(is.finite(self$value))) {
    return(invisible())
  }
  bad <- which(colSums(matrix(!is.finite(slope), ncol = self$size)) > 0)
  named <- if (is.null(self$names)) bad else sprintf("`%s`", self$names[bad])
  abort(
    sprintf("the %s is not finite where the value is: parameter %s", what, toString(named)), "OUT_OF_RANGE",
    operand = "par", call = call,
    hint = paste(
      "A kink or a pole of a part of `f`, such as sqrt() or log() at 0, does this, also under `ifelse()`, and so does",
      "NA by which a parameter is multiplied, also under `na.rm`."
    )
  )
}
