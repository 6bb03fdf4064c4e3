# Triangular systems as StableHLO text. XLA's own expansion of the operation for CPUs inverts
# blocks of the diagonal, takes long to compile and is slow on batches of middle-sized matrices,
# so there LAPACK's routine is called.

primitive("triangular_solve", text = function(node, operands, scope) {
  lapack <- on_cpu() && node$types[[1L]]@dtype %in% names(lapack_letters)
  if (lapack) trsm_text(node, operands) else triangular_text(node, operands)
})

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
on_cpu <- function() identical(if (is.null(the$platform)) default_platform() else the$platform, "cpu")

# The handler of a LAPACK routine for the dtype of `x`, and a character for it
lapack_target <- function(routine, x) sprintf("lapack_%s%s_ffi", lapack_letters[[x@dtype]], routine)

lapack_letters <- c(f32 = "s", f64 = "d", c64 = "c", c128 = "z")

lapack_letter <- function(x) ffi_attribute(utf8ToInt(x), "ui8")
