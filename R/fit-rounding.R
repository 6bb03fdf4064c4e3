# Second derivatives that are exact are symmetric. How far computed ones are from that tells how many digits rounding
# has left. A fourth of a double's must be there.
warn_rounded <- function(self) {
  hessian <- self$hessian
  eps <- if (self$dtype == "f64") .Machine$double.eps else 2^-23
  apart <- abs(hessian - t(hessian))
  # What is rounded off the value is no second derivative.
  counts <- apart > 1e3 * eps * abs(self$value)
  if (!isTRUE(any(counts))) {
    return(invisible())
  }
  size <- sqrt(apply(abs(hessian), 1L, max))
  off <- max((apart / tcrossprod(size))[counts])
  if (isTRUE(off > eps^(1 / 4))) {
    warning(sprintf(
      paste(
        "xla_objective: the matrix of second derivatives is not symmetric (relative difference %s) at %s: rounding has",
        "left few digits of first and second derivatives, as where a covariance matrix%s is nearly singular"
      ),
      format(off, digits = 1L), shown_point(self),
      if (length(self$layout$effects)) " or the matrix of second derivatives by the random effects" else ""
    ), call. = FALSE)
  }
}

shown_point <- function(self) {
  shown <- if (is.null(self$names)) trimws(format(self$x)) else sprintf("%s = %s", self$names, trimws(format(self$x)))
  toString(if (length(shown) > 5L) c(shown[1:5], "...") else shown)
}
