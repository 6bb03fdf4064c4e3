#' Logarithms of sums of exponentials
#'
#' Sums and differences of numbers that are given by their logarithms, without overflow or loss of digits.
#'
#' @details
#' `hlo_log1pexp(x)` is `log(1 + exp(x))`, `hlo_log1mexp(x)` is `log(1 - exp(-x))` for x > 0, `hlo_logaddexp(x, y)` is
#' `log(exp(x) + exp(y))` and `hlo_logsumexp(x)` `log(sum(exp(x)))` over all elements or along axes. Infinities are
#' numbers like any other: the logarithm of a sum of zeros is -Inf. They run on all platforms.
#'
#' @param x,y [Values][xlaffi_value] of f32 or f64, or R numbers beside a value.
#' @param axes The axes to sum over, counted from 1; `NULL` for all.
#' @return A value.
#' @section Errors:
#' Arguments are f32 or f64 of any shape; other dtypes, and axes that `x` has not, are an error.
#'
#' @examplesIf plugins_downloaded()
#' xla_jit(function(x) hlo_logsumexp(x))(c(1000, 1001))
#' xla_jit(function(x) hlo_log1pexp(x))(c(-800, 0, 800))
#' xla_jit(function(x) hlo_log1mexp(x))(c(1e-20, 1, 800))
#' xla_jit(hlo_logaddexp)(c(-1000, 0), c(-1001, -800))
#' @name hlo_logsumexp
NULL

# An op of one argument that works element by element, by its derivative at `x`, where it is `y`
slope_op <- function(name, call, slope) {
  made_once(paste("op", name), function() {
    jvp <- function(primals, results, tangents) tangents[[1L]] * slope(primals[[1L]], results)
    ffi_op(function(x) call(x), jvp, name = name)
  })
}

float_values <- function(arguments, shown, call) {
  values <- elementwise_values(arguments, shown, call)
  check_kind(values[[1L]], "a floating-point number", shown, names(arguments)[[1L]], call)
  values
}

#' @rdname hlo_logsumexp
#' @export
hlo_log1pexp <- function(x) {
  check_given(x)
  op <- op_once("log1pexp",
    function(x) hlo_max(x, 0) + log1p(exp(-abs(x))),
    function(primals, results, tangents) tangents[[1L]] * hlo_logistic(primals[[1L]])
  )
  do.call(op, float_values(list(x = x), "hlo_log1pexp", sys.call()))
}

#' @rdname hlo_logsumexp
#' @export
hlo_log1mexp <- function(x) {
  check_given(x)
  op <- op_once("log1mexp",
    function(x) hlo_select(x < log(2), log(-expm1(-x)), log1p(-exp(-x))),
    function(primals, results, tangents) {
      # Of 1 / expm1(x) the derivatives would underflow where x is large.
      x <- primals[[1L]]
      tangents[[1L]] * (exp(-x) / -expm1(-x))
    }
  )
  do.call(op, float_values(list(x = x), "hlo_log1mexp", sys.call()))
}

#' @rdname hlo_logsumexp
#' @export
hlo_logaddexp <- function(x, y) {
  check_given(x, y)
  # Equal infinities have no difference. That of equal numbers is 0, with the slopes of any difference.
  gap <- function(x, y) hlo_select(x == y & abs(x) == Inf, filled(0, x), x - y)
  op <- op_once("logaddexp",
    function(x, y) hlo_max(x, y) + log1p(exp(-abs(gap(x, y)))),
    function(primals, results, tangents) {
      gap <- gap(primals[[1L]], primals[[2L]])
      hlo_add(
        along(tangents[[1L]], function(dx) dx * hlo_logistic(gap)),
        along(tangents[[2L]], function(dy) dy * hlo_logistic(-gap))
      )
    }
  )
  do.call(op, float_values(list(x = x, y = y), "hlo_logaddexp", sys.call()))
}

#' @rdname hlo_logsumexp
#' @export
hlo_logsumexp <- function(x, axes = NULL) {
  check_given(x)
  call <- sys.call()
  x <- float_values(list(x = x), "hlo_logsumexp", call)[[1L]]
  rank <- length(x@shape)
  axes <- if (is.null(axes)) seq_len(rank) else sort(check_axes(axes, "axes", rank, call = call))
  if (!length(axes)) {
    return(x)
  }
  # Infinities are left out of what is subtracted.
  finite <- function(x) hlo_select(abs(x) < Inf, x, filled(0, x))
  spread <- function(small, like) {
    rest <- setdiff(seq_along(like@shape), axes)
    hlo_broadcast(finite(small), like@shape, rest)
  }
  op <- op_once(paste(c("logsumexp", axes), collapse = " "),
    function(x) {
      most <- reduced("reduce_max", x, axes, "hlo_logsumexp")
      log(reduced("reduce_add", exp(x - spread(most, x)), axes, "hlo_logsumexp")) + finite(most)
    },
    function(primals, results, tangents) {
      shares <- exp(primals[[1L]] - spread(results, primals[[1L]]))
      reduced("reduce_add", tangents[[1L]] * shares, axes, "hlo_logsumexp")
    }
  )
  op(x)
}

local({
  functions <- list(
    hlo_log1pexp = hlo_log1pexp, hlo_log1mexp = hlo_log1mexp, hlo_logaddexp = hlo_logaddexp,
    hlo_logsumexp = hlo_logsumexp
  )
  for (name in names(functions)) {
    overload(name, "xlaffi", functions[[name]],
      by = "own", topic = "Special functions", dtypes = "floating-point; integers become f64"
    )
  }
})
