#' @rdname hlo_elementwise
#' @export
hlo_real <- function(x) real_part("real", x, "hlo_real")

#' @rdname hlo_elementwise
#' @export
hlo_imag <- function(x) real_part("imag", x, "hlo_imag")

real_part <- function(op, x, shown, call = rlang::caller_env()) {
  x <- as_value(x, "x", call = call)
  unary(op, x, "a complex number", shown, real_dtype(x@dtype), call)
}

#' @rdname hlo_elementwise
#' @export
hlo_complex <- function(re, im) {
  both <- operands(re, im, "hlo_complex", c("re", "im"))
  dtype <- complex_dtype(both[[1L]]@dtype)
  if (is.null(dtype)) {
    abort(sprintf("hlo_complex: `re` must have dtype f32 or f64, not %s", both[[1L]]@dtype),
      op = "hlo_complex", operand = "re"
    )
  }
  bind("complex", both, dtype, both[[1L]]@shape)
}

#' @rdname hlo_elementwise
#' @export
hlo_conj <- function(x) {
  x <- as_value(x, "x")
  if (!is_complex(x@dtype)) {
    return(x)
  }
  hlo_complex(hlo_real(x), -hlo_imag(x))
}

primitive("real",
  text = signed_text(),
  # The pairing that transposition keeps is sum(cotangent * tangent), without conjugation, as in JAX.
  jvp = function(node, tangents) list(hlo_real(tangents[[1L]])),
  transpose = function(node, cotangents, linear) {
    list(hlo_complex(cotangents[[1L]], filled(0, cotangents[[1L]])))
  },
  vmap = batch_together,
  export = exported_params(),
  sparsity = by_element
)

primitive("imag",
  text = signed_text(),
  jvp = function(node, tangents) list(hlo_imag(tangents[[1L]])),
  transpose = function(node, cotangents, linear) {
    list(hlo_complex(filled(0, cotangents[[1L]]), -cotangents[[1L]]))
  },
  vmap = batch_together,
  export = exported_params(),
  sparsity = by_element
)

primitive("complex",
  text = signed_text(),
  jvp = function(node, tangents) {
    list(hlo_complex(or_zero(tangents[[1L]], node$inputs[[1L]]), or_zero(tangents[[2L]], node$inputs[[2L]])))
  },
  transpose = function(node, cotangents, linear) {
    given <- cotangents[[1L]]
    list(if (linear[[1L]]) hlo_real(given), if (linear[[2L]]) -hlo_imag(given))
  },
  vmap = batch_together,
  export = exported_params(),
  sparsity = by_element
)
