# Derivatives of products and of triangular systems.

primitive("dot_general",
  jvp = function(node, tangents) {
    p <- node$params
    x <- node$inputs[[1L]]
    y <- node$inputs[[2L]]
    list(add_tangents(
      along(tangents[[1L]], function(t) dot(t, y, p$contract, p$batch)),
      along(tangents[[2L]], function(t) dot(x, t, p$contract, p$batch))
    ))
  },
  transpose = function(node, cotangents, linear) {
    check_linear(node, !all(linear))
    side <- if (linear[[1L]]) 1L else 2L
    parts <- vector("list", 2L)
    parts[[side]] <- dot_transposed(node, cotangents[[1L]], side)
    parts
  }
)

# The cotangent of operand `side`: the given one times the other operand, over what is left of that.
dot_transposed <- function(node, given, side) {
  contract <- node$params$contract
  batch <- node$params$batch
  other <- 3L - side
  left <- lapply(1:2, function(i) {
    setdiff(seq_along(node$inputs[[i]]@shape), c(contract[[i]], batch[[i]]))
  })
  batches <- seq_along(batch[[1L]])
  places <- length(batches) + seq_along(c(left[[1L]], left[[2L]]))
  first <- seq_along(left[[1L]])
  of_other <- if (other == 1L) places[first] else places[setdiff(seq_along(places), first)]
  product <- dot(given, node$inputs[[other]], list(of_other, left[[other]]), list(batches, batch[[other]]))
  # Which axis of the operand each axis of the product is.
  axes <- c(batch[[side]], left[[side]], contract[[side]][order(contract[[other]])])
  transposed(product, order(axes))
}

# op(A) X = B: op(A) dX = dB - op(dA) X, and the same with X on the left.
primitive("triangular_solve",
  jvp = function(node, tangents) {
    p <- node$params
    x <- output(node)
    by_a <- along(tangents[[1L]], function(t) {
      change <- turned(triangle(t, p), p$transpose)
      -(if (p$left) hlo_matmul(change, x) else hlo_matmul(x, change))
    })
    list(triangular_solve(node$inputs[[1L]], add_tangents(tangents[[2L]], by_a), p))
  },
  transpose = function(node, cotangents, linear) {
    check_linear(node, !linear[[1L]])
    p <- node$params
    a <- node$inputs[[1L]]
    given <- cotangents[[1L]]
    kind <- p$transpose
    p$transpose <- if (kind == "none") "transpose" else "none"
    solved <- if (kind == "adjoint") {
      hlo_conj(triangular_solve(a, hlo_conj(given), p))
    } else {
      triangular_solve(a, given, p)
    }
    list(NULL, solved)
  }
)

turned <- function(a, kind) switch(kind, none = a, transpose = hlo_t(a), adjoint = hlo_conj(hlo_t(a)))

# The part of a matrix that triangular_solve() reads.
triangle <- function(a, params) {
  rank <- length(a@shape)
  row <- hlo_iota("i32", a@shape, rank - 1L)
  column <- hlo_iota("i32", a@shape, rank)
  low <- if (params$lower) column else row
  high <- if (params$lower) row else column
  selected(if (params$unit) low < high else low <= high, a, filled(0, a))
}
