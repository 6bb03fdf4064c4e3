#' Values without derivatives
#'
#' `xla_stop_gradient(x)` is `x`, as something that does not change: its derivative is zero, in forward and in reverse
#' mode, of any order, in batches ([xla_vmap()]), loops and branches, and on several devices ([xla_shard_map()]).
#'
#' @details
#' It takes no operation in the program. Names are kept. R data and buffers have no derivatives: they come back as they
#' are, inside a program and outside of one.
#'
#' @param x A value, R data or a buffer, or a (nested) list of them, of any dtypes and shapes.
#' @return `x`, in its structure, dtypes and shapes.
#' @section Errors:
#' A leaf that is no data, such as a string or a function, is an error of class `xlaffi_error_invalid_argument`.
#' @seealso [xla_grad()]
#' @examplesIf plugins_downloaded()
#' # The weights count as numbers, though they are computed from theta
#' loss <- function(theta, y) {
#'   r <- y - theta
#'   weights <- xla_stop_gradient(1 / (1 + r^2))
#'   sum(weights * r^2)
#' }
#' xla_grad(loss)(0, c(1, 2, 30))
#' xla_stop_gradient(c(1, 2))
#' @export
xla_stop_gradient <- function(x) {
  check_given(x)
  call <- environment()
  tree_map(x, function(leaf) {
    if (is_value(leaf)) {
      check_living(leaf)
      # What has no derivative stays what it is.
      return(if (is_inexact(leaf@dtype)) labelled(bind_op(stop_op, list(x = leaf)), attr(leaf, "labels")) else leaf)
    }
    if (!inherits(leaf, "xlaffi_buffer") && !is_sharded(leaf)) {
      check_operand(r_data(leaf), "x", call, "xla_stop_gradient")
    }
    leaf
  })
}

overload(
  "xla_stop_gradient", "xlaffi", xla_stop_gradient,
  by = "own", topic = "Elements", dtypes = "all", derivative = "none"
)

# It stands for its argument, and has no tangent.
stop_op <- list(
  name = "xla_stop_gradient",
  call = function(x) x,
  jvp = function(primals, results, tangents) NULL
)
