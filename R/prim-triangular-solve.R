# Triangular systems as StableHLO text. XLA's own expansion of the operation for CPUs inverts
# blocks of the diagonal, takes long to compile and is slow on batches of middle-sized matrices,
# so there LAPACK's routine is called.

trsm_text <- function(node, operands) {
  p <- node$params
  type <- node$types[[1L]]
  # Arrays in memory: columns of a matrix one after the other, matrix after matrix
  layouts <- check_layouts("column", node$inputs, "operand_layouts", NULL)
  attributes <- attributes_text(list(
    side = lapack_letter(if (p$left) "L" else "R"), uplo = lapack_letter(if (p$lower) "L" else "U"),
    trans_x = lapack_letter(switch(p$transpose, none = "N", transpose = "T", adjoint = "C")),
    diag = lapack_letter(if (p$unit) "U" else "N")
  ), "trsm")
  sprintf(
    paste0(
      "stablehlo.custom_call @%s(%s) {api_version = 4 : i32, backend_config = %s, operand_layouts = %s, ",
      "result_layouts = %s, output_operand_aliases = %s} : %s"
    ),
    private_target(lapack_target("trsm", type)), toString(operands), attributes, layouts_text(layouts),
    layouts_text(layouts[2L]), aliases_text(list(c(2L, 1L)), 1L), signature_text(node)
  )
}

triangular_text <- function(node, operands) {
  p <- node$params
  transpose <- c(none = "NO_TRANSPOSE", transpose = "TRANSPOSE", adjoint = "ADJOINT")[[p$transpose]]
  flag <- function(x) if (x) "true" else "false"
  sprintf(
    paste0(
      "\"stablehlo.triangular_solve\"(%s) <{left_side = %s, lower = %s, unit_diagonal = %s, ",
      "transpose_a = #stablehlo<transpose %s>}> : %s"
    ),
    toString(operands), flag(p$left), flag(p$lower), flag(p$unit), transpose, signature_text(node)
  )
}

# Whether the program that is being traced is for the CPU; outside of one, as xla_program() would have it
on_cpu <- function() identical(if (is.null(trace_state$platform)) default_platform() else trace_state$platform, "cpu")

# The handler of a LAPACK routine for the dtype of `x`, and a character for it
lapack_target <- function(routine, x) sprintf("lapack_%s%s_ffi", lapack_letters[[x@dtype]], routine)

lapack_letters <- c(f32 = "s", f64 = "d", c64 = "c", c128 = "z")

lapack_letter <- function(x) ffi_attribute(utf8ToInt(x), "ui8")

#' @rdname hlo_sum
#' @export
hlo_triangular_solve <- function(a, b, left = TRUE, lower = TRUE, unit_diagonal = FALSE,
                                 transpose = c("none", "transpose", "adjoint")) {
  transpose <- check_choice(transpose, "transpose", c("none", "transpose", "adjoint"))
  check_flag(left, "left")
  check_flag(lower, "lower")
  check_flag(unit_diagonal, "unit_diagonal")
  both <- same_dtype(a, b, "hlo_triangular_solve", c("a", "b"))
  a <- both[[1L]]
  b <- both[[2L]]
  check_kind(a, "a floating-point or complex number", "hlo_triangular_solve", "a", environment())
  rank <- length(a@shape)
  side <- if (left) rank - 1L else rank
  fits <- rank >= 2L && length(b@shape) == rank && a@shape[[rank]] == a@shape[[rank - 1L]] &&
    identical(a@shape[seq_len(rank - 2L)], b@shape[seq_len(rank - 2L)]) && a@shape[[rank]] == b@shape[[side]]
  if (!fits) {
    abort(
      sprintf(
        "hlo_triangular_solve: `a` must be (..., n, n) and `b` %s of equal batch axes, not %s and %s",
        if (left) "(..., n, k)" else "(..., k, n)", type_text(a), type_text(b)
      ),
      op = "hlo_triangular_solve", operand = "b"
    )
  }
  triangular_solve(a, b, list(left = left, lower = lower, unit = unit_diagonal, transpose = transpose))
}

triangular_solve <- function(a, b, params) bind("triangular_solve", list(a, b), b@dtype, b@shape, params)

# The part of a matrix that triangular_solve() reads.
triangle <- function(a, params) {
  rank <- length(a@shape)
  row <- hlo_iota("i32", a@shape, rank - 1L)
  column <- hlo_iota("i32", a@shape, rank)
  low <- if (params$lower) column else row
  high <- if (params$lower) row else column
  selected(if (params$unit) low < high else low <= high, a, filled(0, a))
}

primitive("triangular_solve",
  text = function(node, operands, scope) {
    lapack <- on_cpu() && node$types[[1L]]@dtype %in% names(lapack_letters)
    if (lapack) trsm_text(node, operands) else triangular_text(node, operands)
  },
  # op(A) X = B: op(A) dX = dB - op(dA) X, and the same with X on the left.
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
  },
  vmap = batch_together,
  export = exported_params("left", "lower", "unit", "transpose"),
  sparsity = function(node, given, sets, known) {
    shape <- node$types[[1L]]@shape
    rank <- length(shape)
    batch <- seq_len(rank - 2L)
    by_a <- if (!is.null(given[[1L]])) {
      sets_repeated(sets_along(sets, given[[1L]], node$inputs[[1L]]@shape, rank - 1:0), shape[batch], shape, batch)
    }
    by_b <- if (!is.null(given[[2L]])) {
      sets_spread(sets, given[[2L]], shape, if (node$params$left) rank - 1L else rank)
    }
    list(united(sets, by_a, by_b))
  }
)
