#' @rdname hlo_elementwise
#' @export
hlo_convert <- function(x, dtype) {
  dtype <- check_dtype(dtype, "dtype")
  x <- as_value(x, "x")
  if (is_complex(x@dtype) && !is_complex(dtype)) {
    abort(sprintf("hlo_convert: `x` is %s, which %s cannot hold", type_text(x), dtype),
      op = "hlo_convert", operand = "dtype", hint = "`hlo_real()` takes the real part."
    )
  }
  converted(x, dtype)
}

# Logicals become floating-point numbers by way of integers: XLA takes converted logicals times y for a choice between y
# and 0, and so 0 for 0 * Inf and for 0 / 0.
converted <- function(x, dtype) {
  if (x@dtype == dtype) {
    return(x)
  }
  if (x@dtype == "pred" && is_inexact(dtype)) x <- bind("convert", list(x), "i32", x@shape)
  y <- bind("convert", list(x), dtype, x@shape)
  if (is_inexact(dtype) || dtype == "i64") with_na_of(y, list(x)) else y
}

primitive("convert",
  text = signed_text(),
  jvp = function(node, tangents) {
    dtype <- output(node)@dtype
    list(if (is_inexact(dtype)) converted(tangents[[1L]], dtype))
  },
  transpose = function(node, cotangents, linear) {
    given <- cotangents[[1L]]
    dtype <- node$inputs[[1L]]@dtype
    if (is_complex(given@dtype) && !is_complex(dtype)) {
      given <- hlo_real(given)
    }
    list(converted(given, dtype))
  },
  vmap = batch_together,
  export = exported_params(),
  sparsity = by_element
)
