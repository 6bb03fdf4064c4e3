# Triangular systems as StableHLO text. XLA's own expansion of the operation for CPUs inverts
# blocks of the diagonal, takes long to compile and is slow on batches of middle-sized matrices,
# so there LAPACK's routine is called.

# LAPACK has matrices by columns. Arrays that lie by rows are their transposes to it, so the same system can be told
# for operands as they lie: B by rows has its unknowns on the other side, A by rows the other triangle. XLA moves
# nothing for the transpositions of B. Few right-hand sides stand one after the other.
trsm_text <- function(node, operands, scope) {
  p <- node$params
  a <- node$inputs[[1L]]
  b <- node$types[[1L]]
  rank <- length(b@shape)
  swapped <- c(seq_len(rank - 2L), rank, rank - 1L)
  b_by_rows <- !0L %in% b@shape && (!p$left || b@shape[[rank]] >= 8L)
  # Where A would have to be conjugated and not transposed, XLA turns it.
  other <- switch(p$transpose, none = "transpose", transpose = "none", adjoint = if (!is_complex(b@dtype)) "none")
  a_by_rows <- if (is.null(other)) b_by_rows else !lies_by_columns(a)
  transpose <- if (a_by_rows == b_by_rows) p$transpose else other
  attributes <- attributes_text(list(
    side = lapack_letter(if (p$left != b_by_rows) "L" else "R"),
    uplo = lapack_letter(if (p$lower != a_by_rows) "L" else "U"),
    trans_x = lapack_letter(switch(transpose, none = "N", transpose = "T", adjoint = "C")),
    diag = lapack_letter(if (p$unit) "U" else "N")
  ), "trsm")
  type <- if (b_by_rows) new_type(b@dtype, b@shape[swapped]) else b
  layouts <- check_layouts(list(if (!a_by_rows) "column", "column"), list(a, type), "operand_layouts", NULL)
  text <- text_lines(scope)
  turned <- function(x, from, to) {
    if (!b_by_rows) {
      return(x)
    }
    text$add(sprintf(
      "stablehlo.transpose %s, dims = %s : (%s) -> %s", x, axes_text(swapped), mlir_type(from), mlir_type(to)
    ))
  }
  sides <- turned(operands[[2L]], b, type)
  solved <- text$add(sprintf(
    paste0(
      "stablehlo.custom_call @%s(%s, %s) {api_version = 4 : i32, backend_config = %s, operand_layouts = %s, ",
      "result_layouts = %s, output_operand_aliases = %s} : (%s, %s) -> %s"
    ),
    private_target(lapack_target("trsm", b)), operands[[1L]], sides, attributes, layouts_text(layouts),
    layouts_text(layouts[2L]), aliases_text(list(c(2L, 1L)), 1L), mlir_type(a), mlir_type(type), mlir_type(type)
  ))
  names <- turned(solved, type, b)
  list(names = names, lines = text$lines(), calls = TRUE)
}

# Whether a custom call leaves a matrix by columns, as LAPACK's factors are
lies_by_columns <- function(x) {
  while (x@node$op == "alias") x <- x@node$inputs[[1L]]
  axes <- if (x@node$op == "custom_call") x@node$params$result_layouts[[x@index]]
  rank <- rank_of(x)
  identical(axes[1:2], c(rank - 1L, rank))
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

# Matrices (batch, n, k), or (batch, k, n) to the left, with one triangle for all of them are one matrix.
solve_for_batch <- function(a, b, params) {
  shape <- b@shape
  sides <- shape[[1L]] * shape[[if (params$left) 3L else 2L]]
  if (params$left && shape[[3L]] == 1L && !(params$transpose == "adjoint" && is_complex(a@dtype))) {
    # One column each: the transposed system has them as rows, where they lie.
    params$left <- FALSE
    params$transpose <- if (params$transpose == "none") "transpose" else "none"
  }
  if (!params$left) {
    return(reshaped(triangular_solve(a, reshaped(b, c(sides, a@shape[[1L]])), params), shape))
  }
  beside <- transposed(b, c(2L, 1L, 3L))
  solved <- triangular_solve(a, reshaped(beside, c(shape[[2L]], sides)), params)
  transposed(reshaped(solved, beside@shape), c(2L, 1L, 3L))
}

primitive("triangular_solve",
  text = function(node, operands, scope) {
    lapack <- on_cpu() && node$types[[1L]]@dtype %in% names(lapack_letters)
    if (lapack) trsm_text(node, operands, scope) else triangular_text(node, operands)
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
  vmap = function(node, inputs, mapped, size) {
    if (mapped[[1L]] || rank_of(inputs[[1L]]) > 2L) {
      return(batch_together(node, inputs, mapped, size))
    }
    list(solve_for_batch(inputs[[1L]], inputs[[2L]], node$params))
  },
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
